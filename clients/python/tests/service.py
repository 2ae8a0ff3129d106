"""The real program for tests, and what stands between it and a client that has a bad network."""

from __future__ import annotations

import asyncio
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("GEOBUCKET", ROOT / ".build/release/geobucket"))


class Service:
    """A service with a store of its own, on one port over restarts."""

    def __init__(self, *flags: str) -> None:
        if not PROGRAM.is_file():
            raise unittest.SkipTest(f"there is no program {PROGRAM}; set GEOBUCKET")
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self._flags = flags
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        store = str(self.folder / "store.sqlite")
        command = [str(PROGRAM), "serve", "--listen", self.address, "--store", store, *self._flags]
        log = self.folder / "log"
        with log.open("a") as errors:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self._process.stdout is not None
        while "ready" not in (line := self._process.stdout.readline()):
            if not line:
                raise RuntimeError(f"the service does not start: {log.read_text()[-500:]}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=30)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGKILL) -> None:
        self.stop(how)
        self.start()

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        self.stop()
        self._folder.cleanup()


class Network:
    """Passes bytes on to a service, and loses connections, at any byte."""

    def __init__(self, port: int, seed: int) -> None:
        self._target = port
        self._chance = random.Random(seed)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._server.close()
        while self._tasks:
            self.lose()
            await asyncio.wait(self._tasks, timeout=0.1)

    def lose(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._writers |= ends
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._writers -= ends

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                # Lines come in pieces.
                cut = self._chance.randrange(len(data))
                for piece in (data[:cut], data[cut:]):
                    writer.write(piece)
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()
