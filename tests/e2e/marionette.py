"""A Firefox without windows whose inside a test looks into: driven by Marionette, Firefox's own
protocol of remote control, in the scope of the browser itself."""

import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from wire import DEADLINE_SECONDS

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.region.network.url": "",
    "browser.search.update": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "devtools.toolbox.footer.height": 500,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:1",
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    def __init__(self):
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-firefox."))
        (self._folder / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in PREFERENCES.items()))
        self._process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-remote", "--new-instance", "--marionette",
             "--remote-allow-system-access", "--profile", str(self._folder), "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self._folder), "MOZ_CRASHREPORTER_DISABLE": "1"},
            start_new_session=True)
        self._socket = None
        self._last_id = 0
        try:
            self._socket = socket.create_connection(("127.0.0.1", self._port()),
                                                    DEADLINE_SECONDS)
            self._stream = self._socket.makefile("rb")
            self._read()  # its greeting
            self.call("WebDriver:NewSession", capabilities={})
        except BaseException:
            self.close()
            raise

    def close(self):
        if self._socket:
            self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _port(self):
        told = self._folder / "MarionetteActivePort"
        end = time.monotonic() + DEADLINE_SECONDS
        while not (told.exists() and told.read_text()):
            if self._process.poll() is not None or time.monotonic() > end:
                raise AssertionError("Firefox does not listen")
        return int(told.read_text())

    def _read(self):
        size = b""
        while not size.endswith(b":"):
            byte = self._stream.read(1)
            if not byte:
                raise AssertionError("Firefox ended")
            size += byte
        return json.loads(self._stream.read(int(size[:-1])))

    def call(self, command, **parameters):
        self._last_id += 1
        text = json.dumps([0, self._last_id, command, parameters])
        self._socket.sendall(f"{len(text.encode())}:{text}".encode())
        _, number, error, result = self._read()
        assert number == self._last_id
        if error:
            raise AssertionError(f"{command}: {error['error']}: {error['message']}")
        return result

    def inside(self, script, *arguments):
        """What the body of an asynchronous function returns, which runs in the browser itself."""
        self.call("Marionette:SetContext", value="chrome")
        wrapped = ("const done = arguments[arguments.length - 1];"
                   f"(async (...given) => {{ {script} }})(...arguments).then("
                   "value => done({value}), error => done({error: String(error)}));")
        answer = self.call("WebDriver:ExecuteAsyncScript", script=wrapped, args=list(arguments),
                           sandbox="system")["value"]
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer.get("value")

    def open(self, url):
        self.call("Marionette:SetContext", value="content")
        self.call("WebDriver:Navigate", url=url)

    def install(self, folder):
        self.call("Addon:Install", path=str(folder), temporary=True)

    def screenshot(self, path):
        """Of the whole window."""
        self.call("Marionette:SetContext", value="chrome")
        shot = self.call("WebDriver:TakeScreenshot", full=True, hash=False)["value"]
        path.write_bytes(base64.b64decode(shot))
