#!/usr/bin/env python3
"""A bucket as large as real ones, and every answer about it compared with what looking at all objects
gives: circles, corridors along lines, boxes over the 180th meridian, walks to the end of a nearest-first list, each of
fields with one place and with several; attributes with values missing, unions, counts, aggregations in exact
arithmetic; then again after moves and deletions, and after a restart.

    scripts/oracle.py [--objects 1000000] [--queries 60] [--seed 1] [--geobucket .build/release/geobucket]
                      [--nodes 3 | --servers HOST:PORT,HOST:PORT,…]

With --nodes it asks that many nodes over one PostgreSQL: what is written at the first is read at any of them, each page
of a walk at another. --servers are nodes that run already, without a bucket `places`; these are not restarted.
"""
import argparse, contextlib, json, math, os, pathlib, random, socket, sys, tempfile, time

import postgres, service
from cluster_nodes import Node
from oracle_objects import (BEYOND, CATEGORIES, RADIUS, TOLERANCE, Line, Objects, aggregate, distance, point, same)


class Connection:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port))
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

    def answer(self, method, params):
        """With what may be an error."""
        self.send(method, params)
        return json.loads(self.lines.readline())


class Client:
    """Writes at the first of some servers, and reads at any of them."""

    def __init__(self, addresses):
        self.connections, self.random = [Connection(*address) for address in addresses], random.Random(7)

    def call(self, method, params):
        return self.random.choice(self.connections).call(method, params)

    def answer(self, method, params):
        return self.random.choice(self.connections).answer(method, params)

    def write(self, method, lines):
        """Some writes ahead of their answers."""
        first, ahead = self.connections[0], 0
        for params in lines:
            first.send(method, params)
            ahead += 1
            if ahead == 8:
                first.receive()
                ahead -= 1
        for _ in range(ahead):
            first.receive()

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

    def field(self):
        return self.random.choice(["location", "stops"])

    def circle(self, field="location", meters=None):
        center = self.center()
        clause = {"type": "geodistance", "field": field, "center": point(center), "putDistanceInto": "d"}
        if meters is not None:
            clause["radius"] = meters
        return center, clause

    def measured(self, field, center, meters, accepts=lambda n: True):
        """(distance, number) of those within a circle and its edge, by distance and creation."""
        band = math.degrees(meters / RADIUS) + 1e-6
        least = {}
        for n, place in self.objects.between(field, center[0] - band, center[0] + band):
            meters_away = distance(center, place)
            if meters_away <= meters + TOLERANCE and accepts(n):
                least[n] = min(meters_away, least.get(n, math.inf))
        return sorted((d, n) for n, d in least.items())

    def compare(self, query, found, expected, meters, ordered):
        """Found is right if it has the expected ones, but for those at the very edge."""
        by_number = {n: d for d, n in expected}
        numbers = [number(result) for result in found]
        if len(set(numbers)) != len(numbers):
            return self.fault(query, "an object twice")
        for result, n in zip(found, numbers):
            if n not in by_number or abs(by_number[n] - result["_calculated"]["d"]) > TOLERANCE:
                return self.fault(query, f"object {n} is not within, or its distance is wrong")
        left = set(n for n in by_number if by_number[n] < meters - TOLERANCE) - set(numbers)
        if left:
            return self.fault(query, f"{len(left)} of {len(expected)} are not found, such as {min(left)}")
        keys = [(result["_calculated"]["d"] if ordered else 0, n) for result, n in zip(found, numbers)]
        if keys != sorted(keys):
            self.fault(query, "not in order")

    def count(self, clause, expected, unsure=0):
        found = self.client.call("bucket.count", {"bucket": "places", "bucketQuery": {"clause": clause}})["count"]
        if not expected - unsure <= found <= expected:
            self.fault(clause, f"counted {found}, not {expected}")
        explained = {"bucket": "places", "bucketQuery": {"clause": clause}, "bestEffortLimit": 50, "analyze": True}
        for connection in self.client.connections:
            objects = connection.call("bucket.explain", explained)["analyze"]["objects"]
            if objects != min(50, found):
                self.fault(clause, f"{found} were counted, and the page that is explained has {objects}")

    # The kinds of queries.

    def in_circle(self):
        field, meters = self.field(), self.random.choice([1, 500, 5_000, 30_000, 300_000])
        center, clause = self.circle(field, meters)
        ordered = self.random.random() < 0.5
        query = {"clause": clause, **({"orderBy": "_calculated.d"} if ordered else {})}
        self.compare(query, self.client.walk(query, fields=[]), self.measured(field, center, meters), meters, ordered)

    def matching(self):
        meters, kind = self.random.choice([5_000, 50_000, 500_000]), self.random.randrange(CATEGORIES)
        center, clause = self.circle("location", meters)
        rating = {"type": "range", "field": "rating", "lowerLimit": 50}
        rates = lambda n: isinstance(self.objects.rating[n], int) and self.objects.rating[n] >= 50
        if self.random.random() < 0.5:  # what is missing is neither
            rating = {"type": "not", "clause": rating}
            rates = lambda n: isinstance(self.objects.rating[n], int) and self.objects.rating[n] < 50
        accepts = lambda n: self.objects.category[n] == kind and rates(n)
        clause = {"type": "and", "clauses": [clause, {"type": "eq", "field": "category", "value": f"c{kind}"}, rating]}
        query = {"clause": clause, "orderBy": "_calculated.d"}
        expected = self.measured("location", center, meters, accepts)
        self.compare(query, self.client.walk(query, fields=[]), expected, meters, True)
        self.count(clause, len(expected), sum(meters - d < TOLERANCE for d, _ in expected))

    def nearest(self):
        field = self.field()
        center, clause = self.circle(field)
        query = {"clause": clause, "orderBy": "_calculated.d"}
        found = self.client.call("bucket.query", {"bucket": "places", "bucketQuery": query, "bestEffortLimit": 150,
                                                  "fields": []})["results"]
        meters = found[-1]["_calculated"]["d"]
        self.compare(query, found, self.measured(field, center, meters), meters, True)

    def to_the_end(self):
        """Every object with stops, nearest first or farthest first, page by page."""
        center, clause = self.circle("stops")
        query = {"clause": clause, "orderBy": "_calculated.d", "descending": self.random.random() < 0.3}
        found = self.client.walk(query, self.random.choice([73, 200]), fields=[])
        expected = {n: min(distance(center, place) for place in all_of_it)
                    for n, all_of_it in self.objects.located["stops"].items()}
        told = [(result["_calculated"]["d"], number(result)) for result in found]
        if sorted(n for _, n in told) != sorted(expected):
            return self.fault(query, f"{len(told)} objects, not {len(expected)}, or one twice")
        for d, n in told:
            # The haversine is worst conditioned near the antipode.
            if abs(d - expected[n]) > (TOLERANCE if d < 2e7 else 1):
                return self.fault(query, f"object {n} is {expected[n]} m away, not {d}")
        if told != sorted(told, key=lambda one: (-one[0] if query["descending"] else one[0], one[1])):
            self.fault(query, "not in order")

    def box(self, field):
        """A clause, and the numbers of those within."""
        south, west = sorted(self.center() for _ in range(2))[0]
        north, east = min(90, south + self.random.choice([0, 0.01, 0.5, 5])), west + self.random.choice([0, 0.01, 1, 20])
        east -= 360 if east > 180 else 0
        clause = {"type": "geobox", "field": field, "box": {"sw": point((south, west)), "ne": point((north, east))}}
        inside = lambda x: west <= x <= east if west <= east else x >= west or x <= east
        # 180 and -180 are one meridian.
        within = lambda x: inside(x) or abs(x) == 180 and (inside(180) or inside(-180))
        return clause, {n for n, place in self.objects.between(field, south, north) if within(place[1])}

    def in_box(self):
        field = self.field()
        clause, within = self.box(field)
        found = [number(result) for result in self.client.walk({"clause": clause}, fields=[])]
        if found != sorted(within):
            self.fault(clause, f"{len(found)} in the box, not {len(within)}")
        # Where there is no place it is unknown.
        self.count({"type": "not", "clause": clause}, len(self.objects.located[field]) - len(within))

    def in_cells(self):
        kind, least = self.random.randrange(CATEGORIES), self.random.choice([0, 50, 90])
        clause = {"type": "and", "clauses": [{"type": "eq", "field": "category", "value": f"c{kind}"},
                                             {"type": "range", "field": "rating", "lowerLimit": least}]}
        rates = lambda n: isinstance(self.objects.rating[n], int) and self.objects.rating[n] >= least
        expected = {n for n, _ in self.objects.between("location", -90, 90) if self.objects.category[n] == kind and rates(n)}
        query = {"bucket": "places", "field": "location", "zoom": self.random.randrange(4), "bits": 0, "fields": [],
                 "bucketQuery": {"clause": clause}}
        found = self.client.call("bucket.clusters", query)
        counts = sum(cluster["count"] for cluster in found["clusters"])
        if not found["total"] == counts == len(expected):
            self.fault(query, f"{found['total']} in all, {counts} in cells, not {len(expected)}")

    def either(self):
        (a, first), (b, second) = self.circle(meters=20_000), self.circle(meters=40_000)
        del first["putDistanceInto"], second["putDistanceInto"]
        clause = {"type": "or", "clauses": [first, second]}
        near = dict((n, d - 20_000) for d, n in self.measured("location", a, 20_000))
        for d, n in self.measured("location", b, 40_000):
            near[n] = min(near.get(n, 1), d - 40_000)
        self.count(clause, len(near), sum(abs(d) < TOLERANCE for d in near.values()))

    def along(self):
        """In the order of a line: distances and places along it."""
        field, width, step = self.field(), self.random.choice([200, 5_000, 30_000]), self.random.choice([0.05, 0.3])
        start = next(p for p in iter(self.center, 0) if abs(p[0]) < 70 and abs(p[1]) < 170)
        positions = [start]
        for _ in range(self.random.randrange(1, 12)):
            positions.append(tuple(x + self.random.uniform(-step, step) for x in positions[-1]))
        line = Line(positions)
        clause = {"type": "geocorridor", "field": field, "width": width, "putDistanceInto": "d", "putAlongInto": "a",
                  "line": {"type": "LineString", "coordinates": [[lon, lat] for lat, lon in positions]}}
        query = {"clause": clause, "orderBy": "_calculated.a"}
        band = math.degrees(width / RADIUS) + 1e-3
        south, north = min(p[0] for p in positions) - band, max(p[0] for p in positions) + band
        near = {}
        for n, place in self.objects.between(field, south, north):
            if abs(place[1] - start[1]) < 8:  # lines are short, and far from the poles
                near.setdefault(n, []).extend(line.nearest(place))
        expected = {}
        for n, nearest in near.items():
            least = min(nearest)[0]
            if least <= width + TOLERANCE:
                expected[n] = least, [a for d, a in nearest if d <= least + TOLERANCE]
        found, order = self.client.walk(query, fields=[]), []
        for result in found:
            n, told = number(result), result["_calculated"]
            if n not in expected or abs(told["d"] - expected[n][0]) > TOLERANCE:
                return self.fault(query, f"object {n} is not beside the line, or its distance is wrong")
            if min(abs(told["a"] - a) for a in expected[n][1]) > 10 * TOLERANCE:
                return self.fault(query, f"object {n} is elsewhere along the line")
            order.append((told["a"], n))
        if order != sorted(order):
            return self.fault(query, "not in order")
        left = {n for n, (d, _) in expected.items() if d < width - TOLERANCE} - {n for _, n in order}
        if left or len(set(order)) != len(order):
            return self.fault(query, f"{len(left)} are not found")
        self.count(clause, len(expected), sum(width - d < TOLERANCE for d, _ in expected.values()))

    def aggregated(self):
        """Figures of all, of a category, of what lies in a box of either field, and of a circle."""
        kind = self.random.randrange(CATEGORIES)
        center, circle = self.circle(meters=self.random.choice([50_000, 500_000.5]))
        near = self.measured("location", center, circle["radius"])
        if any(circle["radius"] - d < TOLERANCE for d, _ in near):
            circle, near = {"type": "all"}, [(0, n) for n in self.objects.alive()]
        box, within = self.box(self.field())
        clause, numbers = self.random.choice([
            ({}, self.objects.alive()), (box, within), (circle, (n for _, n in near)),
            ({"type": "eq", "field": "category", "value": f"c{kind}"},
             (n for n in self.objects.alive() if self.objects.category[n] == kind))])
        numbers = list(numbers)
        asked = [{"type": "COUNT", "putAggregationInto": "a"}]
        for name in self.random.sample("bcdefghijklmnop", self.random.randrange(1, 9)):
            one = {"type": self.random.choice(["GROUP", "GROUP", "MIN", "MAX", "SUM", "AVG"]), "putAggregationInto": name,
                   "field": self.random.choice(["category", "rating", "price", "price", "location.lat", "stops", "nope"])}
            if one["type"] == "GROUP" and self.random.random() < 0.7:
                one["limit"] = self.random.choice([1, 10, 1_000])
            asked.append(one)
        query = {**({"clause": clause} if clause else {}), "aggregations": asked}
        expected = {one["putAggregationInto"]: aggregate(
            one, [self.objects.value(one["field"], n) for n in numbers] if "field" in one else numbers) for one in asked}
        answer = self.client.answer("bucket.query", {"bucket": "places", "bucketQuery": query})
        if BEYOND in expected.values():
            if answer.get("error", {}).get("data", {}).get("errorCode") != "QUERY_NOT_SUPPORTED":
                self.fault(query, "a sum beyond binary64 is answered")
        elif "error" in answer or answer["result"]["results"]:
            self.fault(query, f"answered by {str(answer)[:300]}")
        else:
            found = answer["result"]["aggregations"]
            for name, value in expected.items():
                if not same(found.get(name), value):
                    self.fault(query, f"{name} is {str(found.get(name))[:300]}, not {str(value)[:300]}")

    def best_rated(self):
        kind = self.random.randrange(CATEGORIES)
        query = {"clause": {"type": "eq", "field": "category", "value": f"c{kind}"}, "orderBy": "rating", "descending": True}
        found = self.client.call("bucket.query", {"bucket": "places", "bucketQuery": query, "bestEffortLimit": 50})["results"]
        # Texts come behind numbers, so they are first when it descends.
        rank = lambda r: (0, 0) if r == "none" else (1, -r) if r is not None else (2, 0)
        expected = sorted((rank(self.objects.rating[n]), n) for n in self.objects.alive()
                          if self.objects.category[n] == kind)[:50]
        if [number(result) for result in found] != [n for _, n in expected]:
            self.fault(query, "the best rated are others")

    def run(self, queries):
        self.objects.index()
        kinds = [self.in_circle, self.matching, self.nearest, self.in_box, self.aggregated, self.either, self.best_rated,
                 self.in_cells, self.along, self.to_the_end, self.aggregated]
        for n in range(queries):
            kinds[n % len(kinds)]()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=60, help="in each of three rounds (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--servers", type=lambda text: [
        (host, int(port)) for host, port in (one.rsplit(":", 1) for one in text.split(","))])
    service.add_option(parser)
    options = parser.parse_args()
    run = Run(options)
    if options.servers:
        run.rounds(options.servers, "stored", "moved")
    else:
        with tempfile.TemporaryDirectory(prefix="geobucket-oracle-") as folder:
            (with_nodes if options.nodes else embedded)(run, options, pathlib.Path(folder))
    print(f"oracle: {options.objects} objects, seed {options.seed}, {run.faults} faults")
    sys.exit(run.faults != 0)


# Looking at every document of a bucket without columns may take long here.
FLAGS = ["--query-milliseconds", "600000"]


def embedded(run, options, folder):
    store = os.path.join(folder, "store.sqlite")
    for rounds in [("stored", "moved"), ("restarted",)]:
        with service.serving(options.geobucket, store, *FLAGS) as ports:
            run.rounds([("127.0.0.1", ports["ready"])], *rounds)
    service.check(options.geobucket, store)


def with_nodes(run, options, folder):
    """The last node starts again without its cache."""
    with postgres.serving() as server, contextlib.ExitStack() as stack:
        nodes = [Node(number, options.geobucket, server, folder, FLAGS) for number in range(options.nodes)]
        for node in nodes:
            stack.callback(node.end)
        for rounds in [("stored", "moved"), ("restarted",)]:
            for node in nodes:
                node.start()
            for node in nodes:
                node.wait()
            run.rounds([(node.host, node.port) for node in nodes], *rounds)
            for node in nodes:
                if node.ask("store.check", seconds=600)["problemCount"]:
                    sys.exit(f"geobucket: node {node.number} does not check clean")
            for node in nodes:
                if (status := node.stop()) != 0:
                    sys.exit(f"geobucket: node {node.number} ended with {status}")
            nodes[-1].cache.unlink()


class Run:
    def __init__(self, options):
        self.options, self.objects, self.faults = options, Objects(options.objects, options.seed), 0

    def rounds(self, addresses, *names):
        client, queries = Client(addresses), self.options.queries
        for name in names:
            change(client, self.objects, name)
            start, check = time.monotonic(), Check(client, self.objects)
            check.run(queries)
            self.faults += check.faults
            print(f"{name}: {queries} queries, {check.faults} faults, {time.monotonic() - start:.0f} s", file=sys.stderr)


def change(client, objects, name):
    count = len(objects.places)
    if name == "stored":
        client.write("object.putMany", ({"bucket": "places", "objects": [
            objects.document(n) for n in range(first, min(first + 1_000, count))]} for first in range(0, count, 1_000)))
    if name == "moved":
        moved = objects.random.sample(range(count), count // 20)
        for n in moved:
            objects.places[n] = objects.place()
            if n in objects.stops:
                objects.stops[n] = objects.some_stops()
        client.write("object.putMany", ({"bucket": "places", "objects": [objects.document(n) for n in moved[first:first + 1_000]]}
                                        for first in range(0, len(moved), 1_000)))
        gone = objects.random.sample(range(count), count // 50)
        client.write("object.delete", ({"bucket": "places", "id": f"object-{n}"} for n in gone))
        for n in gone:
            objects.places[n] = None


if __name__ == "__main__":
    main()
