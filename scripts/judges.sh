#!/usr/bin/env bash
# Has foreign programs judge the web port: GDAL, OWSLib, schemathesis, openapi-spec-validator, jsonschema
# and mapbox-vector-tile, unmodified, and PyQGIS if it is there. Installs what is missing.
#
#     scripts/judges.sh [--geobucket .build/release/geobucket] [--short]
#
# It takes three to five minutes, most of it for schemathesis; --short takes one. Exit status 3 means that
# they could not be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
program=.build/release/geobucket
short=()
while [ $# -gt 0 ]; do
    case "$1" in
        --geobucket) program=${2:?--geobucket needs a program} && shift ;;
        --short) short=(--short) ;;
        --help) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit ;;
        *) echo "geobucket: $1 is unknown; see --help" >&2 && exit 2 ;;
    esac
    shift
done
[ -x "$program" ] || { echo "geobucket: there is no program $program; build it first" >&2; exit 1; }

missing() { echo "geobucket: $1 could not be installed" >&2; exit 3; }

GEOBUCKET_ALSO_INSTALL=gdal-bin scripts/install.sh || missing gdal-bin
packages=(
    OWSLib==0.35.0 openapi-spec-validator==0.9.0 schemathesis==4.32.5 jsonschema==4.26.0
    mapbox-vector-tile==2.2.0
)
python=.build/judges/bin/python3
[ -x "$python" ] || python3 -m venv .build/judges || missing "Python's venv"
"$python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" || missing "${packages[*]}"

"$python" scripts/web_ogc.py --geobucket "$program" "${short[@]}"
"$python" scripts/web_tiles.py --geobucket "$program"
