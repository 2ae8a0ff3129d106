"""Results: the table and the map, values of every type, live queries."""
import json

from world import address, clause, ids, is_drawn, pixel, point, same, view, waits


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
        expected = [item["_id"] for item in world.all("airports", {"clause": {"type": "eq", "field": "country", "value": "JP"}, "orderBy": "runway_m", "descending": True})]
        same(ids(page), expected)


def test_objects_without_a_place(world):
    """Objects without a place are counted and told, come last where distance orders, and a click shows them alone."""
    bucket = world.bucket()
    objects = [{"_id": f"o{number:03}", "n": number, **({"at": point(number % 50, number)} if number % 2 else {})} for number in range(150)]
    world.call("object.putMany", bucket=bucket, objects=objects)
    with world.opened(view(bucket=bucket)) as page:
        same(page.text("#summary").split(" Answered")[0], "150 objects match, 75 of them without a place.")
        same(len(ids(page)), 50)
        for _ in range(6):
            if page.run("document.querySelector('#more').hidden"):
                break
            before = len(ids(page))
            page.run("document.querySelector('#more').click()")
            page.until(f"document.querySelectorAll('#body tr').length > {before}", "the next page is there")
        same(page.text("#results-end"), "That is all: 150 objects.")
        same(ids(page)[75:], [item["_id"] for item in objects if "at" not in item])
        page.click("#placeless")
        page.until("document.querySelector('#summary').textContent.startsWith('75 objects match.')", "those without a place are there")
        same(clause(page), {"type": "not", "clause": {"type": "hasField", "field": "at", "fieldType": "GEOPOINT"}})
        same(page.run("document.querySelector('#placeless').hidden"), True)
    small = {"type": "range", "field": "n", "upperLimit": 2}
    with world.opened(view(bucket=bucket, clause={"type": "or", "clauses": [small, {"type": "eq", "field": "n", "value": 4}]})) as page:
        same(page.text("#summary").split(" Answered")[0], "4 objects match, 3 of them without a place.")
        page.until("document.querySelectorAll('#body tr').length === 1", "the one with a place is there")
        page.run("document.querySelector('#more').click()")
        page.until("document.querySelectorAll('#body tr').length === 4", "the others are there")
        same(ids(page), ["o001", "o000", "o002", "o004"])
    with world.opened(view(bucket=bucket, clause={"type": "eq", "field": "n", "value": 4})) as page:
        page.until("document.querySelectorAll('#body tr').length === 1", "it is there")
        same(page.text("#summary").split(" Answered")[0], "1 object matches, without a place.")


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
    everything = {"s": '日本 "q"', "i": 12345678901234567890, "d": 0.1, "t": True, "n": None, "a": [1, "x", {"y": None}],
                  "o": {"city": "Oslo", "deep": {"at": point(59.9, 10.7)}}, "e": {}}
    world.call("object.put", bucket=bucket, id="all", object=everything)
    with world.opened(view(bucket=bucket, object="all")) as page:
        page.until("document.querySelector('#details dl')", "the object is shown")
        text = page.text("#details dl")
        for part in ('日本 "q"', "12345678901234567890", "0.1", "true", "null", '{"y":null}', "Oslo", "59.9, 10.7"):
            same(part in text, True, f"{part} in {text}")
        page.click("dd.integer .only")
        page.until("document.querySelector('#summary').textContent.startsWith('1 object')", "the long number finds its object")
        same("12345678901234567890" in page.run("document.querySelector('#clause').value"), True)
        same("deep.at" in page.run("location.hash") or page.run("document.querySelector('#field-choice').hidden"), True)


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


def test_refused_live_query(world):
    """A live query that the service refuses says why, and the ordinary results stay."""
    wrong = {"type": "eq", "field": "x", "value": [1]}
    with world.page(world.site, view(bucket="airports", clause=wrong, live="1"), allowed=["400"]) as page:
        page.until("document.querySelector('#summary').textContent.startsWith('No live query')", "the refusal is told")
        same(page.run("document.querySelector('#live').getAttribute('aria-checked')"), "false")
        same(page.run("document.querySelector('.row-error').hidden"), False)
