"""The core without sockets, clocks or threads: framing, ids, bounds, what is repeated, watches that go on."""

from __future__ import annotations

import json
import random
import unittest
from typing import Any

from geobucket import errors
from geobucket._calls import NEVER, Repeat, Watching
from geobucket._lines import Lines
from geobucket._session import Phase, Session
from geobucket._settings import Address, Settings
from geobucket._states import States

SETTINGS: dict[str, Any] = {"addresses": [Address("a", 1)], "first_pause": 1.0, "longest_pause": 8.0, "timeout": 100.0}
REFUSED = {"code": 1429, "message": "too many", "data": {"errorCode": "TOO_MANY_REQUESTS", "retryAfterMillis": 5000}}
AWAY = {"code": 1503, "message": "stopping", "data": {"errorCode": "TEMPORARY_UNAVAILABLE_ERROR"}}


class Bench:
    """A session, the time, and what came of its calls. Pauses are as long as they can be."""

    def __init__(self, *, connected: bool = True, **settings: Any) -> None:
        self.now = 0.0
        self.session = Session(Settings(**{**SETTINGS, **settings}), chance=lambda: 1.0)
        self.ends: dict[str, Any] = {}
        if connected:
            self.call("server.info")
            self.connect()
            self.answer({})

    def call(self, name: str, repeat: Repeat = Repeat.FREELY, timeout: float | None = None) -> Any:
        def finish(result: Any, error: errors.GeoBucketError | None) -> None:
            assert name not in self.ends
            self.ends[name] = error or result

        return self.session.call(name, b"{}", repeat, self.now, finish, timeout)

    def watch(self, resume: str | None = None) -> Watching:
        watching = Watching({"bucket": "b"}, States(resume), lambda: None)
        self.session.watch(watching, self.now)
        return watching

    def connect(self) -> Address:
        """Passes time until the session wants to connect, and connects."""
        address = None
        while address is None:
            self.pass_time(max(0.0, self.session.wake_at() - self.now) if self.session.wake_at() != NEVER else 0.0)
            address = self.session.take_address(self.now)
            assert address is not None or self.session.phase is Phase.PAUSING, self.session.phase
        self.session.connected(self.now)
        return address

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.session.tick(self.now)

    def sent(self) -> list[dict[str, Any]]:
        """What has been sent since it was last asked."""
        self.last = [json.loads(line) for line in self.session.take_output().splitlines()]
        return self.last

    def methods(self) -> list[str]:
        return [message["method"] for message in self.sent()]

    def receive(self, *messages: dict[str, Any]) -> None:
        text = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        self.session.received(text.encode(), self.now)

    def answer(self, result: Any = None, error: Any = None) -> None:
        """Answers all that was sent."""
        outcome = {"result": result} if error is None else {"error": error}
        self.receive(*({"id": message["id"], **outcome} for message in self.sent()))

    def tell(self, method: str, **params: Any) -> None:
        self.receive({"method": f"watch.{method}", "params": {"watch": "w1", **params}})


class LineTests(unittest.TestCase):
    def test_lines_are_the_same_however_they_come(self) -> None:
        for seed in range(50):
            chance = random.Random(seed)
            text = b"".join(bytes(chance.choices(b"ab\n", k=chance.randrange(40))) for _ in range(5)) + b"\n"
            lines, found = Lines(1000), []
            position = 0
            while position < len(text):
                size = chance.randrange(1, 9)
                found += lines.add(text[position : position + size])
                position += size
            self.assertEqual(found, text.split(b"\n")[:-1], f"seed {seed}")

    def test_a_line_that_is_too_long_is_refused_before_it_has_come(self) -> None:
        lines = Lines(10)
        self.assertEqual(lines.add(b"0123456789"), [])
        with self.assertRaises(ValueError):
            lines.add(b"x")


class CallTests(unittest.TestCase):
    def test_answers_find_their_calls_by_id(self) -> None:
        bench = Bench()
        bench.call("a"), bench.call("b")
        first, second = bench.sent()
        self.assertNotEqual(first["id"], second["id"])
        bench.receive({"id": second["id"], "result": 2}, {"id": first["id"], "result": 1})
        self.assertEqual(bench.ends, {"server.info": {}, "a": 1, "b": 2})

    def test_what_would_pass_the_bound_waits_in_its_order(self) -> None:
        bench = Bench(pipelined=2)
        for name in "abcde":
            bench.call(name)
        self.assertEqual(bench.methods(), ["a", "b"])
        bench.receive({"id": bench.last[0]["id"], "result": 1})
        self.assertEqual(bench.methods(), ["c"])

    def test_bytes_are_bounded_but_for_one_request(self) -> None:
        bench = Bench(pipelined_bytes=130)
        for name in ["a", "b", "c"]:
            bench.call(name)
        self.assertEqual(bench.methods(), ["a", "b"])
        bench.receive(*({"id": message["id"], "result": 1} for message in bench.last))
        [c] = bench.sent()
        bench.session.call("d", b'"%s"' % (b"x" * 1000), Repeat.FREELY, bench.now, lambda result, error: None)
        self.assertEqual(bench.methods(), [], "c is not answered")
        bench.receive({"id": c["id"], "result": 1})
        self.assertEqual(bench.methods(), ["d"])

    def test_calls_beyond_the_bound_on_waiting_fail(self) -> None:
        bench = Bench(connected=False, waiting=2)
        bench.call("a"), bench.call("b")
        with self.assertRaises(errors.Unavailable):
            bench.call("c")

    def test_an_abandoned_call_is_not_sent_and_its_answer_is_nothing(self) -> None:
        bench = Bench(pipelined=1)
        a, b = bench.call("a"), bench.call("b")
        bench.call("c")
        bench.session.abandon(a)
        bench.session.abandon(b)
        self.assertEqual(bench.methods(), ["a"])
        bench.receive({"id": bench.last[0]["id"], "result": 1})
        self.assertEqual(bench.methods(), ["c"])
        self.assertNotIn("a", bench.ends)

    def test_a_line_that_the_service_finds_too_long_fails_the_longest(self) -> None:
        bench = Bench()
        bench.call("a"), bench.call("longer")
        first, _ = bench.sent()
        bench.receive(
            {"id": None, "error": {"code": -32600, "message": "long", "data": {"errorCode": "LINE_TOO_LONG"}}}
        )
        self.assertIsInstance(bench.ends["longer"], errors.InvalidInput)
        bench.receive({"id": first["id"], "result": 1})
        self.assertEqual(bench.ends["a"], 1)

    def test_what_cannot_be_read_ends_the_connection_and_reads_are_repeated(self) -> None:
        for line in [
            b"HTTP/1.1 400\n",
            b"[]\n",
            b'{"id":99,"result":1}\n',
            b'{"id":{},"result":1}\n',
            b"\xff\n",
            b"\n",
            b'{"method":"watch.events","params":{"watch":"w1"}}\n',
            b'{"id":null}\n',
            b"[" * 100_000 + b"\n",
        ]:
            bench = Bench()
            bench.watch()
            bench.answer({"watch": "w1"})
            bench.call("a")
            bench.sent()
            bench.session.received(line, bench.now)
            self.assertTrue(bench.session.drops, line[:50])
            bench.connect()
            self.assertEqual(bench.methods(), ["watch.start", "a"], line[:50])
            self.assertFalse(bench.session.drops)

    def test_integers_of_any_length_and_deep_answers_do_not_break_a_connection(self) -> None:
        bench = Bench()
        bench.call("a")
        [message] = bench.sent()
        line = b'{"id":%d,"result":{"n":%s,"m":9007199254740993}}\n' % (message["id"], b"7" * 10_000)
        bench.session.received(line, bench.now)
        self.assertEqual(str(bench.ends["a"]["n"]), "7" * 10_000)
        self.assertEqual(bench.ends["a"]["m"], 9007199254740993)


class RepetitionTests(unittest.TestCase):
    def test_a_lost_connection_repeats_what_may_be_repeated_in_its_order(self) -> None:
        bench = Bench()
        bench.call("a"), bench.call("once", Repeat.UNBEGUN), bench.call("b")
        ids = {message["method"]: message["id"] for message in bench.sent()}
        bench.session.lost("gone", bench.now)
        self.assertIsInstance(bench.ends["once"], errors.Disconnected)
        bench.call("c")
        bench.connect()
        self.assertEqual([(m["method"], m["id"]) for m in bench.sent()][:2], [("a", ids["a"]), ("b", ids["b"])])

    def test_a_call_that_was_not_sent_is_sent_whatever_it_is(self) -> None:
        bench = Bench(connected=False)
        bench.call("once", Repeat.UNBEGUN)
        bench.connect()
        self.assertEqual(bench.methods(), ["once"])

    def test_pauses_double_up_to_the_longest_and_an_answer_resets_them(self) -> None:
        bench = Bench(retry_time=1000.0)
        bench.call("a", timeout=1000)

        def pause() -> float:
            before = bench.now
            bench.session.lost("gone", before)
            bench.connect()
            return bench.now - before

        self.assertEqual([pause() for _ in range(6)], [1.0, 2.0, 4.0, 8.0, 8.0, 8.0])
        bench.answer(1)
        bench.call("b")
        self.assertEqual(pause(), 1.0)

    def test_pauses_are_random_parts(self) -> None:
        session = Session(Settings(**SETTINGS), chance=random.Random(1).random)
        pauses = [session._pause(2) for _ in range(200)]
        self.assertTrue(all(2.0 <= pause <= 4.0 for pause in pauses))
        self.assertGreater(len(set(pauses)), 190)

    def test_too_many_requests_are_asked_again_not_before_they_may(self) -> None:
        bench = Bench()
        bench.call("a", Repeat.UNBEGUN)
        bench.answer(error=REFUSED)
        bench.pass_time(4.9)
        self.assertEqual(bench.methods(), [])
        bench.pass_time(0.1)
        self.assertEqual(bench.methods(), ["a"])

    def test_what_cannot_be_in_time_fails_at_once(self) -> None:
        bench = Bench()
        bench.call("a", timeout=4)
        bench.answer(error=REFUSED)
        self.assertEqual(bench.ends["a"].retry_after, 5.0)

    def test_a_service_that_is_away_is_asked_again_for_what_may_be_repeated(self) -> None:
        bench = Bench()
        bench.call("a"), bench.call("once", Repeat.UNBEGUN)
        bench.answer(error=AWAY)
        self.assertIsInstance(bench.ends["once"], errors.Unavailable)
        bench.pass_time(1)
        bench.answer(7)
        self.assertEqual(bench.ends["a"], 7)

    def test_each_failure_takes_the_next_address(self) -> None:
        bench = Bench(addresses=[Address("a", 1), Address("b", 2)])
        found: list[str] = []
        for _ in range(3):
            bench.call(f"x{len(found)}")
            bench.session.lost("gone", bench.now)
            found.append(bench.connect().host)
        self.assertEqual(found, ["b", "a", "b"])

    def test_addresses_that_have_never_answered_are_tried_once_each(self) -> None:
        bench = Bench(connected=False, addresses=[Address("a", 1), Address("b", 2)])
        bench.call("a")
        for _ in range(2):
            bench.pass_time(1)
            self.assertNotIn("a", bench.ends)
            self.assertIsNotNone(bench.session.take_address(bench.now))
            bench.session.failed("refused", bench.now)
        self.assertIn("refused", bench.ends["a"].message)

    def test_calls_wait_for_a_connection_for_so_long(self) -> None:
        bench = Bench(retry_time=10)
        bench.session.lost("gone", bench.now)
        bench.call("a")
        while "a" not in bench.ends:
            bench.pass_time(max(0.0, bench.session.wake_at() - bench.now))
            if bench.session.take_address(bench.now):
                bench.session.failed("refused", bench.now)
        self.assertIsInstance(bench.ends["a"], errors.Unavailable)
        self.assertTrue(10 <= bench.now <= 20, bench.now)
        bench.call("b")
        bench.connect()
        bench.answer(1)
        self.assertEqual(bench.ends["b"], 1, "a later call tries again")


class TimeTests(unittest.TestCase):
    def test_a_call_fails_at_its_time_and_its_late_answer_is_nothing(self) -> None:
        bench = Bench()
        bench.call("a", timeout=10), bench.call("b")
        [a, b] = bench.sent()
        self.assertEqual(bench.session.wake_at(), 10)
        bench.pass_time(9)
        self.assertNotIn("a", bench.ends)
        bench.pass_time(1)
        self.assertIsInstance(bench.ends["a"], errors.Timeout)
        bench.receive({"id": a["id"], "result": 1}, {"id": b["id"], "result": 2})
        self.assertEqual(bench.ends["b"], 2)

    def test_a_connection_that_is_silent_for_long_is_given_up(self) -> None:
        bench = Bench(timeout=30)
        bench.call("a")
        bench.sent()
        bench.pass_time(20)
        bench.call("b")
        bench.sent()
        bench.pass_time(10)
        self.assertIsInstance(bench.ends["a"], errors.Timeout)
        self.assertTrue(bench.session.drops)
        bench.connect()
        self.assertEqual(bench.methods(), ["b"])

    def test_finished_calls_leave_nothing_behind(self) -> None:
        bench = Bench()
        for number in range(1000):
            bench.call(f"x{number}")
            bench.answer(1)
        session = bench.session
        self.assertEqual((len(session._flying), len(session._waiting), len(session._later)), (0, 0, 0))
        self.assertEqual(session._flying_bytes, 0)

    def test_close_fails_what_waits(self) -> None:
        bench = Bench()
        bench.call("a")
        bench.session.close()
        self.assertIsInstance(bench.ends["a"], errors.Unavailable)
        with self.assertRaises(errors.Unavailable):
            bench.call("b")


class LoginTests(unittest.TestCase):
    def test_nothing_is_sent_before_the_login_is_answered(self) -> None:
        bench = Bench(connected=False, token="secret")
        bench.call("a")
        bench.connect()
        self.assertEqual(bench.methods(), ["auth.login"])
        bench.receive({"id": bench.last[0]["id"], "result": {}})
        self.assertEqual(bench.methods(), ["a"])

    def test_a_login_that_is_not_answered_ends_the_attempt(self) -> None:
        bench = Bench(connected=False, token="secret", connect_timeout=10)
        bench.call("a")
        bench.connect()
        bench.sent()
        bench.pass_time(10)
        self.assertTrue(bench.session.drops)
        bench.connect()
        self.assertEqual(bench.methods(), ["auth.login"])

    def test_a_wrong_token_fails_calls_and_watches(self) -> None:
        bench = Bench(connected=False, token="secret")
        watching = bench.watch()
        bench.call("a")
        bench.connect()
        bench.answer(error={"code": 1401, "message": "no", "data": {"errorCode": "WRONG_TOKEN"}})
        self.assertIsInstance(bench.ends["a"], errors.Unauthorized)
        self.assertIsInstance(watching.failure, errors.Unauthorized)

    def test_the_settings_do_not_show_the_token(self) -> None:
        self.assertNotIn("secret", repr(Settings([Address("a", 1)], token="secret")))


class WatchTests(unittest.TestCase):
    def begun(self, bench: Bench) -> Watching:
        watching = bench.watch()
        bench.answer({"watch": "w1"})
        bench.tell("snapshot", objects=[{"_id": "c1"}], more=False, change=7, resume="r7")
        return watching

    def test_a_watch_goes_on_by_its_token_before_other_calls(self) -> None:
        bench = Bench()
        watching = self.begun(bench)
        bench.call("a")
        bench.sent()
        bench.session.lost("gone", bench.now)
        bench.connect()
        self.assertEqual(bench.methods(), ["watch.start", "a"])
        self.assertEqual(bench.last[0]["params"], {"bucket": "b", "resume": "r7"})
        self.assertIsNone(watching.failure)

    def test_a_watch_that_has_begun_tries_for_as_long_as_it_takes(self) -> None:
        bench = Bench()
        watching = self.begun(bench)
        bench.session.lost("gone", bench.now)
        for _ in range(100):
            bench.pass_time(max(0.0, bench.session.wake_at() - bench.now))
            if bench.session.take_address(bench.now):
                bench.session.failed("refused", bench.now)
        self.assertIsNone(watching.failure)
        self.assertGreater(bench.now, 300)
        bench.connect()
        self.assertEqual(bench.methods(), ["watch.start"])

    def test_calls_of_a_watch_wait_for_its_name_and_use_the_one_of_the_connection(self) -> None:
        bench = Bench()
        watching = bench.watch()
        ends: list[Any] = []
        bench.session.call_watch(watching, "watch.sync", {}, bench.now, lambda result, error: ends.append(result))
        bench.call("a")
        self.assertEqual(bench.methods(), ["watch.start", "a"])
        bench.receive({"id": bench.last[0]["id"], "result": {"watch": "w1"}}, {"id": bench.last[1]["id"], "result": 1})
        self.assertEqual([m["params"] for m in bench.sent()], [{"watch": "w1"}])
        bench.session.lost("gone", bench.now)
        bench.connect()
        bench.answer({"watch": "w9", "resumed": False})
        self.assertEqual([m["params"] for m in bench.sent()], [{"watch": "w9"}])
        bench.receive({"id": bench.last[0]["id"], "result": {"change": 3}})
        self.assertEqual(ends, [{"change": 3}])

    def test_a_watch_that_is_ended_while_it_starts_is_stopped(self) -> None:
        bench = Bench()
        watching = bench.watch()
        [start] = bench.sent()
        bench.session.unwatch(watching, bench.now, lambda result, error: None)
        bench.receive({"id": start["id"], "result": {"watch": "w1"}})
        self.assertEqual(bench.methods(), ["watch.stop"])
        bench.tell("events", change=9, resume="r9", events=[])

    def test_an_ended_watch_is_not_begun_again(self) -> None:
        bench = Bench()
        watching = self.begun(bench)
        bench.session.unwatch(watching, bench.now, lambda result, error: None)
        self.assertEqual(bench.methods(), ["watch.stop"])
        bench.session.lost("gone", bench.now)
        bench.call("a")
        bench.connect()
        self.assertEqual(bench.methods(), ["a"])

    def test_a_silent_connection_is_asked_and_given_up_if_it_stays_silent(self) -> None:
        bench = Bench(check_time=45, connect_timeout=10)
        self.begun(bench)
        bench.pass_time(45)
        self.assertEqual(bench.methods(), ["server.ping"])
        bench.receive({"id": bench.last[0]["id"], "result": "pong"})
        bench.pass_time(44)
        self.assertEqual(bench.methods(), [])
        bench.pass_time(1)
        self.assertEqual(bench.methods(), ["server.ping"])
        bench.pass_time(10)
        self.assertTrue(bench.session.drops)
        bench.connect()
        self.assertEqual(bench.methods(), ["watch.start"])


if __name__ == "__main__":
    unittest.main()
