"""Nodes that share the buckets (--copies), for scripts/cluster.py: clients write and read through nodes at random while
nodes are killed, stopped, added and ended, and PostgreSQL is killed and its connections are ended. Each client alone
writes its objects, so it knows every answer."""
import contextlib, pathlib, random, re, signal, statistics, subprocess, sys, time

import postgres
from cluster_clients import Violations
from copies_clients import ANSWER_SECONDS, RECOVERY_SECONDS, Client
from wire import Connection, Refused, Unanswered

CLIENTS, OBJECTS_PER_BUCKET, HOLDER_SECONDS = 6, 150, 10
# Rounds with fewer answers than this on average have shown nothing.
LEAST_ANSWERS = 50
# Queries a second, for their cost: one at a time mostly, and more than possible, so that they come together.
RATES = {"4,000 a second": 4_000, "as many as there can be": 200_000}
TOKEN = "the token of scripts/copies.py"


class Node:
    def __init__(self, number, geobucket, server, folder, copies):
        self.number, self.geobucket, self.url, self.copies = number, geobucket, server.url, copies
        self.port = postgres.free_port()
        self.cache, self.log = folder / f"node-{number}.sqlite", folder / f"node-{number}.log"
        self.process, self.is_up = None, False

    def start(self):
        flags = ["--copies", str(self.copies), "--cluster-token", TOKEN] if self.copies else []
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.geobucket, "serve", "--store", self.url, "--cache", self.cache, "--listen",
                 f"127.0.0.1:{self.port}", *flags], stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(Unanswered, Refused):
                self.ask("server.ping")
                self.is_up = True
                return
            time.sleep(0.05)
        sys.exit(f"geobucket: node {self.number} does not start; see {self.log}:\n{self.log.read_text()[-2000:]}")

    def kill(self):
        self.is_up = False
        self.process.kill()
        self.process.wait()

    def forget(self):
        for suffix in ["", "-wal", "-shm"]:
            pathlib.Path(f"{self.cache}{suffix}").unlink(missing_ok=True)

    def stop(self):
        self.is_up = False
        self.process.terminate()
        return self.process.wait(timeout=60)

    def ask(self, method, params={}, seconds=ANSWER_SECONDS + 10):
        with contextlib.closing(Connection(self.port, seconds)) as connection:
            return connection.call(method, params)

    def share(self):
        return self.ask("server.stats")["cluster"]

    def resident(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) // 1024


class World:
    def __init__(self, options, server, folder):
        self.options, self.server, self.folder, self.seed = options, server, folder, options.seed
        self.violations, self.is_over, self.random = Violations(), False, random.Random(options.seed)
        self.made = 5 if options.nodes is None else options.nodes
        self.nodes = [Node(n, options.geobucket, server, folder, options.copies) for n in range(self.made)]
        self.buckets = [f"bucket-{n}" for n in range(options.buckets)]
        self.times = []

    def run(self, most):
        for node in self.nodes:
            node.start()
        self.fill()
        self.await_holders("after the buckets were filled")
        self.measure_memory()
        self.measure_cost()
        clients = [Client(n, self) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        begin, rounds = time.monotonic(), 0
        faults = [self.kill, self.kill_postgres, self.stop, self.add, self.terminate, self.end]
        while rounds < most and not (self.options.seconds
                                                    and time.monotonic() - begin > self.options.seconds):
            time.sleep(self.random.uniform(0.5, 2))
            faults[rounds % len(faults)]()
            rounds += 1
            if self.violations.all and self.options.stop:
                break
        self.is_over = True
        for client in clients:
            client.join(timeout=RECOVERY_SECONDS + ANSWER_SECONDS)
            if client.is_alive():
                self.violations.add(f"client {client.number} gets no answer")
        self.judge(clients)
        for node in self.nodes:
            if (status := node.stop()) != 0:
                self.violations.add(f"node {node.number} ended with {status}")
        answers, waits = sum(client.answers for client in clients), sum(client.waits for client in clients)
        if rounds == 0 or answers < LEAST_ANSWERS * rounds:
            self.violations.add(f"there were {answers} answers in {rounds} rounds, at least {LEAST_ANSWERS} in each "
                                "were expected")
        print(f"{rounds} faults in {time.monotonic() - begin:.0f} s on {len(self.nodes)} nodes: {answers} answers, "
              f"{waits} attempts without one, the slowest {max(client.slowest for client in clients):.1f} s; "
              f"{sum(client.serial for client in clients)} writes")
        if self.times:
            print(f"every bucket on {self.options.copies} nodes again after a node was killed: median "
                  f"{statistics.median(self.times):.1f} s, at most {max(self.times):.1f} s")
        if self.violations.all:
            evidence = pathlib.Path(self.options.evidence)
            evidence.mkdir(exist_ok=True)
            for node in self.nodes:
                (evidence / node.log.name).write_bytes(node.log.read_bytes())
            sys.exit(f"geobucket: {len(self.violations.all)} violations; the logs are in {evidence}")
        print("no wrong answer, no answered write lost")

    def fill(self):
        for n, bucket in enumerate(self.buckets):
            objects = [{"_id": f"f{n}-{m}", "owner": -1, "n": m, "text": "x" * 100,
                        "at": {"_type": "point", "lat": self.random.uniform(-80, 80),
                               "lon": self.random.uniform(-170, 170)}} for m in range(OBJECTS_PER_BUCKET)]
            self.random.choice(self.nodes).ask("object.putMany", {"bucket": bucket, "objects": objects})

    def living(self):
        return [node for node in self.nodes if node.is_up]

    def is_settled(self):
        shares = [node.share() for node in self.living()]
        copies = min(self.options.copies, len(shares))
        return (all(share["nodes"] == len(shares) and share["loadingBuckets"] == 0 for share in shares)
                and sum(share["heldBuckets"] for share in shares) >= copies * len(self.buckets))

    def await_holders(self, when, limit=RECOVERY_SECONDS):
        begin = time.monotonic()
        while time.monotonic() - begin < limit:
            with contextlib.suppress(Unanswered):
                if self.is_settled():
                    return time.monotonic() - begin
            time.sleep(0.1)
        shares = [(node.number, node.share()) for node in self.living()]
        self.violations.add(f"not every bucket has its holders {when} within {limit} s: {shares}")
        return limit

    # Faults.

    def kill(self):
        node = self.random.choice(self.living())
        node.kill()
        took = self.await_holders("after a death")
        self.times.append(took)
        if took > HOLDER_SECONDS:
            self.violations.add(f"{took:.1f} s passed before every bucket had its holders again")
        if self.random.random() < 0.5:
            node.forget()
        node.start()
        print(f"node {node.number} was killed: every bucket on {self.options.copies} nodes after {took:.1f} s", flush=True)

    def stop(self):
        node = self.random.choice(self.living())
        node.is_up = False
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.choice([2, 8, 13]))
        node.process.send_signal(signal.SIGCONT)
        node.is_up = True
        print(f"node {node.number} was stopped and goes on after {self.await_holders('after a stop'):.1f} s", flush=True)

    def add(self):
        self.made += 1
        node = Node(self.made - 1, self.options.geobucket, self.server, self.folder, self.options.copies)
        node.start()
        self.nodes.append(node)
        print(f"node {node.number} was added: settled after {self.await_holders('after a node was added'):.1f} s", flush=True)

    def end(self):
        node = self.nodes.pop(self.random.randrange(len(self.nodes)))
        if (status := node.stop()) != 0:
            self.violations.add(f"node {node.number} ended with {status}")
        print(f"node {node.number} was ended: settled after {self.await_holders('after a node was ended'):.1f} s", flush=True)

    def kill_postgres(self):
        """For up to longer than nodes are taken for alive without a sign of life."""
        seconds = self.random.choice([0, 1, 3, 8])
        self.server.kill()
        time.sleep(seconds)
        self.server.start()
        settled = self.await_holders("after PostgreSQL was killed")
        print(f"PostgreSQL was killed and away for {seconds} s: settled after {settled:.1f} s", flush=True)

    def terminate(self):
        for _ in range(self.random.randint(1, 5)):
            self.server.terminate_backends()
            time.sleep(self.random.uniform(0, 0.3))
        settled = self.await_holders("after PostgreSQL ended its connections")
        print(f"PostgreSQL ended its connections: settled after {settled:.1f} s", flush=True)

    # Measuring.

    def measure_memory(self):
        """After the nodes have let go of what they held for others while they started."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < deadline:
            held = sum(node.share()["heldBuckets"] for node in self.living())
            if held <= self.options.copies * len(self.buckets):
                break
            time.sleep(0.5)
        whole = Node("whole", self.options.geobucket, self.server, self.folder, 0)
        whole.start()
        memory = lambda stats: sum(stats["memory"][name] for name in ["recordBytes", "idBytes", "pointBytes", "bucketBytes"])
        stats = whole.ask("server.stats")
        everything = memory(stats)
        whole.stop()
        own = [node.ask("server.stats") for node in self.nodes]
        for what, shares in [("objects", [each["objects"] / stats["objects"] for each in own]),
                             ("memory", [memory(each) / everything for each in own])]:
            print(f"{what} of a node, in parts of the whole ({stats['objects']} objects, {everything} bytes): "
                  + ", ".join(f"{share:.2f}" for share in shares) + f"; mean {statistics.mean(shares):.3f}", flush=True)
            if what == "objects" and abs(statistics.mean(shares) - self.options.copies / len(self.nodes)) > 0.001:
                self.violations.add(f"the nodes have {statistics.mean(shares):.3f} of all objects on average")

    def measure_cost(self):
        """The processor time of a query that is passed on, and of a direct one."""
        bucket = self.buckets[0]
        addresses = self.nodes[0].ask("server.route", {"bucket": bucket})["nodes"]
        ports = [int(address.rsplit(":", 1)[1]) for address in addresses]
        holder = next(node for node in self.nodes if node.port == ports[0])
        others = [node for node in self.nodes if node.port not in ports]
        if not others:
            return
        self.measure_idle()
        for load, rate in RATES.items():
            costs = {"direct": [], "passed on": []}
            for _ in range(3):
                for kind, asked in [("direct", holder), ("passed on", others[0])]:
                    costs[kind].append(self.cost(asked, bucket, rate))
            direct, passed = min(costs["direct"]), min(costs["passed on"])
            runs = {kind: [round(cost) for cost in each] for kind, each in costs.items()}
            print(f"processor time of all nodes for a query, {load}: direct {direct:.0f} us, passed on {passed:.0f} us, "
                  f"{passed - direct:.0f} us more; of {runs}", flush=True)

    def cost(self, asked, bucket, rate):
        """Microseconds of processor time of all nodes for a query at a node."""
        time.sleep(0.5)
        (seconds, queries), begin = self.used(), time.monotonic()
        subprocess.run(
            [self.options.geobucket, "loadtest", "--server", f"127.0.0.1:{asked.port}", "--bucket", bucket, "--field", "at",
             "--mix", "radius=1", "--radius", "100km", "--rate", str(rate), "--seconds", "3", "--warm-up", "1",
             "--patience", "1", "--connections", "16"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took, after = time.monotonic() - begin, self.used()
        return ((after[0] - seconds) * 1e6 - self.idle * took) / (after[1] - queries)

    def used(self):
        """The processor time of all nodes in seconds, and the queries that they have answered."""
        stats = [node.ask("server.stats") for node in self.living()]
        return sum(each["cpuSeconds"] for each in stats), sum(each["requests"]["bucket.query"]["count"] for each in stats)

    def measure_idle(self):
        """Microseconds of processor time in a second in which nobody asks."""
        begin, before = time.monotonic(), self.used()[0]
        time.sleep(3)
        self.idle = (self.used()[0] - before) * 1e6 / (time.monotonic() - begin)

    # Afterwards.

    def judge(self, clients):
        self.await_holders("at the end")
        for node in self.nodes:
            listed, key = {}, None
            while True:
                page = node.ask("bucket.list", {"paginationKey": key} if key else {})
                listed.update((each["bucket"], each["objects"]) for each in page["buckets"])
                if not (key := page.get("nextPaginationKey")):
                    break
            there = postgres.objects(self.server)
            if listed != there:
                self.violations.add(f"node {node.number} lists other buckets than PostgreSQL has")
        reports = self.nodes[0].ask("store.check", {"cluster": True}, 120)["nodes"]
        for report in reports:
            if report.get("result", {}).get("problemCount") != 0:
                self.violations.add(f"store.check: {report}")
        if len(reports) != len(self.nodes):
            self.violations.add(f"{len(reports)} of {len(self.nodes)} nodes were checked")
        for client in clients:
            for bucket, objects in client.objects.items():
                for name in {f"c{client.number}-{n}" for n in range(8)} | set(objects):
                    client.get(bucket, name)


def run(options, folder):
    with postgres.serving() as server:
        world = World(options, server, folder)
        started = world.nodes
        try:
            world.run(20 if options.rounds is None else options.rounds)
        finally:
            for node in {*started, *world.nodes}:
                if node.process and node.process.poll() is None:
                    node.process.send_signal(signal.SIGCONT)
                    node.process.kill()
