"""A primary whose commits wait for a standby loses it, is disturbed while they wait, and is lost itself. The standby,
which takes over, has to have every answered write."""
import threading, time

from cluster_failover import Pair
from cluster_rounds import Cluster
from wire import Unanswered

BUCKET, WRITERS, SECONDS = "standby", 6, 2


class Writer(threading.Thread):
    """Puts one object after the other, and remembers those that were answered."""

    def __init__(self, number, node):
        super().__init__(daemon=True)
        self.number, self.node, self.answered, self.is_over = number, node, set(), False

    def run(self):
        attempt = 0
        while not self.is_over:
            name, attempt = f"{self.number}-{attempt}", attempt + 1
            try:
                self.node.ask("object.put", {"bucket": BUCKET, "id": name, "object": {}})
                self.answered.add(name)
            except Unanswered:
                time.sleep(0.02)


def cancel_waits(primary):
    primary.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")


def kill(primary):
    primary.kill()
    primary.start()


DISTURBANCES = {"terminate": lambda primary: primary.terminate_backends(), "cancel": cancel_waits, "kill": kill}


def lose(cluster, servers, kind):
    writers = [Writer(n, cluster.nodes[n % len(cluster.nodes)]) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    time.sleep(SECONDS)
    servers.cut()
    time.sleep(SECONDS)
    DISTURBANCES[kind](servers.primary)
    time.sleep(SECONDS)
    servers.promote()
    cluster.wait_for_writes(f"after {kind} and a promotion")
    for writer in writers:
        writer.is_over = True
    for writer in writers:
        writer.join()
    answered = set().union(*(writer.answered for writer in writers))
    there = {found["_id"] for found in cluster.objects(cluster.export(cluster.nodes[0], BUCKET))}
    if lost := answered - there:
        cluster.violations.add(f"{kind}: {len(lost)} answered writes are lost, such as {sorted(lost)[0]}")
    print(f"{kind}: {len(answered)} answered writes, {len(lost)} of them lost", flush=True)
    cluster.compare_nodes()


def run(options, folder):
    folder.chmod(0o755)  # for PostgreSQL's account
    for kind in DISTURBANCES:
        place = folder / kind
        place.mkdir()
        servers = Pair(place, settings=["synchronous_standby_names=*"])
        try:
            with Cluster(options, servers, place, {}) as cluster:
                lose(cluster, servers, kind)
                cluster.finish()
        finally:
            servers.end()
