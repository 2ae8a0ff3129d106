#!/usr/bin/env bash
# From a clone to an answer: installs what is missing, builds, starts the service on a fresh store,
# loads the bundled airports and asks a question. The service is left running.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh

printf 'Building (the first time takes some minutes)…\n' >&2
# GEOBUCKET_BUILD=debug spares a second build where the tests' is there.
build=${GEOBUCKET_BUILD:-release}
swift build -c "$build" --product geobucket >&2
geobucket=.build/$build/geobucket
folder=.build/sample

# A service that an earlier run left behind would keep the port and hold the old store.
if [ -f "$folder/pid" ] && kill "$(cat "$folder/pid")" 2>/dev/null; then
    for _ in $(seq 100); do kill -0 "$(cat "$folder/pid")" 2>/dev/null || break; sleep 0.1; done
fi
rm -rf "$folder"
mkdir -p "$folder"

# Starts on an address; tells by its status whether the service came up.
start() {
    nohup "$geobucket" serve --listen "$1" --store "$folder/geobucket.sqlite" \
        >"$folder/ready" 2>"$folder/log" </dev/null &
    pid=$!
    for _ in $(seq 100); do
        if grep -q '^geobucket ready on ' "$folder/ready"; then return 0; fi
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

if ! start 127.0.0.1:4362 && ! start 127.0.0.1:0; then
    cat "$folder/log" >&2
    exit 1
fi
echo "$pid" >"$folder/pid"
address=$(sed -n 's/^geobucket ready on //p' "$folder/ready")

"$geobucket" load Data/airports-main.ndjson.gz --bucket airports --server "$address"

cat <<TXT

Lighted airports with a runway of 2,500 m or more within 100 km of Tokyo, nearest first:

TXT
"$geobucket" query --server "$address" --bucket airports --near 35.6812,139.7671 --within 100km \
    --where 'lighted = true and runway_m >= 2500' --fields name,city,runway_m

cat <<TXT

The service runs on $address (process $pid, log in $folder/log). Try next:

    $geobucket query --server $address --bucket airports --near 48.8584,2.2945 --limit 5
    $geobucket query --server $address --bucket airports --box 35,-25,72,45 --where 'kind = large_airport' --order-by runway_m:desc --limit 5
    $geobucket --help

Stop it with: kill $pid
TXT
