"""PostgreSQL loses answered writes: the nodes have to notice, and to agree with it."""
import contextlib, threading, time

from wire import Refused, Unanswered

RECOVERY_SECONDS = 60


class Watch(threading.Thread):
    """Asks a node for an object again and again until it is gone."""

    def __init__(self, loss, node, name):
        super().__init__(daemon=True)
        self.loss, self.node, self.name = loss, node, name

    def run(self):
        while True:
            called = time.monotonic()
            try:
                found = self.node.ask("object.get", {"bucket": "lost", "id": self.name})
                if called > self.loss.restored:
                    return self.loss.violations.add(f"node {self.node.number} answers what PostgreSQL has lost: {found}")
            except Unanswered:
                time.sleep(0.01)
            except Refused:
                return


class Loss:
    """PostgreSQL comes to an earlier state: what is gone there must not be answered any more."""

    def __init__(self, cluster):
        self.cluster, self.nodes, self.violations = cluster, cluster.nodes, cluster.violations
        self.restored = float("inf")

    def run(self):
        for catching_up in [False, True]:
            copy, server = self.cluster.folder / "copy", self.cluster.server

            def save():
                server.stop()
                server.save(copy)
                server.start()

            def restore():
                server.kill()
                server.restore(copy)
                server.start()

            self.lose(f"loss-{int(catching_up)}", save, restore, catching_up)
        print("PostgreSQL was put back twice: the nodes noticed, agree with it, and go on")

    def lose(self, kind, save, restore, catching_up=False):
        """- save: holds the state of PostgreSQL that `restore` brings back
        - catching_up: when the nodes but the first look, PostgreSQL has as many changes again as they have
        """
        self.restored = float("inf")
        save()
        self.cluster.wait_for_writes("before the loss")
        rebuilds = [node.ask("server.stats")["cluster"]["rebuilds"] for node in self.nodes]
        for node in self.nodes:
            for n in range(20):
                node.ask("object.put", {"bucket": "lost", "id": f"{kind}-{node.number}-{n}", "object": {"n": n}})
        watches = [Watch(self, node, f"{kind}-0-7") for node in self.nodes for _ in range(2)]
        for watch in watches:
            watch.start()
        head = self.head()
        for node in self.nodes[1:] if catching_up else []:
            node.cut()
        restore()
        self.restored = begin = time.monotonic()
        if catching_up:
            self.catch_up(head)
        for watch in watches:
            watch.join(timeout=max(0, begin + RECOVERY_SECONDS - time.monotonic()))
            if watch.is_alive():
                self.violations.add(f"node {watch.node.number} does not answer after a loss")
        self.cluster.wait_for_writes("after a loss")
        print(f"{kind}: every node answers and writes after {time.monotonic() - begin:.1f} s", flush=True)
        for node, before in zip(self.nodes, rebuilds):
            if node.ask("server.stats")["cluster"]["rebuilds"] == before:
                self.violations.add(f"node {node.number} did not notice the loss")
            if "PostgreSQL has lost changes" not in node.log.read_text():
                self.violations.add(f"node {node.number} does not say that PostgreSQL has lost changes")
        self.cluster.compare_nodes()

    def head(self):
        return int(self.cluster.server.sql("SELECT max(last_change) FROM geobucket.batch")[0])

    def catch_up(self, head):
        deadline = time.monotonic() + RECOVERY_SECONDS
        while (left := head - self.head()) > 0 and time.monotonic() < deadline:
            with contextlib.suppress(Unanswered):
                self.nodes[0].ask("object.put", {"bucket": "past", "id": f"past-{left}", "object": {}})
        if left != 0:
            self.violations.add(f"PostgreSQL does not come back to change {head}: {left} are left")
        for node in self.nodes[1:]:
            node.mend()
