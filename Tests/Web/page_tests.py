"""What a person sees and does on the map page. Each test is a function; its docstring is the rule that it holds."""
import contextlib, json, math, os, pathlib, shutil, subprocess, tempfile, threading, time, traceback, urllib.parse

import standin
from browser import Failure

UNITS = pathlib.Path(__file__).resolve().parent / "units"


class Handler(standin.Handler):
    """The stand-in, which serves the tests of the pure modules too."""

    def do_GET(self):
        if self.path.startswith("/units/"):
            self.file(UNITS / pathlib.PurePosixPath(self.path).name)
        else:
            super().do_GET()


class World:
    """A browser, a service with the airports, and stand-ins for its web port."""

    def __init__(self, browser, port, program):
        self.browser, self.server, self.program = browser, f"127.0.0.1:{port}", program
        self.numbers = iter(range(1, 1000))

    @contextlib.contextmanager
    def web(self, port=0, **options):
        server = standin.Server(port, self.server, **options)
        server.RequestHandlerClass = Handler
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()

    @contextlib.contextmanager
    def page(self, server, view="", path="/map", allowed=(), **options):
        """A page of a stand-in. Errors in its console, and refusals of its policy, fail the test."""
        page = self.browser.page(f"http://127.0.0.1:{server.server_port}{path}{view}", **options)
        try:
            yield page
            complaints = [text for text in page.complaints() if not any(word in text for word in allowed)]
            if complaints:
                raise Failure("the page complains: " + "; ".join(complaints))
        finally:
            page.close()

    @contextlib.contextmanager
    def opened(self, view="", **options):
        with self.web() as server, self.page(server, view, **options) as page:
            settled(page)
            yield page

    def call(self, method, **params):
        with standin.Line(self.server) as line:
            return line.call(method, params)

    def clusters(self, **params):
        with standin.Line(self.server) as line:
            return standin.clusters(line, params)

    def put(self, bucket, key, **fields):
        self.call("object.put", bucket=bucket, id=key, object=fields)

    def bucket(self):
        """The name of a new bucket."""
        return f"test-{next(self.numbers)}"

    def shell(self, command):
        """What a command of the page prints, with the program that is under test."""
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(self.program, os.path.join(folder, "geobucket"))
            environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}
            return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True, env=environment, timeout=30).stdout


# MARK: What tests say

def same(found, expected, what=""):
    if found != expected:
        raise Failure(f"{what or 'found'}: {found!r}, expected {expected!r}")


def point(lat, lon):
    return {"_type": "point", "lat": lat, "lon": lon}


def view(**members):
    """The fragment of a view; values that are no texts are JSON."""
    return "#" + "&".join(f"{name}={urllib.parse.quote(value if isinstance(value, str) else json.dumps(value))}" for name, value in members.items())


def settled(page):
    """Waits until the page has answered what it was asked."""
    page.until("!document.body.classList.contains('is-searching') && /match|live query/.test(document.querySelector('#summary').textContent)", "the results are there")


def ids(page):
    return page.run("[...document.querySelectorAll('#body tr')].map((row) => row.dataset.id)")


def address(page):
    """The view in the address, as a dictionary of texts."""
    fragment = page.run("location.hash").removeprefix("#")
    return {name: urllib.parse.unquote(value) for name, _, value in (part.partition("=") for part in fragment.split("&"))}


def clause(page):
    return json.loads(page.run("document.querySelector('#clause').value"))


def mercator(lat, lon):
    sine = math.sin(math.radians(max(-85.0511287798066, min(85.0511287798066, lat))))
    return (lon + 180) / 360, 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)


def pixel(page, lat, lon):
    """Where a place is in the window, by the view in the address."""
    at_lat, at_lon, zoom = map(float, address(page)["at"].split(","))
    left, top, width, height = page.run("(() => { const r = document.querySelector('#map').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
    scale = 256 * 2 ** zoom
    (x, y), (cx, cy) = mercator(lat, lon), mercator(at_lat, at_lon)
    x += round(cx - x)
    return left + width / 2 + (x - cx) * scale, top + height / 2 + (y - cy) * scale


def is_drawn(page, lat, lon):
    """Whether the canvas of the marks has something opaque at a place."""
    x, y = pixel(page, lat, lon)
    return page.run(f"""(() => {{ const c = document.querySelector("canvas.marks"), r = c.getBoundingClientRect();
        return c.getContext("2d").getImageData({x} - r.x, {y} - r.y, 1, 1).data[3] > 200; }})()""")


def zoom_of(page):
    return float(address(page)["at"].split(",")[2])


# MARK: Beginning

def test_opening(world):
    """The page opens the bucket with the most places, goes to where they are, and shows all of them in clusters."""
    with world.opened() as page:
        same(page.text("#summary").split(".")[0], "6,179 objects match")
        same(page.text(".bucket[aria-current] .bucket-name"), "airports")
        same(page.text(".bucket[aria-current] .bucket-count"), "6,179")
        same(address(page)["bucket"], "airports")
        found = world.clusters(bucket="airports", zoom=int(zoom_of(page)), bits=2)
        biggest = max(found["clusters"], key=lambda cluster: cluster["count"])
        page.until("document.querySelector('canvas.marks')", "the canvas is there")
        end = time.monotonic() + 10
        while not is_drawn(page, biggest["center"]["lat"] , biggest["center"]["lon"]):
            if time.monotonic() > end:
                raise Failure("the biggest cluster is not drawn")
            time.sleep(0.05)


def test_no_leaflet(world):
    """Without Leaflet the page names the package to install, and the results are there all the same."""
    with world.web(assets=None) as server, world.page(server, view(bucket="airports"), allowed=["404"]) as page:
        settled(page)
        page.until("document.querySelector('#map-note').textContent.includes('libjs-leaflet')", "the note is there")
        same(len(ids(page)), 50)


def test_empty_and_unknown_buckets(world):
    """A bucket that does not exist has no objects; a name that is none is refused where it is shown."""
    with world.opened(view(bucket="nothing-here")) as page:
        same(page.text("#summary").split(".")[0], "No object matches")
        same(page.text("#map-note"), "No object of this bucket has a place.")
        page.fill("#bucket-name", "no bucket!")
        page.key("Enter")
        page.until("!document.querySelector('#query-error').hidden", "the refusal is shown")


def test_scoped_bucket(world):
    """Buckets of users and groups are opened by their name, and the page lists their neighbours."""
    world.put("users/alice/notes", "n1", text="one", at=point(1, 2))
    world.put("users/alice/places", "p1", text="two", at=point(3, 4))
    with world.opened() as page:
        page.fill("#bucket-name", "users/alice/notes")
        page.key("Enter")
        page.until("document.querySelector('#summary').textContent.startsWith('1 object matches')", "the note is there")
        same(address(page)["bucket"], "users/alice/notes")
        names = page.run("[...document.querySelectorAll('.bucket-name')].map((e) => e.textContent)")
        same({"users/alice/notes", "users/alice/places"} <= set(names), True, names)
        same(page.text("#command-shell").split(" \\")[0], "geobucket query --bucket users/alice/notes")


# MARK: Clusters

def test_clusters_split(world):
    """A cluster that is clicked splits: the map goes to where its objects are, and shows more of them apart."""
    with world.opened(view(bucket="airports", at="48,8,4")) as page:
        found = world.clusters(bucket="airports", zoom=4, bits=2, box={"sw": point(40, -5), "ne": point(55, 20)})
        cluster = max(found["clusters"], key=lambda c: c["count"])
        page.click_at(*pixel(page, cluster["center"]["lat"], cluster["center"]["lon"]))
        page.until("Number(location.hash.match(/at=[^&]*,([^,&]*)/)[1]) > 4", "the map has zoomed in")
        lat, lon, _ = map(float, address(page)["at"].split(","))
        same(abs(lat - cluster["center"]["lat"]) < 6 and abs(lon - cluster["center"]["lon"]) < 12, True, "the middle is at the cluster")


def test_inseparable_cluster(world):
    """Objects at one place, which no zoom level separates, are listed, and each can be chosen."""
    bucket = world.bucket()
    for key in ("twin-a", "twin-b", "twin-c"):
        world.put(bucket, key, name=f"The {key}", at=point(10.5, 20.5))
    with world.opened(view(bucket=bucket, at="10.5,20.5,22")) as page:
        page.until("document.querySelector('canvas.marks')", "the canvas is there")
        for _ in range(100):
            if is_drawn(page, 10.5, 20.5):
                break
            time.sleep(0.05)
        page.click_at(*pixel(page, 10.5, 20.5))
        page.until("document.querySelectorAll('.choice').length === 3", "the three objects are listed")
        same(page.text("#details-title"), "3 objects at this place")
        page.click(".choices li:nth-child(2) button")
        page.until("document.querySelector('#details-title').textContent === 'The twin-b'", "the object is shown")


def test_antimeridian(world):
    """Objects on both sides of 180° are near each other on the map, and a box drawn across it finds both."""
    bucket = world.bucket()
    world.put(bucket, "east", name="East", at=point(-17, 179.5))
    world.put(bucket, "west", name="West", at=point(-17, -179.5))
    world.put(bucket, "line", name="Line", at=point(-18, 180))
    world.put(bucket, "far", name="Far", at=point(-17, 0))
    near = [{"type": "geobox", "field": "at", "box": {"sw": point(-30, 150), "ne": point(0, -150)}}]
    with world.opened(view(bucket=bucket, clause=near[0], order="created")) as page:
        same(ids(page), ["east", "west", "line"])
        same(zoom_of(page) > 5, True, f"the map is close, at {address(page)['at']}")
        for place in ((-17, 179.5), (-17, -179.5), (-18, 180)):
            page.until("true", "")
            same(waits(lambda: is_drawn(page, *place)), True, place)
        page.click("#clear")
        page.until("document.querySelector('#summary').textContent.startsWith('4')", "all are there")
        page.click("#draw-box")
        page.click_at(*pixel(page, -16.8, 179.3))
        page.click_at(*pixel(page, -17.2, -179.3))
        page.until("document.querySelector('#summary').textContent.startsWith('2')", "the two in the box are there")
        box = clause(page)["box"]
        same(box["sw"]["lon"] > 179 and box["ne"]["lon"] < -179, True, box)


def waits(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def test_several_places(world):
    """An object with several places is on the map at each of them, and each leads to it."""
    bucket = world.bucket()
    world.put(bucket, "loop", name="Loop line", stops=[point(35.6, 139.7), point(35.7, 139.9)])
    with world.opened(view(bucket=bucket, at="35.65,139.8,11", field="stops")) as page:
        for place in ((35.6, 139.7), (35.7, 139.9)):
            same(waits(lambda: is_drawn(page, *place)), True, place)
            page.click_at(*pixel(page, *place))
            page.until("document.querySelector('#details-title')?.textContent === 'Loop line'", "the object is shown")
            same(page.run("document.querySelectorAll('.details .items .place').length"), 2)
            page.key("Escape")
            page.until("document.querySelector('#details').hidden", "the object is closed")


# MARK: Queries

def test_query_by_clicking(world):
    """A query built by clicking gives the service's own answer, and so do the commands that the page shows for it."""
    with world.opened(view(bucket="airports", at="35.6812,139.7671,8")) as page:
        page.click("#add-row")
        page.choose(".row .field-menu", "lighted")
        page.choose(".row .operator-menu", "eq")
        page.choose(".row .inputs select", "true")
        page.click("#add-row")
        page.choose(".row:nth-child(2) .field-menu", "runway_m")
        page.choose(".row:nth-child(2) .operator-menu", "atLeast")
        page.fill(".row:nth-child(2) .inputs input", "2500")
        page.click("#draw-circle")
        page.click_at(*pixel(page, 35.6812, 139.7671))
        page.click_at(*pixel(page, 35.6812, 140.87))
        page.until("document.querySelectorAll('.row').length === 3", "the circle is a condition")
        page.fill(".row:nth-child(3) input[aria-label=Radius]", "100 km")
        page.fill(".row:nth-child(3) input[aria-label^=Centre]", "35.6812, 139.7671")
        page.until("document.querySelector('#body td')?.textContent === '14.4 km'", "the distances are from the new centre")
        settled(page)
        same(ids(page), ["RJTT", "RJTY", "RJAA", "RJAH"])
        distances = page.run("[...document.querySelectorAll('#body td:nth-child(2)')].map((cell) => cell.textContent)")
        same(distances, ["14.4 km", "38.6 km", "56.6 km", "80.6 km"])
        same(clause(page)["clauses"][0], {"type": "eq", "field": "lighted", "value": True})
        page.fill("#line-port", world.server)
        table = world.shell(page.text("#command-shell"))
        same([line.split()[0] for line in table.splitlines()[1:]], ["RJTT", "RJTY", "RJAA", "RJAH"], "the command's answer")
        if shutil.which("nc"):
            answer = json.loads(world.shell(page.text("#command-line")))
            same([item["_id"] for item in answer["result"]["results"]], ["RJTT", "RJTY", "RJAA", "RJAH"], "nc's answer")


def test_commands_of_any_query(world):
    """Whatever the query is, the command of the page gives the rows of the page."""
    clauses = [
        {"type": "eq", "field": "city", "value": "Côte d'Azur \"x\" $HOME `id`"},
        {"type": "or", "clauses": [{"type": "prefix", "field": "name", "prefix": "O'"}, {"type": "in", "field": "country", "values": ["AD", "SM", None]}]},
        {"type": "not", "clause": {"type": "hasField", "field": "city"}},
        {"type": "and", "clauses": [{"type": "geobox", "field": "location", "box": {"sw": point(-20, 175), "ne": point(-10, -175)}}, {"type": "hasField", "field": "iata", "fieldType": "STRING"}]},
        {"type": "geopolygon", "field": "location", "polygon": {"type": "Polygon", "coordinates": [[[-5, 36], [4, 36], [4, 44], [-5, 36]]]}},
        {"type": "geodistance", "field": "location", "center": point(-33.9, 18.4), "radius": 300000, "putDistanceInto": "d", "model": "wgs84"},
    ]
    orders = ["near", "created", 'field:"runway_m":desc']
    for number, wanted in enumerate([*clauses, clauses[-1], clauses[-1]]):
        order = orders[number % 3]
        with world.opened(view(bucket="airports", at="-33.9,18.4,5", clause=wanted, order=order)) as page:
            page.fill("#line-port", world.server)
            lines = world.shell(page.text("#command-shell") + " --format ndjson").splitlines()
            same([json.loads(line)["_id"] for line in lines], ids(page), f"{order} {wanted}")


def test_json_both_ways(world):
    """The clause can be changed as JSON and in the form; each follows the other, and an error stays in the text."""
    with world.opened(view(bucket="airports", at="35,139,6")) as page:
        page.fill("#clause", json.dumps({"type": "and", "clauses": [{"type": "eq", "field": "country", "value": "JP"}, {"type": "not", "clause": {"type": "prefix", "field": "kind", "prefix": "medium"}}]}))
        page.until("document.querySelectorAll('.row').length === 2", "the form has two conditions")
        same(page.run("[...document.querySelectorAll('.row .operator-menu')].map((menu) => menu.value)"), ["eq", "not:prefix"])
        page.until("document.querySelector('#summary').textContent.startsWith('15 objects')", "the 15 airports are there")
        page.choose(".row:nth-child(2) .operator-menu", "prefix")
        page.until("document.querySelector('#summary').textContent.startsWith('95 objects')", "the other 95 are there")
        same(clause(page)["clauses"][1], {"type": "prefix", "field": "kind", "prefix": "medium"})
        page.click(".row:nth-child(2) .remove")
        page.until("document.querySelector('#summary').textContent.startsWith('110 objects')", "all 110 are there")
        same(clause(page), {"type": "eq", "field": "country", "value": "JP"})
        page.fill("#clause", '{"type":')
        page.until("document.querySelector('#clause-state').textContent.startsWith('Not yet JSON')", "the editor says so")
        same(page.run("document.querySelectorAll('.row').length"), 1)


def test_errors_at_their_place(world):
    """What the service refuses is said at the condition that it is about, and goes away with it."""
    wrong = {"type": "and", "clauses": [{"type": "eq", "field": "country", "value": "JP"}, {"type": "geodistance", "field": "location", "center": point(35, 139), "radius": -5}]}
    with world.web() as server, world.page(server, view(bucket="airports", at="35,139,6", clause=wrong)) as page:
        page.until("document.querySelector('.row.is-wrong .row-error')?.textContent.includes('radius')", "the condition says what is wrong")
        same(page.run("[...document.querySelectorAll('.row')].map((row) => row.classList.contains('is-wrong'))"), [False, True])
        page.fill("input[aria-label=Radius]", "50 km")
        page.until("!document.querySelector('.row.is-wrong') && document.querySelector('#summary').textContent.includes('match')", "the error is gone")


def test_polygon_and_route(world):
    """A polygon and a route are drawn with clicks, closed by the first corner and by Done, and find what lies there."""
    with world.opened(view(bucket="airports", at="35.6812,139.7671,7")) as page:
        page.click("#draw-polygon")
        corners = [(35, 139), (35, 141), (36.5, 140)]
        for corner in [*corners, corners[0]]:
            page.click_at(*pixel(page, *corner))
        page.until("document.querySelectorAll('.row').length === 1", "the polygon is a condition")
        drawn = clause(page)
        same(world.call("bucket.count", bucket="airports", bucketQuery={"clause": drawn})["count"], count_of(page), "in the polygon")
        same(len(drawn["polygon"]["coordinates"][0]), 4)
        page.click("#clear")
        page.click("#draw-corridor")
        for corner in ((35.2, 139), (36.2, 140.5)):
            page.click_at(*pixel(page, *corner))
        page.click("#drawing-done")
        page.until("document.querySelectorAll('.row').length === 1", "the route is a condition")
        same(clause(page)["type"], "geocorridor")
        same(world.call("bucket.count", bucket="airports", bucketQuery={"clause": clause(page)})["count"], count_of(page), "along the route")


def count_of(page):
    settled(page)
    time.sleep(0.5)
    settled(page)
    first = page.text("#summary").split()[0].replace(",", "")
    return 0 if first == "No" else int(first)


def test_dragging_a_handle(world):
    """A circle's edge can be dragged; the results follow."""
    circle = {"type": "geodistance", "field": "location", "center": point(35.6812, 139.7671), "radius": 50000, "putDistanceInto": "distance"}
    with world.opened(view(bucket="airports", at="35.6812,139.7671,8", clause=circle)) as page:
        before = count_of(page)
        start = page.middle(".handle.edge")
        page.drag(start, (start[0] + 120, start[1]))
        page.until(f"JSON.parse(document.querySelector('#clause').value).radius > 60000", "the radius is longer")
        after = count_of(page)
        same(after > before, True, (before, after))
        same(world.call("bucket.count", bucket="airports", bucketQuery={"clause": clause(page)})["count"], after)


def test_suggestions(world):
    """A field's most frequent values are suggested, with how many objects have them."""
    with world.opened(view(bucket="airports")) as page:
        page.click("#add-row")
        page.choose(".row .field-menu", "kind")
        page.click(".row .inputs input")
        page.until("document.querySelectorAll('.row datalist option').length > 2", "the values are there")
        same(page.run("document.querySelector('.row datalist option').value"), "medium_airport")


def test_explain(world):
    """How the query runs is told in sentences."""
    circle = {"type": "geodistance", "field": "location", "center": point(35.6812, 139.7671), "radius": 50000}
    with world.opened(view(bucket="airports", clause=circle)) as page:
        page.click("#explain-card summary")
        page.until("document.querySelectorAll('#explain li').length > 3", "the sentences are there")
        sentences = page.run("[...document.querySelectorAll('#explain li')].map((item) => item.textContent)")
        same(all(sentence[0].isupper() for sentence in sentences) and "spatial index" in sentences[0], True, sentences)


# MARK: Results

def test_pages_to_the_end(world):
    """The table is paged to the end: each object once, in the order of the query."""
    with world.opened(view(bucket="airports", clause={"type": "eq", "field": "country", "value": "JP"}, order='field:"runway_m":desc')) as page:
        same(len(ids(page)), 50)
        for _ in range(4):
            if page.run("document.querySelector('#more').hidden"):
                break
            before = len(ids(page))
            page.run("document.querySelector('#more').click()")
            page.until(f"document.querySelectorAll('#body tr').length > {before}", "the next page is there")
        same(page.text("#results-end"), "That is all: 110 objects.")
        with standin.Line(world.server) as line:
            expected = [item["_id"] for item in line.all({"bucket": "airports", "bucketQuery": {"clause": {"type": "eq", "field": "country", "value": "JP"}, "orderBy": "runway_m", "descending": True}})]
        same(ids(page), expected)


def test_row_and_place(world):
    """A row leads to its place on the map, and a place on the map to its row."""
    with world.opened(view(bucket="airports", at="35.6812,139.7671,9", clause={"type": "eq", "field": "kind", "value": "large_airport"})) as page:
        page.click("#body tr[data-id=RJTT] button")
        page.until("document.querySelector('#details-title')?.textContent === 'Tokyo Haneda International Airport'", "the object is shown")
        same(address(page)["object"], "RJTT")
        haneda = world.call("object.get", bucket="airports", id="RJTT")["location"]
        narita = world.call("object.get", bucket="airports", id="RJAA")["location"]
        same(waits(lambda: is_drawn(page, haneda["lat"], haneda["lon"])), True)
        page.click(".details .close")
        page.click_at(*pixel(page, narita["lat"], narita["lon"]))
        page.until("document.querySelector('#body tr.is-chosen')?.dataset.id === 'RJAA'", "the row is marked")
        page.click(".details .close")
        far = page.run("[...document.querySelectorAll('#body tr')].at(-1).dataset.id")
        page.click(f"#body tr[data-id='{far}'] button")
        place = world.call("object.get", bucket="airports", id=far)["location"]
        page.until(f"location.hash.includes('object={far}')", "the far object is chosen")
        same(waits(lambda: is_drawn(page, place["lat"], place["lon"])), True, "the map goes to a row that is out of sight")
        same(ids(page)[0], "RJTT", "the order does not follow the map there")


def test_data_is_never_html(world):
    """Nothing of an object becomes HTML, whatever its fields are called and hold."""
    bucket = world.bucket()
    evil = "<img src=x onerror='window.hacked=1'><b>bold</b>"
    world.call("object.put", bucket=bucket, id="evil", object={"name": evil, evil: evil, "nested": {evil: [evil]}, "at": point(1, 2)})
    with world.opened(view(bucket=bucket, at="1,2,12", object="evil", clause={"type": "eq", "field": "name", "value": evil})) as page:
        page.until("document.querySelector('#details-title')?.textContent.startsWith('<img')", "the name is text")
        page.click("#columns summary")
        page.click("#add-row")
        same(page.run("document.querySelectorAll('main b, main img').length + (window.hacked ?? 0)"), 0)


def test_every_type_of_value(world):
    """Values of every type are shown as they are: nested ones, all digits of long numbers, null, places."""
    bucket = world.bucket()
    with standin.Line(world.server) as line:
        line.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "object.put", "params": {"bucket": bucket, "id": "all", "object": "@"}}).replace('"@"',
            '{"s":"日本 \\"q\\"","i":12345678901234567890,"d":0.1,"t":true,"n":null,"a":[1,"x",{"y":null}],"o":{"city":"Oslo","deep":{"at":{"_type":"point","lat":59.9,"lon":10.7}}},"e":{}}').encode())
    with world.opened(view(bucket=bucket, object="all")) as page:
        page.until("document.querySelector('#details dl')", "the object is shown")
        text = page.text("#details dl")
        for part in ('日本 "q"', "12345678901234567890", "0.1", "true", "null", '{"y":null}', "Oslo", "59.9, 10.7"):
            same(part in text, True, f"{part} in {text}")
        page.click("dd.integer .only")
        page.until("document.querySelector('#summary').textContent.startsWith('1 object')", "the long number finds its object")
        same("12345678901234567890" in page.run("document.querySelector('#clause').value"), True)
        same("deep.at" in page.run("location.hash") or page.run("document.querySelector('#field-choice').hidden"), True)


# MARK: Live

def test_live(world):
    """Live: who enters, moves and leaves is seen on the map, in the table and in the list of changes."""
    bucket = world.bucket()
    world.put(bucket, "c1", name="Aiko", at=point(35.68, 139.76))
    world.put(bucket, "c2", name="Ben", at=point(35.9, 139.76))
    circle = {"type": "geodistance", "field": "at", "center": point(35.68, 139.76), "radius": 5000, "putDistanceInto": "distance"}
    with world.opened(view(bucket=bucket, at="35.68,139.76,13", clause=circle)) as page:
        page.click("#live")
        page.until("document.querySelector('#summary').textContent === '1 object matches, live.'", "the state is there")
        same(page.run("document.querySelector('#live').getAttribute('aria-checked')"), "true")
        world.put(bucket, "c1", name="Aiko", at=point(35.69, 139.78))
        page.until("document.querySelector('#log .change .who')?.textContent === 'Aiko'", "the move is told")
        same(waits(lambda: is_drawn(page, 35.69, 139.78)), True, "the mark is at its new place")
        world.put(bucket, "c2", name="Ben", at=point(35.67, 139.75))
        page.until("document.querySelector('#log .enter .who')?.textContent === 'Ben'", "who enters is told")
        page.until("document.querySelectorAll('#body tr').length === 2", "and is in the table")
        same(ids(page), ["c2", "c1"], "nearest first")
        same(waits(lambda: is_drawn(page, 35.67, 139.75)), True)
        world.call("object.delete", bucket=bucket, id="c1")
        page.until("document.querySelector('#log .leave .who')?.textContent === 'Aiko'", "who leaves is told")
        same(waits(lambda: not is_drawn(page, 35.69, 139.78)), True, "and fades")
        page.until("document.querySelectorAll('#body tr').length === 1", "and is out of the table")
        page.run("document.querySelector('#body button').focus()")
        world.put(bucket, "c2", name="Ben", at=point(35.671, 139.75))
        page.until("document.querySelectorAll('#log .change').length === 2", "the next move is told")
        page.until("document.activeElement.textContent === 'c2' && document.querySelector('#body tr.is-changed')", "the row keeps the focus though it is new")
        page.until("/^[\\d.]+ changes a second$/.test(document.querySelector('#live-figures').textContent)", "the rate is told")
        same(address(page)["live"], "1")
        page.click("#live")
        page.until("document.querySelector('#summary').textContent.includes('Answered')", "the results are back")


def test_live_after_a_break(world):
    """A live query whose connection breaks goes on by itself, and the net effect of the gap is seen."""
    bucket = world.bucket()
    world.put(bucket, "c1", name="Aiko", at=point(35.68, 139.76))
    world.put(bucket, "c2", name="Ben", at=point(35.69, 139.77))
    with contextlib.ExitStack() as stack:
        first = contextlib.ExitStack()
        server = first.enter_context(world.web())
        port = server.server_port
        page = stack.enter_context(world.page(server, view(bucket=bucket, at="35.68,139.76,13", live="1"), allowed=["ERR_"]))
        page.until("document.querySelector('#summary').textContent === '2 objects match, live.'", "the state is there")
        first.close()
        page.until("document.querySelector('#live-figures').textContent.startsWith('Connection lost')", "the break is told")
        world.call("object.delete", bucket=bucket, id="c1")
        world.put(bucket, "c3", name="Chidi", at=point(35.67, 139.75))
        stack.enter_context(world.web(port=port))
        page.until("document.querySelector('#log .enter .who')?.textContent === 'Chidi' && document.querySelector('#log .leave .who')?.textContent === 'Aiko'", "the gap is told")
        page.until("document.querySelector('#live-figures').textContent.includes('a second')", "the connection is back")
        page.until("[...document.querySelectorAll('#body tr')].map((row) => row.dataset.id).sort().join() === 'c2,c3'", "the table has who is there")


def test_refused_live_query(world):
    """A live query that the service refuses says why, and the ordinary results stay."""
    wrong = {"type": "eq", "field": "x", "value": [1]}
    with world.web() as server, world.page(server, view(bucket="airports", clause=wrong, live="1"), allowed=["400"]) as page:
        page.until("document.querySelector('#summary').textContent.startsWith('No live query')", "the refusal is told")
        same(page.run("document.querySelector('#live').getAttribute('aria-checked')"), "false")
        same(page.run("document.querySelector('.row-error').hidden"), False)


# MARK: The page itself

def test_link(world):
    """The address holds the whole view: another browser that opens it shows the same."""
    circle = {"type": "geodistance", "field": "location", "center": point(48.8, 2.3), "radius": 200000, "putDistanceInto": "distance"}
    with world.opened(view(bucket="airports", at="48,8,5")) as page:
        page.fill("#clause", json.dumps({"type": "and", "clauses": [circle, {"type": "eq", "field": "scheduled", "value": True}]}))
        page.until("document.querySelectorAll('.row').length === 2", "the query is there")
        settled(page)
        page.choose("#order", "field:name")
        page.click("#direction")
        page.until("location.hash.includes('order=')", "the order is in the address")
        settled(page)
        count_of(page)
        page.run("document.querySelector('#body tr:nth-child(2) button').click()")
        page.until("location.hash.includes('object=')", "the object is in the address")
        page.until("!document.querySelector('#details').hidden", "the object is shown")
        page.click("#link")
        fragment = page.run("location.hash")
        rows, title, at = ids(page), page.text("#details-title"), address(page)["at"]
    with world.opened(fragment) as other:
        other.until("!document.querySelector('#details').hidden", "the object is shown")
        same([ids(other), other.text("#details-title"), address(other)["at"]], [rows, title, at])
        same(other.run("location.hash"), fragment)


def test_back(world):
    """Back undoes a step: a condition, a bucket."""
    with world.opened(view(bucket="airports", at="48,8,5")) as page:
        page.fill("#clause", json.dumps({"type": "eq", "field": "country", "value": "FR"}))
        page.until("location.hash.includes('clause=')", "the clause is in the address")
        settled(page)
        page.run("history.back()")
        page.until("!location.hash.includes('clause=') && document.querySelectorAll('.row').length === 0", "the condition is undone")
        page.until("document.querySelector('#summary').textContent.startsWith('6,179')", "all are there again")
        at = address(page)["at"]
        page.fill("#bucket-name", "empty-bucket")
        page.key("Enter")
        page.until("document.querySelector('#summary').textContent.startsWith('No object')", "the other bucket is there")
        page.run("history.back()")
        page.until("document.querySelector('#summary').textContent.startsWith('6,179')", "the first bucket is there again")
        same(address(page)["at"], at)


def test_keyboard(world):
    """With the keyboard alone: marks on the map, a circle, the table, an object."""
    with world.opened(view(bucket="airports", at="35.6812,139.7671,7")) as page:
        for _ in range(60):
            page.key("Tab")
            if page.run("document.activeElement.id") == "map":
                break
        same(page.run("document.activeElement.id"), "map")
        same(waits(lambda: page.key("n") or page.text("#announcer") != ""), True)
        same("Enter" in page.text("#announcer"), True, page.text("#announcer"))
        page.key("c")
        page.until("!document.querySelector('#crosshair').hidden", "the cross is there")
        page.key("Enter")
        page.key("ArrowRight")
        page.until("location.hash.match(/at=[^,]*,([^,]*)/)[1] > 140.2", "the map has moved")
        page.key("Enter")
        page.until("document.querySelectorAll('.row').length === 1", "the circle is a condition")
        same(clause(page)["type"], "geodistance")
        same(abs(clause(page)["center"]["lon"] - 139.7671) < 0.01, True, clause(page))
        settled(page)
        for _ in range(60):
            page.key("Tab")
            if page.run("document.activeElement.classList.contains('row-id')"):
                break
        first = page.run("document.activeElement.textContent")
        same(first, ids(page)[0])
        page.key("ArrowDown")
        same(page.run("document.activeElement.textContent.slice(0, 40)"), ids(page)[1])
        page.key("Enter")
        page.until(f"location.hash.includes('object={ids(page)[1]}')", "the second object is chosen")
        same(page.run("[...document.querySelectorAll('button, input, select, textarea')].filter((e) => e.offsetParent && !e.textContent.trim() && !e.ariaLabel && !e.labels?.length && !e.title).length"), 0, "controls without a name")


def test_moving_a_handle_by_keys(world):
    """The arrow keys move the handles of a shape."""
    circle = {"type": "geodistance", "field": "location", "center": point(35.6812, 139.7671), "radius": 50000, "putDistanceInto": "distance"}
    with world.opened(view(bucket="airports", at="35.6812,139.7671,8", clause=circle)) as page:
        page.run("document.querySelector('.handle.edge').focus()")
        page.key("ArrowRight")
        page.key("ArrowRight")
        page.until("JSON.parse(document.querySelector('#clause').value).radius > 52000", "the radius is longer")
        same(page.run("document.activeElement.classList.contains('edge')"), True, "the handle keeps the focus")


def test_phone(world):
    """On a phone nothing is wider than the screen; query and results are sheets over the map."""
    with world.opened(view(bucket="airports", at="35.68,139.76,6"), width=390, height=844, phone=True) as page:
        for pane in ("map", "query", "results"):
            page.click(f".tabs [data-pane={pane}]")
            same(page.run("document.documentElement.scrollWidth"), 390)
            shown = page.run("['.side', '.results'].map((s) => getComputedStyle(document.querySelector(s)).display !== 'none')")
            same(shown, [pane == "query", pane == "results"], pane)
        page.click("#body tr:nth-child(1) button")
        page.until("!document.querySelector('#details').hidden", "the object is shown")
        same(page.run("document.body.dataset.pane"), "map")
        left, right = page.run("(() => { const r = document.querySelector('#details').getBoundingClientRect(); return [r.left, r.right]; })()")
        same(left >= 0 and right <= 390, True, (left, right))


def test_dark(world):
    """Dark where the system is dark; the switch says otherwise, and is remembered."""
    brightness = "(() => { const [r, g, b] = getComputedStyle(document.querySelector('.bar')).backgroundColor.match(/\\d+/g).map(Number); return (r + g + b) / 3; })()"
    with world.opened(view(bucket="airports"), dark=True) as page:
        same(page.run(brightness) < 80, True, "dark")
        same(page.run("document.querySelector('#theme').getAttribute('aria-checked')"), "true")
        page.click("#theme")
        same(page.run(brightness) > 200, True, "light")
        page.call("Page.reload")
        page.until("document.querySelector('#theme')?.getAttribute('aria-checked') === 'false'", "light is remembered")
        same(page.run(brightness) > 200, True, "light")
        settled(page)


def test_login(world):
    """With tokens the page asks for one, says when it is wrong, and goes on to the view that was asked for."""
    fragment = view(bucket="airports", at="48,8,5")
    with world.web(token="secret") as server, world.page(server, fragment, allowed=["401"]) as page:
        page.until("location.pathname === '/login' && document.querySelector('button[type=submit]:enabled')", "the login page is there")
        page.fill("#token", "wrong")
        page.key("Enter")
        page.until("document.querySelector('#error').textContent.includes('token is unknown')", "the refusal is told")
        page.fill("#token", "secret")
        page.key("Enter")
        page.until("location.pathname === '/map'", "the map is there")
        settled(page)
        same(address(page)["at"], "48,8,5")
        page.click("#logout")
        page.until("location.pathname === '/login'", "the login page is back")


def test_gone_and_back(world):
    """A service that is gone is told, tried again, and shown when it is back."""
    with contextlib.ExitStack() as stack:
        first = contextlib.ExitStack()
        server = first.enter_context(world.web())
        port = server.server_port
        page = stack.enter_context(world.page(server, view(bucket="airports", at="48,8,5"), allowed=["ERR_CONNECTION"]))
        settled(page)
        first.close()
        page.choose("#order", "field:name")
        page.until("!document.querySelector('#banner').hidden && /again in \\d+ second/.test(document.querySelector('#banner-text').textContent)", "the page says that the service is gone")
        stack.enter_context(world.web(port=port))
        page.until("document.querySelector('#banner').hidden", "the service is back")
        settled(page)
        same(page.run("document.querySelector('#order').value"), "field:name")
        same(len(ids(page)), 50)


def test_frames(world):
    """The map moves with hundreds of circles, and each is drawn again in its place; the number of frames is told."""
    with world.opened(view(bucket="airports", at="30,0,3"), width=1600, height=1000) as page:
        page.run("document.querySelector('#fold').click()")
        page.run("window.frames_ = []; (function next(t) { window.frames_.push(t); requestAnimationFrame(next); })(performance.now())")
        x, y = page.middle("#map")
        page.run("window.frames_.length = 0")
        start = time.monotonic()
        while time.monotonic() - start < 2:
            page.drag((x, y), (x + 200, y + 60), steps=20)
            page.drag((x, y), (x - 200, y - 60), steps=20)
        frames = page.run("window.frames_.length") / (time.monotonic() - start)
        shown = len(world.clusters(bucket="airports", zoom=3, bits=2)["clusters"])
        print(f"    {frames:.0f} frames a second while {shown} clusters of the world move")


# MARK: Running them

def units(world):
    """Names and failures of the pure modules' tests, run in the page's own origin."""
    with world.web() as server, world.page(server, path="/units/empty.html", allowed=["404"]) as page:
        return page.run("import('/units/all.js').then((tests) => tests.run())")


def run(world, words):
    """Runs the tests whose names have one of the words; how many passed, how many failed."""
    passed = failed = 0
    results = [(f"{name}", failure) for name, failure in units(world)] if not words or "units" in words else []
    for name, failure in results:
        if failure:
            print(f"failed: {name}\n    {failure}")
        passed, failed = passed + (not failure), failed + bool(failure)
    if results:
        print(f"pure modules: {passed} of {len(results)}", flush=True)
    for name, test in [(name, test) for name, test in globals().items() if name.startswith("test_")]:
        if words and not any(word in name for word in words):
            continue
        begun = time.monotonic()
        try:
            test(world)
        except Exception as error:
            failed += 1
            what = str(error) if isinstance(error, Failure) else traceback.format_exc()
            print(f"failed: {test.__doc__}\n    ({name}) {what}", flush=True)
        else:
            passed += 1
            print(f"passed: {test.__doc__} ({time.monotonic() - begun:.1f} s)", flush=True)
    return passed, failed
