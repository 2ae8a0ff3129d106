"""A connection to a service, for scripts that have to know whether a request was done."""
import json, random, socket, sys, threading, time

# Errors that leave open whether a write was done.
UNKNOWN = {"TEMPORARY_UNAVAILABLE_ERROR"}


class Unanswered(Exception):
    """The request may have been done, or may not."""


class Refused(Exception):
    """The request was not done; the argument is the code of its error."""


class Connection:
    def __init__(self, port, seconds=30, host="127.0.0.1"):
        try:
            self.socket = socket.create_connection((host, port), timeout=seconds)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise Unanswered(str(error))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def line(self, method, params):
        """The answer as it came."""
        try:
            self.socket.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        except OSError as error:
            raise Unanswered(str(error))
        return self.read()

    def read(self):
        """The next line."""
        try:
            line = self.lines.readline()
        except OSError as error:
            raise Unanswered(str(error))
        if not line.endswith(b"\n"):
            raise Unanswered("the connection was closed")
        return line

    def call(self, method, params={}):
        answer = json.loads(self.line(method, params))
        if "error" not in answer:
            return answer["result"]
        code = answer["error"]["data"]["errorCode"]
        if code in UNKNOWN:
            raise Unanswered(answer["error"]["message"])
        raise Refused(code, answer["error"]["message"])

    def close(self):
        self.lines.close()
        self.socket.close()


class PipelinedClient:
    """One connection that sends many requests ahead of their answers, and takes no error."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb", 1 << 20)

    def call(self, requests):
        lines = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for n, (m, p) in enumerate(requests)]
        self.socket.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
        results = []
        for line in lines:
            answer = json.loads(self.lines.readline())
            if "error" in answer:
                sys.exit(f"geobucket: {json.dumps(line)[:500]} was answered by {answer['error']}")
            results.append(answer["result"])
        return results


class SteppingClient(threading.Thread):
    """Takes steps until the world is over, on one connection at a time. A step that fails violates what is promised.

    - pause: the longest time in seconds between two steps
    """

    def __init__(self, number, world, seed, pause):
        super().__init__(daemon=True)
        self.number, self.world, self.pause = number, world, pause
        self.random, self.serial, self.connection, self.node = random.Random(f"{seed}/{number}"), 0, None, None

    def run(self):
        while not self.world.is_over:
            try:
                self.step()
            except Exception as error:
                self.world.violations.add(f"client {self.number}: {type(error).__name__}: {error}")
                self.leave()
            time.sleep(self.random.uniform(0, self.pause))

    def leave(self):
        if self.connection:
            self.connection.close()
        self.connection = None
