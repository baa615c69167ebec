"""A headless Chromium that a test looks into: one page, driven over DevTools' pipe."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

import harness

PROGRAM = shutil.which(harness.BROWSER)
DEADLINE_SECONDS = 60


class Page:
    """`requests` are the URLs that the page asked for, its own among them; `errors` what its
    console shows as wrong: exceptions, errors, warnings, what the policy refused."""

    def __init__(self, program=PROGRAM, *arguments):
        """`arguments` replace `--headless`."""
        self.requests = []
        self.errors = []
        self._downloaded = None
        self._trace = []
        self._traced = False
        self._last_id = 0
        self._buffer = b""
        self._folder = tempfile.mkdtemp(prefix="reprise-page.")
        self._to_us, theirs_out = os.pipe()
        theirs_in, self._to_browser = os.pipe()

        def place():
            # DevTools reads descriptor 3 and writes 4.
            kept_in, kept_out = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(kept_in, 3)
            os.dup2(kept_out, 4)
        # A group of its own, since the program may be a shell script around the browser.
        self._process = subprocess.Popen(
            [program, *(arguments or ["--headless"]), "--no-sandbox", "--remote-debugging-pipe",
             "--hide-scrollbars", "--disable-gpu", "--no-first-run", "--force-color-profile=srgb",
             f"--user-data-dir={self._folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=place, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.session = None
        self.attach(self.call("Target.createTarget", url="about:blank")["targetId"])
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to_us)
        os.close(self._to_browser)
        shutil.rmtree(self._folder, ignore_errors=True)

    def attach(self, target):
        """Looks into that target from now on. Returns its session."""
        self.session = self.browser("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        return self.session

    def browser(self, method, **parameters):
        """As call(), of the browser instead of the page."""
        kept, self.session = self.session, None
        try:
            return self.call(method, **parameters)
        finally:
            self.session = kept

    def call(self, method, **parameters):
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to_browser, data):]
        while True:
            answer = self._next()
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self):
        end = time.monotonic() + DEADLINE_SECONDS
        while b"\0" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._to_us], [], [], left)[0]:
                raise AssertionError(f"the browser said nothing for {DEADLINE_SECONDS} s")
            piece = os.read(self._to_us, 1 << 20)
            if not piece:
                raise AssertionError("the browser ended")
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(event["exceptionDetails"]))
        elif method == "Tracing.dataCollected":
            self._trace += event["value"]
        elif method == "Tracing.tracingComplete":
            self._traced = True
        elif method == "Browser.downloadProgress" and event["state"] == "completed":
            self._downloaded = event["filePath"]
        elif method == "Log.entryAdded":
            self.errors.append(event["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.errors.append(json.dumps(event["args"]))

    def show(self, url, width, height, dark=False, phone=False):
        """Opens `url` in a page of that size and waits for its load event."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-reduced-motion", "value": "reduce"},
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        self.evaluate("new Promise(done => document.readyState === 'complete' ? done() :"
                      " addEventListener('load', done))")

    def evaluate(self, expression):
        """The value of an expression, awaited when it is a promise."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in done:
            raise AssertionError(json.dumps(done["exceptionDetails"])[:2000])
        return done["result"].get("value")

    def download(self, folder, begin):
        """The path of the file, in `folder`, that `begin()` makes the page download."""
        self._downloaded = None
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder),
                  eventsEnabled=True)
        begin()
        while self._downloaded is None:
            self._next()
        return pathlib.Path(self._downloaded)

    def traced(self, categories, act):
        """The events of a trace while `act()` runs; `categories` with commas between them."""
        self._trace, self._traced = [], False
        self.call("Tracing.start", transferMode="ReportEvents",
                  traceConfig={"includedCategories": categories.split(",")})
        act()
        self.call("Tracing.end")
        while not self._traced:
            self._next()
        return self._trace

    def settle(self):
        """Two frames later, all that was asked for is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() =>"
                      " requestAnimationFrame(done)))")

    def press(self, key, settles=True):
        """Unless `settles`, what the key changes need not be drawn yet."""
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)
        if settles:
            self.settle()

    def accessibility(self):
        """What a screen reader is told, in its order: [(depth, role, name, element)], the element
        for element()."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        by_id = {node["nodeId"]: node for node in nodes}
        told = []
        waiting = [(0, nodes[0]["nodeId"])]
        while waiting:
            depth, number = waiting.pop()
            node = by_id[number]
            if not node["ignored"]:
                told.append((depth, node["role"]["value"], node.get("name", {}).get("value", ""),
                             node.get("backendDOMNodeId")))
                depth += 1
            waiting += [(depth, child) for child in reversed(node["childIds"])
                        if child in by_id]
        return told

    def element(self, backend_id):
        """The HTML of an element."""
        return self.call("DOM.getOuterHTML", backendNodeId=backend_id)["outerHTML"]

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))
