#!/usr/bin/env python3
"""The image under load, scraped by Prometheus, restarted in the middle: nothing answered may be lost.

    deploy/rehearse.py [--minutes 10] [--share 0.7] [--output rehearsal] [--geobucket .build/release/geobucket]

First a search for the highest rate whose p99 stays under 100 ms; then minutes at a share of it, through a
stop and a start of the container. Two clients write and keep a journal of what was answered. At the end
everything in the journal has to be there, no connection of the load may have been lost twice, Prometheus
has to have reached the service at every scrape but around the restart, and every query of the dashboard
has to return data.

Needs root, the image (deploy/image.sh), podman, runc, Debian's prometheus, and the program.
"""
import argparse, json, os, pathlib, socket, subprocess, sys, tempfile, threading, time
import urllib.parse, urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "scripts"))
import service

SERVICE, HTTP, PROMETHEUS = 5362, 5363, 5390
PODMAN = ["podman", "--cgroup-manager", "cgroupfs", "--runtime", "runc"]
NAME = "geobucket-rehearsal"
MIX = "radius=50,nearest=20,box=10,filter=8,get=4,move=6,create=2"


def say(text):
    print(f"rehearsal: {text}", flush=True)


class Journal(threading.Thread):
    """One client that replaces its objects, one write at a time, and sends again what was not answered."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number, self.versions, self.reconnects, self.fault = number, {}, 0, None
        self.is_over = threading.Event()

    def run(self):
        try:
            self.write()
        except Exception as error:  # told at the end
            self.fault = repr(error)

    def write(self):
        lines, count = None, 0
        while not self.is_over.is_set():
            count += 1
            name = f"writer-{self.number}-{count % 500}"
            params = {"bucket": "journal", "id": name, "object": {"n": count}, "requestKey": f"{self.number}-{count}"}
            line = json.dumps({"jsonrpc": "2.0", "id": count, "method": "object.put", "params": params}) + "\n"
            while True:
                try:
                    if lines is None:
                        lines = socket.create_connection(("127.0.0.1", SERVICE), 5).makefile("rwb")
                    lines.write(line.encode())
                    lines.flush()
                    answer = json.loads(lines.readline())
                except (OSError, ValueError):
                    lines = None
                    self.reconnects += 1
                    time.sleep(0.1)
                    continue
                if "result" in answer:
                    break
                if answer["error"]["data"]["errorCode"] != "TEMPORARY_UNAVAILABLE_ERROR":
                    raise RuntimeError(answer)
                time.sleep(0.1)
            self.versions[name] = (count, answer["result"]["_version"])
            if count % 100 == 0:  # errors are to be seen on the dashboard too
                call("object.get", {"bucket": "journal", "id": "nobody"})
            time.sleep(0.002)


def call(method, params):
    with socket.create_connection(("127.0.0.1", SERVICE), 10) as connection:
        connection.sendall((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n").encode())
        return json.loads(connection.makefile("rb").readline()).get("result")


def wait_until_ready():
    for _ in range(300):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{HTTP}/readyz", timeout=1).status
        except OSError:
            time.sleep(0.1)
    sys.exit("rehearsal: the service is not ready within 30 s")


def start(data):
    subprocess.run(
        [*PODMAN, "run", "--no-healthcheck", "--detach", "--name", NAME, "--read-only", "--cap-drop", "all", "--security-opt",
         "no-new-privileges", "--network", "host", "--ulimit", "nofile=16384:16384", "--ulimit", "nproc=4096:4096",
         "--volume", f"{data}:/data", "geobucket", "serve", "--listen", f"127.0.0.1:{SERVICE}", "--http",
         f"127.0.0.1:{HTTP}"], check=True, stdout=subprocess.DEVNULL)
    wait_until_ready()


def stop():
    subprocess.run(["podman", "kill", "--signal", "TERM", NAME], check=True, stdout=subprocess.DEVNULL)
    status = int(subprocess.run(["podman", "wait", NAME], check=True, capture_output=True).stdout)
    subprocess.run(["podman", "rm", NAME], check=True, stdout=subprocess.DEVNULL)
    return status


def ask(path, **params):
    query = urllib.parse.urlencode(params)
    with urllib.request.urlopen(f"http://127.0.0.1:{PROMETHEUS}/api/v1/{path}?{query}") as answer:
        return json.load(answer)["data"]["result"]


def dashboard_faults(begin, end):
    dashboard = json.loads((HERE / "grafana/dashboards/geobucket.json").read_text())
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", [])]
    faults = []
    for query in queries:
        text = query.replace("$__rate_interval", "1m").replace("$method", ".*")
        if not ask("query_range", query=text, start=begin, end=end, step=15):
            faults.append(f"no data: {query}")
    say(f"{len(queries)} queries of the dashboard, {len(faults)} without data")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--share", type=float, default=0.7)
    parser.add_argument("--output", default="rehearsal")
    service.add_option(parser)
    options = parser.parse_args()
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    faults, prometheus = [], None
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        os.mkdir(data)
        os.chown(data, 10001, 10001)
        os.chmod(folder, 0o755)
        try:
            start(data)
            config = (HERE / "prometheus/prometheus.yml").read_text().replace("geobucket:4363", f"127.0.0.1:{HTTP}")
            pathlib.Path(folder, "prometheus.yml").write_text(config)
            prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{PROMETHEUS}", "--log.level=error"])
            load = [options.geobucket, "loadtest", "--server", f"127.0.0.1:{SERVICE}", "--mix", MIX]
            subprocess.run(
                [*load, "--prepare", "100000", "--search", "1000:64000", "--objective", "p99=100ms", "--seconds", "10",
                 "--json", output / "search.json"], check=True, stdout=subprocess.DEVNULL)
            capacity = json.loads((output / "search.json").read_text())["highestRateHeld"]
            rate = int(capacity * options.share)
            say(f"{capacity:.0f} requests a second are held with a p99 under 100 ms; {rate} for {options.minutes:g} minutes")
            journals = [Journal(number) for number in (1, 2)]
            for journal in journals:
                journal.start()
            begin = time.time()
            run = subprocess.Popen(
                [*load, "--rate", str(rate), "--seconds", str(int(options.minutes * 60)), "--json", output / "load.json",
                 "--report", output / "load.html"], stdout=open(output / "load.txt", "w"))
            time.sleep(options.minutes * 30)
            gone = time.time()
            status = stop()
            start(data)
            back = time.time()
            say(f"stopped with {status}, ready again after {back - gone:.1f} s")
            faults += [f"the stop ended with {status}"] if status else []
            run.wait()
            end = time.time()
            for journal in journals:
                journal.is_over.set()
                journal.join()
                faults += [journal.fault] if journal.fault else []
                for name, (count, version) in journal.versions.items():
                    found = call("object.get", {"bucket": "journal", "id": name})
                    if not found or (found["n"], found["_version"]) != (count, version):
                        faults.append(f"{name}: {found}, answered were n {count} and version {version}")
                if journal.reconnects == 0:
                    faults.append("a writer did not see the restart")
            report = json.loads((output / "load.json").read_text())
            held = next(s for s in report["stages"] if not s["isWarmUp"])
            percentile = held["all"]["latency"]["percentiles"][8]  # of 0, 10, 25, 50, 75, 90, 95, 97.5, 99 %
            say(f"{held['all']['requests']} requests, errors {held['all']['errors']}, p99 {percentile / 1000:.1f} ms, "
                f"{report['reconnects']} connections opened again of {report['setup']['connections']}")
            if report["reconnects"] > report["setup"]["connections"]:
                faults.append("a connection was lost more than once")
            for value in ask("query_range", query="up", start=begin, end=end, step=5)[0]["values"]:
                if value[1] != "1" and not gone - 5 <= value[0] <= back + 10:
                    faults.append(f"not reached {value[0] - begin:.0f} s after the beginning")
            faults += dashboard_faults(begin, end)
            faults += [] if stop() == 0 else ["the last stop did not end with 0"]
        finally:
            subprocess.run(["podman", "rm", "--force", NAME], capture_output=True)
            if prometheus:
                prometheus.terminate()
                prometheus.wait()
    for fault in faults:
        say(f"fault: {fault}")
    say(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
