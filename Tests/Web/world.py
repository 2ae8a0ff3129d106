"""What the tests of the map page share: the browser, services with a web port, and what a page shows."""
import contextlib, json, math, os, shutil, subprocess, tempfile, time, urllib.parse

import service
from browser import Failure
from wire import Connection


class Site:
    """A service with its web port."""

    def __init__(self, store, ports):
        self.store, self.ports = store, ports
        self.line = f"127.0.0.1:{ports['ready']}"
        self.url = f"http://127.0.0.1:{ports['web']}"

    def call(self, method, **params):
        with contextlib.closing(Connection(self.ports["ready"])) as connection:
            return connection.call(method, params)


class World:
    """A browser, and a service with the airports."""

    def __init__(self, browser, program, folder):
        self.browser, self.program, self.folder, self.site = browser, program, folder, None
        self.sample = folder / "airports.sqlite"
        self.numbers = iter(range(1, 1000))

    @contextlib.contextmanager
    def serving(self, *flags, again=None):
        """A service of its own with the airports, or one that has ended, on its store and ports."""
        ports = again.ports if again else {"ready": 0, "web": 0}
        store = again.store if again else shutil.copy(self.sample, self.folder / f"store-{next(self.numbers)}.sqlite")
        flags = ["--log-level", "error", "--web", f"127.0.0.1:{ports['web']}", *flags]
        with service.serving(self.program, store, *flags, listen=f"127.0.0.1:{ports['ready']}") as ports:
            yield Site(store, ports)

    @contextlib.contextmanager
    def page(self, site, view="", path="/map", allowed=(), **options):
        """A page of a service. Errors in its console, and refusals of its policy, fail the test."""
        page = self.browser.page(f"{site.url}{path}{view}", **options)
        try:
            yield page
            complaints = [text for text in page.complaints() if not any(word in text for word in allowed)]
            if complaints:
                raise Failure("the page complains: " + "; ".join(complaints))
        finally:
            page.close()

    @contextlib.contextmanager
    def opened(self, view="", **options):
        with self.page(self.site, view, **options) as page:
            settled(page)
            yield page

    def call(self, method, **params):
        return self.site.call(method, **params)

    def all(self, bucket, bucketQuery):
        """Every object of a query, over all its pages."""
        page = self.call("bucket.query", bucket=bucket, bucketQuery=bucketQuery)
        yield from page["results"]
        while key := page.get("nextPaginationKey"):
            page = self.call("bucket.query", bucket=bucket, bucketQuery=bucketQuery, paginationKey=key)
            yield from page["results"]

    def clusters(self, **params):
        return self.call("bucket.clusters", **params)

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


def waits(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def count_of(page):
    settled(page)
    time.sleep(0.5)
    settled(page)
    first = page.text("#summary").split()[0].replace(",", "")
    return 0 if first == "No" else int(first)
