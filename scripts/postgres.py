#!/usr/bin/env python3
"""A PostgreSQL server of a script's own, in a temporary folder. Scripts import it; run by itself it serves
until Ctrl-C.

    scripts/postgres.py [--port 5433]
"""
import argparse, contextlib, glob, os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, time

READY_SECONDS = 60


def programs():
    """The folder of PostgreSQL's programs: Debian's, of the latest version, or one of the PATH."""
    debian = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]), reverse=True)
    for folder in debian + os.environ.get("PATH", "").split(":"):
        if all(os.access(f"{folder}/{name}", os.X_OK) for name in ["initdb", "postgres", "psql"]):
            return folder
    sys.exit("geobucket: PostgreSQL is not installed (Debian's package postgresql)")


def version():
    """What the server says of itself."""
    return subprocess.run([f"{programs()}/postgres", "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def account():
    """What a command line begins with: the server refuses to run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


def give(folder):
    """Makes a folder that the server may write to."""
    folder.mkdir(exist_ok=True)
    if os.getuid() == 0:
        shutil.chown(folder, "postgres", "postgres")


def url_at(*ports, host="127.0.0.1"):
    """The address of the database behind ports that lead to its servers."""
    servers = ",".join(f"{host}:{port}" for port in ports)
    return f"postgresql://geo@{servers}/postgres" + ("?target_session_attrs=read-write" if len(ports) > 1 else "")


def objects(server):
    """How many objects each bucket has in the tables, without rows that are still to be removed."""
    rows = server.sql("SELECT b.name, count(o.creation) FROM geobucket.bucket b LEFT JOIN (SELECT * FROM geobucket.object "
                      "WHERE creation NOT IN (SELECT unnest(creations) FROM geobucket.deletion)) o "
                      "ON o.bucket = b.number GROUP BY b.name")
    return {name: int(count) for name, count in (row.split("|") for row in rows)}


class Postgres:
    """What is committed survives the end of its processes. Unless it is told to be durable its files are not synced
    to the disk.

    - settings: further ones of postgresql.conf, such as listen_addresses=*
    - standby_of: the port of the server that it copies and follows
    - data: the folder for its tables, if they do not lie beside its write-ahead log
    """

    def __init__(self, folder, port=None, settings=(), durable=False, standby_of=None, data=None):
        self.programs, self.folder, self.port = programs(), pathlib.Path(folder), port or free_port()
        self.data, self.log, self.process = data or self.folder / "data", self.folder / "log", None
        self.ports, self.logs, self.account = [self.port], [self.log], account()
        self.settings = ["listen_addresses=127.0.0.1", f"fsync={'on' if durable else 'off'}", "max_connections=200", *settings]
        give(self.folder)
        with open(self.log, "wb") as log:
            if standby_of:
                command = ["pg_basebackup", "-D", self.data, "-h", "127.0.0.1", "-p", str(standby_of), "-U", "geo", "-R",
                           "--checkpoint=fast"]
            else:
                command = ["initdb", "-D", self.data, "-U", "geo", "-A", "trust", "--encoding=UTF8", "--locale=C"]
                command += ["-X", self.folder / "wal"] if data else []
            subprocess.run([*self.account, f"{self.programs}/{command[0]}", *command[1:]], check=True, stdout=log,
                           stderr=log, cwd="/")
        if not standby_of:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write("host all all 10.77.0.0/16 trust\n")  # cluster_nodes.DistantNode
        self.start()

    @property
    def url(self):
        return url_at(self.port)

    def sql(self, text):
        """The rows of a statement as text, columns separated by |."""
        found = subprocess.run([f"{self.programs}/psql", "-X", "-A", "-t", "-q", "-c", text, self.url],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if found.returncode != 0:
            raise ConnectionError(found.stderr.strip())
        return found.stdout.split("\n")[:-1]

    def start(self):
        """Returns when it accepts statements."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.account, f"{self.programs}/postgres", "-D", self.data, "-k", self.folder, "-p", str(self.port),
                 *(word for setting in self.settings for word in ("-c", setting))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True)
        deadline = time.monotonic() + READY_SECONDS
        while True:
            with contextlib.suppress(ConnectionError):
                return self.sql("SELECT 1")
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"geobucket: PostgreSQL does not start; see {self.log}")
            time.sleep(0.05)

    def stop(self):
        """Ends it in order; open transactions are rolled back."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)

    def kill(self):
        """Ends all its processes at once, in the middle of whatever they do."""
        children = self.children()
        self.process.kill()
        self.process.wait()
        # A child is not in the server's process group. It may have ended meanwhile.
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        while any(os.path.exists(f"/proc/{child}") for child in children):
            time.sleep(0.01)

    def children(self):
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        return [int(child) for child in pathlib.Path(path).read_text().split()]

    def promote(self):
        """Makes a standby the primary."""
        subprocess.run([*self.account, f"{self.programs}/pg_ctl", "promote", "-D", self.data], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def terminate_backends(self):
        """Ends every connection but the one that asks for it."""
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                 "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")

    def save(self, copy):
        """Copies its files while it is down."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.data, copy)

    def restore(self, copy):
        """Puts a copy of its files back while it is down: everything since is lost."""
        shutil.rmtree(self.data)
        shutil.copytree(copy, self.data)
        if self.account:
            subprocess.run(["chown", "-R", "postgres:postgres", self.data], check=True)


@contextlib.contextmanager
def serving(port=None, **how):
    """A server that ends with the block; so do its files."""
    with tempfile.TemporaryDirectory(prefix="geobucket-postgres-") as folder:
        os.chmod(folder, 0o755)
        server = Postgres(pathlib.Path(folder) / "server", port, **how)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int)
    with serving(parser.parse_args().port) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.process.wait()


if __name__ == "__main__":
    main()
