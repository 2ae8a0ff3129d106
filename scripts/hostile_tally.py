"""What became of an attack's requests: counted in the attacker's process, and told to who has started it."""
import collections, multiprocessing, os, signal, threading, time

import service


class Tally:
    """How often an attacker connected, was not let in, asked, and was answered how."""

    def __init__(self):
        self.counts, self.lock = collections.Counter(), threading.Lock()

    def note(self, what, count=1):
        with self.lock:
            self.counts[what] += count

    def tell_at_the_end(self, pipe):
        """Ends the process when it is asked to, and sends the counts before."""
        def end(*_):
            # A thread may be within the lock; it is not needed any more.
            pipe.send(dict(self.counts))
            os._exit(0)
        signal.signal(signal.SIGTERM, end)


# The attackers' own, one in each of their processes.
attacker = Tally()

# Refusals of requests that are too large. Whoever is answered so has not reached the code that it aims at.
HARMLESS = {"OBJECT_TOO_LARGE", "LINE_TOO_LONG", "REQUEST_TOO_LARGE", "413", "414", "431"}


def outcome(line):
    """How a line of JSON-RPC ends: the code of its first error, or "result"."""
    begin = line.find(b'"errorCode":"')
    return "result" if begin < 0 else line[begin + 13:line.index(b'"', begin + 13)].decode()


def share_of_harmless(counts):
    """Of what was answered, how much was refused for its size alone."""
    answers = {name: count for name, count in counts.items() if name not in NO_ANSWERS}
    return sum(answers.get(name, 0) for name in HARMLESS) / max(1, sum(answers.values()))


NO_ANSWERS = {"connected", "not let in", "asked"}


def described(counts):
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts, key=lambda name: -counts[name]))


class Attackers:
    """A process of attackers, and what became of what they did."""

    def __init__(self, run, *arguments):
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=run, args=(*arguments, other))
        self.counts, self.share = {}, 0.0

    def start(self):
        self.begin = time.monotonic()
        self.process.start()

    def end(self):
        self.share = service.processor_seconds(self.process.pid) / (time.monotonic() - self.begin)
        self.process.terminate()
        if self.pipe.poll(10):
            self.counts = self.pipe.recv()
        self.process.join()

    def fault(self, reads=True, may_be_too_large=False):
        """Why they have shown nothing, or None.

        - reads: whether they read what they are answered
        """
        if not self.counts.get("connected"):
            return "connected nowhere"
        if reads and not any(count for name, count in self.counts.items() if name not in NO_ANSWERS):
            return "was answered nothing"
        share = share_of_harmless(self.counts)
        if share > 0 and not may_be_too_large:
            return f"was only too large in {share:.0%} of its requests"
        return None
