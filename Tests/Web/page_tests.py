"""Runs the tests of the map page: of its pure modules, then of what a person sees and does."""
import base64, pathlib, time, traceback

import basemap_tests, catalogue_tests, map_tests, query_tests, result_tests, service_tests, view_tests
from browser import Failure

UNITS = pathlib.Path(__file__).resolve().parent / "units"


def units(world):
    """Names and failures of the pure modules' tests, run in a page of the service, which does not have them."""
    with world.page(world.site, path="/login") as page:
        page.call("Fetch.enable", patterns=[{"urlPattern": "*/units/*"}])
        page.run("void import('/units/all.js').then((tests) => tests.run()).then((results) => { window.results = results; })")
        while (results := page.run("window.results ?? null")) is None:
            for request in page.take("Fetch.requestPaused"):
                body = (UNITS / pathlib.PurePosixPath(request["request"]["url"]).name).read_bytes()
                page.call("Fetch.fulfillRequest", requestId=request["requestId"], responseCode=200, body=base64.b64encode(body).decode(),
                          responseHeaders=[{"name": "Content-Type", "value": "text/javascript"}])
            if page.complaints():
                raise Failure("; ".join(page.complaints()))
        return results


def every_test():
    """Names and functions; the docstring of each is the rule that it holds."""
    for module in (catalogue_tests, map_tests, basemap_tests, query_tests, result_tests, view_tests, service_tests):
        yield from ((name, test) for name, test in list(vars(module).items()) if name.startswith("test_"))


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
    for name, test in every_test():
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
