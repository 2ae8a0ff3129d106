#!/usr/bin/env python3
"""Reads, moves, inserts and deletes for as long as it is told; then the store has to check clean and
memory must not have grown.

    scripts/soak.py [--minutes 10] [--objects 100000] [--seed 1] [--geobucket .build/release/geobucket]
"""
import argparse, json, os, random, socket, sys, tempfile, time

import service

CATEGORIES = 20


class Client:
    """One connection that sends many requests ahead of their answers."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def call(self, requests, tolerated=()):
        lines = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for n, (m, p) in enumerate(requests)]
        self.socket.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
        results = []
        for line in lines:
            answer = json.loads(self.lines.readline())
            error = answer.get("error")
            if error and error["data"]["errorCode"] not in tolerated:
                sys.exit(f"soak: {line} was answered by {error}")
            results.append(answer.get("result"))
        return results


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

    def read(self):
        circle = {"type": "geodistance", "field": "location", "center": self.place(),
                  "radius": self.random.uniform(1_000, 50_000), "putDistanceInto": "d"}
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
            soak(Client(port), Client(port), Fleet(options.seed, options.objects), options.minutes)
        service.check(options.geobucket, store)


def soak(writer, reader, fleet, minutes):
    ids = list(fleet.alive)
    for first in range(0, len(ids), 500):
        batch = [{"_id": name, **fleet.document()} for name in ids[first:first + 500]]
        writer.call([("object.putMany", {"bucket": "fleet", "objects": batch})])
    start, samples, writes, reads = time.monotonic(), [], 0, 0
    while time.monotonic() - start < minutes * 60:
        writer.call([fleet.write() for _ in range(200)])
        reader.call([fleet.read() for _ in range(100)])
        writes, reads = writes + 200, reads + 100
        share = (time.monotonic() - start) / (minutes * 60)
        if share * 20 >= len(samples) + 1:
            stats = reader.call([("server.stats", {})])[0]
            samples.append(stats["memory"]["residentBytes"])
            print(f"{share:4.0%}  {writes} writes, {reads} reads, {samples[-1] >> 20} MiB resident, "
                  f"{stats['objects']} objects", file=sys.stderr)
    expected = len(fleet.alive)
    if stats["objects"] not in range(expected - 400, expected + 400):
        sys.exit(f"soak: {stats['objects']} objects, {expected} expected")
    middle, end = max(samples[:len(samples) // 2]), max(samples[-3:])
    if end > middle * 1.15:
        sys.exit(f"soak: memory grew from {middle >> 20} to {end >> 20} MiB in the second half")
    print(f"{writes} writes and {reads} reads in {minutes:g} minutes; {middle >> 20} MiB resident in the first "
          f"half at most, {end >> 20} MiB at the end")


main()
