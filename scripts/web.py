#!/usr/bin/env python3
"""Tests the map page in headless Chromium: its pure modules, then what a person sees and does.

    scripts/web.py                        # all of it, with the program in .build
    scripts/web.py --only clusters live   # tests whose names have one of these words
    scripts/web.py --pictures FOLDER      # and pictures of the page, to look at

Needs Debian's packages chromium and libjs-leaflet, and a built program; without a package it says so and is skipped.
The page runs against a real service, through Tests/Web/standin.py in place of the service's own web port.
"""
import argparse, gzip, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "Tests/Web")]
sys.dont_write_bytecode = True

import browser, page_tests, service, world  # noqa: E402

LEAFLET = "/usr/share/javascript/leaflet/leaflet.js"


def missing():
    """The packages that are not there."""
    return ([] if browser.find() else [browser.PACKAGE]) + ([] if os.path.exists(LEAFLET) else ["libjs-leaflet"])


def load_sample(program, port, folder):
    sample = os.path.join(folder, "airports.ndjson")
    with gzip.open(ROOT / "Data/airports-main.ndjson.gz") as packed, open(sample, "wb") as plain:
        plain.write(packed.read())
    subprocess.run([program, "load", sample, "--bucket", "airports", "--server", f"127.0.0.1:{port}"], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = next((path for path in (".build/debug/geobucket", service.RELEASE) if (ROOT / path).exists()), service.RELEASE)
    parser.add_argument("--geobucket", default=str(ROOT / default), type=service.program, metavar="PROGRAM", help=f"({default})")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only tests whose names have one of these words")
    parser.add_argument("--pictures", metavar="FOLDER", help="makes pictures of the page instead of testing it")
    options = parser.parse_args()
    if packages := missing():
        print(f"geobucket: the tests of the map page are skipped; they need: apt-get install {' '.join(packages)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="geobucket-web-") as folder, \
            service.serving(options.geobucket, os.path.join(folder, "store.sqlite")) as ports:
        load_sample(options.geobucket, ports["ready"], folder)
        with browser.Browser() as chromium:
            tested = world.World(chromium, ports["ready"], options.geobucket)
            if options.pictures:
                import pictures
                pictures.make(tested, pathlib.Path(options.pictures))
                return 0
            passed, failed = page_tests.run(tested, options.only)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
