"""Nodes of a cluster as processes, and the network between each and PostgreSQL."""
import contextlib, pathlib, signal, socket, subprocess, sys, time

import postgres
from wire import Connection, Unanswered

PROXY = """
import asyncio, signal, sys

is_cut, passed, free_at = False, 0, 0
rate = float(sys.argv[4])

async def pace(count):
    # All answers share the way back.
    global free_at
    now = asyncio.get_running_loop().time()
    free_at = max(free_at, now) + count / rate
    await asyncio.sleep(free_at - now)

def cut(is_to_be_cut):
    global is_cut, passed
    is_cut, passed = is_to_be_cut, 0

async def pass_on(reader, writer, is_request):
    global passed
    try:
        while piece := await reader.read(1 << 14):
            passed += len(piece) if is_request else 0
            while is_request and is_cut and passed > int(sys.argv[3]):
                await asyncio.sleep(0.05)
            if rate and not is_request:
                await pace(len(piece))
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()

async def meet(reader, writer):
    try:
        there = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    except OSError:
        return writer.close()
    await asyncio.gather(pass_on(reader, there[1], True), pass_on(there[0], writer, False))

async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, cut, True)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, cut, False)
    await (await asyncio.start_server(meet, "127.0.0.1", int(sys.argv[1]))).serve_forever()

asyncio.run(main())
"""
# A commit of which this much is sent has been begun and has not been ended; see Faults.cut_commit.
CUT_BYTES = 600_000


class Network:
    """A way to a server that passes bytes on unless it is cut.

    - rate: the bytes a second that come back; 0 if there is no limit
    """

    def __init__(self, port, rate=0):
        self.port = postgres.free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROXY, str(self.port), str(port), str(CUT_BYTES), str(rate)],
            stderr=subprocess.DEVNULL, start_new_session=True)
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", self.port)).close()
            time.sleep(0.02)

    def cut(self):
        self.process.send_signal(signal.SIGSTOP)

    def cut_requests(self):
        """Passes on CUT_BYTES of requests, and no more."""
        self.process.send_signal(signal.SIGUSR1)

    def mend(self):
        self.process.send_signal(signal.SIGUSR2)
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        self.process.kill()
        self.process.wait()


class Service:
    """What answers at a port."""

    host = "127.0.0.1"

    def __init__(self, port):
        self.port = port

    def connect(self, seconds=30):
        return Connection(self.port, seconds, self.host)

    def ask(self, method, params={}, seconds=30):
        with contextlib.closing(self.connect(seconds)) as connection:
            return connection.call(method, params)


class Node(Service):
    prefix, rate = [], 0

    def __init__(self, number, geobucket, server, folder, flags=()):
        self.number, self.geobucket, self.flags = number, geobucket, flags
        super().__init__(postgres.free_port())
        self.process = None
        self.cache, self.log = folder / f"node-{number}.sqlite", folder / f"node-{number}.log"
        self.networks = [Network(port, self.rate) for port in server.ports]
        self.url = postgres.url_at(*(network.port for network in self.networks))

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.geobucket, "serve", "--store", self.url, "--cache", self.cache, "--listen",
                 f"{self.host}:{self.port}", *self.flags], stdout=log, stderr=log, start_new_session=True)

    def wait(self):
        """Returns when it answers."""
        while True:
            with contextlib.suppress(Unanswered):
                return self.ask("server.ping")
            if self.process.poll() is not None:
                sys.exit(f"geobucket: node {self.number} does not start: {self.log.read_text()[-1000:]}")
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it in order; the exit status."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "no end within 60 s"

    def end(self):
        for network in self.networks:
            network.end()
        if self.process and self.process.poll() is None:
            self.kill()

    def cut(self):
        """From here on nothing passes between it and PostgreSQL."""
        for network in self.networks:
            network.cut()

    def mend(self):
        for network in self.networks:
            network.mend()

    def resident(self):
        """Megabytes."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024


class DistantNode(Node):
    """A node in a network namespace of its own: what it exchanges with PostgreSQL are packets, which can be dropped.
    Needs root, Debian's iproute2 and iptables."""

    def __init__(self, number, geobucket, server, folder, flags=()):
        self.space, there, here = (f"geobucket-{number}", f"geob{number}n", f"geob{number}h")
        net = f"10.77.{number}"
        self.prefix = ["ip", "netns", "exec", self.space]
        for command in [f"ip netns add {self.space}", f"ip link add {here} type veth peer name {there} netns {self.space}",
                        f"ip addr add {net}.1/24 dev {here}", f"ip link set {here} up",
                        f"ip -n {self.space} addr add {net}.2/24 dev {there}", f"ip -n {self.space} link set {there} up",
                        f"ip -n {self.space} link set lo up"]:
            subprocess.run(command.split(), check=True)
        # It listens where others could reach it.
        super().__init__(number, geobucket, server, folder, (*flags, "--insecure"))
        for network in self.networks:
            network.end()
        self.host, self.networks, self.postgres_ports = f"{net}.2", [], server.ports
        self.url = postgres.url_at(*server.ports, host=f"{net}.1")

    def filter(self, change):
        for port in self.postgres_ports:
            for chain, side in [("OUTPUT", "--dport"), ("INPUT", "--sport")]:
                subprocess.run([*self.prefix, "iptables", change, chain, "-p", "tcp", side, str(port), "-j", "DROP"],
                               check=True)

    def cut(self):
        self.filter("-A")

    def mend(self):
        self.filter("-D")

    def end(self):
        super().end()
        subprocess.run(["ip", "netns", "del", self.space])
