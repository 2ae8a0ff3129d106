#!/usr/bin/env python3
"""Whether the modules that ask for a trait compile without it too. Only they are read, in some seconds, against the
others as the debug build has left them: `swift build --build-tests` comes first.

    scripts/traits.py
"""
import os, pathlib, re, sys
import debug_build

os.chdir(pathlib.Path(__file__).resolve().parent.parent)


def compiles(arguments):
    sources = [argument for argument in arguments if argument.startswith("@")]
    return debug_build.compiles(*debug_build.options(arguments), *sources)


def main():
    package = debug_build.described(".")
    traits = [trait["name"] for trait in package["traits"] if trait["name"] != "default"]
    modules = {
        target["name"] for target in package["targets"] if target["type"] in ("regular", "executable")
        and any(re.search(rf"^\s*#if.*\b({'|'.join(traits)})\b", file.read_text(), re.MULTILINE)
                for file in pathlib.Path(target["path"]).rglob("*.swift"))}
    if not modules:
        sys.exit(f"geobucket: no module asks for {' or '.join(traits)}; what is this script for?")
    compiled = debug_build.compiled_modules(*modules)
    failed = [name for name in sorted(modules) if not compiles(compiled[name])]
    if failed:
        sys.exit(f"geobucket: {', '.join(failed)} cannot do without {' and '.join(traits)}")
    print(f"without {' and '.join(traits)} compile too: {', '.join(sorted(modules))}")


main()
