#!/usr/bin/env bash
# Builds the program and runs Benchmarks/cluster.py, whose options these are: a cluster beside the embedded service.
#
#     Benchmarks/cluster.sh [--quick] [--rounds 9] [--seconds 4] [--objects 1000000]
set -euo pipefail
cd "$(dirname "$0")/.."
GEOBUCKET_ALSO_INSTALL=postgresql scripts/install.sh
swift build -c release --product geobucket
exec Benchmarks/cluster.py "$@"
