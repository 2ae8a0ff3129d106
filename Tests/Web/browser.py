"""Headless Chromium through the DevTools protocol, over a pipe: nothing but the standard library is needed."""
import base64, itertools, json, os, shutil, subprocess, tempfile, threading, time

NAMES = ["chromium", "chromium-browser", "google-chrome"]
PACKAGE = "chromium"


def find():
    """The program, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Failure(Exception):
    """What the page said or did that it should not have."""


class Browser:
    """One Chromium. Messages end in a zero byte; it reads them from descriptor 3 and writes them to 4."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="geobucket-web-", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()

        def descriptors():
            # Out of the way first: either may already be 3 or 4.
            a, b = os.dup(to_read), os.dup(from_write)
            a, b = (os.dup(a), os.dup(b)) if {a, b} & {3, 4} else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        # Chromium refuses to run as root in its own sandbox; it loads nothing but the page under test.
        self.process = subprocess.Popen(
            ["nice", find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             "--lang=en-GB", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=descriptors)
        os.close(to_read)
        os.close(from_write)
        self.numbers, self.waiting, self.pages = itertools.count(1), {}, {}
        self.changed = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except Failure:
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        self.profile.cleanup()

    def listen(self):
        rest = b""
        while chunk := os.read(self.answers, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in messages:
                self.receive(json.loads(message))
        with self.changed:
            self.waiting = None
            self.changed.notify_all()

    def receive(self, message):
        with self.changed:
            if "id" in message:
                self.waiting[message["id"]] = message
            elif page := self.pages.get(message.get("sessionId")):
                page.events.append(message)
            self.changed.notify_all()

    def call(self, method, session=None, timeout=30, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        with self.changed:
            if not self.changed.wait_for(lambda: self.waiting is None or number in self.waiting, timeout):
                raise Failure(f"Chromium did not answer {method}")
            if self.waiting is None:
                raise Failure("Chromium has ended")
            answer = self.waiting.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, url, width=1440, height=900, dark=False, phone=False):
        """A page in a profile of its own, loaded."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        self.call("Browser.grantPermissions", browserContextId=context, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target, context)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        page.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.go(url)
        return page


KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
        "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Backspace": (8, ""), "Space": (32, " ")}


class Page:
    """One page: what it shows, and what a person does with it."""

    def __init__(self, browser, session, target, context):
        self.browser, self.session, self.target, self.context, self.events = browser, session, target, context, []

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete'", f"{url} loads")

    def run(self, script):
        """The value of an expression, or what its promise becomes."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{details.get('exception', {}).get('description') or details['text']} in: {script}")
        return answer["result"].get("value")

    def until(self, condition, what, seconds=20):
        """Waits until an expression is true. A page that is between two documents has no answer yet."""
        end = time.monotonic() + seconds
        value = None
        while time.monotonic() < end:
            try:
                value = self.run(f"Boolean({condition})")
            except Failure as failure:
                value = failure
            else:
                if value:
                    return value
            time.sleep(0.05)
        raise Failure(f"waited {seconds} s until {what}; the last was {value!r}")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.textContent.trim() ?? null")

    def middle(self, selector):
        place = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            e.scrollIntoView({{block: "nearest"}}); const r = e.getBoundingClientRect();
            return r.width && r.height ? [r.x + r.width / 2, r.y + r.height / 2] : null; }})()""")
        if place is None:
            raise Failure(f"nothing to see at {selector}")
        return place

    def click(self, selector):
        self.click_at(*self.middle(selector))

    def click_at(self, x, y):
        self.move_to(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def move_to(self, x, y, pressed=False):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="left" if pressed else "none", buttons=int(pressed))

    def drag(self, start, end, steps=12):
        self.move_to(*start)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], button="left", clickCount=1)
        for step in range(1, steps + 1):
            self.move_to(*(a + (b - a) * step / steps for a, b in zip(start, end)), pressed=True)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)

    def key(self, name, shift=False):
        code, text = KEYS.get(name, (ord(name[0].upper()), name))
        params = {"key": " " if name == "Space" else name, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0,
                  "code": f"Key{name.upper()}" if len(name) == 1 else name}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **params)
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        """Takes an entry of a menu, as a person's choice is told to the page."""
        self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.focus(); e.value = {json.dumps(value)};
            if (e.value !== {json.dumps(value)}) throw new Error("no such choice"); e.dispatchEvent(new Event("change", {{bubbles: true}})); }})()""")

    def fill(self, selector, text):
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self.type(text)

    def take(self, method):
        """The params of the events of a kind that have come since it was last asked for."""
        with self.browser.changed:
            taken = [event["params"] for event in self.events if event["method"] == method]
            self.events = [event for event in self.events if event["method"] != method]
        return taken

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """What the page wrote to the console as an error, and what its content security policy refused."""
        out = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                out.append(details.get("exception", {}).get("description") or details["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] == "error":
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                out.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        return out
