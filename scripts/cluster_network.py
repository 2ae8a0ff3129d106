"""Every packet between a node and PostgreSQL is dropped for some time."""
import os, shutil, sys, time

import postgres
from cluster_nodes import DistantNode
from cluster_rounds import Cluster

DROP_SECONDS, ROUNDS, REFUSAL_SECONDS = 30, 2, 12
NEEDED = {"ip": "iproute2", "iptables": "iptables"}


class DistantCluster(Cluster):
    node_class = DistantNode


def drop_packets(faults):
    """The others go on at once; the node itself refuses in time, and does not end."""
    node, cluster = faults.node(), faults.cluster
    others = [other for other in cluster.nodes if other is not node]
    node.cut()
    begin = time.monotonic()
    took = max(cluster.wait_for_writes("beside a node whose packets are dropped", others), default=begin) - begin
    if took > REFUSAL_SECONDS:
        cluster.violations.add(f"the other nodes waited {took:.1f} s for one whose packets are dropped")
    time.sleep(max(0, begin + DROP_SECONDS - time.monotonic()))
    node.mend()


def run(options, folder):
    missing = [package for program, package in NEEDED.items() if not shutil.which(program)]
    if missing or os.getuid() != 0:
        sys.exit(f"geobucket: dropping packets needs root, and Debian's {' and '.join(NEEDED.values())}")
    with postgres.serving(settings=["listen_addresses=*"]) as server:
        with DistantCluster(options, server, folder, {"drop-packets": drop_packets}) as cluster:
            cluster.run(ROUNDS if options.rounds is None else options.rounds)
            cluster.finish()
