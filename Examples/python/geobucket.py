#!/usr/bin/env python3
"""A GeoBucket client, standard library only: geobucket.py HOST PORT."""
import json
import socket
import sys


class Refused(Exception):
    """What the service said: .code, .name such as INVALID_INPUT_DATA, .path."""

    def __init__(self, error):
        super().__init__(error["message"])
        data = error.get("data", {})
        self.code, self.name, self.path = error["code"], data.get("errorCode"), data.get("path")


class GeoBucket:
    def __init__(self, host="127.0.0.1", port=4362):
        self.lines = socket.create_connection((host, port)).makefile("rw", encoding="utf-8", newline="\n")

    def call(self, method, **params):
        self.lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.lines.flush()
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def objects(self, bucket, clause, **query):
        """Every object that matches, over all pages."""
        key = {}
        while key is not None:
            page = self.call("bucket.query", bucket=bucket, bucketQuery={"clause": clause, **query}, **key)
            yield from page["results"]
            key = {"paginationKey": page["nextPaginationKey"]} if "nextPaginationKey" in page else None


def point(latitude, longitude):
    return {"_type": "point", "lat": latitude, "lon": longitude}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: geobucket.py HOST PORT, such as geobucket.py 127.0.0.1 4362")
    service = GeoBucket(sys.argv[1], int(sys.argv[2]))
    for name, place in [("Tower", point(35.6586, 139.7454)), ("Station", point(35.6812, 139.7671))]:
        service.call("object.put", bucket="sights", id=name.lower(), object={"name": name, "location": place})
    near = {"type": "geodistance", "field": "location", "center": point(35.66, 139.75),
            "radius": 5000, "putDistanceInto": "meters"}
    for sight in service.objects("sights", near, orderBy="_calculated.meters"):
        print(sight["name"], round(sight["_calculated"]["meters"]))
    try:
        service.call("object.put", bucket="sights", id="nowhere", object={"location": point(91, 0)})
    except Refused as refusal:
        print(refusal.name, refusal.path)
