#!/usr/bin/env python3
"""Whether the packages beside this one, Benchmarks and Fuzzing, compile with the modules as they are. Only their own
sources are read, in some seconds, against what the debug build has left: `swift build --build-tests` comes first.
`scripts/nightly.sh` builds and links them.

    scripts/packages.py
"""
import os, pathlib, sys, tempfile
import debug_build

os.chdir(pathlib.Path(__file__).resolve().parent.parent)


def imports(compiled):
    """Options by which every module of the debug build is found, those in C included."""
    found = {}
    for arguments in compiled.values():
        options = iter(debug_build.options(arguments, "-module-name", "-package-name", "-parse-as-library"))
        pairs = zip(options, options)
        for name, value in pairs:
            if name == "-Xcc" and value == "-I":
                found[name, value + next(pairs)[1]] = None
            elif name == "-I" or value.startswith("-fmodule-map-file="):
                found[name, value] = None
    return [part for option in found for part in option]


def ordered(targets):
    """Targets, each behind those that it depends on."""
    names = {target["name"]: target for target in targets}
    done = []

    def add(target):
        for dependency in target["dependencies"]:
            if other := names.get(dependency.get("byName", [None])[0]):
                add(other)
        if target not in done:
            done.append(target)

    for target in targets:
        add(target)
    return done


def main():
    compiled = debug_build.compiled_modules("FuzzTargets", "SyntheticData")
    known = imports(compiled)
    failed = []
    for package in ("Benchmarks", "Fuzzing"):
        with tempfile.TemporaryDirectory() as scratch:
            options = ["-swift-version", "6", "-I", scratch, *known]
            for target in ordered(debug_build.described(package)["targets"]):
                name = target["name"]
                folder = pathlib.Path(package) / "Sources" / name
                sources = [str(path) for path in sorted(folder.rglob("*.swift"))]
                if not sources:
                    # A module in C, with a map or with one header.
                    path = folder / "module.modulemap"
                    if not path.exists():
                        path = pathlib.Path(scratch) / f"{name}.modulemap"
                        path.write_text(f'module {name} {{ umbrella "{(folder / "include").resolve()}" export * }}\n')
                    options += ["-Xcc", f"-fmodule-map-file={path}"]
                    continue
                if not (folder / "main.swift").exists():
                    sources.append("-parse-as-library")
                arguments = ["-module-name", name, *options, *sources]
                emitted = pathlib.Path(scratch) / f"{name}.swiftmodule"
                if target["type"] == "regular":
                    arguments += ["-emit-module", "-emit-module-path", str(emitted)]
                failed += [] if debug_build.compiles(*arguments) else [f"{package}/Sources/{name}"]
    if failed:
        sys.exit(f"geobucket: {', '.join(failed)} no longer compile")
    print("Benchmarks and Fuzzing compile")


main()
