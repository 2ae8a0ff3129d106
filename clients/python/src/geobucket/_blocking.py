"""The client for programs that wait."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from . import _frames
from ._bucket import BucketOperations, DatabaseOperations
from ._faces import Blocks, Portal
from ._json import Codec
from ._models import Model, Stored, TypedModel
from ._query import QueryOperations
from ._settings import Path, Settings, make_settings
from ._states import State
from ._watch import Pair, WatchOperations, pairs_members, watch_members
from ._writes import Progress
from .clauses import Clause
from .values import Document

In = TypeVar("In")
Out = TypeVar("Out")
T = TypeVar("T")


def connect(
    address: str | Sequence[str] = "localhost:4362",
    *,
    token: str | None = None,
    tls: bool | ssl.SSLContext | None = None,
    ca: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    **options: Any,
) -> Database:
    """Connects to a service.

    - address: `HOST`, `HOST:PORT`, `geobucket://HOST:PORT` or, with TLS, `geobuckets://HOST:PORT`. Of a cluster
      several, in a sequence or between commas; when one fails, the next is tried.
    - token: logs in with it, on each new connection.
    - tls: True, or a context of your own. ca: a PEM file of trusted roots in place of the system's. certificate, key:
      the client's own, PEM files.
    - options: `decimals=True` reads numbers with a fraction as `Decimal`, `datetimes=True` writes a `datetime` as
      milliseconds since 1970. In seconds: `timeout` (30, a call with all its attempts), `connect_timeout` (10),
      `retry_time` (15, for how long calls wait while no address can be reached), `first_pause` (0.05) and
      `longest_pause` (2) between attempts, `check_time` (45, how long a connection with watches may be silent).
      `pipelined` (256) and `pipelined_bytes` (4 MiB) bound what is unanswered, `waiting` (10,000) the calls that wait,
      `answer_bytes` (256 MiB) an answer.
    - Raises: `Unavailable` if nobody answers at any of the addresses; `Unauthorized`.
    """
    settings = make_settings(address, token, (tls, ca, certificate, key), options)
    db = Database(settings)
    try:
        db.call("server.info", timeout=settings.connect_timeout * len(settings.addresses) + 1)
    except BaseException:
        db.close()
        raise
    return db


class Database(DatabaseOperations, Blocks):
    """A service: `db["shops"]` is a bucket. `with` ends it. Threads may share it."""

    _source: Portal

    def __init__(self, settings: Settings) -> None:
        self._source = Portal(settings)
        self._codec = Codec(decimals=settings.decimals, datetimes=settings.datetimes)

    def __getitem__(self, name: str) -> Bucket[Document, Document]:
        return Bucket(self._source, self._codec, name, Model())

    def close(self) -> None:
        """Ends the connection. Calls and watches under way fail."""
        self._source.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Bucket(BucketOperations[In, Out], Blocks):
    __doc__ = BucketOperations.__doc__
    _source: Portal

    def typed(self, kind: type[T]) -> Bucket[T | Stored[T], Stored[T]]:
        """The bucket for instances of a dataclass or a pydantic model.

        What is read is a `Stored`, which has the model as its `value`; `put_many` takes these too, and keeps their ids.
        """
        return Bucket(self._source, self._codec, self.name, TypedModel(kind))

    def find(self, clause: Clause | None = None) -> Query[Out]:
        """The objects that a clause selects, or all: an iterable over all pages, each asked for when it is wanted."""
        return Query(self._source, self.name, self._model, clause)

    def count(self, clause: Clause | None = None) -> int:
        """How many objects a clause selects."""
        return self.find(clause).count()

    def delete_where(self, clause: Clause, *, dry_run: bool = False) -> int:
        """Deletes the objects that a clause selects, and returns how many there were; see `Query.delete`."""
        return self.find(clause).delete(dry_run=dry_run)

    def put_many(
        self,
        objects: Iterable[In],
        *,
        if_newer: str | None = None,
        expires_at: int | datetime.datetime | None = None,
        progress: Progress | None = None,
        batch_bytes: int = 262_144,
        batch_objects: int = 5_000,
        window: int = 4,
    ) -> int:
        """Writes many objects, each with or without an `_id`, and returns how many were written.

        They are taken from the iterable as they are needed, and sent in batches, a few at once. A batch is written
        whole or not at all. If one is refused, the batches before it have been written, those behind it perhaps.

        - if_newer: objects take the place only of those with a lesser value in this field.
        - progress: called with the number of objects that have been answered so far.
        """
        upload = self._upload(if_newer, expires_at, window)
        portal = self._source
        try:
            for batch in self._batches(batch_bytes, batch_objects).of(objects):
                portal.run(self._begin(upload, batch))
                if progress:
                    progress(upload.answered)
            written = portal.run(upload.finish())
        except BaseException:
            portal.run(upload.cancel())
            raise
        if progress:
            progress(upload.answered)
        return written

    def load(self, frame: Any, **options: Any) -> int:
        """Writes the rows of a DataFrame or GeoDataFrame, and returns how many were written.

        - id: the column of the ids; without it the objects get new ones.
        - latitude, longitude: columns of degrees, which become a point in the member `point` (`location`).
        - The geometry of a GeoDataFrame becomes a point or shape in that member too; it is taken to EPSG:4326 first.
        - Cells without a value are left out. All other options are those of `put_many`.
        """
        columns, options = _frames.split(options)
        return self.put_many(_frames.documents(frame, **columns), **options)

    def export(self) -> Iterator[Out]:
        """All objects in the order of creation, as the bucket is at the first, whatever is written meanwhile.

        - Raises: `Disconnected` if the connection ends before the last.
        """
        for piece in self._source.iterate(self._export()):
            yield from piece

    def watch(
        self,
        query: Query[Any] | Clause | None = None,
        *,
        leave_radius: float | None = None,
        interval: float | None = None,
        resume: str | None = None,
    ) -> Watch[Out]:
        """A live query: states of what matches. A query with an order and a limit is a ranking.

        - leave_radius: objects enter within the radius of the query and leave beyond this one, metres.
        - interval: at most one state of a ranking in so many seconds (0.1).
        - resume: goes on from a state of an earlier run.
        """
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
        """Who of this bucket comes near whom of another: pairs meet and part.

        - other, field, clause: the other bucket, its geo field, and which of its objects.
        - query: which objects of this bucket; its clauses name one geo field.
        - radius, leave_radius: they meet within the one and part beyond the other, metres.
        """
        query = query if isinstance(query, Query) else self.find(query)
        return Watch(self._source, Pair.read, pairs_members(other, field, radius, clause, leave_radius), query, resume)


class Query(QueryOperations[Out], Blocks):
    __doc__ = QueryOperations.__doc__
    _source: Portal

    def __iter__(self) -> Iterator[Out]:
        for objects in self._source.iterate(self._pages()):
            yield from objects

    def all(self) -> list[Out]:
        """All objects, as a list."""
        return list(self)

    def to_pandas(self) -> Any:
        """All objects as a DataFrame, with the ids as its index. Points stay as they are."""
        return _frames.frame(list(self))

    def to_geopandas(self, geometry: str | None = None) -> Any:
        """All objects as a GeoDataFrame in EPSG:4326, with the ids as its index.

        - geometry: the member with the places; without it the first that has one.
        """
        return _frames.geo_frame(list(self), geometry)


class Watch(WatchOperations[Out], Blocks, Generic[Out]):
    __doc__ = WatchOperations.__doc__
    _source: Portal

    def __iter__(self) -> Watch[Out]:
        return self

    def __next__(self) -> State[Out]:
        if (state := self._source.run(self._next())) is None:
            raise StopIteration
        return state

    def __enter__(self) -> Watch[Out]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
