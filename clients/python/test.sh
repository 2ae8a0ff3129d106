#!/usr/bin/env bash
# Everything that the Python client has to pass. GEOBUCKET names the program, else .build/release/geobucket.
#
#     clients/python/test.sh          # unit tests, scenarios, the real program: the standard library suffices
#     clients/python/test.sh --whole  # and mypy, ruff, pandas, pydantic, wheel and sdist, in .build/python-client
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONPATH=$PWD/src:$PWD/tests PYTHONDONTWRITEBYTECODE=1
python=python3
if [ "${1-}" = --whole ]; then
    environment=../../.build/python-client
    python=$environment/bin/python3
    if ! "$python" -c 'import mypy, pandas, geopandas, pydantic, build, ruff, hatchling' 2>/dev/null; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check mypy ruff build hatchling pandas geopandas pydantic
    fi
    "$python" -m mypy --cache-dir "$environment/mypy"
    "$python" -m ruff check --no-cache .
    "$python" -m ruff format --no-cache --check .
    "$python" -m build --no-isolation --outdir "$environment/dist" . >/dev/null
fi
"$python" -W error::ResourceWarning -W error::RuntimeWarning -m unittest discover --start-directory tests "${@:2}"
