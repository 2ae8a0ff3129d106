#!/usr/bin/env bash
# Builds a Debian package of the program: with its unit, user, configuration file, manual pages and completion of the
# command line. Prints where it is.
#
#     deploy/deb.sh [PROGRAM]      PROGRAM is one that was built for release; without it, it is built first
#
# Swift's own libraries are in the program. If PROGRAM asks for them as files, they come along beside it. What it needs
# of Debian, dpkg-shlibdeps finds. Needs Debian's dpkg-dev, and Python for the manual.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf 'deb: %s\n' "$1" >&2; }

if [ $# -gt 0 ]; then
    program=$1
else
    scripts/install.sh
    say "building"
    swift build -c release --static-swift-stdlib --scratch-path .build/deb --product geobucket >&2
    program=.build/deb/release/geobucket
fi
version=$("$program" --version)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# Libraries that are not in the system's folders lie beside the program, which looks for them there.
folder=$root/usr/lib/geobucket
mkdir -p "$folder" "$root/usr/bin"
strip --strip-unneeded -o "$folder/geobucket" "$program"
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
    case $library in
        /lib* | /usr/*) ;;
        *) strip --strip-unneeded -o "$folder/$(basename "$library")" "$library" ;;
    esac
done
ln -s ../lib/geobucket/geobucket "$root/usr/bin/geobucket"

install -D -m 644 /dev/stdin "$root/usr/lib/systemd/system/geobucket.service" < <(
    sed -e 's|^# /etc/systemd/system/geobucket.service; s|# S|' -e 's|/usr/local/bin|/usr/bin|' \
        deploy/systemd/geobucket.service)
install -D -m 640 deploy/systemd/geobucket.conf "$root/etc/geobucket/geobucket.conf"
deploy/manual.py "$program" "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*
completion() { install -D -m 644 /dev/stdin "$root/usr/share/$2" < <("$program" --generate-completion-script "$1"); }
completion bash bash-completion/completions/geobucket
completion zsh zsh/vendor-completions/_geobucket
completion fish fish/vendor_completions.d/geobucket.fish

documents=$root/usr/share/doc/geobucket
install -D -m 644 -t "$documents" README.md docs/*.md
gzip -9n <CHANGELOG.md >"$documents/changelog.gz"
install -D -m 644 deploy/debian/copyright "$documents/copyright"
install -D -m 644 -t "$documents/examples" deploy/systemd/secrets.conf deploy/proxies/{haproxy.cfg,nginx.conf,traefik.yaml} \
    deploy/grafana/dashboards/geobucket.json

mkdir -p "$root/DEBIAN" "$work/debian"
install -m 755 -t "$root/DEBIAN" deploy/debian/{postinst,prerm,postrm}
echo /etc/geobucket/geobucket.conf >"$root/DEBIAN/conffiles"
# dpkg-shlibdeps reads a control file of a source package.
printf 'Source: geobucket\n\nPackage: geobucket\nArchitecture: any\n' >"$work/debian/control"
dependencies=$(cd "$work" && find "$folder" -type f -exec dpkg-shlibdeps --ignore-missing-info --warnings=0 -O \
    -l"$folder" {} + | sed -n 's/^shlibs:Depends=//p')
sed -e "s|@version@|$version|" -e "s|@architecture@|$architecture|" -e "s|@dependencies@|$dependencies|" \
    -e "s|@size@|$(du -sk --exclude=DEBIAN "$root" | cut -f1)|" deploy/debian/control >"$root/DEBIAN/control"
(cd "$root" && find . -type f ! -path './DEBIAN/*' ! -path './etc/*' -printf '%P\0' | sort -z | xargs -0 md5sum) \
    >"$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"
find "$folder" -name '*.so' -exec chmod 644 {} +
chmod 640 "$root/etc/geobucket/geobucket.conf"

package=.build/geobucket_${version}_$architecture.deb
# A fifth larger than by the slowest compression, in a sixth of its time.
dpkg-deb --root-owner-group -Zxz -z1 --build "$root" "$package" >&2
echo "$package"
