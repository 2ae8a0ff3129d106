"""Writes: their keys, what they answer, and many at once."""

from __future__ import annotations

import asyncio
import datetime
import itertools
import os
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._calls import Repeat
from ._json import Codec, milliseconds
from ._link import Link
from ._models import Model
from .errors import GeoBucketError
from .values import Document

_numbers = itertools.count(1)
_prefix = ""


def write_key() -> str:
    """A request key that no other write has, under which the service carries a write out once."""
    return f"{_prefix}{next(_numbers)}"


def _begin_keys() -> None:
    global _prefix
    _prefix = f"py-{secrets.token_hex(12)}-"


_begin_keys()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_keys)


@dataclass(frozen=True, slots=True)
class Written:
    """What the service says of a write.

    - written: False if a condition `if_newer` kept the object as it is.
    - created, modified: milliseconds since 1970.
    - change: at a node of a cluster the number of the change, for `at_least`.
    - object: the whole object, if it was asked for.
    """

    id: str
    version: int
    created: int | None
    modified: int | None
    written: bool
    change: int | None
    object: Document | None = None

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Written:
        return cls(
            answer["_id"],
            answer["_version"],
            answer.get("_created"),
            answer.get("_modified"),
            answer.get("written", True),
            answer.get("change"),
            answer.get("object"),
        )


def expiry(time: int | datetime.datetime | None) -> int | None:
    return milliseconds(time) if isinstance(time, datetime.datetime) else time


class Batch(NamedTuple):
    """Objects of one `object.putMany`, as text."""

    objects: list[bytes]
    ids: set[str]
    #: How many objects come before it.
    first: int


class Batches:
    """Divides objects into batches by their number and their bytes; one that is longer is a batch by itself."""

    def __init__(self, codec: Codec, model: Model[Any, Any], most_bytes: int, most_objects: int) -> None:
        self._codec = codec
        self._model = model
        self._most_bytes = most_bytes
        self._most_objects = most_objects
        self._next = Batch([], set(), 0)
        self._bytes = 0

    def add(self, value: Any) -> Batch | None:
        """Takes an object; the batch that it no longer fits."""
        document = self._model.write(value)
        text = self._codec.encode(document)
        id = document.get("_id") if isinstance(document, Mapping) else None
        id = id if isinstance(id, str) else None
        full = None
        batch = self._next
        fits = self._bytes + len(text) <= self._most_bytes and len(batch.objects) < self._most_objects
        # No request may have an id twice.
        if batch.objects and (not fits or id in batch.ids):
            full = batch
            batch = self._next = Batch([], set(), batch.first + len(batch.objects))
            self._bytes = 0
        batch.objects.append(text)
        self._bytes += len(text) + 1
        if id is not None:
            batch.ids.add(id)
        return full

    def rest(self) -> Batch | None:
        return self._next if self._next.objects else None

    def of(self, values: Iterable[Any]) -> Iterator[Batch]:
        for value in values:
            if (batch := self.add(value)) is not None:
                yield batch
        if (batch := self.rest()) is not None:
            yield batch


class Upload:
    """Batches under way, a few at once. Objects of one id take effect in their order.

    - written: how many objects have been written so far.
    - answered: how many were asked for and answered.
    """

    def __init__(self, bucket: str, conditions: Mapping[str, Any], window: int) -> None:
        self.written = 0
        self.answered = 0
        self._members = {"bucket": bucket, **conditions}
        self._window = window
        self._under_way: deque[tuple[Batch, asyncio.Task[Any]]] = deque()

    async def add(self, link: Link, batch: Batch) -> None:
        """Begins a batch, as soon as there is room for it."""
        while len(self._under_way) >= self._window or any(
            not batch.ids.isdisjoint(other.ids) for other, _ in self._under_way
        ):
            await self._first_answer()
        members = link.session.codec.encode({**self._members, "requestKey": write_key()})
        params = b'%s,"objects":[%s]}' % (members[:-1], b",".join(batch.objects))
        call = link.call("object.putMany", params, Repeat.FREELY)
        self._under_way.append((batch, asyncio.ensure_future(call)))

    async def finish(self) -> int:
        """Waits for all batches; how many objects were written."""
        while self._under_way:
            await self._first_answer()
        return self.written

    async def cancel(self) -> None:
        """Waits for nothing more."""
        tasks = [task for _, task in self._under_way]
        self._under_way.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _first_answer(self) -> None:
        batch, task = self._under_way.popleft()
        try:
            answer = await task
        except GeoBucketError as error:
            await self.cancel()
            raise _placed(error, batch.first) from None
        except BaseException:
            task.cancel()
            await self.cancel()
            raise
        self.answered += len(batch.objects)
        self.written += sum(entry.get("written", True) for entry in answer["objects"])


def _placed(error: GeoBucketError, first: int) -> GeoBucketError:
    """The error with the index of the object among all, not among those of its batch."""
    if (found := re.match(r"objects\[(\d+)\](.*)", error.path or "")) is not None:
        error.data = {**error.data, "path": f"objects[{int(found[1]) + first}]{found[2]}"}
    return error


Progress = Callable[[int], None]
