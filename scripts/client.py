#!/usr/bin/env python3
"""Holds the client's libraries, and the query language with what it is built on, to what an app needs of them:
a Swift toolchain and nothing of the system's, on the platforms that Package.swift names.

    scripts/client.py            # looks at the manifest, at every import and for names that are too new
    scripts/client.py --built    # and at what their build in .build/debug has read, and their program loads
    scripts/client.py --build    # and builds them first, in a package of their own, .build/client
    scripts/client.py --build --scratch-path .build  # there, so that a whole build after it finds NIO and BoringSSL
"""
import argparse, json, os, pathlib, re, subprocess, sys, tempfile

PRODUCTS = ["GeoBucketClient", "KiiCompatibility"]
# What an app could have of the service's core: clauses and queries, read, written and evaluated.
CORE = ["QueryLanguage"]
# Links the client, so it shows what programs with it load.
EXAMPLE = "StoreFinder"
# The modules of Apple's that the client may import, and the version that each came with.
APPLE = {
    "Darwin": {"ios": 8, "macos": 10.9}, "Dispatch": {"ios": 8, "macos": 10.9},
    "Foundation": {"ios": 8, "macos": 10.9}, "Network": {"ios": 12, "macos": 10.14},
    "Observation": {"ios": 17, "macos": 14}, "Security": {"ios": 8, "macos": 10.9},
    "Synchronization": {"ios": 18, "macos": 15}, "os": {"ios": 10, "macos": 10.12},
}
# Modules of theirs that have come with Swift from the beginning.
LANGUAGE = {"ObjectiveC", "Swift"}
# Modules that say of each of their names since when Apple's platforms have it.
DATED = ["Swift", "_Concurrency", "_StringProcessing", "Synchronization", "FoundationEssentials", "Foundation"]
C_HEADERS = {"stdbool.h", "stddef.h", "stdint.h", "string.h"}
OS_NAMES = {"ios": "iOS", "macos": "macOS"}
# Packages of a C compiler, which a Swift toolchain on Linux needs.
C_PACKAGES = re.compile(r"(libc6-dev|linux-libc-dev|libgcc-\d+-dev|libstdc\+\+-\d+-dev)(:|$)")
LIBRARIES = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|libutil)\.so(\.\d+)?")

# The client is as others build it: with unsafe flags, other packages could not depend on it.
os.environ.pop("GEOBUCKET_OPTIMIZED_TESTS", None)


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Manifest:
    """What Package.swift says of the client's targets."""

    def __init__(self):
        package = json.loads(output("swift", "package", "dump-package"))
        self.platforms = {p["platformName"]: float(p["version"]) for p in package["platforms"]}
        defaults = next(trait for trait in package["traits"] if trait["name"] == "default")
        self.traits = set(defaults["enabledTraits"])
        self.targets = {target["name"]: target for target in package["targets"]}
        self.closure = []
        for product in package["products"]:
            if product["name"] in PRODUCTS:
                for name in product["targets"]:
                    self.add(name)
        for name in CORE:
            self.add(name)

    def add(self, name):
        if name not in self.closure:
            self.closure.append(name)
            for dependency in self.targets[name]["dependencies"]:
                if "byName" in dependency:
                    self.add(dependency["byName"][0])

    def products(self, name):
        """The products of other packages that a target has, with their packages."""
        return dict(d["product"][:2] for d in self.targets[name]["dependencies"] if "product" in d)

    def packages(self):
        return sorted({package for name in self.closure for package in self.products(name).values()})

    def folder(self, name):
        return pathlib.Path(self.targets[name]["path"])

    def faults(self):
        for name in self.closure:
            target = self.targets[name]
            if target["type"] != "regular":
                yield f"Package.swift: the client needs {name}, a {target['type']} target"
            for setting in target["settings"]:
                kind = next(iter(setting["kind"]))
                if setting["tool"] == "linker" or kind == "unsafeFlags":
                    yield f"Package.swift: the client needs {name}, which has {kind} {setting['kind'][kind]}"


class Conditions:
    """Which lines of a Swift file a platform of Apple's compiles, with the traits that are on by default."""

    def __init__(self, platform, modules, traits):
        self.platform, self.modules, self.traits, self.stack = platform, modules, traits, []

    def holds(self, condition):
        text = re.sub(r"canImport\((\w+)\)", lambda m: str(m[1] in self.modules), condition)
        text = re.sub(r"os\((\w+)\)", lambda m: str(m[1] == OS_NAMES[self.platform]), text)
        text = re.sub(r"\b[A-Z]+\b", lambda m: str(m[0] in self.traits), text)
        text = re.sub(r"\s+", " ", text.replace("&&", " and ").replace("||", " or ").replace("!", " not "))
        if not re.fullmatch(r"(True|False|and|or|not|[() ])*", text):
            raise SystemExit(f"geobucket: scripts/client.py does not know the condition {condition}")
        return eval(text)

    def read(self, line):
        """Whether the line is compiled; conditions themselves are not."""
        directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if not directive:
            return all(taken for taken, _ in self.stack)
        word, condition = directive.groups()
        if word == "if":
            taken = self.holds(condition)
            self.stack.append((taken, taken))
        elif word == "endif":
            self.stack.pop()
        else:
            _, earlier = self.stack.pop()
            taken = not earlier and (word == "else" or self.holds(condition))
            self.stack.append((taken, earlier or taken))
        return False


IMPORT = re.compile(
    r"\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|var|let)\s+)?(\w+)")


def import_faults(manifest, name, platform):
    """What a target imports that is none of its dependencies and nothing that the platform has."""
    version = manifest.platforms[platform]
    theirs = {module for module, since in APPLE.items() if since[platform] <= version} | LANGUAGE
    known = theirs | set(manifest.closure) | set(manifest.products(name))
    for file in sorted(manifest.folder(name).rglob("*.swift")):
        conditions = Conditions(platform, known, manifest.traits)
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if conditions.read(line) and (module := IMPORT.match(line)) and module[1] not in known:
                place, system = f"{file}:{number}", f"{OS_NAMES[platform]} {version:g}"
                yield (f"{place}: {system} has no module {module[1]}; import it within #if canImport({module[1]}), "
                       f"and in its #else what {system} has")


def newer_names(manifest):
    """What Swift has and the platforms do not, with what has it; names that older things share are left out."""
    newer, older = {}, set()
    target = json.loads(output("swift", "-print-target-info"))["target"]["triple"]
    with tempfile.TemporaryDirectory() as folder:
        for module in DATED:
            output("swift", "symbolgraph-extract", "-module-name", module, "-target", target,
                   "-minimum-access-level", "public", "-output-dir", folder)
        for file in pathlib.Path(folder).glob("*.json"):
            for symbol in json.loads(file.read_text())["symbols"]:
                path = symbol["pathComponents"]
                name = path[-1].partition("(")[0]
                if any(is_newer(manifest, fact) for fact in symbol.get("availability", [])):
                    newer[name] = ".".join(path)
                else:
                    older.add(name)
    own = {name for target in manifest.closure for name in declared_types(manifest, target)}
    return {name: path for name, path in newer.items() if name not in older | own}


def declared_types(manifest, name):
    for file in manifest.folder(name).rglob("*.swift"):
        yield from re.findall(r"\b(?:actor|class|enum|protocol|struct|typealias) (\w+)", file.read_text())


def is_newer(manifest, fact):
    version = manifest.platforms.get(fact.get("domain", "").lower())
    since = fact.get("introduced")
    return bool(version and since) and float(f"{since['major']}.{since.get('minor', 0)}") > version


def name_faults(manifest, name, newer):
    for file in sorted(manifest.folder(name).rglob("*.swift")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for word in re.findall(r"\w+", line.partition("//")[0]):
                if word in newer:
                    yield f"{file}:{number}: {newer[word]} is newer than the platforms of Package.swift"


def include_faults(manifest, name):
    folder = manifest.folder(name)
    for file in sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".c", ".cpp", ".cc", ".m"}):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            header = re.match(r'\s*#\s*(?:include|import)\s*[<"]([^>"]+)', line)
            if header and header[1] not in C_HEADERS and not list(folder.rglob(header[1])):
                yield f"{file}:{number}: {header[1]} is a header that not every C compiler has"


def write_package(manifest, folder):
    """The manifest without what the client does not need, beside the same sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ["Sources", "Examples"]:
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(f"../../{name}")
    texts = {
        "Package.resolved": pathlib.Path("Package.resolved").read_text(),
        "Package.swift": pathlib.Path("Package.swift").read_text() + f"""
package.products.removeAll {{ !{json.dumps(PRODUCTS)}.contains($0.name) }}
package.targets.removeAll {{ !{json.dumps(manifest.closure + [EXAMPLE])}.contains($0.name) }}
package.dependencies.removeAll {{
    guard case .sourceControl(_, let location, _) = $0.kind else {{ return true }}
    return !{json.dumps(manifest.packages())}.contains(String(location.split(separator: "/").last!))
}}
""",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)


def is_stale(note, folder):
    """Whether a compiler noted this of a Swift file that is gone since. What it notes of a module has its name, or
    a small letter."""
    stem = note.name.partition(".")[0]
    return stem[0].isupper() and stem != folder.name and not any(folder.rglob(f"{stem}.swift"))


def files_read(manifest, build, targets):
    """Every file that compilers have read for these targets and for those that they import, as they noted it."""
    files, seen, waiting = set(), set(), list(targets)
    while waiting:
        target = waiting.pop()
        if target in seen:
            continue
        seen.add(target)
        for file in (build / f"{target}.build").rglob("*.d"):
            if target in manifest.targets and is_stale(file, manifest.folder(target)):
                continue
            for line in file.read_text().replace("\\\n", " ").splitlines():
                files.update(re.findall(r"(?:\\.|\S)+", line.partition(": ")[2]))
        # A module of Swift is in its file, one of C in its folder.
        waiting += (found[1] or found[2] for path in files if (
            found := re.search(r"/Modules/(\w+)\.swiftmodule$|/Sources/(?:\w+/)?(\w+)/include/", path)))
    return {os.path.realpath(path) for path in files}


def owners(paths):
    """The packages of the system's that files belong to."""
    command = ["dpkg-query", "-S", *paths]
    lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    return {path: package for package, _, path in (line.partition(": ") for line in lines)}


def build(manifest, scratch):
    folder = pathlib.Path(".build/client")
    write_package(manifest, folder)
    subprocess.run(
        ["swift", "build", "--package-path", folder, "--scratch-path", scratch,
         "--explicit-target-dependency-import-check", "error"], check=True)
    return pathlib.Path(scratch) / "debug"


def build_faults(manifest, build):
    build = build.resolve()
    resources = json.loads(output("swift", "-print-target-info"))["paths"]["runtimeResourcePath"]
    toolchain = str(pathlib.Path(resources).resolve().parents[1]) + "/"
    files = files_read(manifest, build, manifest.closure + [EXAMPLE])
    if not any(path.endswith("/NIOCore.swiftmodule") for path in files):
        raise SystemExit(f"geobucket: {build} does not hold a build of the client; run swift build --build-tests")
    foreign = sorted(path for path in files if not path.startswith((os.getcwd() + "/", toolchain)))
    packages = owners(foreign)
    for path in foreign:
        package = packages.get(path, "no package")
        if not C_PACKAGES.match(package):
            yield f"{path}: read by the client's build, a file of {package}"
    for line in output("ldd", str(build / EXAMPLE)).splitlines():
        library, _, path = line.partition(" (")[0].strip().rpartition(" => ")
        if not LIBRARIES.fullmatch(os.path.basename(library or path)) and not os.path.realpath(path).startswith(toolchain):
            yield f"{EXAMPLE} loads {line.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--built", action="store_true", help="look at their build in .build/debug")
    parser.add_argument("--build", action="store_true", help="build them in a package of their own, and look at that")
    parser.add_argument("--scratch-path", default=".build/client/.build", help="where --build puts what it builds")
    arguments = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    manifest = Manifest()
    faults = list(manifest.faults())
    newer = newer_names(manifest)
    for name in manifest.closure:
        for platform in manifest.platforms:
            faults += import_faults(manifest, name, platform)
        faults += name_faults(manifest, name, newer)
        faults += include_faults(manifest, name)
    if not faults and (arguments.build or arguments.built):
        built = build(manifest, arguments.scratch_path) if arguments.build else pathlib.Path(".build/debug")
        faults += build_faults(manifest, built)
    for fault in faults:
        print(f"geobucket: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"the client needs no system package: {', '.join(manifest.closure)}; {', '.join(manifest.packages())}")


main()
