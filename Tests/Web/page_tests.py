"""Runs the tests of the map page: of its pure modules, then of what a person sees and does."""
import time, traceback

import map_tests, query_tests, result_tests, view_tests
from browser import Failure


def units(world):
    """Names and failures of the pure modules' tests, run in the page's own origin."""
    with world.web() as server, world.page(server, path="/units/empty.html", allowed=["404"]) as page:
        return page.run("import('/units/all.js').then((tests) => tests.run())")


def every_test():
    """Names and functions; the docstring of each is the rule that it holds."""
    for module in (map_tests, query_tests, result_tests, view_tests):
        yield from ((name, test) for name, test in vars(module).items() if name.startswith("test_"))


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
