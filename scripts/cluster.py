#!/usr/bin/env python3
"""Clients write to and read from several nodes over one PostgreSQL while faults happen: every answered write has
to be there afterwards, none twice; the answers about each object must have an order that explains them; and all
nodes must have the same in the end.

    scripts/cluster.py [PART …] [--rounds N] [--seconds 0] [--seed 1] [--nodes N] [--loss] [--faults kill-node,…]
                       [--geobucket .build/release/geobucket] [--evidence cluster-evidence]
    scripts/cluster.py copies [--copies 2] [--nodes 5] [--buckets 200] [--rounds 20] [--seconds 0] [--seed 1]

The parts (faults):

    faults     Each round has one fault: a node is killed (kill -9) and started again, sometimes without its cache;
               PostgreSQL is killed, or ended in order, and started again; a node is stopped (SIGSTOP) for some
               seconds, most likely within a transaction; all connections are terminated; the network between one
               node or all and PostgreSQL passes nothing on for some seconds, or nothing after the first half of a
               commit. With --loss PostgreSQL is put back to an earlier state at the end: the nodes have to notice,
               to agree with it, and to go on. (200 rounds)
    local      The same faults, while the nodes have --reads local: what was written on a node is seen there, a read
               with atLeast sees that change, and no answer is older than followMilliseconds. (20 rounds)
    failover   PostgreSQL under Patroni with synchronous replication. Each round kills the primary with its Patroni,
               or switches over: no answered write is lost, and nodes write again within 15 s. (6 rounds) Debian's
               patroni and etcd-server are installed if they are missing.
    promotion  A standby that lacks answered writes becomes the primary: the nodes have to notice, to agree with it,
               to say so, and to go on.
    standby    PostgreSQL with synchronous replication. The standby is away, and the sessions that wait for it are ended
               or canceled, or the primary is killed and started again. Then the primary is lost, and the standby takes
               over: no answered write is lost.
    network    Every packet between a node and PostgreSQL is dropped for 30 s. Needs root.
    lag        A node lacks 150 MB, over a network that passes 10 MB/s: because it was cut off, and because it was down.
               The other one keeps nine tenths of its writes a second meanwhile, and it catches up; if it lacks more
               than half of the tables, it copies them anew.
    watches    The same faults, while clients watch, end their watches, and go on at any node, from where they were
               or from long before: at each rest a watch must have what was written. Then PostgreSQL is put back to
               an earlier state while the nodes are stopped, and no watch may go on from what is lost. With --reads
               latest, and again with local. (20 rounds)
    copies     Each bucket is on some of the nodes only (--copies): nodes are killed, stopped, added and ended, and
               PostgreSQL is killed, while clients ask nodes at random and know every answer. It also measures the
               memory of a node and the processor time of a request that is passed on. (20 rounds)
    disk       The disk of PostgreSQL's tables is full: writes are refused with STORE_FULL, nothing of them is there,
               and they go on when there is room. Needs root.

--seconds ends the rounds early.
"""
import argparse, pathlib, signal, sys, tempfile

import cluster_disk, cluster_failover, cluster_lag, cluster_local, cluster_network, cluster_standby
import cluster_watches, copies, postgres, service
from cluster_faults import Faults
from cluster_loss import Loss
from cluster_rounds import Cluster


def faults(options, folder):
    with postgres.serving() as server:
        with Cluster(options, server, folder, {name: Faults.ALL[name] for name in options.faults}) as cluster:
            cluster.run(200 if options.rounds is None else options.rounds)
            cluster.rest()
            cluster.turn_to_second_server()
            if options.loss:
                Loss(cluster).run()
            cluster.finish()


PARTS = {"faults": faults, "local": cluster_local.run, "failover": cluster_failover.run,
         "promotion": cluster_failover.promote, "standby": cluster_standby.run,
         "network": cluster_network.run, "lag": cluster_lag.run, "disk": cluster_disk.run,
         "watches": cluster_watches.run,
         "copies": copies.run}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"({','.join(PARTS)})")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--loss", action="store_true")
    parser.add_argument("--copies", type=int, default=2, help="for copies (2)")
    parser.add_argument("--buckets", type=int, default=200, help="for copies (200)")
    parser.add_argument("--stop", action="store_true", help="end at the first violation")
    parser.add_argument("--faults", type=lambda text: text.split(","), default=list(Faults.ALL),
                        help=f"({','.join(Faults.ALL)})")
    parser.add_argument("--evidence", default="cluster-evidence")
    service.add_option(parser)
    options = parser.parse_args()
    for given, known in [(options.faults, Faults.ALL), (options.parts, PARTS)]:
        if unknown := set(given) - set(known):
            parser.error(f"there are no {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("geobucket: the cluster was asked to end"))
    for name in options.parts or ["faults"]:
        with tempfile.TemporaryDirectory(prefix="geobucket-cluster-") as folder:
            PARTS[name](options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
