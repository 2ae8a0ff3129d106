"""What the debug build (swift build --build-tests) called the compiler with, and the compiler once more with the part
of it that matters to whether sources compile.
"""
import json, pathlib, subprocess, sys, tempfile

BUILD = pathlib.Path(".build")
# Options that matter to whether sources compile, and whether each has a value.
OPTIONS = {"-module-name": True, "-I": True, "-target": True, "-Xcc": True, "-swift-version": True,
           "-package-name": True, "-enable-upcoming-feature": True, "-enable-experimental-feature": True,
           "-parse-as-library": False}
# Options that say what else comes of a module or how work is divided, and whether each has a value.
OUTPUTS = {"-emit-module-path": True, "-output-file-map": True, "-index-store-path": True,
           "-emit-objc-header-path": True, "-emit-objc-header": False, "-emit-dependencies": False,
           "-emit-module": False, "-incremental": False, "-enable-batch-mode": False, "-c": False,
           "-serialize-diagnostics": False, "-parseable-output": False, "-warnings-as-errors": False,
           "-g": False}


def commands():
    """Every call of swiftc in the build's manifest."""
    manifest = BUILD / "debug.yaml"
    for line in manifest.read_text().splitlines() if manifest.exists() else []:
        if line.startswith('    args: ["'):
            yield json.loads(line.partition(": ")[2])


def compiled_modules(*needed):
    """The arguments of the compiler by module. The program ends where modules are not there that are needed."""
    modules = {arguments[arguments.index("-module-name") + 1]: arguments
               for arguments in commands() if "-emit-module" in arguments and "-module-name" in arguments}
    if missing := (set(needed) or {"any module"}) - modules.keys():
        names = ", ".join(sorted(missing))
        sys.exit(f"geobucket: the debug build has not compiled {names}; first: swift build --build-tests")
    return modules


def linking_of_tests():
    """The arguments with which the tests are linked."""
    return next(arguments for arguments in commands()
                if "-emit-executable" in arguments and "geobucketPackageTests" in arguments)


def options(arguments, *left_out):
    """The options of a module that matter to whether it compiles, but for some."""
    chosen, rest = [], iter(arguments[1:])
    for argument in rest:
        if argument in OPTIONS:
            option = [argument] + ([next(rest)] if OPTIONS[argument] else [])
            chosen += [] if argument in left_out else option
    return chosen


def without_outputs(arguments):
    """The arguments of a module, but for its sources and what else comes of it than an object."""
    chosen, rest = [], iter(arguments)
    for argument in rest:
        if argument in OUTPUTS:
            _ = next(rest) if OUTPUTS[argument] else None
        elif argument == "-Xcc" or argument == "-Xfrontend":
            chosen += [argument, next(rest)]
        elif not argument.startswith("@"):
            chosen.append(argument)
    return chosen


def compiles(*arguments):
    # Type checking alone would not find code that is never executed. The compiler puts a file in the
    # place of its output, whatever stands there, so that is nothing of the machine's.
    with tempfile.TemporaryDirectory() as folder:
        output = ["-emit-sil", "-o", folder + "/module.sil"]
        return subprocess.run(["swiftc", *output, "-wmo", "-warnings-as-errors", *arguments]).returncode == 0


def described(package):
    """What a package says of itself, but for what its dependencies say."""
    # A folder of its own: a build of the package may be under way in the usual one.
    with tempfile.TemporaryDirectory() as scratch:
        command = ["swift", "package", "--package-path", package, "--scratch-path", scratch, "dump-package"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
