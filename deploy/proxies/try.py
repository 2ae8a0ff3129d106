#!/usr/bin/env python3
"""Runs the configurations in this folder before a service, and checks what it learns of its clients.

    python3 deploy/proxies/try.py [PROGRAM]

Through each proxy that is installed (HAProxy, nginx) two clients of different addresses use up what
`--requests-per-second` allows one of them; a client that makes up an address gains nothing. PROGRAM
is a built geobucket, by default that of .build/debug or .build/release. Ports are free ones.
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


def trial(program, name, command):
    """Whether limits by address count the clients of a proxy."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        folder.chmod(0o755)
        ports = {port: free_port() for port in ("14362", "14364", "4362", "443")}
        text = (HERE / name).read_text().replace("/etc/geobucket-proxy/geobucket.pem", str(certificate(folder)))
        for old, new in [("127.0.0.1:14362", f"127.0.0.1:{ports['14362']}"), ("127.0.0.1:14364", f"127.0.0.1:{ports['14364']}"),
                         ("bind :4362", f"bind :{ports['4362']}"), ("bind :443", f"bind :{ports['443']}"),
                         ("maxconn 20000", "maxconn 1000"), ("listen 4362", f"listen {ports['4362']}"), ("listen 443", f"listen {ports['443']}")]:
            text = text.replace(old, new)
        (folder / name).write_text(text)
        service = subprocess.Popen(
            [program, "serve", "--listen", f"127.0.0.1:{ports['14362']}", "--web", f"127.0.0.1:{ports['14364']}",
             "--store", folder / "store.sqlite", "--trust-proxy", "127.0.0.2", "--requests-per-second", str(RATE)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        proxy = None
        try:
            while "ready" not in service.stdout.readline():
                pass
            # nginx removes the file with its number when it ends.
            own = ["-g", f"daemon off; pid {folder}/proxy.pid;"] if command[0] == "nginx" else []
            proxy = subprocess.Popen([*command, folder / name, *own], stdout=subprocess.DEVNULL)
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
    built = [HERE.parents[1] / ".build" / kind / "geobucket" for kind in ("debug", "release")]
    program = sys.argv[1] if len(sys.argv) > 1 else next((path for path in built if path.exists()), None)
    if not program:
        sys.exit("there is no built program")
    failed = False
    for name, command in ("haproxy.cfg", ["haproxy", "-db", "-f"]), ("nginx.conf", ["nginx", "-c"]):
        if not shutil.which(command[0]):
            print(f"skipped: {name}: there is no {command[0]}")
            continue
        faults = trial(program, name, command)
        failed |= bool(faults)
        print("\n".join(f"fault: {name}: {text}" for text in faults) or f"works: {name}")
    sys.exit(failed)


main()
