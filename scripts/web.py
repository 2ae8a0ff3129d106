#!/usr/bin/env python3
"""Tests the map page in headless Chromium, served by a service: its pure modules, then what a person sees and does.

    scripts/web.py                        # all of it, with the program in .build
    scripts/web.py --only clusters live   # tests whose names have one of these words
    scripts/web.py --pictures FOLDER      # pictures of the page, to look at
    scripts/web.py --measure 1000000 --geobucket .build/release/geobucket    # how it does with so many objects

Needs Debian's packages chromium and libjs-leaflet, and a built program. Without a package it says so and is skipped,
which exit status 3 tells.
"""
import argparse, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "Tests/Web")]
sys.dont_write_bytecode = True

import browser, page_tests, parts, service, world  # noqa: E402


def missing():
    """The packages that are not there."""
    return [package for name in ("chromium", "leaflet") if not parts.PARTS[name].is_there()
            for package in parts.PARTS[name].packages]


def make_sample(program, store):
    """A store with the airports, which nobody has open."""
    with service.serving(program, store, "--log-level", "error") as ports:
        subprocess.run([program, "load", ROOT / "Data/airports-main.ndjson.gz", "--bucket", "airports", "--server", f"127.0.0.1:{ports['ready']}"],
                       check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = next((path for path in (".build/debug/geobucket", service.RELEASE) if (ROOT / path).exists()), service.RELEASE)
    parser.add_argument("--geobucket", default=str(ROOT / default), type=service.program, metavar="PROGRAM", help=f"({default})")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only tests whose names have one of these words")
    parser.add_argument("--pictures", metavar="FOLDER", help="makes pictures of the page instead of testing it")
    parser.add_argument("--measure", type=int, metavar="OBJECTS", help="measures the page on so many objects instead")
    options = parser.parse_args()
    if packages := missing():
        print(f"geobucket: skipped: the tests of the map page; they need: apt-get install {' '.join(packages)}")
        return 3
    with tempfile.TemporaryDirectory(prefix="geobucket-web-") as folder, browser.Browser() as chromium:
        tested = world.World(chromium, options.geobucket, pathlib.Path(folder))
        make_sample(options.geobucket, tested.sample)
        with tested.serving() as tested.site:
            if options.pictures:
                import pictures
                pictures.make(tested, pathlib.Path(options.pictures))
                return 0
            if options.measure:
                import measure
                measure.measure(tested, options.measure)
                return 0
            passed, failed = page_tests.run(tested, options.only)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
