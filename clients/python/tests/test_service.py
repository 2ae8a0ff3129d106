"""Both faces against the real program: what they do, and what becomes of it while everything breaks."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import decimal
import gc
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Any

from service import PROGRAM, Network, Service

import geobucket
from geobucket import F, GeoPoint, Reference, agg, aio, km

# What the stricter checks since Python 3.13 want of certificates.
AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash"
SERVER = "subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid"
STATION = GeoPoint(35.6812, 139.7671)


@dataclasses.dataclass
class Shop:
    name: str
    location: GeoPoint
    price: decimal.Decimal | None = None
    opened: datetime.datetime | None = None
    tags: list[str] = dataclasses.field(default_factory=list)


class ServiceTests(unittest.TestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.service.remove()

    def connect(self, **options: Any) -> geobucket.Database:
        db = geobucket.connect(self.service.address, **options)
        self.addCleanup(db.close)
        return db

    def test_objects(self) -> None:
        shops = self.connect(decimals=True, datetimes=True)["objects"]
        with contextlib.suppress(geobucket.NotFound):
            shops.drop()
        time = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.timezone.utc)
        written = shops.put(
            "k1",
            {
                "n": 2**63,
                "price": decimal.Decimal("12.10"),
                "at": time,
                "location": STATION,
                "none": None,
                "list": [1.5, {"a": "é\u2028"}],
            },
        )
        self.assertEqual((written.id, written.version, written.written), ("k1", 1, True))
        found = shops.get("k1")
        self.assertEqual(found["n"], 2**63)
        self.assertEqual(str(found["price"]), "12.10")
        self.assertEqual(found["at"], 1_795_867_200_000)
        self.assertEqual(found["location"], STATION)
        self.assertEqual(found["list"], [decimal.Decimal("1.5"), {"a": "é\u2028"}])
        self.assertIsNone(found["none"])
        self.assertEqual(shops.patch("k1", {"n": None, "m": 1}).version, 2)
        whole = shops.patch("k1", {"m": 2}, return_object=True).object
        assert whole is not None
        self.assertEqual((whole["m"], "n" in whole), (2, False))
        self.assertFalse(shops.put("k1", {"m": 1}, if_newer="m").written)
        with self.assertRaises(geobucket.Conflict):
            shops.put("k1", {}, if_absent=True)
        with self.assertRaises(geobucket.InvalidInput) as caught:
            shops.put("k2", {"location": GeoPoint(91, 0)})
        self.assertEqual(caught.exception.path, "object.location.lat")
        new = shops.create(
            {"a": 1},
            data_type="thing",
            expires_at=datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1),
        )
        self.assertEqual(shops.get(new.id)["_dataType"], "thing")
        shops.delete("k1")
        with self.assertRaises(geobucket.NotFound):
            shops.get("k1")
        with self.assertRaises(geobucket.InvalidInput) as caught:
            shops.put("k3", {"text": "x" * 2_000_000})
        self.assertEqual(caught.exception.error_code, "LINE_TOO_LONG")
        for bad in [float("nan"), decimal.Decimal("inf"), "\ud800", {1, 2}, object()]:
            with self.assertRaises(geobucket.InvalidInput):
                shops.put("k3", {"v": bad})

    def test_the_service_takes_every_clause(self) -> None:
        bucket = self.connect()["clauses"]
        bucket.put("k1", {"name": "Kiosk", "location": STATION, "n": 1})
        square = {"type": "Polygon", "coordinates": [[[139, 35], [140, 35], [140, 36], [139, 36], [139, 35]]]}
        line = {"type": "LineString", "coordinates": [[139.7, 35.6], [139.8, 35.7]]}
        f = F("location")
        for clause in [
            geobucket.ALL,
            F("name") == "Kiosk",
            F("n") != 2,
            F("n") < 2,
            F("n") <= 1,
            F("n") > 0,
            F("n") >= 1,
            F("n").between(0, 1),
            F("name").is_in(["Kiosk"]),
            F("name").exists("STRING"),
            F("n").exists(),
            F("name").starts_with("K"),
            F("name").like("k%k", ignore_case=True),
            F("name").contains("ios"),
            f.within(km(1), of=STATION),
            f.within(of=(35, 139), model="wgs84", into="d"),
            f.in_box(35, 139, 36, 140),
            f.in_polygon(square),
            f.along(line, 5000, into="d", along_into="a"),
            ~(F("n") == 2),
            (F("n") == 1) & (F("name") == "Kiosk") & ~(F("n") == 5),
            (F("n") == 4) | (F("n") == 1),
            geobucket.raw({"type": "eq", "field": "n", "value": 1}),
            F("location") == STATION,
        ]:
            with self.subTest(clause):
                self.assertEqual(bucket.count(clause), 1)

    def test_queries(self) -> None:
        bucket = self.connect()["queries"]
        chance = random.Random(1)
        objects = [
            {
                "_id": f"o{i:04}",
                "n": i,
                "kind": f"k{i % 3}",
                "at": GeoPoint(35 + chance.random(), 139 + chance.random()),
            }
            for i in range(950)
        ]
        told: list[int] = []
        self.assertEqual(bucket.put_many(iter(objects), progress=told.append, batch_objects=200), 950)
        self.assertEqual((told[-1], sorted(told)), (950, told))
        self.assertEqual([item["n"] for item in bucket.find()], list(range(950)))
        near = bucket.find(F("at").within(of=(35.5, 139.5)) & (F("kind") == "k1")).nearest()
        distances = [item["_calculated"]["distance"] for item in near]
        self.assertEqual((len(distances), sorted(distances)), (317, distances))
        self.assertEqual([item["n"] for item in bucket.find().order_by("kind", "-n").limit(3)], [948, 945, 942])
        page = bucket.find().page_size(100).page()
        self.assertEqual((len(page.objects), bucket.find().page_size(100).page(page.next).objects[0]["n"]), (100, 100))
        self.assertEqual(set(bucket.find().fields("n").all()[0]), {"_id", "n"})
        figures = bucket.find(F("n") < 10).aggregate(
            n=agg.count(),
            kinds=agg.group("kind"),
            least=agg.min("n"),
            most=agg.max("n"),
            sum=agg.sum("n"),
            mean=agg.avg("n"),
        )
        self.assertEqual((figures["n"], figures["sum"], figures["mean"], figures["most"]), (10, 45, 4.5, 9))
        self.assertEqual(figures["kinds"]["values"][0], {"value": "k0", "count": 4})
        self.assertEqual(bucket.find().clusters(zoom=3)["total"], 950)
        self.assertIn("accessPath", bucket.find(F("n") == 1).explain(analyze=True))
        self.assertEqual(bucket.find(F("nn") == 1).page(hints=True).hints[0]["code"], "NO_SUCH_FIELD")
        self.assertEqual(bucket.find(F("n") == 7).first()["n"], 7)  # type: ignore[index]
        self.assertEqual(len(list(bucket.export())), 950)
        self.assertEqual(bucket.delete_where(F("n") >= 900, dry_run=True), 50)
        self.assertEqual(bucket.delete_where(F("n") >= 900), 50)
        self.assertEqual(bucket.count(), 900)
        self.assertEqual(bucket.fields()["objects"], 900)
        self.assertIn("queries", [entry["bucket"] for entry in self.connect().buckets()])

    def test_many_objects_of_which_one_is_refused(self) -> None:
        bucket = self.connect()["refused"]
        objects: list[Any] = [{"_id": f"o{i:04}"} for i in range(1000)]
        objects[777] = {"_id": "bad", "at": GeoPoint(0, 181)}
        with self.assertRaises(geobucket.InvalidInput) as caught:
            bucket.put_many(objects, batch_objects=100)
        self.assertIn("777", str(caught.exception.path))
        self.assertGreaterEqual(bucket.count(), 700)

    def test_many_objects_of_one_id_take_effect_in_their_order(self) -> None:
        bucket = self.connect()["same"]
        bucket.put_many(({"_id": "o1", "n": n} for n in range(100)), batch_objects=7)
        found = bucket.get("o1")
        self.assertEqual((found["n"], found["_version"]), (99, 100))

    def test_models(self) -> None:
        shops = self.connect(decimals=True)["models"].typed(Shop)
        opened = datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc)
        shops.put("k1", Shop("Kiosk", STATION, decimal.Decimal("2.50"), opened, ["a"]))
        shops.put_many([Shop("Bar", GeoPoint(35, 139))])
        stored = shops.get("k1")
        self.assertEqual(stored.value, Shop("Kiosk", STATION, decimal.Decimal("2.50"), opened, ["a"]))
        self.assertEqual((stored.id, stored.version), ("k1", 1))
        [near] = shops.find(F("location").within(km(1), of=STATION, into="d"))
        self.assertEqual((near.value.name, near.distance("d")), ("Kiosk", 0))
        with self.assertRaises(TypeError):
            shops.put("k2", {"name": "x"})  # type: ignore[arg-type]

    def test_threads_share_a_connection(self) -> None:
        db = self.connect()
        bucket = db["threads"]
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for n in range(20):
                    bucket.put(f"t{number}", {"n": n})
                    self.assertEqual(bucket.get(f"t{number}")["n"], n)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(bucket.count(), 16)
        self.assertEqual({item["_version"] for item in bucket.find()}, {20})

    def test_a_process_that_was_forked_has_a_connection_of_its_own(self) -> None:
        bucket = self.connect()["forks"]
        bucket.put("parent", {"n": 1})
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                bucket.put("child", {"n": 2})
                status = 0 if bucket.get("parent")["n"] == 1 else 2
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual((bucket.get("child")["n"], bucket.put("parent", {}).version), (2, 2))

    def test_clients_end_and_leave_no_thread(self) -> None:
        before = threading.active_count()
        for _ in range(3):
            with geobucket.connect(self.service.address) as db:
                db.ping()
        with self.assertRaises(geobucket.Unavailable):
            db.ping()
        forgotten = geobucket.connect(self.service.address)
        watch = forgotten["x1"].watch()
        next(watch)
        del forgotten, watch
        gc.collect()
        self.assertEqual(threading.active_count(), before)

    def test_who_does_not_answer_as_the_service_does_is_told(self) -> None:
        for address in ["127.0.0.1:1", "no-such-host.invalid:4362"]:
            started = time.monotonic()
            with self.assertRaises(geobucket.Unavailable):
                geobucket.connect(address)
            self.assertLess(time.monotonic() - started, 14, "before retry_time")
        with self.assertRaises(geobucket.Unavailable):
            geobucket.connect(f"geobuckets://{self.service.address}")
        for address in ["http://localhost", "localhost:x", "", "a:1,geobuckets://b:1,geobucket://c"]:
            with self.assertRaises(ValueError):
                geobucket.connect(address)
        with geobucket.connect(["127.0.0.1:1", self.service.address]) as db:
            db.ping()

    def test_a_loop_over_a_watch_is_ended_from_another_thread(self) -> None:
        for end in ("stop", "close"):
            with self.subTest(end):
                db = geobucket.connect(self.service.address)
                watch = db["ended"].watch()
                next(watch)
                ends: list[str] = []

                def loop(watch: Any = watch, ends: list[str] = ends) -> None:
                    try:
                        ends.append(f"after {list(watch)}")
                    except geobucket.Unavailable as error:
                        ends.append(str(error))

                thread = threading.Thread(target=loop)
                thread.start()
                if end == "stop":
                    watch.stop()
                    thread.join(20)
                db.close()
                thread.join(20)
                self.assertEqual(ends, ["after []" if end == "stop" else "the client is closed"])

    def test_a_watch(self) -> None:
        db = self.connect()
        riders = db["riders"]
        with riders.watch(F("at").within(km(2), of=STATION, into="d")) as watch:
            self.assertEqual(next(watch).objects, {})
            riders.put("c1", {"at": STATION})
            change = watch.sync()
            events = []
            for state in watch:
                events += state.events
                if state.change >= change:
                    break
            self.assertEqual([(event.kind, event.id) for event in events], [("enter", "c1")])
            riders.put("c1", {"at": GeoPoint(36, 139)})
            events = []
            while not events:
                events = next(watch).events
            self.assertEqual((events[0].kind, events[0].reason), ("leave", "moved"))
            watch.move(riders.find(F("at").exists()))
            self.assertEqual(next(state for state in watch if state.objects).objects.keys(), {"c1"})
        self.assertEqual(list(watch), [])

    def test_watches_of_rankings_pairs_and_centers(self) -> None:
        db = self.connect()
        cabs, calls = db["cabs"], db["calls"]
        cabs.put_many({"_id": f"c{n}", "at": GeoPoint(35.5 + n / 1000, 139)} for n in range(9))
        calls.put("o1", {"at": GeoPoint(35.5, 139)})
        watch: Any
        ranking = cabs.watch(cabs.find(F("at").within(of=(35.5, 139))).nearest().limit(3), interval=0)
        self.assertEqual(list(next(ranking).objects), ["c0", "c1", "c2"])
        pairs = cabs.watch_pairs("calls", "at", 50, query=F("at").within(of=(35.5, 139)), leave_radius=60)
        self.assertEqual([pair.ids for pair in next(pairs).objects.values()], [("c0", "o1")])
        center = cabs.watch(F("at").within(150, of=Reference("calls", "o1", "at")), leave_radius=200)
        self.assertEqual(set(next(center).objects), {"c0", "c1"})
        cabs.put("c8", {"at": GeoPoint(35.5001, 139)})
        for watch, wanted in [(ranking, ["c0", "c8", "c1"]), (pairs, [("c0", "o1"), ("c8", "o1")])]:
            state = next(state for state in watch if state.events)
            self.assertEqual(list(state.objects), wanted)
        calls.delete("o1")
        self.assertTrue(next(state for state in center if state.center_missing))


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class SecureTests(unittest.TestCase):
    def test_tls_a_token_and_a_client_s_certificate(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        folder = pathlib.Path(kept.name)

        def run(*command: str) -> str:
            return subprocess.run(command, check=True, capture_output=True, cwd=folder, text=True).stdout

        for name, extension in [("ca", AUTHORITY), ("server", SERVER)]:
            run(
                "openssl",
                "req",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-subj",
                f"/CN={name}",
                "-keyout",
                f"{name}.key",
                "-out",
                f"{name}.csr",
            )
            (folder / "extension").write_text(extension)
            signer = (
                ["-signkey", "ca.key"] if name == "ca" else ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
            )
            run(
                "openssl",
                "x509",
                "-req",
                "-in",
                f"{name}.csr",
                "-days",
                "2",
                "-extfile",
                "extension",
                "-out",
                f"{name}.pem",
                *signer,
            )
        tokens = str(folder / "tokens")
        made = run(str(PROGRAM), "token", "create", "--principal", "alice", "--tokens", tokens)
        token = re.findall(r"\S{20,}", made)[0]
        ca = str(folder / "ca.pem")
        service = Service(
            "--tls-certificate",
            str(folder / "server.pem"),
            "--tls-key",
            str(folder / "server.key"),
            "--tls-client-ca",
            ca,
            "--tokens",
            tokens,
        )
        self.addCleanup(service.remove)
        own: dict[str, Any] = {"ca": ca, "certificate": folder / "server.pem", "key": folder / "server.key"}
        with geobucket.connect(f"geobuckets://{service.address}", token=token, **own) as db:
            notes = db["users/alice/notes"]
            notes.put("n1", {"text": "x" * 50_000})
            service.restart()
            self.assertEqual(notes.get("n1")["_owner"], "alice")
            with self.assertRaises(geobucket.NotAllowed):
                db["users/bob/notes"].count()
        with self.assertRaises(geobucket.Unauthorized):
            geobucket.connect(service.address, token="wrong", **own)
        others: list[dict[str, Any]] = [{"ca": ca}, {"tls": True}, {}]
        for other in others:
            with self.assertRaises(geobucket.Unavailable):
                geobucket.connect(service.address, token=token, **other)


class BrokenTests(unittest.IsolatedAsyncioTestCase):
    """Writes have to be carried out once, reads to be answered, watches to be true, whatever breaks."""

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)
        self.service = await asyncio.to_thread(Service)
        self.addCleanup(self.service.remove)

    async def client(self, address: str, **options: Any) -> aio.Database:
        db = await aio.connect(address, first_pause=0.01, longest_pause=0.1, **options)
        self.addAsyncCleanup(db.close)
        return db

    async def test_connections_and_the_service_are_killed(self) -> None:
        seed = int(os.environ.get("CHAOS_SEED", "20261128"))
        network = Network(self.service.port, seed)
        address = await network.start()
        self.addAsyncCleanup(network.stop)
        db = await self.client(address)
        bucket = db["chaos"]
        chance = random.Random(seed)
        done = False
        counts = [0] * 12

        async def write(number: int) -> None:
            while not done:
                place = GeoPoint(35 + chance.random() / 50, 139 + chance.random() / 50)
                written = await bucket.put(f"w{number}", {"n": counts[number], "at": place})
                counts[number] += 1
                self.assertEqual(written.version, counts[number], f"each write is carried out once, seed {seed}")

        async def ask() -> None:
            while not done:
                found = [item["n"] async for item in bucket.find().page_size(3)]
                self.assertLessEqual(len(found), 12)

        inside = F("at").within(km(1), of=(35.01, 139.01))
        watch = bucket.watch(inside)
        nearest = bucket.find(F("at").within(of=(35.01, 139.01))).nearest().limit(5)
        ranking = bucket.watch(nearest, interval=0)
        await anext(ranking)
        tasks = [asyncio.ensure_future(write(number)) for number in range(12)]
        tasks += [asyncio.ensure_future(ask()), asyncio.ensure_future(ask())]
        began = time.monotonic()
        kills = 0
        while time.monotonic() - began < 8:
            await asyncio.sleep(chance.random() * 0.15)
            network.lose()
            kills += 1
            if kills % 20 == 0:
                how = signal.SIGKILL if kills % 40 else signal.SIGTERM
                await asyncio.to_thread(self.service.restart, how)
            state = await asyncio.wait_for(anext(watch), 20)
        done = True
        await asyncio.wait_for(asyncio.gather(*tasks), 30)
        self.assertGreater(sum(counts), 50)
        self.assertGreater(network.connections, 20)
        change = await watch.sync()
        while state.change < change or not state.is_connected:
            state = await asyncio.wait_for(anext(watch), 20)
        wanted = {item["_id"]: item async for item in bucket.find(inside)}
        self.assertEqual(state.objects, wanted, f"seed {seed}")
        change = await ranking.sync()
        shown = await asyncio.wait_for(anext(ranking), 20)
        self.assertGreaterEqual(shown.change, change)
        self.assertEqual(list(shown.objects.values()), await nearest.all(), f"seed {seed}")
        async for item in bucket.find():
            self.assertEqual(item["_version"], counts[int(item["_id"][1:])])

    async def test_many_objects_through_a_bad_network(self) -> None:
        network = Network(self.service.port, 7)
        db = await self.client(await network.start())
        self.addAsyncCleanup(network.stop)

        async def lose() -> None:
            while True:
                await asyncio.sleep(0.03)
                network.lose()

        losing = asyncio.ensure_future(lose())
        objects = ({"n": n, "text": "x" * 100} for n in range(20_000))
        written = await db["many"].put_many(objects, batch_bytes=60_000)
        losing.cancel()
        self.assertEqual((written, await db["many"].count()), (20_000, 20_000))
        self.assertGreater(network.connections, 2)

    async def test_a_service_that_stops_answering(self) -> None:
        db = await self.client(self.service.address, timeout=1.0)
        bucket = db["slow"]
        await bucket.put("k1", {})
        self.service.pause()
        try:
            with self.assertRaises(geobucket.Timeout):
                await bucket.get("k1")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(bucket.get("k1"), 0.1)
        finally:
            self.service.go_on()
        self.assertEqual((await bucket.get("k1"))["_version"], 1)

    async def test_cancelled_tasks_harm_nobody(self) -> None:
        db = await self.client(self.service.address, pipelined=8)
        bucket = db["cancelled"]
        await bucket.put("k1", {"n": 1})
        chance = random.Random(3)
        for _ in range(30):
            tasks = [asyncio.ensure_future(bucket.get("k1")) for _ in range(64)]
            await asyncio.sleep(chance.random() * 0.002)
            cancelled = set(chance.sample(range(64), 32))
            for number in cancelled:
                tasks[number].cancel()
            for number, task in enumerate(tasks):
                if number not in cancelled:
                    self.assertEqual((await task)["n"], 1)
            await asyncio.gather(*tasks, return_exceptions=True)
        session = db._link.session
        await bucket.get("k1")
        self.assertEqual((len(session._flying), len(session._waiting)), (0, 0))

    async def test_a_watch_outlives_a_restart(self) -> None:
        db = await self.client(self.service.address)
        bucket = db["restart"]
        await bucket.put("k1", {"n": 1})
        async with bucket.watch() as watch:
            state = await anext(watch)
            self.assertEqual(set(state.objects), {"k1"})
            await asyncio.to_thread(self.service.restart, signal.SIGKILL)
            await bucket.put("k2", {"n": 2})
            change = await watch.sync()
            states: list[Any] = []
            while not states or states[-1].change < change or not states[-1].is_connected:
                states.append(await asyncio.wait_for(anext(watch), 10))
            self.assertEqual(set(states[-1].objects), {"k1", "k2"})
            self.assertEqual([event.id for state in states for event in state.events], ["k2"])
            self.assertFalse(any(state.is_snapshot for state in states))


if __name__ == "__main__":
    unittest.main()
