#!/usr/bin/env bash
# Builds the image on Debian 12 without a registry and without a daemon, and shows that it runs: the
# bases come out of Debian's packages and this machine's Swift toolchain.
#
#     deploy/image.sh [--check-only] [FLAG…]      as root; FLAGs go to buildah, such as --volume A:B:ro
#
# Its labels say what it was made of and from which commit, the whole list is inside (deploy/sbom.sh).
# Proxies are those of the environment. SwiftPM's cache spares the downloads:
#
#     deploy/image.sh --volume "$HOME/.cache/org.swift.swiftpm:/root/.cache/org.swift.swiftpm"
#
# Shown are its size (under 120 MB), its user, its labels, that it serves from a read-only root file
# system without any capability and is healthy, that it has the map page with Leaflet, and that SIGTERM
# ends it with 0.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf 'image: %s\n' "$1" >&2; }
fail() { say "$1"; exit 1; }

[ "$(id -u)" -eq 0 ] || fail "only root can make the bases' file systems"
missing=()
for package in mmdebstrap buildah podman runc jq; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
export BUILDAH_ISOLATION=chroot
# Nothing of systemd: health is asked about here, not by its timers.
podman() { DISABLE_HC_SYSTEMD=true command podman --cgroup-manager cgroupfs --runtime runc "$@"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# base NAME PATH PACKAGES: an image of Debian 12 with some packages.
base() {
    if buildah inspect "$1" >/dev/null 2>&1; then return; fi
    say "making $1"
    mmdebstrap --quiet --variant=essential --include="apt,ca-certificates$3" bookworm "$work/base.tar"
    local container
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$work/base.tar" / >/dev/null
    buildah config --env "PATH=$2" "$container"
    buildah commit --quiet "$container" "$1" >/dev/null
    buildah rm "$container" >/dev/null
    rm "$work/base.tar"
}

sbom=usr/local/share/geobucket/sbom.cdx.json

# record IMAGE: labels an image with what the list inside says of it, and with the commit.
record() {
    local container root label arguments=(--label "geobucket.sbom=/$sbom")
    container=$(buildah from --pull=never "$1")
    root=$(buildah mount "$container")
    while IFS= read -r label; do arguments+=(--label "$label"); done \
        < <(sh deploy/sbom.sh --labels "$root/$sbom")
    buildah umount "$container" >/dev/null
    if commit=$(git rev-parse HEAD 2>/dev/null); then
        git diff --quiet HEAD || commit="$commit, changed"
        arguments+=(--label "org.opencontainers.image.revision=$commit")
        arguments+=(--label "org.opencontainers.image.created=$(git log -1 --format=%cI)")
    fi
    buildah config "${arguments[@]}" "$container"
    buildah commit --quiet --format docker "$container" "$1" >/dev/null
    buildah rm "$container" >/dev/null
}

if [ "${1:-}" = --check-only ]; then
    shift
else
    swift=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
    path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    base localhost/debian:bookworm "$path" ""
    # What the toolchain itself needs.
    base localhost/swift:bookworm "$swift/usr/bin:$path" ",binutils,git,g++,libc6-dev,libcurl4-openssl-dev,libedit2,libncurses6,libpython3.11,libsqlite3-0,libxml2,libz3-4,pkg-config,tzdata,zlib1g-dev"
    say "building"
    # Docker's format: the other knows no health check.
    buildah bud --format docker --volume "$swift:$swift:ro" "$@" \
        --build-arg SWIFT_IMAGE=localhost/swift:bookworm \
        --build-arg DEBIAN_IMAGE=localhost/debian:bookworm \
        --file deploy/Dockerfile --tag geobucket . >&2
    record localhost/geobucket
fi

size=$(podman image inspect --format '{{.Size}}' geobucket)
say "$((size / 1000000)) MB, user $(podman image inspect --format '{{.User}}' geobucket)"
[ "$size" -lt 120000000 ] || fail "it has more than 120 MB"

for label in org.opencontainers.image.version geobucket.{swift,packages,libraries,sbom}; do
    value=$(podman image inspect --format "{{index .Labels \"$label\"}}" geobucket)
    [ -n "$value" ] || fail "it has no label $label"
    say "$label: $value"
done

mkdir "$work/data"
chown 10001:10001 "$work/data"
name=geobucket-check-$$
podman run --detach --name "$name" \
    --read-only --cap-drop all --security-opt no-new-privileges --network host \
    --ulimit nofile=16384:16384 --ulimit nproc=4096:4096 --volume "$work/data:/data" \
    --env GEOBUCKET_SERVER=127.0.0.1:5362 \
    geobucket serve --listen 127.0.0.1:5362 --http 127.0.0.1:5363 --web 127.0.0.1:5364 >/dev/null
trap 'podman rm --force "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
inside() { podman exec "$name" geobucket "$@"; }
for _ in $(seq 100); do
    if inside call server.ping >/dev/null 2>&1; then break; fi
    sleep 0.1
done
inside call object.put '{"bucket":"shops","id":"kiosk-7","object":{"name":"Kiosk"}}' >/dev/null ||
    fail "it does not serve: $(podman logs "$name" 2>&1 | tail -5)"
inside query --bucket shops >&2
if inside query --bucket shops --format json | grep -q Kiosk; then
    say "serves, root file system read-only, no capabilities"
else
    fail "it has lost what was written"
fi
podman healthcheck run "$name" >&2 || fail "it is not healthy"
say "healthy"
# status PATH: the first line of the web port's answer.
status() {
    exec 3<>/dev/tcp/127.0.0.1/5364
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
    head -1 <&3
    exec 3>&-
}
for path in /map /assets/leaflet/leaflet.css /assets/leaflet/leaflet.min.js; do
    grep -q ' 200 ' <<<"$(status "$path")" || fail "it does not serve $path"
done
say "serves the map page"
podman kill --signal TERM "$name" >/dev/null
status=$(podman wait "$name")
[ "$status" = 0 ] || fail "SIGTERM ended it with $status"
say "SIGTERM ended it with 0"
