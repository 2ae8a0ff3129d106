"""Watches that go on at any node of a cluster: after faults from where they were, and not from what is lost."""
import collections, contextlib, copy, json, random, subprocess, time

import postgres
from cluster_clients import Client
from cluster_faults import Faults
from cluster_loss import RECOVERY_SECONDS
from cluster_rounds import Cluster
from wire import Connection, Unanswered

ROUNDS, WATCHERS, KEPT, RESUME_SECONDS = 20, 6, 20, 5
NAMES, PLACE = [f"object-{n}" for n in range(8)], {"_type": "point", "lat": 1, "lon": 2}


class Told:
    """What the client of a watch has, and the token to go on from there."""

    def __init__(self):
        self.objects, self.resume, self.is_partial = {}, None, False

    def apply(self, message):
        params = message["params"]
        if message["method"] == "watch.end":
            raise Unanswered(f"a watch ended: {params['error']}")
        if message["method"] == "watch.snapshot":
            if not self.is_partial:
                self.objects = {}
            self.objects.update((found["_id"], found["n"]) for found in params["objects"])
            self.is_partial = params["more"]
        for event in params.get("events", []):
            if event["event"] == "leave":
                self.objects.pop(event["_id"], None)
            else:
                self.objects[event["object"]["_id"]] = event["object"]["n"]
        self.resume = params.get("resume", self.resume)


class WatchedBucket(Connection):
    """A connection with one watch, of everything in a bucket.

    - told: what the client has, which the watch goes on from
    """

    def __init__(self, node, bucket, told):
        super().__init__(node.port, 30, node.host)
        self.told, params = told, {"bucket": bucket}
        if told.resume:
            params["resume"] = told.resume
        started = self.call("watch.start", params)
        self.name, self.resumed = started["watch"], started.get("resumed")

    def read(self):
        """The next answer; what comes before it is told."""
        while "method" in (message := json.loads(line := super().read())):
            self.told.apply(message)
        return line

    def sync(self):
        self.call("watch.sync", {"watch": self.name})
        return self.told.objects


class Watcher(Client):
    """Writes to a bucket of its own, which nobody else does, each time on some node, and watches it on some node."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.bucket, self.written, self.kept = f"watched-{self.number}", {}, [Told()]

    def step(self):
        try:
            self.write()
            self.look()
        except Unanswered:
            self.history.lost_answers += 1
            time.sleep(0.05)

    def write(self):
        for _ in range(self.random.randint(1, 4)):
            self.serial += 1
            self.leave()
            name = self.random.choice(NAMES)
            if name in self.written and self.random.random() < 0.5:
                self.insist("object.delete", {"bucket": self.bucket, "id": name})
                del self.written[name]
            else:
                self.insist("object.put", {"bucket": self.bucket, "id": name, "object": {"n": self.serial}})
                self.written[name] = self.serial
            self.history.writes += 1

    def look(self):
        """Goes on from the last rest, or from an earlier one."""
        told = copy.copy(self.kept[-1] if self.random.random() < 0.7 else self.random.choice(self.kept))
        node, told.objects, from_ = self.random.choice(self.world.nodes), dict(told.objects), told.resume
        with contextlib.closing(WatchedBucket(node, self.bucket, told)) as watch:
            self.world.begun[watch.resumed] += 1
            self.compare(watch, node, from_)
            if self.random.random() < 0.5:
                self.write()
                self.compare(watch, node, from_)
        self.kept = self.kept[-KEPT:] + [told]

    def compare(self, watch, node, from_):
        if (shown := dict(watch.sync())) != self.written:
            self.world.violations.add(
                f"a watch at node {node.number} (resumed: {watch.resumed}, from {from_}) shows {shown} of "
                f"{self.bucket}; {self.written} was written")
        self.history.reads += 1


class WatchCluster(Cluster):
    def __init__(self, *arguments, **how):
        super().__init__(*arguments, **how)
        self.begun = collections.Counter()

    def clients(self):
        return [Watcher(n, self, self.seed) for n in range(WATCHERS)]

    def judge(self):
        self.compare_nodes()
        print(f"{sum(self.begun.values())} watches at random nodes: {self.begun[True]} went on from a token, "
              f"{self.begun[False]} could not, {self.begun[None]} had none", flush=True)


class Restore:
    """PostgreSQL comes to an earlier state while the nodes are stopped. What a client was told since is lost: no watch
    may go on from there, and no state may be taken for the one that a client knows."""

    # What is left to tell of the loss: all caches, that of the node that starts last, an operator, resume tokens alone.
    LEFT = ["caches", "one cache", "command", "tokens"]

    def __init__(self, cluster):
        self.cluster, self.nodes, self.server, self.violations = (
            cluster, cluster.nodes, cluster.server, cluster.violations)

    def run(self):
        for left in self.LEFT:
            for caught_up in [False, True]:
                self.restore(left, caught_up)
        print(f"PostgreSQL was put back {2 * len(self.LEFT)} times while the nodes were stopped", flush=True)

    def insist(self, body):
        """What `body` returns; a node may be about to be rebuilt."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            try:
                return body()
            except Unanswered:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def put(self, node, bucket, names):
        for name in names:
            put = {"bucket": bucket, "id": name, "object": {"n": 1, "at": PLACE}, "requestKey": f"{bucket}-{name}"}
            self.insist(lambda: node.ask("object.put", put))

    def restore(self, left, caught_up):
        bucket, copy_ = f"{left.replace(' ', '-')}-{int(caught_up)}", self.cluster.folder / "copy"
        self.put(self.nodes[0], bucket, ["kept"])
        self.server.stop()
        self.server.save(copy_)
        self.server.start()
        self.put(self.nodes[0], bucket, [f"lost-{n}" for n in range(10)])
        told = Told()
        with contextlib.closing(self.insist(lambda: WatchedBucket(self.nodes[0], bucket, told))) as watch:
            watch.sync()
        state = self.state(self.nodes[0], bucket, "")
        self.stop_nodes()
        self.server.kill()
        self.server.restore(copy_)
        self.server.start()
        self.start_nodes(left)
        names = [f"new-{n}" for n in range(10)] if caught_up else []
        self.put(self.nodes[0], bucket, names)
        self.judge(f"restored with {left} left{', caught up' if caught_up else ''}", left, bucket, told, state,
                   {name: 1 for name in ["kept", *names]})

    def stop_nodes(self):
        for node in self.nodes:
            if (status := node.stop()) != 0:
                self.violations.add(f"node {node.number} ended with {status}")

    def start_nodes(self, left):
        for node in {"caches": [], "one cache": self.nodes[:-1]}.get(left, self.nodes):
            for suffix in ["", "-wal", "-shm"]:
                node.cache.with_name(node.cache.name + suffix).unlink(missing_ok=True)
        if left == "command":
            command = [self.cluster.options.geobucket, "cluster", "new-history", "--store", self.server.url]
            subprocess.run(command, check=True)
        for node in self.nodes:
            node.start()
            node.wait()
        for node in self.nodes:
            self.insist(lambda: node.ask("bucket.list"))

    def state(self, node, bucket, known):
        question = {"bucket": bucket, "field": "at", "zoom": 0, "bits": 0, "ifState": known}
        return self.insist(lambda: node.ask("bucket.clusters", question))["state"]

    def shown(self, node, bucket, told):
        """How long a watch that goes on takes to begin, whether it does go on, and what it shows."""
        again = copy.copy(told)
        again.objects, begin = dict(told.objects), time.monotonic()
        with contextlib.closing(WatchedBucket(node, bucket, again)) as watch:
            return time.monotonic() - begin, watch.resumed, watch.sync()

    def judge(self, what, left, bucket, told, state, written):
        wrong, slowest = 0, 0
        for node in self.nodes:
            # A node that makes another copy answers nothing meanwhile.
            took, resumed, shown = self.insist(lambda: self.shown(node, bucket, told))
            slowest = max(slowest, took)
            if resumed:
                self.violations.add(f"{what}: node {node.number} goes on from a token of the lost history")
            wrong += len({name for name in shown.keys() | written.keys() if shown.get(name) != written.get(name)})
            # Without caches and command nobody can tell that a state has returned; see docs/cluster.md.
            if left != "tokens" and self.state(node, bucket, state) == state:
                self.violations.add(f"{what}: node {node.number} takes other objects for those that a client knows")
        if wrong:
            self.violations.add(f"{what}: the watches show {wrong} objects wrongly")
        if slowest > RESUME_SECONDS:
            self.violations.add(f"{what}: a watch began after {slowest:.1f} s")
        print(f"{what}: {wrong} objects wrong, a watch began after {slowest:.2f} s at most", flush=True)


def run(options, folder):
    random.seed(options.seed)
    kinds = {name: Faults.ALL[name] for name in options.faults}
    for reads in ["latest", "local"]:
        with postgres.serving() as server:
            (own := folder / reads).mkdir()
            with WatchCluster(options, server, own, kinds, flags=("--reads", reads)) as cluster:
                cluster.run((ROUNDS if options.rounds is None else options.rounds) // 2)
                Restore(cluster).run()
                cluster.finish()
