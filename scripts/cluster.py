#!/usr/bin/env python3
"""Clients write to and read from several nodes over one PostgreSQL while faults happen: every answered write has
to be there afterwards, none twice; the answers about each object must have an order that explains them; and all
nodes must have the same in the end.

    scripts/cluster.py [--rounds 200] [--seconds 0] [--seed 1] [--nodes 3] [--loss] [--faults kill-node,…]
                       [--geobucket .build/release/geobucket] [--evidence cluster-evidence]
    scripts/cluster.py --copies 2 --nodes 5 --buckets 200 [--rounds 20] [--seconds 0] [--seed 1]

With --copies each bucket is on some of the nodes only, and scripts/copies.py is what runs: nodes are killed, stopped,
added and ended while clients ask nodes at random and know every answer. It also measures the memory of a node and
the processor time of a request that is passed on.

Otherwise each round has one fault: a node is killed (kill -9) and started again, sometimes without its cache; PostgreSQL is
killed, or ended in order, and started again; a node is stopped (SIGSTOP) for some seconds, most likely within a
transaction; all connections are terminated; the network between one node or all and PostgreSQL passes nothing on
for some seconds, or nothing after the first half of a commit. --seconds ends the rounds early. With --loss PostgreSQL is put back to an earlier state at the
end: the nodes have to notice, to agree with it, and to go on.
"""
import argparse, collections, contextlib, json, pathlib, random, shutil, signal, socket, statistics
import subprocess, sys, tempfile, threading, time

import linearizability, postgres, service
from linearizability import Operation

REGISTERS, RECORDS = "registers", "records"
OBJECTS_PER_ROUND, CLIENTS, COUNTERS = 12, 6, 1
# No answer takes longer: failoverMilliseconds is 10,000, and a machine may be busy.
ANSWER_SECONDS, RECOVERY_SECONDS, HANDOVER_SECONDS = 20, 60, 9
UNKNOWN = {"TEMPORARY_UNAVAILABLE_ERROR"}
REFUSALS = {"OBJECT_NOT_FOUND": "missing", "OBJECT_VERSION_IS_STALE": "stale", "OBJECT_ALREADY_EXISTS": "exists"}


class Unanswered(Exception):
    """The request may have been done, or may not."""


class Refused(Exception):
    """The request was not done; the argument is the code of its error."""


class Connection:
    def __init__(self, port, seconds=ANSWER_SECONDS + 10):
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise Unanswered(str(error))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def line(self, method, params):
        """The answer as it came."""
        try:
            self.socket.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            line = self.lines.readline()
        except OSError as error:
            raise Unanswered(str(error))
        if not line.endswith(b"\n"):
            raise Unanswered("the connection was closed")
        return line

    def call(self, method, params={}):
        answer = json.loads(self.line(method, params))
        if "error" not in answer:
            return answer["result"]
        code = answer["error"]["data"]["errorCode"]
        if code in UNKNOWN:
            raise Unanswered(answer["error"]["message"])
        raise Refused(code, answer["error"]["message"])

    def close(self):
        self.lines.close()
        self.socket.close()


# The cluster.

PROXY = """
import asyncio, signal, sys

is_cut, passed = False, 0

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


class Node:
    """A node, and the network between it and PostgreSQL: a process that passes bytes on unless it is stopped. After
    SIGUSR1 it passes on CUT_BYTES of requests, and no more until SIGUSR2."""

    def __init__(self, number, geobucket, server, folder):
        self.number, self.geobucket = number, geobucket
        self.port, proxy = postgres.free_port(), postgres.free_port()
        self.cache, self.log = folder / f"node-{number}.sqlite", folder / f"node-{number}.log"
        self.url = server.url_at(proxy)
        self.network = subprocess.Popen([sys.executable, "-c", PROXY, str(proxy), str(server.port), str(CUT_BYTES)],
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.geobucket, "serve", "--store", self.url, "--cache", self.cache, "--listen",
                 f"127.0.0.1:{self.port}"], stdout=log, stderr=log, start_new_session=True)

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
        for process in [self.process, self.network]:
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def ask(self, method, params={}, seconds=ANSWER_SECONDS + 10):
        with contextlib.closing(Connection(self.port, seconds)) as connection:
            return connection.call(method, params)

    def resident(self):
        """Megabytes."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024


class Violations:
    def __init__(self):
        self.all, self.lock = [], threading.Lock()

    def add(self, text):
        with self.lock:
            self.all.append(text)
        print(f"cluster: VIOLATION: {text}", file=sys.stderr, flush=True)


class History:
    """What the clients called, when, and what was answered."""

    def __init__(self):
        self.lock = threading.Lock()
        self.operations = collections.defaultdict(list)  # by object, in the bucket of registers
        self.begun, self.answered, self.done = 0, 0, {}  # records: the numbers begun and answered; id by tag
        self.slowest = (0, "")
        self.writes = self.reads = self.lost_answers = 0

    def note(self, name, operation):
        with self.lock:
            self.operations[name].append(operation)

    def took(self, seconds, what):
        with self.lock:
            self.slowest = max(self.slowest, (seconds, what))

    def dump(self, path, violations):
        with open(path, "w") as file:
            for violation in violations:
                file.write(json.dumps({"violation": violation}) + "\n")
            for name, operations in self.operations.items():
                for operation in sorted(operations, key=lambda o: o.called):
                    file.write(json.dumps({"object": name, **operation._asdict()}) + "\n")


# The clients.

class Client(threading.Thread):
    """Asks and waits, on a node that it changes now and then, and whenever it gets no answer."""

    def __init__(self, number, cluster, seed):
        super().__init__(daemon=True)
        self.number, self.cluster, self.history = number, cluster, cluster.history
        self.random, self.serial, self.connection, self.node = random.Random(f"{seed}/{number}"), 0, None, None
        self.versions = {}

    def run(self):
        while not self.cluster.is_over:
            try:
                self.step()
            except Exception as error:
                self.cluster.violations.add(f"client {self.number}: {type(error).__name__}: {error}")
                self.leave()
            time.sleep(self.random.uniform(0, 0.04))

    def leave(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def call(self, method, params):
        """One attempt, on some node."""
        if self.connection is None or self.random.random() < 0.02:
            self.leave()
            self.node = self.random.choice(self.cluster.nodes)
            self.connection = Connection(self.node.port)
        begin = time.monotonic()
        try:
            return self.connection.call(method, params)
        except Unanswered:
            self.leave()
            raise
        finally:
            # A node that was itself stopped cannot answer in time.
            took = time.monotonic() - begin
            self.history.took(took, f"{method} on node {self.node.number} at {time.strftime('%H:%M:%S')}")
            if took > ANSWER_SECONDS:
                self.cluster.violations.add(f"{method} on node {self.node.number} took {took:.1f} s")

    def insist(self, method, params):
        """The answer of a write, asked for again and again under the same key."""
        params = {**params, "requestKey": f"{self.cluster.seed}-{self.number}-{self.serial}"}
        while True:
            try:
                return self.call(method, params)
            except Unanswered:
                if self.cluster.is_over:
                    raise
                time.sleep(0.05)

    def step(self):
        self.serial += 1
        kind = self.random.random()
        try:
            if kind < 0.12:
                self.make()
            else:
                self.use_register(kind)
        except Unanswered:
            self.history.lost_answers += 1
            time.sleep(0.05)

    # Registers: single objects, whose whole histories are checked.

    def use_register(self, kind):
        name = self.random.choice(self.cluster.names)
        place = {"bucket": REGISTERS, "id": name}
        value, condition, keyed = f"{self.number}-{self.serial}", None, self.random.random() < 0.3
        if kind < 0.5:
            return self.perform(name, "get", "object.get", place, None, None, False)
        document = {**place, "object": {"value": value, "at": self.place()}}
        if kind < 0.67:
            return self.perform(name, "put", "object.put", document, None, value, keyed)
        if kind < 0.85:
            condition = self.versions.get(name, 1) or 1
            return self.perform(name, "put", "object.put", {**document, "ifVersion": condition}, condition, value, keyed)
        if kind < 0.92:
            return self.perform(name, "put", "object.put", {**document, "ifAbsent": True}, 0, value, keyed)
        if self.random.random() < 0.5:
            condition = self.versions.get(name, 1) or 1
            place["ifVersion"] = condition
        self.perform(name, "delete", "object.delete", place, condition, None, keyed)

    def perform(self, name, kind, method, params, condition, value, keyed):
        result, called = None, time.monotonic()
        try:
            answer = (self.insist if keyed else self.call)(method, params)
            if kind == "get":
                result = ("read", answer["_version"], answer["value"])
            else:
                result = ("ok", answer.get("_version", 0))
            self.versions[name] = answer.get("_version", 0)
        except Refused as refusal:
            if refusal.args[0] not in REFUSALS:
                raise
            result = (REFUSALS[refusal.args[0]],)
        finally:
            self.history.note(name, Operation(kind, condition, value, result, called, time.monotonic()))
        self.history.reads += kind == "get"
        self.history.writes += kind != "get" and result[0] == "ok"

    def place(self):
        return {"_type": "point", "lat": self.random.randint(-80, 80), "lon": self.random.randint(-179, 179)}

    # Records: objects that are made and never changed, so that each is there once and counts only grow.

    def make(self):
        tags = [f"{self.number}-{self.serial}-{n}" for n in range(self.random.choice([1, 5]))]
        documents = [{"tag": tag, "at": self.place()} for tag in tags]
        with self.history.lock:
            self.history.begun += len(tags)
        if len(tags) == 1:
            answers = [self.insist("object.create", {"bucket": RECORDS, "object": documents[0]})]
        else:
            answers = self.insist("object.putMany", {"bucket": RECORDS, "objects": documents})["objects"]
        with self.history.lock:
            self.history.answered += len(tags)
            self.history.done.update(zip(tags, (answer["_id"] for answer in answers)))
            self.history.writes += 1


class Counter(Client):
    """Counts the records: no fewer than were answered before, no more than were begun."""

    def step(self):
        least = self.history.answered
        try:
            count = self.call("bucket.count", {"bucket": RECORDS})["count"]
        except Unanswered:
            return time.sleep(0.05)
        self.history.reads += 1
        if not least <= count <= self.history.begun:
            self.cluster.violations.add(f"node {self.node.number} counted {count} records: at least {least} were "
                                        f"answered, at most {self.history.begun} begun")


# The faults. Each returns the nodes that it concerned; it is over when it returns.

class Faults:
    def __init__(self, cluster):
        self.cluster, self.server, self.random = cluster, cluster.server, random.Random(cluster.seed)
        self.node = lambda: self.random.choice(cluster.nodes)

    def kill_node(self):
        node = self.node()
        node.kill()
        if self.random.random() < 0.25:
            for suffix in ["", "-wal", "-shm"]:
                pathlib.Path(f"{node.cache}{suffix}").unlink(missing_ok=True)
        time.sleep(self.random.uniform(0, 1))
        node.start()

    def kill_postgres(self):
        self.server.kill()
        time.sleep(self.random.choice([0, 0, 1, 3]))
        self.server.start()

    def restart_postgres(self):
        self.server.stop()
        self.server.start()

    def terminate(self):
        for _ in range(self.random.randint(1, 5)):
            self.server.terminate_backends()
            time.sleep(self.random.uniform(0, 0.3))

    def stop_node(self):
        """Stops it, if that succeeds soon, while it holds the lock of the head."""
        node = self.node()
        for _ in range(50):
            node.process.send_signal(signal.SIGSTOP)
            if self.is_in_transaction():
                self.cluster.held += 1
                break
            node.process.send_signal(signal.SIGCONT)
            time.sleep(self.random.uniform(0, 0.02))
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(3, 5))
        node.process.send_signal(signal.SIGCONT)

    def is_in_transaction(self):
        return self.server.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'")[0] != "0"

    def drop_packets(self):
        self.drop([self.node()], self.random.uniform(2, 6))

    def drop_all_packets(self):
        self.drop(self.cluster.nodes, self.random.uniform(2, 6))

    def drop_packets_long(self):
        """For longer than a node waits for an answer."""
        self.drop([self.node()], self.random.uniform(11, 14))

    def drop(self, nodes, seconds):
        for node in nodes:
            node.network.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        for node in nodes:
            node.network.send_signal(signal.SIGCONT)

    def cut_commit(self):
        """A node is cut off in the middle of a commit. The others must not wait for it."""
        node = self.node()
        objects = [{"_id": f"bulk-{n}", "text": "x" * 9_000} for n in range(100)]
        put = lambda count: node.ask("object.putMany", {"bucket": "bulk", "objects": objects[:count]})
        with contextlib.suppress(Unanswered, Refused):
            node.ask("bucket.delete", {"bucket": "bulk"})
        with contextlib.suppress(Unanswered):
            put(50)

        def commit():
            with contextlib.suppress(Unanswered):
                put(100)  # updates 50 and then inserts 50

        node.network.send_signal(signal.SIGUSR1)
        commit = threading.Thread(target=commit, daemon=True)
        commit.start()
        time.sleep(0.5)
        begin = time.monotonic()
        others = [other for other in self.cluster.nodes if other is not node]
        took = max(self.cluster.wait_for_writes("beside a cut commit", others), default=begin) - begin
        if took > HANDOVER_SECONDS:
            self.cluster.violations.add(f"the other nodes waited {took:.1f} s for one that was cut off in a commit")
        node.network.send_signal(signal.SIGUSR2)
        commit.join()

    ALL = {"kill-node": kill_node, "kill-postgres": kill_postgres, "restart-postgres": restart_postgres,
           "terminate": terminate, "stop-node": stop_node, "drop-packets": drop_packets,
           "drop-all-packets": drop_all_packets, "drop-packets-long": drop_packets_long, "cut-commit": cut_commit}


class Cluster:
    def __init__(self, options, server, folder):
        self.options, self.server, self.folder, self.seed = options, server, folder, options.seed
        self.violations, self.history, self.is_over = Violations(), History(), False
        self.nodes = [Node(n, options.geobucket, server, folder) for n in range(options.nodes)]
        self.names, self.held, self.times, self.starts = [], 0, collections.defaultdict(list), time.monotonic()

    def run(self):
        for node in self.nodes:
            node.start()
        self.wait_for_writes("at the start")
        clients = [Client(n, self, self.seed) for n in range(CLIENTS)]
        clients += [Counter(CLIENTS + n, self, self.seed) for n in range(COUNTERS)]
        faults, kinds, first, done = Faults(self), [], [node.resident() for node in self.nodes], 0
        for number in range(self.options.rounds):
            if self.options.seconds and time.monotonic() - self.starts > self.options.seconds:
                break
            self.names = [f"object-{number}-{n}" for n in range(OBJECTS_PER_ROUND)]
            for client in clients if number == 0 else []:
                client.start()
            kinds = kinds or faults.random.sample(list(self.options.faults), len(self.options.faults))
            self.round(number, kinds.pop(), faults)
            done = number + 1
            if self.violations.all and self.options.stop:
                break
        self.is_over = True
        for client in clients:
            client.join(timeout=ANSWER_SECONDS + 15)
            if client.is_alive():
                self.violations.add(f"client {client.number} gets no answer")
        self.judge()
        self.rest()
        self.turn_to_second_server()
        if self.options.loss:
            Loss(self).run()
        last = [node.resident() for node in self.nodes]
        for node in self.nodes:
            if (status := node.stop()) != 0:
                self.violations.add(f"node {node.number} ended with {status}")
        self.print_summary(done, first, last)

    def round(self, number, kind, faults):
        time.sleep(faults.random.uniform(0.3, 1))
        begin = time.monotonic()
        Faults.ALL[kind](faults)
        end = time.monotonic()
        times = self.wait_for_writes(f"after {kind} in round {number}")
        self.times[kind].append(max(times) - end)
        for node in self.nodes:
            if node.process.poll() is not None:
                self.violations.add(f"node {node.number} ended with {node.process.returncode} after {kind}")
                node.start()
        print(f"round {number + 1}: {kind} for {end - begin:.1f} s, writes everywhere after {max(times) - end:.2f} s; "
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
            with contextlib.closing(Connection(node.port)) as connection:
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
            exports.append({bucket: self.export(node.port, bucket) for bucket in buckets})
            if exports[-1] != exports[0]:
                self.violations.add(f"the exports of nodes {node.number} and 0 differ")
        rows = self.server.sql("SELECT b.name, count(o.creation) FROM geobucket.bucket b LEFT JOIN geobucket.object o "
                               "ON o.bucket = b.number GROUP BY b.name")
        there = {name: int(count) for name, count in (row.split("|") for row in rows)}
        if there != {bucket: len(self.objects(export)) for bucket, export in exports[0].items()}:
            self.violations.add(f"PostgreSQL has other objects than the nodes: {there}")
        return exports[0]

    @staticmethod
    def export(port, bucket):
        """The answers as they came."""
        lines = []
        with contextlib.closing(Connection(port, 120)) as connection:
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
            port = next(iter(ports.values()))
            for bucket, export in exports.items():
                written = self.without_times(self.objects(export))
                with contextlib.closing(Connection(port)) as connection:
                    for begin in range(0, len(written), 1000):
                        connection.call("object.putMany", {"bucket": bucket, "objects": written[begin:begin + 1000]})
                if self.without_times(self.objects(self.export(port, bucket))) != written:
                    self.violations.add(f"an embedded service exports {bucket} differently")
                answers = []
                for asked in [port] + [node.port for node in self.nodes]:
                    with contextlib.closing(Connection(asked)) as connection:
                        answer = connection.call("bucket.query", {"bucket": bucket, "bucketQuery": query})
                        answers.append(self.without_times(answer["results"]))
                if any(answer != answers[0] for answer in answers):
                    self.violations.add(f"nodes and an embedded service answer a query of {bucket} differently")

    @staticmethod
    def without_times(objects):
        return [{key: value for key, value in found.items() if key not in ("_created", "_modified", "_version")}
                for found in objects]

    def print_summary(self, rounds, first, last):
        history = self.history
        seconds = time.monotonic() - self.starts
        print(f"{rounds} rounds in {seconds:.0f} s on {len(self.nodes)} nodes: {history.writes} answered writes, "
              f"{history.reads} reads, {history.lost_answers} requests without an answer; "
              f"{len(history.operations)} histories, slowest answer {history.slowest[0]:.1f} s ({history.slowest[1]}); "
              f"{self.held} nodes stopped within a transaction")
        for kind, times in sorted(self.times.items()):
            print(f"  {kind}: {len(times)} times; seconds until writes went on on every node: median "
                  f"{statistics.median(times):.2f}, at most {max(times):.2f}")
        print(f"  memory in MB: {first} at first, {last} at last")
        if not self.violations.all:
            return print("lost 0, twice 0, all nodes alike")
        evidence = pathlib.Path(self.options.evidence)
        evidence.mkdir(exist_ok=True)
        history.dump(evidence / "history.jsonl", self.violations.all)
        for log in [*(node.log for node in self.nodes), self.server.log]:
            shutil.copy(log, evidence)
        sys.exit(f"geobucket: {len(self.violations.all)} violations; the histories and logs are in {evidence}")


class Watch(threading.Thread):
    """Asks a node for an object again and again until it is gone."""

    def __init__(self, loss, node, name):
        super().__init__(daemon=True)
        self.loss, self.node, self.name = loss, node, name

    def run(self):
        while True:
            called = time.monotonic()
            try:
                found = self.node.ask("object.get", {"bucket": "lost", "id": self.name})
                if called > self.loss.restored:
                    return self.loss.violations.add(f"node {self.node.number} answers what PostgreSQL has lost: {found}")
            except Unanswered:
                time.sleep(0.01)
            except Refused:
                return


class Loss:
    """PostgreSQL is put back to an earlier state: what is gone there must not be answered any more."""

    def __init__(self, cluster):
        self.cluster, self.server, self.nodes = cluster, cluster.server, cluster.nodes
        self.violations, self.restored = cluster.violations, float("inf")

    def run(self):
        for catching_up in [False, True]:
            self.lose(catching_up)
        print("PostgreSQL was put back twice: the nodes noticed, agree with it, and go on")

    def lose(self, catching_up):
        """- catching_up: when the nodes but the first look, PostgreSQL has as many changes again as they have."""
        copy, kind = self.cluster.folder / "copy", f"loss-{int(catching_up)}"
        self.restored = float("inf")
        self.server.stop()
        self.server.save(copy)
        self.server.start()
        self.cluster.wait_for_writes("before the loss")
        rebuilds = [node.ask("server.stats")["cluster"]["rebuilds"] for node in self.nodes]
        for node in self.nodes:
            for n in range(20):
                node.ask("object.put", {"bucket": "lost", "id": f"{kind}-{node.number}-{n}", "object": {"n": n}})
        watches = [Watch(self, node, f"{kind}-0-7") for node in self.nodes for _ in range(2)]
        for watch in watches:
            watch.start()
        head = self.head()
        for node in self.nodes[1:] if catching_up else []:
            node.network.send_signal(signal.SIGSTOP)
        self.server.kill()
        self.server.restore(copy)
        self.server.start()
        self.restored = begin = time.monotonic()
        if catching_up:
            self.catch_up(head)
        for watch in watches:
            watch.join(timeout=RECOVERY_SECONDS)
            if watch.is_alive():
                self.violations.add(f"node {watch.node.number} does not answer after a loss")
        self.cluster.wait_for_writes("after a loss")
        print(f"{kind}: every node answers and writes after {time.monotonic() - begin:.1f} s", flush=True)
        for node, before in zip(self.nodes, rebuilds):
            if node.ask("server.stats")["cluster"]["rebuilds"] == before:
                self.violations.add(f"node {node.number} did not notice the loss")
        self.cluster.compare_nodes()

    def head(self):
        return int(self.server.sql("SELECT change FROM geobucket.head")[0])

    def catch_up(self, head):
        deadline = time.monotonic() + RECOVERY_SECONDS
        while (left := head - self.head()) > 0 and time.monotonic() < deadline:
            with contextlib.suppress(Unanswered):
                self.nodes[0].ask("object.put", {"bucket": "past", "id": f"past-{left}", "object": {}})
        if left != 0:
            self.violations.add(f"PostgreSQL does not come back to change {head}: {left} are left")
        for node in self.nodes[1:]:
            node.network.send_signal(signal.SIGCONT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--loss", action="store_true")
    parser.add_argument("--copies", type=int, default=0)
    parser.add_argument("--buckets", type=int, default=200, help="with --copies")
    parser.add_argument("--stop", action="store_true", help="end at the first violation")
    parser.add_argument("--faults", type=lambda text: text.split(","), default=list(Faults.ALL),
                        help=f"({','.join(Faults.ALL)})")
    parser.add_argument("--evidence", default="cluster-evidence")
    service.add_option(parser)
    options = parser.parse_args()
    if unknown := set(options.faults) - set(Faults.ALL):
        parser.error(f"there are no faults {', '.join(sorted(unknown))}")
    if options.copies:
        import copies
        return copies.run(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("geobucket: the cluster was asked to end"))
    with tempfile.TemporaryDirectory(prefix="geobucket-cluster-") as folder, postgres.serving() as server:
        cluster = Cluster(options, server, pathlib.Path(folder))
        try:
            cluster.run()
        finally:
            for node in cluster.nodes:
                node.end()


if __name__ == "__main__":
    main()
