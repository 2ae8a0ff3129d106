#!/bin/sh
# Collects what an image of one program needs: the program, the libraries it is linked with, the
# certificates of public authorities, Leaflet for the map page, a user, and a place for data.
#
#     image-files.sh PROGRAM TARGET
set -eu

program=$1
target=$2

mkdir -p "$target/etc/ssl/certs" "$target/data" "$target/tmp" "$target/usr/local/bin"
chmod 1777 "$target/tmp"
cp "$program" "$target/usr/local/bin/"

# "libc.so.6 => /lib/…/libc.so.6 (0x…)" and, for the loader, "/lib64/ld-linux-x86-64.so.2 (0x…)".
ldd "$program" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$target$(dirname "$library")"
    cp -L "$library" "$target$library"
done

cp -L /etc/ssl/certs/ca-certificates.crt "$target/etc/ssl/certs/"
leaflet=/usr/share/javascript/leaflet
mkdir -p "$target$leaflet" "$target/usr/share/doc/libjs-leaflet"
cp -rL "$leaflet/leaflet.css" "$leaflet/leaflet.min.js" "$leaflet/images" "$target$leaflet/"
cp /usr/share/doc/libjs-leaflet/copyright "$target/usr/share/doc/libjs-leaflet/"

printf 'root:x:0:0::/:/nonexistent\ngeobucket:x:10001:10001::/data:/nonexistent\n' >"$target/etc/passwd"
printf 'root:x:0:\ngeobucket:x:10001:\n' >"$target/etc/group"
printf 'hosts: files dns\n' >"$target/etc/nsswitch.conf"
chown -R 10001:10001 "$target/data"
