"""Services that do not keep to the protocol: calls fail in their time, and nothing grows."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import tracemalloc
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

import geobucket
from geobucket import aio

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
# Far beyond what anything here takes on a busy machine; a call that waited for its timeout of 30 s has hung.
HANG = 25
INFO = {"name": "geobucket", "limits": {}}


async def request(reader: asyncio.StreamReader) -> dict[str, Any]:
    line = await reader.readline()
    if not line:
        raise ConnectionError
    message: dict[str, Any] = json.loads(line)
    return message


def answer(message: dict[str, Any], result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n"


class HostileTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    async def serving(self, serve: Serve) -> str:
        """An address where `serve` answers, once it has answered the first question of a client."""
        tasks: set[asyncio.Task[Any]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                with contextlib.suppress(ConnectionError):
                    await serve(reader, writer)
            finally:
                writer.close()

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(accept(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(begin, "127.0.0.1", 0)

        async def stop() -> None:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.addAsyncCleanup(stop)
        return f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def fails(self, serve: Serve, kind: type[Exception], **options: Any) -> Exception:
        """A call that fails within its time, with an error of this kind."""

        async def greets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            message = await request(reader)
            if message["method"] == "server.info":
                writer.write(answer(message, INFO))
                message = await request(reader)
            await serve(reader, writer)

        address = await self.serving(greets)
        settings = {"timeout": 0.6, "retry_time": 0.3, "first_pause": 0.01, "longest_pause": 0.05, **options}
        async with await aio.connect(address, **settings) as db:
            began = time.monotonic()
            with self.assertRaises(kind) as caught:
                await db["b1"].get("k1")
            self.assertLess(time.monotonic() - began, HANG)
            session = db._link.session
            self.assertEqual(len(session._waiting), 0)
        return caught.exception

    async def test_one_that_never_answers(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(10)

        await self.fails(serve, geobucket.Timeout)
        address = await self.serving(serve)
        for connect in (self.awaiting, self.waiting):
            with self.assertRaises(geobucket.Timeout):
                await connect(address, connect_timeout=0.2)

    async def awaiting(self, address: str, **options: Any) -> None:
        await aio.connect(address, **options)

    async def waiting(self, address: str, **options: Any) -> None:
        await asyncio.to_thread(geobucket.connect, address, **options)

    async def test_one_that_ends_each_connection_in_the_middle_of_a_line(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b'{"jsonrpc":"2.0","id":')

        await self.fails(serve, geobucket.Unavailable)

    async def test_one_that_answers_something_else(self) -> None:
        for line in [b"HTTP/1.1 400 Bad Request\r\n", b'{"id":1e99,"result":1}\n', b'{"id":true,"result":1}\n', b"7\n"]:

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes = line) -> None:
                writer.write(line)
                await asyncio.sleep(10)

            error = await self.fails(serve, geobucket.Unavailable)
            self.assertIn("cannot be read", str(error))

    async def test_another_program_is_told_at_once(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        address = await self.serving(serve)
        began = time.monotonic()
        with self.assertRaises(geobucket.Unavailable) as caught:
            await aio.connect(address)
        self.assertIn("HTTP/1.1", str(caught.exception))
        self.assertLess(time.monotonic() - began, HANG)

    async def test_one_that_sends_a_line_without_end(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

        tracemalloc.start()
        await self.fails(serve, geobucket.Unavailable, answer_bytes=1 << 20)
        self.assertLess(tracemalloc.get_traced_memory()[1], 16 << 20)
        tracemalloc.stop()

    async def test_huge_answers_in_small_pieces(self) -> None:
        text = "é" * 3_000_000

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                message = await request(reader)
                line = answer(message, INFO if message["method"] == "server.info" else {"text": text})
                for first in range(0, len(line), 10_000):
                    writer.write(line[first : first + 10_000])
                await writer.drain()

        async with await aio.connect(await self.serving(serve)) as db:
            began = time.monotonic()
            found = await asyncio.gather(*(db["b1"].get("k1") for _ in range(3)))
            self.assertEqual([item["text"] for item in found], [text] * 3)
            self.assertLess(time.monotonic() - began, HANG)

    async def test_a_call_that_is_cancelled_before_it_is_sent_is_not_sent(self) -> None:
        methods: list[str] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                message = await request(reader)
                methods.append(message["method"])
                await asyncio.sleep(0.1)
                writer.write(answer(message, {"count": 1, "_id": "k1"}))

        async with await aio.connect(await self.serving(serve), pipelined=1) as db:
            first = asyncio.ensure_future(db["b1"].get("k1"))
            second = asyncio.ensure_future(db["b1"].count())
            await asyncio.sleep(0.02)
            second.cancel()
            await first
            await db.ping()
        self.assertEqual(methods, ["server.info", "object.get", "server.ping"])

    async def test_batches_with_one_id_are_not_under_way_together(self) -> None:
        under_way: set[str] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            answers: asyncio.Queue[tuple[dict[str, Any], list[str]]] = asyncio.Queue()

            async def answering() -> None:
                while True:
                    message, ids = await answers.get()
                    await asyncio.sleep(0.02)
                    under_way.difference_update(ids)
                    writer.write(answer(message, {"objects": [{"_id": id, "_version": 1} for id in ids]}))

            task = asyncio.ensure_future(answering())
            try:
                while True:
                    message = await request(reader)
                    ids = [item["_id"] for item in message["params"].get("objects", [])]
                    self.assertTrue(under_way.isdisjoint(ids))
                    under_way.update(ids)
                    most[0] = max(most[0], len(under_way))
                    answers.put_nowait((message, ids))
            finally:
                task.cancel()

        most = [0]
        async with await aio.connect(await self.serving(serve)) as db:
            ids = ["k1", "k2", "k1", "k3", "k4", "k2", "k5", "k5"]
            self.assertEqual(await db["b1"].put_many(({"_id": id} for id in ids), batch_objects=1), len(ids))
        self.assertGreater(most[0], 1)

    async def test_one_that_tells_of_watches_that_nobody_has(self) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                message = await request(reader)
                told = {"method": "watch.events", "params": {"watch": "w9", "events": [{"event": "x"}]}}
                writer.write(json.dumps(told).encode() + b"\n" + answer(message, {"_id": "k1"}))

        async with await aio.connect(await self.serving(serve)) as db:
            for _ in range(100):
                self.assertEqual(await db["b1"].get("k1"), {"_id": "k1"})
            self.assertEqual(db._link.session.connections, 1)

    async def test_a_watch_that_is_told_nonsense_begins_anew(self) -> None:
        snapshot = {"watch": "w1", "objects": [{"_id": "k1"}], "more": False, "change": 7, "resume": "r7"}
        starts: list[Any] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                message = await request(reader)
                if message["method"] != "watch.start":
                    writer.write(answer(message, INFO))
                    continue
                starts.append(message["params"])
                writer.write(answer(message, {"watch": "w1"} if len(starts) != 2 else {"nonsense": 1}))
                told = [{"method": "watch.snapshot", "params": snapshot}]
                if len(starts) < 3:
                    told.append({"method": "watch.events", "params": {"watch": "w1", "events": [{"event": "leave"}]}})
                writer.write(b"".join(json.dumps(message).encode() + b"\n" for message in told))

        async with await aio.connect(await self.serving(serve), first_pause=0.01) as db, db["b1"].watch() as watch:
            async for state in watch:
                self.assertEqual(set(state.objects), {"k1"})
                if len(starts) == 3 and state.is_connected:
                    break
        self.assertEqual([start.get("resume") for start in starts], [None] * 3)


if __name__ == "__main__":
    unittest.main()
