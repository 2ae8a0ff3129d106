"""The page that Benchmarks/cluster.py writes."""
import pathlib, statistics, sys

NAMES = {"embedded": "embedded", "local": "a node, `--reads local`", "latest": "a node, `--reads latest`",
         "alone": "one node, no other runs", "one": "one node, three others follow", "two": "two nodes, two others follow",
         "three": "three nodes, another follows"}
FOLLOWERS = 3


def table(head, rows):
    line = lambda cells: "| " + " | ".join(str(cell) for cell in cells) + " |"
    return [line(head), line(["---"] + ["---:"] * (len(head) - 1)), *map(line, rows), ""]


def save(output, text):
    """Writes a page, and says where."""
    output = pathlib.Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)
    print(f"benchmarks: wrote {output}", file=sys.stderr)


def report(figures, options, machine, load):
    middle = {name: statistics.median(values) for name, values in figures.items() if values}
    count = lambda value: f"{value:,.0f}"
    share = lambda value, whole: f"{100 * value / whole:.0f} %"
    lines = ["# A cluster beside the embedded service", "", *(f"- {line}" for line in machine),
             f"- {options.objects:,} objects, medians of {options.rounds} rounds of {options.seconds:g} s; load average of "
             f"the machine before the run: {load:.1f}"]
    if options.quick:
        lines.append("- a smoke run (`--quick`): its numbers mean little")
    if options.note:
        lines.append(f"- {options.note}")
    lines += ["", "Generator, services and PostgreSQL share the processors of one machine. Processor time is steadier "
              "than throughput.", "", "## Reads, 16 connections", ""]
    whole = middle["embedded reads"]
    targets = {"embedded": "", "local": "90 %", "latest": "75 %"}
    lines += table(["", "a second", "share", "target", "µs of the service", "µs of PostgreSQL"], [
        [NAMES[name], count(middle[f"{name} reads"]), share(middle[f"{name} reads"], whole), targets[name],
         f"{middle[f'{name} read us']:.1f}", f"{middle[f'{name} read postgres us']:.1f}"] for name in targets])
    lines += ["## Durable updates, 64 connections", ""]
    yardstick = max(middle["pgbench 1"], middle["pgbench 4"])
    rows = []
    for name in ["embedded", "alone", "one", "two", "three"]:
        target = {"alone": "40 % of pgbench", "two": "100 % of one node"}.get(name, "")
        rows.append([NAMES[name], count(middle[f"{name} writes"]), share(middle[f"{name} writes"], yardstick), target,
                     f"{middle[f'{name} batch']:.0f}" if name != "embedded" else "", f"{middle[f'{name} write us']:.0f}",
                     f"{middle[f'{name} write postgres us']:.0f}" if name != "embedded" else ""])
    for clients in ["1", "4"]:
        rows.append([f"pgbench, the same rows and batches, {clients} at a time", count(middle[f"pgbench {clients}"]),
                     share(middle[f"pgbench {clients}"], yardstick), "", f"{middle['alone batch']:.0f}", "", ""])
    lines += table(["", "rows a second", "share of pgbench", "target", "rows a batch", "µs of the services a row",
                    "µs of PostgreSQL a row"], rows)
    lags = figures["lag"]
    at = lambda part: f"{1e3 * lags[min(len(lags) - 1, int(part * len(lags)))]:.1f} ms"
    cold = max(figures["cold"])
    lines += ["## Following", ""] + table(["", "measured", "target"], [
        ["lag of a follower at half load, p50", at(0.5), ""], ["… p99", at(0.99), "20 ms"],
        [f"cold copy of {options.objects:,} objects, the slowest", f"{cold:.1f} s", "15 s for 1,000,000"],
        ["processor time of a node that follows, a change", f"{middle['follow us']:.1f} µs", ""],
        ["bytes of write-ahead log, a change", count(middle["one wal"]), ""],
        ["processor time of PostgreSQL for it, a change", f"{serving(middle):.1f} µs", ""],
        ["bytes on the loopback interface, a change, with one node that writes and three that follow",
         count(middle["one network"]), ""]])
    return "\n".join(lines + limits(middle)) + "\n"


def serving(middle):
    """Microseconds of PostgreSQL that each follower costs, a change."""
    return max(0, middle["one write postgres us"] - middle["alone write postgres us"]) / FOLLOWERS


def limits(middle):
    """Where more nodes end, by arithmetic."""
    size, writes = middle["one batch"], middle["one writes"]
    lines = ["## What one PostgreSQL carries", "",
             f"Beside {FOLLOWERS} followers one node wrote {writes:,.0f} rows a second in batches of {size:.0f}, which are "
             f"{writes / size:,.0f} commits a second. Each commit sends one notification (some 80 bytes) to each node, and "
             f"each node fetches each batch in one transaction: {middle['follow batch us']:.0f} µs of its own a batch. The "
             "table is arithmetic from these figures, not a measurement: the writes a second at which PostgreSQL, on as "
             "many processors as given, does nothing but write and serve the followers, and the "
             "notifications a second at a tenth of what this one node wrote.", ""]
    rows = []
    for nodes in [10, 100, 1_000]:
        cells = [f"{nodes:,}"]
        for processors in [2, 16, 64]:
            # A change costs its write once, and its fetch by each node.
            cost = middle["alone write postgres us"] + nodes * serving(middle)
            cells.append(f"{processors * 1e6 / cost:,.0f}")
        cells.append(f"{writes / size / 10 * nodes:,.0f}")
        rows.append(cells)
    lines += table(["nodes", "writes a second, 2 processors", "16 processors", "64 processors",
                    "notifications a second"], rows)
    lines += [f"A `latest` read costs PostgreSQL {middle['latest read postgres us']:.1f} µs at 16 connections, when one look "
              "serves several reads; a node that is hardly used pays for a whole look each time. At 1,000 nodes, three "
              "connections each, PostgreSQL has 3,000 sessions: more than it is usually run with, so there nodes would have "
              "to follow a node and not PostgreSQL.", ""]
    return lines
