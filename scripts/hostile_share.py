"""How much of a service's processor time an attacker takes from a client that means well and asks again as soon as it
is answered: what scripts/hostile.py measures beside latencies and memory.

The service counts no time by client, so the client's requests are priced first, kind by kind and without an attacker:
the service's processor time divided by the answers. During an attack, what the service takes beyond the price of the
client's answers, and beyond what the steady load took before, is the attacker's. A request costs somewhat more when
others use the caches too; that is counted against the attacker.

What an attacker may take of the time that the client wants is what another client like it would. So the yardstick is
what the client gets beside its like, on the same machine, with the same processes around it: the least of it, whether
the other one asks for cheap answers, for costly ones, or for both.
"""
import multiprocessing, os, select, socket, time

import service
from hostile_attacks import CONNECTIONS, line, point

SECONDS = 5
# How much of the yardstick a client has to get where the attacker gets more than it: measurements vary.
ENOUGH = 0.75
KINDS = ("cheap", "costly")


def questions(kind, world):
    """Cheap ones are answered by event loops, costly ones by worker threads."""
    if kind == "cheap":
        return [line(1, "bucket.query", params) for params, _ in world.questions]
    circles = [{"type": "geodistance", "field": "at", "center": point(latitude, longitude), "radius": 15_000_000,
                "putDistanceInto": "d"} for latitude in range(-40, 41, 20) for longitude in range(-160, 161, 40)]
    return [line(1, "bucket.query", {"bucket": "places", "bestEffortLimit": 10, "fields": [], "bucketQuery": {
        "clause": circle, "orderBy": "_calculated.d", "descending": True}}) for circle in circles]


class Client:
    """A process with as many connections as an attacker, each of which asks again as soon as it is answered."""

    def __init__(self, port, token, world, kinds=KINDS):
        self.counts = multiprocessing.Array("Q", len(KINDS), lock=False)
        texts = {kind: questions(kind, world) for kind in kinds}
        self.process = multiprocessing.Process(target=self.run, args=(port, token, texts), daemon=True)

    def __enter__(self):
        self.process.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()

    def run(self, port, token, texts):
        os.nice(10)  # as the attackers
        poll, asking, kinds = select.epoll(), {}, list(texts)
        for number in range(CONNECTIONS):
            one = socket.create_connection(("127.0.0.1", port))
            one.sendall(line(0, "auth.login", {"token": token}))
            asking[one.fileno()] = (one, kinds[number % len(kinds)])
            poll.register(one, select.EPOLLIN)
        turn, counts, place = 0, self.counts, {kind: KINDS.index(kind) for kind in kinds}
        while True:
            for file, _ in poll.poll():
                one, kind = asking[file]
                answer = one.recv(1 << 20)
                if not answer or b'"error"' in answer:
                    raise SystemExit(f"hostile: a well-behaved client was answered {answer[:300]}")
                if answer.endswith(b"\n"):
                    counts[place[kind]] += 1
                    turn += 1
                    one.sendall(texts[kind][turn % len(texts[kind])])


def rates(process, load, client=None):
    """Of some seconds of the load: what the service used of a processor, and answers a second to the client by kind."""
    def look():
        return [time.monotonic(), service.processor_seconds(process)] + (list(client.counts) if client else [])
    begin = look()
    for _ in load.run(SECONDS):
        pass
    seconds, *used = [after - before for before, after in zip(begin, look())]
    processor, *answers = [each / seconds for each in used]
    return processor, answers


class Prices:
    """What the client's answers cost a service that nobody attacks, in seconds of a processor, and what it takes of one
    alone and beside another like it.

    - quiet: what the load alone takes of a processor
    - first, second: make a client of one principal and of another, for kinds of questions
    """

    def __init__(self, process, load, quiet, first, second):
        self.each = []
        for place, kind in enumerate(KINDS):
            with first([kind]) as client:
                processor, answers = rates(process, load, client)
            self.each.append((processor - quiet) / answers[place])
        with first(KINDS) as client:
            self.alone = self.of(rates(process, load, client)[1])
            self.beside_others = []
            for kinds in (*([kind] for kind in KINDS), KINDS):
                with second(kinds):
                    self.beside_others.append(self.of(rates(process, load, client)[1]))
        self.beside = min(self.beside_others)

    def of(self, answers):
        return sum(price * count for price, count in zip(self.each, answers))

    def described(self):
        return (", ".join(f"{1e6 * price:.0f} µs for a {kind} answer" for kind, price in zip(KINDS, self.each))
                + f"; {self.alone:.2f} of a processor alone, beside another client that asks for such answers "
                + ", ".join(f"{taken:.2f}" for taken in self.beside_others) + " (both)")


class Share:
    """What an attacker and the client take of a processor when both want as much as they can get.

    - beside: what the client takes beside another like it
    """

    def __init__(self, attacker, client, beside):
        self.attacker, self.client, self.beside = max(0.0, attacker), client, beside

    @classmethod
    def measured(cls, process, load, quiet, prices, client):
        processor, answers = rates(process, load, client)
        of_client = prices.of(answers)
        return cls(processor - quiet - of_client, of_client, prices.beside)

    def fault(self):
        """Why it is not fair, or None: a client gets much less beside the attacker than beside a client, and less than
        the attacker, or hardly anything."""
        takes = f"the service takes {self.client:.2f} of a processor for a client, {self.beside:.2f} beside another client"
        if self.client < ENOUGH * self.beside and self.attacker > self.client or self.client < 0.1 * self.beside:
            return f"{takes}, and {self.attacker:.2f} for the attacker"
        return None
