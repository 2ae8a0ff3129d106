#!/usr/bin/env python3
"""Does one thing over and over, thing by thing, each against a service of its own. None may come to cost more of the
service's processor time the more often it is done.

    scripts/growth.py [--only NAME] [--steps 60000] [--seed 1] [--geobucket .build/release/geobucket]
"""
import argparse, json, os, random, socket, sys, tempfile, time

import service, wire

BUCKET = "growing"
ROUNDS = 12
# A round may cost this much more than an early one: background work falls into some rounds and not into others.
FACTOR, SLACK_SECONDS = 2.5, 0.1


def point(latitude, longitude):
    return {"_type": "point", "lat": latitude, "lon": longitude}


def put(name, document, bucket=BUCKET, **more):
    return "object.put", {"bucket": bucket, "id": name, "object": document, **more}


def delete(name):
    return "object.delete", {"bucket": BUCKET, "id": name}


class Things:
    """What can be done over and over: a method makes the requests of one step. What has to be there first is in `FIRST`."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def place(self):
        return point(round(self.random.uniform(-85, 85), 5), round(self.random.uniform(-180, 180), 5))

    def comes_and_goes(self, n):
        return [put("the-same-id", {"at": self.place()}), delete("the-same-id")]

    def turns_over(self, n):
        return [put(f"new-{n}", {"at": self.place()})] + ([delete(f"new-{n - 1000}")] if n >= 1000 else [])

    def new_documents(self, n):
        return [put(f"document-{n}", {"n": n, "text": "x" * (n % 200)})]

    def patches(self, n):
        return [("object.patch", {"bucket": BUCKET, "id": "thing-7", "object": {"n": n}})]

    def moves(self, n):
        return [("object.patch", {"bucket": BUCKET, "id": f"thing-{n % 5000}", "object": {"at": self.place()}})]

    def one_place(self, n):
        return [put(f"here-{n}", {"at": point(10, 10)})]

    def place_on_and_off(self, n):
        return [put(f"thing-{n % 500}", {"at": self.place()} if n // 500 % 2 else {"n": n})]

    def buckets(self, n):
        return [put("thing-1", {"n": n}, bucket=f"bucket-{n}")]

    def request_keys(self, n):
        return [put(f"thing-{n % 1000}", {"n": n}, requestKey=f"key-{n}")]

    def expiries(self, n):
        return [put(f"short-lived-{n % 2000}", {"n": n}, expiresAt=int(time.time() * 1000) + 500)]

    def new_values(self, n):
        clause = {"type": "eq", "field": "n", "value": n}
        count = [("bucket.count", {"bucket": BUCKET, "bucketQuery": {"clause": clause}})] if n % 50 == 0 else []
        return [put(f"thing-{n % 5000}", {"n": n, "at": point(1, 1)})] + count


MANY = 200_000
# How many objects there are first, and flags of the service.
FIRST = {"comes_and_goes": (MANY, []), "moves": (MANY, []), "turns_over": (20_000, []), "patches": (20_000, []),
         "new_values": (20_000, []), "place_on_and_off": (1_000, []),
         "new_documents": (0, ["--document-cache-bytes", "2000000"])}


def costs(name, port, things, objects, steps):
    """The service's processor time of each round, in seconds."""
    client = wire.PipelinedClient(port)
    for first in range(0, objects, 1000):
        batch = [{"_id": f"thing-{n}", "at": things.place(), "n": n} for n in range(first, min(first + 1000, objects))]
        client.call([("object.putMany", {"bucket": BUCKET, "objects": batch})])
    if name == "patches":
        # One who exports a state and does not read it keeps it alive.
        stalled = socket.create_connection(("127.0.0.1", port))
        export = {"jsonrpc": "2.0", "id": 1, "method": "bucket.export", "params": {"bucket": BUCKET}}
        stalled.sendall(json.dumps(export).encode() + b"\n")
    found, used, step = [], client.call([("server.stats", {})])[0]["cpuSeconds"], getattr(things, name)
    for first in range(0, steps, steps // ROUNDS):
        for begin in range(first, first + steps // ROUNDS, 250):
            client.call([request for n in range(begin, begin + 250) for request in step(n)])
        before, used = used, client.call([("server.stats", {})])[0]["cpuSeconds"]
        found.append(used - before)
    return found


def main():
    names = [name for name in vars(Things) if not name.startswith("_") and name != "place"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    service.add_option(parser)
    options = parser.parse_args()
    if options.steps % (250 * ROUNDS):
        parser.error(f"--steps has to be a multiple of {250 * ROUNDS}")
    dearer = []
    for name in [options.only] if options.only else names:
        objects, flags = FIRST.get(name, (0, []))
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "store.sqlite")
            with service.serving(options.geobucket, store, *flags) as ports:
                found = costs(name, ports["ready"], Things(options.seed), objects, options.steps)
        print(f"{name:18} seconds of processor time: " + " ".join(f"{cost:.2f}" for cost in found), flush=True)
        if min(found[-3:]) > FACTOR * min(found[:3]) + SLACK_SECONDS:
            dearer.append(name)
    if dearer:
        sys.exit(f"growth: seed {options.seed}: what is done often comes to cost more: {', '.join(dearer)}")
    print(f"growth: seed {options.seed}: nothing comes to cost more")


if __name__ == "__main__":
    main()
