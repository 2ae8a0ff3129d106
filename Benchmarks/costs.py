#!/usr/bin/env python3
"""Measures what single costly reads take through a connection, and writes the report.

    Benchmarks/costs.py [--quick] [--objects 1000000] [--rounds 9] [--output Benchmarks/results/costs.md]
                        [--geobucket .build/release/geobucket]

Counts along lines of 10,000 positions beside circles of as many hits; clusters of the world with and without a
condition beside counts of the same condition. One request at a time, on a service with nothing else to do. README.md
says what is measured.
"""
import argparse, json, math, pathlib, random, statistics, sys, tempfile, time

from cluster_report import save, table
from cluster_services import Service, machine
from objects import write_objects

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import service  # noqa: E402
import wire  # noqa: E402

POSITIONS, CIRCLES, CIRCLE_TIMES, CORRIDOR_TIMES, CLUSTER_TIMES = 10_000, 4, 10, 5, 40
APART, HITS = [100, 2_000, 20_000], [500, 5_000, 50_000]
METERS_PER_DEGREE = 6_371_008.8 * math.pi / 180
REST_SECONDS = 3


def route(start, apart, chance):
    """Positions that wind over the earth, so many metres apart, not near the poles."""
    heading, (latitude, longitude) = chance.uniform(0, 2 * math.pi), start
    for _ in range(POSITIONS):
        yield [round(longitude, 6), round(latitude, 6)]
        heading += 0.15 * chance.gauss(0, 1)
        latitude += math.cos(heading) * apart / METERS_PER_DEGREE
        longitude += math.sin(heading) * apart / METERS_PER_DEGREE / max(0.1, math.cos(math.radians(latitude)))
        longitude -= 360 * (longitude > 180) - 360 * (longitude < -180)
        if not -58 <= latitude <= 72:
            heading, latitude = math.pi - heading, min(72, max(-58, latitude))


def circle(center, radius):
    return {"type": "geodistance", "field": "at", "radius": radius,
            "center": {"_type": "point", "lat": center[0], "lon": center[1]}}


class Run:
    def __init__(self, options, one, places):
        self.options, self.one, self.places = options, one, places
        self.connection, self.chance = wire.Connection(one.port), random.Random(7)

    def count(self, clause):
        return self.connection.call("bucket.count", {"bucket": "objects", "bucketQuery": {"clause": clause}})["count"]

    def extent(self, hits, most, clause):
        """The least width or radius that holds so many, about."""
        low, high = 1.0, most
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.count(clause(middle)) < hits else (low, middle)
        return high

    def cost(self, requests, times):
        """Microseconds of a request: of the service's processor time, and until the answer."""
        lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"bucket": "objects", **params}},
                            separators=(",", ":")).encode() + b"\n" for method, params in requests]
        samples = []
        for _ in range(self.options.rounds):
            busy, begin = self.one.nanoseconds(), time.perf_counter()
            for line in times * lines:
                self.connection.socket.sendall(line)
                if b'"result"' not in self.connection.lines.readline():
                    sys.exit("benchmarks: a request was refused")
            passed = time.perf_counter() - begin
            busy = self.one.nanoseconds() - busy
            samples.append((busy / 1e3 / times / len(requests), passed * 1e6 / times / len(requests)))
        return [statistics.median(column) for column in zip(*samples)]

    def count_cost(self, clauses, times):
        return self.cost([("bucket.count", {"bucketQuery": {"clause": clause}}) for clause in clauses], times)

    def corridors(self):
        rows = []
        for apart in APART:
            line = {"type": "LineString", "coordinates": list(route(self.chance.choice(self.places), apart, self.chance))}
            corridor = lambda width: {"type": "geocorridor", "field": "at", "line": line, "width": width}
            for wanted in HITS:
                width = self.extent(wanted, 1_000_000, corridor)
                hits = self.count(corridor(width))
                if not wanted <= hits < 2 * wanted:
                    continue
                circles = []
                for _ in range(CIRCLES):
                    center = self.chance.choice(self.places)
                    circles.append(circle(center, self.extent(hits, 20_000_000, lambda radius: circle(center, radius))))
                near, far = self.count_cost(circles, CIRCLE_TIMES), self.count_cost([corridor(width)], CORRIDOR_TIMES)
                rows.append([f"{apart:,} m", f"{width:,.0f} m", f"{hits:,}", f"{far[0]:,.0f}", f"{near[0]:.0f}",
                             f"{far[0] / near[0]:.0f}", f"{far[1]:,.0f}", f"{near[1]:.0f}", f"{far[1] / near[1]:.0f}"])
        return rows

    def clusters(self):
        def row(name, clause):
            query = {"bucketQuery": {"clause": clause}} if clause else {}
            world = self.cost([("bucket.clusters", {"zoom": 0, **query})], CLUSTER_TIMES)[0]
            counts = [self.cost([("bucket.count", {"bucketQuery": {"clause": each}})], CLUSTER_TIMES)[0]
                      for each in ([clause, {"type": "and", "clauses": [clause, placed]}] if clause else [])]
            return [name, f"{world:,.0f}", *(f"{each:,.0f}" for each in counts), *([""] * (2 - len(counts)))]

        placed = {"type": "hasField", "field": "at", "fieldType": "GEOPOINT"}
        within = {"type": "range", "field": "n", "lowerLimit": 0, "lowerIncluded": True,
                  "upperLimit": self.options.objects // 20, "upperIncluded": False}
        return [row("all objects", None), row("`eq`, a twentieth of them", {"type": "eq", "field": "kind", "value": "k3"}),
                row("`range`, a twentieth of them", within)]


def report(corridors, clusters, options):
    lines = ["# Costly reads", "", *(f"- {line}" for line in machine()),
             f"- `Benchmarks/costs.py`: {options.objects:,} objects, four in five around 2,000 places; microseconds of a "
             f"request, one at a time on one connection, medians of {options.rounds} rounds", "",
             f"## Corridors of {POSITIONS:,} positions beside circles of as many hits", "",
             "`bucket.count` along a winding line, whose positions come with each request, and of circles. *Processor* is the "
             "time of all threads of the service, *answer* what the client waits.", ""]
    lines += table(["apart", "width", "hits", "corridor: processor", "circle", "times", "corridor: answer", "circle", "times"],
                   corridors)
    lines += ["", "## Clusters of the world", "",
              "`bucket.clusters` at zoom 0, and `bucket.count` of the same condition: alone, and of the objects that have a "
              "place, which clusters count. A count that a column or an order knows looks at no object. Processor time.", ""]
    lines += table(["condition", "clusters", "count", "count of those with a place"], clusters)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run; its numbers mean little")
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", default=str(pathlib.Path(__file__).parent / "results/costs.md"))
    service.add_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.objects, options.rounds = min(options.objects, 50_000), 1
    with tempfile.TemporaryDirectory(prefix="geobucket-benchmark-") as folder:
        folder = pathlib.Path(folder)
        write_objects(folder / "objects.ndjson", options.objects, seed=1)
        one = Service.embedded(options.geobucket, folder)
        try:
            one.load(folder / "objects.ndjson", "objects")
            with open(folder / "objects.ndjson") as lines:
                places = [(place["lat"], place["lon"]) for place in (json.loads(line)["at"] for line in lines)]
            run = Run(options, one, places)
            # The first requests have columns built, and indexes merge at rest.
            run.clusters()
            time.sleep(REST_SECONDS)
            text = report(run.corridors(), run.clusters(), options)
        finally:
            one.stop()
    save(options.output, text)


if __name__ == "__main__":
    main()
