"""One client's dealings with a service, without a socket, a clock or a thread.

A `Session` is told what happens (a call is made, bytes come, the connection is lost, time passes) and says what to
do: `take_output` what to send, `take_address` where to connect, `wake_at` when to be asked again, `drops` that the
connection is of no use. Calls get their outcome by a function. `_link` is the asyncio end of it.

- Calls of a connection are sent in the order in which they are made, as many as `pipelined` allows; the others wait.
- An answer finds its call by the id, which a call keeps on whatever connection it is sent.
- What was not answered when a connection ended is sent again on the next, in its order, if it may be repeated.
- Times are seconds of any clock that does not go back.
"""

from __future__ import annotations

import enum
import functools
import heapq
import itertools
import json
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from . import errors
from ._calls import NEVER, Call, Finish, Repeat, Watching
from ._json import Codec
from ._lines import Lines
from ._settings import Address, Settings
from .errors import GeoBucketError


class Phase(enum.Enum):
    IDLE = enum.auto()
    PAUSING = enum.auto()
    CONNECTING = enum.auto()
    LOGGING_IN = enum.auto()
    READY = enum.auto()
    CLOSED = enum.auto()


@functools.lru_cache(256)
def _quoted(method: str) -> bytes:
    return json.dumps(method).encode()


class Session:
    def __init__(self, settings: Settings, chance: Callable[[], float] = random.random) -> None:
        self.settings = settings
        self.codec = Codec(decimals=settings.decimals, datetimes=settings.datetimes)
        self.phase = Phase.IDLE
        #: Why there is no connection.
        self.trouble: str | None = None
        self.drops = False
        self._chance = chance
        self._ids = itertools.count(1)
        self._waiting: deque[Call] = deque()
        self._flying: dict[int, Call] = {}
        self._flying_bytes = 0
        self._later: list[tuple[float, int, Call]] = []
        self._output: list[bytes] = []
        self._lines = Lines(settings.answer_bytes)
        self._watches: list[Watching] = []
        self._names: dict[str, Watching] = {}
        self._address = 0
        self._failures = 0
        self._down_since: float | None = None
        self._connect_at: float | None = None
        self._heard_at = 0.0
        self._now = 0.0
        self._check: Call | None = None
        # No deadline is earlier than this; found again only when it has come.
        self._deadline_at = NEVER
        #: How many there have been.
        self.connections = 0
        #: Whether a service has ever answered: until then each address is tried once.
        self._proven = False

    # What the client wants

    def call(
        self,
        method: str,
        params: bytes,
        repeat: Repeat,
        now: float,
        finish: Finish,
        timeout: float | None = None,
    ) -> Call:
        """Makes a call; `finish` gets its outcome, not within this function.

        - Raises: `Unavailable` if too many calls wait already, or the client is closed.
        """
        deadline = now + (self.settings.timeout if timeout is None else timeout)
        call = self._call(method, params, repeat, deadline, finish)
        self._add(call, now)
        return call

    def abandon(self, call: Call) -> None:
        """Nobody waits for this call any more. If it was sent, the service may carry it out."""
        call.finish = None

    def watch(self, watch: Watching, now: float) -> None:
        """Begins a watch, and keeps it up until `unwatch`, or until the service refuses it."""
        self._refuse_if_closed()
        self._watches.append(watch)
        self._start(watch, now + self.settings.timeout)
        self._pump(now)

    def call_watch(self, watch: Watching, method: str, params: dict[str, Any], now: float, finish: Finish) -> Call:
        """Makes a call that names a watch, as soon as the connection has a name for it."""
        if watch.ended:
            raise watch.failure or errors.Disconnected("the watch has ended")
        call = self._call("", b"", Repeat.FREELY, now + self.settings.timeout, finish)
        call.watch, call.method, call.params = watch, method, params
        self._add(call, now)
        return call

    def unwatch(self, watch: Watching, now: float, finish: Finish) -> None:
        """Ends a watch; what has been told and not taken is void."""
        if watch.ended:
            finish({}, None)
            return
        name, start = watch.name, watch.start
        self._end(watch, None)

        def started(result: Any, error: GeoBucketError | None) -> None:
            if error is None:
                self._stop(result["watch"], finish)
            else:
                finish({}, None)

        if name is not None:
            self._stop(name, finish)
            self._pump(now)
        elif start is not None and start.id in self._flying:
            start.finish = started
        else:
            finish({}, None)

    def close(self) -> None:
        """Ends everything: calls and watches fail."""
        self.phase = Phase.CLOSED
        closed = errors.Unavailable("the client is closed")
        self._fail_all(closed)
        for watch in list(self._watches):
            self._end(watch, closed)

    # What happens to the connection

    def take_address(self, now: float) -> Address | None:
        """Where to connect now; the driver then says `connected` or `failed`."""
        if self.phase is Phase.PAUSING and self._connect_at is not None and self._connect_at <= now:
            self.phase = Phase.CONNECTING
            return self.settings.addresses[self._address % len(self.settings.addresses)]
        return None

    def connected(self, now: float) -> None:
        self.connections += 1
        self._heard_at = self._now = now
        self._lines = Lines(self.settings.answer_bytes)
        self.drops = False
        if self.settings.token is None:
            self._ready(now)
            return
        self.phase = Phase.LOGGING_IN
        params = self.codec.encode({"token": self.settings.token})
        deadline = now + self.settings.connect_timeout
        login = self._call("auth.login", params, Repeat.UNBEGUN, deadline, lambda _, error: self._logged_in(error))
        self._send(login)

    def failed(self, reason: str, now: float) -> None:
        """An attempt to connect came to nothing."""
        self._unreachable(reason, now, hopeless=True)

    def received(self, data: bytes, now: float) -> None:
        self._heard_at = self._now = now
        line = b""
        try:
            for line in self._lines.add(data):
                if not self._read(line, now):
                    return
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # What a watch was told may be half taken; a snapshot mends it.
            for watch in self._watches:
                watch.states.resume = None
            self._drop(f"the service sends what cannot be read, {line[:80]!r}: {error}", now, hopeless=True)
            return
        if self._waiting or self._watches:
            self._pump(now)

    def lost(self, reason: str, now: float, hopeless: bool = False) -> None:
        """The connection is gone.

        - hopeless: this is not the service, or it does not take the client.
        """
        self._now = now
        self._output = []
        flying, self._flying, self._flying_bytes = self._flying, {}, 0
        again = []
        gone = errors.Disconnected(f"{reason}; the call may have been carried out")
        phase, self.phase = self.phase, Phase.IDLE
        for call in flying.values():
            if call.finish is not None and call.repeat is Repeat.FREELY and call is not self._check:
                again.append(call)
            else:
                call.end(None, gone)
        self._waiting.extendleft(reversed(again))
        self._check = None
        self._names = {}
        for watch in reversed(self._watches):
            if watch.start is None:
                watch.name = None
                watch.states.lose()
                watch.news()
                self._start(watch, NEVER, first=True)
        if phase is Phase.CLOSED:
            self.phase = phase
        else:
            self._unreachable(reason, now, hopeless)

    # Time

    def wake_at(self) -> float:
        """When `tick` has something to do, if nothing happens before."""
        if self.phase is Phase.CLOSED:
            return NEVER
        times = [self._deadline_at]
        if self._later:
            times.append(self._later[0][0])
        if self.phase is Phase.PAUSING and self._connect_at is not None:
            times.append(self._connect_at)
        if self._watches and self._check is None and self.phase is Phase.READY:
            times.append(self._heard_at + self.settings.check_time)
        return min(times)

    def tick(self, now: float) -> None:
        """Does what is due."""
        self._now = now
        if self._deadline_at <= now:
            self._expire(now)
        while self._later and self._later[0][0] <= now:
            call = heapq.heappop(self._later)[2]
            if call.finish is not None:
                self._waiting.append(call)
        if (
            self.phase is Phase.READY
            and self._watches
            and self._check is None
            and self._heard_at + self.settings.check_time <= now
        ):
            self._ask(now)
        self._pump(now)

    def take_output(self) -> bytes:
        """What to send."""
        output = b"".join(self._output)
        self._output = []
        return output

    # Calls

    def _call(self, method: str, params: bytes, repeat: Repeat, deadline: float, finish: Finish) -> Call:
        id = next(self._ids)
        if deadline < self._deadline_at:
            self._deadline_at = deadline
        return Call(id, self._line(id, method, params), repeat, deadline, finish)

    @staticmethod
    def _line(id: int, method: str, params: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","id":%d,"method":%s,"params":%s}\n' % (id, _quoted(method), params)

    def _add(self, call: Call, now: float) -> None:
        self._refuse_if_closed()
        if len(self._waiting) + len(self._later) >= self.settings.waiting:
            self._waiting = deque(other for other in self._waiting if other.finish is not None)
        if len(self._waiting) + len(self._later) >= self.settings.waiting:
            raise errors.Unavailable(f"{self.settings.waiting} calls wait already")
        self._waiting.append(call)
        self._pump(now)

    def _refuse_if_closed(self) -> None:
        if self.phase is Phase.CLOSED:
            raise errors.Unavailable("the client is closed")

    def _pump(self, now: float) -> None:
        """Sends what may be sent, and wants a connection if there is none."""
        if self.phase is Phase.READY:
            while self._waiting and self._has_room(self._waiting[0]):
                call = self._waiting.popleft()
                if call.finish is None:
                    continue
                if call.watch is not None:
                    if call.watch.ended:
                        call.end(None, errors.Disconnected("the watch has ended"))
                        continue
                    if call.watch.name is None:
                        call.watch.held.append(call)
                        continue
                    params = self.codec.encode({"watch": call.watch.name, **call.params})
                    call.line = self._line(call.id, call.method, params)
                self._send(call)
        elif self.phase is Phase.IDLE:
            while self._waiting and self._waiting[0].finish is None:
                self._waiting.popleft()
            if self._waiting or self._later:
                self.phase = Phase.PAUSING
                if self._connect_at is None:
                    self._connect_at = now

    def _has_room(self, call: Call) -> bool:
        return not self._flying or (
            len(self._flying) < self.settings.pipelined
            and self._flying_bytes + len(call.line) <= self.settings.pipelined_bytes
        )

    def _send(self, call: Call) -> None:
        call.attempts += 1
        self._flying[call.id] = call
        self._flying_bytes += len(call.line)
        self._output.append(call.line)

    def _expire(self, now: float) -> None:
        """Fails calls that took too long."""
        late = []
        earliest = NEVER
        held = [call for watch in self._watches for call in watch.held]
        later = [entry[2] for entry in self._later]
        for call in itertools.chain(self._flying.values(), self._waiting, later, held):
            if call.finish is None:
                continue
            if call.deadline <= now:
                late.append(call)
            elif call.deadline < earliest:
                earliest = call.deadline
        self._deadline_at = earliest
        # Nothing at all has come for long enough: the network is gone, and has not said so.
        silent = None
        for call in late:
            if call is self._check or (call.id in self._flying and now - self._heard_at >= self.settings.timeout / 2):
                silent = "the service does not answer"
            if self.trouble is not None and self.phase is not Phase.READY:
                call.end(None, errors.Unavailable(f"no connection: {self.trouble}"))
            else:
                call.end(None, errors.Timeout("the call took longer than its timeout"))
        if silent and self.phase in (Phase.READY, Phase.LOGGING_IN):
            self._drop(silent, now)

    # Answers

    def _read(self, line: bytes, now: float) -> bool:
        """Takes one line; false if it was the last of the connection."""
        message = self.codec.decode(line)
        if type(message) is not dict:
            raise ValueError(f"{line[:100]!r} is no answer")
        if "method" in message:
            self._notified(message["method"], message.get("params"), now)
            return True
        id = message.get("id")
        if id is None:
            return self._unowned(message.get("error"), now)
        call = self._flying.pop(id, None) if type(id) is int else None
        if call is None:
            raise ValueError(f"an answer under the id {id!r}, under which nothing was asked")
        self._flying_bytes -= len(call.line)
        self._proven, self._failures, self._down_since = True, 0, None
        if "error" in message:
            self._refused(call, errors.from_answer(message["error"]), now)
        elif call.finish is not None:
            call.end(message.get("result"))
        return not self.drops and self.phase is not Phase.IDLE

    def _refused(self, call: Call, error: GeoBucketError, now: float) -> None:
        """Asks again later, or tells."""
        unbegun = isinstance(error, errors.TooManyRequests)
        away = error.error_code == "TEMPORARY_UNAVAILABLE_ERROR" and call.repeat is Repeat.FREELY
        if call.finish is None or not (unbegun or away) or self.phase is not Phase.READY:
            call.end(None, error)
            return
        pause = self._pause(call.attempts - 1)
        if isinstance(error, errors.TooManyRequests):
            pause = max(pause, error.retry_after or 0)
        if now + pause > call.deadline:
            call.end(None, error)
        else:
            heapq.heappush(self._later, (now + pause, call.id, call))

    def _unowned(self, answer: Any, now: float) -> bool:
        """An error that belongs to no id: a line was too long, or the connection is refused."""
        error = errors.from_answer(answer)
        if error.error_code == "LINE_TOO_LONG" and self._flying:
            call = max(self._flying.values(), key=lambda call: len(call.line))
            self._flying_bytes -= len(call.line)
            del self._flying[call.id]
            call.end(None, error)
            return True
        if isinstance(error, errors.TooManyRequests):
            self._connect_at = now + (error.retry_after or 0)
        self._drop(error.message, now, hopeless=not isinstance(error, errors.TooManyRequests))
        return False

    # Connecting

    def _ready(self, now: float) -> None:
        self.phase = Phase.READY
        self.trouble = None
        self._connect_at = None
        self._pump(now)

    def _logged_in(self, error: GeoBucketError | None) -> None:
        now = self._now
        if error is None:
            self._ready(now)
        elif isinstance(error, errors.Disconnected):
            pass  # `lost` goes on.
        elif isinstance(error, (errors.TooManyRequests, errors.Unavailable, errors.Timeout)):
            if isinstance(error, errors.TooManyRequests) and error.retry_after:
                self._connect_at = now + error.retry_after
            self._drop(error.message, now)
        else:
            self._fail_all(error)
            for watch in list(self._watches):
                self._end(watch, error)
            self._drop(error.message, now)

    def _drop(self, reason: str, now: float, hopeless: bool = False) -> None:
        """Gives the connection up."""
        self.drops = True
        self.lost(reason, now, hopeless)

    def _unreachable(self, reason: str, now: float, hopeless: bool) -> None:
        """There is no connection: pauses, or gives up for the calls that wait."""
        self.trouble = reason
        self.phase = Phase.IDLE
        self._address += 1
        self._failures += 1
        if self._down_since is None:
            self._down_since = now
        pause = now + self._pause(self._failures - 1)
        self._connect_at = max(pause, self._connect_at or 0)
        one_round = hopeless and not self._proven and self._failures >= len(self.settings.addresses)
        if one_round or now - self._down_since >= self.settings.retry_time:
            self._fail_all(errors.Unavailable(f"no connection: {reason}"), begun=False)
        self._pump(now)

    def _fail_all(self, error: GeoBucketError, begun: bool = True) -> None:
        """Fails all calls; with `begun` false not those of watches that have begun."""
        held = [call for watch in self._watches for call in watch.held]
        calls = [*self._flying.values(), *self._waiting, *(entry[2] for entry in self._later), *held]
        keep = [] if begun else [call for call in calls if call.deadline == NEVER]
        self._flying, self._flying_bytes, self._later = {}, 0, []
        self._waiting = deque(keep)
        for watch in self._watches:
            watch.held = []
        for call in calls:
            if begun or call.deadline != NEVER:
                call.end(None, error)

    def _pause(self, attempt: int) -> float:
        longest = self.settings.longest_pause
        pause: float = min(longest, self.settings.first_pause * 2 ** min(attempt, 30))
        return pause * (0.5 + self._chance() / 2)

    def _ask(self, now: float) -> None:
        """Asks a silent connection whether it still works."""

        def answered(result: Any, error: GeoBucketError | None) -> None:
            self._check = None

        deadline = now + self.settings.connect_timeout
        self._check = self._call("server.ping", b"{}", Repeat.FREELY, deadline, answered)
        self._send(self._check)

    # Watches

    def _start(self, watch: Watching, deadline: float, first: bool = False, at: float | None = None) -> None:
        """Asks for a watch, from where it has come to; behind all other calls unless it is `first`."""
        params = dict(watch.params)
        if watch.states.resume is not None:
            params["resume"] = watch.states.resume

        def started(result: Any, error: GeoBucketError | None) -> None:
            watch.start = None
            if error is None:
                watch.name = result["watch"]
                self._names[watch.name] = watch
                watch.states.begin(resumed=result.get("resumed", False))
                self._waiting.extendleft(reversed(watch.held))
                watch.held = []
                watch.news()
            else:
                self._end(watch, error)

        watch.start = self._call("watch.start", self.codec.encode(params), Repeat.FREELY, deadline, started)
        if at is not None:
            heapq.heappush(self._later, (at, watch.start.id, watch.start))
        elif first:
            self._waiting.appendleft(watch.start)
        else:
            self._waiting.append(watch.start)

    def _notified(self, method: Any, params: Any, now: float) -> None:
        watch = self._names.get(params["watch"]) if isinstance(params, dict) and "watch" in params else None
        if watch is None:
            return  # Of a watch that the client has ended.
        if method == "watch.end":
            error = errors.from_answer(params.get("error"))
            if error.error_code != "TEMPORARY_UNAVAILABLE_ERROR":
                self._end(watch, error)
                return
            del self._names[params["watch"]]
            watch.name = None
            watch.states.lose()
            self._start(watch, NEVER, at=now + self._pause(0))
        else:
            watch.states.told(method, params)
        watch.news()

    def _end(self, watch: Watching, failure: GeoBucketError | None) -> None:
        """Forgets a watch."""
        if watch.ended:
            return
        watch.ended, watch.failure = True, failure
        self._watches.remove(watch)
        if watch.name is not None:
            self._names.pop(watch.name, None)
        if watch.start is not None:
            watch.start.finish = None
        for call in watch.held:
            call.end(None, failure or errors.Disconnected("the watch has ended"))
        watch.held = []
        watch.news()

    def _stop(self, name: str, finish: Finish) -> None:
        """Tells the service that a watch has ended. If it cannot be told, it knows from the lost connection."""
        params = self.codec.encode({"watch": name})
        deadline = self._now + self.settings.timeout
        call = self._call("watch.stop", params, Repeat.UNBEGUN, deadline, lambda result, error: finish({}, None))
        self._waiting.appendleft(call)
