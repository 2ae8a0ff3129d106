"""Attacks on the ports for HTTP, and by numbers of connections: what scripts/hostile_attacks.py adds to its own.
Each is a loop that never ends, of a thread with its share of the connections.
"""
import base64, json, socket, time

from hostile_tally import attacker

FILE = b"GET /map/countries.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
METRICS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
FORM = b"application/x-www-form-urlencoded"


def request(method, target, body=b"", token=None, length=None, kind=b"application/json", more=b""):
    login = b"Authorization: Bearer %s\r\n" % token.encode() if token else b""
    head = b"%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s" % (method, target, login, more)
    if method == b"POST":
        head += b"Content-Type: %s\r\nContent-Length: %d\r\n" % (kind, len(body) if length is None else length)
    return head + b"\r\n" + body


def connect(port, host="127.0.0.1"):
    one = socket.socket()
    one.bind((host, 0))
    one.settimeout(10)
    try:
        one.connect(("127.0.0.1", port))
    except OSError:
        attacker.note("not let in")
        raise
    attacker.note("connected")
    return one


# The loops. Each gets a port, a token and its texts.

def holding(count, pause, text):
    """Keeps so many connections open, each with a text behind it, and reads nothing of theirs."""
    def loop(port, token, _):
        first, held = text(token), []
        while True:
            try:
                while len(held) < count:
                    one = connect(port)
                    one.setblocking(False)
                    held.append(one)
                    if first:
                        one.send(first)
                        attacker.note("asked")
            except OSError:
                time.sleep(0.05)
            time.sleep(pause)
            for one in held:
                try:
                    if first and pause < 1:
                        one.send(first)
                except OSError:
                    pass
            alive = [one for one in held if one.fileno() >= 0 and not closed(one)]
            for one in held:
                if one not in alive:
                    one.close()
            held = alive
    return loop


def closed(one):
    """Whether the other side has closed; what has come stays unread."""
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def asking(texts):
    """One connection after the other, each request when the one before is answered."""
    def loop(port, token, _):
        made, turn = texts(token), 0
        while True:
            try:
                with connect(port) as one:
                    while True:
                        one.sendall(made[turn % len(made)])
                        attacker.note("asked")
                        turn += 1
                        if not answered(one):
                            break
            except OSError:
                time.sleep(0.05)
    return loop


def answered(one):
    """Reads an answer; whether another request may follow."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = one.recv(1 << 16)
        if not piece:
            return False
        data += piece
    head, rest = data.split(b"\r\n\r\n", 1)
    attacker.note(head.split(b" ", 2)[1].decode())
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while not rest.endswith(b"0\r\n\r\n"):
            piece = one.recv(1 << 16)
            if not piece:
                return False
            rest = (rest + piece)[-16:]
    else:
        left = int(fields.get(b"content-length", b"0")) - len(rest)
        while left > 0:
            piece = one.recv(1 << 16)
            if not piece:
                return False
            left -= len(piece)
    return fields.get(b"connection") != b"close"


# The texts.

def many_pairs(_):
    pairs = b"a&" * 30_000
    return [request(b"POST", b"/login", b"a&" * 30_000, kind=FORM),
            request(b"GET", b"/map?" + pairs), request(b"GET", b"/watch?bucket=places&" + pairs),
            request(b"GET", b"/map", more=b"Cookie: " + b"a;" * 30_000 + b"\r\n"),
            request(b"GET", b"/map", more=b"If-None-Match: " + b"a," * 30_000 + b"\r\n")]


def forged_tokens(_):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    tokens = [".".join([part({"alg": "ES256", "kid": "k"}), part({"sub": f"u{n}", "exp": 4e9}), "A" * 86])
              for n in range(100)]
    return [request(b"GET", b"/watch?bucket=places", token=token) for token in tokens] + [
        request(b"POST", b"/login", json.dumps({"token": token}).encode()) for token in tokens]


def unread_filters(_):
    deep = b"(" * 60_000
    return [request(b"GET", path + deep) for path in (
        b"/tiles/places/0/0/0.mvt?filter=", b"/watch?bucket=places&filter=", b"/watch?bucket=places&query=",
        b"/ogc/collections/places/items?filter=")]


def rpc(method, params, token):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return request(b"POST", b"/rpc", json.dumps(message, separators=(",", ":")).encode(), token)


PLACE = {"_type": "point", "lat": 1, "lon": 2}


def long_names(token):
    """What is stored first is asked for again and again."""
    deep = {"n" * 32_000: {f"m{n}": 1 for n in range(3_600)}}
    dots = {"." * 30_000: 1, "at": PLACE}
    puts = [rpc("object.put", {"bucket": "names", "id": f"o{n}", "object": deep}, token) for n in range(16)]
    puts.append(rpc("object.put", {"bucket": "dots", "id": "o1", "object": dots}, token))
    asks = [rpc("bucket.fields", {"bucket": "names"}, token),
            request(b"GET", b"/tiles/dots.json", token=token),
            request(b"GET", b"/ogc/collections/dots/items", token=token)]
    return puts + asks * 200


def collections(token):
    places = {f"p{n}": PLACE for n in range(100)}
    puts = [rpc("object.put", {"bucket": f"c{n}", "id": "o1", "object": places}, token) for n in range(50)]
    properties = b"&".join(b"p%d.lat=1" % n for n in range(900))
    asks = [request(b"GET", b"/ogc/collections", token=token),
            request(b"GET", b"/ogc/collections?limit=1000", token=token),
            request(b"GET", b"/ogc/collections/c0/items?" + properties, token=token)]
    return puts + asks * 200


def stream(token):
    return request(b"GET", b"/watch?bucket=places&limit=1", token=token)


# By name: the loop, its texts, whether it logs in, which port it attacks.
ATTACKS = {
    "files unread": (holding(8, 0.05, lambda _: FILE * 500), list, False, "web"),
    "files unread by many": (holding(125, 0.5, lambda _: FILE * 40), list, False, "web"),
    "metrics unread": (holding(30, 0.05, lambda _: METRICS * 500), list, False, "http"),
    "many pairs": (asking(many_pairs), list, False, "web"),
    "one byte of a body": (holding(125, 1, lambda _: request(b"POST", b"/rpc", b"{", length=100)), list, False, "web"),
    "event streams": (holding(125, 1, stream), list, True, "web"),
    "silent connections": (holding(1_250, 1, lambda _: b""), list, False, "ready"),
    "forged tokens": (asking(forged_tokens), list, False, "web"),
    "filters before a login": (asking(unread_filters), list, False, "web"),
    "long names": (asking(long_names), list, True, "web"),
    "lists of collections": (asking(collections), list, True, "web"),
}
