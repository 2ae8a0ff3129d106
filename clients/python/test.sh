#!/usr/bin/env bash
# Everything that the Python client has to pass. GEOBUCKET names the program, else .build/release/geobucket.
#
#     clients/python/test.sh          # units, scenarios, the real program: Python's standard library suffices
#     clients/python/test.sh --whole  # and mypy, ruff, wheel and sdist, pandas, pydantic, in .build/python-client
#
# The exit status is 3 if all is well but pip could not install what --whole needs.
set -euo pipefail
cd "$(dirname "$0")"
program=$(realpath "${GEOBUCKET:-../../.build/release/geobucket}")
[ -x "$program" ] || { echo "geobucket: there is no program $program" >&2; exit 1; }
export GEOBUCKET=$program PYTHONPATH=$PWD/src:$PWD/tests PYTHONDONTWRITEBYTECODE=1
python=python3
skipped=0
if [ "${1-}" = --whole ]; then
    environment=$(realpath -m ../../.build/python-client)
    packages=(mypy==2.4.1 ruff==0.17.6 build==1.6.1 hatchling==1.33.0 pandas geopandas pydantic)
    if ! "$environment/bin/python3" -c 'import mypy, ruff, build, hatchling, geopandas, pydantic' 2>/dev/null; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" || skipped=3
    fi
    if [ "$skipped" = 0 ]; then
        python=$environment/bin/python3
        "$python" -m mypy --cache-dir "$environment/mypy"
        "$python" -m ruff check --no-cache .
        "$python" -m ruff format --no-cache --check .
        "$python" -m build --no-isolation --outdir "$environment/dist" . >/dev/null
    else
        echo "geobucket: pip could not install ${packages[*]}; only what needs none of them is tested" >&2
    fi
fi
"$python" -W error::ResourceWarning -W error::RuntimeWarning -m unittest discover --start-directory tests
exit "$skipped"
