#!/usr/bin/env python3
"""Measures what live queries cost a service and its writers, and writes the report.

    Benchmarks/watches.py [--quick] [--rounds 5] [--seconds 8] [--objects 1000000] [--watches 10000] [--moves 1000000]
                          [--output Benchmarks/results/watches.md] [--geobucket .build/release/geobucket]

The generator is `geobucket loadtest` on the same machine: 64 connections move objects by 100 m, each move durable, and
have circles of 2 km around objects as watches. Rounds go over everything in turns, and figures are medians. The
processor time of a thread is the kernel's, by the thread's name. README.md says what is measured.
"""
import argparse, contextlib, json, pathlib, statistics, subprocess, sys, tempfile, threading, time

from cluster_report import save, table
from cluster_services import Service, machine

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import service  # noqa: E402

CONNECTIONS, RADIUS, RATE, FASTEST = 64, 2_000, 10_000, 100_000
RADII = [RADIUS // 10, RADIUS // 2, RADIUS]
# All connections are always busy. What has not been answered in the end is given up, with its connection.
FULL = ["--warm-up", 0, "--patience", 0.2]
AT_A_RATE = ["--warm-up", 1, "--patience", 10]
# Of percentiles in the list of a load test's report.
PLACES = {"50": 3, "99": 8}


class Sampler(threading.Thread):
    """What the service has used and done, several times a second."""

    def __init__(self, one):
        super().__init__(daemon=True)
        self.one, self.samples, self.isOver = one, [], threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        self.join()

    def run(self):
        with contextlib.closing(self.one.connect()) as connection:
            while not self.isOver.wait(0.2):
                stats = connection.call("server.stats")
                self.samples.append({
                    "time": time.monotonic(), "change": stats["change"], "commits": stats["commits"],
                    "events": stats["watches"]["events"], "resident": stats["memory"]["residentBytes"],
                    "threads": self.threads()})

    def threads(self):
        """Nanoseconds by the name of the thread; those of the event loops together."""
        used = {}
        for task in pathlib.Path(f"/proc/{self.one.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                name = (task / "comm").read_text().strip()
                name = "event loops" if name.startswith("NIO-ELT") else name
                used[name] = used.get(name, 0) + int((task / "schedstat").read_text().split()[0])
        return used

    def middle(self):
        """Between a fifth and nine tenths of the moves: microseconds a move by thread, and what a move comes to."""
        first, last = self.samples[0]["change"], self.samples[-1]["change"]
        inside = [sample for sample in self.samples
                  if first + 0.2 * (last - first) <= sample["change"] <= first + 0.9 * (last - first)]
        begin, end = inside[0], inside[-1]
        moves = end["change"] - begin["change"]
        used = {name: (end["threads"].get(name, 0) - begin["threads"].get(name, 0)) / 1e3 / moves for name in end["threads"]}
        return used, {
            "moves": moves / (end["time"] - begin["time"]), "events": (end["events"] - begin["events"]) / moves,
            "commit": moves / max(1, end["commits"] - begin["commits"])}


class Run:
    def __init__(self, options, folder):
        self.options, self.folder, self.figures = options, folder, {}
        self.one = Service.embedded(options.geobucket, folder)

    def note(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def progress(self, text):
        print(f"benchmarks: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def all(self):
        options = self.options
        self.progress(f"{options.objects:,} objects")
        one = self.one
        self.load(one, 10, 0.2, "--prepare", options.objects, *FULL)
        # Until merges and columns are done.
        self.load(one, FASTEST, options.seconds, *FULL)
        for number in range(options.rounds):
            self.progress(f"round {number + 1} of {options.rounds}")
            for watches in [0, options.watches][::1 - 2 * (number % 2)]:
                self.moves(f"{watches}", one, FASTEST, watches, number)
            self.moves("fixed 0", one, RATE, 0, number)
            for radius in RADII:
                self.moves(f"fixed {radius}", one, RATE, options.watches, number, radius)
            self.moves("half", one, statistics.median(self.figures["0 moves"]) / 2, options.watches, number)
        self.progress(f"{options.moves:,} moves")
        self.memory(one)

    def load(self, one, rate, seconds, *flags):
        file = self.folder / "load.json"
        done = subprocess.run(
            [self.options.geobucket, "loadtest", "--server", f"127.0.0.1:{one.port}", "--mix", "move=1", "--connections",
             str(CONNECTIONS), "--rate", str(rate), "--seconds", str(seconds), "--json", file, *map(str, flags)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"benchmarks: the load could not be sent: {done.stderr}")
        return json.loads(file.read_text())["stages"][-1]

    def moves(self, name, one, rate, watches, seed, radius=RADIUS):
        with Sampler(one) as sampler:
            stage = self.load(one, rate, self.options.seconds, "--seed", seed, "--watches", watches, "--watch-radius",
                              f"{radius}m", *(FULL if rate == FASTEST else AT_A_RATE))
        used, counts = sampler.middle()
        for what, value in counts.items():
            self.note(f"{name} {what}", value)
        self.note(f"{name} us", sum(used.values()))
        for thread in ["watches", "watch lists", "event loops", "writer"]:
            self.note(f"{name} {thread} us", used.get(thread, 0))
        if stage.get("watching", {}).get("measured"):
            self.note(f"{name} resyncs", stage["watching"]["resyncs"])
            for percentile, place in PLACES.items():
                self.note(f"{name} delay {percentile}", stage["watching"]["delay"]["percentiles"][place] / 1e3)

    def memory(self, one):
        """The resident memory while so many objects move."""
        with Sampler(one) as sampler:
            self.load(one, RATE, self.options.moves / RATE, "--watches", self.options.watches, "--watch-radius",
                      f"{RADIUS}m", *AT_A_RATE)
        first = sampler.samples[-1]["change"] - self.options.moves
        for tenth in range(11):
            at = first + self.options.moves * tenth // 10
            nearest = min(sampler.samples, key=lambda sample: abs(sample["change"] - at))
            self.note("resident", nearest["resident"] / 1e6)


def fit(points):
    """The line through points: where it begins, and its slope."""
    result = statistics.linear_regression(*zip(*points))
    return result.intercept, result.slope


def delays(middle, name):
    return ", ".join(f"{middle[f'{name} delay {percentile}']:.1f}" for percentile in PLACES if f"{name} delay {percentile}" in middle)


def report(figures, options, machine):
    middle = {name: statistics.median(values) for name, values in figures.items()}
    base, each = fit([(middle[f"fixed {radius} events"], middle[f"fixed {radius} watches us"]) for radius in RADII])
    watches = str(options.watches)
    share = middle[f"{watches} moves"] / middle["0 moves"]
    kept = middle[f"fixed {RADIUS} moves"] / middle["fixed 0 moves"]
    count = lambda value: f"{value:,.0f}"
    lines = ["# Live queries", "", *(f"- {line}" for line in machine),
             f"- `Benchmarks/watches.py`: {options.objects:,} objects around cities, {options.watches:,} circles around objects "
             f"on {CONNECTIONS} connections, which move objects by 100 m; medians of {options.rounds} rounds of "
             f"{options.seconds:g} s"]
    lines += ["", "Generator and service share the processors of one machine.", ""]
    lines += table(["", "measured", "target"], [
        [f"processor time of matching, a move, besides the events ({count(RATE)} moves a second)", f"{base:.1f} µs", "10 µs"],
        ["… and for each event", f"{each:.1f} µs", ""],
        [f"of {count(RATE)} moves a second, done with the watches, by those without", f"{kept:.0%}", "90 %"],
        ["moves a second with the watches, by those without, when both take all there is", f"{share:.0%}", "90 %"],
        ["from the answer to a move until its event, p50, at half of the moves without watches",
         f"{middle['half delay 50']:.1f} ms", ""],
        ["… p99", f"{middle['half delay 99']:.1f} ms", "20 ms"]])
    rows = []
    for name, title in [("0", "as fast as it can, no watches"), (watches, f"as fast as it can, circles of {RADIUS:,} m"),
                        ("fixed 0", f"{RATE:,} a second, no watches"),
                        *((f"fixed {radius}", f"{RATE:,} a second, circles of {radius:,} m") for radius in RADII),
                        ("half", f"half as fast as it can, circles of {RADIUS:,} m")]:
        rows.append([title, count(middle[f"{name} moves"]), f"{middle[f'{name} commit']:.1f}",
                     f"{middle[f'{name} events']:.2f}",
                     *(f"{middle[f'{name} {part}us']:.1f}" for part in ["", "watches ", "event loops ", "writer "]),
                     delays(middle, name)])
    lines += ["Microseconds of processor time of the service, a move:", ""]
    lines += table(["moves", "a second", "a commit", "events a move", "all", "matching", "event loops", "writer",
                    "delay p50, p99 ms"], rows)
    resident = figures["resident"]
    lines += [f"Resident memory while {options.moves:,} objects moved beside the watches, MB, after each tenth: "
              + ", ".join(f"{value:,.0f}" for value in resident) + ".", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes; its numbers mean little")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--watches", type=int, default=10_000)
    parser.add_argument("--moves", type=int, default=1_000_000)
    parser.add_argument("--output", default=str(pathlib.Path(__file__).parent / "results/watches.md"))
    service.add_option(parser)
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.moves = 1, 2, 50_000
        options.objects = min(options.objects, 100_000)
    with tempfile.TemporaryDirectory(prefix="geobucket-benchmark-") as folder:
        run = Run(options, pathlib.Path(folder))
        try:
            run.all()
        finally:
            run.one.stop()
    save(options.output, report(run.figures, options, machine()))


if __name__ == "__main__":
    main()
