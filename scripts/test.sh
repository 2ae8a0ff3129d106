#!/usr/bin/env bash
# Passes all tests: installs what is missing, builds, runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

# A client library that is not ours, unmodified, talks to the service in the tests.
client=aiorpcx==0.25.0
python=.build/python/bin/python3
if ! "$python" -c 'import aiorpcx' 2>/dev/null; then
    python3 -m venv .build/python
    .build/python/bin/pip install --quiet --disable-pip-version-check "$client" || {
        echo "geobucket: pip could not install $client, which the tests need" >&2
        exit 1
    }
fi

swift test --explicit-target-dependency-import-check error "$@"
