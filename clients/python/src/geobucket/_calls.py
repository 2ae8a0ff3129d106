"""What waits for a service: calls and watches."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ._states import States
from .errors import GeoBucketError

#: The time of what has no deadline.
NEVER = float("inf")
Finish = Callable[[Any, "GeoBucketError | None"], None]


class Repeat(enum.Enum):
    """Which calls may be sent twice."""

    #: Reads, and writes under a request key: the second is answered as the first.
    FREELY = enum.auto()
    #: Only what was refused before it began.
    UNBEGUN = enum.auto()


class Call:
    """A request, and who waits for its answer."""

    __slots__ = ("attempts", "deadline", "finish", "id", "line", "method", "params", "repeat", "watch")

    def __init__(self, id: int, line: bytes, repeat: Repeat, deadline: float, finish: Finish) -> None:
        self.id = id
        self.line = line
        self.repeat = repeat
        self.deadline = deadline
        #: None when nobody waits any more.
        self.finish: Finish | None = finish
        self.attempts = 0
        #: Of a call that names a watch: the line is made when the connection has a name for it.
        self.watch: Watching | None = None
        self.method = ""
        self.params: dict[str, Any] = {}

    def end(self, result: Any, error: GeoBucketError | None = None) -> None:
        if (finish := self.finish) is not None:
            self.finish = None
            finish(result, error)


class Watching:
    """A watch: what the service has to know of it, and what it has told."""

    def __init__(self, params: dict[str, Any], states: States, news: Callable[[], None]) -> None:
        self.params = params
        self.states = states
        #: Called when `states` has something new, or the watch has failed.
        self.news = news
        self.failure: GeoBucketError | None = None
        #: What the connection calls it; None until its start is answered.
        self.name: str | None = None
        self.start: Call | None = None
        #: Calls that wait for the name.
        self.held: list[Call] = []
        self.ended = False
