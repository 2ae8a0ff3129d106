"""Buckets and the service itself: what both faces can do with them."""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, TypeVar

from . import errors
from ._calls import Repeat
from ._faces import Source, operation
from ._json import Codec
from ._link import Link
from ._models import Model
from ._query import read
from ._writes import Batches, Upload, Written, expiry, write_key

In = TypeVar("In")
Out = TypeVar("Out")


def given(**members: Any) -> dict[str, Any]:
    """The members that are neither None nor False."""
    return {name: value for name, value in members.items() if value is not None and value is not False}


class DatabaseOperations:
    """A service, or a cluster of them."""

    _source: Source

    @operation
    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Any call of the protocol, and its result.

        It is repeated if the method only reads or the params have a `requestKey`.
        """
        link, params = self._source.link, params or {}
        freely = method in _READS or "requestKey" in params or bool(params.get("dryRun"))
        repeat = Repeat.FREELY if freely else Repeat.UNBEGUN
        return await link.call(method, link.session.codec.encode(params), repeat, timeout)

    @operation
    async def ping(self) -> None:
        """Asks whether the service answers."""
        await read(self._source, "server.ping", {})

    @operation
    async def info(self) -> dict[str, Any]:
        """The service's version, store and limits."""
        return dict(await read(self._source, "server.info", {}))

    @operation
    async def buckets(self, scope: str | None = None) -> list[dict[str, Any]]:
        """The buckets of a scope, such as `users/alice`, or the application's own, by name.

        Each has `bucket`, `objects`, `geoFields` and, if there is one, `place`.
        """
        found: list[dict[str, Any]] = []
        params = given(scope=scope)
        while True:
            answer = await read(self._source, "bucket.list", params)
            found += answer["buckets"]
            if "nextPaginationKey" not in answer:
                return found
            params["paginationKey"] = answer["nextPaginationKey"]


# The methods that change nothing, and so may be repeated. `bucket.export` and `store.backup` go on where the
# connection stopped, and the methods of watches name what the connection knows.
_READS = {
    *("server.info", "server.ping", "server.route", "server.stats", "server.activity", "rpc.discover"),
    *("bucket.list", "bucket.count", "bucket.query", "bucket.explain", "bucket.clusters", "bucket.fields"),
    *("bucket.suggest", "object.get", "store.check"),
}


class BucketOperations(Generic[In, Out]):
    """A bucket: objects by id. It need not exist; the first write makes it.

    - name: `shops`, or with a scope `users/alice/notes`.
    """

    _source: Source

    def __init__(self, source: Any, codec: Codec, name: str, model: Model[In, Out]) -> None:
        self._source = source
        self._codec = codec
        self._model = model
        self.name = name

    def __repr__(self) -> str:
        return f"<bucket {self.name}>"

    # Objects

    @operation
    async def get(self, id: str, *, at_least: int | None = None) -> Out:
        """The object with an id.

        - Raises: `NotFound`.
        """
        params = {"bucket": self.name, "id": id, **given(atLeast=at_least)}
        document: Out = self._model.read(await read(self._source, "object.get", params))
        return document

    @operation
    async def create(
        self, object: In, *, data_type: str | None = None, expires_at: int | datetime.datetime | None = None
    ) -> Written:
        """Writes an object under a new id."""
        conditions = given(dataType=data_type, expiresAt=expiry(expires_at))
        return Written.read(await self._write("object.create", object=self._model.write(object), **conditions))

    @operation
    async def put(
        self,
        id: str,
        object: In,
        *,
        if_version: int | None = None,
        if_absent: bool = False,
        if_newer: str | None = None,
        data_type: str | None = None,
        expires_at: int | datetime.datetime | None = None,
    ) -> Written:
        """Creates an object or replaces it as a whole.

        - if_version, if_absent: only if it has this version, or does not exist; else `Conflict`.
        - if_newer: only if the object has a greater value in this field; else `written` is False.
        - expires_at: from when on it no longer exists; milliseconds since 1970 or a time.
        """
        conditions = given(
            ifVersion=if_version,
            ifAbsent=if_absent,
            ifNewer=if_newer,
            dataType=data_type,
            expiresAt=expiry(expires_at),
        )
        return Written.read(await self._write("object.put", id=id, object=self._model.write(object), **conditions))

    @operation
    async def patch(
        self,
        id: str,
        object: Mapping[str, Any],
        *,
        if_version: int | None = None,
        if_newer: str | None = None,
        expires_at: int | datetime.datetime | None = None,
        store_nulls: bool = False,
        return_object: bool = False,
    ) -> Written:
        """Changes members of an object: objects are merged, None removes a member.

        - store_nulls: None is a value like any other.
        - return_object: `object` of the answer is the whole object. Such a call has no request key and is
          not repeated: `Disconnected` if the connection ends before the answer.
        """
        conditions = given(
            ifVersion=if_version,
            ifNewer=if_newer,
            expiresAt=expiry(expires_at),
            storeNulls=store_nulls,
            returnObject=return_object,
        )
        return Written.read(await self._write("object.patch", id=id, object=object, **conditions))

    @operation
    async def delete(self, id: str, *, if_version: int | None = None) -> None:
        """Deletes an object.

        - Raises: `NotFound`; `Conflict` if it has another version.
        """
        await self._write("object.delete", id=id, **given(ifVersion=if_version))

    @operation
    async def drop(self) -> int:
        """Deletes the bucket with all its objects, and returns how many there were."""
        return int((await self._write("bucket.delete"))["deleted"])

    @operation
    async def fields(self) -> dict[str, Any]:
        """The field paths of the objects, and how many objects have which type there."""
        return dict(await read(self._source, "bucket.fields", {"bucket": self.name}))

    # What the faces make of

    async def _write(self, method: str, **members: Any) -> Any:
        link = self._source.link
        repeat = Repeat.UNBEGUN if "returnObject" in members else Repeat.FREELY
        key = given(requestKey=write_key() if repeat is Repeat.FREELY else None)
        params = link.session.codec.encode({"bucket": self.name, **members, **key})
        return await link.call(method, params, repeat)

    def _batches(self, batch_bytes: int, batch_objects: int) -> Batches:
        return Batches(self._codec, self._model, batch_bytes, batch_objects)

    def _upload(self, if_newer: str | None, expires_at: int | datetime.datetime | None, window: int) -> Upload:
        return Upload(self.name, given(ifNewer=if_newer, expiresAt=expiry(expires_at)), window)

    async def _export(self) -> AsyncGenerator[list[Out], None]:
        """The bucket piece by piece, over a connection of its own: the service keeps the place by connection."""
        link = Link(self._source.link.settings)
        params = {"bucket": self.name}
        try:
            answer = await link.call("bucket.export", self._codec.encode(params), Repeat.FREELY)
            connection = link.session.connections
            while True:
                yield [self._model.read(document) for document in answer["objects"]]
                if not answer["more"]:
                    return
                if link.session.connections != connection:
                    raise errors.Disconnected("the connection ended; begin the export anew")
                following = self._codec.encode({**params, "continue": True})
                answer = await link.call("bucket.export", following, Repeat.UNBEGUN)
        finally:
            await link.close()

    async def _begin(self, upload: Upload, batch: Any) -> None:
        await upload.add(self._source.link, batch)
