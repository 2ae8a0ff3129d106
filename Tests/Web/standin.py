#!/usr/bin/env python3
"""Stands in for the service's web port, in tests of the map page alone.

    Tests/Web/standin.py --server 127.0.0.1:4362 --port 4364

It serves the page's files and Debian's Leaflet, passes `POST /rpc` on to a real service, and answers
`bucket.clusters` and `bucket.fields` from all objects that `bucket.query` finds, and `GET /watch` by asking the same
query again and again. `--token` makes it ask for a login. It is slow, keeps no promise of live queries but the order
of states, and listens on loopback only.
"""
import argparse, collections, http.server, json, math, mimetypes, pathlib, secrets, socket, threading, time, urllib.parse

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Service/WebFiles"
POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self'"
PAGES = {"/map": "map.html", "/login": "login.html"}


class Line:
    """One connection of the line protocol."""

    def __init__(self, server):
        host, port = server.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.file = self.socket.makefile("rwb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, message):
        """The text of the answer to one message."""
        self.file.write(message + b"\n")
        self.file.flush()
        answer = self.file.readline()
        if not answer:
            raise ConnectionError("the service has closed the connection")
        return answer.rstrip(b"\n")

    def call(self, method, params):
        answer = json.loads(self.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()))
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def all(self, params):
        """Every object of a query, over all its pages."""
        params = {key: value for key, value in params.items() if value is not None}
        while True:
            page = self.call("bucket.query", params)
            yield from page["results"]
            if "nextPaginationKey" not in page:
                return
            params["paginationKey"] = page["nextPaginationKey"]


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.error = error


def invalid(message, path):
    return Refused({"code": -32602, "message": message, "data": {"errorCode": "INVALID_INPUT_DATA", "path": path}})


# MARK: bucket.clusters

SIZE = 2 ** 30


def grid(point):
    """A point's X and Y in the grid of the world."""
    lat = max(-85.0511287798066, min(85.0511287798066, point["lat"]))
    lon = -180 if point["lon"] == 180 else point["lon"]
    sine = math.sin(math.radians(lat))
    y = 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)
    return min(SIZE - 1, int((lon + 180) / 360 * SIZE)), max(0, min(SIZE - 1, int(y * SIZE)))


def degrees(x, y):
    lat = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * (y + 0.5) / SIZE))))
    return {"_type": "point", "lat": round(lat, 7), "lon": round((x + 0.5) / SIZE * 360 - 180, 7)}


def columns(box, shift):
    """The ranges of columns and the range of rows that a box meets."""
    west, south = grid({"lat": box["sw"]["lat"], "lon": box["sw"]["lon"]})
    east, north = grid({"lat": box["ne"]["lat"], "lon": box["ne"]["lon"]})
    if box["ne"]["lon"] == 180:
        east = SIZE - 1
    ranges = [(west, east)] if box["sw"]["lon"] <= box["ne"]["lon"] else [(west, SIZE - 1), (0, east)]
    return [(a >> shift, b >> shift) for a, b in ranges], (north >> shift, south >> shift)


def value_at(item, path):
    if path in item:
        return item[path]
    for name in path.split("."):
        if not isinstance(item, dict) or name not in item:
            return None
        item = item[name]
    return item


def is_point(value):
    return isinstance(value, dict) and value.get("_type") == "point"


def points(item, field):
    value = value_at(item, field)
    return [value] if is_point(value) else [p for p in value if is_point(p)] if isinstance(value, list) else []


def selected(item, names, field):
    if names is None:
        return item
    return {key: value for key, value in item.items() if key in ("_id", "_calculated") or key in names}


def clusters(line, params):
    for name in params.keys() - {"bucket", "bucketQuery", "field", "zoom", "bits", "box", "fields"}:
        raise invalid(f"\"{name}\" is no member", name)
    field = params.get("field")
    if field is None:
        listed = line.call("bucket.list", scope_of(params["bucket"]))["buckets"]
        field = next((min(b["geoFields"]) for b in listed if b["bucket"] == params["bucket"] and b["geoFields"]), None)
    level = params["zoom"] + params.get("bits", 4)
    shift = 30 - level
    inside = columns(params["box"], shift) if "box" in params else None
    cells = collections.defaultdict(list)
    for item in every_object(line, params) if field else []:
        for cell, place in {(x >> shift, y >> shift): (x, y) for x, y in map(grid, points(item, field))}.items():
            if inside is None or (any(a <= cell[0] <= b for a, b in inside[0]) and inside[1][0] <= cell[1] <= inside[1][1]):
                cells[cell].append((place, item))
    if len(cells) > 4096:
        raise invalid(f"{len(cells)} clusters are more than 4096", "bits")
    found = []
    for (x, y), members in sorted(cells.items(), key=lambda entry: (entry[0][1], entry[0][0])):
        cluster = {"cell": f"{level}/{x}/{y}", "count": len(members)}
        if len(members) == 1:
            cluster["object"] = selected(members[0][1], params.get("fields"), field)
        else:
            cluster["center"] = degrees(*(sum(place[i] for place, _ in members) // len(members) for i in (0, 1)))
        found.append(cluster)
    return {"change": change(line), "total": sum(c["count"] for c in found), "clusters": found}


def scope_of(bucket):
    return {"scope": bucket.rsplit("/", 1)[0]} if "/" in bucket else {}


def change(line):
    return line.call("server.stats", {})["change"]


cache = collections.OrderedDict()
cache_lock = threading.Lock()


def every_object(line, params):
    """All objects of a query; kept until the next change, as a map asks for the same ones at every move."""
    query = params.get("bucketQuery")
    key = (change(line), json.dumps([params["bucket"], query]))
    with cache_lock:
        if key not in cache:
            cache[key] = list(line.all({"bucket": params["bucket"], "bucketQuery": query}))
            while len(cache) > 8:
                cache.popitem(last=False)
        return cache[key]


# MARK: bucket.fields

def type_of(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, (int, float)):
        return "INTEGER" if value == int(value) else "DECIMAL"
    if isinstance(value, str):
        return "STRING"
    return "ARRAY" if isinstance(value, list) else "GEOPOINT" if is_point(value) else "OBJECT"


def paths(item, prefix=""):
    for name, value in item.items():
        if not prefix and name.startswith("_"):
            continue
        yield prefix + name, type_of(value)
        if type_of(value) == "OBJECT":
            yield from paths(value, prefix + name + ".")


def fields(line, params):
    objects = every_object(line, {"bucket": params["bucket"]})
    found = collections.defaultdict(collections.Counter)
    for item in objects:
        for path, kind in paths(item):
            found[path][kind] += 1
    return {"objects": len(objects), "sampled": len(objects),
            "fields": [{"field": path, "types": dict(types)} for path, types in sorted(found.items())][:1000]}


OWN = {"bucket.clusters": clusters, "bucket.fields": fields}


# MARK: HTTP

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-cache")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, code, message, path=None):
        self.answer(status, {"errorCode": code, "message": message, **({"path": path} if path else {})})

    def is_allowed(self):
        if self.server.token is None:
            return True
        cookies = self.headers.get("Cookie", "")
        if any(part.strip() == f"geobucket={self.server.session}" for part in cookies.split(";")):
            return True
        self.fail(401, "UNAUTHORIZED", "a login is required")
        return False

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/":
            self.answer(302, Location="/map")
        elif path in PAGES:
            self.file(FILES / PAGES[path])
        elif path.startswith("/map/"):
            self.file(FILES / pathlib.PurePosixPath(path).name)
        elif path.startswith("/assets/") and ".." not in path and self.server.assets:
            self.file(self.server.assets / path.removeprefix("/assets/"))
        elif path == "/watch":
            if self.is_allowed():
                self.watch(dict(urllib.parse.parse_qsl(query)))
        else:
            self.fail(404, "NOT_FOUND", f"there is nothing at {path}")

    def file(self, path):
        if not path.is_file():
            return self.fail(404, "NOT_FOUND", f"there is no file {path.name}")
        kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
        self.answer(200, path.read_bytes(), (kind or "application/octet-stream")
                    + ("; charset=utf-8" if path.suffix in (".js", ".html", ".css", ".json") else ""))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/login":
            self.log_in(body)
        elif self.path == "/logout":
            self.answer(204, Set_Cookie="geobucket=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        elif self.path != "/rpc":
            self.fail(404, "NOT_FOUND", f"there is nothing at {self.path}")
        elif "json" not in self.headers.get("Content-Type", ""):
            self.fail(415, "INVALID_INPUT_DATA", "the type of a request is application/json")
        elif self.is_allowed():
            self.rpc(body)

    def log_in(self, body):
        if self.server.token is not None and json.loads(body).get("token") != self.server.token:
            return self.fail(401, "WRONG_TOKEN", "the token is unknown, revoked or expired")
        self.answer(200, {"principal": "test", "role": "read"},
                    Set_Cookie=f"geobucket={self.server.session}; Path=/; HttpOnly; SameSite=Strict")

    def rpc(self, body):
        try:
            with Line(self.server.upstream) as line:
                request = json.loads(body)
                own = OWN.get(request.get("method"))
                if own is None:
                    return self.answer(200, line.send(body.replace(b"\n", b" ")))
                try:
                    self.answer(200, {"jsonrpc": "2.0", "id": request["id"], "result": own(line, request["params"])})
                except Refused as refused:
                    self.answer(200, {"jsonrpc": "2.0", "id": request["id"], "error": refused.error})
        except OSError as error:
            self.fail(503, "TEMPORARY_UNAVAILABLE_ERROR", f"the service does not answer: {error}")

    def watch(self, wanted):
        params = {"bucket": wanted.get("bucket"), "bucketQuery": json.loads(wanted.get("query") or "{}")}
        if wanted.get("fields"):
            params["fields"] = wanted["fields"].split(",")
        with Line(self.server.upstream) as line:
            try:
                at, objects = change(line), list(line.all(params))
            except Refused as refused:
                return self.fail(400, refused.error["data"]["errorCode"], str(refused), refused.error["data"].get("path"))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-cache")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            halves = [objects[:len(objects) // 2], objects[len(objects) // 2:]]
            self.event("snapshot", at, objects=halves[0], more=True)
            self.event("snapshot", at, objects=halves[1], more=False)
            self.follow(line, params, at, {item["_id"]: item for item in objects})

    def follow(self, line, params, at, held):
        while True:
            time.sleep(self.server.poll)
            now = change(line)
            if now == at:
                continue
            found = {item["_id"]: item for item in line.all(params)}
            events = [{"event": "leave", "change": now, "_id": key, "reason": "changed"} for key in held if key not in found]
            events += [{"event": "change" if key in held else "enter", "change": now, "object": item}
                       for key, item in found.items() if held.get(key) != item]
            at, held = now, found
            if events:
                self.event("events", now, events=events)

    def event(self, name, number, **params):
        data = json.dumps({"watch": "w1", "change": number, "resume": str(number), **params})
        self.wfile.write(f"event: {name}\nid: {number}\ndata: {data}\n\n".encode())
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, upstream, assets="/usr/share/javascript", token=None, poll=0.1):
        super().__init__(("127.0.0.1", port), Handler)
        self.upstream, self.token, self.poll = upstream, token, poll
        self.assets = pathlib.Path(assets) if assets else None
        self.session = secrets.token_hex(16)
        self.connections = set()

    def process_request(self, request, address):
        self.connections.add(request)
        super().process_request(request, address)

    def shutdown_request(self, request):
        self.connections.discard(request)
        super().shutdown_request(request)

    def server_close(self):
        """Ends open connections too, as a service does that is gone."""
        super().server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, *_):
        """A browser that has gone away, or a service, is nothing to tell."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="127.0.0.1:4362", help="the line port of a service (%(default)s)")
    parser.add_argument("--port", type=int, default=4364, help="(%(default)s)")
    parser.add_argument("--token", help="the token that a login has to give")
    parser.add_argument("--assets", default="/usr/share/javascript", help="(%(default)s)")
    options = parser.parse_args()
    server = Server(options.port, options.server, options.assets, options.token)
    print(f"geobucket web on 127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
