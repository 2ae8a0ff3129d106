#!/usr/bin/env python3
"""Decodes vector tiles of a real service with foreign programs, and compares them with the line protocol.

    scripts/web_tiles.py                      # the airports of Data/, the program in .build/release
    scripts/web_tiles.py --geobucket PROGRAM

Needs Debian's gdal-bin (ogr2ogr) and PyPI's mapbox-vector-tile. For each level, each decoder has to find in all tiles
together what bucket.clusters counts, each cell in its tile and its point in its cell. Also: conditional requests, and
TileJSON. Prints how many tiles and features were compared; a difference ends it with status 1.
"""
import argparse, gzip, json, os, pathlib, shutil, subprocess, sys, tempfile, urllib.error, urllib.parse, urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

import service, wire  # noqa: E402

FILTERS = {"": None, "kind = large_airport": {"type": "eq", "field": "kind", "value": "large_airport"}}
LEVELS = range(0, 5)


def fetch(base, path, **headers):
    """Status, header fields and body."""
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers)) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def by_library(tile, zoom, x, y):
    """(cell or id, count, position in the tile) of each feature, by mapbox-vector-tile."""
    import mapbox_vector_tile
    layers = mapbox_vector_tile.decode(tile, default_options={"y_coord_down": True})
    for layer in layers.values():
        assert layer["version"] == 2 and layer["extent"] == 4096
        for feature in layer["features"]:
            geometry, properties = feature["geometry"], feature["properties"]
            points = geometry["coordinates"] if geometry["type"] == "MultiPoint" else [geometry["coordinates"]]
            yield properties.get("cell") or properties["_id"], properties.get("count", 1), points


def by_gdal(tile, zoom, x, y):
    """The same by GDAL; the positions are those of EPSG:3857, back in the tile."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{y}.mvt")
        pathlib.Path(path).write_bytes(tile)
        at = ["-oo", f"X={x}", "-oo", f"Y={y}", "-oo", f"Z={zoom}", "-oo", "CLIP=NO"]
        layers = subprocess.run(["ogrinfo", "-q", path, *at], check=True, capture_output=True, text=True).stdout
        for layer in ("clusters", "objects"):
            if layer not in layers:
                continue
            made = subprocess.run(["ogr2ogr", "-f", "GeoJSON", "/vsistdout/", path, layer, *at], check=True, capture_output=True)
            for feature in json.loads(made.stdout)["features"]:
                geometry, properties = feature["geometry"], feature["properties"]
                points = geometry["coordinates"] if geometry["type"] == "MultiPoint" else [geometry["coordinates"]]
                side = 2 * 20037508.342789244 / 2 ** zoom
                points = [((px + 20037508.342789244) / side - x, (20037508.342789244 - py) / side - y) for px, py in points]
                yield (properties.get("cell") or properties["_id"], properties.get("count", 1),
                       [(round(px * 4096), round(py * 4096)) for px, py in points])


def compare(name, decode, base, connection, levels):
    """Compares all tiles of some levels; returns the number of tiles and of features."""
    tiles = features = 0
    for text, clause in FILTERS.items():
        query = {"bucketQuery": {"clause": clause}} if clause else {}
        parameters = "?fields=" + (f"&filter={urllib.parse.quote(text)}" if text else "")
        count = connection.call("bucket.count", {"bucket": "airports", **query})["count"]
        for zoom in levels:
            total = 0
            for x in range(2 ** zoom):
                for y in range(2 ** zoom):
                    status, _, tile = fetch(base, f"/tiles/airports/{zoom}/{x}/{y}.mvt{parameters}")
                    own = connection.call("bucket.clusters", {"bucket": "airports", "tile": f"{zoom}/{x}/{y}", "bits": 5, "fields": [], **query})
                    expected = {cluster["cell"]: cluster["count"] for cluster in own["clusters"]}
                    assert (status == 204) == (not expected), f"{name}: {zoom}/{x}/{y} is {status}"
                    if status == 204:
                        continue
                    tiles += 1
                    found = {}
                    for label, number, points in decode(tile, zoom, x, y):
                        cells = {f"{zoom + 5}/{x * 32 + px // 128}/{y * 32 + py // 128}" for px, py in points}
                        assert len(cells) == 1, f"{name}: {label} of {zoom}/{x}/{y} lies in {cells}"
                        assert "/" not in label or label in cells, f"{name}: {label} lies in {cells}"
                        cell = cells.pop()
                        found[cell] = found.get(cell, 0) + number
                        features += 1
                    assert found == expected, f"{name}: {zoom}/{x}/{y} differs"
                    total += sum(found.values())
            assert total == count, f"{name}: level {zoom} has {total} of {count} airports"
    return tiles, features


def check_tags(base, connection):
    path = "/tiles/airports/0/0/0.mvt"
    status, headers, _ = fetch(base, path)
    assert status == 200 and headers["Cache-Control"] == "no-cache, private"
    tag = headers["ETag"]
    assert fetch(base, path, **{"If-None-Match": tag})[0] == 304
    # The tile has counts, which a new field of an object does not change.
    connection.call("object.patch", {"bucket": "airports", "id": "RJTT", "object": {"seen": True}})
    assert fetch(base, path, **{"If-None-Match": tag})[0] == 304
    connection.call("object.delete", {"bucket": "airports", "id": "RJTT"})
    assert fetch(base, path, **{"If-None-Match": tag})[0] == 200


def check_description(base):
    _, headers, text = fetch(base, "/tiles/airports.json?filter=kind%20%3D%20large_airport")
    description = json.loads(text)
    assert headers["Content-Type"] == "application/json" and description["tilejson"] == "3.0.0"
    address = description["tiles"][0].format(z=0, x=0, y=0)
    assert address.startswith(base) and fetch("", address)[0] == 200
    assert [layer["id"] for layer in description["vector_layers"]] == ["clusters", "objects"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    service.add_option(parser)
    options = parser.parse_args()
    decoders = {}
    if shutil.which("ogr2ogr"):
        decoders["GDAL"] = (by_gdal, LEVELS[:3])
    try:
        import mapbox_vector_tile  # noqa: F401
        decoders["mapbox-vector-tile"] = (by_library, LEVELS)
    except ImportError:
        pass
    if len(decoders) < 2:
        print("geobucket: decoders are missing; they are in: apt-get install gdal-bin, pip install mapbox-vector-tile")
    with tempfile.TemporaryDirectory(prefix="geobucket-tiles-") as folder, \
            service.serving(options.geobucket, os.path.join(folder, "store.sqlite"), "--web", "127.0.0.1:0") as ports:
        sample = os.path.join(folder, "airports.ndjson")
        with gzip.open(ROOT / "Data/airports-main.ndjson.gz") as packed, open(sample, "wb") as plain:
            plain.write(packed.read())
        subprocess.run([options.geobucket, "load", sample, "--bucket", "airports", "--server", f"127.0.0.1:{ports['ready']}"],
                       check=True, stdout=subprocess.DEVNULL)
        connection, base = wire.Connection(ports["ready"]), f"http://127.0.0.1:{ports['web']}"
        for name, (decode, levels) in decoders.items():
            tiles, features = compare(name, decode, base, connection, levels)
            print(f"{name}: {tiles} tiles, {features} features as bucket.clusters has them")
        check_tags(base, connection)
        check_description(base)
        print("tags and TileJSON as they have to be")
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
