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

# What is not in order, from a log of tests.
faults() { grep -E '^(✘|warning:|error:)|✘ (Test|Suite)|: error:|Fatal error|crashed' "$1" | sort -u | head -n 40; }

# Where tests that were stopped had come to, from their log: those that began and did not end, and what
# the threads were at.
unended() {
    sed -n 's/^◇ Test \(.*\) started\.$/\1/p' "$1" | grep -v '^run$' | sort |
        comm -23 - <(sed -nE 's/^[✔✘➜] Test (.*) (passed|failed|skipped).*/\1/p' "$1" |
            sed -E 's/ with [0-9]+ test cases?$//' | sort) | head -n 40
    sed -nE "s#^\#[0-9]+ .* at $PWD/((Sources|Tests)/.*)#\1#p" "$1" | sort | uniq -c | sort -rn | head -n 60
}

# Tests that take longer than this have hung; so has a program that has told its result and does not end
# within a minute.
seconds=${GEOBUCKET_TEST_SECONDS:-2400}
grace=60

# Runs tests into a log file; prints their result, and what failed.
run_tests() {
    local log=.build/$1.log status=0 end=$((SECONDS + seconds)) tests
    local passed='^✔ Test run with .* passed'
    shift
    .build/debug/geobucketPackageTests.xctest --testing-library swift-testing "$@" >"$log" 2>&1 &
    tests=$!
    trap 'kill "$tests" 2>/dev/null || true' EXIT
    while kill -0 "$tests" 2>/dev/null && ((SECONDS < end)); do
        sleep 1
        if ((SECONDS + grace < end)) && tail -n 3 "$log" | grep -q "$passed"; then end=$((SECONDS + grace)); fi
    done
    if kill -0 "$tests" 2>/dev/null; then
        grep -q "$passed" "$log" || status=1
        echo "geobucket: the tests did not end; these had not, and here their threads were:"
        timeout 300 gdb --batch --pid "$tests" -ex 'thread apply all backtrace 40' >>"$log" 2>&1 || true
        kill -KILL "$tests"
        wait "$tests" 2>/dev/null || true
        unended "$log" || true
    else
        wait "$tests" || status=$?
    fi
    trap - EXIT
    if [[ $status != 0 ]]; then
        faults "$log"
        echo "geobucket: tests failed; everything they printed is in $log" >&2
    fi
    grep "$passed" "$log" || tail -n 1 "$log"
    return "$status"
}

# Many tests are servers with clients: more of them at once than this starve each other.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6
# Package.swift says what this does.
export GEOBUCKET_OPTIMIZED_TESTS=1
# The archives' tests use Foundation's archiver, which is not made for many threads: in a process of
# their own.
swift build --build-tests --explicit-target-dependency-import-check error
run_tests tests --skip ArchivesTests "$@"
run_tests archives-tests --filter ArchivesTests
