#!/usr/bin/env bash
# Passes all tests: installs what is missing, builds, runs every test. What is printed last is how many
# tests passed, and how many were skipped and why.
#
#     scripts/test.sh [--filter 'SUITE|SUITE'] [--skip SUITE]
#
# A run that does not end has failed, whatever it has printed, and so has a run of fewer tests than there
# are. GEOBUCKET_TEST_PROGRAM is run in place of the tests, which are not built then.
set -euo pipefail
cd "$(dirname "$0")/.."

# The least number of tests that pass where only what the build needs is installed; raise it with the tests.
floor=1600
archives_floor=50

program=${GEOBUCKET_TEST_PROGRAM:-}
if [ -z "$program" ]; then
    program=.build/debug/geobucketPackageTests.xctest
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
fi

# What is not in order, from a log of tests.
faults() {
    grep -aE '^(✘|warning:|error:|SUMMARY: )|✘ (Test|Suite)|: error:|Fatal error|crashed' "$1" | sort -u | head -n 40
}

# The numbers of tests that passed and that were skipped, and the reasons, from logs. A test that was
# skipped for some of its arguments only counts as both.
passed() { grep -ahE '✔ Test .* passed after ' "$@" | grep -vcE '✔ Test run with ' || true; }
skips() { grep -ahoE '➜ Test .* (skipped|was cancelled).*' "$@" || true; }
reasons() {
    skips "$@" | sed -E 's/.* (skipped|was cancelled)[^"]*("(.*)")?\.?$/\3/; s/^$/no reason is given/' |
        sort | uniq -c | sort -rn
}

# Where tests that were stopped had come to, from their log: those that began and did not end, and what
# the threads were at.
unended() {
    sed -n 's/^◇ Test \(.*\) started\.$/\1/p' "$1" | grep -v '^run$' | sort |
        comm -23 - <(sed -nE 's/^[✔✘➜] Test (.*) (passed|failed|skipped).*/\1/p' "$1" |
            sed -E 's/ with [0-9]+ test cases?$//' | sort) | head -n 40
    sed -nE "s#^\#[0-9]+ .* at $PWD/((Sources|Tests)/.*)#\1#p" "$1" | sort | uniq -c | sort -rn | head -n 60
}

# Tests that take longer than this have hung; so has a program that has told its result and does not end
# within the grace.
seconds=${GEOBUCKET_TEST_SECONDS:-2400}
grace=${GEOBUCKET_TEST_GRACE:-60}
mkdir -p .build
logs=()

# run_tests NAME FLOOR OPTION…: runs tests into a log file; prints their result, and what failed.
run_tests() {
    local log=.build/$1.log least=$2 status=0 end=$((SECONDS + seconds)) tests count
    local result='^[✔✘] Test run with '
    shift 2
    logs+=("$log")
    "$program" --testing-library swift-testing "$@" >"$log" 2>&1 &
    tests=$!
    trap 'kill "$tests" 2>/dev/null || true' EXIT
    while kill -0 "$tests" 2>/dev/null && ((SECONDS < end)); do
        sleep 1
        if ((SECONDS + grace < end)) && tail -n 3 "$log" | grep -qa "$result"; then end=$((SECONDS + grace)); fi
    done
    if kill -0 "$tests" 2>/dev/null; then
        status=1
        echo "geobucket: the tests did not end; these had not, and here their threads were:"
        timeout 300 gdb --batch --pid "$tests" -ex 'thread apply all backtrace 40' >>"$log" 2>&1 ||
            echo "geobucket: gdb could not tell where they were"
        kill -KILL "$tests"
        wait "$tests" 2>/dev/null || true
        unended "$log" || true
    else
        wait "$tests" || status=$?
    fi
    trap - EXIT
    if ! grep -qaE '^✔ Test run with .* passed' "$log"; then
        ((status)) || echo "geobucket: the tests ended without the result of a run" >&2
        ((status)) || status=1
    fi
    count=$(passed "$log")
    if ((count < least)); then
        echo "geobucket: $count tests passed, at least $least had to" >&2
        ((status)) || status=1
    fi
    if ((status)); then
        faults "$log"
        echo "geobucket: tests failed; everything they printed is in $log" >&2
    fi
    grep -aE "$result" "$log" || tail -n 1 "$log"
    return "$status"
}

# Many tests are servers with clients: more of them at once than this starve each other.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6
# Package.swift says what this does.
export GEOBUCKET_OPTIMIZED_TESTS=1
[ -n "${GEOBUCKET_TEST_PROGRAM:-}" ] || swift build --build-tests --explicit-target-dependency-import-check error
status=0
if [ $# -gt 0 ]; then
    run_tests tests 1 "$@" || status=$?
else
    # The archives' tests use Foundation's archiver, which is not made for many threads: in a process of
    # their own.
    run_tests tests "$floor" --skip ArchivesTests || status=$?
    run_tests archives-tests "$archives_floor" --filter ArchivesTests || status=$?
fi
echo "geobucket: $(passed "${logs[@]}") tests passed, $(skips "${logs[@]}" | wc -l) were skipped"
reasons "${logs[@]}"
exit "$status"
