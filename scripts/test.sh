#!/usr/bin/env bash
# Passes all tests: installs what is missing, builds, runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

# A client library and an archiver that are not ours, unmodified, work with the service in the tests.
packages=(aiorpcx==0.25.0 bpylist2==4.1.1)
python=.build/python/bin/python3
if ! "$python" -c 'import aiorpcx, bpylist2' 2>/dev/null; then
    python3 -m venv .build/python
    .build/python/bin/pip install --quiet --disable-pip-version-check "${packages[@]}" || {
        echo "geobucket: pip could not install ${packages[*]}, which the tests need" >&2
        exit 1
    }
fi

# What is not in order, from a log of `swift test`.
faults() { grep -E '^(✘|warning:|error:)|✘ (Test|Suite)|: error:|Fatal error|crashed' "$1" | sort -u | head -n 40; }

# Runs tests into a log file; prints its last line, and what failed.
run_tests() {
    local log=.build/$1.log
    shift
    if swift test --explicit-target-dependency-import-check error "$@" >"$log" 2>&1; then
        tail -n 1 "$log"
    else
        faults "$log"
        tail -n 1 "$log"
        echo "geobucket: tests failed; everything they printed is in $log" >&2
        return 1
    fi
}

# Many tests are servers with clients: more of them at once than this starve each other.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6
# The archives' tests use Foundation's archiver, which is not made for many threads: in a process of
# their own.
run_tests tests --skip ArchivesTests "$@"
run_tests archives-tests --skip-build --filter ArchivesTests
