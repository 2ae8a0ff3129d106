"""The page itself: its address, the keyboard, a phone, dark."""
import json, time

from world import address, clause, count_of, ids, pixel, point, same, settled, view, waits


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


def test_keys_after_a_click(world):
    """After a click on a row the arrows go on from it, Enter shows another, and Escape closes that, from wherever the focus is."""
    with world.opened(view(bucket="airports", at="35.6812,139.7671,7")) as page:
        page.click("#body tr:nth-child(2) td:nth-child(3)")
        page.until("!document.querySelector('#details').hidden", "the object is shown")
        page.key("ArrowDown")
        same(page.run("document.activeElement.textContent"), ids(page)[2])
        page.key("Enter")
        page.until(f"location.hash.includes('object={ids(page)[2]}')", "the next object is chosen")
        page.key("Escape")
        page.until("document.querySelector('#details').hidden", "the object is closed")
        same("object" in address(page), False)
        page.click("#body tr:nth-child(2) td:nth-child(3)")
        page.until("!document.querySelector('#details').hidden", "the object is shown again")
        page.run("document.querySelector('.details .close').focus()")
        page.key("Escape")
        page.until("document.querySelector('#details').hidden", "the object is closed again")
        same(page.run("document.activeElement.textContent"), ids(page)[1], "the focus is at its row")
        page.click("#body tr:nth-child(2) td:nth-child(3)")
        page.until("!document.querySelector('#details').hidden", "the object is there")
        page.click("#columns summary")
        page.key("Escape")
        same(page.run("[document.querySelector('#columns').open, document.querySelector('#details').hidden]"), [False, False], "Escape closes the menu first")


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


def box(page, selector):
    """Left, top, right and bottom of an element."""
    return page.run(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; }})()")


def test_object_beside_its_fields(world):
    """The fields of an object do not lie over the place that they are about, on a phone as on a desk."""
    for size in (dict(width=375, height=667, phone=True), dict(width=1280, height=800)):
        for at in ("35.4,139.7,9", "35.55,139.3,9", "35.7,139.5,8"):
            with world.opened(view(bucket="airports", at=at, object="RJTT"), **size) as page:
                page.until("!document.querySelector('#details').hidden", "the object is shown")
                haneda = world.call("object.get", bucket="airports", id="RJTT")["location"]

                def is_free():
                    (x, y), (left, top, right, bottom) = pixel(page, haneda["lat"], haneda["lon"]), box(page, "#details")
                    return not (left < x < right and top < y < bottom)
                same(waits(is_free), True, (size, at))


def test_columns_on_a_phone(world):
    """On a phone the choice of columns lies over nothing, and does what it says."""
    with world.opened(view(bucket="airports"), width=375, height=667, phone=True) as page:
        page.click(".tabs [data-pane=results]")
        page.click("#columns summary")
        lower, upper = box(page, "#column-list")[3], box(page, "#table-frame")[1]
        same(lower <= upper + 1, True, (lower, upper))
        same(box(page, "#summary")[1] >= box(page, "#results")[1], True, "the summary is in the sheet")
        page.click("#column-list label:nth-of-type(1) input")
        same("name" in page.run("[...document.querySelectorAll('#head th')].map((cell) => cell.textContent)"), False)


def test_many_buckets(world):
    """A list of buckets that is longer than its room says how many there are, is cut within a row, and shows the open one."""
    with world.serving() as site:
        for number in range(19):
            site.call("object.put", bucket=f"zone-{number:02}", id="aa", object={"at": point(1, number)})
        for size in (dict(width=1280, height=800), dict(width=375, height=667, phone=True)):
            with world.page(site, view(bucket="zone-18"), **size) as page:
                settled(page)
                if size["width"] < 800:
                    page.click(".tabs [data-pane=query]")
                same(page.text("#buckets-count"), "20")
                page.run("document.querySelector('#buckets').scrollTop = 0")
                lower = box(page, "#buckets")[3]
                cut = page.run(f"[...document.querySelectorAll('#buckets li')].filter((e) => {{ const r = e.getBoundingClientRect(); return r.top < {lower} - 6 && r.bottom > {lower} + 6; }}).length")
                same(cut, 1, "a row is cut")
            with world.page(site, view(bucket="zone-18"), width=1280, height=800) as page:
                settled(page)
                same(box(page, ".bucket[aria-current]")[3] <= box(page, "#buckets")[3], True, "the open bucket is in sight")


def test_empty_store(world):
    """A store without buckets says how to make one: a command that is not broken within a flag, and works."""
    for size in (dict(width=1280, height=800), dict(width=375, height=667, phone=True)):
        with world.serving() as site:
            site.call("bucket.delete", bucket="airports")
            with world.page(site, **size) as page:
                page.until("document.querySelector('#buckets pre')", "the command is there")
                same(page.text("#buckets pre"), f"geobucket load FILE --bucket NAME \\\n  --server {site.line}")
                if size["width"] < 800:
                    page.click(".tabs [data-pane=query]")
                same(page.run("getComputedStyle(document.querySelector('#buckets pre')).whiteSpace"), "pre")


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
