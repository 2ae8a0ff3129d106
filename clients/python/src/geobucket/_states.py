"""What a watch shows: notifications in, states out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, TypeVar

from .values import GeoPoint

T = TypeVar("T")
#: By what a watch knows an object; of pairs the ids of both.
Key = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event(Generic[T]):
    """What happened to an object between two states.

    - kind: `enter`, `change`, `leave`; of pairs `meet` and `part`.
    - id: of pairs both ids, the watched bucket's first.
    - object: as it is, or, of one that left, as it was; None if the watch never had it.
    - reason: why it left: `moved`, `changed`, `deleted`, `expired`, `query`, or `unseen`: while the watch
      could not follow.
    - index, previous_index: in a ranking, the place in the list after this event, and before it. The
      events of a state turn the old list into the new one, one after the other.
    """

    kind: str
    id: Any
    object: T | None = None
    reason: str | None = None
    index: int | None = None
    previous_index: int | None = None


@dataclass(frozen=True, slots=True)
class State(Generic[T]):
    """What a query answers at one change of the store, and how it came to that.

    - objects: what matches, by id, in the order of the query.
    - events: what happened since the state before. If the loop was slow this is the net effect, in which
      an object stands once.
    - change: the number of the last change that the state includes.
    - resume: with this token another watch of the same query goes on from here.
    - is_snapshot: the service has told everything, at the beginning or because it could not tell what had
      happened. The events are the difference.
    - is_complete: False after a start with a token of an earlier run, until a snapshot comes: `objects` has
      only what was told since.
    - is_connected: False while the connection is lost; the watch goes on by itself.
    - center_missing: the object at a moving centre is gone, and its last position counts.
    """

    objects: dict[Any, T]
    events: list[Event[T]]
    change: int
    resume: str | None
    is_snapshot: bool
    is_complete: bool
    is_connected: bool
    center_missing: bool


class States:
    """Keeps what a watch has been told and what its consumer has taken. What has not been taken is merged, so
    it is never more than the objects that have changed meanwhile.
    """

    def __init__(self, resume: str | None = None) -> None:
        self.resume = resume
        self.order: Sequence[tuple[str, bool]] = ()
        #: The first so many by the order: events say where.
        self.is_ranking = False
        self._change = 0
        #: What the service has told, and what the consumer has.
        self._told: dict[Key, Any] = {}
        self._taken: dict[Key, Any] = {}
        #: What may differ between the two, with the reason if it left.
        self._touched: dict[Key, str | None] = {}
        #: The events since the last state, if they are of one notification.
        self._events: list[Event[Any]] | None = []
        self._parts: list[Any] = []
        self._has_begun = False
        self._has_news = False
        self._is_snapshot = False
        self._is_complete = True
        self._is_connected = False
        self._center_missing = False

    # From the service

    def begin(self, *, resumed: bool) -> None:
        """The service tells the watch from now on."""
        self._parts = []
        if resumed and not self._has_begun:
            self._is_complete = False
        self._is_connected, self._center_missing = True, False
        self._has_news = self._has_begun

    def lose(self) -> None:
        """The service tells nothing any more."""
        self._is_connected = False
        self._has_news = self._has_begun

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Takes a notification."""
        if method == "watch.resync":
            self._parts = []
        elif method == "watch.snapshot":
            self._parts += params["objects"]
            if not params["more"]:
                self._replace()
                self._reach(params)
        elif method == "watch.events":
            events = [event for told in params["events"] if (event := self._apply(told)) is not None]
            if events:
                self._events = events if not self._touched else None
                self._touched.update((event.id, event.reason) for event in events)
            self._reach(params)

    def reach(self, change: int) -> None:
        """Everything up to a change has been told."""
        self._change = max(self._change, change)
        self._has_news = self._has_begun

    def _reach(self, params: Mapping[str, Any]) -> None:
        self._change, self.resume = params["change"], params["resume"]
        self._has_begun = self._has_news = True

    def _replace(self) -> None:
        new = {_key(item): item for item in self._parts}
        self._parts = []
        changed = {
            key: "unseen"
            for key in [*self._told, *new]
            if key not in new or key not in self._told or new[key] != self._told[key]
        }
        self._told, self._events = new, None
        self._touched.update(changed)
        self._is_snapshot = self._is_complete = True

    def _apply(self, event: Mapping[str, Any]) -> Event[Any] | None:
        kind = event["event"]
        if kind in ("enter", "change", "meet"):
            item = event["object"] if kind != "meet" else {"ids": event["ids"], "distance": event["distance"]}
            key, index = _key(item), event.get("index")
            if key in self._told and kind == "enter":
                kind = "change"
            if index is None:
                self._told[key] = item
            else:
                self._told.pop(key, None)
                items = list(self._told.items())
                items.insert(index, (key, item))
                self._told = dict(items)
            return Event(kind, key, item, None, index, event.get("from"))
        if kind in ("leave", "part"):
            key = tuple(event["ids"]) if kind == "part" else event["_id"]
            if key in self._told or not self._is_complete:
                self._told.pop(key, None)
                return Event(kind, key, None, event.get("reason"))
        elif kind == "center":
            self._center_missing = event["missing"]
        return None

    # To the consumer

    def take(self, read: Callable[[Any], T]) -> State[T] | None:
        """The state now, and what led to it since the last one; None if nothing is new.

        - read: makes of a document what the consumer gets.
        """
        if not self._has_news:
            return None
        events = []
        for event in self._difference() if self._events is None else self._events:
            if event.kind in ("leave", "part"):
                item = self._taken.pop(event.id, None)
            else:
                item = self._taken[event.id] = read(event.object)
            events.append(replace(event, object=item))
        if self.is_ranking:
            self._taken = {key: self._taken[key] for key in self._told}
        elif self.order:
            self._taken = {key: self._taken[key] for key in in_order(self._told, self.order)}
        state = State(
            dict(self._taken),
            events,
            self._change,
            self.resume,
            self._is_snapshot,
            self._is_complete,
            self._is_connected,
            self._center_missing,
        )
        self._touched, self._events = {}, []
        self._has_news = self._is_snapshot = False
        return state

    def _difference(self) -> Iterator[Event[Any]]:
        """What turns that which was taken into that which was told, each object once."""
        old = list(self._taken) if self.is_ranking else []
        for key, reason in list(self._touched.items()):
            pair = isinstance(key, tuple)
            if key in self._told:
                if not self.is_ranking:
                    kind = "meet" if pair else "change" if key in self._taken else "enter"
                    yield Event(kind, key, self._told[key])
            elif key in self._taken or not self._is_complete:
                if self.is_ranking and key in self._taken:
                    old.remove(key)
                yield Event("part" if pair else "leave", key, None, reason)
        if self.is_ranking:
            yield from self._moves(old)

    def _moves(self, old: list[Key]) -> Iterator[Event[Any]]:
        """The events of a ranking, of which those that left have left."""
        held = set(old)
        for index, key in enumerate(self._told):
            item = self._told[key]
            if key not in held:
                old.insert(index, key)
                yield Event("enter", key, item, None, index)
            elif old[index] != key:
                previous = old.index(key)
                old.insert(index, old.pop(previous))
                yield Event("change", key, item, None, index, previous)
            elif key in self._touched:
                yield Event("change", key, item, None, index)


def _key(item: Any) -> Key:
    return tuple(item["ids"]) if "ids" in item and "_id" not in item else item["_id"]


# Order

_MISSING = object()


def in_order(items: Mapping[Key, Any], order: Sequence[tuple[str, bool]]) -> list[Key]:
    """The keys of items in the order of a query: `(field, descending)`, the first most significant.

    Equal ones are in the order of creation as far as `_created` is there. What lacks the field is last.
    """
    keys = sorted(items, key=lambda key: _created(items[key]))
    for field, descending in reversed(order):
        values = {key: member(items[key], field) for key in keys}
        present = [key for key in keys if values[key] is not _MISSING]
        present.sort(key=lambda key: _rank(values[key]), reverse=descending)
        keys = present + [key for key in keys if values[key] is _MISSING]
    return keys


def _created(item: Any) -> Any:
    created = item.get("_created")
    return created if isinstance(created, int) else 0


def member(item: Any, path: str) -> Any:
    """The value at a path. A first-level field of that whole name takes precedence."""
    if path in item:
        return item[path]
    for name in path.split("."):
        if not isinstance(item, dict) or name not in item:
            return _MISSING
        item = item[name]
    return item


def _rank(value: Any) -> tuple[int, Any]:
    """Sorts by type, then by value."""
    if value is None:
        return 0, 0
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, (int, float, Decimal)):
        return 2, value
    if isinstance(value, str):
        return 3, value
    if isinstance(value, GeoPoint):
        return 4, (value.lat, value.lon)
    return 5, 0
