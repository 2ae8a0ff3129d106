"""Another server becomes the primary: with all answered writes, or without some of them."""
import signal, time

import patroni, postgres
from cluster_faults import Faults
from cluster_loss import RECOVERY_SECONDS, Loss
from cluster_nodes import Network
from cluster_rounds import Cluster

FAILOVER_SECONDS, ROUNDS = 15, 6


class PatroniCluster(Cluster):
    limit_seconds = FAILOVER_SECONDS

    def repair(self):
        """Whoever was killed comes back, as a standby."""
        for member in self.server.members:
            if member.process.poll() is not None:
                member.start()
        self.server.wait()


def kill_primary(faults):
    faults.cluster.repair()
    primary = faults.server.primary()
    primary.kill()
    faults.cluster.kills += primary.process.returncode == -signal.SIGKILL


def switch_over(faults):
    faults.cluster.repair()
    faults.server.switch_over()


def run(options, folder):
    folder.chmod(0o755)  # for PostgreSQL's account
    with patroni.serving(folder / "patroni") as server:
        kinds = {"kill-primary": kill_primary, "switch-over": switch_over}
        with PatroniCluster(options, server, folder, kinds) as cluster:
            cluster.run(ROUNDS if options.rounds is None else options.rounds)
            rebuilds = sum(node.ask("server.stats")["cluster"]["rebuilds"] for node in cluster.nodes)
            if rebuilds:
                cluster.violations.add(f"nodes were rebuilt {rebuilds} times, so a failover has lost changes")
            cluster.finish()


class Pair:
    """A primary and its standby, which follows it unless the network between them is cut.

    - settings: further ones of the primary
    """

    def __init__(self, folder, settings=()):
        self.primary, self.standby = postgres.Postgres(folder / "primary", settings=settings), None
        self.network = Network(self.primary.port)
        try:
            self.standby = postgres.Postgres(folder / "standby", standby_of=self.network.port)
        except BaseException:
            self.end()
            raise
        self.ports, self.logs = [self.primary.port, self.standby.port], [self.primary.log, self.standby.log]
        self.server = self.primary

    def sql(self, text):
        return self.server.sql(text)

    def cut(self):
        """From here on the standby lacks what is written."""
        there = self.primary.sql("SELECT pg_current_wal_lsn()")[0]
        deadline = time.monotonic() + RECOVERY_SECONDS
        while self.standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{there}'") != ["t"] and time.monotonic() < deadline:
            time.sleep(0.05)
        self.network.cut()

    def promote(self):
        self.primary.kill()
        self.standby.promote()
        self.server = self.standby

    def end(self):
        self.network.end()
        for server in [self.primary, self.standby]:
            if server and server.process.poll() is None:
                server.kill()


def promote(options, folder):
    folder.chmod(0o755)  # for PostgreSQL's account
    servers = Pair(folder)
    try:
        with Cluster(options, servers, folder, {"kill-node": Faults.kill_node}) as cluster:
            cluster.run(2)
            Loss(cluster).lose("promotion", servers.cut, servers.promote)
            print("a standby without the last writes was promoted: the nodes noticed, agree with it, and go on")
            cluster.finish()
    finally:
        servers.end()
