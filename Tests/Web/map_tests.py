"""The map: what it opens with, clusters, the antimeridian, several places."""
import time

import cells
from browser import Failure
from world import address, clause, ids, is_drawn, pixel, point, same, settled, view, waits, zoom_of


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


def test_counts_of_clusters(world):
    """The clusters that the page asks for are what a count of all objects, one by one, gives."""
    large = {"type": "range", "field": "runway_m", "lowerLimit": 2500}
    for clause_ in (None, large):
        query = {"clause": clause_} if clause_ else {}
        objects = list(world.all("airports", query))
        for zoom in (0, 3, 6):
            answer = world.clusters(bucket="airports", zoom=zoom, bits=2, bucketQuery=query, fields=[])
            found = [(c["cell"], c["count"], c["object"]["_id"] if c["count"] == 1 else None) for c in answer["clusters"]]
            same(found, cells.clusters(objects, "location", zoom + 2), (clause_, zoom))
            same(answer["total"], len(objects))


def test_no_leaflet(world):
    """Without Leaflet the page names the package to install, and the results are there all the same."""
    with world.serving("--web-assets", str(world.folder)) as site, world.page(site, view(bucket="airports"), allowed=["404", "assets/leaflet"]) as page:
        settled(page)
        page.until("document.querySelector('#map-note').textContent.includes('libjs-leaflet')", "the note is there")
        same(len(ids(page)), 50)


def test_empty_and_unknown_buckets(world):
    """A bucket that does not exist is told, with the nearest name; a name that is none is refused where it is shown."""
    with world.opened(view(bucket="airprots")) as page:
        same(page.text("#summary").split(".")[0], "No object matches")
        told = 'There is no bucket "airprots"; the nearest is "airports".'
        page.until("document.querySelector('#summary').textContent.includes('no bucket')", "the reason is told")
        same(page.text("#summary"), f"No object matches. {told}")
        same(page.text("#map-note"), told)
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
