"""Attacks of scripts/hostile.py that run one by one, each a loop that never ends in a process of its own. Texts are made
before it begins, so that the attacker takes as little of the processors as it can.
"""
import json, math, os, socket, threading, time

import hostile_web
from hostile_tally import attacker, outcome

CONNECTIONS = 8


def line(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params},
                      separators=(",", ":")).encode() + b"\n"


def query(clause, method="bucket.query", bucket="places", **more):
    return line(1, method, {"bucket": bucket, "bucketQuery": {"clause": clause, **more}})


def point(latitude, longitude):
    return {"_type": "point", "lat": latitude, "lon": longitude}


# The texts, about as long as a line may be.

def star(inner):
    """Ten thousand valid positions, every second one near the middle; a quarter of the earth."""
    ring = []
    for n in range(9_998):
        radius, angle = (60 if n % 2 == 0 else 60 * inner), 2 * math.pi * n / 9_998
        ring.append([round(radius * math.cos(angle), 6), round(radius * math.sin(angle), 6)])
    return {"type": "geopolygon", "field": "at", "polygon": {"type": "Polygon", "coordinates": [ring + ring[:1]]}}


def polygons():
    return [query(star(inner), method) for inner in (0.5, 0.1)
            for method in ("bucket.query", "bucket.count", "bucket.explain")]


def names():
    """Names that are looked for among each other: of members, of hidden members, of what is to come back. Objects are as
    long as they may be."""
    hidden = '{"o":{' + ",".join(['"a":1e99'] * 7_200) + ',"a":1}}'
    put = '{"jsonrpc":"2.0","id":1,"method":"object.put","params":{"bucket":"hostile","id":"o1","object":%s}}\n'
    distinct = "{" + ",".join(f'"k{n}":1' for n in range(6_500)) + "}"
    return [(put % hidden).encode(), (put % distinct).encode(),
            line(1, "bucket.query", {"bucket": "places", "fields": [f"f{n}" for n in range(90_000)]})]


def paths():
    """Field paths: of points, deep and hidden ones, and of clauses on fields that no object has."""
    points = [{f"p{n}": point(1, 2) for n in range(1_350)} for _ in range(15)]
    deep = {"x" * 3_000: {f"p{n}": point(1, 2) for n in range(1_280)}}
    texts = [line(1, "object.putMany", {"bucket": "hostile", "objects": [{"o": one} for one in points]}),
             line(1, "object.putMany", {"bucket": "hostile", "objects": [deep] * 15})]
    for first in range(0, 4_000, 400):
        clauses = [{"type": "eq", "field": f"no.such.field{first + n}", "value": n} for n in range(400)]
        texts.append(query({"type": "or", "clauses": clauses}, "bucket.count"))
    return texts


def groups():
    """As many as a query may have, of fields whose values are nearly all distinct, of everything and of a box."""
    box = {"type": "geobox", "field": "at", "box": {"sw": point(-60, -179), "ne": point(60, 179)}}
    fields = ["_id", "at.lat", "at.lon", "_created"]
    wide = [{"type": "GROUP", "field": fields[n % 4], "limit": 100 + n, "putAggregationInto": f"g{n}"} for n in range(16)]
    sums = [{"type": ["SUM", "AVG", "MIN", "MAX"][n % 4], "field": fields[1 + n // 4 % 3], "putAggregationInto": f"s{n}"}
            for n in range(16)]
    return [query(clause, aggregations=asked) for clause in ({"type": "all"}, box) for asked in (wide, sums)]


def corridors():
    """Lines of ten thousand positions, close together and around the earth, as wide as may be."""
    texts = []
    for step in (0.01, 35.7):
        turn = lambda n: (step * n + 180) % 360 - 180
        line = [[round(turn(n), 4), round(60 * math.sin(n / (7 if step > 1 else 900)), 4)] for n in range(10_000)]
        clause = {"type": "geocorridor", "field": "at", "width": 1_000_000, "putDistanceInto": "d", "putAlongInto": "a",
                  "line": {"type": "LineString", "coordinates": line}}
        texts += [query(clause, method, orderBy="_calculated.a") for method in ("bucket.query", "bucket.explain")]
        texts += [query(clause, "bucket.count"), query(clause, orderBy="_calculated.d", descending=True)]
    return texts


def arrays():
    """Objects with a hundred places, the farthest first, and lists of them by distance."""
    def stops(n):
        return [point(round(80 - 0.8 * m + n / 1e4, 5), round(170 - 1.7 * m - n / 1e4, 5)) for m in range(100)]
    texts = [line(1, "object.putMany", {"bucket": "hostile", "objects": [
        {"_id": f"stops-{n}", "stops": stops(n)} for n in range(first, first + 150)]}) for first in range(0, 1_500, 150)]
    for turn in range(40):
        circle = {"type": "geodistance", "field": "stops", "center": point(turn / 10, 0), "putDistanceInto": "d"}
        if turn % 4 == 0:
            circle["model"] = "wgs84"
        texts += [query(circle, bucket="hostile", orderBy="_calculated.d", descending=turn % 2 == 1),
                  query({"type": "not", "clause": {**circle, "radius": 1_000}}, "bucket.count", "hostile")]
    return texts


def batches():
    one = json.loads(query({"type": "geodistance", "field": "at", "center": point(10, 10), "putDistanceInto": "d"}))
    put = {"jsonrpc": "2.0", "id": 1, "method": "object.put",
           "params": {"bucket": "hostile", "id": "o1", "object": {"s": "x" * 700}}}
    return [json.dumps([one] * 1_000).encode() + b"\n", json.dumps([put] * 1_000).encode() + b"\n",
            json.dumps([one, put] * 400).encode() + b"\n"]


def huge_ins():
    def values(n):
        return [f"{n}-{m}" for m in range(200)]
    clauses = [{"type": "in", "field": "s" if n % 2 else "_id", "values": values(n)} for n in range(450)]
    return [query({"type": kind, "clauses": clauses}, method) for kind in ("or", "and")
            for method in ("bucket.query", "bucket.count")]


def foreign():
    """What browsers can be made to send to any port, with lines in it that would be writes; and headers of
    proxies that the service does not know."""
    put = line(1, "object.put", {"bucket": "hostile", "id": "o1", "object": {}})
    body = put * 2_000
    heads = [b"POST / HTTP/1.1\r\nHost: 127.0.0.1:4362\r\nOrigin: https://example.com\r\nContent-Type: text/plain\r\n"
             b"Content-Length: %d\r\n\r\n" % len(body), b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\n\r\n",
             b"USER anonymous\r\n", b"PROXY TCP4 192.0.2.1 192.0.2.2 1 4362\r\n",
             b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes(12)]
    return [head + body for head in heads]


def buckets():
    """As many buckets as a principal may have, and lists of them from everywhere on."""
    names = [f"hostile{n:05}" for n in range(12_000)]
    texts = []
    for first in range(0, len(names), 200):
        puts = [json.loads(line(1, "object.put", {"bucket": name, "id": "o1", "object": {}}))
                for name in names[first:first + 200]]
        lists = [json.loads(line(1, "bucket.list", {"paginationKey": name})) for name in names[first:first + 200:50]]
        texts.append(json.dumps(puts + lists).encode() + b"\n")
    return texts


# The loops.

def connect(port, token):
    try:
        one = socket.create_connection(("127.0.0.1", port))
    except OSError:
        attacker.note("not let in")
        raise
    attacker.note("connected")
    one.settimeout(60)
    if token:
        one.sendall(line(0, "auth.login", {"token": token}))
        receive(one)
    return one


def receive(one):
    """Reads an answer to its end; how it ends: by the first error in its beginning."""
    begin = b""
    while piece := one.recv(1 << 20):
        begin = begin or piece
        if piece.endswith(b"\n"):
            return outcome(begin)
    raise OSError("closed")


def asking(port, token, texts):
    """One connection that asks again as soon as it is answered."""
    turn = 0
    while True:
        try:
            with connect(port, token) as one:
                while True:
                    one.sendall(texts[turn % len(texts)])
                    attacker.note("asked")
                    turn += 1
                    attacker.note(receive(one))
        except OSError:
            time.sleep(0.1)


def once(port, _, texts):
    """A connection for each text, until it is closed."""
    turn = 0
    while True:
        try:
            with connect(port, None) as one:
                turn += 1
                one.sendall(texts[turn % len(texts)])
                attacker.note("asked")
                while one.recv(1 << 16):
                    pass
                attacker.note("closed")
        except OSError:
            attacker.note("closed")


def never_reading(port, token, _):
    """Pipelines pages of a megabyte, reads none, and begins anew."""
    page = query({"type": "all"}) * 400
    while True:
        held = []
        try:
            for _ in range(4):
                one = connect(port, token)
                one.setblocking(False)
                held.append(one)
            for _ in range(20):
                for one in held:
                    try:
                        one.send(page)
                        attacker.note("asked")
                    except BlockingIOError:
                        pass
                time.sleep(0.1)
        except OSError:
            time.sleep(0.1)
        for one in held:
            one.close()


def idle_http(port, _, __):
    """More connections than the port of health and metrics serves, each in the middle of a request."""
    held = []
    while True:
        try:
            while len(held) < 50:
                one = connect(port, None)
                one.sendall(b"GET /healthz HTTP/1.1\r\n")
                attacker.note("asked")
                held.append(one)
        except OSError:
            pass
        time.sleep(1)
        for one in held:
            one.setblocking(False)
            try:
                one.send(b"x: y\r\n")
            except OSError:
                pass
        held = [one for one in held if not ended(one)]


def ended(one):
    try:
        return one.recv(1 << 12) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


# By name: the loop, its texts, whether it logs in, which port it attacks, by what the service says when it listens there.
ATTACKS = {
    "polygons, not logged in": (asking, polygons, False, "ready"),
    "polygons": (asking, polygons, True, "ready"),
    "many names": (asking, names, True, "ready"),
    "many field paths": (asking, paths, True, "ready"),
    "never reading": (never_reading, list, True, "ready"),
    "wide groups": (asking, groups, True, "ready"),
    "long corridors": (asking, corridors, True, "ready"),
    "arrays of points": (asking, arrays, True, "ready"),
    "batches": (asking, batches, True, "ready"),
    "huge ins": (asking, huge_ins, True, "ready"),
    "many buckets": (asking, buckets, True, "ready"),
    "HTTP at the line port": (once, foreign, False, "ready"),
    "idle HTTP": (idle_http, list, False, "http"),
    **hostile_web.ATTACKS,
}

# Those that read no answers.
UNREAD = {"never reading", "idle HTTP", "files unread", "files unread by many", "metrics unread", "one byte of a body",
          "event streams", "silent connections"}


def run(name, ports, token, pipe):
    """Never returns; sends its tally when it is asked to end."""
    os.nice(10)
    attacker.tell_at_the_end(pipe)
    loop, texts, logs_in, port = ATTACKS[name]
    texts = texts()
    for first in range(CONNECTIONS):
        mine = texts[first % len(texts):] + texts[:first % len(texts)] if texts else texts
        threading.Thread(target=loop, args=(ports[port], token if logs_in else None, mine), daemon=True).start()
    while True:
        time.sleep(60)
