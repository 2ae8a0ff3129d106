"""One definition of each operation, for callers that wait and for callers that await.

An operation is an `async def` of a class that both faces share. Of an object that `Awaits` it is that coroutine
function; of one that `Blocks` it is a function of the same arguments that waits for the result.
"""
from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import threading
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


class Awaits:
    """Objects of `geobucket.aio`."""

    _source: Source


class Blocks:
    """Objects whose operations wait."""

    _source: Portal


class operation(Generic[P, T]):
    """Makes of an `async def` what each face has."""

    def __init__(self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._function = function
        functools.update_wrapper(self, function)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, instance: Blocks, owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Awaits, owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self._function
        if isinstance(instance, Awaits):
            return functools.partial(self._function, instance)
        source, function = instance._source, self._function

        @functools.wraps(function)
        def waits(*arguments: P.args, **options: P.kwargs) -> T:
            return source.run(function(instance, *arguments, **options))

        return waits


class Portal:
    """An event loop in a thread of its own, with a link, for callers that wait. Threads may share it.

    The thread begins with the first call, and begins anew in a process that was forked.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._link: Link | None = None
        self._is_closed = False

    @property
    def link(self) -> Link:
        assert self._link is not None
        return self._link

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What comes of a coroutine; an exception here, such as KeyboardInterrupt, cancels it."""
        try:
            loop = self._started()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
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
            loop, thread, link = self._loop, self._thread, self._link
            self._loop = self._thread = None
        if self._process != os.getpid() or loop is None or thread is None:
            return
        if link is not None:
            asyncio.run_coroutine_threadsafe(link.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():
            # The thread has stayed behind, perhaps with the lock, and so has the right to the connection.
            self._lock, self._process = threading.Lock(), os.getpid()
            self._loop = self._thread = self._link = None
        with self._lock:
            if self._is_closed:
                raise errors.Unavailable("the client is closed")
            if self._loop is None:
                loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=loop.run_forever, name="geobucket", daemon=True)
                self._thread.start()
                self._link = asyncio.run_coroutine_threadsafe(_link(self.settings), loop).result()
                self._loop = loop
            elif threading.current_thread() is self._thread:
                raise RuntimeError("a call that waits would wait for itself here")
            return self._loop


async def _link(settings: Settings) -> Link:
    return Link(settings)


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await items.__anext__()


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
