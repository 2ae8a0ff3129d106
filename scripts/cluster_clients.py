"""Clients of a cluster that remember what they asked and what was answered."""
import collections, json, sys, threading, time

from linearizability import Operation
from wire import Refused, SteppingClient, Unanswered

REGISTERS, RECORDS = "registers", "records"
# No answer takes longer: failoverMilliseconds is 10,000, and a machine may be busy.
ANSWER_SECONDS = 20
REFUSALS = {"OBJECT_NOT_FOUND": "missing", "OBJECT_VERSION_IS_STALE": "stale", "OBJECT_ALREADY_EXISTS": "exists"}


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


class Client(SteppingClient):
    """Asks and waits, on a node that it changes now and then, and whenever it gets no answer."""

    def __init__(self, number, cluster, seed):
        super().__init__(number, cluster, seed, pause=0.04)
        self.history, self.versions = cluster.history, {}

    def call(self, method, params):
        """One attempt, on some node."""
        if self.connection is None or self.random.random() < 0.02:
            self.leave()
            self.node = self.random.choice(self.world.nodes)
            self.connection = self.node.connect()
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
                self.world.violations.add(f"{method} on node {self.node.number} took {took:.1f} s")

    def insist(self, method, params):
        """The answer of a write, asked for again and again under the same key."""
        params = {**params, "requestKey": f"{self.world.seed}-{self.number}-{self.serial}"}
        while True:
            try:
                return self.call(method, params)
            except Unanswered:
                if self.world.is_over:
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
        name = self.random.choice(self.world.names)
        place = {"bucket": REGISTERS, "id": name}
        value, condition, keyed = f"{self.number}-{self.serial}", None, self.random.random() < 0.3
        if kind < 0.3:
            return self.perform(name, "get", "object.get", place, None, None, False)
        if kind < 0.5:
            # A node may answer a query before it is sure that it has the latest state.
            clause = {"type": "eq", "field": "_id", "value": name}
            query = {"bucket": REGISTERS, "bucketQuery": {"clause": clause}}
            return self.perform(name, "get", "bucket.query", query, None, None, False)
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
            if method == "bucket.query":
                if not answer["results"]:
                    raise Refused("OBJECT_NOT_FOUND")
                answer = answer["results"][0]
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
            self.world.violations.add(f"node {self.node.number} counted {count} records: at least {least} were "
                                        f"answered, at most {self.history.begun} begun")
