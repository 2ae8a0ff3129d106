#!/usr/bin/env python3
"""Well-behaved connections, every answer compared with what it has to be, while hostile clients do
their worst: nothing may be lost or wrong, the 99th percentile stays under three times its quiet value,
memory stays bounded and comes back.

    scripts/hostile.py [--minutes 10] [--connections 1000] [--idle 10000] [--rate 1000] [--seed 1]
                       [--svg hostile.svg] [--geobucket .build/release/geobucket]
"""
import argparse, json, math, multiprocessing, os, random, resource, select, signal, socket, subprocess, sys
import tempfile, time

PLACES, CATEGORIES, QUESTIONS = 20_000, 20, 400
QUIET_SECONDS = 30


# The oracle: some places, and what questions about them have to be answered.

def haversine(a, b):
    (p, l), (q, m) = [tuple(map(math.radians, place)) for place in (a, b)]
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((m - l) / 2) ** 2
    return 2 * 6_371_000 * math.asin(min(1, math.sqrt(h)))


def point(place):
    return {"_type": "point", "lat": place[0], "lon": place[1]}


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.places = {f"place-{n}": ((self.coordinate(60), self.coordinate(180)), n % CATEGORIES)
                       for n in range(PLACES)}
        self.questions = [self.question() for _ in range(QUESTIONS)]

    def coordinate(self, bound):
        return round(self.random.uniform(-bound, bound), 5)

    def question(self):
        center, category = (self.coordinate(60), self.coordinate(180)), self.random.randrange(CATEGORIES)
        near = sorted((haversine(center, place), name) for name, (place, kind) in self.places.items()
                      if kind == category)[:5]
        clause = {"type": "and", "clauses": [
            {"type": "geodistance", "field": "at", "center": point(center), "putDistanceInto": "d"},
            {"type": "eq", "field": "category", "value": category}]}
        params = {"bucket": "places", "bucketQuery": {"clause": clause, "orderBy": "_calculated.d"},
                  "bestEffortLimit": 5, "fields": []}
        return params, near

    @staticmethod
    def agrees(near, result):
        found = [(o["_calculated"]["d"], o["_id"]) for o in result["results"]]
        return [name for _, name in found] == [name for _, name in near] and all(
            abs(a - b) < 1e-5 for (a, _), (b, _) in zip(found, near))


def line(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


class Caller:
    """One connection that asks and waits, for what is set up and looked at beside the load."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def call(self, method, params={}):
        self.socket.sendall(line(1, method, params))
        return json.loads(self.lines.readline())["result"]


# The well-behaved.

class Good:
    """One connection: puts and gets an object of its own, and asks about the places."""

    def __init__(self, port, number):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.name, self.value, self.expected, self.buffer = f"own-{number}", 0, [], b""

    def ask(self, world, due):
        kind = world.random.random()
        if kind < 0.2:
            self.value += 1
            value = self.value
            text = line(len(self.expected), "object.put",
                        {"bucket": "own", "id": self.name, "object": {"n": value}})
            check = lambda result: result["_version"] == value
        elif kind < 0.4 and self.value:
            value = self.value
            text = line(len(self.expected), "object.get", {"bucket": "own", "id": self.name})
            check = lambda result: result["n"] == value
        else:
            params, near = world.random.choice(world.questions)
            text = line(len(self.expected), "bucket.query", params)
            check = lambda result: World.agrees(near, result)
        self.expected.append((due, check))
        self.socket.sendall(text)

    def receive(self, latencies):
        """Answers that came; the number of wrong ones."""
        piece = self.socket.recv(1 << 16)
        if not piece:
            sys.exit("hostile: a well-behaved connection was closed")
        self.buffer += piece
        *lines, self.buffer = self.buffer.split(b"\n")
        wrong, now = 0, time.monotonic()
        for text in lines:
            due, check = self.expected.pop(0)
            latencies.append(now - due)
            answer = json.loads(text)
            if "result" not in answer or not check(answer["result"]):
                print("hostile: a wrong answer:", text[:300], file=sys.stderr)
                wrong += 1
        return wrong


class Load:
    """All well-behaved connections at a fixed rate of requests, whether they are answered or not."""

    def __init__(self, port, world, count, rate):
        self.world, self.rate = world, rate
        self.all = [Good(port, n) for n in range(count)]
        self.poll = select.epoll()
        self.by_file = {good.socket.fileno(): good for good in self.all}
        for file in self.by_file:
            self.poll.register(file, select.EPOLLIN)
        self.sent = self.wrong = 0

    def run(self, seconds):
        """For a second at a time: the latencies of what was answered in it."""
        start = time.monotonic()
        due = start
        for second in range(seconds):
            latencies = []
            while (now := time.monotonic()) < start + second + 1:
                while due <= now:
                    self.all[self.sent % len(self.all)].ask(self.world, due)
                    self.sent += 1
                    due += 1 / self.rate
                self.take(max(0, due - time.monotonic()), latencies)
            yield latencies

    def take(self, wait, latencies):
        for file, _ in self.poll.poll(wait):
            self.wrong += self.by_file[file].receive(latencies)

    def finish(self):
        """Waits for the last answers; how many never came."""
        deadline = time.monotonic() + 30
        while any(good.expected for good in self.all) and time.monotonic() < deadline:
            self.take(0.1, [])
        return sum(len(good.expected) for good in self.all)


# The hostile. Each kind does a little many times a second, in a process of its own.

PUT = '{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"hostile","id":"o1","object":'
QUERY = line(1, "bucket.query", {"bucket": "places"})


def texts():
    many = ",".join(f'"k{n}":1' for n in range(20_000))
    return [("[" * 100_000).encode() + b"\n", (PUT + '{"a":' * 2_000 + "\n").encode(),
            (PUT + '{"n":' + "9" * 300_000 + "}}}\n").encode(), (PUT + "{" + many + "}}}\n").encode(),
            PUT.encode() + b'{"s":"\xc3\x28\xff"}}}\n', os.urandom(50_000) + b"\n",
            ("[" + ",".join([QUERY.decode().strip()] * 20) + "]\n").encode(),
            line(1, "bucket.query", {"bucket": "places", "bucketQuery": {"clause": {"type": "or", "clauses": [
                {"type": "contains", "field": "s", "value": "x" * n} for n in range(1, 300)]}}})]


class Hostile:
    def __init__(self, port, idle):
        self.port, self.idle_count, self.hosts = port, idle, 0
        self.kept, self.slow, self.endless, self.deaf = [], [], [], []
        self.texts = texts()
        self.random = random.Random(7)

    def connect(self):
        """From one of many addresses of this machine."""
        one = socket.socket()
        self.hosts += 1
        one.bind((f"127.0.{self.hosts % 50}.{2 + self.hosts % 200}", 0))
        one.settimeout(2)
        one.connect(("127.0.0.1", self.port))
        return one

    def open_idle(self):
        for _ in range(200):
            if len(self.kept) < self.idle_count:
                self.kept.append(self.connect())

    def byte_a_second(self):
        if len(self.slow) < 50:
            self.slow.append(self.connect())
        for one in list(self.slow):
            self.push(one, b"{", self.slow)

    def without_newline(self):
        if len(self.endless) < 5:
            self.endless.append(self.connect())
        for one in list(self.endless):
            self.push(one, b"x" * 65_536, self.endless)

    def never_read(self):
        if len(self.deaf) < 30:
            one = self.connect()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            self.deaf.append(one)
        for one in list(self.deaf):
            self.push(one, QUERY * 5, self.deaf)

    def flood(self):
        for _ in range(20):
            self.connect().close()

    def nonsense(self):
        one = self.connect()
        self.push(one, self.random.choice(self.texts), [])
        try:
            one.recv(1 << 16)
        except OSError:
            pass
        one.close()

    def vanish(self):
        """In the middle of an answer, of a write, of a batch: half of them by a reset."""
        for text in (QUERY * 3, line(1, "object.put", {"bucket": "hostile", "id": "o2", "object": {}}) * 50,
                     ("[" + ",".join([QUERY.decode().strip()] * 5)).encode()):
            one = self.connect()
            if self.random.random() < 0.5:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.push(one, text, [])
            one.close()

    @staticmethod
    def push(one, data, owners):
        one.setblocking(False)
        try:
            one.send(data)
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            if one in owners:
                owners.remove(one)

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        kinds = [(self.open_idle, 0.1), (self.byte_a_second, 1), (self.without_newline, 0.1),
                 (self.never_read, 0.5), (self.flood, 0.2), (self.nonsense, 0.1), (self.vanish, 0.2)]
        due = [0.0] * len(kinds)
        while True:
            for place, (act, period) in enumerate(kinds):
                if time.monotonic() >= due[place]:
                    due[place] = time.monotonic() + period
                    try:
                        act()
                    except OSError:
                        pass
            time.sleep(0.01)


def hostile_process(port, idle):
    os.nice(10)
    Hostile(port, idle).run()


# The report.

def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def svg(path, samples, begin, end):
    """p99 in milliseconds above, resident MiB below, by the second; the hostile time is shaded."""
    width, height, left, gap = 900, 200, 70, 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 20}" height="{2 * height + 3 * gap}" '
             f'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    x = lambda second: left + second * width / max(1, len(samples) - 1)
    for row, (title, column) in enumerate([("99th percentile of a second, ms", 0), ("resident memory, MiB", 1)]):
        top = gap + row * (height + gap)
        values = [sample[column] for sample in samples]
        most = max(values) * 1.1 or 1
        y = lambda value: top + height - value / most * height
        parts.append(f'<rect x="{x(begin):.1f}" y="{top}" width="{x(end) - x(begin):.1f}" height="{height}" '
                     'fill="#fbe3d6"/>')
        for step in range(5):
            value = most * step / 4
            parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                         f'stroke="#ccc"/><text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
                         f'{value:.3g}</text>')
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in enumerate(values))
        parts.append(f'<polyline fill="none" stroke="#1f5fa8" stroke-width="1.5" points="{points}"/>'
                     f'<text x="{left}" y="{top - 8}" font-weight="bold">{title}</text>')
    parts.append(f'<text x="{left}" y="{2 * height + 2.6 * gap:.0f}">seconds 0 to {len(samples)}; shaded: with the '
                 'hostile clients</text></svg>')
    open(path, "w").write("\n".join(parts))


def attack(port, options):
    world = World(options.seed)
    caller = Caller(port)
    names = list(world.places)
    for first in range(0, PLACES, 500):
        caller.call("object.putMany", {"bucket": "places", "objects": [
            {"_id": name, "at": point(world.places[name][0]), "category": world.places[name][1], "s": "y" * 100}
            for name in names[first:first + 500]]})
    load = Load(port, world, options.connections, options.rate)
    samples, latencies = [], {"warm": [], "quiet": [], "hostile": [], "after": []}
    hostile = multiprocessing.Process(target=hostile_process, args=(port, options.idle))
    for phase, seconds in [("warm", 10), ("quiet", QUIET_SECONDS), ("hostile", max(1, int(options.minutes * 60))),
                           ("after", QUIET_SECONDS)]:
        if phase == "hostile":
            hostile.start()
        if phase == "after":
            hostile.terminate()
            hostile.join()
        for second in load.run(seconds):
            stats = caller.call("server.stats")
            latencies[phase] += second
            if phase != "warm":
                samples.append((percentile(second, 0.99) * 1_000, stats["memory"]["residentBytes"] / (1 << 20)))
            if len(samples) % 30 == 1:
                print(f"{phase}: p99 {samples[-1][0]:.2f} ms, {samples[-1][1]:.0f} MiB, "
                      f"{stats['connections']['open']} connections", file=sys.stderr)
    lost = load.finish()
    begin, end = QUIET_SECONDS, len(samples) - QUIET_SECONDS
    svg(options.svg, samples, begin, end)
    quiet, worst, after = (percentile(latencies[phase], 0.99) * 1_000 for phase in ("quiet", "hostile", "after"))
    before, most, back = (max(sample[1] for sample in part) for part in
                          (samples[:begin], samples[begin:end], samples[-5:]))
    print(f"{load.sent} requests on {options.connections} connections: {lost} lost, {load.wrong} wrong\n"
          f"p99 {quiet:.2f} ms quiet, {worst:.2f} ms with the hostile clients, {after:.2f} ms after\n"
          f"{before:.0f} MiB resident before, {most:.0f} at most, {back:.0f} at the end")
    faults = [text for text, holds in [
        ("answers were lost or wrong", lost == 0 and load.wrong == 0),
        ("the 99th percentile tripled", worst < 3 * quiet),
        ("memory did not come back", back < before + 0.5 * (most - before) + 100)] if not holds]
    if faults:
        sys.exit("hostile: " + "; ".join(faults))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", default="hostile.svg")
    parser.add_argument("--geobucket", default=".build/release/geobucket")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        service = subprocess.Popen(
            [options.geobucket, "serve", "--listen", "127.0.0.1:0", "--store", os.path.join(folder, "store.sqlite"),
             "--log-level", "warning", "--connections", str(options.connections + options.idle + 200),
             "--line-milliseconds", "10000", "--unread-milliseconds", "10000", "--buffered-bytes", str(256 << 20)],
            stdout=subprocess.PIPE, text=True)
        try:
            ready = service.stdout.readline()
            if not ready.startswith("geobucket ready on "):
                sys.exit("hostile: the service does not start")
            attack(int(ready.rsplit(":", 1)[1]), options)
        finally:
            service.send_signal(signal.SIGTERM)
            status = service.wait(timeout=60)
    if status != 0:
        sys.exit(f"hostile: the service ended with {status}")


main()
