"""What a service does to the page: logins, sessions that end, a service that is gone and comes back."""
import contextlib, pathlib, re, shutil, subprocess

from browser import Failure
from world import address, ids, point, same, settled, view

LOGIN = "location.pathname === '/login' && document.querySelector('button[type=submit]:enabled')"


class Tokens:
    """A file of tokens, and the commands that change it."""

    def __init__(self, world):
        self.program, self.path = world.program, str(world.folder / f"tokens-{next(world.numbers)}.json")

    def run(self, *words):
        return subprocess.run([self.program, "token", *words, "--tokens", self.path], check=True, capture_output=True, text=True).stdout.strip()

    def create(self, principal, *flags):
        return self.run("create", "--principal", principal, *flags)

    def revoke(self, principal):
        for line in self.run("list").splitlines():
            if principal in line.split("\t"):
                self.run("revoke", line.split("\t")[0])


def log_in(page, token):
    page.until(LOGIN, "the login page is there")
    page.fill("#token", token)
    page.key("Enter")


def test_login(world):
    """With tokens the page asks for one, says when it is wrong, and goes on to the view that was asked for."""
    tokens = Tokens(world)
    token = tokens.create("alice", "--role", "read")
    with world.serving("--tokens", tokens.path) as site, world.page(site, view(bucket="airports", at="48,8,5"), allowed=["401"]) as page:
        log_in(page, "wrong")
        page.until("document.querySelector('#error').textContent.includes('token is not valid')", "the refusal is told")
        log_in(page, token)
        page.until("location.pathname === '/map'", "the map is there")
        settled(page)
        same(address(page)["at"], "48,8,5")
        same(page.run("document.cookie"), "", "what scripts see of the session")
        page.click("#logout")
        page.until(LOGIN, "the login page is back")
        page.go(f"{site.url}/map")
        page.until(LOGIN, "the session is over")
        page.go(f"{site.url}/")
        log_in(page, token)
        page.until("location.pathname === '/' && document.querySelector('#lines pre')", "the catalogue is there, where it was asked for")
        same("USERPWD" in page.text("#lines"), True, "GDAL is told the token")


def test_session_that_ends(world):
    """When the token is revoked the page asks for another, also while it is live, and goes on where it was."""
    tokens = Tokens(world)
    token, other = tokens.create("alice", "--role", "read"), tokens.create("bob", "--role", "read")
    with world.serving("--tokens", tokens.path) as site, world.page(site, view(bucket="airports", at="48,8,5", live="1"), allowed=["401"]) as page:
        log_in(page, token)
        page.until("document.querySelector('#summary')?.textContent === '6,179 objects match, live.'", "the state is there")
        tokens.revoke("alice")
        log_in(page, other)
        page.until("document.querySelector('#summary')?.textContent === '6,179 objects match, live.'", "the state is there again")
        same([address(page)["at"], address(page)["live"]], ["48,8,5", "1"])


def test_token_for_one_bucket(world):
    """A token for one bucket shows that bucket, and says of the others that it does not permit them."""
    tokens = Tokens(world)
    token = tokens.create("carol", "--role", "read", "--bucket", "airports")
    with world.serving("--tokens", tokens.path) as site, world.page(site, view(bucket="airports"), allowed=["401", "403"]) as page:
        log_in(page, token)
        page.until("document.querySelector('#summary')?.textContent.startsWith('6,179')", "the bucket is there")
        page.fill("#bucket-name", "others")
        page.key("Enter")
        page.until("document.querySelector('#query-error').textContent.includes('Your token does not permit that')", "the refusal is told")


def test_gone_and_back(world):
    """A service that is gone is told, tried again, and shown when it is back."""
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as first:
        site = first.enter_context(world.serving())
        # The browser may still ask for the icon when the service stops.
        allowed = ["ERR_CONNECTION", "status of 503"]
        page = stack.enter_context(world.page(site, view(bucket="airports", at="48,8,5"), allowed=allowed))
        settled(page)
        first.close()
        page.choose("#order", "field:name")
        page.until("!document.querySelector('#banner').hidden && /again in \\d+ second/.test(document.querySelector('#banner-text').textContent)", "the page says that the service is gone")
        stack.enter_context(world.serving(again=site))
        page.until("document.querySelector('#banner').hidden", "the service is back")
        settled(page)
        same(page.run("document.querySelector('#order').value"), "field:name")
        same(len(ids(page)), 50)


def put(site, bucket, key, name, place):
    site.call("object.put", bucket=bucket, id=key, object={"name": name, "at": place})


def test_live_after_a_break(world):
    """A live query goes on by itself after the service was gone; what happened meanwhile comes as events."""
    bucket = world.bucket()
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as first:
        site = first.enter_context(world.serving())
        put(site, bucket, "c1", "Aiko", point(35.68, 139.76))
        put(site, bucket, "c2", "Ben", point(35.69, 139.77))
        page = stack.enter_context(world.page(site, view(bucket=bucket, at="35.68,139.76,13", live="1"), allowed=["ERR_"]))
        page.until("document.querySelector('#summary').textContent === '2 objects match, live.'", "the state is there")
        put(site, bucket, "c2", "Ben", point(35.69, 139.78))
        page.until("document.querySelector('#log .change .who')?.textContent === 'Ben'", "the move is told")
        first.close()
        page.until("document.querySelector('#live-figures').textContent.startsWith('Connection lost')", "the break is told")
        # The page finds nobody at its port while this one runs.
        elsewhere = type(site)(site.store, {"ready": 0, "web": 0})
        with world.serving(again=elsewhere) as between:
            between.call("object.delete", bucket=bucket, id="c1")
            put(between, bucket, "c3", "Chidi", point(35.67, 139.75))
        page.take("Network.eventSourceMessageReceived")
        stack.enter_context(world.serving(again=site))
        page.until("document.querySelector('#log .enter .who')?.textContent === 'Chidi' && document.querySelector('#log .leave .who')?.textContent === 'Aiko'", "the gap is told")
        page.until("document.querySelector('#live-figures').textContent.includes('a second')", "the connection is back")
        page.until("[...document.querySelectorAll('#body tr')].map((row) => row.dataset.id).sort().join() === 'c2,c3'", "the table has who is there")
        same({event["eventName"] for event in page.take("Network.eventSourceMessageReceived")}, {"events"}, "what came after the break")


def test_requests_of_the_manual(world):
    """What docs/web.md shows is what the service answers; a command without an answer succeeds."""
    if not shutil.which("curl"):
        print("    there is no curl; skipped")
        return
    manual = (pathlib.Path(__file__).resolve().parents[2] / "docs/web.md").read_text()
    sessions = "".join(re.findall(r"(?ms)^```console\n(.*?)^```$", manual.replace("\\\n", "")))
    commands = re.findall(r"(?m)^\$ (curl .*)\n((?:(?!\$ ).*\n)*)", sessions)
    if len(commands) < 3:
        raise Failure(f"the manual has {commands}")
    for command, shown in commands:
        found = answer(command.replace("http://127.0.0.1:4364", world.site.url))
        if shown:
            same(without_state(found), without_state(shown), command)
        else:
            same("errorCode" in found or not found, False, command)


def answer(command):
    """What a command prints; of a stream the first event."""
    with subprocess.Popen("exec " + command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        if "-sN" not in command:
            return process.stdout.read()
        event = ""
        while (line := process.stdout.readline()).strip():
            event += line
        process.terminate()
    return event


def without_state(text):
    """Numbers of changes and tokens are those of the store that the manual was written with."""
    return re.sub(r'"change":\d+', "", re.sub(r'(id: |"resume":")[\w-]+', "", text)).strip()
