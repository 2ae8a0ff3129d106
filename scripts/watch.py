#!/usr/bin/env python3
"""Random watches and random writes on several connections, against what bucket.query says. Clients apply what they
are told: snapshots, events, lists, couples. They stop reading for a while, disconnect and resume. The service is
killed and started again on its store, and its store is replaced by a backup. At each point of rest (watch.sync) what
a client has must be what bucket.query answers.

    scripts/watch.py [--rounds 60] [--clients 6] [--seed 1] [--nodes 3] [--geobucket .build/release/geobucket]

With --nodes there are that many nodes over one PostgreSQL. Each connection is to any of them, so what one node has told
goes on at another; some nodes are killed or ended at a time, and one of them loses its cache now and then. While all
nodes are stopped, a backup of PostgreSQL is put back.
"""
import argparse, collections, contextlib, json, os, pathlib, random, select, shutil, signal, socket, subprocess, sys
import tempfile, time

import postgres, service
from cluster_nodes import Node
from oracle_objects import distance

BUCKETS = ["couriers", "orders"]
IDS = [f"o{number}" for number in range(10, 90)]
CENTER = (35.68, 139.76)


# An object that expired longer ago than this has been taken for expired by everybody.
SETTLED_MILLISECONDS = 2_000


class Failure(Exception):
    pass


# The service

FLAGS = ["--watch-bytes", "65536", "--watch-heartbeat-milliseconds", "200", "--log-level", "error"]


class Service:
    """A service on a store, which may be killed and started again."""

    can_restore = True

    def __init__(self, geobucket, folder):
        self.geobucket, self.folder, self.store = geobucket, folder, os.path.join(folder, "store.sqlite")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.geobucket, "serve", "--listen", "127.0.0.1:0", "--store", self.store, *FLAGS],
            stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()  # geobucket ready on 127.0.0.1:4362
        if words[1:2] != ["ready"]:
            raise Failure("the service does not start")
        self.port = int(words[3].rsplit(":", 1)[1])

    def stop(self, number):
        self.process.send_signal(number)
        status = self.process.wait(timeout=60)
        if number == signal.SIGTERM and status != 0:
            raise Failure(f"the service ended with {status}")

    def backup(self):
        path = os.path.join(self.folder, "backup.sqlite")
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        subprocess.run([self.geobucket, "backup", path, "--server", f"127.0.0.1:{self.port}"], check=True,
                       capture_output=True)
        return path

    def restore(self, path):
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.store + ending)
        shutil.copy(path, self.store)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()

    def check(self):
        service.check(self.geobucket, self.store)


class Nodes:
    """Nodes over one PostgreSQL, of which some are killed or ended and started again."""

    can_restore = True

    def __init__(self, geobucket, folder, server, count, randomness):
        self.geobucket, self.server, self.copy = geobucket, server, pathlib.Path(folder) / "backup"
        self.nodes = [Node(number, geobucket, server, pathlib.Path(folder), FLAGS) for number in range(count)]
        self.randomness = randomness

    @property
    def port(self):
        """That of any node."""
        return self.randomness.choice(self.nodes).port

    def start(self):
        stopped = [node for node in self.nodes if not node.process or node.process.poll() is not None]
        for node in stopped:
            node.start()
        for node in stopped:
            node.wait()

    def stop(self, number):
        for node in self.randomness.sample(self.nodes, self.randomness.randrange(1, len(self.nodes) + 1)):
            if number == signal.SIGKILL:
                node.kill()
            elif (status := node.stop()) != 0:
                raise Failure(f"node {node.number} ended with {status}")
            if self.randomness.random() < 0.1:
                node.cache.unlink(missing_ok=True)

    def backup(self):
        self.server.stop()
        self.server.save(self.copy)
        self.server.start()
        return self.copy

    def restore(self, path):
        for node in self.nodes:
            if node.process.poll() is None:
                node.stop()
        self.server.kill()
        self.server.restore(path)
        self.server.start()
        # Those that can tell of the loss come first: a node that had copied everything before would be rebuilt.
        knowing = [node for node in self.nodes if node.cache.exists()]
        if not knowing:
            subprocess.run([self.geobucket, "cluster", "new-history", "--store", self.server.url], check=True,
                           capture_output=True)
        for node in knowing:
            node.start()
        for node in knowing:
            node.wait()

    def end(self):
        for node in self.nodes:
            node.end()

    def check(self):
        self.start()
        for node in self.nodes:
            if node.ask("store.check", seconds=600)["problemCount"]:
                raise Failure(f"node {node.number} does not check clean")
            if (status := node.stop()) != 0:
                raise Failure(f"node {node.number} ended with {status}")


# Clients

class Client:
    """A connection; what is no answer is handed to `told`."""

    def __init__(self, port, told=None):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(60)
        self.received, self.lines, self.id, self.told = b"", collections.deque(), 0, told

    def close(self):
        self.socket.close()

    def send(self, method, params):
        self.id += 1
        self.socket.sendall(json.dumps(
            {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode() + b"\n")
        return self.id

    def receive(self):
        bytes_ = self.socket.recv(1 << 18)
        if not bytes_:
            raise Failure("the service has closed a connection")
        *lines, self.received = (self.received + bytes_).split(b"\n")
        self.lines.extend(lines)

    def answer(self, number):
        while True:
            while not self.lines:
                self.receive()
            message = json.loads(self.lines.popleft())
            if message.get("id") == number:
                return message
            self.told(message)

    def call(self, method, params):
        message = self.answer(self.send(method, params))
        if "error" in message:
            raise Failure(f"{method} {params}: {message['error']}")
        return message["result"]

    def drain(self):
        """What has come by now."""
        while select.select([self.socket], [], [], 0)[0]:
            self.receive()
        while self.lines:
            self.told(json.loads(self.lines.popleft()))


class Watch:
    """What a client knows of one watch, by what it was told."""

    def __init__(self, kind, params):
        self.kind, self.params = kind, params
        self.name = self.resume = None
        self.state, self.order, self.couples = {}, [], {}
        self.change, self.is_partial, self.is_missing = 0, False, False

    def told(self, method, params, counts):
        if params["change"] < self.change and method == "watch.events":
            raise Failure(f"change {params['change']} comes after {self.change}")
        self.change = params["change"]
        self.resume = params.get("resume", self.resume)
        if method == "watch.snapshot":
            counts["snapshots"] += 1
            if not self.is_partial:
                self.state, self.order, self.couples = {}, [], {}
            for object_ in params["objects"]:
                if self.kind == "pairs":
                    self.couples[tuple(object_["ids"])] = object_["distance"]
                    continue
                if object_["_id"] in self.state:
                    raise Failure(f"{object_['_id']} stands twice in a snapshot")
                self.state[object_["_id"]] = object_
                self.order.append(object_["_id"])
            self.is_partial = params["more"]
            if self.is_partial == ("resume" in params):
                raise Failure("a snapshot has its resume on the last part")
        for event in params.get("events", []):
            counts[event["event"]] += 1
            self.apply(event)

    def apply(self, event):
        kind, object_ = event["event"], event.get("object", {})
        if event.get("change", 0) > self.change:
            raise Failure(f"an event of {event['change']} stands before {self.change}")
        id_ = object_.get("_id", event.get("_id"))
        if kind in ("enter", "change"):
            self.state[id_] = object_
            if self.kind == "ranking" and "index" in event:
                if id_ in self.order:
                    self.order.remove(id_)
                self.order.insert(event["index"], id_)
        elif kind == "leave":
            if set(event) - {"event", "change", "_id", "reason", "index"}:
                raise Failure(f"a leave says too much: {event}")
            self.state.pop(id_, None)
            if id_ in self.order:
                self.order.remove(id_)
        elif kind == "meet":
            self.couples[tuple(event["ids"])] = event["distance"]
        elif kind == "part":
            self.couples.pop(tuple(event["ids"]), None)
        elif kind == "center":
            self.is_missing = event["missing"]
        else:
            raise Failure(f"what is {event}?")


class Watcher:
    """A client with watches, which outlive its connection."""

    def __init__(self, counts):
        self.watches, self.client, self.counts, self.by_name, self.ended = [], None, counts, {}, set()

    def connect(self, port):
        self.by_name, self.ended = {}, set()
        self.client = Client(port, self.told)
        for watch in self.watches:
            self.start(watch)

    def disconnect(self):
        if self.client:
            self.client.close()
            self.client = None
            for watch in self.watches:
                watch.is_partial = False

    def start(self, watch):
        params = dict(watch.params)
        if watch.resume:
            params["resume"] = watch.resume
        result = self.client.call("watch.start", params)
        if ("resumed" in result) != bool(watch.resume):
            raise Failure(f"{result} to {params}")
        self.counts["resumed" if result.get("resumed") else "started"] += 1
        watch.name, watch.change = result["watch"], 0
        self.by_name[watch.name] = watch

    def stop(self, watch):
        self.client.call("watch.stop", {"watch": watch.name})
        self.ended.add(watch.name)
        self.watches.remove(watch)

    def told(self, message):
        params = message["params"]
        if params["watch"] in self.ended:
            raise Failure(f"after its end: {message}")
        if params["watch"] not in self.by_name:
            raise Failure(f"before its start: {message}")
        self.counts[message["method"]] += 1
        if message["method"] in ("watch.snapshot", "watch.events"):
            self.by_name[params["watch"]].told(message["method"], params, self.counts)
        elif message["method"] == "watch.end":
            raise Failure(f"a watch ended: {params}")


# What is random

def place(randomness, spread=0.05):
    return (round(CENTER[0] + randomness.gauss(0, spread), 6), round(CENTER[1] + randomness.gauss(0, spread), 6))


def point(place_):
    return {"_type": "point", "lat": place_[0], "lon": place_[1]}


def leaf(randomness):
    kind = randomness.choice(["circle", "circle", "box", "polygon", "eq", "in", "range", "prefix", "has", "id"])
    latitude, longitude = place(randomness)
    if kind == "circle":
        return circle(randomness)
    if kind == "box":
        return {"type": "geobox", "field": "location",
                "box": {"sw": point((latitude - 0.03, longitude - 0.03)), "ne": point((latitude + 0.03, longitude + 0.03))}}
    if kind == "polygon":
        ring = [[longitude, latitude - 0.04], [longitude + 0.04, latitude], [longitude, latitude + 0.04],
                [longitude - 0.04, latitude], [longitude, latitude - 0.04]]
        return {"type": "geopolygon", "field": "location", "polygon": {"type": "Polygon", "coordinates": [ring]}}
    return {"eq": {"type": "eq", "field": "free", "value": randomness.random() < 0.5},
            "in": {"type": "in", "field": "kind", "values": randomness.sample(["car", "bike", "van", "foot"], 2)},
            "range": {"type": "range", "field": "n", "lowerLimit": randomness.randrange(50)},
            "prefix": {"type": "prefix", "field": "kind", "prefix": randomness.choice("cbvf")},
            "has": {"type": "hasField", "field": "n", "fieldType": "INTEGER"},
            "id": {"type": "in", "field": "_id", "values": randomness.sample(IDS, 5)}}[kind]


def circle(randomness, **more):
    return {"type": "geodistance", "field": "location", "center": point(place(randomness)),
            "radius": randomness.choice([500, 2_000, 5_000, 10_000]), **more}


def clause(randomness, depth=2):
    if depth == 0 or randomness.random() < 0.5:
        return leaf(randomness)
    kind = randomness.choice(["and", "or", "not"])
    if kind == "not":
        return {"type": "not", "clause": clause(randomness, depth - 1)}
    return {"type": kind, "clauses": [clause(randomness, depth - 1) for _ in range(2)]}


def following(randomness):
    return {"_type": "object", "bucket": randomness.choice(BUCKETS), "_id": randomness.choice(IDS[:10]), "field": "location"}


def watch(randomness):
    kind = randomness.choice(["set", "set", "set", "following", "ranking", "hysteresis", "pairs"])
    params = {"bucket": randomness.choice(BUCKETS)}
    if kind == "set":
        params["bucketQuery"] = {"clause": clause(randomness)}
        if randomness.random() < 0.5:
            params["fields"] = randomness.sample(["n", "kind", "location", "free"], 2)
    elif kind == "following":
        params["bucketQuery"] = {"clause": circle(randomness, center=following(randomness))}
        params["fields"] = ["n"]
    elif kind == "ranking":
        params["bucketQuery"] = {"clause": circle(randomness, putDistanceInto="d", radius=20_000),
                                 "orderBy": "_calculated.d"}
        params.update(bestEffortLimit=randomness.choice([1, 5, 20]), fields=["n"],
                      intervalMilliseconds=randomness.choice([0, 20]))
    elif kind == "hysteresis":
        params["bucketQuery"] = {"clause": circle(randomness)}
        params["leaveRadius"] = params["bucketQuery"]["clause"]["radius"] * randomness.choice([1, 1.2, 2])
    else:
        params["bucketQuery"] = {"clause": circle(randomness, radius=10_000)}
        params["pairs"] = {"bucket": randomness.choice(BUCKETS), "field": "location", "radius": 500,
                           "leaveRadius": randomness.choice([500, 600]),
                           "clause": {"type": "eq", "field": "free", "value": True}}
    return Watch(kind, params)


def document(randomness):
    object_ = {"location": point(place(randomness))}
    if randomness.random() < 0.9:
        object_["n"] = randomness.randrange(100)
    if randomness.random() < 0.9:
        object_["kind"] = randomness.choice(["car", "bike", "van", "foot"])
    if randomness.random() < 0.9:
        object_["free"] = randomness.random() < 0.7
    if randomness.random() < 0.05:
        del object_["location"]
    return object_


def write(randomness):
    bucket, id_, draw = randomness.choice(BUCKETS), randomness.choice(IDS), randomness.random()
    if draw < 0.55:
        return "object.put", {"bucket": bucket, "id": id_, "object": document(randomness)}
    if draw < 0.7:
        return "object.patch", {"bucket": bucket, "id": id_, "object": {"location": point(place(randomness))}}
    if draw < 0.8:
        return "object.delete", {"bucket": bucket, "id": id_}
    if draw < 0.9:
        return "object.putMany", {"bucket": bucket, "objects": [
            {"_id": id_, **document(randomness)} for id_ in randomness.sample(IDS, randomness.randrange(1, 30))]}
    if draw < 0.97:
        return "object.put", {"bucket": bucket, "id": id_, "object": document(randomness),
                              "expiresAt": int(time.time() * 1000) + randomness.choice([5, 50, 500, 5_000])}
    if draw < 0.99:
        return "bucket.deleteWhere", {"bucket": bucket, "bucketQuery": {"clause": leaf(randomness)}}
    return "bucket.delete", {"bucket": bucket}


# What is compared

def walk(client, bucket, query, **more):
    found, key = [], None
    while True:
        page = client.call("bucket.query", {"bucket": bucket, "bucketQuery": query, **more,
                                            **({"paginationKey": key} if key else {})})
        found += page["results"]
        key = page.get("nextPaginationKey")
        if not key or "bestEffortLimit" in more:
            return found


class Comparison:
    """- expiring: when the objects expire that do so soon, by bucket and id"""

    def __init__(self, client, expiring):
        self.client, self.expiring = client, expiring
        self.compared = set()  # the objects that the last comparison was about, by bucket and id

    def may_expire(self):
        """Whether the last comparison was about an object that may have expired meanwhile."""
        now = time.time() * 1000
        return any(self.expiring.get(name, 0) > now - SETTLED_MILLISECONDS for name in self.compared)

    def fault(self, watch):
        """What a client knows and should not, or does not and should; nil if there is nothing."""
        params = watch.params
        self.compared = {(params["bucket"], id_) for id_ in [*watch.state, *watch.order]}
        query, bucket = params["bucketQuery"], params["bucket"]
        fields = {"fields": params["fields"]} if "fields" in params else {}
        if watch.kind == "pairs":
            return self.pair_fault(watch)
        if watch.kind == "following":
            center = query["clause"]["center"]
            self.compared.add((center["bucket"], center["_id"]))
            place_ = self.center(center)
            if place_ is None:
                return None  # nobody but the watch knows where it was
            query = {"clause": {**query["clause"], "center": place_}}
        if watch.kind == "ranking":
            found = walk(self.client, bucket, query, bestEffortLimit=params["bestEffortLimit"], **fields)
            ids = [object_["_id"] for object_ in found]
            self.compared.update((bucket, id_) for id_ in ids)
            if watch.order != ids:
                return f"{watch.order} instead of {ids}"
        else:
            found = walk(self.client, bucket, query, **fields)
        expected = {object_["_id"]: object_ for object_ in found}
        self.compared.update((bucket, id_) for id_ in expected)
        if watch.kind == "hysteresis":
            wide = {"clause": {**query["clause"], "radius": params["leaveRadius"]}}
            most = {object_["_id"]: object_ for object_ in walk(self.client, bucket, wide, **fields)}
            if not (expected.keys() <= watch.state.keys() <= most.keys()):
                return f"{sorted(watch.state)} between {sorted(expected)} and {sorted(most)}"
            expected = {id_: most[id_] for id_ in watch.state}
        if watch.state != expected:
            return difference(watch.state, expected)
        return None

    def center(self, center):
        answer = self.client.answer(self.client.send("object.get", {"bucket": center["bucket"], "id": center["_id"]}))
        return answer.get("result", {}).get(center["field"])

    def pair_fault(self, watch):
        params, pairs = watch.params, watch.params["pairs"]
        first = walk(self.client, params["bucket"], params["bucketQuery"])
        second = walk(self.client, pairs["bucket"], {"clause": pairs["clause"]})
        for bucket, number, found in ((params["bucket"], 0, first), (pairs["bucket"], 1, second)):
            self.compared.update((bucket, object_["_id"]) for object_ in found)
            self.compared.update((bucket, ids[number]) for ids in watch.couples)
        is_same = params["bucket"] == pairs["bucket"]
        near = {}
        for a in first:
            for b in second:
                if "location" not in b or is_same and a["_id"] == b["_id"]:
                    continue
                meters = distance(*[(o["location"]["lat"], o["location"]["lon"]) for o in (a, b)])
                key = tuple(sorted((a["_id"], b["_id"]))) if is_same else (a["_id"], b["_id"])
                near[key] = meters
        told = {tuple(sorted(ids)) if is_same else ids: meters for ids, meters in watch.couples.items()}
        if len(told) != len(watch.couples):
            return f"a couple is told twice: {watch.couples}"
        least = {key for key, meters in near.items() if meters < pairs["radius"] - 1e-3}
        most = {key for key, meters in near.items() if meters <= pairs["leaveRadius"] + 1e-3}
        if not (least <= told.keys() <= most):
            return f"{sorted(told)} between {sorted(least)} and {sorted(most)}"
        return None


def difference(state, expected):
    wrong = {id_: (state.get(id_), expected.get(id_)) for id_ in state.keys() | expected.keys()
             if state.get(id_) != expected.get(id_)}
    return f"of {len(expected)}, told and true: {json.dumps(dict(sorted(wrong.items())[:4]))}"


# The run

class Run:
    def __init__(self, arguments, served):
        self.randomness = random.Random(arguments.seed)
        self.counts = collections.Counter()
        self.service = served
        self.watchers = [Watcher(self.counts) for _ in range(arguments.clients)]
        for watcher in self.watchers:
            watcher.watches = [watch(self.randomness) for _ in range(self.randomness.randrange(1, 12))]
        self.copy = None
        self.expiring = {}

    def begin(self):
        self.service.start()
        self.writers = [Client(self.service.port) for _ in range(3)]
        self.reader = Client(self.service.port)
        for watcher in self.watchers:
            watcher.connect(self.service.port)

    def end(self, number):
        for client in [*self.writers, self.reader]:
            client.close()
        for watcher in self.watchers:
            watcher.disconnect()
        self.service.stop(number)

    def write(self):
        """Writes on all connections at once; some watchers read meanwhile, others do not."""
        pending = []
        for _ in range(self.randomness.choice([5, 50, 400])):
            writer = self.randomness.choice(self.writers)
            method, params = write(self.randomness)
            self.note_expiry(params)
            pending.append((writer, writer.send(method, params)))
            if len(pending) == 60:
                self.answer(pending)
            if self.randomness.random() < 0.1:
                client = self.randomness.choice(self.watchers).client
                if client:
                    client.drain()
        self.answer(pending)

    def note_expiry(self, params):
        if "expiresAt" in params:
            name = params["bucket"], params["id"]
            self.expiring[name] = max(self.expiring.get(name, 0), params["expiresAt"])

    def answer(self, pending):
        for writer, number in pending:
            answer = writer.answer(number)
            code = answer.get("error", {}).get("data", {}).get("errorCode")
            if code not in (None, "OBJECT_NOT_FOUND", "BUCKET_NOT_FOUND"):
                raise Failure(answer)
            self.counts["writes"] += 1
        pending.clear()

    def change(self):
        """Something other than writes."""
        watcher = self.randomness.choice(self.watchers)
        draw = self.randomness.random()
        if draw < 0.3:
            watcher.disconnect()
            self.write()
            watcher.connect(self.service.port)
        elif draw < 0.4:
            watcher.watches.append(watch(self.randomness))
            watcher.start(watcher.watches[-1])
        elif draw < 0.5 and len(watcher.watches) > 1:
            watcher.stop(self.randomness.choice(watcher.watches))
        elif draw < 0.65:
            for each in watcher.watches:
                if each.kind == "set":
                    each.params["bucketQuery"] = {"clause": clause(self.randomness)}
                    watcher.client.call("watch.move", {"watch": each.name, "bucketQuery": each.params["bucketQuery"]})
                    self.counts["moves"] += 1
        elif draw < 0.75:
            self.end(signal.SIGKILL if self.randomness.random() < 0.7 else signal.SIGTERM)
            self.counts["restarts"] += 1
            self.begin()
        elif draw < 0.8 and self.service.can_restore:
            self.copy = self.service.backup()
        elif draw < 0.85 and self.copy:
            self.end(signal.SIGTERM)
            self.service.restore(self.copy)
            self.counts["restores"] += 1
            self.begin()

    def compare(self):
        comparison = Comparison(self.reader, self.expiring)
        for watcher in self.watchers:
            for each in watcher.watches:
                for attempt in range(4):
                    watcher.client.call("watch.sync", {"watch": each.name})
                    fault = comparison.fault(each)
                    # Where objects expire meanwhile, what is wrong has to stay wrong.
                    if not fault or not comparison.may_expire():
                        break
                    self.counts["repeated comparisons"] += 1
                    time.sleep(0.05 * attempt)
                if fault:
                    raise Failure(f"{each.kind} {each.name} {json.dumps(each.params)}: {fault}")
                self.counts["comparisons"] += 1

    def run(self, rounds):
        self.begin()
        for self.round in range(rounds):
            self.write()
            self.change()
            self.compare()
        self.end(signal.SIGTERM)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=0)
    service.add_option(parser)
    arguments = parser.parse_args()
    print(f"watch: seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if arguments.nodes:
            server = stack.enter_context(postgres.serving())
            served = Nodes(arguments.geobucket, folder, server, arguments.nodes, random.Random(-arguments.seed))
        else:
            served = Service(arguments.geobucket, folder)
        stack.callback(served.end)
        run = Run(arguments, served)
        try:
            run.run(arguments.rounds)
            served.check()
        except (Failure, OSError) as failure:
            sys.exit(f"watch: seed {arguments.seed}, round {run.round}: {failure}")
    print("watch: " + ", ".join(f"{name} {count}" for name, count in sorted(run.counts.items())))


if __name__ == "__main__":
    main()
