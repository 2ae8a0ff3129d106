#!/usr/bin/env bash
# Fuzzes what bytes from outside meet first, guided by coverage, then runs every test under the
# address and the thread sanitizer.
#
#     scripts/fuzz.sh [--minutes 8] [--target NAME] [--no-tests]
#
# The minutes are shared by the targets. What takes a new path is added to Fuzzing/Corpora, which the
# tests replay; so is an input that fails, as failed-…, which no later run removes.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=8 targets="" tests=yes
while [ $# -gt 0 ]; do
    case "$1" in
        --minutes) minutes=$2; shift 2 ;;
        --target) targets=$2; shift 2 ;;
        --no-tests) tests=no; shift ;;
        *) echo "fuzz.sh: $1 is not known; see the beginning of the script" >&2; exit 2 ;;
    esac
done
scripts/install.sh
[ -n "$targets" ] || targets=$(ls Fuzzing/Corpora)

swift build --package-path Fuzzing --sanitize=fuzzer
failures=Fuzzing/.build/failures
mkdir -p "$failures"
count=$(wc -w <<<"$targets")
seconds=$(awk -v m="$minutes" -v n="$count" 'BEGIN { s = int(m * 60 / n); print s < 1 ? 1 : s }')
failed=""
for target in $targets; do
    echo "fuzz.sh: $target for $seconds s" >&2
    found=Fuzzing/.build/found/$target kept=Fuzzing/.build/kept/$target
    rm -rf "$found" "$kept"
    mkdir -p "$found" "$kept"
    export GEOBUCKET_FUZZ=$target
    Fuzzing/.build/debug/fuzz -max_total_time="$seconds" -max_len=2048 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$failures/$target-" \
        "$found" "Fuzzing/Corpora/$target" || failed="$failed $target"
    for input in "$failures/$target"-*; do
        [ -f "$input" ] || continue
        mv "$input" "Fuzzing/Corpora/$target/failed-${input##*-}"
    done
    # Of old and new together, the fewest that take every path.
    Fuzzing/.build/debug/fuzz -set_cover_merge=1 "$kept" "Fuzzing/Corpora/$target" "$found" 2>/dev/null
    find "Fuzzing/Corpora/$target" -type f ! -name 'failed-*' -delete
    cp "$kept"/* "Fuzzing/Corpora/$target/"
done

[ -z "$failed" ] || { echo "fuzz.sh: inputs failed, and are kept in Fuzzing/Corpora:$failed" >&2; exit 1; }
[ "$tests" = yes ] || exit 0
# What a process that exits still holds is no leak: tasks asleep, connections being closed.
export ASAN_OPTIONS=detect_leaks=0
for sanitizer in address thread; do
    echo "fuzz.sh: all tests under the $sanitizer sanitizer" >&2
    swift build --build-tests --sanitize="$sanitizer" --scratch-path ".build/$sanitizer"
    preload=
    if [ "$sanitizer" = thread ]; then
        preload=$PWD/.build/thread/tsan_mutex.so
        clang -O2 -shared -fPIC -o "$preload" scripts/tsan_mutex.c
    fi
    LD_PRELOAD=$preload GEOBUCKET_TEST_SECONDS=14400 \
        GEOBUCKET_TEST_PROGRAM=".build/$sanitizer/debug/geobucketPackageTests.xctest" scripts/test.sh
done
