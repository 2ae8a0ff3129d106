"""Figures of the map page on a large bucket: the time to the first view, and frames while the map moves."""
import json, statistics, subprocess, time

from world import settled, view

# Notes the moment at which the results are told and the canvas has marks on it.
WATCH = """(() => {
    const isDrawn = () => { const c = document.querySelector("canvas.marks");
        return c && c.width > 0 && c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((part) => part > 200); };
    const look = () => { if (!document.body?.classList.contains("is-searching") && /match/.test(document.querySelector("#summary")?.textContent ?? "") && isDrawn())
        window.firstView = performance.now(); else requestAnimationFrame(look); };
    requestAnimationFrame(look); })()"""
FRAMES = "(() => { window.frameTimes = []; (function next(t) { window.frameTimes.push(t); requestAnimationFrame(next); })(performance.now()); })()"
SIZE = {"width": 1920, "height": 1200}


def measure(world, objects):
    """Prints the figures, as rows of a table."""
    line = ["--server", world.site.line, "--bucket", "places"]
    subprocess.run([world.program, "loadtest", *line, "--prepare", str(objects), "--rate", "10", "--seconds", "1", "--warm-up", "0"],
                   check=True, stdout=subprocess.DEVNULL)
    print("| | |\n| --- | --- |")
    views = [first_view(world) for _ in range(5)]
    print(f"| first view, ms | {row(views)} |", flush=True)
    moves(world, "the world", view(bucket="places", at="20,0,4"))
    moves(world, "Europe", view(bucket="places", at="48,8,6"))


def row(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def first_view(world):
    page = world.browser.page("about:blank", **SIZE)
    try:
        page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.go(f"{world.site.url}/map")
        page.until("window.firstView", "the first view is there", seconds=60)
        return page.run("window.firstView")
    finally:
        page.close()


def moves(world, what, fragment):
    """Drags the map to and fro, as fast as a hand does, sixty pointer events a second."""
    with world.page(world.site, fragment, **SIZE) as page:
        settled(page)
        page.run("document.querySelector('#fold').click()")
        time.sleep(2)
        shown = clusters(page)
        x, y = page.middle("#map")
        page.run(FRAMES)
        begun = time.monotonic()
        for _ in range(5):
            stroke(page, (x + 300, y + 100), (x - 300, y - 100))
            stroke(page, (x - 300, y - 100), (x + 300, y + 100))
        seconds = time.monotonic() - begun
        times = page.run("window.frameTimes")
        gaps = sorted(b - a for a, b in zip(times, times[1:]))
        print(f"| {what}: circles; frames a second; frame, median, p99, longest, ms | {shown}; {len(gaps) / seconds:.0f}; "
              f"{statistics.median(gaps):.1f}, {gaps[int(len(gaps) * 0.99)]:.1f}, {gaps[-1]:.1f} |", flush=True)


def stroke(page, start, end, seconds=1.0, rate=60):
    """A drag whose events come when they are due, however long the page takes for each."""
    page.move_to(*start)
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], button="left", clickCount=1)
    begun = time.monotonic()
    while (part := (time.monotonic() - begun) / seconds) < 1:
        page.move_to(*(a + (b - a) * part for a, b in zip(start, end)), pressed=True)
        time.sleep(max(0, 1 / rate - (time.monotonic() - begun) % (1 / rate)))
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)


def clusters(page):
    """How many clusters the page has had in its last answer."""
    counts = []
    for event in page.take("Network.responseReceived"):
        if "/rpc?" in event["response"]["url"]:
            body = json.loads(page.call("Network.getResponseBody", requestId=event["requestId"])["body"])
            counts += [len(body["result"]["clusters"])] if "clusters" in (body.get("result") or {}) else []
    return counts[-1]
