#!/usr/bin/env python3
"""Well-behaved connections, every answer compared with what it has to be, while hostile clients do
their worst: nothing may be lost or wrong, the 99th percentile stays under three times its quiet value,
memory stays bounded and comes back.

    scripts/hostile.py [--minutes 10] [--connections 1000] [--idle 10000] [--rate 1000] [--seed 1]
                       [--svg hostile.svg] [--geobucket .build/release/geobucket]
                       [--attack-seconds 20] [--attack NAME]…

Then each attack of scripts/hostile_attacks.py and scripts/hostile_web.py runs alone, against a service of its
own with logins, for so many seconds, beside 200 well-behaved connections that ask 500 times a second, and one
new client a second of each port: a table of their latencies and of the service's memory is printed.
None of the 99th percentiles may pass 25 ms, nor five times what it was just before the attack, if that is more; an
answer that has not come counts as late as it is by then. No memory may pass bufferedBytes (128 MiB) and 64 MiB, and
every new client of each port, /healthz too, has to be answered within a second. What became of each attack's requests
stands below the table, with the share of a processor that the attackers took: one that connects nowhere, is answered
nothing, or is only told that it is too large shows nothing, and fails.

The table's last columns say how much of a processor the service takes for the attacker, and for a well-behaved client
that has as many connections and asks again as soon as it is answered; scripts/hostile_share.py finds it out. The
attacker may not take more than such a client would: one that gets much less than it does beside another client, and
less than the attacker, has been harmed.
--minutes 0 leaves the first part out, --attack-seconds 0 the second. --self-test only tries the verdicts on figures.
"""
import argparse, contextlib, functools, math, os, resource, socket, subprocess, sys, tempfile, time

import hostile_attacks, hostile_share, hostile_tally, hostile_together, service
from hostile_attacks import line
from hostile_good import Caller, Load, World, fill
from hostile_tally import Attackers

QUIET_SECONDS = 30
QUIET_SECONDS_ALONE = 5


# The report.

def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.inf


def svg(path, samples, begin, end):
    """p99 in milliseconds above, resident MiB below, by the second; the hostile time is shaded."""
    width, height, left, gap = 900, 200, 70, 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 20}" height="{2 * height + 3 * gap}" '
             f'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    x = lambda second: left + second * width / max(1, len(samples) - 1)
    for row, (title, column) in enumerate([("99th percentile of a second, ms", 0), ("resident memory, MiB", 1)]):
        top = gap + row * (height + gap)
        values = [sample[column] for sample in samples]
        most = max(values) * 1.1 or 1
        y = lambda value: top + height - value / most * height
        parts.append(f'<rect x="{x(begin):.1f}" y="{top}" width="{x(end) - x(begin):.1f}" height="{height}" '
                     'fill="#fbe3d6"/>')
        for step in range(5):
            value = most * step / 4
            parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                         f'stroke="#ccc"/><text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
                         f'{value:.3g}</text>')
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in enumerate(values))
        parts.append(f'<polyline fill="none" stroke="#1f5fa8" stroke-width="1.5" points="{points}"/>'
                     f'<text x="{left}" y="{top - 8}" font-weight="bold">{title}</text>')
    parts.append(f'<text x="{left}" y="{2 * height + 2.6 * gap:.0f}">seconds 0 to {len(samples)}; shaded: with the '
                 'hostile clients</text></svg>')
    open(path, "w").write("\n".join(parts))


def attack_together(port, process, options):
    world = World(options.seed)
    caller = Caller(port)
    fill(caller, world)
    load = Load(port, world, options.connections, options.rate)
    samples, latencies, taken = [], {"warm": [], "quiet": [], "hostile": [], "after": []}, {}
    hostile = Attackers(hostile_together.run_together, port, options.idle)
    for phase, seconds in [("warm", 10), ("quiet", QUIET_SECONDS), ("hostile", max(1, int(options.minutes * 60))),
                           ("after", QUIET_SECONDS)]:
        if phase == "hostile":
            hostile.start()
        if phase == "after":
            latencies["hostile"] += load.waiting()
            hostile.end()
        used = service.processor_seconds(process)
        for second in load.run(seconds):
            stats = caller.call("server.stats")
            latencies[phase] += second
            if phase != "warm":
                samples.append((min(percentile(second, 0.99), 60) * 1_000, stats["memory"]["residentBytes"] / (1 << 20)))
            if len(samples) % 30 == 1:
                print(f"{phase}: p99 {samples[-1][0]:.2f} ms, {samples[-1][1]:.0f} MiB, "
                      f"{stats['connections']['open']} connections", file=sys.stderr)
        taken[phase] = (service.processor_seconds(process) - used) / seconds
    lost = load.finish()
    begin, end = QUIET_SECONDS, len(samples) - QUIET_SECONDS
    svg(options.svg, samples, begin, end)
    quiet, worst, after = (percentile(latencies[phase], 0.99) * 1_000 for phase in ("quiet", "hostile", "after"))
    before, most, back = (max(sample[1] for sample in part) for part in
                          (samples[:begin], samples[begin:end], samples[-5:]))
    print(f"the hostile clients: {hostile_tally.described(hostile.counts)}; {hostile.share:.2f} of a processor\n"
          f"{load.sent} requests on {options.connections} connections: {lost} lost, {load.wrong} wrong\n"
          f"p99 {quiet:.2f} ms quiet, {worst:.2f} ms with the hostile clients, {after:.2f} ms after\n"
          f"{before:.0f} MiB resident before, {most:.0f} at most, {back:.0f} at the end\n"
          f"the service takes {taken['quiet']:.2f} of a processor quiet, {taken['hostile']:.2f} with the hostile clients")
    faults = [text for text, holds in [
        ("answers were lost or wrong", lost == 0 and load.wrong == 0),
        ("the 99th percentile tripled", worst < 3 * quiet),
        ("the hostile clients connected nowhere, or were answered nothing", hostile.fault(may_be_too_large=True) is None),
        ("memory did not come back", back < before + 0.5 * (most - before) + 100)] if not holds]
    if faults:
        sys.exit("hostile: " + "; ".join(faults))


# One attack after the other.

WORST_P99 = 25
BUFFERED_MIB, MORE_MIB = 128, 64
WORST_NEW_CLIENT = 1_000


@contextlib.contextmanager
def guarded(world, options):
    """A service with logins and with the places, and the load beside which it is attacked: its ports and its process,
    the load, and the tokens of an attacker and of a client that asks for as much as it can get."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, "tokens")
        good, bad, client = [subprocess.run(
            [options.geobucket, "token", "create", "--tokens", tokens, "--principal", principal, "--role", "write"],
            check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0] for principal in ("good", "bad", "client")]
        with serving(options, folder, "--tokens", tokens, "--http", "127.0.0.1:0", "--web", "127.0.0.1:0",
                     "--buffered-bytes", str(BUFFERED_MIB << 20)) as ports:
            fill(Caller(ports["ready"], good), world)
            yield ports, Load(ports["ready"], world, 200, 500, good), bad, client


def quiet_time(ports, load):
    """Latencies of some seconds without an attack, and what the service takes of a processor."""
    latencies, used = [], service.processor_seconds(ports["process"])
    for second in load.run(QUIET_SECONDS_ALONE):
        latencies += second
    return latencies, (service.processor_seconds(ports["process"]) - used) / QUIET_SECONDS_ALONE


def prices_of(world, options):
    with guarded(world, options) as (ports, load, *tokens):
        _, quiet = quiet_time(ports, load)
        clients = [functools.partial(hostile_share.Client, ports["ready"], token, world) for token in tokens]
        return hostile_share.Prices(ports["process"], load, quiet, *clients)


def attack_alone(name, world, prices, options):
    """A row of the table: milliseconds of the well-behaved, quiet and attacked, of new clients of each port at worst,
    and MiB of the service: more than before the attack, at most and five seconds after it; the attackers, and their
    share."""
    with guarded(world, options) as (ports, load, bad, token):
        attacked, health, web, line_port, memory = [], [], [], [], []
        quiet, taken = quiet_time(ports, load)
        before = resident_mib(ports["process"])
        hostile = Attackers(hostile_attacks.run, name, ports, bad)
        hostile.start()
        for number, second in enumerate(load.run(2 + options.attack_seconds)):
            memory.append(resident_mib(ports["process"]) - before)
            if number >= 2:  # it has begun
                attacked += second
                health.append(milliseconds(ports["http"], b"/healthz"))
                web.append(milliseconds(ports["web"], b"/login"))
                line_port.append(milliseconds(ports["ready"], None))
        attacked += load.waiting()
        with hostile_share.Client(ports["ready"], token, world) as client:
            share = hostile_share.Share.measured(ports["process"], load, taken, prices, client)
        hostile.end()
        for _ in load.run(5):
            after = resident_mib(ports["process"]) - before
        if load.finish() or load.wrong:
            sys.exit(f"hostile: {name}: answers were lost or wrong")
    return [name] + [1_000 * percentile(values, part)
                     for values, part in [(quiet, 0.99), (attacked, 0.5), (attacked, 0.99), (attacked, 1)]] + [
                         max(health), max(web), max(line_port), max(memory), after, hostile, share]


def resident_mib(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / (1 << 20)


def milliseconds(port, path):
    """Of one answer to a client from another address than the attacker's; infinite without one. A path of HTTP, or
    none at the line port."""
    request, answer = (line(1, "server.ping", {}), b"pong") if path is None else (
        b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path, b" 200 ")
    start = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5, source_address=("127.0.0.9", 0)) as one:
            one.settimeout(5)
            one.sendall(request)
            if answer not in one.recv(1 << 12):
                return math.inf
    except OSError:
        return math.inf
    return 1_000 * (time.monotonic() - start)


def faults_of(rows):
    """What is wrong with the rows of the table."""
    faults = [(f"the 99th percentile passes {WORST_P99} ms", lambda row: row[3] > max(WORST_P99, 5 * row[1])),
              ("a client gets no answer within a second", lambda row: max(row[5:8]) > WORST_NEW_CLIENT),
              (f"memory passes {BUFFERED_MIB} + {MORE_MIB} MiB", lambda row: row[8] > BUFFERED_MIB + MORE_MIB)]
    found = [f"{text}: " + "; ".join(row[0] for row in rows if holds(row))
             for text, holds in faults if any(map(holds, rows))]
    found += [f"{row[0]} has shown nothing: it {fault}" for row in rows
              if (fault := row[-2].fault(reads=row[0] not in hostile_attacks.UNREAD))]
    found += [f"{row[0]}: {fault}" for row in rows if (fault := row[-1].fault())]
    return found


def self_test():
    """Each verdict about an attack has to fail on a row with one bad figure, and none on a good row."""
    def row(figures={}, counts={"connected": 8, "asked": 9, "result": 9}, share=(0.5, 0.4, 0.4)):
        hostile = Attackers(None)
        hostile.counts = counts
        good = ["polygons", 2, 1, 24, 50, 3, 3, 3, 90, 9]
        return [figures.get(place, value) for place, value in enumerate(good)] + [hostile, hostile_share.Share(*share)]
    # Beside an attacker that takes no more than another client would, or next to nothing, a client is not harmed.
    fair = [row(), row(share=(0.9, 0.35, 0.4)), row(share=(0.1, 0.2, 0.4)), row({1: 10, 3: 49})]
    unfair = [row({3: 26}), row({5: 1_001}), row({6: math.inf}), row({7: 1_001}), row({8: 193}), row(counts={}),
              row(counts={"connected": 8, "asked": 9}), row(counts={"connected": 8, "413": 9}),
              row(share=(0.9, 0.25, 0.4)), row(share=(0, 0.03, 0.4))]
    for rows, expected in [(fair, 0)] + [([one], 1) for one in unfair]:
        if len(found := faults_of(rows)) != expected:
            sys.exit(f"hostile: the verdicts do not tell good from bad: {found} about {[row[:-2] for row in rows]}")


def attack_one_by_one(options):
    rows, world = [], World(options.seed)
    prices = prices_of(world, options)
    for name in options.attack or hostile_attacks.ATTACKS:
        rows.append(attack_alone(name, world, prices, options))
        print(f"{name}: p99 {rows[-1][3]:.1f} ms", file=sys.stderr)
    print("\n| attack | p99 quiet, ms | median, ms | p99, ms | longest, ms | /healthz at worst, ms | web at worst, ms "
          "| line at worst, ms | MiB more at most | MiB more after | attacker's processor | client's processor |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, *figures, _, share in rows:
        print(f"| {name} | " + " | ".join(f"{figure:.1f}" for figure in figures)
              + f" | {share.attacker:.2f} | {share.client:.2f} |")
    print(f"\nthe client's processor: {prices.described()}")
    for name, *_, hostile, _ in rows:
        print(f"{name}: {hostile_tally.described(hostile.counts)}; {hostile.share:.2f} of a processor")
    found = faults_of(rows)
    if found:
        sys.exit("hostile: " + "\nhostile: ".join(found))


def serving(options, folder, *flags):
    store = os.path.join(folder, "store.sqlite")
    return service.serving(options.geobucket, store, "--log-level", "error", *flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", default="hostile.svg")
    service.add_option(parser)
    parser.add_argument("--attack-seconds", type=int, default=20)
    parser.add_argument("--attack", action="append", choices=hostile_attacks.ATTACKS)
    parser.add_argument("--self-test", action="store_true", help="whether the verdicts tell bad figures from good ones")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.minutes > 0:
        with tempfile.TemporaryDirectory() as folder, serving(
                options, folder, "--connections", str(options.connections + options.idle + 200),
                "--line-milliseconds", "10000", "--unread-milliseconds", "10000",
                "--buffered-bytes", str(256 << 20)) as ports:
            attack_together(ports["ready"], ports["process"], options)
    if options.attack_seconds > 0:
        attack_one_by_one(options)


main()
