#!/usr/bin/env python3
"""A service under eight writers, whose store Litestream copies, loses its machine: both are killed, and what Litestream
restores has to be a state of the store that lacks at most the writes of the last moments.

    scripts/litestream.py [--rounds 50] [--lag 5] [--seed 1] [--geobucket .build/release/geobucket]

In each round `geobucket check` finds nothing in what is restored; every write that was answered more than --lag seconds
before the kill is there; and of each writer there is a beginning of what it wrote. Then the service goes on with what
`geobucket restore` makes of it, or with the old store. Of three rounds, in one a standby follows and takes over, one
restores to a moment in the middle too, and in one Litestream alone is killed and started again before. Exit status 3 says that there is no Litestream.
"""
import argparse, datetime, json, pathlib, random, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading
import time

import service

WRITERS = 8
ROOT = pathlib.Path(__file__).resolve().parent.parent


def fail(text):
    sys.exit(f"litestream: {text}")


class Writer(threading.Thread):
    """Writes one object after the other, and notes when each was sent and answered."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.name, self.connection = name, socket.create_connection(("127.0.0.1", port))
        self.sent, self.answered = [], []
        self.pad = "x" * random.randrange(2_000)

    def run(self):
        try:
            answers = self.connection.makefile("rb")
            while True:
                line = {"jsonrpc": "2.0", "id": 1, "method": "object.put", "params": {
                    "bucket": "writes", "id": f"{self.name}-{len(self.sent)}", "object": {
                        "n": len(self.sent), "pad": self.pad,
                        "at": {"_type": "point", "lat": len(self.sent) % 90, "lon": len(self.sent) % 180}}}}
                self.sent.append(time.time())
                self.connection.sendall(json.dumps(line).encode() + b"\n")
                if b'"result"' not in answers.readline():
                    return
                self.answered.append(time.time())
        except OSError:
            pass


def start(command, log):
    return subprocess.Popen(command, stdout=open(log, "ab"), stderr=subprocess.STDOUT)


class Round:
    def __init__(self, options, folder, number):
        self.options, self.folder, self.number = options, folder, number
        self.store, self.replica = folder / "store.sqlite", folder / "replica"
        self.configuration = folder / "litestream.yml"
        self.configuration.write_text(json.dumps({"dbs": [{"path": str(self.store), "replica": {
            "type": "file", "path": str(self.replica)}}]}))
        self.log = folder / "litestream.log"

    def litestream(self, *arguments):
        return [self.options.litestream, *map(str, arguments)]

    def restore(self, target, *flags):
        done = subprocess.run(
            self.litestream("restore", "-config", self.configuration, "-o", target, *flags, self.store),
            capture_output=True, text=True)
        if done.returncode:
            fail(f"round {self.number}: no restoration: {done.stdout}{done.stderr}")

    def run(self):
        """One round; the age of the oldest write that was answered and lost, in seconds."""
        known = self.present(self.store) if self.store.exists() else set()
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        process = subprocess.Popen(
            [self.options.geobucket, "serve", "--listen", "127.0.0.1:0", "--store", self.store],
            stdout=open(ready, "wb"), stderr=open(self.folder / "service.log", "ab"))
        deadline = time.time() + 60
        while b"ready on" not in ready.read_bytes():
            if process.poll() is not None or time.time() > deadline:
                fail(f"round {self.number}: the service does not start: {(self.folder / 'service.log').read_text()[-500:]}")
            time.sleep(0.02)
        replicating = start(self.litestream("replicate", "-config", self.configuration), self.log)
        port = int(ready.read_text().rsplit(":", 1)[1])
        writers = [Writer(port, f"r{self.number}-w{n}") for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        # Before the first copy there is nothing to follow, and no moment to restore.
        while not any(self.replica.rglob("*.ltx")):
            if replicating.poll() is not None or time.time() > deadline:
                fail(f"round {self.number}: Litestream does not copy: {self.log.read_text()[-500:]}")
            time.sleep(0.05)
        standby, following = self.folder / "standby.sqlite", None
        if self.number % 3 == 0:
            following = start(self.litestream(
                "restore", "-f", "-config", self.configuration, "-o", standby, self.store), self.log)
        time.sleep(random.uniform(1.5, 2.5))
        middle = time.time()
        if self.number % 3 == 2:
            # The service goes on without it, and may begin its log anew.
            replicating.kill()
            replicating.wait()
            time.sleep(1)
            replicating = start(self.litestream("replicate", "-config", self.configuration), self.log)
        time.sleep(self.options.lag + random.uniform(0.5, 2))
        killed = time.time()
        for victim in random.sample([process, replicating], 2):
            victim.send_signal(signal.SIGKILL)
        for victim in (process, replicating):
            victim.wait()
        for writer in writers:
            writer.join()
        target = self.folder / "restored.sqlite"
        if following:
            time.sleep(2)  # what is in the replica comes to the standby
            following.send_signal(signal.SIGTERM)
            following.wait()
            shutil.move(standby, target)
        else:
            self.restore(target)
        lost = self.judge(target, known, writers, killed)
        if self.number % 3 == 1:
            self.judge_middle(writers, middle)
        self.go_on(target)
        return lost

    def present(self, store):
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return {row[0] for row in connection.execute("SELECT id FROM object")}

    def judge(self, target, known, writers, killed):
        service.check(self.options.geobucket, target)
        present, lost = self.present(target), 0
        if missing := known - present:
            fail(f"round {self.number}: {len(missing)} objects of earlier rounds are missing, such as {min(missing)}")
        for writer in writers:
            count = sum(id.startswith(f"{writer.name}-") for id in present)
            if any(f"{writer.name}-{n}" not in present for n in range(count)):
                fail(f"round {self.number}: of {writer.name} there are {count} objects, and not the first ones")
            if len(writer.answered) > count:
                lost = max(lost, killed - writer.answered[count])
        if lost > self.options.lag:
            fail(f"round {self.number}: a write that was answered {lost:.1f} s before the kill is lost")
        return lost

    def judge_middle(self, writers, middle):
        target = self.folder / "middle.sqlite"
        moment = datetime.datetime.fromtimestamp(middle, datetime.timezone.utc).isoformat(timespec="milliseconds")
        self.restore(target, "-timestamp", moment.replace("+00:00", "Z"))
        service.check(self.options.geobucket, target)
        present = self.present(target)
        for writer in writers:
            count = sum(id.startswith(f"{writer.name}-") for id in present)
            if count and writer.sent[count - 1] > middle:
                fail(f"round {self.number}: a restoration to {moment} has what was written later")
            if len(writer.answered) > count and writer.answered[count] < middle - self.options.lag:
                fail(f"round {self.number}: a restoration to {moment} lacks what was written long before")

    def go_on(self, target):
        """With what was restored, in the place of the store and with a replica of its own; or with the old store."""
        if random.random() < 0.5:
            subprocess.run([self.options.geobucket, "restore", target, self.store, "--force"], check=True,
                           capture_output=True)
            for path in self.folder.glob("store.sqlite.replaced-*"):
                path.unlink()
            shutil.rmtree(self.replica)
            shutil.rmtree(self.folder / f".{self.store.name}-litestream", ignore_errors=True)
        for name in ("restored", "middle", "standby"):
            for path in self.folder.glob(f"{name}.sqlite*"):
                path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--lag", type=float, default=5, help="seconds of writes that may be lost (5)")
    parser.add_argument("--seed", type=int, default=1)
    service.add_option(parser)
    options = parser.parse_args()
    own = ROOT / ".build/python/bin/litestream"
    options.litestream = str(own) if own.exists() else shutil.which("litestream")
    if not options.litestream:
        print("litestream: skipped: there is no litestream; scripts/parts.py litestream installs it")
        sys.exit(3)
    random.seed(options.seed)
    lost = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            lost.append(Round(options, pathlib.Path(folder), number).run())
            print(f"litestream: round {number}: the oldest write that was lost was answered {lost[-1]:.2f} s before", flush=True)
    print(f"litestream: {options.rounds} rounds; lost were at most the last {max(lost):.2f} s")


main()
