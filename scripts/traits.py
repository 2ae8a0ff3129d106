#!/usr/bin/env python3
"""Whether the modules that ask for a trait compile without it too. Only they are read, in some seconds, against the
others as the debug build has left them: `swift build --build-tests` comes first.

    scripts/traits.py
"""
import json, os, pathlib, re, subprocess, sys

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
BUILD = pathlib.Path(".build")
# Options of the build's command that matter here, and whether each has a value.
OPTIONS = {"-module-name": True, "-I": True, "-target": True, "-Xcc": True, "-swift-version": True,
           "-package-name": True, "-enable-upcoming-feature": True, "-enable-experimental-feature": True,
           "-parse-as-library": False}


def compiled_modules():
    """What the debug build called the compiler with, by module."""
    for line in (BUILD / "debug.yaml").read_text().splitlines():
        if line.startswith('    args: ["') and '"-emit-module"' in line:
            arguments = json.loads(line.partition(": ")[2])
            if "-module-name" in arguments:
                yield arguments[arguments.index("-module-name") + 1], arguments


def compiles(arguments):
    # Type checking alone would not find code that is never executed.
    chosen = [arguments[0], "-emit-sil", "-o", os.devnull, "-wmo", "-warnings-as-errors"]
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in OPTIONS:
            chosen += [argument] + ([next(rest)] if OPTIONS[argument] else [])
        elif argument.startswith("@"):
            chosen.append(argument)
    return subprocess.run(chosen).returncode == 0


def main():
    package = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    traits = [trait["name"] for trait in package["traits"] if trait["name"] != "default"]
    modules = {
        target["name"] for target in package["targets"] if target["type"] in ("regular", "executable")
        and any(re.search(rf"^\s*#if.*\b({'|'.join(traits)})\b", file.read_text(), re.MULTILINE)
                for file in pathlib.Path(target["path"]).rglob("*.swift"))}
    compiled = dict(compiled_modules())
    if missing := (modules or {"any module"}) - compiled.keys():
        sys.exit(f"geobucket: the debug build has not compiled {', '.join(sorted(missing))}; first: swift build --build-tests")
    failed = [name for name in sorted(modules) if not compiles(compiled[name])]
    if failed:
        sys.exit(f"geobucket: {', '.join(failed)} cannot do without {' and '.join(traits)}")
    print(f"without {' and '.join(traits)} compile too: {', '.join(sorted(modules))}")


main()
