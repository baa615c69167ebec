"""Pages of tests/e2e/pages, recorded from an origin, loaded from the archive in real browsers."""

import html
import json
import mimetypes
import pathlib
import re
import shutil
import unittest

import harness
from wire import Certificate, response

PAGES = pathlib.Path(__file__).resolve().parent / "pages"
HOSTS = ("one.test", "two.test")
BROWSERS = [name for name in ("chromium-headless-shell", "firefox-esr") if shutil.which(name)]
# For what the second one seldom does otherwise.
FEWER_BROWSERS = BROWSERS if harness.THOROUGH else BROWSERS[:1]
LOAD_SECONDS = 90


def write_har(path, files, started, fields=()):
    """Resources of https://one.test as if fetched at `started`. files: name -> (type, text)."""
    entries = []
    for name, (kind, text) in files.items():
        headers = {**dict(fields), "Content-Type": kind}
        entries.append({
            "startedDateTime": started, "time": 1,
            "request": {"method": "GET", "url": f"https://{HOSTS[0]}/{name}",
                        "httpVersion": "HTTP/1.1", "headers": [], "queryString": [], "cookies": [],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
                         "headers": [{"name": key, "value": value}
                                     for key, value in headers.items()],
                         "cookies": [], "redirectURL": "", "headersSize": -1, "bodySize": len(text),
                         "content": {"size": len(text), "mimeType": kind, "text": text}},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}})
    path.write_text(json.dumps({"log": {
        "version": "1.2", "creator": {"name": "x", "version": ""}, "entries": entries}}))


@unittest.skipUnless(BROWSERS, "no chromium-headless-shell and no firefox-esr")
class Pages(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "pages.reprise"

    def record_pages(self, paths):
        """Records `paths` (with queries) of every host."""
        tls = Certificate(self.folder / "tls", HOSTS)
        origin = self.origin(self.answer, names=HOSTS, tls=tls)
        recorder = self.record(self.archive, origins=[origin])
        for host in HOSTS:
            with recorder.connect("https", host) as client:
                for path in paths:
                    self.assertEqual(client.get(path, host).status, 200, path)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()

    @staticmethod
    def answer(request):
        path = PAGES / request.target.split("?")[0].lstrip("/")
        kind = mimetypes.guess_type(path.name)[0]
        return response(path.read_bytes(), headers=f"Content-Type: {kind}\r\n".encode())

    def load(self, url, browser, *arguments, runs=1, seconds=LOAD_SECONDS):
        """The loads of a page, each in a new browser, as `reprise load` tells of them."""
        result = self.folder / "loads.json"
        done = harness.run("load", str(self.archive), url, "--browser", browser, "--runs",
                           str(runs), "--warm-up", "0", "--dom", "--no-bodies", "--settle", "0",
                           "--timeout", str(seconds), "-o", str(result), *arguments,
                           folder=self.folder, timeout=runs * (seconds + 120))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(result.read_text())["loads"]

    def told(self, load):
        """What the page has written into <pre id="told">."""
        found = re.search(r'<pre id="told">(.*?)</pre>', load["dom"], re.DOTALL)
        self.assertIsNotNone(found, (load["console_errors"], load["dom"][-2000:]))
        return json.loads(html.unescape(found.group(1)))
