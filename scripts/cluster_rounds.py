"""Rounds of faults in a cluster, and the judgement afterwards."""
import collections, contextlib, json, pathlib, shutil, socket, statistics, sys, time

import linearizability, postgres, service
from cluster_clients import ANSWER_SECONDS, RECORDS, REFUSALS, REGISTERS, Client, Counter, History, Violations
from cluster_faults import Faults
from cluster_nodes import Node, Service
from linearizability import Operation
from wire import Refused, Unanswered

OBJECTS_PER_ROUND, CLIENTS, COUNTERS, RECOVERY_SECONDS = 12, 6, 1, 60
# Rounds with fewer answered requests than this on average have shown nothing.
LEAST_WRITES, LEAST_READS = 20, 20


class Cluster:
    """Nodes over one PostgreSQL, clients, and rounds of faults.

    - kinds: the faults by name, each a function of a `Faults`
    """

    node_class, limit_seconds = Node, RECOVERY_SECONDS

    def __init__(self, options, server, folder, kinds, flags=()):
        self.options, self.server, self.folder, self.seed, self.kinds = options, server, folder, options.seed, kinds
        self.violations, self.history, self.is_over = Violations(), History(), False
        self.nodes, self.names, self.held, self.rounds, self.kills = [], [], 0, 0, 0
        self.times, self.starts = collections.defaultdict(list), time.monotonic()
        self.flags = flags

    def __enter__(self):
        try:
            for number in range(self.options.nodes or 3):
                self.nodes.append(self.node_class(number, self.options.geobucket, self.server, self.folder, self.flags))
                self.nodes[-1].start()
            for node in self.nodes:
                node.wait()
            self.wait_for_writes("at the start")
        except BaseException:
            self.__exit__()
            raise
        self.first = [node.resident() for node in self.nodes]
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.end()

    def clients(self):
        return [Client(n, self, self.seed) for n in range(CLIENTS)] + [
            Counter(CLIENTS + n, self, self.seed) for n in range(COUNTERS)]

    def run(self, rounds):
        """Does rounds of faults while clients are at work, and judges what these have seen."""
        clients, faults, kinds = self.clients(), Faults(self), []
        for number in range(rounds):
            if self.options.seconds and time.monotonic() - self.starts > self.options.seconds:
                break
            self.names = [f"object-{number}-{n}" for n in range(OBJECTS_PER_ROUND)]
            for client in clients if number == 0 else []:
                client.start()
            kinds = kinds or faults.random.sample(list(self.kinds), len(self.kinds))
            self.round(number, kinds.pop(), faults)
            self.rounds += 1
            if self.violations.all and self.options.stop:
                break
        self.is_over = True
        for client in clients:
            client.join(timeout=ANSWER_SECONDS + 15)
            if client.is_alive():
                self.violations.add(f"client {client.number} gets no answer")
        self.judge_amounts()
        self.judge()

    def finish(self):
        """Ends the nodes in order, and says what was found."""
        last = [node.resident() for node in self.nodes]
        for node in self.nodes:
            if (status := node.stop()) != 0:
                self.violations.add(f"node {node.number} ended with {status}")
        self.print_summary(last)

    def round(self, number, kind, faults):
        time.sleep(faults.random.uniform(0.3, 1))
        begin = time.monotonic()
        self.kinds[kind](faults)
        end = time.monotonic()
        times = self.wait_for_writes(f"after {kind} in round {number}")
        took = max(times) - end
        self.times[kind].append(took)
        if took > self.limit_seconds:
            self.violations.add(f"after {kind} in round {number} nobody wrote for {took:.1f} s")
        for node in self.nodes:
            if node.process.poll() is not None:
                self.violations.add(f"node {node.number} ended with {node.process.returncode} after {kind}")
                node.start()
        print(f"round {number + 1}: {kind} for {end - begin:.1f} s, writes everywhere after {took:.2f} s; "
              f"{self.history.writes} writes, slowest answer {self.history.slowest[0]:.1f} s "
              f"({self.history.slowest[1]})", flush=True)

    def wait_for_writes(self, when, nodes=None):
        """When each node has answered a write."""
        deadline, times = time.monotonic() + RECOVERY_SECONDS, []
        for node in nodes or self.nodes:
            while True:
                try:
                    node.ask("object.put", {"bucket": "probes", "id": f"node-{node.number}", "object": {}})
                    break
                except Unanswered as reason:
                    if time.monotonic() > deadline:
                        self.violations.add(f"node {node.number} does not write again {when}: {reason}")
                        break
                    if node.process.poll() is not None:
                        self.violations.add(f"node {node.number} ended with {node.process.returncode} {when}")
                        node.start()
                    time.sleep(0.02)
            times.append(time.monotonic())
        return times

    def rest(self):
        """After an hour without a write, what is remembered of batches is forgotten. The nodes must not mind."""
        rebuilds = [node.ask("server.stats")["cluster"]["rebuilds"] for node in self.nodes]
        self.server.sql("UPDATE geobucket.batch SET at = now() - interval '2 hours'")
        self.nodes[-1].kill()
        self.nodes[-1].start()  # a node cleans up after a second
        deadline = time.monotonic() + RECOVERY_SECONDS
        while int(self.server.sql("SELECT count(*) FROM geobucket.batch")[0]) > 1 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.wait_for_writes("after an hour's rest")
        for node, before in zip(self.nodes[:-1], rebuilds):
            if node.ask("server.stats")["cluster"]["rebuilds"] != before:
                self.violations.add(f"node {node.number} was rebuilt after an hour's rest")

    def turn_to_second_server(self):
        """The first server of an address accepts connections and says nothing."""
        node = self.nodes[-1]
        node.kill()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            node.url = node.url.replace("@", f"@127.0.0.1:{silent.getsockname()[1]},")
            node.start()
            self.wait_for_writes("when the first server is silent", [node])

    # Afterwards.

    def judge_amounts(self):
        """Whether there was enough to judge."""
        killed = sum(len(self.times[kind]) for kind in self.times if kind.startswith("kill-"))
        for what, found, least in [("writes", self.history.writes, LEAST_WRITES * self.rounds),
                                   ("reads", self.history.reads, LEAST_READS * self.rounds),
                                   ("rounds", self.rounds, 1), ("kills", self.kills, killed)]:
            if found < least:
                self.violations.add(f"there were {found} {what} in {self.rounds} rounds, at least {least} were expected")

    def judge(self):
        self.read_all()
        for name, operations in self.history.operations.items():
            if not linearizability.is_linearizable(operations):
                self.violations.add(f"the history of {name} has no order: {len(operations)} operations")
        exports = self.compare_nodes()
        self.judge_records(self.objects(exports[RECORDS]))
        self.compare_with_embedded(exports)

    def read_all(self):
        """Each object once more, on some node."""
        for node in self.nodes:
            with contextlib.closing(node.connect()) as connection:
                for name in list(self.history.operations)[node.number::len(self.nodes)]:
                    called, result = time.monotonic(), ("missing",)
                    try:
                        found = connection.call("object.get", {"bucket": REGISTERS, "id": name})
                        result = ("read", found["_version"], found["value"])
                    except Refused as refusal:
                        if refusal.args[0] not in REFUSALS:
                            raise
                    self.history.note(name, Operation("get", None, None, result, called, time.monotonic()))

    def compare_nodes(self):
        """The export of each bucket, which all nodes must have alike; their checks must find nothing."""
        exports = []
        for node in self.nodes:
            report = node.ask("store.check", seconds=120)
            if report["problemCount"]:
                self.violations.add(f"store.check on node {node.number}: {report['problems'][:3]}")
            buckets = [bucket["bucket"] for bucket in node.ask("bucket.list")["buckets"]]
            exports.append({bucket: self.export(node, bucket) for bucket in buckets})
            if exports[-1] != exports[0]:
                self.violations.add(f"the exports of nodes {node.number} and 0 differ")
        there = postgres.objects(self.server)
        if there != {bucket: len(self.objects(export)) for bucket, export in exports[0].items()}:
            self.violations.add(f"PostgreSQL has other objects than the nodes: {there}")
        return exports[0]

    @staticmethod
    def export(node, bucket):
        """The answers as they came."""
        lines = []
        with contextlib.closing(node.connect(120)) as connection:
            while True:
                lines.append(connection.line("bucket.export", {"bucket": bucket, "continue": bool(lines)}))
                if not json.loads(lines[-1])["result"]["more"]:
                    return lines

    @staticmethod
    def objects(export):
        return [found for line in export for found in json.loads(line)["result"]["objects"]]

    def judge_records(self, records):
        found = collections.Counter()
        ids = {}
        for record in records:
            found[record["tag"]] += 1
            ids[record["tag"]] = record["_id"]
        for tag, count in found.items():
            if count > 1:
                self.violations.add(f"the record {tag} was made {count} times")
        for tag, name in self.history.done.items():
            if ids.get(tag) != name:
                self.violations.add(f"the record {tag} was answered as {name}; there is {ids.get(tag)}")

    def compare_with_embedded(self, exports):
        """The same objects in an embedded service, which has to answer queries alike."""
        query = {"clause": {"type": "geodistance", "field": "at", "center": {"_type": "point", "lat": 10, "lon": 20},
                            "radius": 4e6, "putDistanceInto": "d"}, "orderBy": "_calculated.d"}
        with service.serving(self.options.geobucket, self.folder / "embedded.sqlite") as ports:
            embedded = Service(next(iter(ports.values())))
            for bucket, export in exports.items():
                written = self.without_times(self.objects(export))
                with contextlib.closing(embedded.connect()) as connection:
                    for begin in range(0, len(written), 1000):
                        connection.call("object.putMany", {"bucket": bucket, "objects": written[begin:begin + 1000]})
                if self.without_times(self.objects(self.export(embedded, bucket))) != written:
                    self.violations.add(f"an embedded service exports {bucket} differently")
                answers = []
                for asked in [embedded, *self.nodes]:
                    answer = asked.ask("bucket.query", {"bucket": bucket, "bucketQuery": query})
                    answers.append(self.without_times(answer["results"]))
                if any(answer != answers[0] for answer in answers):
                    self.violations.add(f"nodes and an embedded service answer a query of {bucket} differently")

    @staticmethod
    def without_times(objects):
        return [{key: value for key, value in found.items() if key not in ("_created", "_modified", "_version")}
                for found in objects]

    def print_summary(self, last):
        history = self.history
        seconds = time.monotonic() - self.starts
        print(f"{self.rounds} rounds in {seconds:.0f} s on {len(self.nodes)} nodes: {history.writes} answered writes, "
              f"{history.reads} reads, {history.lost_answers} requests without an answer; "
              f"{len(history.operations)} histories, slowest answer {history.slowest[0]:.1f} s ({history.slowest[1]}); "
              f"{self.kills} kills, {self.held} nodes stopped within a transaction")
        for kind, times in sorted(self.times.items()):
            print(f"  {kind}: {len(times)} times; seconds until writes went on on every node: median "
                  f"{statistics.median(times):.2f}, at most {max(times):.2f}")
        print(f"  memory in MB: {self.first} at first, {last} at last")
        if not self.violations.all:
            return print("lost 0, twice 0, all nodes alike")
        evidence = pathlib.Path(self.options.evidence)
        evidence.mkdir(exist_ok=True)
        history.dump(evidence / "history.jsonl", self.violations.all)
        for log in [*(node.log for node in self.nodes), *self.server.logs]:
            shutil.copy(log, evidence)
        sys.exit(f"geobucket: {len(self.violations.all)} violations; the histories and logs are in {evidence}")
