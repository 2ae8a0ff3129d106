"""The page itself: its address, the keyboard, a phone, dark."""
import json, time

from world import address, clause, count_of, ids, point, same, settled, view, waits


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
