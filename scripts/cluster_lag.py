"""A node that is far behind, over a slow network: it catches up, also when it starts, and the other
one goes on at its rate meanwhile."""
import contextlib, copy, re, threading, time

import postgres
from cluster_nodes import Node
from cluster_rounds import Cluster
from wire import Unanswered

# What the slow node can receive, what it lacks each time, and the size of a document.
RATE, LACK_BYTES, DOCUMENT_BYTES = 10_000_000, 150_000_000, 60_000
DOCUMENTS_AT_ONCE, WRITES_PER_SECOND, KEPT_SHARE = 16, 100, 0.9
# It takes 15 s to receive that, and 40 s to copy all in the end; the rest is for a busy machine.
CATCH_UP_SECONDS = 120
SMALL_OBJECTS = 150_000


class Steady(threading.Thread):
    """Writes to a node so many times a second, if it answers as fast."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.times, self.is_over, self.slowest = node, [], False, 0

    def run(self):
        begin, count = time.monotonic(), 0
        with contextlib.closing(self.node.connect(120)) as connection:
            while not self.is_over:
                time.sleep(max(0, begin + count / WRITES_PER_SECOND - time.monotonic()))
                called = time.monotonic()
                written = {"bucket": "steady", "id": f"s{count % 100}", "object": {"n": count}}
                connection.call("object.put", written)
                self.slowest = max(self.slowest, time.monotonic() - called)
                self.times.append(time.monotonic())
                count += 1

    def end(self):
        """Writes a second, to the end of the last one."""
        begin, self.is_over = time.monotonic(), True
        self.join()
        return len(self.times) / (max(self.times[-1], begin) - self.times[0])


class SlowNode(Node):
    rate = RATE


class LagCluster(Cluster):
    def __enter__(self):
        super().__enter__()
        slow = SlowNode(1, self.options.geobucket, self.server, self.folder, self.flags)
        self.nodes.append(slow)
        slow.start()
        slow.wait()
        self.first.append(slow.resident())
        return self

    @property
    def fast(self):
        return self.nodes[0]

    @property
    def slow(self):
        return self.nodes[1]

    def write_much(self, bucket, count, size, at_once):
        with contextlib.closing(self.fast.connect(120)) as connection:
            for begin in range(0, count, at_once):
                numbers = range(begin, min(begin + at_once, count))
                objects = [{"_id": f"o{n}", "text": "x" * size} for n in numbers]
                connection.call("object.putMany", {"bucket": bucket, "objects": objects})

    def lack(self, bucket):
        self.write_much(bucket, LACK_BYTES // DOCUMENT_BYTES, DOCUMENT_BYTES, DOCUMENTS_AT_ONCE)

    def catch_up(self, what, begin_again):
        """The slow node gets what it lacks while both are asked to write."""
        steady = Steady(self.fast)
        steady.start()
        time.sleep(1)
        begin = time.monotonic()
        begin_again()
        took = None
        while took is None and time.monotonic() < begin + CATCH_UP_SECONDS:
            if self.slow.process.poll() is not None:
                break
            with contextlib.suppress(Unanswered):
                self.slow.ask("object.put", {"bucket": "probes", "id": "slow", "object": {}})
                took = time.monotonic() - begin
            time.sleep(0.05)
        rate = steady.end()
        if self.slow.process.poll() is not None:
            self.violations.add(f"the node ended with {self.slow.process.returncode} {what}")
            self.slow.start()
        elif took is None:
            self.violations.add(f"the node has not caught up within {CATCH_UP_SECONDS} s {what}")
        kept = f"the other node made {rate:.1f} of {WRITES_PER_SECOND} writes a second"
        if rate < KEPT_SHARE * WRITES_PER_SECOND:
            self.violations.add(f"{kept} {what}")
        print(f"{what} {kept}, the slowest took {steady.slowest:.2f} s; the node wrote after "
              + ("more" if took is None else f"{took:.1f} s"), flush=True)

    def cut_off(self):
        self.slow.cut()
        self.lack("while-cut-off")
        self.catch_up("after a cut", self.slow.mend)

    def restart(self):
        self.slow.kill()
        self.lack("while-down")
        self.catch_up("at a start", self.slow.start)

    def copy(self):
        """More has changed than there was: the node copies it all, at a start and while it runs."""
        ways = [(self.slow.kill, self.slow.start), (self.slow.cut, self.slow.mend)]
        for number, (leave, come) in enumerate(ways):
            leave()
            self.write_much(f"small-{number}", SMALL_OBJECTS * (number + 1), 20, 5_000)
            self.catch_up(f"when a copy takes less ({leave.__name__})", come)
        found = len(re.findall("a new copy takes less", self.slow.log.read_text()))
        if found < 2:
            self.violations.add(f"the tables were copied anew {found} times, not twice")


def run(options, folder):
    options = copy.copy(options)
    options.nodes = 1  # the slow one is added
    with postgres.serving() as server:
        with LagCluster(options, server, folder, {}) as cluster:
            cluster.cut_off()
            cluster.restart()
            cluster.copy()
            cluster.compare_nodes()
            cluster.finish()
