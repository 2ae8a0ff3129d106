#!/usr/bin/env bash
# Builds the program and runs scripts/cluster.py, whose options these are: nodes over one PostgreSQL while both are
# killed, stopped and cut off.
#
#     scripts/cluster.sh [PART …] [--rounds 200] [--seconds 0] [--seed 1] [--nodes 3] [--loss]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
swift build -c release --product geobucket
exec scripts/cluster.py "$@"
