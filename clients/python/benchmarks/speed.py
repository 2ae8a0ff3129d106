"""How fast the client is, beside `geobucket load` and, where Redis and redis-py are installed, GEOSEARCH.

GEOBUCKET=.build/release/geobucket PYTHONPATH=src:tests python3 benchmarks/speed.py [--objects 200000] [--seconds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

from service import PROGRAM, Service

import geobucket
from geobucket import F, GeoPoint, aio

TASKS = 64


def objects(count: int) -> list[dict[str, Any]]:
    """Places around Tokyo, as a shop has them."""
    chance = random.Random(1)
    return [
        {
            "_id": f"shop-{number:07}",
            "name": f"Shop {number}",
            "kind": chance.choice(["ramen", "cafe", "bar"]),
            "open": chance.random() < 0.7,
            "rating": round(chance.random() * 5, 1),
            "location": GeoPoint(round(35.5 + chance.random() * 0.4, 6), round(139.5 + chance.random() * 0.5, 6)),
        }
        for number in range(count)
    ]


def processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def tell(what: str, count: int, began: float, used: float) -> None:
    seconds = time.perf_counter() - began
    print(f"{what}: {count / seconds:,.0f}/s ({count:,} in {seconds:.2f} s, client {processor() - used:.2f} s)")


def writing(items: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "objects.ndjson")
        with file.open("w") as lines:
            for item in items:
                lines.write(json.dumps({**item, "location": item["location"].to_json()}) + "\n")
        service = Service()
        command = [str(PROGRAM), "load", str(file), "--bucket", "loaded", "--server", service.address]
        began, used = time.perf_counter(), processor()
        subprocess.run(command, check=True, capture_output=True)
        tell("geobucket load", len(items), began, used)
        service.remove()
    service = Service()
    with geobucket.connect(service.address) as db:
        began, used = time.perf_counter(), processor()
        db["many"].put_many(items)
        tell("put_many, blocking", len(items), began, used)
        print(f"  {db['many'].count():,} objects")
    service.remove()
    service = Service()

    async def write() -> None:
        async with await aio.connect(service.address) as db:
            began, used = time.perf_counter(), processor()
            await db["many"].put_many(items)
            tell("put_many, asyncio", len(items), began, used)

    asyncio.run(write())
    service.remove()


async def concurrent(what: str, seconds: float, ask: Callable[[], Awaitable[Any]]) -> None:
    """Calls of 64 tasks, one after the other in each."""
    count = 0
    began, used = time.perf_counter(), processor()
    end = began + seconds

    async def work() -> None:
        nonlocal count
        while time.perf_counter() < end:
            await ask()
            count += 1

    await asyncio.gather(*(work() for _ in range(TASKS)))
    tell(what, count, began, used)


async def reading(items: list[dict[str, Any]], seconds: float) -> None:
    service = Service()
    chance = random.Random(2)
    async with await aio.connect(service.address) as db:
        shops = db["shops"]
        await shops.put_many(items)
        near = [
            F("location").within(of=(35.5 + chance.random() * 0.4, 139.5 + chance.random() * 0.5), into="d")
            for _ in range(1000)
        ]
        whole = [shops.find(clause).nearest().limit(10) for clause in near]
        names = [query.fields() for query in whole]

        async def nearest(queries: list[Any]) -> None:
            assert len((await chance.choice(queries).page()).objects) == 10

        await concurrent("10 nearest, ids and distances, 64 tasks", seconds, lambda: nearest(names))
        await concurrent("10 nearest, whole objects, 64 tasks", seconds, lambda: nearest(whole))
        await concurrent("get, 64 tasks", seconds, lambda: shops.get(chance.choice(items)["_id"]))
    with geobucket.connect(service.address) as waiting:
        bucket = waiting["shops"]
        for what, ask in [
            ("get", lambda: bucket.get("shop-0000001")),
            ("10 nearest", lambda: bucket.find(near[0]).nearest().limit(10).page()),
        ]:
            count, began, used = 0, time.perf_counter(), processor()
            while time.perf_counter() < began + seconds / 2:
                ask()
                count += 1
            tell(f"{what}, blocking, one after the other", count, began, used)
    service.remove()


async def redis(items: list[dict[str, Any]], seconds: float) -> None:
    try:
        import redis.asyncio as client
    except ImportError:
        print("redis-py is not installed")
        return
    if (program := shutil.which("redis-server")) is None:
        print("there is no redis-server")
        return
    process = subprocess.Popen(  # noqa: ASYNC220
        [program, "--port", "16379", "--save", ""], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while not re.search("Ready to accept", process.stdout.readline()):
        pass
    try:
        db = client.Redis(port=16379)
        for first in range(0, len(items), 1000):
            values: list[Any] = []
            for item in items[first : first + 1000]:
                values += [item["location"].lon, item["location"].lat, item["_id"]]
            await db.geoadd("shops", values)
        chance = random.Random(2)

        def ask() -> Awaitable[Any]:
            place = {"latitude": 35.5 + chance.random() * 0.4, "longitude": 139.5 + chance.random() * 0.5}
            return db.geosearch("shops", **place, radius=500, unit="m", sort="ASC", count=10, withdist=True)

        await concurrent("redis-py GEOSEARCH, 10 nearest within 500 m, 64 tasks", seconds, ask)
        await db.aclose()
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    made = objects(arguments.objects)
    writing(made)
    asyncio.run(reading(made, arguments.seconds))
    asyncio.run(redis(made, arguments.seconds))
