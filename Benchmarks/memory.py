#!/usr/bin/env python3
"""Measures whether memory comes back after a peak, and writes the report.

    Benchmarks/memory.py [--quick] [--objects 1000000] [--connections 9000] [--seconds 60]
                         [--output Benchmarks/results/memory.md] [--geobucket .build/release/geobucket]

A service is given something that passes: a load of objects by `geobucket load`, the deletion of one of two such
buckets, connections that each ask for a page and are closed. A minute later its resident memory is compared with
that of a service freshly started on the same store. README.md says what is measured.
"""
import argparse, contextlib, json, pathlib, resource, socket, sys, tempfile, time

from cluster_report import save, table
from cluster_services import Service, machine
from objects import write_objects

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import service  # noqa: E402
import wire  # noqa: E402

HITS, FRESH_SECONDS, TARGET = 100, 5, 1.15
OTHER_FILES, PATIENCE = 100, 600


def resident(one):
    """Bytes of resident memory, and those of them that are cached documents, which have a budget of their own."""
    memory = one.call("server.stats")["memory"]
    return memory["residentBytes"], memory["cachedDocumentBytes"]


class Run:
    def __init__(self, options, folder):
        self.options, self.folder, self.rows = options, folder, []
        self.objects = folder / "objects.ndjson"
        write_objects(self.objects, options.objects, seed=1)

    def progress(self, text):
        print(f"benchmarks: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def connect(self, one):
        """Opens connections, which all ask at once and are closed when all have their answer."""
        query = {"jsonrpc": "2.0", "id": 1, "method": "bucket.query", "params": {
            "bucket": "kept", "bestEffortLimit": HITS, "bucketQuery": {"orderBy": "_calculated.d", "clause": {
                "type": "geodistance", "field": "at", "center": {"_type": "point", "lat": 10, "lon": 10},
                "putDistanceInto": "d"}}}}
        line = json.dumps(query).encode() + b"\n"
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.create_connection(("127.0.0.1", one.port)))
                       for _ in range(self.options.connections)]
            for each in sockets:
                each.sendall(line)
            for each in sockets:
                if b'"result"' not in stack.enter_context(each.makefile("rb")).readline():
                    sys.exit("benchmarks: a query was refused")
            return resident(one)[0]

    def case(self, title, one, peak):
        """Compares a service with a fresh one on its store, which it leaves running."""
        self.progress(f"{title}: {self.options.seconds:g} s of rest")
        time.sleep(self.options.seconds)
        after, cached = resident(one)
        one.stop()
        one.start()
        time.sleep(FRESH_SECONDS)
        fresh, _ = resident(one)
        self.rows.append((title, peak, after, cached, fresh))
        self.progress(f"{title}: {peak / 1e6:,.0f} MB, then {after / 1e6:,.0f} with {cached / 1e6:,.0f} of cached documents, "
                      f"fresh {fresh / 1e6:,.0f}")

    def all(self):
        options = self.options
        one = Service.embedded(options.geobucket, self.folder)
        try:
            self.progress(f"{options.objects:,} objects")
            one.load(self.objects, "kept")
            self.case(f"a load of {options.objects:,} objects", one, resident(one)[0])
            one.load(self.objects, "gone")
            peak = resident(one)[0]
            with contextlib.closing(wire.Connection(one.port, seconds=PATIENCE)) as connection:
                connection.call("bucket.delete", {"bucket": "gone"})
            self.case(f"another load of {options.objects:,}, and the deletion of its bucket", one, peak)
            self.case(f"{options.connections:,} connections with a page each", one, self.connect(one))
        finally:
            one.stop()


def report(rows, machine):
    megabytes = lambda value: f"{value / 1e6:,.0f}"
    lines = ["# Memory that comes back", "", *(f"- {line}" for line in machine),
             "- `Benchmarks/memory.py`: resident memory in MB, a minute after, beside a service freshly started on the same "
             "store", "",
             "Cached documents have a budget of their own (`--document-cache-bytes`), so the share is of the rest.", ""]
    lines += table(["after", "at its peak", "a minute later", "of these cached documents", "a fresh start", "share", "target"], [
        [title, megabytes(peak), megabytes(after), megabytes(cached), megabytes(fresh), f"{(after - cached) / fresh:.0%}",
         f"{TARGET:.0%}"] for title, peak, after, cached, fresh in rows])
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run of a minute; its numbers mean little")
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=9_000)
    parser.add_argument("--seconds", type=float, default=60, help="of rest")
    parser.add_argument("--output", default=str(pathlib.Path(__file__).parent / "results/memory.md"))
    service.add_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.connections = 5, 500
        options.objects = min(options.objects, 50_000)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    options.connections = min(options.connections, most - OTHER_FILES)
    with tempfile.TemporaryDirectory(prefix="geobucket-benchmark-") as folder:
        run = Run(options, pathlib.Path(folder))
        run.all()
    save(options.output, report(run.rows, machine()))


if __name__ == "__main__":
    main()
