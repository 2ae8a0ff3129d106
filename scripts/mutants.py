#!/usr/bin/env python3
"""Makes small mutants of modules, chosen by a seed, and runs the suites of the module that each is in. Survivors, which
no test has killed, are listed: each wants a test, or a sentence why it is equivalent.

    scripts/mutants.py make [--count 250] [--seed 1] [--module Geodesy …]    # one test program that has all of them
    scripts/mutants.py run [--minutes 9] [--jobs 2] [--again] [--suites 'X|Y']    # again until none is left
    scripts/mutants.py tell

`make` comes behind a debug build (`swift build --build-tests`). It compiles copies of the modules, and their suites, and
links them with what that build has left: nothing else is compiled, and the sources stay as they are. What it makes is in
.build/mutants, which `run` goes on with. `--again` gives survivors another chance, with other suites or with new tests.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, random, re, resource, shutil, signal, subprocess, sys, time
import debug_build, mutation

os.chdir(pathlib.Path(__file__).resolve().parent.parent)
FOLDER = pathlib.Path(".build/mutants")
TESTS = FOLDER / "tests.xctest"
STATE = FOLDER / "mutants.json"
C_MODULE = FOLDER / "CMutant"
RUNNER = "import Testing\n@main struct Runner {\n    static func main() async { await Testing.__swiftPMEntryPoint() as Never }\n}\n"
# The suites of a module: those of its own name, unless said here.
SUITES = {"PlainJSON": "JSONTextTests", "Vocabulary": "ObjectsTests"}
DEFAULT = ["Geodesy", "PlainJSON", "PersistentStructures", "QueryLanguage", "SpatialIndex"]
# So many times as many as are asked for are looked at, since some do not compile.
SPARE = 1.5
MOST_BYTES = 8 << 30


def folder_of(module):
    found = [layer / module for layer in pathlib.Path("Sources").iterdir() if (layer / module).is_dir()]
    return found[0] if found else sys.exit(f"geobucket: there is no module {module}")


def suites_of(module):
    return SUITES.get(module, module + "Tests")


def sources_of(module):
    return sorted(folder_of(module).rglob("*.swift"))


def in_order(modules):
    """Modules, each behind those that it imports."""
    imports = {module: set(re.findall(r"^\s*(?:@\w+ )?(?:package |public )?import (\w+)", "\n".join(
        path.read_text() for path in sources_of(module)), re.MULTILINE)) & set(modules) for module in modules}
    done = []
    while len(done) < len(modules):
        done += [module for module in modules if module not in done and imports[module] - {module} <= set(done)]
    return done


def chosen(module, count, randomness):
    """Mutants of a module in random order."""
    found = [mutant for path in sources_of(module) for mutant in mutation.mutants_of(path)]
    mutants = randomness.sample(found, min(len(found), int(SPARE * count)))
    for mutant in mutants:
        mutant.before = mutant.path.read_text().split("\n")[mutant.line].strip()
    return mutants


def written(module, mutants):
    """Writes a copy of a module that has mutants; the paths of its files."""
    folder = FOLDER / "sources" / module
    shutil.rmtree(folder, ignore_errors=True)
    for path in sources_of(module):
        copy = folder / path.relative_to(folder_of(module))
        copy.parent.mkdir(parents=True, exist_ok=True)
        here = [mutant for mutant in mutants if mutant.path == path]
        copy.write_text(mutation.with_mutants(path.read_text(), here) if here else path.read_text())
    declared = "\n".join(mutant.declared() for mutant in mutants)
    (folder / "Mutants.swift").write_text(f"import CMutant\n{declared}\n")
    return [str(path) for path in sorted(folder.rglob("*.swift"))]


def compile_module(module, arguments, sources):
    """Compiles a module into one object; what the compiler says if it cannot."""
    command = [*debug_build.without_outputs(arguments), "-I", str(FOLDER), "-Xcc", f"-fmodule-map-file={C_MODULE}/module.modulemap",
               "-wmo", "-c", "-o", str(FOLDER / f"{module}.o"), "-emit-module", "-emit-module-path", str(FOLDER / f"{module}.swiftmodule"),
               *sources]
    # The copies of modules come before those that they stand for.
    place = command.index("-I")
    command[place:place] = ["-I", str(FOLDER)]
    told = subprocess.run(command, capture_output=True, text=True)
    return (told.stdout + told.stderr) if told.returncode else None


def without_faulty(module, mutants, told):
    """The mutants but for those that the compiler complains of: in their line, or in the next below them."""
    folder = FOLDER / "sources" / module
    faulty = set()
    for name, line in set(re.findall(rf"{re.escape(str(folder))}/(\S+\.swift):(\d+):\d+: error:", told)):
        if name == "Mutants.swift":
            faulty.add(mutants[int(line) - 2])
            continue
        above = [mutant for mutant in mutants if mutant.path == folder_of(module) / name and mutant.line < int(line)]
        faulty.update(mutant for mutant in above if mutant.line == max(other.line for other in above))
    if not faulty:
        sys.exit(f"geobucket: {module} does not compile, and no mutant is the reason:\n{told[:3000]}")
    return [mutant for mutant in mutants if mutant not in faulty]


def make(options):
    modules = in_order(options.module or DEFAULT)
    count = options.count // len(modules)
    suites = sorted({suites_of(module) for module in modules})
    compiled = debug_build.compiled_modules(*modules, *suites)
    shutil.rmtree(FOLDER, ignore_errors=True)
    C_MODULE.mkdir(parents=True)
    for name, text in mutation.C_MODULE.items():
        (C_MODULE / name).write_text(text)
    subprocess.run(["clang", "-c", "-fPIC", "-O2", "-o", FOLDER / "mutant.o", C_MODULE / "mutant.c"], check=True)
    made, number = [], 0
    for module in modules:
        mutants = chosen(module, count, random.Random(f"{options.seed} {module}"))
        number = len(made)
        while True:
            # Those that are too many go last, when it is known which compile.
            for position, mutant in enumerate(mutants, number + 1):
                mutant.number = position
            told = compile_module(module, compiled[module], written(module, mutants))
            if told:
                mutants = without_faulty(module, mutants, told)
            elif len(mutants) > count:
                mutants = mutants[:count]
            else:
                break
        made += [{"number": mutant.number, "module": module, "place": f"{mutant.path}:{mutant.line + 1}", "what": mutant.what,
                  "line": mutant.before, "fate": None} for mutant in mutants]
        print(f"mutants: {len(mutants)} of {module}", flush=True)
    build_tests(modules, suites, compiled)
    save(made, options.seed)


def build_tests(modules, suites, compiled):
    """Compiles the suites, and links them with the copies of modules in place of the modules."""
    for suite in suites:
        folder = next(layer / suite for layer in pathlib.Path("Tests").iterdir() if (layer / suite).is_dir())
        if told := compile_module(suite, compiled[suite], [str(path) for path in sorted(folder.rglob("*.swift"))]):
            sys.exit(f"geobucket: {suite} does not compile:\n{told[:3000]}")
    (FOLDER / "runner.swift").write_text(RUNNER)
    subprocess.run(["swiftc", "-parse-as-library", "-c", "-o", FOLDER / "runner.o", FOLDER / "runner.swift"], check=True)
    linking = debug_build.linking_of_tests()
    objects = next(argument for argument in linking if argument.startswith("@"))
    kept = [path for path in pathlib.Path(objects[1:]).read_text().splitlines()
            if not path.split("/")[-2].removesuffix(".build").endswith("Tests")
            and path.split("/")[-2].removesuffix(".build") not in modules]
    own = [str(FOLDER / f"{name}.o") for name in [*modules, *suites, "runner", "mutant"]]
    (FOLDER / "objects").write_text("\n".join(kept + own) + "\n")
    linking = [f"@{FOLDER}/objects" if argument == objects else argument for argument in linking]
    linking[linking.index("-o") + 1] = str(TESTS)
    subprocess.run(linking, check=True)


def save(mutants, seed):
    STATE.write_text(json.dumps({"seed": seed, "mutants": mutants}, indent=1, ensure_ascii=False))


def tried(suites, number, seconds):
    """What becomes of suites with a mutant, and how long they took."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [TESTS, "--testing-library", "swift-testing", "--filter", suites],
        env={**os.environ, "GEOBUCKET_MUTANT": str(number)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES,) * 2))
    try:
        told, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "no end", time.monotonic() - begin
    passed = re.search(r"Test run with (\d+) tests? .*passed", told)
    if process.returncode == 0 and passed and int(passed.group(1)):
        return "survived", time.monotonic() - begin
    return ("failed" if "Test run with" in told else "crashed"), time.monotonic() - begin


def run(options):
    state = json.loads(STATE.read_text())
    mutants, end = state["mutants"], time.monotonic() + 60 * options.minutes
    waiting = [mutant for mutant in mutants if mutant["fate"] in ([None, "survived"] if options.again else [None])]

    def suites(mutant):
        return options.suites or suites_of(mutant["module"]) + r"\."

    seconds = {}
    for names in sorted({suites(mutant) for mutant in waiting}):
        fate, took = tried(names, 0, 600)
        if fate != "survived":
            sys.exit(f"geobucket: {names} do not pass without a mutant: {fate}")
        seconds[names] = max(20, 8 * took)
        print(f"{names}: {took:.1f} s without a mutant", flush=True)

    def attempt(mutant):
        if time.monotonic() < end:
            mutant["fate"], took = tried(suites(mutant), mutant["number"], seconds[suites(mutant)])
            print(f"{mutant['fate']} in {took:.1f} s: {shown(mutant)}", flush=True)
            save(mutants, state["seed"])

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(attempt, waiting))
    tell(options)


def shown(mutant):
    return f"{mutant['number']}: {mutant['place']}: {mutant['what']}: {mutant['line']}"


def tell(options):
    state = json.loads(STATE.read_text())
    mutants = state["mutants"]
    print(f"seed {state['seed']}\n\n| module | mutants | a test failed | crash | no end | survived | not run |\n| --- |" + " ---: |" * 6)
    for module in [*dict.fromkeys(mutant["module"] for mutant in mutants), None]:
        fates = collections.Counter(mutant["fate"] for mutant in mutants if module in (mutant["module"], None))
        figures = [sum(fates.values())] + [fates[fate] for fate in ("failed", "crashed", "no end", "survived", None)]
        print(f"| {module or 'all'} | " + " | ".join(map(str, figures)) + " |")
    for mutant in mutants:
        if mutant["fate"] == "survived":
            print("survived:", shown(mutant))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("--count", type=int, default=250)
    making.add_argument("--seed", type=int, default=1)
    making.add_argument("--module", action="append", help=f"only of this one; else of {', '.join(DEFAULT)}")
    running = commands.add_parser("run")
    running.add_argument("--minutes", type=float, default=9)
    running.add_argument("--jobs", type=int, default=os.cpu_count())
    running.add_argument("--again", action="store_true", help="those too that have survived")
    running.add_argument("--suites", help="in place of each module's own, a regular expression")
    commands.add_parser("tell")
    options = parser.parse_args()
    {"make": make, "run": run, "tell": tell}[options.command](options)


main()
