"""What scripts/oracle.py stores, and what looking at all of it gives: distances, places along lines, figures."""
import math, random
from bisect import bisect_left, bisect_right
from collections import Counter
from fractions import Fraction

CATEGORIES = 20
RADIUS = 6_371_000
# Metres by which two computations of one distance may differ, one micrometre of rounding included.
TOLERANCE = 3e-6
# Prices that are hard to compare and to sum, and what is none.
HARD = [2 ** 53 + 1, 2 ** 53 + 2, 2.0 ** 53, 2 ** 64 - 1, -2 ** 63, 2 ** 64, 10 ** 20 + 1, 1e22, 1e300, -1e300, 5e-324,
        -0.0, 0, 1, 1.0, "", "1", "é", "e\u0301", "\U0001F600", "\uFFFD", True, False, None, [2], {"n": 1}]


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
        self.price = [self.a_price(n) for n in range(count)]
        self.stops = {n: self.some_stops() for n in range(0, count, 10)}

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

    def a_price(self, n):
        if n % 2_500 == 7:  # two of one sign pass the range of binary64
            return 1.5e308 if n % 5_000 == 7 else -1.5e308
        if self.random.random() < 0.05:
            return self.random.choice(HARD)
        return self.random.choice([1, 1.0, 0.01, 0.001]) * self.random.randrange(3_000)

    def some_stops(self):
        """The value of the field: mostly an array with places, some of them twice, between other things."""
        kind = self.random.random()
        if kind < 0.05:
            return point(self.place())
        if kind < 0.1:
            return self.random.choice([[], [1, "x"], [[point(self.place())]], None, 3])
        count = 100 if kind < 0.11 else self.random.randrange(1, 9)
        elements = [point(self.place()) for _ in range(count)]
        if count < 9:
            elements.append(self.random.choice([elements[0], None, "x", {"n": 1}]))
        self.random.shuffle(elements)
        return elements

    def document(self, n):
        document = {"_id": f"object-{n}", "category": f"c{self.category[n]}", "location": point(self.places[n]),
                    "price": self.price[n]}
        if self.rating[n] is not None:
            document["rating"] = self.rating[n]
        if n in self.stops:
            document["stops"] = self.stops[n]
        return document

    def alive(self):
        return (n for n, place in enumerate(self.places) if place)

    def value(self, field, n):
        """The value that a field has for aggregations; None where it is missing or null."""
        if field == "location.lat":
            return self.places[n][0]
        return {"category": lambda: f"c{self.category[n]}", "rating": lambda: self.rating[n],
                "price": lambda: self.price[n], "stops": lambda: self.stops.get(n), "nope": lambda: None}[field]()

    def index(self):
        """For the queries: the places of each field by latitude."""
        several = {n: places(self.stops[n]) for n in self.alive() if n in self.stops}
        self.located = {"location": {n: [self.places[n]] for n in self.alive()},
                        "stops": {n: found for n, found in several.items() if found}}
        self.order = {field: sorted((place[0], n, place) for n, all_of_it in located.items() for place in all_of_it)
                      for field, located in self.located.items()}
        self.latitudes = {field: [one[0] for one in order] for field, order in self.order.items()}

    def between(self, field, south, north):
        """(number, place) of the places between two latitudes."""
        latitudes = self.latitudes[field]
        for _, n, place in self.order[field][bisect_left(latitudes, south):bisect_right(latitudes, north)]:
            yield n, place


def point(place):
    return {"_type": "point", "lat": place[0], "lon": place[1]}


def places(value):
    """The places of a field: a GeoPoint's or those in an array."""
    elements = value if isinstance(value, list) else [value]
    return [(one["lat"], one["lon"]) for one in elements if isinstance(one, dict) and one.get("_type") == "point"]


# Distances.

def distance(a, b):
    """The haversine of the spec, in metres."""
    p, q = math.radians(a[0]), math.radians(b[0])
    h = math.sin((q - p) / 2) ** 2 + math.cos(p) * math.cos(q) * math.sin(math.radians(b[1] - a[1]) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(min(1, h)))


def vector(place):
    latitude, longitude = math.radians(place[0]), math.radians(place[1])
    return math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


class Line:
    """Edges of some kilometres: vectors of their ends and normals are exact enough for these."""

    def __init__(self, positions):
        self.positions, self.edges, begin = positions, [], 0
        for a, b in zip(positions, positions[1:]):
            normal = cross(vector(a), vector(b))
            size = math.sqrt(dot(normal, normal))
            if size > 1e-9:
                normal = tuple(x / size for x in normal)
                self.edges.append((a, b, normal, cross(normal, vector(a)), begin, distance(a, b)))
            begin += distance(a, b)

    def nearest(self, place):
        """(distance, metres along) of the nearest place of each edge."""
        p = vector(place)
        for a, b, normal, forward, begin, length in self.edges:
            along = math.atan2(dot(p, forward), dot(p, vector(a))) * RADIUS
            if 0 < along < length:
                yield abs(math.asin(dot(p, normal))) * RADIUS, begin + along
            else:
                yield min((distance(a, place), begin), (distance(b, place), begin + length))


# Aggregations, in rational numbers.

BEYOND = "beyond binary64"


def aggregate(aggregation, values):
    """The result over the values of a field, or BEYOND for a sum that has to be refused."""
    if aggregation["type"] == "COUNT":
        return len(values)
    if aggregation["type"] == "GROUP":
        return groups(values, aggregation.get("limit", 50))
    return figure(aggregation["type"], Counter(nearest(value) for value in values if is_number(value)))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def nearest(number):
    """What a number's spelling means: integers of 64 bits themselves, all else in binary64."""
    return number if isinstance(number, float) or -2 ** 63 <= number < 2 ** 64 else float(number)


def canonical(number):
    """The number as a result spells it, in Python's types."""
    whole = isinstance(number, float) and number.is_integer() and -2 ** 63 <= number < 2 ** 64
    return int(number) if whole else number


def figure(kind, counts):
    if not counts:
        return None
    if kind in ("MIN", "MAX"):
        return canonical((min if kind == "MIN" else max)(counts))
    by_denominator = Counter()
    for number, times in counts.items():
        numerator, denominator = number.as_integer_ratio()
        by_denominator[denominator] += numerator * times
    total = sum((Fraction(n, d) for d, n in by_denominator.items()), Fraction(0))
    if kind == "SUM" and all(denominator == 1 for denominator in by_denominator):
        return int(total)
    try:
        return canonical(float(total / sum(counts.values()) if kind == "AVG" else total))
    except OverflowError:
        return BEYOND


def groups(values, limit):
    """Counted by type and value, as 1, 1.0 and true are one key in Python."""
    counts = Counter((1, canonical(nearest(value))) if is_number(value) else (2 if isinstance(value, str) else 0, value)
                     for value in values if isinstance(value, (bool, int, float, str)))
    listed = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit]
    without = sum(value is None for value in values)
    return {"values": [{"value": value, "count": count} for (_, value), count in listed],
            "other": len(values) - without - sum(count for _, count in listed), "without": without}


def same(a, b):
    """Whether two JSON values are spelled alike: 1 and 1.0 and true are three."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b
