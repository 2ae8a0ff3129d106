#!/usr/bin/env bash
# Measures GeoBucket beside redis, PostGIS, SQLite and two limits, and writes the report.
#
#     Benchmarks/run.sh [--quick] [--no-growth] [--data FOLDER] [--only Q1,Q4] [--peers redis,…] …
#
# --help lists all flags; README.md says what is measured and how to read it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../scripts/install.sh"

say() { printf 'benchmarks: %s\n' "$1" >&2; }
fail() { say "$1"; exit 1; }

# The peers; setpriv (util-linux) starts them so that they end with the benchmark.
needed=(redis-server postgresql-15 postgresql-15-postgis-3 postgresql-client-15 util-linux procps gzip)
missing=()
for package in "${needed[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || fail "as root, run: apt-get install ${missing[*]}"
    say "installing ${missing[*]} (Debian 12's names)"
    apt-get update -qq || fail "apt-get update failed; is this machine online?"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}"
fi

say "building (the first time takes some minutes)"
for product in geobucket benchmark micro; do
    swift build --package-path "$here" -c release --product "$product" >&2
done
programs=$here/.build/release

output=$here/results
flags=(--geobucket "$programs/geobucket")
grows=yes
most=10000000
while [ $# -gt 0 ]; do
    case "$1" in
        --help) exec "$programs/benchmark" measure --help ;;
        --output) output=$2 && shift ;;
        --no-growth) grows= ;;
        --quick) flags+=("$1") && most=10000 ;;
        *) flags+=("$1") ;;
    esac
    shift
done
if [ -n "${GEOBUCKET_BENCHMARK_DATA:-}" ]; then flags+=(--data "$GEOBUCKET_BENCHMARK_DATA"); fi
mkdir -p "$output"

# Stores and logs of one part; what runs in it ends with the part.
scratch=
child=
cleanup() {
    [ -z "$child" ] || kill "$child" 2>/dev/null || true
    [ -n "$scratch" ] || return 0
    for _ in $(seq 100); do pgrep -f "$scratch" >/dev/null || break; sleep 0.1; done
    rm -rf "$scratch"
    scratch=
}
trap cleanup EXIT
trap 'exit 130' INT TERM

part() {
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/geobucket-benchmark.XXXXXX")
    chmod 711 "$scratch" # PostgreSQL's user has to reach its own folder inside
    setpriv --pdeathsig TERM -- "$programs/benchmark" "$@" "${flags[@]}" \
        --scratch "$scratch" --output "$output" &
    child=$!
    wait "$child" || status=$?
    child=
    cleanup
}

status=0
part measure
"$programs/micro" >"$output/micro.md"
say "wrote $output/micro.md"
part write
# Of two --objects the last counts.
if [ -n "$grows" ]; then flags+=(--objects "$most") && part grow; fi
exit "$status"
