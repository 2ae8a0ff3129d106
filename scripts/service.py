"""The program that scripts run, and a service of it."""
import contextlib, os, signal, subprocess, sys

RELEASE = ".build/release/geobucket"


def add_option(parser):
    """--geobucket, the program; without it the script ends in a sentence."""
    parser.add_argument("--geobucket", default=RELEASE, type=program, metavar="PROGRAM", help=f"({RELEASE})")


def program(path):
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        sys.exit(f"geobucket: there is no program {path}; build it with: swift build -c release --product geobucket")
    return os.path.abspath(path)


@contextlib.contextmanager
def serving(geobucket, store, *flags, listen="127.0.0.1:0"):
    """A service: its ports by what it says of them, and its process; it has to end well."""
    service = subprocess.Popen([geobucket, "serve", "--listen", listen, "--store", store, *flags],
                               stdout=subprocess.PIPE, text=True)
    try:
        ports = {}
        while "ready" not in ports:
            words = service.stdout.readline().split()  # geobucket http on 127.0.0.1:4363
            if words[2:3] != ["on"]:
                sys.exit("geobucket: the service does not start")
            ports[words[1]] = int(words[3].rsplit(":", 1)[1])
        ports["process"] = service.pid
        yield ports
    finally:
        service.send_signal(signal.SIGTERM)
        status = service.wait(timeout=60)
    if status != 0:
        sys.exit(f"geobucket: the service ended with {status}")


def processor_seconds(process):
    """What all threads of a process have used."""
    with open(f"/proc/{process}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def check(geobucket, store):
    """A closed store has to check clean."""
    if subprocess.run([geobucket, "check", "--store", store]).returncode != 0:
        sys.exit("geobucket: the store does not check clean")
