"""A session's connections, by asyncio."""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
from collections.abc import Callable
from typing import Any

from ._calls import Call, Finish, Repeat, Watching
from ._session import Session
from ._settings import Address, Settings
from .errors import GeoBucketError


class Link:
    """Carries out what a `Session` wants. All of it belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.session = Session(settings)
        self.loop = asyncio.get_running_loop()
        self._connection: _Connection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_scheduled = False

    async def call(self, method: str, params: bytes, repeat: Repeat, timeout: float | None = None) -> Any:
        """The result of a call. If the task is cancelled, the service may still carry it out."""
        now = self.loop.time()
        return await self._outcome(lambda finish: self.session.call(method, params, repeat, now, finish, timeout))

    async def call_watch(self, watch: Watching, method: str, params: dict[str, Any]) -> Any:
        """The result of a call that names a watch."""
        now = self.loop.time()
        return await self._outcome(lambda finish: self.session.call_watch(watch, method, params, now, finish))

    async def _outcome(self, begin: Callable[[Finish], Call]) -> Any:
        future: asyncio.Future[Any] = self.loop.create_future()
        call = begin(functools.partial(_settle, future))
        self.wake()
        try:
            return await future
        finally:
            if call.finish is not None:
                self.session.abandon(call)

    def watch(self, watch: Watching) -> None:
        self.session.watch(watch, self.loop.time())
        self.wake()

    def unwatch(self, watch: Watching, finish: Finish = lambda result, error: None) -> None:
        self.session.unwatch(watch, self.loop.time(), finish)
        self.wake()

    async def close(self) -> None:
        """Ends the connection; what waits for an answer fails."""
        connection, self._connection = self._connection, None
        connecting, self._connecting = self._connecting, None
        self.session.close()
        if self._timer is not None:
            self._timer.cancel()
        if connecting is not None:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
        if connection is not None:
            connection.transport.close()
            await asyncio.wait([connection.ended], timeout=1)
            connection.transport.abort()

    def wake(self) -> None:
        """Does what the session wants after all that is ready to run has run: many calls, one write."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._act)

    def _act(self) -> None:
        self._is_scheduled = False
        now = self.loop.time()
        session = self.session
        if self._connection is not None:
            if session.drops:
                connection, self._connection = self._connection, None
                connection.transport.abort()
            elif output := session.take_output():
                self._connection.transport.write(output)
        if self._connecting is None and self._connection is None and (address := session.take_address(now)):
            self._connecting = self.loop.create_task(self._connect(address))
        self._set_timer(session.wake_at())

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
            self._timer = None
        if at != float("inf"):
            self._timer = self.loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.session.tick(self.loop.time())
        self._act()

    async def _connect(self, address: Address) -> None:
        """One attempt. Whatever comes of it, the session knows."""
        reason = None
        try:
            opening = self.loop.create_connection(
                functools.partial(_Connection, self), address.host, address.port, ssl=self.settings.tls
            )
            _, connection = await asyncio.wait_for(opening, self.settings.connect_timeout)
        except asyncio.TimeoutError:
            reason = f"{address} did not answer within {self.settings.connect_timeout:g} s"
        except (OSError, UnicodeError) as error:
            reason = f"{address}: {getattr(error, 'strerror', None) or error}"
        self._connecting = None
        if reason is None:
            self._connection = connection
            self.session.connected(self.loop.time())
            if connection.ended.done():
                self.lost(connection, "the connection ended at once")
        else:
            self.session.failed(reason, self.loop.time())
        self._act()

    def received(self, connection: _Connection, data: bytes) -> None:
        if connection is self._connection:
            self.session.received(data, self.loop.time())
            self.wake()

    def lost(self, connection: _Connection, reason: str, hopeless: bool = False) -> None:
        if connection is self._connection:
            self._connection = None
            self.session.lost(reason, self.loop.time(), hopeless)
            self.wake()


class _Connection(asyncio.Protocol):
    def __init__(self, link: Link) -> None:
        self._link = link
        self.transport: asyncio.Transport
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if (stream := transport.get_extra_info("socket")) is not None:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        self._link.received(self, data)

    def connection_lost(self, error: Exception | None) -> None:
        # Otherwise asyncio's TLS in Python 3.10 holds it for unclosed.
        self.transport.abort()
        if not self.ended.done():
            self.ended.set_result(None)
        # With TLS 1.3 a client learns only now that its certificate is not taken.
        hopeless = isinstance(error, ssl.SSLError)
        self._link.lost(self, f"the connection ended: {error}" if error else "the connection ended", hopeless)


def _settle(future: asyncio.Future[Any], result: Any, error: GeoBucketError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
