#!/usr/bin/env bash
# From a clone to an answer: installs what is missing, builds, starts the service, loads the bundled
# airports and asks a question. The service is left running, with a map to look at.
#
#     scripts/start.sh [--fresh]
#
# Another run starts the service again, on the same store. With --fresh it deletes that store first, and
# asks before it does so.
set -euo pipefail
cd "$(dirname "$0")/.."
is_fresh=
case "${1:-}" in
    "") ;;
    --fresh) is_fresh=1 ;;
    --help) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit ;;
    *) echo "geobucket: $1 is unknown; see --help" >&2 && exit 2 ;;
esac
folder=.build/sample
if [ -n "$is_fresh" ] && [ -f "$folder/geobucket.sqlite" ]; then
    read -rp "geobucket: delete the store $PWD/$folder/geobucket.sqlite and all that it holds? [y/N] " answer
    [[ $answer == [yY]* ]] || { echo "geobucket: nothing was deleted" >&2 && exit 1; }
fi

scripts/install.sh
GEOBUCKET_ALSO_INSTALL=libjs-leaflet scripts/install.sh ||
    echo "geobucket: libjs-leaflet could not be installed; the page of the service will lack its map" >&2

say() { printf 'geobucket: %s\n' "$*" >&2; }

# tell_progress WHAT: says now and then how far something is, by the lines that it writes.
tell_progress() {
    local line status place=$1 told=$SECONDS
    while true; do
        read -r -t 20 line && status=0 || status=$?
        # Above 128 it is the time that has run out, else the lines have.
        ((status == 0 || status > 128)) || break
        [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] && place="$1 ${BASH_REMATCH[0]}"
        if ((SECONDS - told >= 20)); then
            say "$place, $SECONDS s"
            told=$SECONDS
        fi
    done
}

# show WHAT COMMAND…: runs it, with its own display of progress where there is a terminal.
show() {
    local what=$1
    shift
    if [ -t 2 ]; then
        "$@" >&2
    else
        mkdir -p .build
        "$@" 2>&1 | tee .build/start.log | tell_progress "$what" || {
            cat .build/start.log >&2
            return 1
        }
    fi
}

if [ -n "${GEOBUCKET_BUILD:-}" ]; then
    # The usual build, debug or release, with everything: spares another one where it is there.
    programs=.build/$GEOBUCKET_BUILD
    flags=(-c "$GEOBUCKET_BUILD")
    say "building for $GEOBUCKET_BUILD"
else
    # One of its own without what takes longest to compile and is not needed here.
    scratch=.build/start
    programs=$scratch/release
    flags=(-c release --scratch-path "$scratch" --disable-default-traits
        --only-use-versions-from-resolved-file)
    say "building for release, which takes some minutes the first time; without TLS, signed tokens, vector tiles" \
        "and the OGC API, which GEOBUCKET_BUILD=release has"
    # Package.resolved stays one for builds with all traits.
    show "fetching packages" swift package --scratch-path "$scratch" resolve
fi
show compiling swift build "${flags[@]}" --product geobucket
say "built in $SECONDS s"
geobucket=$programs/geobucket

# A service that an earlier run left behind holds the port and the store.
if [ -f "$folder/pid" ] && kill "$(cat "$folder/pid")" 2>/dev/null; then
    for _ in $(seq 100); do kill -0 "$(cat "$folder/pid")" 2>/dev/null || break; sleep 0.1; done
fi
[ -z "$is_fresh" ] || rm -rf "$folder"
mkdir -p "$folder"

# start LINES WEB: starts on these addresses; tells by its status whether the service came up.
start() {
    nohup "$geobucket" serve --listen "$1" --web "$2" --store "$folder/geobucket.sqlite" \
        >"$folder/ready" 2>>"$folder/log" </dev/null &
    pid=$!
    for _ in $(seq 100); do
        if grep -q '^geobucket ready on ' "$folder/ready"; then return 0; fi
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

if ! start 127.0.0.1:4362 127.0.0.1:4364 && ! start 127.0.0.1:0 127.0.0.1:0; then
    tail -n 20 "$folder/log" >&2
    exit 1
fi
echo "$pid" >"$folder/pid"
address=$(sed -n 's/^geobucket ready on //p' "$folder/ready")
web=$(sed -n 's/^geobucket web on //p' "$folder/ready")

"$geobucket" call bucket.list --server "$address" | grep -q '"bucket":"airports"' ||
    "$geobucket" load Data/airports-main.ndjson.gz --bucket airports --server "$address"

cat <<TXT

Lighted airports with a runway of 2,500 m or more within 100 km of Tokyo, nearest first:

TXT
"$geobucket" query --server "$address" --bucket airports --near 35.6812,139.7671 --within 100km \
    --where 'lighted = true and runway_m >= 2500' --fields name,city,runway_m

cat <<TXT

The same airports on a map, in a browser:

    http://$web/map#bucket=airports

The service runs on $address (process $pid, log in $folder/log). Try next:

    $geobucket query --server $address --bucket airports --near 48.8584,2.2945 --limit 5
    $geobucket query --server $address --bucket airports --box 35,-25,72,45 --where 'kind = large_airport' --order-by runway_m:desc --limit 5
    $geobucket --help

Stop it with: kill $pid
TXT
