#!/usr/bin/env python3
"""Posts what a watch tells to a URL, and loses nothing: webhooks for GeoBucket. Python's standard library only.

    webhooks.py 127.0.0.1 4362 couriers https://example.org/hook --place couriers.place \\
        --query '{"clause":{"type":"geodistance","field":"location","radius":2000,
                            "center":{"_type":"point","lat":35.68,"lon":139.76}}}'

Each POST has a body of JSON, one of

    {"change":48240,"events":[{"event":"enter","object":{…}},{"event":"leave","_id":"c7","reason":"moved"}]}
    {"change":48213,"snapshot":[{…},…],"part":0,"more":false}

An object that enters or changes is to be stored under its _id, one that leaves to be removed. A snapshot comes in
parts, of which number 0 takes the place of everything, and the others add to it. The place in the history (the watch's token) is written to the
file of --place only after the receiver has answered with 2xx. So everything is delivered at least once, in order,
whatever fails or restarts: the receiver, the service, the network, this program. What is delivered twice has the same
effect twice. While the receiver is down, the service keeps no queue: afterwards it tells the net effect of what was missed.
"""
import argparse, http.client, json, os, random, socket, ssl, sys, time, urllib.error, urllib.parse, urllib.request

SILENCE = 75  # seconds; the service says something every 30


class Refused(Exception):
    """The service will not do it, now or later."""


class Service:
    """A connection to the service: requests out, answers and notifications in."""

    def __init__(self, options):
        self.socket = socket.create_connection((options.host, options.port), timeout=SILENCE)
        if options.tls:
            self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=options.host)
        self.lines = self.socket.makefile("rb")
        if token := os.environ.get("GEOBUCKET_TOKEN"):
            self.call("auth.login", {"token": token})

    def message(self):
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the service has closed the connection")
        return json.loads(line)

    def call(self, method, params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = self.message()
        if "error" in answer:
            raise failure(answer["error"])
        return answer["result"]

    def close(self):
        self.lines.close()
        self.socket.close()


def failure(error):
    code = error.get("data", {}).get("errorCode")
    passing = code in ("TEMPORARY_UNAVAILABLE_ERROR", "TOO_MANY_REQUESTS")
    return (ConnectionError if passing else Refused)(f"{code}: {error['message']}")


class Place:
    """The token of what has been delivered, in a file that is replaced as a whole."""

    def __init__(self, path):
        self.path = path
        self.token = open(path).read().strip() if os.path.exists(path) else None

    def move(self, token):
        if token in (None, self.token):
            return
        with open(self.path + ".new", "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)
        self.token = token


class Pauses:
    """Pauses between attempts: they double up to a minute, half of each is random."""

    def __init__(self):
        self.longest = 0.1

    def wait(self, what, reason):
        print(f"{what}: {reason}; trying again", file=sys.stderr, flush=True)
        time.sleep(self.longest * random.uniform(0.5, 1))
        self.longest = min(self.longest * 2, 60)


def deliver(url, body):
    """Posts until the receiver has taken it."""
    pauses = Pauses()
    data = json.dumps(body, separators=(",", ":")).encode()
    while True:
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30):
                return
        except (OSError, http.client.HTTPException) as error:
            pauses.wait(url, error)


def forward(service, options, place):
    """Watches, and delivers what comes, until the connection ends."""
    params = {"bucket": options.bucket, "bucketQuery": options.query}
    if place.token:
        params["resume"] = place.token
    service.call("watch.start", params)
    part = 0
    while True:
        message = service.message()
        told = message.get("params", {})
        if message.get("method") == "watch.snapshot":
            body = {"change": told["change"], "snapshot": told["objects"], "part": part, "more": told["more"]}
            deliver(options.url, body)
            part = part + 1 if told["more"] else 0
        elif message.get("method") == "watch.resync":
            part = 0
        elif message.get("method") == "watch.events":
            if told["events"]:
                deliver(options.url, {"change": told["change"], "events": told["events"]})
        elif message.get("method") == "watch.end":
            raise failure(told["error"])
        place.move(told.get("resume"))


def receiver(text):
    """A URL that something can be posted to."""
    try:
        url = urllib.parse.urlsplit(text)
        isGood = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # the port is no number, or too large
        isGood = False
    if not isGood or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("expected http://… or https://…")
    return text


def query(text):
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"it is not JSON: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("bucket")
    parser.add_argument("url", type=receiver, help="where to post to: http://… or https://…")
    parser.add_argument("--query", type=query, default='{"clause":{"type":"all"}}', help="the bucketQuery, as JSON")
    parser.add_argument("--place", default="webhooks.place", help="the file of the place in the history")
    parser.add_argument("--tls", action="store_true", help="connect with TLS")
    options = parser.parse_args()
    place = Place(options.place)
    pauses = Pauses()
    while True:
        before = place.token
        try:
            service = Service(options)
            try:
                forward(service, options, place)
            finally:
                service.close()
        except Refused as error:
            sys.exit(f"{options.host}:{options.port}: {error}")
        except (OSError, ValueError) as error:
            if place.token != before:
                pauses = Pauses()
            pauses.wait(f"{options.host}:{options.port}", error)


if __name__ == "__main__":
    main()
