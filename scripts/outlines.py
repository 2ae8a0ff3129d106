#!/usr/bin/env python3
"""Rebuilds the map page's outlines of countries, Sources/Service/WebFiles/countries.json, from Natural Earth's
small countries (public domain) inside the PyPI package geopandas.

    python3 -m pip download --no-deps geopandas==0.14.4
    scripts/outlines.py geopandas-0.14.4-py3-none-any.whl

The file is GeoJSON. Coordinates are rounded to a hundredth of a degree, about 1 km. Each country has a name, and
the place for it: the point of its largest part that is farthest from the outline, with that distance in degrees.
"""
import json, math, pathlib, struct, sys, zipfile

TABLE = "geopandas/datasets/naturalearth_lowres/naturalearth_lowres"
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/Service/WebFiles/countries.json"
GRID = 24  # Steps of the search for a name's place, to each side.


def records(dbf):
    """The rows of a dBASE table, as dictionaries of texts."""
    count, header, width = struct.unpack("<IHH", dbf[4:12])
    fields, at, offset = [], 32, 1
    while dbf[at] != 0x0D:
        name, length = dbf[at:at + 11].rstrip(b"\0").decode(), dbf[at + 16]
        fields.append((name, offset, length))
        at, offset = at + 32, offset + length
    for row in range(count):
        start = header + row * width
        yield {name: dbf[start + offset:start + offset + length].decode("latin-1").strip()
               for name, offset, length in fields}


def shapes(shp):
    """The rings of each polygon of a shapefile, in the order of the table."""
    at = 100
    while at < len(shp):
        length = struct.unpack(">I", shp[at + 4:at + 8])[0] * 2
        body = shp[at + 8:at + 8 + length]
        parts, points = struct.unpack("<II", body[36:44])
        starts = [*struct.unpack(f"<{parts}I", body[44:44 + 4 * parts]), points]
        flat = struct.unpack(f"<{2 * points}d", body[44 + 4 * parts:44 + 4 * parts + 16 * points])
        positions = list(zip(flat[::2], flat[1::2]))
        yield [rounded(positions[a:b]) for a, b in zip(starts, starts[1:])]
        at += 8 + length


def rounded(ring):
    out = []
    for position in ring:
        position = [int(v) if v.is_integer() else v for v in (round(c, 2) for c in position)]
        if not out or out[-1] != position:
            out.append(position)
    return out


def area(ring):
    """Twice the signed area; shells of a shapefile go clockwise, so theirs is negative."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:]))


def contains(ring, x, y):
    inside = False
    for (ax, ay), (bx, by) in zip(ring, ring[1:]):
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            inside = not inside
    return inside


def clearance(ring, x, y):
    def to_edge(a, b):
        dx, dy = b[0] - a[0], b[1] - a[1]
        t = max(0, min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)))
        return math.hypot(x - a[0] - t * dx, y - a[1] - t * dy)
    return min(to_edge(a, b) for a, b in zip(ring, ring[1:]))


def place(ring):
    """The point of a grid inside the ring with the greatest clearance, and that."""
    xs, ys = zip(*ring)
    west, south, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    points = [(west + width * i / GRID, south + height * j / GRID) for i in range(1, GRID) for j in range(1, GRID)]
    best = max((clearance(ring, x, y), x, y) for x, y in points if contains(ring, x, y))
    return [round(v, 2) for v in best[1:]], round(best[0], 2)


def country(row, rings):
    shells = [[ring] for ring in rings if area(ring) < 0]
    for hole in (ring for ring in rings if area(ring) > 0):
        next(shell for shell in shells if contains(shell[0], *hole[0])).append(hole)
    label, room = place(max((shell[0] for shell in shells), key=lambda ring: -area(ring)))
    geometry = ({"type": "Polygon", "coordinates": shells[0]} if len(shells) == 1
                else {"type": "MultiPolygon", "coordinates": shells})
    return {"type": "Feature", "properties": {"name": row["name"], "label": label, "room": room},
            "geometry": geometry}


def main(wheel):
    files = zipfile.ZipFile(wheel)
    features = [country(*pair) for pair in zip(records(files.read(TABLE + ".dbf")), shapes(files.read(TABLE + ".shp")))]
    text = json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, separators=(",", ":"))
    OUTPUT.write_text(text + "\n", encoding="utf-8")
    print(f"{len(features)} countries, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
