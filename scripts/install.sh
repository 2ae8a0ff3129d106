#!/usr/bin/env bash
# Installs what a Debian or Ubuntu machine with a Swift toolchain still lacks to build GeoBucket.
# Sourced or run by the other scripts; does nothing when nothing is missing. GEOBUCKET_ALSO_INSTALL names
# further packages.
set -euo pipefail

fail() { printf 'geobucket: %s\n' "$1" >&2; exit 1; }

command -v swift >/dev/null || fail "swift is not on the PATH; install Swift 6.3 from swift.org first"
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
case "$version" in
    "" | [0-5].* | 6.[0-2]) fail "Swift 6.3 or later is needed, this is ${version:-unknown}" ;;
esac

# The C and C++ libraries (SQLite, simdjson, zlib, GEOS, GeographicLib, libcrypto, libpq), a C++ library to
# build their shims, git for SwiftPM, and, for the tests, Python with venv (their foreign client) and
# openssl (their certificates).
needed=(git g++ libsqlite3-dev libsimdjson-dev zlib1g-dev libgeos-dev libgeographiclib-dev libssl-dev
    libpq-dev python3 python3-venv netcat-openbsd jq openssl ${GEOBUCKET_ALSO_INSTALL:-})
missing=()
for package in "${needed[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    command -v apt-get >/dev/null ||
        fail "install these packages (Debian's names) and try again: ${missing[*]}"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "as root, run: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    printf 'geobucket: installing %s\n' "${missing[*]}" >&2
    "${as_root[@]}" apt-get update -qq || fail "apt-get update failed; is this machine online?"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}"
fi
