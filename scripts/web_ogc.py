#!/usr/bin/env python3
"""OGC API Features as foreign programs see it, compared with the line protocol: counts, coordinates, properties, filters
and pages of the airports, and of the cities if they are there.

    scripts/web_ogc.py [--geobucket .build/release/geobucket] [--cities FILE] [--examples 60] [--short]

Plain requests are always made. GDAL (Debian's gdal-bin), PyQGIS (python3-qgis), OWSLib, openapi-spec-validator and
schemathesis (PyPI) are used if they are installed; at the end it says which were not.
"""
import argparse, contextlib, json, os, pathlib, random, re, shutil, sqlite3, struct, subprocess, sys, tempfile, time
import urllib.error, urllib.parse, urllib.request

import service, wire

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORLD = {"type": "geobox", "field": "location", "box": {"sw": {"_type": "point", "lat": -90, "lon": -180},
                                                        "ne": {"_type": "point", "lat": 90, "lon": 180}}}

# Filters in CQL2, the clauses that they have to mean, and the conditions by which GDAL asks the same; None if it cannot.
FILTERS = [
    ("kind = 'large_airport'", {"type": "eq", "field": "kind", "value": "large_airport"}, "kind = 'large_airport'"),
    ("kind <> 'heliport' AND runway_m >= 3000",
     {"type": "and", "clauses": [{"type": "not", "clause": {"type": "eq", "field": "kind", "value": "heliport"}},
                                 {"type": "range", "field": "runway_m", "lowerLimit": 3000}]},
     "kind <> 'heliport' AND runway_m >= 3000"),
    ("NOT (iata IS NULL OR country IN ('US', 'CA'))",
     {"type": "and", "clauses": [{"type": "hasField", "field": "iata"},
                                 {"type": "not", "clause": {"type": "in", "field": "country", "values": ["US", "CA"]}}]},
     "NOT (iata IS NULL OR country IN ('US', 'CA'))"),
    ("name LIKE 'San %'", {"type": "prefix", "field": "name", "prefix": "San "}, "name LIKE 'San %'"),
    ("elevation_ft BETWEEN -100 AND 0", {"type": "range", "field": "elevation_ft", "lowerLimit": -100, "upperLimit": 0},
     "elevation_ft BETWEEN -100 AND 0"),
    ("lighted = TRUE OR runways > 4",
     {"type": "or", "clauses": [{"type": "eq", "field": "lighted", "value": True},
                                {"type": "range", "field": "runways", "lowerLimit": 4, "lowerIncluded": False}]},
     "lighted = 1 OR runways > 4"),
    ("S_INTERSECTS(location, BBOX(170, -30, -170, 30))",
     {"type": "geobox", "field": "location", "box": {"sw": {"_type": "point", "lat": -30, "lon": 170},
                                                     "ne": {"_type": "point", "lat": 30, "lon": -170}}}, None),
    ("S_WITHIN(location, POLYGON((0 40, 20 40, 10 55, 0 40))) AND _modified >= DATE('2020-01-01')",
     {"type": "geopolygon", "field": "location",
      "polygon": {"type": "Polygon", "coordinates": [[[0, 40], [20, 40], [10, 55], [0, 40]]]}}, None),
]

# LIKE in every form, regular expressions that say the same, and whether GDAL can ask it.
LIKES = [
    ("name LIKE '%International%'", ("name", "(?s).*International.*", 0), True),
    ("name LIKE '%Airport'", ("name", "(?s).*Airport", 0), True),
    ("name LIKE 'San %'", ("name", "(?s)San .*", 0), True),
    ("name LIKE '%San _a% Airport%'", ("name", "(?s).*San .a.* Airport.*", 0), True),
    ("iata LIKE '_N_'", ("iata", "(?s).N.", 0), True),
    ("iata LIKE 'HND'", ("iata", "HND", 0), True),
    ("name LIKE '%''%'", ("name", "(?s).*'.*", 0), True),
    (r"name LIKE '%\_%'", ("name", "(?s).*_.*", 0), False),
    (r"name LIKE '%\'s%'", ("name", "(?s).*'s.*", 0), False),
    ("CASEI(name) LIKE CASEI('%ÅRPORT%')", ("name", "(?s).*årport.*", re.I), False),
    ("CASEI(name) LIKE CASEI('%são%')", ("name", "(?s).*são.*", re.I), False),
    ("CASEI(iata) IN (CASEI('hnd'), CASEI('Nrt'))", ("iata", "hnd|nrt", re.I), False),
    ("CASEI(iata) = CASEI('hnd')", ("iata", "hnd", re.I), False),
]


class Comparison:
    def __init__(self, line, root):
        self.line, self.root, self.faults, self.missing = line, root, 0, []

    def fault(self, text):
        self.faults += 1
        print(f"web_ogc: {text}", file=sys.stderr)

    def expect(self, what, found, expected):
        if found != expected:
            self.fault(f"{what}: {str(found)[:300]} instead of {str(expected)[:300]}")

    def get(self, address):
        with urllib.request.urlopen(address) as answer:
            return json.load(answer)

    def items(self, bucket, **parameters):
        return f"{self.root}/collections/{bucket}/items?{urllib.parse.urlencode(parameters)}"

    def walk(self, address):
        """All features along the links, and what each page says matches."""
        features, matched = [], set()
        while address:
            page = self.get(address)
            if page["numberReturned"] != len(page["features"]):
                self.fault(f"{address} has {len(page['features'])} features, not {page['numberReturned']}")
            features += page["features"]
            matched.add(page["numberMatched"])
            address = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
        return features, matched

    def objects(self, bucket, clause):
        found, key = [], None
        while True:
            page = self.line.call("bucket.query", {"bucket": bucket, "bucketQuery": {"clause": clause},
                                                   **({"paginationKey": key} if key else {})})
            found += page["results"]
            key = page.get("nextPaginationKey")
            if not key:
                return found

    def count(self, bucket, clause):
        return self.line.call("bucket.count", {"bucket": bucket, "bucketQuery": {"clause": clause}})["count"]


def plain(check, bucket, filters):
    """Plain requests: features are the objects, filters the clauses, pages follow each other."""
    objects = check.objects(bucket, WORLD)
    for limit in [10000, 999] if len(objects) < 20000 else [10000]:
        features, matched = check.walk(check.items(bucket, limit=limit))
        check.expect(f"{bucket}: numberMatched at limit {limit}", matched, {len(objects)})
        check.expect(f"{bucket}: features at limit {limit}", len(features), len(objects))
    names = set(check.get(f"{check.root}/collections/{bucket}/schema")["properties"]["properties"]["properties"])
    for feature, object in zip(features, objects):
        place = object.pop("location")
        check.expect("id", feature["id"], object.pop("_id"))
        check.expect("place", feature["geometry"], {"type": "Point", "coordinates": [place["lon"], place["lat"]]})
        check.expect("properties", feature["properties"], {**dict.fromkeys(names), **object})
    for text, clause, _ in filters:
        expected = [object["_id"] for object in check.objects(bucket, {"type": "and", "clauses": [WORLD, clause]})]
        features, matched = check.walk(check.items(bucket, filter=text, limit=400))
        check.expect(text, [feature["id"] for feature in features], expected)
        check.expect(f"numberMatched of {text}", matched, {len(expected)})
    schema(check, bucket)
    chance = random.Random(5)
    for _ in range(40):
        west, east = chance.uniform(-180, 180), chance.uniform(-180, 180)
        south, north = sorted([chance.uniform(-90, 90), chance.uniform(-90, 90)])
        clause = {"type": "geobox", "field": "location", "box": {"sw": {"_type": "point", "lat": south, "lon": west},
                                                                 "ne": {"_type": "point", "lat": north, "lon": east}}}
        page = check.get(check.items(bucket, bbox=f"{west},{south},{east},{north}", limit=1))
        check.expect(f"bbox {west},{south},{east},{north}", page["numberMatched"], check.count(bucket, clause))
    west, south, east, north = check.get(f"{check.root}/collections/{bucket}")["extent"]["spatial"]["bbox"][0]
    page = check.get(check.items(bucket, bbox=f"{west},{south},{east},{north}", limit=1))
    check.expect(f"{bucket}: in its extent", page["numberMatched"], len(objects))


def likes(check, bucket):
    """Patterns find what regular expressions find, also when they are negated, for GDAL too."""
    objects = check.objects(bucket, WORLD)
    for text, (field, expression, flags), is_gdals in LIKES:
        texts = [(object["_id"], object[field]) for object in objects if isinstance(object.get(field), str)]
        for negated in [False, True]:
            filter = f"NOT ({text})" if negated else text
            expected = [id for id, value in texts if (re.fullmatch(expression, value, flags) is None) == negated]
            features, matched = check.walk(check.items(bucket, filter=filter, limit=10000))
            check.expect(filter, [feature["id"] for feature in features], expected)
            check.expect(f"numberMatched of {filter}", matched, {len(expected)})
            if is_gdals and not negated and shutil.which("ogrinfo"):
                check.expect(f"ogrinfo -where {text}", ogrinfo(check, bucket, "-where", text), len(expected))


def schema(check, bucket):
    """Features satisfy the schema of their collection, as it is published."""
    try:
        import jsonschema
    except ImportError:
        return check.missing.append("jsonschema (PyPI)")
    published = check.get(f"{check.root}/collections/{bucket}/schema")
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    for feature in check.get(check.items(bucket, limit=10000))["features"]:
        for error in validator.iter_errors(feature):
            check.fault(f"{bucket}/{feature['id']} does not satisfy its schema: {error.json_path} {error.message[:200]}")


def ogrinfo(check, bucket, *arguments):
    """How many features GDAL counts, or what it complains of."""
    output = subprocess.run(["ogrinfo", "-ro", "-so", f"OAPIF:{check.root}", bucket, "-oo", "PAGE_SIZE=1000", *arguments],
                            capture_output=True, text=True)
    found = [line.split(":")[1] for line in output.stdout.splitlines() if line.startswith("Feature Count:")]
    return int(found[0]) if found and "ERROR" not in output.stderr else output.stderr


def gdal(check, bucket, filters, folder):
    """ogrinfo counts, filters and gives the extent; ogr2ogr copies everything into a GeoPackage."""
    if not shutil.which("ogr2ogr"):
        return check.missing.append("GDAL (gdal-bin)")
    source = f"OAPIF:{check.root}"
    check.expect(f"ogrinfo counts {bucket}", ogrinfo(check, bucket), check.count(bucket, WORLD))
    for _, clause, condition in filters:
        if condition:
            expected = check.count(bucket, {"type": "and", "clauses": [WORLD, clause]})
            check.expect(f"ogrinfo -where {condition}", ogrinfo(check, bucket, "-where", condition), expected)
    box = {"sw": {"_type": "point", "lat": 35, "lon": 139}, "ne": {"_type": "point", "lat": 36, "lon": 141}}
    check.expect("ogrinfo -spat", ogrinfo(check, bucket, "-spat", "139", "35", "141", "36"),
                 check.count(bucket, {"type": "geobox", "field": "location", "box": box}))
    start = time.monotonic()
    package = os.path.join(folder, f"{bucket}.gpkg")
    subprocess.run(["ogr2ogr", package, source, bucket, "-oo", "PAGE_SIZE=10000"], check=True)
    seconds = time.monotonic() - start
    objects = check.objects(bucket, WORLD)
    with contextlib.closing(sqlite3.connect(package)) as copy:
        copy.row_factory = sqlite3.Row
        rows = copy.execute(f'SELECT * FROM "{bucket}" ORDER BY fid').fetchall()
    check.expect(f"ogr2ogr copies {bucket}", len(rows), len(objects))
    for row, object in zip(rows, objects):
        check.expect("the id in the copy", row["id"], object["_id"])
        place = struct.unpack("<2d", row["geom"][-16:])
        check.expect("the place in the copy", place, (object["location"]["lon"], object["location"]["lat"]))
        for name, value in object.items():
            if name not in ("_id", "location") and not isinstance(value, (dict, list)):
                check.expect(f"{name} in the copy", row[name], value)
    print(f"ogr2ogr: {len(rows)} features of {bucket} in {seconds:.1f} s")


QGIS = """
import sys
sys.path.append("/usr/lib/python3/dist-packages")
from qgis.core import QgsApplication, QgsVectorLayer, QgsFeatureRequest, QgsRectangle
application = QgsApplication([], False)
application.initQgis()
layer = QgsVectorLayer(f"url='{sys.argv[1]}' typename='{sys.argv[2]}' restrictToRequestBBOX='1'", "layer", "OAPIF")
print(layer.isValid(), [field.name() for field in layer.fields()], sep="\\t")
inside = QgsFeatureRequest().setFilterRect(QgsRectangle(139, 35, 141, 36))
print(*sorted(feature["iata"] or "" for feature in layer.getFeatures(inside)))
print(sum(1 for _ in layer.getFeatures()))
application.exitQgis()
"""


def qgis(check, bucket):
    """A layer of QGIS has every field, and the features of a rectangle and of the world."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import qgis.core"], capture_output=True).returncode != 0:
        return check.missing.append("PyQGIS (python3-qgis)")
    run = subprocess.run([python, "-c", QGIS, check.root, bucket], capture_output=True, text=True,
                         env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    lines = run.stdout.splitlines()
    if len(lines) != 3:
        return check.fault(f"QGIS: {run.stdout} {run.stderr[-2000:]}")
    valid, fields = lines[0].split("\t")
    names = check.get(f"{check.root}/collections/{bucket}/schema")["properties"]["properties"]["properties"]
    check.expect("QGIS opens the layer", valid, "True")
    check.expect("QGIS' fields", set(names) - set(eval(fields)), set())
    box = {"type": "geobox", "field": "location", "box": {"sw": {"_type": "point", "lat": 35, "lon": 139},
                                                          "ne": {"_type": "point", "lat": 36, "lon": 141}}}
    check.expect("QGIS' rectangle", lines[1].split(), sorted(o["iata"] for o in check.objects(bucket, box) if o.get("iata")))
    check.expect("QGIS' features", int(lines[2]), check.count(bucket, WORLD))


def owslib(check, bucket):
    try:
        from owslib.ogcapi.features import Features
    except ImportError:
        return check.missing.append("OWSLib (PyPI)")
    site = Features(check.root)
    check.expect("OWSLib's collections", bucket in site.feature_collections(), True)
    check.expect("OWSLib's conformance", len(site.conformance()["conformsTo"]), 10)
    check.expect("OWSLib's queryables", "kind" in site.collection_queryables(bucket)["properties"], True)
    page = site.collection_items(bucket, limit=5, filter="iata = 'HND'", bbox=[139, 35, 141, 36])
    check.expect("OWSLib's filter", [feature["id"] for feature in page["features"]], ["RJTT"])
    check.expect("OWSLib's feature", site.collection_item(bucket, "RJTT")["id"], "RJTT")
    check.expect("OWSLib's API document", site.api()["openapi"][:2], "3.")


def openapi(check):
    try:
        from openapi_spec_validator import validate
    except ImportError:
        return check.missing.append("openapi-spec-validator (PyPI)")
    try:
        validate(check.get(f"{check.root}/api"))
    except Exception as error:
        check.fault(f"the API document is not valid: {error}")


def schemathesis(check, examples, folder):
    # Beside the Python that runs this, or on the path.
    program = shutil.which("schemathesis", path=os.path.dirname(sys.executable)) or shutil.which("schemathesis")
    if not program:
        return check.missing.append("schemathesis (PyPI)")
    # The standard demands that a limit above the maximum is taken for the maximum, though the schema has the maximum.
    run = subprocess.run(
        [program, "run", f"{check.root}/api", "--checks", "not_a_server_error,status_code_conformance,"
         "content_type_conformance,response_schema_conformance", "--max-examples", str(examples), "--seed", "1"],
        capture_output=True, text=True, cwd=folder)
    if run.returncode != 0:
        check.fault(f"schemathesis: {run.stdout[-4000:]}{run.stderr[-1000:]}")


def refusals(check, bucket):
    for query, path in [("limit=0", "limit"), ("nothing=1", "nothing"), ("bbox=1,2,3", "bbox"), ("datetime=x", "datetime"),
                        ("filter=kind%20=", "filter"), ("filter=S_INTERSECTS(kind,POINT(0%200))", "filter"),
                        ("filter-lang=sql", "filter-lang"), ("key=x", "key")]:
        try:
            check.get(f"{check.root}/collections/{bucket}/items?{query}")
            check.fault(f"{query} is not refused")
        except urllib.error.HTTPError as error:
            check.expect(query, (error.code, json.load(error)["path"]), (400, path))


def load(geobucket, port, bucket, file):
    subprocess.run([geobucket, "load", "--server", f"127.0.0.1:{port}", "--bucket", bucket, str(file)],
                   check=True, stdout=subprocess.DEVNULL)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    service.add_option(options)
    options.add_argument("--cities", type=pathlib.Path, default=ROOT.parent / "shared/data/cities/cities500.ndjson.gz",
                         help="cities, with a place in `location`")
    options.add_argument("--examples", type=int, default=60, help="schemathesis' requests of each kind")
    options.add_argument("--short", action="store_true", help="neither cities nor PyQGIS, and 10 examples")
    options = options.parse_args()
    if options.short:
        options.examples = 10
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store.sqlite")
        with service.serving(options.geobucket, store, "--web", "127.0.0.1:0") as ports:
            load(options.geobucket, ports["ready"], "airports", ROOT / "Data/airports-main.ndjson.gz")
            check = Comparison(wire.Connection(ports["ready"]), f"http://127.0.0.1:{ports['web']}/ogc")
            plain(check, "airports", FILTERS)
            likes(check, "airports")
            refusals(check, "airports")
            openapi(check)
            gdal(check, "airports", FILTERS, folder)
            if not options.short:
                qgis(check, "airports")
            owslib(check, "airports")
            schemathesis(check, options.examples, folder)
            if options.cities.exists() and not options.short:
                load(options.geobucket, ports["ready"], "cities", options.cities)
                plain(check, "cities", [])
                gdal(check, "cities", [], folder)
        service.check(options.geobucket, store)
    for program in check.missing:
        print(f"web_ogc: {program} is not installed")
    if check.faults:
        sys.exit(f"web_ogc: {check.faults} faults")
    print("web_ogc: everything agrees")


main()
