#!/usr/bin/env python3
"""Makes small mutants of Core and Engine, one at a time, by text and by a seed, and runs the suites of the module that
each is in. Survivors, which no test has killed, are listed: each wants a test, or a sentence why it is equivalent.

    scripts/mutants.py [--count 200] [--seed 1] [--module Geodesy] [--list]

It works on the sources themselves, and puts each back; it refuses to begin where some are changed. Each mutant is a
build and a run. One that does not compile is not counted. --list only shows the mutants.
"""
import argparse, pathlib, random, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ".build/debug/geobucketPackageTests.xctest"
SECONDS = 600
# What is found in a line, and what it becomes.
RULES = [("a condition negated", r"\b(if|guard|while) (?!let |var |case |#)([^,{]+?)( else)? \{", r"\1 !(\2)\3 {"),
         ("a bound off by one", r" < ", " <= "), ("a bound off by one", r" <= ", " < "),
         ("a bound off by one", r" > ", " >= "), ("a bound off by one", r" >= ", " > "),
         ("an end off by one", r"\.\.<", "..."), ("a step off by one", r"\+ 1\b", "+ 2"),
         ("and for or", r" && ", " || "), ("or for and", r" \|\| ", " && "), ("another sign", r" - (?=\w)", " + "),
         ("a call left out", r"^(\s+)([a-z][\w.]*\([^{}]*\))$", r"\1")]


def mutants(modules, randomness):
    """Every mutant: path, number of the line, what is done, the new line; in random order."""
    found = []
    for module in modules:
        for path in sorted(module.rglob("*.swift")):
            for number, line in enumerate(path.read_text().split("\n")):
                if line.strip().startswith(("//", "@", "precondition", "assert")) or '"' in line:
                    continue
                for what, pattern, new in RULES:
                    for match in re.finditer(pattern, line):
                        changed = line[:match.start()] + match.expand(new) + line[match.end():]
                        found.append((path, number, what, changed))
    randomness.shuffle(found)
    return found


def succeeds(*command):
    try:
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def fate(path, number, changed):
    """What becomes of a mutant: killed, survived, or not compiled."""
    text = path.read_text()
    lines = text.split("\n")
    lines[number] = changed
    suites = path.relative_to(ROOT / "Sources").parts[1] + "Tests"
    # What the engine's modules do together, the contract's tests see.
    wanted = suites if (ROOT / "Tests" / path.relative_to(ROOT / "Sources").parts[0] / suites).exists() else "BackendContractTests"
    try:
        path.write_text("\n".join(lines))
        if not succeeds("env", "GEOBUCKET_OPTIMIZED_TESTS=1", "swift", "build", "--build-tests"):
            return "not compiled"
        return "survived" if succeeds(TESTS, "--testing-library", "swift-testing", "--filter", wanted) else "killed"
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", help="only of this one")
    parser.add_argument("--list", action="store_true", help="only shows them")
    options = parser.parse_args()
    modules = [folder for layer in ("Core", "Engine") for folder in sorted((ROOT / "Sources" / layer).iterdir())
               if folder.is_dir() and options.module in (None, folder.name)]
    if not modules:
        parser.error(f"there is no module {options.module} in Core or Engine")
    if not options.list and subprocess.run(["git", "diff", "--quiet", "--", "Sources"], cwd=ROOT).returncode != 0:
        sys.exit("geobucket: sources are changed; commit or put them back first")
    fates, survivors = {"killed": 0, "survived": 0, "not compiled": 0}, []
    for path, number, what, changed in mutants(modules, random.Random(options.seed)):
        if fates["killed"] + fates["survived"] == options.count:
            break
        name = f"{path.relative_to(ROOT)}:{number + 1}: {what}: {changed.strip() or path.read_text().split(chr(10))[number].strip()}"
        if options.list:
            fates["killed"] += 1
            print(name)
            continue
        result = fate(path, number, changed)
        fates[result] += 1
        print(f"{result}: {name}", flush=True)
        survivors += [name] if result == "survived" else []
    if options.list:
        return
    tried = fates["killed"] + fates["survived"]
    print(f"mutants: seed {options.seed}: {fates['killed']} of {tried} killed, {fates['not compiled']} did not compile")
    for name in survivors:
        print(f"survived: {name}")


if __name__ == "__main__":
    main()
