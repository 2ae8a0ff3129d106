#!/usr/bin/env bash
# Everything that the JavaScript client has to pass: its tests, and its types where there is a tsc (Debian's
# node-typescript). GEOBUCKET names the program, else .build/release/geobucket.
set -euo pipefail
cd "$(dirname "$0")"
export GEOBUCKET=${GEOBUCKET:-$(realpath ../../.build/release/geobucket)}
if command -v tsc >/dev/null; then
    tsc -p test/tsconfig.json
else
    echo "geobucket: skipped: the types of the JavaScript client; they need: apt-get install node-typescript"
fi
node --test "$@"
