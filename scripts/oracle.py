#!/usr/bin/env python3
"""A bucket as large as real ones, and every answer about it compared with what looking at all objects
gives: circles, boxes over the 180th meridian, walks to the end of a nearest-first list, attributes with
values missing, unions, counts; then again after moves and deletions, and after a restart.

    scripts/oracle.py [--objects 1000000] [--queries 60] [--seed 1] [--geobucket .build/release/geobucket]
"""
import argparse, json, math, os, random, signal, socket, subprocess, sys, tempfile, time
from bisect import bisect_left, bisect_right

CATEGORIES = 20
RADIUS = 6_371_000
# Metres by which two computations of one distance may differ, one micrometre of rounding included.
TOLERANCE = 3e-6


class Objects:
    """What is stored: by number, in the order of creation."""

    def __init__(self, count, seed):
        self.random = random.Random(seed)
        self.centers = [(self.random.uniform(-60, 75), self.random.uniform(-180, 180)) for _ in range(500)]
        self.places = []
        for _ in range(count):
            self.places.append(self.place())
        self.category = [self.random.randrange(CATEGORIES) for _ in range(count)]
        # One in ten has no rating, and one in a hundred a text for one.
        self.rating = [None if (kind := self.random.random()) < 0.1 else "none" if kind < 0.11 else
                       self.random.randrange(101) for _ in range(count)]

    def place(self):
        kind = self.random.random()
        if kind < 0.1 and self.places and (one := self.random.choice(self.places)):
            return one  # just where another is
        if kind < 0.15:
            return self.random.choice([90.0, -90.0, 0.0, 45.0]), self.random.choice([180.0, -180.0, 0.0, 179.9999])
        if kind < 0.35:
            return round(math.degrees(math.asin(self.random.uniform(-1, 1))), 6), round(self.random.uniform(-180, 180), 6)
        latitude, longitude = self.random.choice(self.centers)
        latitude = max(-90, min(90, latitude + self.random.gauss(0, 0.3)))
        return round(latitude, 6), round((longitude + self.random.gauss(0, 0.3) + 180) % 360 - 180, 6)

    def document(self, n):
        document = {"_id": f"object-{n}", "category": f"c{self.category[n]}", "location": point(self.places[n])}
        if self.rating[n] is not None:
            document["rating"] = self.rating[n]
        return document

    def index(self):
        """For the queries: the places by latitude."""
        self.order = sorted((place[0], n) for n, place in enumerate(self.places) if place)
        self.latitudes = [latitude for latitude, _ in self.order]

    def between(self, south, north):
        for _, n in self.order[bisect_left(self.latitudes, south):bisect_right(self.latitudes, north)]:
            yield n


def point(place):
    return {"_type": "point", "lat": place[0], "lon": place[1]}


def distance(a, b):
    """The haversine of the spec, in metres."""
    p, q = math.radians(a[0]), math.radians(b[0])
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin(math.radians(b[1] - a[1]) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(min(1, h)))


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def send(self, method, params):
        self.socket.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")

    def receive(self):
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            sys.exit(f"oracle: {answer}")
        return answer["result"]

    def call(self, method, params):
        self.send(method, params)
        return self.receive()

    def write(self, method, lines):
        """Some hundred writes ahead of their answers."""
        ahead = 0
        for params in lines:
            self.send(method, params)
            ahead += 1
            if ahead == 8:
                self.receive()
                ahead -= 1
        for _ in range(ahead):
            self.receive()

    def walk(self, query, limit=200, **more):
        found, key = [], None
        while True:
            page = self.call("bucket.query", {"bucket": "places", "bucketQuery": query, "bestEffortLimit": limit,
                                              **more, **({"paginationKey": key} if key else {})})
            found += page["results"]
            key = page.get("nextPaginationKey")
            if not key:
                return found


def number(result):
    return int(result["_id"].split("-")[1])


class Check:
    def __init__(self, client, objects):
        self.client, self.objects, self.random, self.faults = client, objects, random.Random(99), 0

    def fault(self, query, text):
        self.faults += 1
        print(f"oracle: {text}: {json.dumps(query)}", file=sys.stderr)

    def center(self):
        kind = self.random.random()
        if kind < 0.2:
            return self.random.choice([(90.0, 0.0), (-90.0, 77.0), (0.0, 180.0), (45.0, -180.0), (89.9, 10.0), (0.0, 0.0)])
        return next(p for p in iter(lambda: self.random.choice(self.objects.places), 0) if p)

    def circle(self, meters=None):
        center = self.center()
        clause = {"type": "geodistance", "field": "location", "center": point(center), "putDistanceInto": "d"}
        if meters is not None:
            clause["radius"] = meters
        return center, clause

    def measured(self, center, meters, accepts=lambda n: True):
        """(distance, number) of those within a circle and its edge, by distance and creation."""
        band = math.degrees(meters / RADIUS) + 1e-6
        places = self.objects.places
        near = ((distance(center, places[n]), n) for n in self.objects.between(center[0] - band, center[0] + band)
                if accepts(n))
        return sorted(one for one in near if one[0] <= meters + TOLERANCE)

    def compare(self, query, found, expected, meters, ordered):
        """Found is right if it has the expected ones, but for those at the very edge."""
        by_number = {n: d for d, n in expected}
        numbers = [number(result) for result in found]
        if len(set(numbers)) != len(numbers):
            return self.fault(query, "an object twice")
        for result, n in zip(found, numbers):
            if n not in by_number or abs(by_number[n] - result["_calculated"]["d"]) > TOLERANCE:
                return self.fault(query, f"object {n} is not within, or its distance is wrong")
        left = [n for n in by_number if by_number[n] < meters - TOLERANCE and n not in set(numbers)]
        if left:
            return self.fault(query, f"{len(left)} of {len(expected)} are not found, such as {left[0]}")
        keys = [(result["_calculated"]["d"] if ordered else 0, n) for result, n in zip(found, numbers)]
        if keys != sorted(keys):
            self.fault(query, "not in order")

    def in_circle(self):
        meters = self.random.choice([1, 500, 5_000, 30_000, 300_000])
        center, clause = self.circle(meters)
        ordered = self.random.random() < 0.5
        query = {"clause": clause, **({"orderBy": "_calculated.d"} if ordered else {})}
        self.compare(query, self.client.walk(query, fields=[]), self.measured(center, meters), meters, ordered)

    def matching(self):
        meters, kind = self.random.choice([5_000, 50_000, 500_000]), self.random.randrange(CATEGORIES)
        center, clause = self.circle(meters)
        rating = {"type": "range", "field": "rating", "lowerLimit": 50}
        rates = lambda n: isinstance(self.objects.rating[n], int) and self.objects.rating[n] >= 50
        if self.random.random() < 0.5:  # what is missing is neither
            rating = {"type": "not", "clause": rating}
            rates = lambda n: isinstance(self.objects.rating[n], int) and self.objects.rating[n] < 50
        accepts = lambda n: self.objects.category[n] == kind and rates(n)
        clause = {"type": "and", "clauses": [clause, {"type": "eq", "field": "category", "value": f"c{kind}"}, rating]}
        query = {"clause": clause, "orderBy": "_calculated.d"}
        expected = self.measured(center, meters, accepts)
        self.compare(query, self.client.walk(query, fields=[]), expected, meters, True)
        self.count(clause, len(expected), sum(meters - d < TOLERANCE for d, _ in expected))

    def count(self, clause, expected, unsure=0):
        found = self.client.call("bucket.count", {"bucket": "places", "bucketQuery": {"clause": clause}})["count"]
        if not expected - unsure <= found <= expected:
            self.fault(clause, f"counted {found}, not {expected}")

    def nearest(self):
        center, clause = self.circle()
        query = {"clause": clause, "orderBy": "_calculated.d"}
        found = self.client.call("bucket.query", {"bucket": "places", "bucketQuery": query, "bestEffortLimit": 150,
                                                  "fields": []})["results"]
        meters = found[-1]["_calculated"]["d"]
        self.compare(query, found, self.measured(center, meters), meters, True)

    def in_box(self):
        south, west = sorted(self.center() for _ in range(2))[0]
        north, east = min(90, south + self.random.choice([0, 0.01, 0.5, 5])), west + self.random.choice([0, 0.01, 1, 20])
        east -= 360 if east > 180 else 0
        clause = {"type": "geobox", "field": "location", "box": {"sw": point((south, west)), "ne": point((north, east))}}
        inside = lambda x: west <= x <= east if west <= east else x >= west or x <= east
        # 180 and -180 are one meridian.
        within = lambda x: inside(x) or abs(x) == 180 and (inside(180) or inside(-180))
        expected = sorted(n for n in self.objects.between(south, north) if within(self.objects.places[n][1]))
        found = [number(result) for result in self.client.walk({"clause": clause}, fields=[])]
        if found != expected:
            self.fault(clause, f"{len(found)} in the box, not {len(expected)}")

    def either(self):
        (a, first), (b, second) = self.circle(20_000), self.circle(40_000)
        del first["putDistanceInto"], second["putDistanceInto"]
        clause = {"type": "or", "clauses": [first, second]}
        near = dict((n, d - 20_000) for d, n in self.measured(a, 20_000))
        for d, n in self.measured(b, 40_000):
            near[n] = min(near.get(n, 1), d - 40_000)
        self.count(clause, len(near), sum(abs(d) < TOLERANCE for d in near.values()))

    def best_rated(self):
        kind = self.random.randrange(CATEGORIES)
        query = {"clause": {"type": "eq", "field": "category", "value": f"c{kind}"}, "orderBy": "rating", "descending": True}
        found = self.client.call("bucket.query", {"bucket": "places", "bucketQuery": query, "bestEffortLimit": 50})["results"]
        # Texts come behind numbers, so they are first when it descends.
        rank = lambda r: (0, 0) if r == "none" else (1, -r) if r is not None else (2, 0)
        expected = sorted((rank(self.objects.rating[n]), n) for n, place in enumerate(self.objects.places)
                          if place and self.objects.category[n] == kind)[:50]
        if [number(result) for result in found] != [n for _, n in expected]:
            self.fault(query, "the best rated are others")

    def run(self, queries):
        self.objects.index()
        kinds = [self.in_circle, self.matching, self.nearest, self.in_box, self.either, self.best_rated]
        for n in range(queries):
            kinds[n % len(kinds)]()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=60, help="in each of three rounds (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--geobucket", default=".build/release/geobucket")
    options = parser.parse_args()
    objects, faults = Objects(options.objects, options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store.sqlite")
        for rounds in [("stored", "moved"), ("restarted",)]:
            # Looking at every document of a bucket without columns may take long here.
            service = subprocess.Popen([options.geobucket, "serve", "--listen", "127.0.0.1:0", "--store", store,
                                        "--query-milliseconds", "600000"], stdout=subprocess.PIPE, text=True)
            try:
                client = Client(int(service.stdout.readline().rsplit(":", 1)[1]))
                for name in rounds:
                    change(client, objects, name)
                    start, check = time.monotonic(), Check(client, objects)
                    check.run(options.queries)
                    faults += check.faults
                    print(f"{name}: {options.queries} queries, {check.faults} faults, "
                          f"{time.monotonic() - start:.0f} s", file=sys.stderr)
            finally:
                service.send_signal(signal.SIGTERM)
                faults += service.wait(timeout=60) != 0
        faults += subprocess.run([options.geobucket, "check", "--store", store]).returncode != 0
    print(f"oracle: {options.objects} objects, seed {options.seed}, {faults} faults")
    sys.exit(faults != 0)


def change(client, objects, name):
    count = len(objects.places)
    if name == "stored":
        client.write("object.putMany", ({"bucket": "places", "objects": [
            objects.document(n) for n in range(first, min(first + 1_000, count))]} for first in range(0, count, 1_000)))
    if name == "moved":
        moved = objects.random.sample(range(count), count // 20)
        for n in moved:
            objects.places[n] = objects.place()
        client.write("object.putMany", ({"bucket": "places", "objects": [objects.document(n) for n in moved[first:first + 1_000]]}
                                        for first in range(0, len(moved), 1_000)))
        gone = objects.random.sample(range(count), count // 50)
        client.write("object.delete", ({"bucket": "places", "id": f"object-{n}"} for n in gone))
        for n in gone:
            objects.places[n] = None


main()
