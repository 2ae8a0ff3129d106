"""Watches' states: what a slow consumer gets is what a fast one ends with."""

from __future__ import annotations

import random
import unittest
from typing import Any

from geobucket import GeoPoint
from geobucket._states import States, in_order


class Told:
    """Random notifications of a watch, and the set that they lead to."""

    def __init__(self, seed: int, *, ranking: bool) -> None:
        self.chance = random.Random(seed)
        self.ranking = ranking
        self.change = 0
        self.items: list[dict[str, Any]] = []

    def message(self) -> tuple[str, dict[str, Any]]:
        self.change += 1
        where = {"change": self.change, "resume": f"r{self.change}"}
        if self.change == 1 or self.chance.random() < 0.05:
            self.items = [self.item(id) for id in self.chance.sample(range(8), self.chance.randrange(6))]
            return "watch.snapshot", {"objects": list(self.items), "more": False, **where}
        return "watch.events", {"events": [self.event() for _ in range(self.chance.randrange(4))], **where}

    def item(self, id: int) -> dict[str, Any]:
        return {"_id": f"c{id}", "n": self.chance.randrange(3)}

    def event(self) -> dict[str, Any]:
        item = self.item(self.chance.randrange(8))
        ids = [held["_id"] for held in self.items]
        held = item["_id"] in ids
        at = ids.index(item["_id"]) if held else None
        if held and self.chance.random() < 0.5:
            del self.items[ids.index(item["_id"])]
            return {"event": "leave", "_id": item["_id"], "reason": "moved", "change": self.change}
        event: dict[str, Any] = {"event": "change" if held else "enter", "object": item, "change": self.change}
        if at is not None:
            del self.items[at]
        if self.ranking:
            to = self.chance.randrange(len(self.items) + 1)
            event["index"] = to
            if at is not None and at != to:
                event["from"] = at
            self.items.insert(to, item)
        else:
            self.items.insert(len(self.items) if at is None else at, item)
        return event


def applied(old: list[Any], events: list[Any], *, ranking: bool) -> list[Any]:
    """What the events make of a list."""
    items = list(old)
    for event in events:
        ids = [item["_id"] for item in items]
        if event.kind == "leave":
            del items[ids.index(event.id)]
        elif not ranking:
            items = [item for item in items if item["_id"] != event.id] + [event.object]
        elif event.kind == "enter":
            assert event.id not in ids
            items.insert(event.index, event.object)
        else:
            previous = event.index if event.previous_index is None else event.previous_index
            assert ids[previous] == event.id
            del items[previous]
            items.insert(event.index, event.object)
    return items


class StateTests(unittest.TestCase):
    def test_events_lead_from_each_state_to_the_next_however_slow_the_consumer_is(self) -> None:
        for seed in range(400):
            ranking = seed % 2 == 0
            told, states = Told(seed, ranking=ranking), States()
            states.is_ranking = ranking
            states.begin(resumed=False)
            shown: list[dict[str, Any]] = []
            for _ in range(60):
                states.told(*told.message())
                if told.chance.random() < 0.4:
                    state = states.take(lambda item: item)
                    assert state is not None
                    found = list(state.objects.values())
                    made = applied(shown, state.events, ranking=ranking)
                    if ranking:
                        self.assertEqual(found, told.items, f"seed {seed}")
                        self.assertEqual(made, told.items, f"seed {seed}")
                    else:
                        key = {item["_id"]: item for item in told.items}
                        self.assertEqual(state.objects, key, f"seed {seed}")
                        self.assertEqual({item["_id"]: item for item in made}, key, f"seed {seed}")
                    shown = found
                    self.assertIsNone(states.take(lambda item: item))

    def test_an_object_that_came_and_went_between_two_states_is_no_event(self) -> None:
        states = States()
        states.begin(resumed=False)
        states.told("watch.snapshot", {"objects": [], "more": False, "change": 1, "resume": "r1"})
        states.take(lambda item: item)
        enter = {"event": "enter", "object": {"_id": "c1"}}
        states.told("watch.events", {"events": [enter], "change": 2, "resume": "r2"})
        leave = {"event": "leave", "_id": "c1", "reason": "moved"}
        states.told("watch.events", {"events": [leave], "change": 3, "resume": "r3"})
        state = states.take(lambda item: item)
        assert state is not None
        self.assertEqual((state.events, state.objects, state.change, state.resume), ([], {}, 3, "r3"))

    def test_a_lost_connection_is_a_state_and_so_is_its_return(self) -> None:
        states = States()
        states.begin(resumed=False)
        states.lose()
        self.assertIsNone(states.take(lambda item: item), "there is nothing to show yet")
        states.begin(resumed=False)
        states.told("watch.snapshot", {"objects": [], "more": False, "change": 1, "resume": "r1"})
        states.take(lambda item: item)
        for change, connected in [(states.lose, False), (lambda: states.begin(resumed=True), True)]:
            change()
            state = states.take(lambda item: item)
            assert state is not None
            self.assertEqual((state.is_connected, state.is_complete, state.events), (connected, True, []))

    def test_a_state_is_not_changed_by_the_next(self) -> None:
        states = States()
        states.begin(resumed=False)
        states.told("watch.snapshot", {"objects": [{"_id": "c1"}], "more": False, "change": 1, "resume": "r1"})
        first = states.take(lambda item: item)
        leave = {"event": "leave", "_id": "c1", "reason": "deleted"}
        states.told("watch.events", {"events": [leave], "change": 2, "resume": "r2"})
        second = states.take(lambda item: item)
        assert first is not None and second is not None
        self.assertEqual(list(first.objects), ["c1"])
        self.assertEqual(second.events[0].object, {"_id": "c1"}, "as it was")

    def test_the_order_is_the_query_language_s(self) -> None:
        values: list[Any] = [None, False, True, -1, 0.5, 2**60, "", "a", "é", GeoPoint(1, 2), GeoPoint(1, 3)]
        items: dict[Any, Any] = {str(i): {"v": value} for i, value in enumerate(values)}
        items["missing"] = {}
        shuffled = dict(random.Random(1).sample(list(items.items()), len(items)))
        self.assertEqual(in_order(shuffled, [("v", False)]), list(items))
        down = [str(i) for i in reversed(range(len(values)))]
        self.assertEqual(in_order(shuffled, [("v", True)]), [*down, "missing"])

    def test_ties_are_in_the_order_of_creation(self) -> None:
        items: dict[Any, Any] = {
            "b": {"v": 1, "_created": 2},
            "a": {"v": 1, "_created": 1},
            "c": {"v": 0, "_created": 3},
        }
        self.assertEqual(in_order(items, [("v", False)]), ["c", "a", "b"])
        self.assertEqual(in_order(items, [("v", True)]), ["a", "b", "c"])
        nested: dict[Any, Any] = {"x": {"_calculated": {"d": 2}}, "y": {"_calculated": {"d": 1}}}
        self.assertEqual(in_order(nested, [("_calculated.d", False)]), ["y", "x"])


if __name__ == "__main__":
    unittest.main()
