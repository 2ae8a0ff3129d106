#!/usr/bin/env python3
"""Well-behaved connections, every answer compared with what it has to be, while hostile clients do
their worst: nothing may be lost or wrong, the 99th percentile stays under three times its quiet value,
memory stays bounded and comes back.

    scripts/hostile.py [--minutes 10] [--connections 1000] [--idle 10000] [--rate 1000] [--seed 1]
                       [--svg hostile.svg] [--geobucket .build/release/geobucket]
                       [--attack-seconds 20] [--attack NAME]…

Then each attack of scripts/hostile_attacks.py and scripts/hostile_web.py runs alone, against a service of its
own with logins, for so many seconds, beside 200 well-behaved connections that ask 500 times a second, and one
new client a second of each port: a table of their latencies and of the service's memory is printed.
None of the 99th percentiles may pass 25 ms, nor five times what it was just before the attack, if that is more; an
answer that has not come counts as late as it is by then. No memory may pass bufferedBytes (128 MiB) and 64 MiB, and
every new client of each port, /healthz too, has to be answered within a second. What became of each attack's requests
stands below the table, with the share of a processor that the attackers took: one that connects nowhere, is answered
nothing, or is only told that it is too large shows nothing, and fails.
--minutes 0 leaves the first part out, --attack-seconds 0 the second.
"""
import argparse, json, math, multiprocessing, os, random, resource, select, socket, subprocess, sys, tempfile, time

import hostile_attacks, hostile_tally, service
from hostile_attacks import line, point

PLACES, CATEGORIES, QUESTIONS = 20_000, 20, 400
QUIET_SECONDS = 30


# The oracle: some places, and what questions about them have to be answered.

def haversine(a, b):
    (p, l), (q, m) = [tuple(map(math.radians, place)) for place in (a, b)]
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin((m - l) / 2) ** 2
    return 2 * 6_371_000 * math.asin(min(1, math.sqrt(h)))


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
            {"type": "geodistance", "field": "at", "center": point(*center), "putDistanceInto": "d"},
            {"type": "eq", "field": "category", "value": category}]}
        params = {"bucket": "places", "bucketQuery": {"clause": clause, "orderBy": "_calculated.d"},
                  "bestEffortLimit": 5, "fields": []}
        return params, near

    @staticmethod
    def agrees(near, result):
        found = [(o["_calculated"]["d"], o["_id"]) for o in result["results"]]
        return [name for _, name in found] == [name for _, name in near] and all(
            abs(a - b) < 1e-5 for (a, _), (b, _) in zip(found, near))


class Caller:
    """One connection that asks and waits, for what is set up and looked at beside the load."""

    def __init__(self, port, token=None):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb", 1 << 20)
        if token:
            self.call("auth.login", {"token": token})

    def call(self, method, params={}):
        self.socket.sendall(line(1, method, params))
        return json.loads(self.lines.readline())["result"]


# The well-behaved.

class Good:
    """One connection: puts and gets an object of its own, and asks about the places."""

    def __init__(self, port, number, token):
        self.socket = Caller(port, token).socket
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

    def __init__(self, port, world, count, rate, token=None):
        self.world, self.rate = world, rate
        self.all = [Good(port, n, token) for n in range(count)]
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

    def waiting(self):
        """How long each request has waited that is not answered yet."""
        now = time.monotonic()
        return [now - due for good in self.all for due, _ in good.expected]

    def take(self, wait, latencies):
        for file, _ in self.poll.poll(wait):
            self.wrong += self.by_file[file].receive(latencies)

    def finish(self):
        """Waits for the last answers; how many never came."""
        deadline = time.monotonic() + 30
        while any(good.expected for good in self.all) and time.monotonic() < deadline:
            self.take(0.1, [])
        return sum(len(good.expected) for good in self.all)


# The attackers.

class Attackers:
    """A process of attackers, and what became of what they did."""

    def __init__(self, run, *arguments):
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=run, args=(*arguments, other))
        self.counts, self.share = {}, 0.0

    def start(self):
        self.begin, self.used = time.monotonic(), self.children()
        self.process.start()

    def end(self):
        self.process.terminate()
        if self.pipe.poll(10):
            self.counts = self.pipe.recv()
        self.process.join()
        self.share = (self.children() - self.used) / (time.monotonic() - self.begin)

    @staticmethod
    def children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def fault(self, reads=True, may_be_too_large=False):
        """Why they have shown nothing, or None.

        - reads: whether they read what they are answered
        """
        if not self.counts.get("connected"):
            return "connected nowhere"
        if reads and not any(count for name, count in self.counts.items() if name not in hostile_tally.NO_ANSWERS):
            return "was answered nothing"
        share = hostile_tally.share_of_harmless(self.counts)
        if share > 0 and not may_be_too_large:
            return f"was only too large in {share:.0%} of its requests"
        return None


# The report.

def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.inf


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


def fill(caller, world):
    names = list(world.places)
    for first in range(0, PLACES, 500):
        caller.call("object.putMany", {"bucket": "places", "objects": [
            {"_id": name, "at": point(*world.places[name][0]), "category": world.places[name][1], "s": "y" * 100}
            for name in names[first:first + 500]]})


def attack_together(port, options):
    world = World(options.seed)
    caller = Caller(port)
    fill(caller, world)
    load = Load(port, world, options.connections, options.rate)
    samples, latencies = [], {"warm": [], "quiet": [], "hostile": [], "after": []}
    hostile = Attackers(hostile_attacks.run_together, port, options.idle)
    for phase, seconds in [("warm", 10), ("quiet", QUIET_SECONDS), ("hostile", max(1, int(options.minutes * 60))),
                           ("after", QUIET_SECONDS)]:
        if phase == "hostile":
            hostile.start()
        if phase == "after":
            latencies["hostile"] += load.waiting()
            hostile.end()
        for second in load.run(seconds):
            stats = caller.call("server.stats")
            latencies[phase] += second
            if phase != "warm":
                samples.append((min(percentile(second, 0.99), 60) * 1_000, stats["memory"]["residentBytes"] / (1 << 20)))
            if len(samples) % 30 == 1:
                print(f"{phase}: p99 {samples[-1][0]:.2f} ms, {samples[-1][1]:.0f} MiB, "
                      f"{stats['connections']['open']} connections", file=sys.stderr)
    lost = load.finish()
    begin, end = QUIET_SECONDS, len(samples) - QUIET_SECONDS
    svg(options.svg, samples, begin, end)
    quiet, worst, after = (percentile(latencies[phase], 0.99) * 1_000 for phase in ("quiet", "hostile", "after"))
    before, most, back = (max(sample[1] for sample in part) for part in
                          (samples[:begin], samples[begin:end], samples[-5:]))
    print(f"the hostile clients: {hostile_tally.described(hostile.counts)}; {hostile.share:.2f} of a processor\n"
          f"{load.sent} requests on {options.connections} connections: {lost} lost, {load.wrong} wrong\n"
          f"p99 {quiet:.2f} ms quiet, {worst:.2f} ms with the hostile clients, {after:.2f} ms after\n"
          f"{before:.0f} MiB resident before, {most:.0f} at most, {back:.0f} at the end")
    faults = [text for text, holds in [
        ("answers were lost or wrong", lost == 0 and load.wrong == 0),
        ("the 99th percentile tripled", worst < 3 * quiet),
        ("the hostile clients connected nowhere, or were answered nothing", hostile.fault(may_be_too_large=True) is None),
        ("memory did not come back", back < before + 0.5 * (most - before) + 100)] if not holds]
    if faults:
        sys.exit("hostile: " + "; ".join(faults))


# One attack after the other.

WORST_P99 = 25
BUFFERED_MIB, MORE_MIB = 128, 64
WORST_NEW_CLIENT = 1_000


def attack_alone(name, world, options):
    """A row of the table: milliseconds of the well-behaved, quiet and attacked, of new clients of each port at worst,
    and MiB of the service: more than before the attack, at most and five seconds after it; and the attackers."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, "tokens")
        good, bad = [subprocess.run(
            [options.geobucket, "token", "create", "--tokens", tokens, "--principal", principal, "--role", "write"],
            check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0] for principal in ("good", "bad")]
        with serving(options, folder, "--tokens", tokens, "--http", "127.0.0.1:0", "--web", "127.0.0.1:0",
                     "--buffered-bytes", str(BUFFERED_MIB << 20)) as ports:
            fill(Caller(ports["ready"], good), world)
            load = Load(ports["ready"], world, 200, 500, good)
            quiet, attacked, health, web, line_port, memory = [], [], [], [], [], []
            for second in load.run(5):
                quiet += second
            before = resident_mib(ports["process"])
            hostile = Attackers(hostile_attacks.run, name, ports, bad)
            hostile.start()
            for number, second in enumerate(load.run(2 + options.attack_seconds)):
                memory.append(resident_mib(ports["process"]) - before)
                if number >= 2:  # it has begun
                    attacked += second
                    health.append(milliseconds(ports["http"], b"/healthz"))
                    web.append(milliseconds(ports["web"], b"/login"))
                    line_port.append(milliseconds(ports["ready"], None))
            attacked += load.waiting()
            hostile.end()
            for _ in load.run(5):
                after = resident_mib(ports["process"]) - before
            if load.finish() or load.wrong:
                sys.exit(f"hostile: {name}: answers were lost or wrong")
    return [name] + [1_000 * percentile(values, share)
                     for values, share in [(quiet, 0.99), (attacked, 0.5), (attacked, 0.99), (attacked, 1)]] + [
                         max(health), max(web), max(line_port), max(memory), after, hostile]


def resident_mib(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)


def milliseconds(port, path):
    """Of one answer to a client from another address than the attacker's; infinite without one. A path of HTTP, or
    none at the line port."""
    request, answer = (line(1, "server.ping", {}), b"pong") if path is None else (
        b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path, b" 200 ")
    start = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5, source_address=("127.0.0.9", 0)) as one:
            one.settimeout(5)
            one.sendall(request)
            if answer not in one.recv(1 << 12):
                return math.inf
    except OSError:
        return math.inf
    return 1_000 * (time.monotonic() - start)


def attack_one_by_one(options):
    rows, world = [], World(options.seed)
    for name in options.attack or hostile_attacks.ATTACKS:
        rows.append(attack_alone(name, world, options))
        print(f"{name}: p99 {rows[-1][3]:.1f} ms", file=sys.stderr)
    print("\n| attack | p99 quiet, ms | median, ms | p99, ms | longest, ms | /healthz at worst, ms | web at worst, ms "
          "| line at worst, ms | MiB more at most | MiB more after |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, *figures, _ in rows:
        print(f"| {name} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |")
    print()
    for name, *_, hostile in rows:
        print(f"{name}: {hostile_tally.described(hostile.counts)}; {hostile.share:.2f} of a processor")
    faults = [(f"the 99th percentile passes {WORST_P99} ms", lambda row: row[3] > max(WORST_P99, 5 * row[1])),
              ("a client gets no answer within a second", lambda row: max(row[5:8]) > WORST_NEW_CLIENT),
              (f"memory passes {BUFFERED_MIB} + {MORE_MIB} MiB", lambda row: row[8] > BUFFERED_MIB + MORE_MIB)]
    found = [f"{text}: " + "; ".join(row[0] for row in rows if holds(row))
             for text, holds in faults if any(map(holds, rows))]
    found += [f"{row[0]} has shown nothing: it {fault}" for row in rows
              if (fault := row[-1].fault(reads=row[0] not in hostile_attacks.UNREAD))]
    if found:
        sys.exit("hostile: " + "\nhostile: ".join(found))


def serving(options, folder, *flags):
    store = os.path.join(folder, "store.sqlite")
    return service.serving(options.geobucket, store, "--log-level", "error", *flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", default="hostile.svg")
    service.add_option(parser)
    parser.add_argument("--attack-seconds", type=int, default=20)
    parser.add_argument("--attack", action="append", choices=hostile_attacks.ATTACKS)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.minutes > 0:
        with tempfile.TemporaryDirectory() as folder, serving(
                options, folder, "--connections", str(options.connections + options.idle + 200),
                "--line-milliseconds", "10000", "--unread-milliseconds", "10000",
                "--buffered-bytes", str(256 << 20)) as ports:
            attack_together(ports["ready"], options)
    if options.attack_seconds > 0:
        attack_one_by_one(options)


main()
