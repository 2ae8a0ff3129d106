"""The disk of PostgreSQL is full."""
import contextlib, os, subprocess, sys, time

import postgres
from cluster_rounds import Cluster
from wire import Refused, Unanswered

DISK_MEGABYTES, RECOVERY_SECONDS, OBJECTS = 120, 60, 200


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "geobucket", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


class Ballast:
    """Fills a disk up."""

    def __init__(self, disk):
        self.file = disk / "ballast"

    def fill(self, left):
        """- left: bytes that stay free"""
        room = os.statvfs(self.file.parent)
        with open(self.file, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, room.f_bavail * room.f_frsize - left))

    def remove(self):
        self.file.unlink()


class FullDisk:
    """One node fills the disk, batch by batch; what was answered is there then, and nothing else of them."""

    def __init__(self, cluster, ballast):
        self.cluster, self.ballast, self.violations = cluster, ballast, cluster.violations
        self.answered, self.refused = set(), set()

    def put(self, batch, node):
        objects = [{"_id": f"b{batch}-{n}", "text": "x" * 2_000} for n in range(OBJECTS)]
        node.ask("object.putMany", {"bucket": "much", "objects": objects})

    def run(self):
        nodes = self.cluster.nodes
        self.ballast.fill(left=4 << 20)
        codes = []
        for batch in range(100):
            try:
                self.put(batch, nodes[batch % len(nodes)])
                self.answered.add(batch)
            except Refused as refusal:
                codes.append(refusal.args[0])
                self.refused.add(batch)
            if len(codes) == 6:
                break
        if set(codes) != {"STORE_FULL"}:
            self.violations.add(f"writes on a full disk were refused with {sorted(set(codes))}")
        self.compare("while the disk is full")
        self.ballast.remove()
        deadline = time.monotonic() + RECOVERY_SECONDS
        for batch in sorted(self.refused):
            while True:
                try:
                    self.put(batch, nodes[batch % len(nodes)])
                    self.answered.add(batch)
                    break
                except (Refused, Unanswered) as reason:
                    if time.monotonic() > deadline:
                        return self.violations.add(f"nothing is written although there is room again: {reason}")
                    time.sleep(0.1)
        self.compare("when there is room again")
        print(f"{len(self.answered)} batches were answered, {len(codes)} refused with STORE_FULL while the disk was full")

    def compare(self, when):
        expected = {f"b{batch}-{n}" for batch in self.answered for n in range(OBJECTS)}
        for node in self.cluster.nodes:
            found = {one["_id"] for one in self.cluster.objects(self.cluster.export(node, "much"))}
            if found != expected:
                self.violations.add(f"node {node.number} has {len(found)} objects {when}, not {len(expected)}: "
                                    f"{sorted(found ^ expected)[:3]}")


def run(options, folder):
    if os.getuid() != 0:
        sys.exit("geobucket: a small disk is mounted for this, which needs root")
    folder.chmod(0o755)  # for PostgreSQL's account
    with small_disk(folder / "disk") as disk:
        postgres.give(disk)
        with postgres.serving(data=disk / "data", settings=["autovacuum=off"]) as server:
            with Cluster(options, server, folder, {}) as cluster:
                FullDisk(cluster, Ballast(disk)).run()
                cluster.compare_nodes()
                cluster.finish()
