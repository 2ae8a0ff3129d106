"""Queries: built by clicking and typing, drawn, as JSON, as commands, explained."""
import json, shutil

from world import clause, count_of, ids, pixel, point, same, settled, view


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
        # The table before the circle has a first row of 14.4 km too, by the middle of the map; only all four tell.
        distances = "[...document.querySelectorAll('#body td:nth-child(2)')].map((cell) => cell.textContent).join()"
        page.until(f"{distances} === '14.4 km,38.6 km,56.6 km,80.6 km'", "the distances are from the new centre")
        settled(page)
        same(ids(page), ["RJTT", "RJTY", "RJAA", "RJAH"])
        same(clause(page)["clauses"][0], {"type": "eq", "field": "lighted", "value": True})
        same(page.run("document.querySelector('#line-port').value"), world.site.line, "the line port")
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
            page.fill("#line-port", world.site.line)
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
    with world.page(world.site, view(bucket="airports", at="35,139,6", clause=wrong)) as page:
        page.until("document.querySelector('.row.is-wrong .row-error')?.textContent.includes('Radius')", "the condition says what is wrong")
        same(page.run("[...document.querySelectorAll('.row')].map((row) => row.classList.contains('is-wrong'))"), [False, True])
        settled_errors = "[...document.querySelectorAll('.error, #map-note')].filter((e) => e.checkVisibility()).map((e) => e.textContent)"
        same(page.run(settled_errors), ["Radius must be greater than 0."], "the error stands in one place")
        page.fill("input[aria-label=Radius]", "50 km")
        page.until("!document.querySelector('.row.is-wrong') && document.querySelector('#summary').textContent.includes('match')", "the error is gone")


def test_error_in_one_of_several(world):
    """Where one of several conditions may hold, the one that is wrong says so, whatever the order adds to the clause."""
    wrong = {"type": "or", "clauses": [{"type": "eq", "field": "country", "value": "JP"}, {"type": "geodistance", "field": "location", "center": point(35, 139), "radius": -5}]}
    for order in ("near", "created"):
        with world.page(world.site, view(bucket="airports", at="35,139,6", clause=wrong, order=order)) as page:
            page.until("document.querySelectorAll('.row.is-wrong').length === 1", "a condition is wrong")
            page.until("!document.body.classList.contains('is-searching')", "the answers are there")
            same(page.run("[...document.querySelectorAll('.row')].map((row) => row.classList.contains('is-wrong'))"), [False, True])


def test_fields_of_shapes(world):
    """The fields of circles and boxes show all that they hold, on a phone too, and a corner that is typed moves the box."""
    circle = {"type": "geodistance", "field": "location", "center": point(-35.681236, -139.767125), "radius": 123456.7, "putDistanceInto": "distance"}
    box = {"type": "geobox", "field": "location", "box": {"sw": point(-33.123456, -139.123456), "ne": point(-33.023456, 139.123456)}}
    for size in (dict(width=1280, height=800), dict(width=375, height=667, phone=True)):
        with world.opened(view(bucket="airports", at="35,139,6", clause={"type": "or", "clauses": [circle, box]}), **size) as page:
            if size["width"] < 800:
                page.click(".tabs [data-pane=query]")
            clipped = "[...document.querySelectorAll('.shape input')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.value)"
            same(page.run(clipped), [], size)
            same(page.run("document.querySelectorAll('.shape input').length"), 4)
            page.fill("input[aria-label='North, east']", "-20, 10")
            page.until("document.querySelector('#clause').value.includes('-20')", "the box is larger")
            same(clause(page)["clauses"][1]["box"], {"ne": point(-20, 10), "sw": point(-33.123456, -139.123456)})


def test_why_nothing_matches(world):
    """A query that finds nothing says why, if that is known: no such field, values of other types."""
    for wrong, told in (({"type": "range", "field": "runwy_m", "lowerLimit": 2500}, 'No object has the field "runwy_m"; the nearest is "runway_m".'),
                        ({"type": "eq", "field": "kind", "value": 3}, None), ({"type": "eq", "field": "country", "value": "XX"}, "")):
        with world.opened(view(bucket="airports", clause=wrong)) as page:
            page.until("document.querySelector('#summary').textContent.startsWith('No object matches.')", "nothing is found")
            if told == "":
                same(page.text("#summary").startswith("No object matches. Answered in"), True, page.text("#summary"))
                continue
            page.until("!document.querySelector('#summary').textContent.includes('Answered')", "the reason is told")
            if told:
                same(page.text("#summary"), f"No object matches. {told}")


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


def test_dragging_a_handle(world):
    """A circle's edge can be dragged; the results follow."""
    circle = {"type": "geodistance", "field": "location", "center": point(35.6812, 139.7671), "radius": 50000, "putDistanceInto": "distance"}
    with world.opened(view(bucket="airports", at="35.6812,139.7671,8", clause=circle)) as page:
        before = count_of(page)
        start = page.middle(".handle.edge")
        page.drag(start, (start[0] + 120, start[1]))
        page.until("JSON.parse(document.querySelector('#clause').value).radius > 60000", "the radius is longer")
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
