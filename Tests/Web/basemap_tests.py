"""What lies under the objects: names of places, tiles of servers, archives of tiles."""
import tiles
from browser import Failure
from world import pixel, same, settled, view, waits

FAR = {"type": "geobox", "field": "location", "box": {"sw": {"_type": "point", "lat": -60, "lon": -180}, "ne": {"_type": "point", "lat": -50, "lon": 180}}}


def ink(page, lat, lon, left=-2, top=-6, right=40, bottom=6):
    """How many points of the marks' canvas are drawn in a box around a place."""
    x, y = pixel(page, lat, lon)
    return page.run(f"""(() => {{ const c = document.querySelector("canvas.marks"), r = c.getBoundingClientRect();
        const {{ data }} = c.getContext("2d").getImageData({x} - r.x + {left}, {y} - r.y + {top}, {right - left}, {bottom - top});
        return data.filter((value, at) => at % 4 === 3 && value > 100).length; }})()""")


def ground(page, lat, lon):
    """The colour of the uppermost tile of the base map at a place: red, green, blue."""
    x, y = pixel(page, lat, lon)
    return page.run(f"""(() => {{
        const at = [...document.querySelectorAll(".leaflet-tile-pane canvas, .leaflet-tile-pane img")].filter((e) => {{
            const r = e.getBoundingClientRect(); return r.left <= {x} && {x} < r.right && r.top <= {y} && {y} < r.bottom && (e.width > 0); }}).at(-1);
        if (!at) return null;
        const r = at.getBoundingClientRect(), c = document.createElement("canvas");
        c.width = c.height = 1;
        const scale = (at.naturalWidth ?? at.width) / r.width;
        c.getContext("2d").drawImage(at, ({x} - r.x) * scale, ({y} - r.y) * scale, 1, 1, 0, 0, 1, 1);
        return [...c.getContext("2d").getImageData(0, 0, 1, 1).data.slice(0, 3)]; }})()""")


def colour(page, name):
    return page.run(f"""(() => {{ const i = document.createElement("i"); i.style.color = "var(--{name})"; document.body.append(i);
        const c = getComputedStyle(i).color.match(/\\d+/g).map(Number).slice(0, 3); i.remove(); return c; }})()""")


def waits_for(page, found, expected, what):
    if not waits(lambda: found() == expected):
        raise Failure(f"{what}: {found()!r}, expected {expected!r}")


def credits(page):
    return page.text(".leaflet-control-attribution")


def test_names_of_places(world):
    """Cities are named where no object is, far away the largest alone, and it is told whose names they are."""
    cities = {"Paris": (48.8534, 2.3488), "Osaka": (34.6937, 135.5022), "Windhoek": (-22.5594, 17.0832)}
    for name, (lat, lon) in cities.items():
        with world.opened(view(bucket="airports", at=f"{lat},{lon},8", clause=FAR)) as page:
            same(waits(lambda: ink(page, lat, lon) > 40), True, name)
            same("GeoNames (CC BY)" in credits(page), True, credits(page))
            links = page.run("[...document.querySelectorAll('.leaflet-control-attribution a')].map((a) => a.href)")
            same("https://creativecommons.org/licenses/by/4.0/" in links, True, links)
    with world.opened(view(bucket="airports", at="48.8,2.3,3", clause=FAR)) as page:
        same(waits(lambda: ink(page, 48.8534, 2.3488, -60, -60, 60, 60) > 20), True, "something is named")
        same(ink(page, 47.39, 0.69), 0, "Tours is not named from afar")


def test_tiles_of_images(world):
    """Tiles of a server lie under the objects: the page may load them and nothing else, and says whose they are."""
    green, blue = tiles.png(0, 128, 0), tiles.png(0, 0, 255)
    with tiles.server(lambda path: ("image/png", blue if path == "/t/3/4/2.png" else green) if "nothing" not in path else None) as (url, asked):
        flags = ["--web-basemap", url + "/t/{z}/{x}/{y}.png", "--web-basemap-attribution", "© <b>Somebody</b>"]
        with world.serving(*flags) as site, world.page(site, view(bucket="airports", at="45,20,3", clause=FAR), allowed=["Content Security Policy"]) as page:
            settled(page)
            page.until("document.querySelectorAll('.images img.leaflet-tile-loaded').length > 3", "the tiles are there")
            page.until("document.querySelector('.leaflet-control-attribution').textContent.includes('© <b>Somebody</b>')", "the credit is there")
            same("GeoNames" in credits(page), False, credits(page))
            same(("/t/3/4/2.png", site.url + "/") in asked, True, asked[:4])
            same(ink(page, 48.8534, 2.3488), 0, "the page's own names are gone")
            refused = page.run(f"new Promise((done) => {{ const i = new Image(); i.onload = () => done(false); i.onerror = () => done(true); i.src = '{url.replace('127.0.0.1', 'localhost')}/t/0/0/0.png'; }})")
            same(refused, True, "images of other origins")
        flags = ["--web-basemap", url + "/nothing/{z}/{x}/{y}.png"]
        with world.serving(*flags) as site, world.page(site, view(bucket="airports", at="48.8534,2.3488,8", clause=FAR), allowed=["404"]) as page:
            settled(page)
            page.until("document.querySelector('.leaflet-control-attribution').textContent.includes('does not answer')", "it is told that no tile comes")
            same(waits(lambda: ink(page, 48.8534, 2.3488) > 40), True, "the page's own names are there")


def plain_tile(z, x, y):
    """Water in the western half of each tile, a wood in the east, and a town in the middle."""
    return tiles.layer("water", [(3, [[(0, 0), (2048, 0), (2048, 4096), (0, 4096)]], {})]) \
        + tiles.layer("landcover", [(3, [[(2048, 0), (4096, 0), (4096, 4096), (2048, 4096)]], {"class": "wood"})]) \
        + tiles.layer("place", [(1, [[(1024, 1024)]], {"class": "town", "name": f"Town {z}-{x}-{y}"})])


def looks_right(page):
    """The tile of zoom 2 that reaches from 0° to 90° east and from the equator north: its water, its wood, its town."""
    waits_for(page, lambda: ground(page, 30, 20), colour(page, "water"), "the water")
    waits_for(page, lambda: ground(page, 30, 70), colour(page, "green"), "the wood")


def test_vector_tiles(world):
    """Vector tiles are drawn in the page's colours, in light and in dark, and their places are named."""
    with tiles.server(lambda path: ("application/x-protobuf", plain_tile(*map(int, path[3:-4].split("/"))))) as (url, asked):
        flags = ["--web-basemap", url + "/v/{z}/{x}/{y}.mvt", "--web-basemap-zoom", "2"]
        for dark in (False, True):
            with world.serving(*flags) as site, world.page(site, view(bucket="airports", at="30,40,3", clause=FAR), dark=dark) as page:
                settled(page)
                looks_right(page)
                same(waits(lambda: ink(page, 55.78, 22.5) > 40), True, "the town is named")
        same({path.split("/")[2] for path, _ in asked}, {"2"}, "deeper levels are made of the deepest that there is")


def test_archive(world):
    """An archive of tiles is read from the service by ranges, through directories below its root."""
    every = {(z, x, y): plain_tile(z, x, y) for z in range(4) for x in range(2 ** z) for y in range(2 ** z)}
    file = world.folder / "vector.pmtiles"
    file.write_bytes(tiles.archive(every, 1, {"attribution": "<a href='https://example.org'>Ours</a>"}, leaf=16))
    with world.serving("--web-basemap-file", str(file)) as site:
        for at, lon, kind in (("30,40,2", 40, "water"), ("30,40,3", 40, "green"), ("30,10,5", 10, "water"), ("30,34,5", 34, "green")):
            with world.page(site, view(bucket="airports", at=at, clause=FAR)) as page:
                settled(page)
                waits_for(page, lambda: ground(page, 30, lon), colour(page, kind), at)
                same(waits(lambda: "Ours" in credits(page)), True, credits(page))
        with world.page(site, view(bucket="airports", at="30,40,3", clause=FAR)) as page:
            settled(page)
            waits_for(page, lambda: ground(page, 30, 20), colour(page, "water"), "the water at zoom 3")
            statuses = {response["response"]["status"] for response in page.take("Network.responseReceived") if "basemap.pmtiles" in response["response"]["url"]}
            same(statuses, {206}, "answers of the archive")


def test_archive_of_images(world):
    """The tiles of an archive may be images."""
    file = world.folder / "images.pmtiles"
    file.write_bytes(tiles.archive({(1, x, y): tiles.png(200 * x, 200 * y, 50) for x in range(2) for y in range(2)}, 2, {}))
    with world.serving("--web-basemap-file", str(file), "--web-basemap-attribution", "Ours too") as site:
        for zoom in (1, 4):
            with world.page(site, view(bucket="airports", at=f"10,-10,{zoom}", clause=FAR), width=700, height=700) as page:
                settled(page)
                waits_for(page, lambda: ground(page, 11, -11), [0, 0, 50], "the north-west")
                waits_for(page, lambda: ground(page, -11, 11) if zoom == 1 else [200, 200, 50], [200, 200, 50], "the south-east")
                same("Ours too" in credits(page), True, credits(page))
