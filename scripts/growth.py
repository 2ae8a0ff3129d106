#!/usr/bin/env python3
"""Does one thing over and over, thing by thing, each against a service of its own. None may come to cost more of the
service's processor time the more often it is done: the line through the cost of a request in ten rounds, by the median
of the slopes between each two of them, may rise by three tenths. What rises more is done again, four times as often.

    scripts/growth.py [--only NAME] [--steps 60000] [--seed 1] [--geobucket .build/release/geobucket]
"""
import argparse, json, os, random, socket, statistics, sys, tempfile, time

import service, wire

BUCKET = "growing"
# The first rounds warm the service up, and are not judged.
WARM, ROUNDS = 2, 10
FACTOR = 1.3


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
    """The service's processor time of a request in each round, in microseconds."""
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
    count = steps // (WARM + ROUNDS)
    for first in range(0, steps, count):
        requests = 0
        for begin in range(first, first + count, 250):
            requests += len(client.call([request for n in range(begin, begin + 250) for request in step(n)]))
        before, used = used, client.call([("server.stats", {})])[0]["cpuSeconds"]
        found.append((used - before) / requests * 1e6)
    return found[WARM:]


def growth(costs):
    """How many times as much the last of the costs is as the first, by a line that few of them do not move (Theil and
    Sen): background work falls into some rounds and not into others."""
    slope = statistics.median((later - earlier) / (m - n) for m, later in enumerate(costs)
                              for n, earlier in enumerate(costs[:m]))
    start = statistics.median(cost - slope * n for n, cost in enumerate(costs))
    return (start + slope * (len(costs) - 1)) / max(start, 0.01)


def is_dearer(name, options, steps):
    """Whether a thing came to cost more, on a service of its own."""
    objects, flags = FIRST.get(name, (0, []))
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store.sqlite")
        with service.serving(options.geobucket, store, "--log-level", "error", *flags) as ports:
            found = costs(name, ports["ready"], Things(options.seed), objects, steps)
    print(f"{name:18} us of processor time a request: " + " ".join(f"{cost:.1f}" for cost in found)
          + f"; {growth(found):.2f} times at the end", flush=True)
    return growth(found) > FACTOR


def main():
    names = [name for name in vars(Things) if not name.startswith("_") and name != "place"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    service.add_option(parser)
    options = parser.parse_args()
    if options.steps % (250 * (WARM + ROUNDS)):
        parser.error(f"--steps has to be a multiple of {250 * (WARM + ROUNDS)}")
    dearer = []
    for name in [options.only] if options.only else names:
        # What only seems to grow, because of what else the machine does, does not do so four times as long too.
        if is_dearer(name, options, options.steps) and is_dearer(name, options, 4 * options.steps):
            dearer.append(name)
    if dearer:
        sys.exit(f"growth: seed {options.seed}: what is done often comes to cost more: {', '.join(dearer)}")
    print(f"growth: seed {options.seed}: nothing comes to cost more")


if __name__ == "__main__":
    main()
