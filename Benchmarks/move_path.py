#!/usr/bin/env python3
"""Follows moves from the socket to their answers, and draws where their time goes.

    Benchmarks/move_path.py [--objects 1000000] [--seconds 1] [--output Benchmarks/results]
                            [--geobucket .build/release/geobucket]

Sixteen connections move objects without a pause: alone, and beside sixteen that ask for circles, when those are
preferred and when nobody is. Linux tells when the service reads a request, syncs its log and writes an answer, and which
thread has a processor (perf, as root). It writes move-path.svg and move-path.md.
"""
import argparse, bisect, collections, pathlib, re, statistics, subprocess, sys, tempfile, time

from cluster_report import save, table
from cluster_services import Service, machine
from objects import write_objects

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import service  # noqa: E402

CONNECTIONS, WARM_UP_SECONDS, MORE_THAN_POSSIBLE = 16, 2, 200_000
# The answer to a move is shorter than that to a query.
ANSWER_BYTES, WAKE_UP_BYTES, MOST_BYTES = 160, 8, 1 << 40
# A title, who is preferred, and the loads.
CASES = [("moves alone", "balance", ["move"]), ("beside queries, --prefer reads", "reads", ["move", "radius"]),
         ("beside queries, --prefer balance", "balance", ["move", "radius"])]
EVENTS = ["sched:sched_switch", *(f"syscalls:sys_{end}_{call}" for call in ["read", "write", "fdatasync"]
                                  for end in ["enter", "exit"])]
LINE = re.compile(r"\s*(\S.*?)\s+(\d+)\s+([\d.]+):\s+\w+:(\w+):\s*(.*)")
STAGES = [("waits for the group before", "#b9c6d8"), ("is judged and written to the log", "#4c78a8"),
          ("waits for the disk", "#9a6fb0"), ("is published, and waits for its event loop", "#f2a65a")]


class Trace:
    """What perf recorded: for each thread of the service when it had a processor, and what it called."""

    def __init__(self, file, threads):
        self.running = collections.defaultdict(list)
        self.syncs, self.moves = [], []
        begun, reading, asked, syncing = {}, {}, {}, {}
        text = subprocess.run(["perf", "script", "-i", file, "-F", "comm,tid,time,event,trace"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        for line in text.splitlines():
            if not (found := LINE.match(line)):
                continue
            thread, now, event, rest = int(found[2]), float(found[3]) * 1e3, found[4], found[5]
            if event == "sched_switch":
                gone, come = (int(number) for number in re.findall(r"(?:prev|next)_pid=(\d+)", rest))
                if gone in begun:
                    self.running[gone].append((begun.pop(gone), now))
                if come in threads:
                    begun[come] = now
            elif thread not in threads:
                continue
            elif event == "sys_enter_read":
                reading[thread] = int(re.search(r"fd: (\w+)", rest)[1], 16)
            elif event == "sys_exit_read" and thread in reading:
                file_number = reading.pop(thread)
                # Not an error, which is a very large number here, and more than the eight bytes of a wake-up.
                if WAKE_UP_BYTES < int(rest, 16) < MOST_BYTES:
                    asked[file_number] = (now, thread)
            elif event == "sys_enter_write":
                file_number, count = (int(each, 16) for each in re.findall(r"(?:fd|count): (\w+)", rest))
                if file_number in asked and count < ANSWER_BYTES:
                    begin, loop = asked.pop(file_number)
                    self.moves.append((begin, now, loop))
            elif event == "sys_enter_fdatasync":
                syncing[thread] = now
            elif event == "sys_exit_fdatasync" and thread in syncing and threads[thread] == "writer":
                self.syncs.append((syncing.pop(thread), now, thread))

    def paths(self):
        """The times of each move: when it was read, the group before it was done, its own group was written and synced,
        and it was answered."""
        ends = [end for _, end, _ in self.syncs]
        for begin, end, loop in self.moves:
            number = bisect.bisect_left(ends, end) - 1
            if number < 1 or self.syncs[number][1] < begin:
                continue
            free = max(begin, min(ends[number - 1], self.syncs[number][0]))
            yield (begin, free, max(free, self.syncs[number][0]), ends[number], end), loop, self.syncs[number][2]


def record(one, options, file, *mixes):
    """Traces a service under some loads at once; each is a mix of `geobucket loadtest`."""
    loads = [subprocess.Popen(
        [options.geobucket, "loadtest", "--server", f"127.0.0.1:{one.port}", "--bucket", "objects", "--field", "at", "--mix",
         f"{mix}=1", "--rate", str(MORE_THAN_POSSIBLE), "--connections", str(CONNECTIONS), "--radius", "9km", "--warm-up", "0",
         "--patience", "1", "--seconds", str(options.seconds + WARM_UP_SECONDS + 30)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for mix in mixes]
    # They read the bucket before they begin.
    while one.call("server.stats")["connections"]["open"] < 1 + len(mixes) * CONNECTIONS:
        time.sleep(0.2)
    time.sleep(WARM_UP_SECONDS)
    threads = {}
    for task in pathlib.Path(f"/proc/{one.process.pid}/task").iterdir():
        threads[int(task.name)] = (task / "comm").read_text().strip()
    command = ["perf", "record", "-q", "-a", "-o", file, *(word for event in EVENTS for word in ("-e", event))]
    failed = subprocess.run([*command, "--", "sleep", str(options.seconds)], stdout=subprocess.DEVNULL).returncode
    for load in loads:
        load.kill()
        load.wait()
    if failed:
        sys.exit("benchmarks: perf cannot record; it needs root and the tracepoints of system calls")
    return Trace(file, threads)


def lengths(path):
    return [after - before for before, after in zip(path, path[1:])]


def bar(path, y, scale, height):
    x = 0
    for (name, color), length in zip(STAGES, lengths(path)):
        yield (f'<rect x="{230 + x * scale:.1f}" y="{y}" width="{length * scale:.1f}" height="{height}" fill="{color}">'
               f"<title>{name}: {length:.2f} ms</title></rect>")
        x += length


def text(x, y, words, anchor="start", size=12):
    return f'<text x="{x:.1f}" y="{y}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def picture(cases):
    """For each case a move of the middle: its stages, and when its threads had a processor."""
    longest = max(path[-1] - path[0] for _, _, (path, _, _) in cases)
    scale, y = 650 / longest, 20
    parts = []
    for number, (name, color) in enumerate(STAGES):
        x = 10 + 235 * number
        parts += [f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{color}"/>', text(x + 17, y, name, size=11)]
    for title, trace, (path, loop, writer) in cases:
        y += 40
        whole = path[-1] - path[0]
        parts += [text(10, y + 14, title), *bar(path, y, scale, 20), text(235 + whole * scale, y + 14, f"{whole:.1f} ms")]
        for name, thread in [("event loop has a processor", loop), ("writer has a processor", writer)]:
            y += 24
            parts.append(text(220, y + 12, name, "end", 11))
            for begin, end in trace.running[thread]:
                begin, end = max(begin, path[0]), min(end, path[-1])
                if begin < end:
                    parts.append(f'<rect x="{230 + (begin - path[0]) * scale:.1f}" y="{y + 2}" '
                                 f'width="{max(0.5, (end - begin) * scale):.1f}" height="12" fill="#777"/>')
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {y + 30}" font-family="sans-serif">',
                      f'<rect width="960" height="{y + 30}" fill="white"/>', *parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--output", default=str(pathlib.Path(__file__).parent / "results"))
    service.add_option(parser)
    options = parser.parse_args()
    cases, rows = [], []
    with tempfile.TemporaryDirectory(prefix="geobucket-benchmark-") as folder:
        folder = pathlib.Path(folder)
        write_objects(folder / "objects.ndjson", options.objects, seed=1)
        for title, preferred, mixes in CASES:
            one = Service.embedded(options.geobucket, folder, "--prefer", preferred)
            try:
                if not cases:
                    one.load(folder / "objects.ndjson", "objects")
                trace = record(one, options, folder / "trace", *mixes)
            finally:
                one.stop()
            paths = sorted(trace.paths(), key=lambda each: each[0][-1] - each[0][0])
            if not paths:
                sys.exit("benchmarks: no move was seen from its beginning to its end")
            cases.append((title, trace, paths[len(paths) // 2]))
            stages = zip(*(lengths(path) for path, _, _ in paths))
            whole = [path[-1] - path[0] for path, _, _ in paths]
            rows.append([title, f"{len(paths):,}", *(f"{statistics.median(stage):.2f}" for stage in stages),
                         f"{statistics.median(whole):.2f}", f"{whole[len(whole) * 99 // 100]:.2f}"])
    output = pathlib.Path(options.output)
    save(output / "move-path.svg", picture(cases))
    lines = ["# The path of a move", "", *(f"- {line}" for line in machine()),
             f"- `Benchmarks/move_path.py`: {CONNECTIONS} connections move objects without a pause, alone and beside as many that "
             f"ask for circles; {options.objects:,} objects; followed for {options.seconds:g} s", "",
             "From the moment when the service has read a move until it writes the answer, in milliseconds: medians of each "
             "stage and of the whole.", "",
             *table(["", "moves", *(name for name, _ in STAGES), "whole", "p99"], rows), "",
             "One move of the middle each, and when its two threads had a processor. Before there was `--prefer`, reads were "
             "preferred.", "", "![A move's path](move-path.svg)", ""]
    save(output / "move-path.md", "\n".join(lines))


if __name__ == "__main__":
    main()
