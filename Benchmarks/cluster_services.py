"""What Benchmarks/cluster.py measures: services, the load on them, and the processor time of both."""
import contextlib, json, os, pathlib, platform, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "scripts"))
import postgres  # noqa: E402
import wire  # noqa: E402

READY_SECONDS, PATIENCE_SECONDS = 600, 0.1


def nanoseconds(process):
    """Processor time of a process, all its threads that live."""
    total = 0
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            total += int(task.read_text().split()[0])
    return total


def machine():
    """Lines about the commit and the machine."""
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    git = lambda *words: subprocess.run(["git", "-C", pathlib.Path(__file__).parent, *words], stdout=subprocess.PIPE,
                                        text=True).stdout.strip()
    changes = " with changes" if git("status", "--porcelain", "-uno") else ""
    return [f"{time.strftime('%Y-%m-%d', time.gmtime())}, commit {git('rev-parse', '--short=12', 'HEAD')}{changes}",
            f"{os.cpu_count()} x {model}, {memory:.0f} GB, Linux {platform.release()}"]


class Service:
    """The program, as an embedded service or as a node."""

    def __init__(self, name, geobucket, folder, *flags):
        self.name, self.port = name, postgres.free_port()
        self.geobucket, self.folder, self.flags = geobucket, folder, flags
        self.log, self.process = folder / f"{name}.log", None
        self.seconds_to_start = self.start()

    def start(self):
        """Returns when it is ready; the seconds that took."""
        begin = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.geobucket, "serve", "--listen", f"127.0.0.1:{self.port}", *self.flags],
                                            stdout=log, stderr=log)
        while time.monotonic() - begin < READY_SECONDS:
            with contextlib.suppress(wire.Unanswered):
                self.call("server.ping")
                return time.monotonic() - begin
            if self.process.poll() is not None:
                sys.exit(f"benchmarks: {self.name} does not start: {self.log.read_text()}")
            time.sleep(0.005)
        sys.exit(f"benchmarks: {self.name} is not ready after {READY_SECONDS} s")

    def connect(self):
        return wire.Connection(self.port)

    def call(self, method, params={}):
        with contextlib.closing(self.connect()) as connection:
            return connection.call(method, params)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def load(self, file, bucket):
        """Loads a file into a bucket, as a person would."""
        command = [self.geobucket, "load", file, "--bucket", bucket, "--server", f"127.0.0.1:{self.port}"]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("benchmarks: the objects could not be loaded")

    def nanoseconds(self):
        return nanoseconds(self.process.pid)

    @classmethod
    def embedded(cls, geobucket, folder, *flags):
        return cls("embedded", geobucket, folder, "--store", folder / "embedded.sqlite", *flags)

    @classmethod
    def node(cls, name, geobucket, folder, server, *flags):
        return cls(name, geobucket, folder, "--store", server.url, "--cache", folder / f"{name}.sqlite", *flags)


class Load:
    """What `geobucket loadtest` reports of some services at once.

    - rate: requests a second of each; nil keeps every connection busy
    """

    def __init__(self, services, mix, connections, seconds, rate=None, seed=1):
        folder = services[0].folder
        files = [folder / f"load-{n}.json" for n in range(len(services))]
        before = [service.nanoseconds() for service in services]
        loads = [subprocess.Popen(
            [service.geobucket, "loadtest", "--server", f"127.0.0.1:{service.port}", "--mix", mix, "--connections",
             str(connections), "--seconds", str(seconds), "--warm-up", "0.5", "--patience", str(PATIENCE_SECONDS if rate is None else 5),
             "--rate", str(rate or 150_000), "--seed", str(seed + n), "--json", file],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for n, (service, file) in enumerate(zip(services, files))]
        for load in loads:
            _, error = load.communicate()
            if load.returncode != 0:
                sys.exit(f"benchmarks: the load could not be sent: {error.decode()}")
        used = sum(service.nanoseconds() for service in services) - sum(before)
        stages = [json.loads(file.read_text())["stages"] for file in files]
        # Without a rate, answers come until the patience is over.
        more = PATIENCE_SECONDS if rate is None else 0
        self.per_second = sum(self.answered(of_one[-1]) / (of_one[-1]["seconds"] + more) for of_one in stages)
        self.answered_at_all = max(1, sum(self.answered(stage) for of_one in stages for stage in of_one))
        self.microseconds = used / 1e3 / self.answered_at_all

    @staticmethod
    def answered(stage):
        return stage["all"]["requests"] - sum(stage["all"]["errors"].values())


class Yardstick:
    """pgbench: durable transactions that each update as many rows of a copy of the table as a node's do, with nothing else
    to do."""

    TABLE = "yardstick"

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        server.sql(f"CREATE TABLE IF NOT EXISTS {self.TABLE} (LIKE geobucket.object INCLUDING ALL)")
        if server.sql(f"SELECT count(*) FROM {self.TABLE}") == ["0"]:
            server.sql(f"INSERT INTO {self.TABLE} SELECT * FROM geobucket.object WHERE bucket = "
                       "(SELECT number FROM geobucket.bucket WHERE name = 'loadtest')")
            server.sql(f"CREATE SEQUENCE {self.TABLE}_change START 1000000000")
            server.sql(f"VACUUM ANALYZE {self.TABLE}")

    def rows_per_second(self, batch, clients, seconds):
        least, most = self.server.sql(f"SELECT min(creation), max(creation) FROM {self.TABLE}")[0].split("|")
        script = self.folder / "pgbench.sql"
        # In the order of the keys, so that transactions do not lock each other out.
        script.write_text(f"""
            UPDATE {self.TABLE} o SET change = nextval('{self.TABLE}_change'), version = version + 1,
                modified = modified + 1, points = points, document = document || ''
            FROM (SELECT DISTINCT {least} + floor(random() * ({most} - {least} + 1))::bigint AS creation
                  FROM generate_series(1, {batch}) ORDER BY 1) chosen WHERE o.creation = chosen.creation;
            """)
        before = self.updates()
        begin = time.monotonic()
        done = subprocess.run(
            [f"{postgres.programs()}/pgbench", "-n", "-M", "prepared", "-f", script, "-c", str(clients), "-j", "1",
             "-T", str(max(1, round(seconds))), "--max-tries", "100", self.server.url], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        took = time.monotonic() - begin
        if done.returncode != 0:
            sys.exit(f"benchmarks: pgbench failed: {done.stderr}")
        return (self.updates() - before) / took

    def updates(self):
        """Numbers of a sequence that were taken: one for each row."""
        return int(self.server.sql(f"SELECT last_value FROM {self.TABLE}_change")[0])
