"""The clients of scripts/copies.py: each alone writes its objects, so it knows every answer about them."""
import json, time

from wire import UNKNOWN, Connection, Refused, SteppingClient, Unanswered

ANSWER_SECONDS, RECOVERY_SECONDS = 30, 90


class Client(SteppingClient):
    """Writes objects of its own, and compares every answer about them with what it has written."""

    def __init__(self, number, world):
        super().__init__(number, world, world.seed, pause=0.02)
        self.objects, self.answers, self.waits, self.slowest = {}, 0, 0, 0.0

    def insist(self, method, params):
        """The answer, from whichever node gives it. Writes have a key, so they may be repeated."""
        begin = time.monotonic()
        while True:
            try:
                if self.connection is None or self.random.random() < 0.1:
                    self.leave()
                    self.node = self.random.choice([node for node in self.world.nodes if node.is_up])
                    self.connection = Connection(self.node.port, ANSWER_SECONDS)
                answer = self.connection.call(method, params)
                self.answers += 1
                self.slowest = max(self.slowest, time.monotonic() - begin)
                return answer
            except Unanswered:
                self.leave()
                self.waits += 1
                if time.monotonic() - begin > RECOVERY_SECONDS:
                    raise
                time.sleep(0.05)

    def write(self, method, params):
        self.serial += 1
        return self.insist(method, {**params, "requestKey": f"{self.world.seed}-{self.number}-{self.serial}"})

    def step(self):
        bucket = self.random.choice(self.world.buckets)
        mine, kind = self.objects.setdefault(bucket, {}), self.random.random()
        name = f"c{self.number}-{self.random.randrange(8)}"
        if kind < 0.3:
            lat, lon = self.random.randint(-80, 80), self.random.randint(-170, 170)
            value = {"owner": self.number, "n": self.serial, "at": {"_type": "point", "lat": lat, "lon": lon}}
            self.write("object.put", {"bucket": bucket, "id": name, "object": value})
            mine[name] = value
        elif kind < 0.36:
            try:
                self.write("object.delete", {"bucket": bucket, "id": name})
                self.expect(name in mine, f"{name} of {bucket} was deleted though it was not there")
                mine.pop(name, None)
            except Refused as refusal:
                self.expect(refusal.args[0] == "OBJECT_NOT_FOUND" and name not in mine, f"{name} of {bucket}: {refusal}")
        elif kind < 0.6:
            self.get(bucket, name)
        elif kind < 0.9:
            self.query(bucket)
        else:
            self.batch()

    def get(self, bucket, name):
        present = self.objects.get(bucket, {}).get(name)
        try:
            found = self.insist("object.get", {"bucket": bucket, "id": name})
            self.expect(present and found["n"] == present["n"], f"{name} of {bucket} is {found}, not {present}")
        except Refused as refusal:
            self.expect(refusal.args[0] == "OBJECT_NOT_FOUND" and not present, f"{name} of {bucket}: {refusal}")

    def query(self, bucket):
        south, west = self.random.randint(-80, 40) + 0.5, self.random.randint(-170, 100) + 0.5
        north, east = south + self.random.randint(10, 40), west + self.random.randint(10, 70)
        corner = lambda lat, lon: {"_type": "point", "lat": lat, "lon": lon}
        clause = {"type": "and", "clauses": [
            {"type": "eq", "field": "owner", "value": self.number},
            {"type": "geobox", "field": "at", "box": {"ne": corner(north, east), "sw": corner(south, west)}}]}
        inside = sorted(name for name, value in self.objects.get(bucket, {}).items()
                        if south <= value["at"]["lat"] <= north and west <= value["at"]["lon"] <= east)
        params = {"bucket": bucket, "bucketQuery": {"clause": clause}}
        if self.random.random() < 0.5:
            found = sorted(each["_id"] for each in self.insist("bucket.query", params)["results"])
            self.expect(found == inside, f"a query of {bucket} on node {self.node.number} found {found}, not {inside}")
        else:
            count = self.insist("bucket.count", params)["count"]
            self.expect(count == len(inside), f"a count of {bucket} on node {self.node.number}: {count}, not {len(inside)}")

    def batch(self):
        """Requests for several buckets in one batch; the answers come in their order."""
        asked = [(bucket, name) for bucket, mine in self.random.sample(sorted(self.objects.items()),
                 min(4, len(self.objects))) for name in list(mine)[:1]]
        if not asked or self.connection is None:
            return
        lines = [{"jsonrpc": "2.0", "id": n, "method": "object.get", "params": {"bucket": bucket, "id": name}}
                 for n, (bucket, name) in enumerate(asked)]
        try:
            self.connection.socket.sendall(json.dumps(lines).encode() + b"\n")
            line = self.connection.lines.readline()
        except OSError:
            return self.leave()
        if not line.endswith(b"\n"):
            return self.leave()
        answers = json.loads(line)
        self.expect([answer["id"] for answer in answers] == list(range(len(asked))), "a batch is answered out of order")
        for (bucket, name), answer in zip(asked, answers):
            if "result" in answer:
                self.expect(answer["result"]["n"] == self.objects[bucket][name]["n"], f"{name} of {bucket} in a batch")
            else:
                self.expect(answer["error"]["data"]["errorCode"] in UNKNOWN, f"{name} of {bucket}: {answer}")

    def expect(self, is_right, text):
        if not is_right:
            self.world.violations.add(text)
