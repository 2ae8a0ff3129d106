"""Watches: live queries."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._bucket import given
from ._calls import Watching
from ._faces import Source, operation
from ._link import Link
from ._query import QueryOperations
from ._states import State, States
from .clauses import Clause
from .errors import GeoBucketError
from .values import Document

Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two objects that are near each other: the watched bucket's first, and metres."""

    ids: tuple[str, str]
    distance: float

    @classmethod
    def read(cls, document: Document) -> Pair:
        first, second = document["ids"]
        return cls((first, second), document["distance"])


class WatchOperations(Generic[Out]):
    """A live query: states, for as long as anybody asks for the next.

    It begins with the first state that is asked for, and goes on over lost connections and restarts of the
    service. It ends with `stop`, or when nothing refers to it any more.
    """

    _source: Source

    def __init__(
        self,
        source: Any,
        read: Callable[[Any], Out],
        members: Mapping[str, Any],
        query: QueryOperations[Any],
        resume: str | None = None,
    ) -> None:
        self._source = source
        self._read = read
        self._members = members
        self._query = query
        self._resume = resume
        self._link: Link | None = None
        self._watching: Watching | None = None
        self._news: asyncio.Event | None = None

    @operation
    async def move(self, query: QueryOperations[Any]) -> int:
        """Watches another query of the same bucket, under the same watch; the difference comes as events.

        Returns the change number of the first state of the new query. If the service refuses it, the watch
        goes on as it was.
        """
        link, watching = self._begun()
        before, order, ranking = watching.params, watching.states.order, watching.states.is_ranking
        changed = _question(query)
        watching.params = before | changed
        watching.states.order, watching.states.is_ranking = query._order, _is_ranking(watching.params)
        try:
            changed.pop("fields", None)
            changed.pop("bucket")
            answer = await link.call_watch(watching, "watch.move", changed)
        except GeoBucketError as error:
            if error.code is not None:
                watching.params, watching.states.order, watching.states.is_ranking = before, order, ranking
            raise
        return int(answer["change"])

    @operation
    async def sync(self) -> int:
        """Waits until the watch has been told every write that was answered before, anywhere.

        Returns its change number: the next state has it or a later one.
        """
        link, watching = self._begun()
        answer = await link.call_watch(watching, "watch.sync", {})
        watching.states.reach(answer["change"])
        watching.news()
        return int(answer["change"])

    @operation
    async def stop(self) -> None:
        """Ends the watch, and a loop over it."""
        if self._link is None or self._watching is None or self._watching.ended:
            return
        stopped = asyncio.Event()
        self._link.unwatch(self._watching, lambda result, error: stopped.set())
        await stopped.wait()

    async def _next(self) -> State[Out] | None:
        """The next state; None if the watch has ended."""
        _, watching = self._begun()
        assert self._news is not None
        while True:
            self._news.clear()
            state = watching.states.take(self._read)
            if state is not None:
                return state
            if watching.failure is not None:
                raise watching.failure
            if watching.ended:
                return None
            await self._news.wait()

    def _begun(self) -> tuple[Link, Watching]:
        link = self._source.link
        if self._link is None or self._watching is None:
            states = States(self._resume)
            self._news = asyncio.Event()
            watching = Watching(_question(self._query) | dict(self._members), states, self._news.set)
            states.order, states.is_ranking = self._query._order, _is_ranking(watching.params)
            link.watch(watching)
            self._link, self._watching = link, watching
            weakref.finalize(self, _forget, link, watching).atexit = False
        elif self._link is not link:
            raise RuntimeError("this watch belongs to the process that began it")
        return self._link, self._watching


def watch_members(leave_radius: float | None, interval: float | None) -> dict[str, Any]:
    """What a watch says besides its query."""
    milliseconds = None if interval is None else round(interval * 1000)
    members = given(leaveRadius=leave_radius)
    return members if milliseconds is None else members | {"intervalMilliseconds": milliseconds}


def pairs_members(
    other: str, field: str, radius: float, clause: Clause | None, leave_radius: float | None
) -> dict[str, Any]:
    """What a watch of pairs says besides its query."""
    condition = given(clause=clause.json if clause is not None else None, leaveRadius=leave_radius)
    return {"pairs": {"bucket": other, "field": field, "radius": radius, **condition}}


def _question(query: QueryOperations[Any]) -> dict[str, Any]:
    return query._question() | query._size(query._limit)


def _is_ranking(params: Mapping[str, Any]) -> bool:
    return "bestEffortLimit" in params and "orderBy" in params.get("bucketQuery", {})


def _forget(link: Link, watching: Watching) -> None:
    """Ends the watch of an object that is gone, from whatever thread."""
    with contextlib.suppress(RuntimeError):  # The loop has been closed, and the watch with it.
        link.loop.call_soon_threadsafe(link.unwatch, watching)
