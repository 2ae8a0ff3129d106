"""Faults of a cluster: each is over when its function returns."""
import contextlib, pathlib, random, signal, threading, time

from wire import Refused, Unanswered

HANDOVER_SECONDS = 9


class Faults:
    def __init__(self, cluster):
        self.cluster, self.server, self.random = cluster, cluster.server, random.Random(cluster.seed)
        self.node = lambda: self.random.choice(cluster.nodes)

    def kill_node(self):
        node = self.node()
        node.kill()
        self.cluster.kills += node.process.returncode == -signal.SIGKILL
        if self.random.random() < 0.25:
            for suffix in ["", "-wal", "-shm"]:
                pathlib.Path(f"{node.cache}{suffix}").unlink(missing_ok=True)
        time.sleep(self.random.uniform(0, 1))
        node.start()

    def kill_postgres(self):
        self.server.kill()
        self.cluster.kills += self.server.process.returncode == -signal.SIGKILL
        time.sleep(self.random.choice([0, 0, 1, 3]))
        self.server.start()

    def restart_postgres(self):
        self.server.stop()
        self.server.start()

    def terminate(self):
        for _ in range(self.random.randint(1, 5)):
            self.server.terminate_backends()
            time.sleep(self.random.uniform(0, 0.3))

    def stop_node(self):
        """Stops it, if that succeeds soon, while it holds the lock of the head."""
        node = self.node()
        for _ in range(50):
            node.process.send_signal(signal.SIGSTOP)
            if self.is_in_transaction():
                self.cluster.held += 1
                break
            node.process.send_signal(signal.SIGCONT)
            time.sleep(self.random.uniform(0, 0.02))
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(3, 5))
        node.process.send_signal(signal.SIGCONT)

    def is_in_transaction(self):
        return self.server.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'")[0] != "0"

    def drop_packets(self):
        self.drop([self.node()], self.random.uniform(2, 6))

    def drop_all_packets(self):
        self.drop(self.cluster.nodes, self.random.uniform(2, 6))

    def drop_packets_long(self):
        """For longer than a node waits for an answer."""
        self.drop([self.node()], self.random.uniform(11, 14))

    def drop(self, nodes, seconds):
        for node in nodes:
            node.cut()
        time.sleep(seconds)
        for node in nodes:
            node.mend()

    def cut_commit(self):
        """A node is cut off in the middle of a commit. The others must not wait for it."""
        node = self.node()
        objects = [{"_id": f"bulk-{n}", "text": "x" * 9_000} for n in range(100)]
        put = lambda count: node.ask("object.putMany", {"bucket": "bulk", "objects": objects[:count]})
        with contextlib.suppress(Unanswered, Refused):
            node.ask("bucket.delete", {"bucket": "bulk"})
        with contextlib.suppress(Unanswered):
            put(50)

        def commit():
            with contextlib.suppress(Unanswered):
                put(100)  # updates 50 and then inserts 50

        node.networks[0].cut_requests()
        commit = threading.Thread(target=commit, daemon=True)
        commit.start()
        time.sleep(0.5)
        begin = time.monotonic()
        others = [other for other in self.cluster.nodes if other is not node]
        took = max(self.cluster.wait_for_writes("beside a cut commit", others), default=begin) - begin
        if took > HANDOVER_SECONDS:
            self.cluster.violations.add(f"the other nodes waited {took:.1f} s for one that was cut off in a commit")
        node.mend()
        commit.join()

    def delete_many(self):
        """A node is killed while it deletes thousands of objects. The others have all of them or none, and take their
        ids at once."""
        node, count, answered = self.node(), 3_000, []
        put = {"bucket": "many", "objects": [{"_id": f"many-{n}", "n": n} for n in range(count)]}
        try:
            node.ask("object.putMany", put)
        except Unanswered:
            return

        def delete():
            with contextlib.suppress(Unanswered):
                clause = {"type": "all"}
                answered.append(node.ask("bucket.deleteWhere", {"bucket": "many", "bucketQuery": {"clause": clause}}))

        deleting = threading.Thread(target=delete, daemon=True)
        deleting.start()
        time.sleep(self.random.choice([0.02, 0.05, 0.1, 0.2, 0.5]))
        node.kill()
        self.cluster.kills += node.process.returncode == -signal.SIGKILL
        deleting.join()
        with contextlib.suppress(Unanswered):
            others = [other for other in self.cluster.nodes if other is not node]
            for other in others:
                left = other.ask("bucket.count", {"bucket": "many"})["count"]
                if left not in ([0] if answered else [0, count]):
                    self.cluster.violations.add(f"a deletion of {count} objects has left {left}: {answered}")
            self.random.choice(others).ask("object.putMany", put)
        node.start()

    ALL = {"kill-node": kill_node, "kill-postgres": kill_postgres, "restart-postgres": restart_postgres,
           "terminate": terminate, "stop-node": stop_node, "drop-packets": drop_packets,
           "drop-all-packets": drop_all_packets, "drop-packets-long": drop_packets_long, "cut-commit": cut_commit,
           "delete-many": delete_many}
