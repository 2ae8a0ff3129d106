#!/usr/bin/env bash
# Makes the client library's documentation, .build/documentation; a link that leads nowhere is an error.
#
#     scripts/docs.sh            # builds the library first
#     scripts/docs.sh --built    # takes it as the last build has left it in .build/debug
#
# Read it with: python3 -m http.server --directory .build/documentation
set -euo pipefail
cd "$(dirname "$0")/.."
command -v docc >/dev/null || { echo "geobucket: this Swift toolchain has no docc" >&2; exit 1; }
[ "${1:-}" = --built ] || swift build --target GeoBucketClient >&2

output=.build/documentation
symbols=.build/documentation-symbols
rm -rf "$output" "$symbols"
mkdir -p "$symbols"
# The modules of C that the library's dependencies need.
modules=()
while read -r map; do modules+=(-Xcc "-fmodule-map-file=$map"); done \
    < <(find -L .build/debug -maxdepth 2 -name module.modulemap)
while read -r map; do modules+=(-I "$(dirname "$map")"); done \
    < <(find Sources .build/checkouts -name module.modulemap)
swift symbolgraph-extract -module-name GeoBucketClient -I .build/debug/Modules "${modules[@]}" \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -output-dir "$symbols"
problems=$(docc convert Sources/Client/GeoBucketClient/GeoBucketClient.docc \
    --additional-symbol-graph-dir "$symbols" --fallback-display-name GeoBucketClient \
    --fallback-bundle-identifier org.geobucket.client --output-path "$output" 2>&1)
# A parameter without a sentence of its own is no problem.
problems=$(grep -A2 -E '^(warning|error): ' <<<"$problems" | grep -v 'is missing documentation' |
    grep -A2 -E '^(warning|error): ' || true)
[ -z "$problems" ] || { printf '%s\n' "$problems" >&2; exit 1; }
echo "the client library's documentation is in $output"
