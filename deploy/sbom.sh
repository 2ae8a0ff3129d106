#!/bin/sh
# Says what a program was made of, as CycloneDX 1.5: the packages that Package.resolved pins, the
# toolchain, and Debian's packages of the libraries that it is linked with and of the page's Leaflet.
#
#     sbom.sh PROGRAM VERSION RESOLVED SWIFT-VERSION      writes the list
#     sbom.sh --labels LIST                               what of it labels an image, NAME=VALUE lines
#
# The same parts make the same list: it has no time and no number of its own.
set -eu

if [ "$1" = --labels ]; then
    # shellcheck disable=SC2016 # The braces are jq's.
    exec jq --raw-output '
        def named(kind): [.components[] | select((.purl // "") | startswith("pkg:" + kind + "/"))
            | "\(.name) \(.version)"] | join(", ");
        "org.opencontainers.image.version=\(.metadata.component.version)",
        "geobucket.swift=\([.components[] | select(.type == "platform") | .version] | join(", "))",
        "geobucket.packages=\(named("swift"))",
        "geobucket.libraries=\(named("deb"))"' "$2"
fi

program=$1
version=$2
resolved=$3
swift=$4

# The package that brought a file. Where /lib is a link, some packages call it /usr/lib.
owner() {
    for path in "$1" "/usr$1" "$(readlink -f "$1")"; do
        if found=$(dpkg-query --search "$path" 2>/dev/null); then
            printf '%s\n' "${found%%:*}"
            return
        fi
    done
    echo "sbom: no package of Debian brought $1" >&2
    return 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ldd "$program" | grep -o '/[^ ]*' >"$work/files"
for file in /usr/sbin/update-ca-certificates /usr/share/javascript/leaflet/leaflet.min.js; do
    if [ -e "$file" ]; then echo "$file"; fi
done >>"$work/files"
while read -r file; do owner "$file"; done <"$work/files" >"$work/owners"
sort -u "$work/owners" | while read -r package; do
    # shellcheck disable=SC2016 # The names are dpkg's.
    dpkg-query --show --showformat '${Package}\t${Version}\t${Architecture}\n' "$package" | head -1
done >"$work/packages"

# shellcheck disable=SC2016 # The names are jq's.
jq --null-input --arg version "$version" --arg swift "$swift" \
    --slurpfile resolved "$resolved" --rawfile packages "$work/packages" '
    def place: sub("^[a-z]+://"; "") | sub("\\.git$"; "");
    {
        bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
        metadata: {component: {
            type: "application", "bom-ref": "geobucket", name: "geobucket", version: $version,
            licenses: [{license: {id: "Apache-2.0"}}]
        }},
        components: (
            [$resolved[0].pins[]
                | (.state.version // .state.branch // .state.revision) as $pinned
                | {
                    type: "library", name: .identity, version: $pinned,
                    purl: "pkg:swift/\(.location | place)@\($pinned | @uri)",
                    pedigree: {commits: [{uid: .state.revision, url: .location}]}
                }]
            + [{type: "platform", name: "swift", version: $swift}]
            + [$packages | split("\n")[] | select(. != "") | split("\t") | {
                type: "library", name: .[0], version: .[1],
                purl: "pkg:deb/debian/\(.[0] | @uri)@\(.[1] | @uri)?arch=\(.[2])"
            }]
        )
    }'
