#!/usr/bin/env bash
# Installs a package that deploy/deb.sh has built, looks at what it does, removes and purges it, on a copy of this
# machine's file system that keeps nothing.
#
#     deploy/try-deb.sh PACKAGE      as root
#
# With Debian's systemd and systemd-container the copy is booted, and systemd runs the service. Exit status 3 says that
# it could not be, and that the rest is well; so does a machine where no copy can be made.
set -euo pipefail
say() { printf 'try-deb: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# expect WHAT COMMAND…: a command that has to succeed.
expect() {
    local what=$1
    shift
    if "$@" >/tmp/said 2>&1; then say "$what"; else fail "not so: $what: $(tail -5 /tmp/said)"; fi
}

# Everything below here runs inside the copy, with the package as /package.deb.
inside() {
    local store=/var/lib/geobucket/geobucket.sqlite configuration=/etc/geobucket/geobucket.conf
    export HOME=/root DEBIAN_FRONTEND=noninteractive
    expect "it can be installed" dpkg --install /package.deb
    expect "the program runs without the toolchain" geobucket --version
    expect "there is the user" id geobucket
    expect "bash reads its completion" bash -n /usr/share/bash-completion/completions/geobucket
    expect "there is a manual page of each subcommand" test \
        "$(geobucket --help | grep -c '^  [a-z]')" -lt "$(find /usr/share/man/man1 -name 'geobucket*' | wc -l)"
    for name in $(sed -n 's/^#\(GEOBUCKET_[A-Z_]*\)=.*/\1/p' $configuration); do
        flag=--$(tr A-Z_ a-z- <<<"${name#GEOBUCKET_}")
        geobucket serve --help | grep -q -- "$flag " || fail "$configuration names $name, and there is no $flag"
    done
    is_booted && with_systemd
    if ! is_booted; then
        mkdir -p /var/lib/geobucket
        touch $store
    fi
    echo "# changed" >>$configuration
    echo secret >/etc/geobucket/own.key
    expect "it can be removed" dpkg --remove geobucket
    expect "the changed configuration is kept" grep -q '^# changed' $configuration
    if is_booted; then
        systemctl is-active geobucket.service >/dev/null && fail "it runs on after its removal"
    fi
    expect "it can be purged" dpkg --purge geobucket
    [ ! -e $configuration ] || fail "the configuration is there after the purge"
    [ -e $store ] || fail "the purge has deleted the store"
    [ -e /etc/geobucket/own.key ] || fail "the purge has deleted a key of the user's"
    say "the store and what the user made are kept"
    if is_booted; then
        expect "it can be installed again" dpkg --install /package.deb
        expect "the store has what was written" geobucket get shops kiosk --server 127.0.0.1:4362
    fi
}

is_booted() { [ -d /run/systemd/system ]; }

with_systemd() {
    local token
    expect "systemd has started it, and knows that it is ready" systemctl is-active geobucket.service
    [ "$(systemctl show -P Type geobucket.service)" = notify ] || fail "it is no Type=notify"
    local process
    process=$(systemctl show -P MainPID geobucket.service)
    expect "its user is geobucket" test "$(stat -c %U "/proc/$process")" = geobucket
    expect "nobody else reads the store" test "$(stat -c '%U %a' /var/lib/geobucket)" = "geobucket 700"
    echo '{"name":"Kiosk"}' >/tmp/kiosk.json
    expect "it takes a write" geobucket put shops kiosk /tmp/kiosk.json
    ps -L -o ni= -p "$process" | sort -un | tr -d ' \n' | grep -q 023 || fail "its threads have no priorities"
    ! journalctl -u geobucket.service | grep 'cannot have their priorities' || fail "the unit forbids priorities"
    say "its threads have their priorities"

    # As geobucket.conf and secrets.conf say. The program may be one without TLS.
    echo GEOBUCKET_HTTP=127.0.0.1:4363 >>/etc/geobucket/geobucket.conf
    token=$(umask 077 && geobucket token create --principal alice --tokens /etc/geobucket/tokens.json)
    mkdir -p /etc/systemd/system/geobucket.service.d
    grep -e '^\[' -e tokens.json /usr/share/doc/geobucket/examples/secrets.conf \
        >/etc/systemd/system/geobucket.service.d/secrets.conf
    systemctl daemon-reload
    expect "it starts with tokens that only root may read" systemctl restart geobucket.service
    ! geobucket get shops kiosk 2>/dev/null || fail "it takes requests without a token"
    expect "it takes the token" env GEOBUCKET_TOKEN="$token" geobucket get shops kiosk
    exec 3<>/dev/tcp/127.0.0.1/4363
    printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    expect "its configuration file counts" grep -q ' 200 ' <(head -1 <&3)
    exec 3>&-
    expect "it can be upgraded" dpkg --install /package.deb
    [ "$(systemctl show -P MainPID geobucket.service)" != "$process" ] || fail "the upgrade has not restarted it"
    expect "the upgrade keeps the configuration" grep -q '^GEOBUCKET_HTTP' /etc/geobucket/geobucket.conf
    rm -r /etc/systemd/system/geobucket.service.d
    systemctl daemon-reload
    expect "systemd stops it" systemctl stop geobucket.service
    [ "$(systemctl show -P Result geobucket.service)" = success ] || fail "its stop is a failure"
    expect "systemd starts it" systemctl start geobucket.service
}

if [ "${1:-}" = --inside ]; then
    inside
    exit
fi

package=$(realpath "$1")
if [ "$(id -u)" -ne 0 ]; then say "only root can make a copy of the file system"; exit 3; fi
if [ -z "${GEOBUCKET_OWN_MOUNTS:-}" ]; then GEOBUCKET_OWN_MOUNTS=1 exec unshare --mount "$0" "$package"; fi
work=$(mktemp -d)
trap 'umount -R "$work" 2>/dev/null || true; rmdir "$work" 2>/dev/null || true' EXIT
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
root=$work/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$root" ||
    { say "there is no overlay of this file system"; exit 3; }
cp "$package" "$root/package.deb"
cp "$0" "$root/try-deb.sh"
# A machine on which tests run may forbid packages to start services.
rm -f "$root/usr/sbin/policy-rc.d"
# The toolchain's libraries must not help.
toolchain=$(readlink -f "$(command -v swift || true)")
toolchain=${toolchain%/usr/bin/*}

for page in $(dpkg-deb --contents "$package" | grep -o '/usr/share/man/.*\.gz$'); do
    dpkg-deb --fsys-tarfile "$package" | tar -xO ".$page" | gunzip >"$work/page"
    ! command -v groff >/dev/null || [ -z "$(groff -man -Kutf8 -Tutf8 -ww -z "$work/page" 2>&1)" ] ||
        fail "$page: $(groff -man -Kutf8 -Tutf8 -ww -z "$work/page" 2>&1 | head -3)"
done

if command -v systemd-nspawn >/dev/null && [ -x /usr/lib/systemd/systemd ]; then
    cat >"$root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
After=basic.target dbus.socket
Wants=dbus.socket
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1

[Service]
Type=oneshot
ExecStart=/try-deb.sh --inside
StandardError=file:/try.log
UNIT
    status=0
    timeout --kill-after=5 "${GEOBUCKET_TRY_SECONDS:-240}" systemd-nspawn --quiet --directory="$root" \
        --register=no --keep-unit --private-network --tmpfs="${toolchain:-/opt/none}" --boot -- \
        --unit=try.service >"$work/boot.log" 2>&1 </dev/null || status=$?
    if [ -s "$root/try.log" ]; then
        cat "$root/try.log" >&2
        [ "$status" = 0 ] || fail "systemd ended with $status: $(tail -5 "$work/boot.log")"
        exit
    fi
    say "no system starts in a container here: $(tail -3 "$work/boot.log")"
fi
for folder in proc dev; do mount --rbind "/$folder" "$root/$folder"; done
for folder in run tmp $toolchain; do mount -t tmpfs tmpfs "$root/$folder"; done
chroot "$root" /try-deb.sh --inside
say "skipped: the service under systemd, which needs Debian's systemd and systemd-container"
exit 3
