"""The well-behaved clients of scripts/hostile.py: what they ask, an oracle that knows what has to be answered, and
connections at a fixed rate that compare every answer.
"""
import json, math, random, select, socket, sys, time

from hostile_attacks import line, point

PLACES, CATEGORIES, QUESTIONS = 20_000, 20, 400


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


def fill(caller, world):
    names = list(world.places)
    for first in range(0, PLACES, 500):
        caller.call("object.putMany", {"bucket": "places", "objects": [
            {"_id": name, "at": point(*world.places[name][0]), "category": world.places[name][1], "s": "y" * 100}
            for name in names[first:first + 500]]})
