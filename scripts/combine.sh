#!/usr/bin/env bash
# Writes, expiry, columns, renumberings, bulk deletions, restarts and many readers together, every answer
# compared with a model, with ever new seeds. What is printed last is the seed that ended it.
#
#     scripts/combine.sh [--minutes 60] [--seed 1]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

minutes=60 seed=1
while [ $# -gt 0 ]; do
    case "$1" in
        --minutes) minutes=${2:?} && shift ;;
        --seed) seed=${2:?} && shift ;;
        *) sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
export GEOBUCKET_OPTIMIZED_TESTS=1  # as in scripts/test.sh
GEOBUCKET_COMBINED_MINUTES=$minutes GEOBUCKET_COMBINED_SEED=$seed exec swift test --filter CombinedTests
