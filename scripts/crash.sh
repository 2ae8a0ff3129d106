#!/usr/bin/env bash
# Kills a writing service again and again; every answered write has to be there afterwards, every other
# one whole or not at all, and the store has to check clean.
#
#     scripts/crash.sh [--rounds 200] [--seed 1]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

rounds=200 seed=1
while [ $# -gt 0 ]; do
    case "$1" in
        --rounds) rounds=${2:?} && shift ;;
        --seed) seed=${2:?} && shift ;;
        *) sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
export GEOBUCKET_OPTIMIZED_TESTS=1  # as in scripts/test.sh
GEOBUCKET_CRASH_ROUNDS=$rounds GEOBUCKET_CRASH_SEED=$seed exec swift test --filter CrashTests
