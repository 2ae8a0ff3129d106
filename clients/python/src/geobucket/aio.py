"""The client for asyncio: `db = await geobucket.aio.connect("localhost:4362")`.

All tasks of an event loop may share one `Database`. The names are those of `geobucket`; what waits there is awaited
here.
"""

from __future__ import annotations

import datetime
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from . import _frames
from ._bucket import BucketOperations, DatabaseOperations
from ._faces import Awaits, Source
from ._link import Link
from ._models import Model, Stored, TypedModel
from ._query import Page, QueryOperations
from ._settings import Path, Settings, make_settings
from ._states import Event, State
from ._watch import Pair, WatchOperations, pairs_members, watch_members
from ._writes import Progress, Written
from .clauses import Clause
from .values import Document

__all__ = ["Bucket", "Database", "Event", "Page", "Pair", "Query", "State", "Stored", "Watch", "Written", "connect"]

In = TypeVar("In")
Out = TypeVar("Out")
T = TypeVar("T")


async def connect(
    address: str | Sequence[str] = "localhost:4362",
    *,
    token: str | None = None,
    tls: bool | ssl.SSLContext | None = None,
    ca: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    **options: Any,
) -> Database:
    """Connects to a service: see `geobucket.connect`."""
    settings = make_settings(address, token, (tls, ca, certificate, key), options)
    db = Database(settings)
    try:
        await db.call("server.info", timeout=settings.connect_timeout * len(settings.addresses) + 1)
    except BaseException:
        await db.close()
        raise
    return db


class _Source:
    def __init__(self, link: Link) -> None:
        self.link = link


class Database(DatabaseOperations, Awaits):
    """A service: `db["shops"]` is a bucket. `async with` ends it."""

    def __init__(self, settings: Settings) -> None:
        self._link = Link(settings)
        self._source: Source = _Source(self._link)

    def __getitem__(self, name: str) -> Bucket[Document, Document]:
        return Bucket(self._source, self._link.session.codec, name, Model())

    async def close(self) -> None:
        """Ends the connection. Calls and watches under way fail."""
        await self._link.close()

    async def __aenter__(self) -> Database:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Bucket(BucketOperations[In, Out], Awaits):
    __doc__ = BucketOperations.__doc__

    def typed(self, kind: type[T]) -> Bucket[T | Stored[T], Stored[T]]:
        """The bucket for instances of a dataclass or a pydantic model."""
        return Bucket(self._source, self._codec, self.name, TypedModel(kind))

    def find(self, clause: Clause | None = None) -> Query[Out]:
        """The objects that a clause selects, or all."""
        return Query(self._source, self.name, self._model, clause)

    async def count(self, clause: Clause | None = None) -> int:
        """How many objects a clause selects."""
        return await self.find(clause).count()

    async def delete_where(self, clause: Clause, *, dry_run: bool = False) -> int:
        """Deletes the objects that a clause selects, and returns how many there were."""
        return await self.find(clause).delete(dry_run=dry_run)

    async def put_many(
        self,
        objects: Iterable[In] | AsyncIterable[In],
        *,
        if_newer: str | None = None,
        expires_at: int | datetime.datetime | None = None,
        progress: Progress | None = None,
        batch_bytes: int = 262_144,
        batch_objects: int = 5_000,
        window: int = 4,
    ) -> int:
        """Writes many objects, and returns how many were written: see `geobucket.Bucket.put_many`."""
        upload = self._upload(if_newer, expires_at, window)
        batches = self._batches(batch_bytes, batch_objects)
        try:
            async for value in _each(objects):
                if (batch := batches.add(value)) is not None:
                    await self._begin(upload, batch)
                    if progress:
                        progress(upload.answered)
            if (batch := batches.rest()) is not None:
                await self._begin(upload, batch)
            written = await upload.finish()
        except BaseException:
            await upload.cancel()
            raise
        if progress:
            progress(upload.answered)
        return written

    async def load(self, frame: Any, **options: Any) -> int:
        """Writes the rows of a DataFrame or GeoDataFrame: see `geobucket.Bucket.load`."""
        columns, options = _frames.split(options)
        return await self.put_many(_frames.documents(frame, **columns), **options)

    async def export(self) -> AsyncIterator[Out]:
        """All objects, as the bucket is at the first: see `geobucket.Bucket.export`."""
        async for piece in self._export():
            for item in piece:
                yield item

    def watch(
        self,
        query: Query[Any] | Clause | None = None,
        *,
        leave_radius: float | None = None,
        interval: float | None = None,
        resume: str | None = None,
    ) -> Watch[Out]:
        """A live query: see `geobucket.Bucket.watch`."""
        query = query if isinstance(query, Query) else self.find(query)
        members = watch_members(leave_radius, interval)
        return Watch(self._source, self._model.read, members, query, resume)

    def watch_pairs(
        self,
        other: str,
        field: str,
        radius: float,
        *,
        clause: Clause | None = None,
        leave_radius: float | None = None,
        query: Query[Any] | Clause | None = None,
        resume: str | None = None,
    ) -> Watch[Pair]:
        """Who comes near whom: see `geobucket.Bucket.watch_pairs`."""
        query = query if isinstance(query, Query) else self.find(query)
        return Watch(self._source, Pair.read, pairs_members(other, field, radius, clause, leave_radius), query, resume)


class Query(QueryOperations[Out], Awaits):
    __doc__ = QueryOperations.__doc__

    async def __aiter__(self) -> AsyncIterator[Out]:
        async for objects in self._pages():
            for item in objects:
                yield item

    async def all(self) -> list[Out]:
        """All objects, as a list."""
        return [item async for item in self]

    async def to_pandas(self) -> Any:
        """All objects as a DataFrame: see `geobucket.Query.to_pandas`."""
        return _frames.frame([item async for item in self])

    async def to_geopandas(self, geometry: str | None = None) -> Any:
        """All objects as a GeoDataFrame: see `geobucket.Query.to_geopandas`."""
        return _frames.geo_frame([item async for item in self], geometry)


class Watch(WatchOperations[Out], Awaits, Generic[Out]):
    __doc__ = WatchOperations.__doc__

    def __aiter__(self) -> Watch[Out]:
        return self

    async def __anext__(self) -> State[Out]:
        if (state := await self._next()) is None:
            raise StopAsyncIteration
        return state

    async def __aenter__(self) -> Watch[Out]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


async def _each(objects: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(objects, AsyncIterable):
        async for item in objects:
            yield item
    else:
        for item in objects:
            yield item
