"""What --reads local promises, while faults happen."""
import random, threading, time

import postgres
from cluster_clients import ANSWER_SECONDS, Client
from cluster_faults import Faults
from cluster_rounds import Cluster
from wire import Refused, Unanswered

FOLLOW_SECONDS, ROUNDS, WRITERS, READERS = 1.0, 20, 4, 3
BUCKET = "counters"


class Counts:
    """The last number that was answered of each counter, and when: a counter belongs to one writer and only grows."""

    def __init__(self):
        self.lock, self.answered = threading.Lock(), {}

    def answer(self, name, number):
        with self.lock:
            self.answered.setdefault(name, []).append((time.monotonic(), number))

    def least(self, name, before):
        """The number that was answered last before some time."""
        with self.lock:
            return max((number for at, number in self.answered.get(name, []) if at < before), default=0)


class Writer(Client):
    """Counts on, each time on some node; reads its own writes there, and with atLeast on others."""

    def step(self):
        self.serial += 1
        name, self.node = f"counter-{self.number}", self.random.choice(self.world.nodes)
        try:
            written = self.ask("object.put", {"bucket": BUCKET, "id": name, "object": {"n": self.serial}})
        except Unanswered:
            self.history.lost_answers += 1
            return time.sleep(0.05)
        self.world.counts.answer(name, self.serial)
        self.history.writes += 1
        if "change" not in written:
            return self.world.violations.add("an answer to a write has no change although reads are local")
        self.read(name, "its own write", {})
        self.node = self.random.choice(self.world.nodes)
        self.read(name, f"atLeast {written['change']}", {"atLeast": written["change"]})

    def ask(self, method, params):
        begin = time.monotonic()
        try:
            return self.node.ask(method, params)
        finally:
            if (took := time.monotonic() - begin) > ANSWER_SECONDS:
                self.world.violations.add(f"{method} on node {self.node.number} took {took:.1f} s")

    def read(self, name, what, more):
        process = self.node.process
        try:
            found = self.ask("object.get", {"bucket": BUCKET, "id": name, **more})["n"]
        except Unanswered:
            self.world.refusals += 1
            return
        except Refused as refusal:
            found = refusal.args[0]
        self.history.reads += 1
        # A node that was killed meanwhile has forgotten what it answered, unless the read says what it must have.
        if found != self.serial and (more or process is self.node.process):
            self.world.violations.add(f"node {self.node.number} does not show {what}: {self.serial} was written, {found} read")


class Reader(Client):
    """No answer is older than followMilliseconds."""

    def step(self):
        name, self.node = f"counter-{self.random.randrange(WRITERS)}", self.random.choice(self.world.nodes)
        least = self.world.counts.least(name, time.monotonic() - FOLLOW_SECONDS)
        try:
            found = self.node.ask("object.get", {"bucket": BUCKET, "id": name})["n"]
        except Unanswered:
            self.world.refusals += 1
            return time.sleep(0.01)
        except Refused:
            found = 0
        self.history.reads += 1
        if found < least:
            self.world.violations.add(f"node {self.node.number} answers {found} of {name}; "
                                        f"{least} was answered more than {FOLLOW_SECONDS} s before")


class LocalCluster(Cluster):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.counts, self.refusals = Counts(), 0

    def clients(self):
        return [Writer(n, self, self.seed) for n in range(WRITERS)] + [
            Reader(WRITERS + n, self, self.seed) for n in range(READERS)]

    def judge(self):
        self.wait_until_all_read()
        exports = self.compare_nodes()
        for found in self.objects(exports.get(BUCKET, [])):
            least = self.counts.least(found["_id"], float("inf"))
            if found["n"] < least:
                self.violations.add(f"{found['_id']} has {found['n']}, and {least} was answered")
        self.compare_with_embedded(exports)
        print(f"{self.refusals} reads were refused because their node was behind or away")

    def wait_until_all_read(self):
        """A node that was cut off refuses to read until it follows again."""
        for node in self.nodes:
            change = self.nodes[0].ask("object.put", {"bucket": "probes", "id": "last", "object": {}})["change"]
            node.ask("object.get", {"bucket": "probes", "id": "last", "atLeast": change})


def cut_off(faults):
    """A node that hears nothing refuses local reads from followMilliseconds on, until it hears again."""
    node, cluster = faults.node(), faults.cluster
    change = node.ask("object.put", {"bucket": "probes", "id": "cut", "object": {}})["change"]
    node.ask("object.get", {"bucket": "probes", "id": "cut", "atLeast": change})
    node.cut()
    begin = time.monotonic()
    while time.monotonic() < begin + 3:
        called = time.monotonic()
        try:
            node.ask("object.get", {"bucket": "probes", "id": "cut"})
            # What PostgreSQL had sent before may arrive a little later.
            if called > begin + FOLLOW_SECONDS + 0.5:
                cluster.violations.add(f"node {node.number} answers {called - begin:.1f} s after it was cut off")
                break
        except Unanswered:
            pass
        time.sleep(0.02)
    node.mend()


def run(options, folder):
    random.seed(options.seed)
    kinds = {name: Faults.ALL[name] for name in options.faults} | {"cut-off": cut_off}
    with postgres.serving() as server:
        with LocalCluster(options, server, folder, kinds, flags=("--reads", "local")) as cluster:
            cluster.run(ROUNDS if options.rounds is None else options.rounds)
            cluster.finish()
