"""PostgreSQL under Patroni: some servers, one of them the primary, and etcd, all in a temporary folder.

Needs Debian's patroni and etcd-server; `install` gets them.
"""
import contextlib, json, os, pathlib, signal, subprocess, sys, time, urllib.error, urllib.request

import postgres

PACKAGES = {"patroni": "/usr/bin/patroni", "etcd-server": "/usr/bin/etcd"}
READY_SECONDS, TTL_SECONDS = 120, 10


def install():
    missing = [package for package, program in PACKAGES.items() if not os.access(program, os.X_OK)]
    if not missing:
        return
    if os.getuid() != 0:
        sys.exit(f"geobucket: as root, run: apt-get install {' '.join(missing)}")
    for command in [["update", "-qq"], ["install", "-y", "-qq", *missing]]:
        if subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"geobucket: apt-get could not install {' '.join(missing)}")


class Member:
    """A server and the Patroni that runs it."""

    def __init__(self, name, folder, store, is_synchronous):
        self.name, self.folder, self.store = name, folder / name, store
        self.port, self.control = postgres.free_port(), postgres.free_port()
        self.data, self.log, self.process = self.folder / "data", folder / f"{name}.log", None
        postgres.give(self.folder)
        trust = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        self.file = self.folder / "patroni.json"
        self.file.write_text(json.dumps({
            "scope": "geo", "name": name, "restapi": {"listen": f"127.0.0.1:{self.control}",
                                                      "connect_address": f"127.0.0.1:{self.control}"},
            "etcd3": {"host": f"127.0.0.1:{store}"},
            "bootstrap": {
                "dcs": {"ttl": TTL_SECONDS, "loop_wait": 2, "retry_timeout": 3, "maximum_lag_on_failover": 1 << 30,
                        "primary_start_timeout": 0, "synchronous_mode": is_synchronous,
                        "postgresql": {"use_pg_rewind": True, "parameters": {"fsync": "off", "wal_log_hints": "on",
                                                                            "max_connections": 200}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "trust"}], "pg_hba": trust},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}", "data_dir": str(self.data),
                "bin_dir": postgres.programs(), "pgpass": str(self.folder / "pgpass"), "pg_hba": trust,
                "parameters": {"unix_socket_directories": str(self.folder)},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
                "authentication": {"superuser": {"username": "geo", "password": "geo"},
                                   "replication": {"username": "geo", "password": "geo"},
                                   "rewind": {"username": "geo", "password": "geo"}}},
        }))
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*postgres.account(), PACKAGES["patroni"], self.file], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd="/", start_new_session=True)

    def state(self):
        """Its role and timeline, as Patroni tells them; empty if it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.control}/patroni", timeout=2) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)
        except (OSError, ValueError):
            return {}

    def processes(self):
        """Patroni, and its server with all that belongs to it."""
        found = [self.process.pid] if self.process.poll() is None else []
        with contextlib.suppress(OSError, ValueError, IndexError):
            server = int((self.data / "postmaster.pid").read_text().split()[0])
            if f"{self.data}".encode() in pathlib.Path(f"/proc/{server}/cmdline").read_bytes():
                children = pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split()
                found += [server, *map(int, children)]
        return found

    def kill(self):
        """Everything of it ends at once, as if its machine did."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def signal(self, number):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)


class Patroni:
    def __init__(self, folder, members, is_synchronous):
        self.folder, self.members = pathlib.Path(folder), []
        self.folder.mkdir(exist_ok=True)
        store, peers = postgres.free_port(), postgres.free_port()
        self.log = self.folder / "etcd.log"
        with open(self.log, "wb") as log:
            self.store = subprocess.Popen(
                [PACKAGES["etcd-server"], "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
                 "--listen-client-urls", f"http://127.0.0.1:{store}", "--advertise-client-urls", f"http://127.0.0.1:{store}",
                 "--listen-peer-urls", f"http://127.0.0.1:{peers}",
                 "--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}",
                 "--initial-cluster", f"default=http://127.0.0.1:{peers}"], stdout=log, stderr=log, start_new_session=True)
        for number in range(members):
            self.members.append(Member(f"db{number}", self.folder, store, is_synchronous))
        self.is_synchronous = is_synchronous

    @property
    def ports(self):
        return [member.port for member in self.members]

    @property
    def logs(self):
        return [self.log, *(member.log for member in self.members)]

    def primary(self):
        for member in self.members:
            if member.state().get("role") in ("master", "primary") and member.state().get("state") == "running":
                return member

    def wait(self):
        """Returns when one is the primary and all others follow it, synchronously if they have to."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            states = [member.state() for member in self.members]
            for member in self.members:
                if member.process.poll() is not None:
                    sys.exit(f"geobucket: Patroni ended: {member.log.read_text()[-1000:]}")
            primary = self.primary()
            if primary and all(state.get("state") in ("running", "streaming") for state in states):
                following = [one for one in primary.state().get("replication") or [] if one["state"] == "streaming"]
                # A member may take over only when etcd says that it is synchronous.
                may_take_over = not self.is_synchronous or any(state.get("sync_standby") for state in states)
                if len(following) == len(self.members) - 1 and may_take_over:
                    return
            time.sleep(0.2)
        sys.exit(f"geobucket: Patroni is not ready after {READY_SECONDS} s: {[member.state() for member in self.members]}")

    def sql(self, text):
        primary = self.primary()
        found = subprocess.run([f"{postgres.programs()}/psql", "-X", "-A", "-t", "-q", "-c", text,
                                postgres.url_at(*self.ports)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not primary or found.returncode != 0:
            raise ConnectionError(found.stderr.strip())
        return found.stdout.split("\n")[:-1]

    def switch_over(self):
        """The primary gives its role to another member, as soon as one may take it."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            primary = self.primary()
            request = urllib.request.Request(f"http://127.0.0.1:{primary.control}/switchover", method="POST",
                                             data=json.dumps({"leader": primary.name}).encode())
            try:
                return urllib.request.urlopen(request, timeout=60).close()
            except urllib.error.HTTPError as error:
                if error.code != 412 or time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def end(self):
        for member in self.members:
            member.kill()
        self.store.kill()
        self.store.wait()


@contextlib.contextmanager
def serving(folder, members=3, is_synchronous=True):
    """Servers that end with the block."""
    install()
    servers = Patroni(folder, members, is_synchronous)
    try:
        servers.wait()
        yield servers
    finally:
        servers.end()
