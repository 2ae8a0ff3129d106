"""The first page: the buckets, where each is found, and lines for other programs."""
import json, shutil, subprocess, tempfile, urllib.request

from world import address, point, same


def text_of(page, program):
    return page.run(f"[...document.querySelectorAll('#lines dt')].find((e) => e.textContent === {json.dumps(program)}).nextElementSibling.querySelector('pre').textContent")


def test_catalogue(world):
    """The root lists the buckets with their counts; their links lead to the map, to features and to tiles that are there."""
    bucket = world.bucket()
    world.put(bucket, "aa", home=point(1, 2), work=point(3, 4))
    for size in (dict(width=1280, height=800), dict(width=375, height=667, phone=True)):
        with world.page(world.site, path="/", **size) as page:
            page.until("document.querySelectorAll('#lines pre').length === 4", "the page is there")
            same(page.run("document.documentElement.scrollWidth"), size["width"])
            links = dict(page.run("[...document.querySelectorAll('#buckets li')].map((e) => [e.querySelector('.name').textContent, [...e.querySelectorAll('.links a')].map((a) => a.href)])"))
            same(len(links["airports"]), 3)
            same(len(links[bucket]), 5)
            for link in links["airports"] + links[bucket]:
                same(urllib.request.urlopen(link).status, 200, link)
            same("6,179 objects" in page.text("#buckets"), True)
            same(page.run("document.querySelector('#bucket').value"), "airports", "the largest bucket comes first")
            page.choose("#bucket", bucket)
            page.until(f"document.querySelector('#lines').textContent.includes('{bucket}')", "the lines are of the other bucket")
            page.run(f"[...document.querySelectorAll('#buckets .name')].find((e) => e.textContent === '{bucket}').click()")
            page.until("document.querySelector('#summary')?.textContent.includes('1 object')", "the map has opened the bucket")
            same(address(page)["bucket"], bucket)
            page.click(".brand")
            page.until("document.querySelectorAll('#lines pre').length === 4", "the name of the program leads back")


def test_lines_for_programs(world):
    """The lines of the catalogue work as they are pasted."""
    with world.page(world.site, path="/") as page:
        page.until("document.querySelectorAll('#lines pre').length === 4", "the page is there")
        same(len(world.shell(text_of(page, "Shell")).splitlines()), 11)
        same(json.load(urllib.request.urlopen(text_of(page, "QGIS")))["links"] != [], True)
        source = text_of(page, "MapLibre").splitlines()[0]
        found = json.load(urllib.request.urlopen(json.loads(source[source.index("{"):-2])["url"]))
        same([layer["id"] for layer in found["vector_layers"]], ["clusters", "objects"])
        if shutil.which("ogr2ogr"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["bash", "-c", text_of(page, "GDAL")], check=True, cwd=folder, timeout=120)
                told = subprocess.run(["ogrinfo", "-so", "-al", "airports.gpkg"], check=True, cwd=folder, capture_output=True, text=True).stdout
                same("Feature Count: 6179" in told, True, told)


def test_catalogue_of_an_empty_store(world):
    """Where there are no buckets, the catalogue says how to make one."""
    with world.serving() as site:
        site.call("bucket.delete", bucket="airports")
        with world.page(site, path="/") as page:
            page.until("document.querySelector('#buckets pre')", "the command is there")
            same(page.text("#buckets pre"), f"geobucket load FILE --bucket NAME \\\n  --server {site.line}")
            same(page.run("document.querySelector('#programs').hidden"), True)
