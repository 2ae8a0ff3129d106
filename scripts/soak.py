#!/usr/bin/env python3
"""Reads, moves, inserts, deletes and watches for as long as it is told; then the store has to check clean, neither
memory nor the processor time of a request may have grown, and every watch has to have been told to the end.

    scripts/soak.py [--minutes 10] [--objects 100000] [--seed 1] [--geobucket .build/release/geobucket]
"""
import argparse, json, os, random, socket, statistics, sys, tempfile, threading, time

import service, wire

CATEGORIES = 20


class Watcher(threading.Thread):
    """Watches clauses, and counts the events that it is told."""

    def __init__(self, port, clauses):
        super().__init__(daemon=True)
        self.connection, self.events, self.fault = socket.create_connection(("127.0.0.1", port)), 0, None
        self.names, self.present, self.changed = [], 0, threading.Condition()
        self.count = len(clauses)
        self.send([("watch.start", {"bucket": "fleet", "bucketQuery": {"clause": clause}, "fields": []})
                   for clause in clauses])

    def send(self, requests):
        lines = [{"jsonrpc": "2.0", "id": n, "method": method, "params": params}
                 for n, (method, params) in enumerate(requests)]
        self.connection.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())

    def run(self):
        try:
            for line in self.connection.makefile("rb", 1 << 20):
                self.told(json.loads(line))
            self.fault = self.fault or "nothing more: its connection was closed"
        except OSError as error:
            self.fault = self.fault or f"nothing more: {error}"
        with self.changed:
            self.changed.notify()

    def told(self, message):
        if "error" in message or message.get("method") == "watch.end":
            self.fault = message
        self.events += len(message.get("params", {}).get("events", []))
        with self.changed:
            if "watch" in message.get("result", {}):
                self.names.append(message["result"]["watch"])
            elif "result" in message:
                self.present += 1
            self.changed.notify()

    def finish(self, seconds=60):
        """Waits until each watch has been told of everything; what is wrong with what it was told, or None."""
        if self.fault is None:
            self.send([("watch.sync", {"watch": name}) for name in self.names])
            with self.changed:
                self.changed.wait_for(lambda: self.fault or self.present == self.count, timeout=seconds)
        if self.fault is None and self.present < self.count:
            return f"all there is of {self.present} watches, of {self.count}"
        return self.fault or ("nothing" if self.events == 0 else None)


class Fleet:
    """Objects around some hundred centres: what is there, and how it changes."""

    def __init__(self, seed, count):
        self.random = random.Random(seed)
        self.centers = [(self.random.uniform(-60, 75), self.random.uniform(-180, 180)) for _ in range(200)]
        self.alive = [f"object-{n}" for n in range(count)]
        self.next = count

    def place(self):
        latitude, longitude = self.random.choice(self.centers)
        latitude = max(-90, min(90, latitude + self.random.gauss(0, 0.3)))
        longitude = (longitude + self.random.gauss(0, 0.3) + 180) % 360 - 180
        return {"_type": "point", "lat": round(latitude, 6), "lon": round(longitude, 6)}

    def document(self):
        return {"category": f"c{self.random.randrange(CATEGORIES)}", "rating": self.random.randrange(101),
                "name": f"Name {self.random.randrange(1 << 40)}", "location": self.place()}

    def write(self):
        kind = self.random.random()
        slot = self.random.randrange(len(self.alive))
        if kind < 0.8:
            return "object.patch", {"bucket": "fleet", "id": self.alive[slot], "object": {"location": self.place()}}
        if kind < 0.9:
            return "object.put", {"bucket": "fleet", "id": self.alive[slot], "object": self.document()}
        if kind < 0.95:
            gone, self.alive[slot] = self.alive[slot], self.alive[-1]
            self.alive.pop()
            return "object.delete", {"bucket": "fleet", "id": gone}
        self.alive.append(f"object-{self.next}")
        self.next += 1
        return "object.put", {"bucket": "fleet", "id": self.alive[-1], "object": self.document()}

    def circle(self, longest=50_000):
        return {"type": "geodistance", "field": "location", "center": self.place(),
                "radius": self.random.uniform(1_000, longest), "putDistanceInto": "d"}

    def read(self):
        circle = self.circle()
        category = {"type": "eq", "field": "category", "value": f"c{self.random.randrange(CATEGORIES)}"}
        rating = {"type": "range", "field": "rating", "lowerLimit": 50}
        both = {"type": "and", "clauses": [circle, category, rating]}
        query, more = self.random.choice([
            ({"clause": circle}, {"fields": []}),
            ({"clause": circle, "orderBy": "_calculated.d"}, {"bestEffortLimit": 50}),
            ({"clause": both, "orderBy": "_calculated.d"}, {"bestEffortLimit": 20}),
            ({"clause": category, "orderBy": "rating", "descending": True}, {"bestEffortLimit": 20})])
        return "bucket.query", {"bucket": "fleet", "bucketQuery": query, **more}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    service.add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store.sqlite")
        with service.serving(options.geobucket, store) as ports:
            port = ports["ready"]
            soak(port, Fleet(options.seed, options.objects), options.minutes)
        service.check(options.geobucket, store)


def soak(port, fleet, minutes):
    writer, reader = wire.PipelinedClient(port), wire.PipelinedClient(port)
    ids = list(fleet.alive)
    for first in range(0, len(ids), 500):
        batch = [{"_id": name, **fleet.document()} for name in ids[first:first + 500]]
        writer.call([("object.putMany", {"bucket": "fleet", "objects": batch})])
    watcher = Watcher(port, [fleet.circle(10_000) for _ in range(100)])
    watcher.start()
    start, memory, costs, requests = time.monotonic(), [], [], 0
    stats, counted = reader.call([("server.stats", {})])[0], 0
    while time.monotonic() - start < minutes * 60:
        # Small groups, for many transactions.
        for _ in range(10):
            writer.call([fleet.write() for _ in range(20)])
        reader.call([fleet.read() for _ in range(100)])
        requests += 300
        share = (time.monotonic() - start) / (minutes * 60)
        if share * 20 >= len(memory) + 1:
            before, stats = stats, reader.call([("server.stats", {})])[0]
            memory.append(stats["memory"]["residentBytes"])
            costs.append((stats["cpuSeconds"] - before["cpuSeconds"]) / (requests - counted) * 1e6)
            counted = requests
            print(f"{share:4.0%}  {requests} requests, two in three writes, {costs[-1]:.0f} us of processor time each, "
                  f"{watcher.events} events, {memory[-1] >> 20} MiB resident, {stats['objects']} objects", file=sys.stderr)
    expected = len(fleet.alive)
    if stats["objects"] not in range(expected - 400, expected + 400):
        sys.exit(f"soak: {stats['objects']} objects, {expected} expected")
    if wrong := watcher.finish():
        sys.exit(f"soak: the watches were told {wrong}")
    print(f"{requests} requests, two in three writes, and {watcher.events} events in {minutes:g} minutes; "
          + judged(memory, costs))


def judged(memory, costs):
    """What the memory and the processor time of requests came to; they must not have grown."""
    if len(memory) < 10:
        sys.exit(f"soak: only {len(memory)} of 20 parts of the time were measured; give it more --minutes or fewer --objects")
    half = len(memory) // 2
    middle, end = max(memory[:half]), max(memory[-3:])
    if end > middle * 1.15:
        sys.exit(f"soak: memory grew from {middle >> 20} to {end >> 20} MiB in the second half")
    if min(costs[-3:]) > 2 * min(costs[:half]):
        sys.exit(f"soak: a request took {min(costs[:half]):.0f} us of processor time in the first half at least, and "
                 f"{min(costs[-3:]):.0f} at the end")
    return (f"{middle >> 20} MiB resident in the first half at most, {end >> 20} MiB at the end; "
            f"{statistics.median(costs):.0f} us of processor time a request")


if __name__ == "__main__":
    main()
