#!/usr/bin/env bash
# What takes too long for each change: the release program with everything against the strongest scripts, whole, and
# the packages beside this one compiled. Every night, and before a release.
#
#     scripts/nightly.sh [--minutes 10]    # how long the scripts that go on for as long as they are told do
#
# Each part runs although another has failed; those that have are named last.
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=10
case "${1:-}" in
    "") ;;
    --minutes) minutes=${2:?--minutes needs a number} ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
scripts/install.sh && GEOBUCKET_REQUIRE=all scripts/parts.py || exit 1
swift build -c release --product geobucket || exit 1

failed=()
part() {
    echo "nightly: $*" >&2
    "$@" || failed+=("$*")
}
part swift build --package-path Benchmarks
part swift build --package-path Fuzzing --sanitize=fuzzer
part scripts/oracle.py --objects 1000
part scripts/oracle.py --objects 1000000
part scripts/oracle.py --nodes 3
part scripts/watch.py --rounds 600
part scripts/watch.py --rounds 200 --nodes 3
part scripts/hostile.py --minutes "$minutes" --svg .build/hostile.svg
part scripts/growth.py
part scripts/soak.py --minutes "$minutes"
part scripts/linearizability.py --self-test
part scripts/cluster.py --loss
part scripts/cluster.py local watches failover promotion standby network lag copies disk
part scripts/judges.sh
part python3 deploy/proxies/try.py .build/release/geobucket
part scripts/combine.sh --minutes "$minutes"
part scripts/crash.sh
part scripts/litestream.py
package=$(deploy/deb.sh .build/release/geobucket) || failed+=(deploy/deb.sh)
part deploy/try-deb.sh "$package"
if ((${#failed[@]})); then
    printf 'nightly: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
