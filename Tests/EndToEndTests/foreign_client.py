"""Speaks to the service with aiorpcX as it is: JSON-RPC 2.0, newline framing, raw TCP.

Usage: foreign_client.py HOST PORT. Prints "ok" and exits with 0 when every answer is right.
"""

import asyncio
import math
import sys

import aiorpcx


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def haversine(a, b):
    """Metres on a sphere of radius 6,371,000 m between two (latitude, longitude) in degrees."""
    north, east = math.radians(b[0] - a[0]) / 2, math.radians(b[1] - a[1]) / 2
    cosines = math.cos(math.radians(a[0])) * math.cos(math.radians(b[0]))
    return 2 * 6_371_000 * math.asin(math.hypot(math.sin(north), math.sin(east) * cosines**0.5))


async def pages(session, query, limit):
    """Every page of a query, until there is no key to a next one."""
    found, key = [], None
    while True:
        params = {"bucket": "foreign", "bucketQuery": query, "bestEffortLimit": limit}
        if key is not None:
            params["paginationKey"] = key
        answer = await session.send_request("bucket.query", params)
        check(0 < len(answer["results"]) <= limit, answer)
        found.append(answer["results"])
        key = answer.get("nextPaginationKey")
        if key is None:
            return found


async def run(host, port):
    async with aiorpcx.connect_rs(host, port) as session:
        check(await session.send_request("server.ping") == "pong", "ping")
        info = await session.send_request("server.info", {})
        check(info["name"] == "geobucket" and info["protocol"] == 1, info)

        created = []
        for number in range(7):
            place = {"_type": "point", "lat": 35.0, "lon": 139.0 + number / 100}
            answer = await session.send_request(
                "object.create",
                {"bucket": "foreign", "object": {"name": f"é{number}", "n": number, "at": place}},
            )
            check(answer["_version"] == 1, answer)
            created.append(answer["_id"])
        check(len(set(created)) == 7, created)

        got = await session.send_request("object.get", {"bucket": "foreign", "id": created[3]})
        check(got["name"] == "é3" and got["n"] == 3 and got["at"]["lon"] == 139.03, got)

        near = {
            "clause": {
                "type": "geodistance",
                "field": "at",
                "center": {"_type": "point", "lat": 35.0, "lon": 139.0},
                "radius": 5000,
                "putDistanceInto": "d",
            },
            "orderBy": "_calculated.d",
        }
        found = await pages(session, near, 2)
        check([len(page) for page in found] == [2, 2, 2], found)
        objects = [item for page in found for item in page]
        check([item["_id"] for item in objects] == created[:6], objects)
        for item in objects:
            distance = haversine((35.0, 139.0), (item["at"]["lat"], item["at"]["lon"]))
            check(abs(item["_calculated"]["d"] - distance) < 1e-5, item)

        async with session.send_batch() as batch:
            batch.add_request("bucket.count", {"bucket": "foreign"})
            batch.add_request("object.delete", {"bucket": "foreign", "id": created[0]})
            batch.add_request("bucket.count", {"bucket": "foreign"})
        check(batch.results == ({"count": 7}, {}, {"count": 6}), batch.results)

        await session.send_notification("object.delete", {"bucket": "foreign", "id": created[1]})
        count = await session.send_request("bucket.count", {"bucket": "foreign"})
        check(count == {"count": 5}, count)

        try:
            await session.send_request("object.get", {"bucket": "foreign", "id": created[0]})
            check(False, "a deleted object was found")
        except aiorpcx.RPCError as error:
            check(error.code == 1404, error)
        try:
            await session.send_request("no.such.method", {})
            check(False, "an unknown method was answered")
        except aiorpcx.RPCError as error:
            check(error.code == -32601, error)

        # Many at once on one connection: each gets its own answer.
        answers = await asyncio.gather(
            *(
                session.send_request("object.get", {"bucket": "foreign", "id": name})
                for name in created[2:] * 20
            )
        )
        check([item["_id"] for item in answers] == created[2:] * 20, "answers are mixed up")


asyncio.run(run(sys.argv[1], int(sys.argv[2])))
print("ok")
