#!/usr/bin/env bash
# A GeoBucket client of nc and jq: geobucket.sh HOST PORT METHOD [PARAMS]. Prints the result; an
# error goes to standard error, with status 1. As `near HOST PORT BUCKET LAT LON METRES` it lists
# names and distances, nearest first.
set -euo pipefail

if [ $# -lt 3 ] || { [ "$1" = near ] && [ $# -ne 7 ]; }; then
    echo "usage: geobucket.sh HOST PORT METHOD [PARAMS], such as geobucket.sh 127.0.0.1 4362 server.ping
       geobucket.sh near HOST PORT BUCKET LAT LON METRES" >&2
    exit 2
fi

call() { # HOST PORT METHOD PARAMS
    jq -nc --arg method "$3" --argjson params "$4" '{jsonrpc: "2.0", id: 1, $method, $params}' |
        nc -N "$1" "$2" |
        jq -c 'if .error then "\(.error.data.errorCode) \(.error.data.path): \(.error.message)\n" | halt_error(1)
               else .result end'
}

if [ "$1" = near ]; then
    query=$(jq -nc --arg bucket "$4" --argjson lat "$5" --argjson lon "$6" --argjson radius "$7" '{$bucket,
        bucketQuery: {orderBy: "_calculated.m", clause: {type: "geodistance", field: "location", $radius,
            center: {_type: "point", $lat, $lon}, putDistanceInto: "m"}}}')
    call "$2" "$3" bucket.query "$query" | jq -r '.results[] | "\(.name) \(._calculated.m | round)"'
else
    params=${4-}
    call "$1" "$2" "$3" "${params:-"{}"}"
fi
