#!/usr/bin/env bash
# Measures GeoBucket beside redis, PostGIS, SQLite and two limits, and writes the report.
# --help tells the flags; Benchmarks/README.md what is measured and how to read it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../scripts/install.sh"

say() { printf 'benchmarks: %s\n' "$1" >&2; }
fail() { say "$1"; exit 1; }

# The peers, and setpriv to start them so that they end with the benchmark.
needed=(redis-server postgresql-15 postgresql-15-postgis-3 postgresql-client-15 util-linux gzip)
missing=()
for package in "${needed[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || fail "as root, run: apt-get install ${missing[*]}"
    say "installing ${missing[*]}"
    # Debian starts what it installs, and makes a cluster: not wanted here.
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install ${missing[*]} (they are Debian 12's)"
    rm -f /usr/sbin/policy-rc.d
fi

say "building (the first time takes some minutes)"
for product in geobucket benchmark micro; do
    swift build --package-path "$here" -c release --product "$product" >&2
done
programs=$here/.build/release

scratch=$(mktemp -d "${TMPDIR:-/tmp}/geobucket-benchmark.XXXXXX")
chmod 711 "$scratch" # PostgreSQL's user has to reach its own folder inside
cleanup() { rm -rf "$scratch"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

output=$here/results
flags=()
while [ $# -gt 0 ]; do
    case "$1" in
        --help) exec "$programs/benchmark" measure --help ;;
        --output) output=$2 && shift ;;
        *) flags+=("$1") ;;
    esac
    shift
done
if [ -n "${GEOBUCKET_BENCHMARK_DATA:-}" ]; then flags+=(--data "$GEOBUCKET_BENCHMARK_DATA"); fi
flags+=(--output "$output" --scratch "$scratch" --geobucket "$programs/geobucket")
mkdir -p "$output"

"$programs/benchmark" measure "${flags[@]}"
"$programs/micro" >"$output/micro.md"
say "wrote $output/micro.md"
