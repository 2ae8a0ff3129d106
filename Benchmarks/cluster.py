#!/usr/bin/env python3
"""Measures a cluster beside the embedded service, in one run, and writes the report.

    Benchmarks/cluster.py [--quick] [--rounds 9] [--seconds 4] [--objects 1000000] [--output Benchmarks/results/cluster.md]
                          [--geobucket .build/release/geobucket]

Rounds go over all services, one after the other, so that what else happens on the machine concerns all of them alike;
figures are medians of the rounds. PostgreSQL syncs every commit to its disk (TMPDIR has to be on one). Nothing else
should run on the machine. README.md says what is measured.
"""
import argparse, contextlib, os, pathlib, signal, statistics, subprocess, sys, tempfile, time

from cluster_report import report, save
from cluster_services import Load, Service, Yardstick, machine, nanoseconds, postgres

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import service  # noqa: E402

READS, WRITES = "radius=60,nearest=25,box=15", "move=1"
READERS, WRITERS, NODES = 16, 64, 3


class Run:
    def __init__(self, options, folder):
        self.options, self.folder, self.figures, self.services = options, folder, {}, []
        self.server = postgres.Postgres(folder / "postgres", durable=True, settings=["shared_buffers=1GB"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.services:
            one.stop()
        if self.server.process.poll() is None:
            self.server.stop()

    def note(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def progress(self, text):
        print(f"benchmarks: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def all(self):
        geobucket, objects = self.options.geobucket, self.options.objects
        self.progress(f"{objects:,} objects, embedded and in PostgreSQL")
        embedded = self.begun(Service.embedded(geobucket, self.folder))
        latest = [self.node("latest-0")]
        for one in [embedded, *latest]:
            subprocess.run([geobucket, "loadtest", "--server", f"127.0.0.1:{one.port}", "--prepare", str(objects),
                            "--seconds", "0.2", "--warm-up", "0", "--rate", "10"], check=True, stdout=subprocess.DEVNULL)
        self.server.sql("VACUUM ANALYZE geobucket.object")
        # What a service has written it has in memory; what it has copied or loaded it has to read first.
        for one in [embedded, *latest]:
            one.stop()
            one.start()
        self.progress("cold copies")
        for number in range(1, NODES):
            latest.append(self.node(f"latest-{number}"))
            self.note("cold", latest[-1].seconds_to_start)
        local = self.node("local", "--reads", "local")
        self.note("cold", local.seconds_to_start)
        for number in range(self.options.rounds):
            self.progress(f"round {number + 1} of {self.options.rounds}: reads")
            self.reads({"embedded": [embedded], "local": [local], "latest": latest[:1]}, number)
            self.progress(f"round {number + 1} of {self.options.rounds}: writes")
            self.writes({"embedded": [embedded], "alone": latest[:1], "one": latest[:1], "two": latest[:2], "three": latest},
                        number)
        self.progress("lag of a follower at half load")
        self.lag(latest[0], local, statistics.median(self.figures["one writes"]) / 2)

    def node(self, name, *flags):
        return self.begun(Service.node(name, self.options.geobucket, self.folder, self.server, *flags))

    def begun(self, one):
        self.services.append(one)
        return one

    def postgres_nanoseconds(self):
        return {child: nanoseconds(child) for child in self.server.children()}

    def postgres_used(self, before):
        return sum(now - before.get(child, 0) for child, now in self.postgres_nanoseconds().items())

    def reads(self, services, seed):
        for name, some in services.items():
            before = self.postgres_nanoseconds()
            load = Load(some, READS, READERS, self.options.seconds, seed=seed)
            self.note(f"{name} reads", load.per_second)
            self.note(f"{name} read us", load.microseconds)
            self.note(f"{name} read postgres us", self.postgres_used(before) / 1e3 / load.answered_at_all)

    def writes(self, services, seed):
        """The nodes write in turns of one, two and three; those that do not write follow, but stand still beside the one
        that is alone."""
        for name, some in services.items():
            nodes = services["three"] if name != "alone" else []
            head, batches = self.head(), sum(self.batches(node) for node in some)
            before, wal, network = self.postgres_nanoseconds(), self.wal(), self.network()
            idle = [(node, node.nanoseconds()) for node in nodes if node not in some]
            with self.standing_still(one for one in self.services if name == "alone" and one not in some):
                load = Load(some, WRITES, WRITERS // len(some), self.options.seconds, seed=seed)
            self.note(f"{name} writes", load.per_second)
            self.note(f"{name} write us", load.microseconds)
            if name == "embedded":
                continue
            changes = self.head() - head
            size = changes / max(1, sum(self.batches(node) for node in some) - batches)
            self.note(f"{name} batch", size)
            self.note(f"{name} write postgres us", self.postgres_used(before) / 1e3 / changes)
            self.note(f"{name} wal", (self.wal() - wal) / changes)
            self.note(f"{name} network", (self.network() - network) / changes)
            for node, used in idle:
                self.note("follow us", (node.nanoseconds() - used) / 1e3 / changes)
                self.note("follow batch us", (node.nanoseconds() - used) / 1e3 / changes * size)
            if name == "alone":
                for clients in [1, 4]:
                    self.note(f"pgbench {clients}", Yardstick(self.server, self.folder).rows_per_second(
                        max(1, round(size)), clients, self.options.seconds))

    @contextlib.contextmanager
    def standing_still(self, services):
        stopped = list(services)
        for one in stopped:
            one.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for one in stopped:
                one.process.send_signal(signal.SIGCONT)
            for one in stopped:
                while one.call("server.stats").get("cluster", {}).get("applied", self.head()) < self.head():
                    time.sleep(0.1)

    def head(self):
        return int(self.server.sql("SELECT max(last_change) FROM geobucket.batch")[0])

    def wal(self):
        """Bytes that PostgreSQL has logged."""
        return int(self.server.sql("SELECT (pg_current_wal_lsn() - '0/0')::bigint")[0])

    @staticmethod
    def network():
        """Bytes that have passed the loopback interface: those of clients, nodes and PostgreSQL together."""
        for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
            if line.split()[:1] == ["lo:"]:
                return int(line.split()[1])

    @staticmethod
    def batches(node):
        return node.call("server.stats").get("cluster", {}).get("batches", 0)

    def lag(self, writer, follower, rate):
        """From the answer to a write on one node until another with local reads shows it, while the first is at half
        of what it can carry."""
        load = subprocess.Popen(
            [self.options.geobucket, "loadtest", "--server", f"127.0.0.1:{writer.port}", "--mix", WRITES, "--connections",
             str(WRITERS), "--rate", str(max(1, round(rate))), "--seconds", str(self.options.seconds * 3), "--warm-up", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lags, (there, here) = [], (writer.connect(), follower.connect())
        number = 0
        while load.poll() is None:
            number += 1
            there.call("object.put", {"bucket": "lag", "id": "last", "object": {"n": number}})
            written = time.monotonic()
            while True:
                asked = time.monotonic()
                try:
                    found = here.call("object.get", {"bucket": "lag", "id": "last"})["n"]
                except Exception:
                    found = 0
                if found == number:
                    break
            lags.append(max(0, asked - written))
            time.sleep(0.002)
        self.figures["lag"] = sorted(lags)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes; its numbers mean little")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--note", default="", help="a sentence for the report about the machine")
    parser.add_argument("--output", default=str(pathlib.Path(__file__).parent / "results/cluster.md"))
    service.add_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.objects = min(options.rounds, 3), 2, min(options.objects, 100_000)
    with tempfile.TemporaryDirectory(prefix="geobucket-benchmark-") as folder:
        os.chmod(folder, 0o755)
        with Run(options, pathlib.Path(folder)) as run:
            load = os.getloadavg()[0]
            run.all()
    save(options.output, report(run.figures, options, [*machine(), postgres.version()], load))


if __name__ == "__main__":
    main()
