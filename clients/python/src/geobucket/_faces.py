"""One definition of each operation, for callers that wait and for callers that await.

An operation is an `async def` of a class that both faces share. Of an object that `Awaits` it is that coroutine
function; of one that `Blocks` it is a function of the same arguments that waits for the result.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import inspect
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from . import errors
from ._link import Link
from ._settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


class Source(Protocol):
    """Who has the link, within the event loop."""

    @property
    def link(self) -> Link: ...


class operation(Generic[P, T]):
    """Marks an `async def` of which each face makes a method of its own; `__get__` says to type checkers what."""

    def __init__(self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.function = function

    @overload
    def __get__(self, instance: Blocks, owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Awaits, owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> Callable[..., Any]: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        raise TypeError("an operation is of a face: of a class that is Awaits or Blocks")


class Face:
    """Makes methods of the operations of its bases."""

    def __init_subclass__(cls) -> None:
        for base in reversed(cls.__mro__):
            for name, member in vars(base).items():
                if isinstance(member, operation):
                    setattr(cls, name, cls._method(member.function))

    @classmethod
    def _method(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


class Awaits(Face):
    """Objects of `geobucket.aio`."""


class Blocks(Face):
    """Objects whose operations wait. Their `_source` is a `Portal`."""

    @classmethod
    def _method(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def waits(self: Any, *arguments: Any, **options: Any) -> Any:
            source: Portal = self._source
            return source.run(function(self, *arguments, **options))

        # Documentation would follow the wrapper to what is awaited.
        del waits.__wrapped__
        waits.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return waits


class Portal:
    """An event loop in a thread of its own, with a link, for callers that wait. Threads may share it.

    The thread begins with the first call, and another in a process that was forked. It ends when nothing refers to the
    portal any more.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._is_closed = False

    @property
    def link(self) -> Link:
        if (worker := self._worker) is None:
            raise errors.Unavailable("the client is closed")
        return worker.link

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What comes of a coroutine; an exception here, such as KeyboardInterrupt, cancels it."""
        if self._worker is not None and self._worker.process != os.getpid():
            # Its thread has stayed behind, perhaps with the lock, and with it the connection.
            self._lock, self._worker = threading.Lock(), None
        try:
            # Under the lock, so that `close` comes behind this work and ends it, or before it.
            with self._lock:
                future = asyncio.run_coroutine_threadsafe(work, self._living().loop)
        except BaseException:
            work.close()
            raise
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise errors.Unavailable("the client is closed") from None
        except BaseException:
            future.cancel()
            raise

    def iterate(self, items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """What an asynchronous generator yields."""
        try:
            while True:
                try:
                    yield self.run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            with contextlib.suppress(errors.Unavailable):
                self.run(_close(items))

    def close(self) -> None:
        """Ends the link and the thread."""
        with self._lock:
            self._is_closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _living(self) -> _Worker:
        if self._is_closed:
            raise errors.Unavailable("the client is closed")
        if self._worker is None:
            self._worker = _Worker(self._settings)
            weakref.finalize(self, self._worker.close)
        if threading.current_thread() is self._worker.thread:
            raise RuntimeError("a call that waits would wait for itself here")
        return self._worker


class _Worker:
    def __init__(self, settings: Settings) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="geobucket", daemon=True)
        self.thread.start()
        self.link = asyncio.run_coroutine_threadsafe(_make_link(settings), self.loop).result()

    def _run(self) -> None:
        self.loop.run_forever()
        self.loop.close()

    def close(self) -> None:
        if self.process != os.getpid() or not self.thread.is_alive():
            return
        with contextlib.suppress(RuntimeError):  # Another thread was first.
            asyncio.run_coroutine_threadsafe(self._end(), self.loop)
        # The collector may have come to this within the thread.
        if threading.current_thread() is not self.thread:
            self.thread.join()

    async def _end(self) -> None:
        await self.link.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self.loop.stop()


async def _make_link(settings: Settings) -> Link:
    return Link(settings)


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await items.__anext__()


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
