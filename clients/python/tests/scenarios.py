"""Runs clients/scenarios against both faces: a service that a scenario plays, on a port of this machine."""

from __future__ import annotations

import asyncio
import inspect
import json
import pathlib
from collections.abc import Awaitable, Callable
from typing import Any

import geobucket
from geobucket import Clause, F, Reference, agg
from geobucket.errors import GeoBucketError

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "scenarios"
SECONDS = 10
#: What this client can of what `needs` may ask for.
ABILITIES = {
    "bigIntegers",
    "decimals",
    "totalLimit",
    "batches",
    "pipelined",
    "timeouts",
    "raw",
    "match",
    "shapes",
    "dryRun",
    "aggregate",
    "explain",
    "export",
}
ALWAYS: dict[str, Any] = {"server.ping": "pong", "server.info": {}, "watch.stop": {}}
KINDS = {
    "notFound": geobucket.NotFound,
    "invalidInput": geobucket.InvalidInput,
    "conflict": geobucket.Conflict,
    "unauthorized": geobucket.Unauthorized,
    "notAllowed": geobucket.NotAllowed,
    "tooManyRequests": geobucket.TooManyRequests,
    "unavailable": geobucket.Unavailable,
    "timeout": geobucket.Timeout,
    "disconnected": geobucket.Disconnected,
    "refused": GeoBucketError,
}


def build(expression: list[Any]) -> Clause:
    """What the builders make of a clause of the scenarios."""
    name, *rest = expression
    if name == "all":
        return geobucket.ALL
    if name == "raw":
        return geobucket.raw(rest[0])
    if name == "not":
        return ~build(rest[0])
    if name in ("and", "or"):
        clause = build(rest[0])
        for part in rest[1:]:
            clause = clause & build(part) if name == "and" else clause | build(part)
        return clause
    if name == "match" and isinstance(rest[0], list):
        return geobucket.match(rest[0], rest[1], **(rest[2] if len(rest) > 2 else {}))
    field, *arguments = rest
    f = F(field)
    makers: dict[str, Callable[..., Clause]] = {
        "eq": lambda value: f == value,
        "ne": lambda value: f != value,
        "lt": lambda value: f < value,
        "le": lambda value: f <= value,
        "gt": lambda value: f > value,
        "ge": lambda value: f >= value,
        "between": f.between,
        "prefix": f.starts_with,
        "like": lambda pattern, ignore=False: f.like(pattern, ignore_case=ignore),
        "contains": f.contains,
        "in": f.is_in,
        "has": f.exists,
        "box": lambda box: f.in_box(*box),
        "polygon": f.in_polygon,
        "within": lambda center, radius, into=None, model=None: f.within(
            radius, of=Reference(**center) if isinstance(center, dict) else center, into=into, model=model
        ),
        "along": lambda line, width, into=None, along=None: f.along(line, width, into=into, along_into=along),
        "match": f.match,
        "intersects": lambda shape: f.intersects(place(shape)),
        "inside": lambda shape: f.inside(place(shape)),
        "holds": lambda shape: f.holds(place(shape)),
    }
    return makers[name](*arguments)


def place(shape: Any) -> Any:
    return Reference(**shape) if "bucket" in shape else shape


# Comparing


DEFAULTS = {"lowerIncluded": True, "upperIncluded": True, "model": "sphere", "ignoreCase": False, "dryRun": False}


def canonical(value: Any, name: str = "") -> Any:
    """JSON in which what means the same is the same."""
    if name == "orderBy":
        keys = value if isinstance(value, list) else [value]
        return [{"descending": False, **(key if key is not value else {"field": key})} for key in keys]
    if isinstance(value, dict):
        return {
            key: canonical(member, key)
            for key, member in value.items()
            if not (key in DEFAULTS and member == DEFAULTS[key])
            and not (
                (key == "clause" and member == {"type": "all"}) or (key == "bucketQuery" and not canonical(member))
            )
        }
    if isinstance(value, list):
        return [canonical(element) for element in value]
    return value


def same(wanted: Any, found: Any, names: dict[str, str]) -> bool:
    """Whether JSON is as wanted; `$NAME` is any text, everywhere the same."""
    if isinstance(wanted, str) and wanted.startswith("$"):
        return (
            isinstance(found, str)
            and found != ""
            and names.setdefault(wanted, found) == found
            and len(set(names.values())) == len(names)
        )
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted is None:
        return wanted is found
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and wanted.keys() == found.keys()
            and all(same(member, found[key], names) for key, member in wanted.items())
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(same(a, b, names) for a, b in zip(wanted, found, strict=True))
        )
    return bool(wanted == found)


def contains(wanted: Any, found: Any) -> bool:
    """Whether what a call returned has all that is wanted."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and contains(member, found[key]) for key, member in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(contains, wanted, found))
    return type(wanted is True) is type(found is True) and bool(wanted == found)


def plain(value: Any) -> Any:
    """What a call returned, as JSON."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    return value


class Failure(AssertionError):
    """What the client did otherwise."""


class Service:
    """Plays the service of a scenario."""

    def __init__(self) -> None:
        self._requests: asyncio.Queue[tuple[asyncio.StreamWriter, dict[str, Any]]] = asyncio.Queue()
        self._writers: set[asyncio.StreamWriter] = set()
        self._names: dict[str, str] = {}
        self._expects_stop = False

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 24)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        self._server.close()
        self.lose()
        while not self._requests.empty():
            _, message = self._requests.get_nowait()
            if message["method"] not in ALWAYS:
                raise Failure(f"no step expects {message}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while line := await reader.readline():
                message = json.loads(line)
                if message.get("jsonrpc") != "2.0" or type(message.get("id")) not in (int, str):
                    raise Failure(f"this is no request: {line!r}")
                if message["method"] in ALWAYS and not (message["method"] == "watch.stop" and self._expects_stop):
                    self._send(writer, {"id": message["id"], "result": ALWAYS[message["method"]]})
                else:
                    self._requests.put_nowait((writer, message))
        except ConnectionError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    @staticmethod
    def _send(writer: asyncio.StreamWriter, *messages: dict[str, Any]) -> None:
        lines = [json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n" for message in messages]
        writer.write("".join(lines).encode())

    def lose(self) -> None:
        """Closes the connections, at once."""
        for writer in list(self._writers):
            writer.transport.abort()

    def tell(self, notifications: list[dict[str, Any]]) -> None:
        for writer in self._writers:
            self._send(writer, *notifications)

    async def play(self, wire: list[dict[str, Any]], *, ahead: bool, alone: bool = False) -> None:
        """Plays requests.

        - ahead: reads all of them, up to one that is lost, before it answers.
        - alone: no other may come before one is answered.
        """
        self._expects_stop = any(entry["method"] == "watch.stop" for entry in wire)
        while wire:
            lost = (i for i, entry in enumerate(wire) if entry.get("lost"))
            count = next(lost, len(wire) - 1) + 1 if ahead else 1
            group, wire = wire[:count], wire[count:]
            requests = [await self._expect(entry) for entry in group]
            if alone:
                await asyncio.sleep(0.05)
                if not self._requests.empty():
                    raise Failure("a request came before the one before it was answered")
            for entry, (writer, message) in zip(group, requests, strict=True):
                self._answer(entry, writer, message)
                if entry.get("lost"):
                    while not self._requests.empty():
                        self._requests.get_nowait()
        self._expects_stop = False

    async def _expect(self, entry: dict[str, Any]) -> tuple[asyncio.StreamWriter, dict[str, Any]]:
        try:
            writer, message = await asyncio.wait_for(self._requests.get(), SECONDS)
        except asyncio.TimeoutError:
            raise Failure(f"{entry['method']} did not come: {entry['params']}") from None
        wanted, found = canonical(entry["params"]), canonical(message.get("params"))
        if message["method"] != entry["method"] or not same(wanted, found, self._names):
            raise Failure(f"wanted {entry['method']} {wanted}, got {message['method']} {found}")
        return writer, message

    def _answer(self, entry: dict[str, Any], writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
        if entry.get("lost"):
            # What was written before has to arrive, so no reset.
            writer.close()
            self._writers.discard(writer)
        elif not entry.get("never"):
            outcome: dict[str, Any] = {key: entry[key] for key in ("result", "error") if key in entry}
            self._send(writer, {"id": message["id"], **outcome}, *entry.get("tell", []))


class Run:
    """One scenario with one face of the client."""

    def __init__(self, scenario: dict[str, Any], *, blocking: bool) -> None:
        self._scenario = scenario
        self._blocking = blocking
        self._service = Service()
        self._db: Any = None
        self._watches: dict[str, Any] = {}
        self._firsts: dict[str, asyncio.Future[Any]] = {}

    async def run(self) -> None:
        port = await self._service.start()
        self._opening = asyncio.ensure_future(self._open(port))
        try:
            for number, step in enumerate(self._scenario["steps"], 1):
                try:
                    await asyncio.wait_for(self._step(step), SECONDS * 2)
                except asyncio.TimeoutError:
                    raise Failure(f"step {number} does not end") from None
                except Failure as failure:
                    raise Failure(f"step {number}: {failure}") from None
        finally:
            await asyncio.gather(self._opening, return_exceptions=True)
            for first in self._firsts.values():
                first.cancel()
            if self._db is not None:
                await self._do(self._db.close)
            await self._service.stop()

    async def _open(self, port: int) -> None:
        options = {
            ("token" if name == "token" else name): value for name, value in self._scenario.get("options", {}).items()
        }
        arguments: dict[str, Any] = {"timeout": 8.0, "first_pause": 0.005, "longest_pause": 0.05}
        for name, value in options.items():
            if name.endswith("Milliseconds"):
                name, value = name.removesuffix("Milliseconds"), value / 1000
            arguments["".join(f"_{c.lower()}" if c.isupper() else c for c in name)] = value
        from geobucket._settings import make_settings

        token = arguments.pop("token", None)
        settings = make_settings(f"127.0.0.1:{port}", token, (None,) * 4, arguments)
        # `connect` asks for server.info first, and would fail with a login that is refused.
        self._db = geobucket.Database(settings) if self._blocking else geobucket.aio.Database(settings)

    async def _do(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Calls a face and waits for what comes of it."""
        if self._blocking:
            return await asyncio.to_thread(function, *arguments, **options)
        result = function(*arguments, **options)
        return await result if inspect.isawaitable(result) else result

    async def _step(self, step: dict[str, Any]) -> None:
        await self._opening
        wire = step.get("wire", [])
        if "call" in step:
            await self._together([step], wire, ahead=False)
        elif "together" in step:
            alone = bool(step.get("oneByOne"))
            await self._together(step["together"], wire, ahead=not alone, alone=alone)
        elif "watch" in step:
            self._begin(step)
            await self._service.play(wire, ahead=False)
        elif "state" in step:
            await self._state(step["state"], step["is"])
        elif "ended" in step:
            await self._fails(self._drain(step["ended"]), step["fails"])
        elif "tell" in step:
            self._service.tell(step["tell"])
        elif "lost" in step:
            self._service.lose()
        else:
            await self._service.play(wire, ahead=False)

    async def _together(
        self, calls: list[dict[str, Any]], wire: list[dict[str, Any]], *, ahead: bool, alone: bool = False
    ) -> None:
        tasks = []
        for call in calls:
            tasks.append(asyncio.ensure_future(self._call(call)))
            # Threads begin in any order; the calls have to begin in theirs.
            await asyncio.sleep(0.02 if self._blocking and len(calls) > 1 else 0)
        playing = asyncio.ensure_future(self._service.play(wire, ahead=ahead, alone=alone))
        try:
            await playing
            for call, task in zip(calls, tasks, strict=True):
                if "fails" in call:
                    await self._fails(task, call["fails"])
                elif not contains(call["returns"], found := plain(await task)):
                    raise Failure(f"{call['call']} returned {found}, not {call['returns']}")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fails(self, work: Awaitable[Any], wanted: dict[str, Any]) -> None:
        try:
            result = await work
        except GeoBucketError as error:
            found = {
                "errorCode": error.error_code,
                "path": error.path,
                "message": error.message,
                "retryAfterMillis": error.data.get("retryAfterMillis"),
            }
            if type(error) is not KINDS[wanted["kind"]] or any(
                found[name] != value for name, value in wanted.items() if name != "kind"
            ):
                raise Failure(f"{error!r} {found} in place of {wanted}") from error
        else:
            raise Failure(f"{plain(result)} in place of {wanted}")

    def _query(self, bucket: Any, query: dict[str, Any] | None) -> Any:
        said = query or {}
        made = bucket.find(build(said["where"]) if "where" in said else None)
        if "orderBy" in said:
            made = made.order_by(*(f"-{key[0]}" if isinstance(key, list) else key for key in said["orderBy"]))
        if said.get("nearest"):
            made = made.nearest()
        for name, method in (("limit", "limit"), ("pageSize", "page_size")):
            if name in said:
                made = getattr(made, method)(said[name])
        return made.fields(*said["fields"]) if "fields" in said else made

    async def _call(self, step: dict[str, Any]) -> Any:
        name, arguments = step["call"], dict(step.get("with", {}))
        if "watch" in step:
            watch = self._watches[step["watch"]]
            if name == "move":
                return await self._do(watch.move, self._query(watch.bucket, arguments["query"]))
            return await self._do(getattr(watch, name))
        if "bucket" not in step:
            result = await self._do(getattr(self._db, name), **arguments)
            return [bucket["bucket"] for bucket in result] if name == "buckets" else result
        bucket = self._db[step["bucket"]]
        snake = {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): v for key, v in arguments.items()}
        if name in ("get", "create", "put", "patch", "delete", "fields", "drop"):
            result = await self._do(getattr(bucket, name), **snake)
            return (
                {"id": result.id, "version": result.version, "written": result.written}
                if name in ("create", "put", "patch")
                else result
            )
        if name == "putMany":
            return {"written": await self._do(bucket.put_many, snake.pop("objects"), window=1, **snake)}
        if name == "export":
            return await self._do(list, bucket.export()) if self._blocking else [x async for x in bucket.export()]
        query = self._query(bucket, snake.pop("query", None))
        if name == "find":
            return await self._do(query.all)
        if name == "page":
            page = await self._do(query.page, snake.get("key"))
            return {"objects": page.objects, "next": page.next}
        if name == "aggregate":
            figures = {key: getattr(agg, figure[0].lower())(*figure[1:]) for key, figure in snake["figures"].items()}
            return await self._do(query.aggregate, **figures)
        if name == "deleteWhere":
            return await self._do(query.delete, **snake)
        return await self._do(getattr(query, name), **snake)

    # Watches

    def _begin(self, step: dict[str, Any]) -> None:
        bucket, said = self._db[step["bucket"]], step.get("with", {})
        query = self._query(bucket, said.get("query"))
        if "pairs" in said:
            pairs = said["pairs"]
            watch = bucket.watch_pairs(
                pairs["bucket"],
                pairs["field"],
                pairs["radius"],
                leave_radius=pairs.get("leaveRadius"),
                query=query,
                clause=build(pairs["where"]) if "where" in pairs else None,
            )
        else:
            interval = said.get("intervalMilliseconds")
            watch = bucket.watch(
                query,
                leave_radius=said.get("leaveRadius"),
                resume=said.get("resume"),
                interval=None if interval is None else interval / 1000,
            )
        watch.bucket = bucket
        self._watches[step["watch"]] = watch
        self._firsts[step["watch"]] = asyncio.ensure_future(self._next(watch))

    async def _next(self, watch: Any) -> Any:
        if self._blocking:
            return await asyncio.to_thread(next, watch, None)
        return await anext(watch, None)

    async def _take(self, name: str) -> Any:
        first = self._firsts.pop(name, None)
        return await (first or self._next(self._watches[name]))

    async def _drain(self, name: str) -> None:
        while await self._take(name) is not None:
            pass

    async def _state(self, name: str, wanted: dict[str, Any]) -> None:
        events: list[Any] = []
        while True:
            state = await asyncio.wait_for(self._take(name), SECONDS)
            if state is None:
                raise Failure(f"the watch has ended before {wanted}")
            events += state.events
            if state.change == wanted["change"] and state.is_connected == wanted.get("connected", True):
                break
        found = {
            "change": state.change,
            "connected": state.is_connected,
            "snapshot": state.is_snapshot,
            "complete": state.is_complete,
            "centerMissing": state.center_missing,
            "events": [self._event(event) for event in events],
        }
        for member, value in wanted.items():
            if member != "objects" and not contains(value, found[member]):
                raise Failure(f"{member} is {found[member]}, not {value}")
        objects = [
            {"ids": list(item.ids), "distance": item.distance} if isinstance(item, geobucket.Pair) else plain(item)
            for item in state.objects.values()
        ]
        if "objects" in wanted and not contains(wanted["objects"], objects):
            raise Failure(f"objects are {objects}, not {wanted['objects']}")

    @staticmethod
    def _event(event: Any) -> dict[str, Any]:
        pair = isinstance(event.id, tuple)
        found = {
            "event": event.kind,
            "ids" if pair else "id": list(event.id) if pair else event.id,
            "reason": event.reason,
            "index": event.index,
            "from": event.previous_index,
        }
        return {name: value for name, value in found.items() if value is not None}
