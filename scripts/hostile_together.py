"""The hostile clients of scripts/hostile.py all together: each kind does a little many times a second, in one process."""
import os, random, socket, time

from hostile_attacks import line, query
from hostile_tally import attacker, outcome

PUT = '{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"hostile","id":"o1","object":'
QUERY = line(1, "bucket.query", {"bucket": "places"})


def nonsense_texts():
    many = ",".join(f'"k{n}":1' for n in range(20_000))
    return [("[" * 100_000).encode() + b"\n", (PUT + '{"a":' * 2_000 + "\n").encode(),
            (PUT + '{"n":' + "9" * 300_000 + "}}}\n").encode(), (PUT + "{" + many + "}}}\n").encode(),
            PUT.encode() + b'{"s":"\xc3\x28\xff"}}}\n', os.urandom(50_000) + b"\n",
            ("[" + ",".join([QUERY.decode().strip()] * 20) + "]\n").encode(),
            line(1, "bucket.query", {"bucket": "places", "bucketQuery": {"clause": {"type": "or", "clauses": [
                {"type": "contains", "field": "s", "value": "x" * n} for n in range(1, 300)]}}})]


class Together:
    def __init__(self, port, idle):
        self.port, self.idle_count, self.hosts = port, idle, 0
        self.kept, self.slow, self.endless, self.deaf = [], [], [], []
        self.texts = nonsense_texts()
        self.random = random.Random(7)

    def connect(self):
        """From one of many addresses of this machine."""
        one = socket.socket()
        self.hosts += 1
        one.bind((f"127.0.{self.hosts % 50}.{2 + self.hosts % 200}", 0))
        one.settimeout(2)
        try:
            one.connect(("127.0.0.1", self.port))
        except OSError:
            attacker.note("not let in")
            raise
        attacker.note("connected")
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
            self.push(one, b"[" * 65_536, self.endless)

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
            attacker.note(outcome(one.recv(1 << 16)))
        except OSError:
            attacker.note("closed")
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
            attacker.note("asked")
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            if one in owners:
                owners.remove(one)

    def run(self):
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


def run_together(port, idle, pipe):
    os.nice(10)
    attacker.tell_at_the_end(pipe)
    Together(port, idle).run()
