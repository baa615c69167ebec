#!/usr/bin/env python3
"""The panel of the extension, in a headless Chromium without developer tools: the panel's page is
opened by itself, and the tools' interface is a stub, which hands over requests, and evaluates in
the panel's own page what is for the inspected one. (extension_devtools_test.py has the real tools.)
Screenshots go to $PAGE_SCREENSHOTS, where that is set."""

import base64
import functools
import http.server
import json
import os
import pathlib
import threading
import unittest
import zipfile
import zlib

import devtools
import harness

BUILD = pathlib.Path(harness.REPRISE).parent
STUB = """
{
const evaluate = (code, done) => { let value; try { value = (0, eval)(code); } catch (error) {
  done(undefined, {isError: true}); return; } done(value, undefined); };
globalThis.chrome = { devtools: {
  network: {
    onRequestFinished: { addListener: (listener) => { globalThis.finish = listener; } },
    getHAR: (done) => done({ entries: globalThis.earlier ?? [] }),
  },
  inspectedWindow: { eval: evaluate },
} };
}
"""


def fields_of(trace):
    """A trace as DevTools has the headers of its response."""
    text = json.dumps(trace).encode()
    coded = base64.b64encode(text).decode()
    lines = [coded[at:at + 76] for at in range(0, len(coded), 76)]
    values = [f"base64lines={len(lines)}; base64bytes={len(coded)}; "
              f"jsoncrc32={zlib.crc32(text)}; jsonbytes={len(text)}"]
    values += [f"{number}={line}" for number, line in enumerate(lines)]
    return [{"name": "banky-trace", "value": value} for value in values]


def entry(url, headers):
    return {"request": {"url": url, "method": "GET"}, "response": {"headers": headers}}


TRACE = {"stack": [[0, 1, 100, [1, 2]], [1, 2, 70, []], [2, 5, 10, []]], "classes": ["shop.Cart"],
         "points": [[0, "show", 3], [0, "tax", -1], [0, "query", 9]]}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipUnless(devtools.PROGRAM, "no chromium-headless-shell")
class Extension(harness.TestCase):
    def setUp(self):
        super().setUp()
        (self.folder / "trace").write_text(json.dumps(TRACE))
        (self.folder / "broken").write_text("{")
        for file in (BUILD / "extension").iterdir():
            # An extension may not evaluate text, but the stub has to.
            text = file.read_text().replace("script-src 'self'", "script-src 'self' 'unsafe-eval';"
                                            " connect-src 'self'")
            (self.folder / file.name).write_text(text)
        handler = functools.partial(Quiet, directory=self.folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.site = f"http://127.0.0.1:{server.server_port}"
        self.page = devtools.Page()
        self.addCleanup(self.page.close)

    def open(self, earlier=(), width=1000, height=640, dark=False):
        self.page.call("Page.addScriptToEvaluateOnNewDocument",
                       source=f"globalThis.earlier = {json.dumps(list(earlier))};{STUB}")
        self.page.show(f"{self.site}/panel.html", width, height, dark)
        self.page.settle()

    def finish(self, url, headers):
        self.page.evaluate(f"finish({json.dumps(entry(url, headers))})")
        self.page.settle()

    def texts(self, selector):
        return self.page.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def choose(self, number):
        self.page.evaluate(f"document.querySelectorAll('#requests li button')[{number}].click()")
        self.page.settle()

    def wait_for(self, selector):
        self.page.evaluate(f"""new Promise(done => {{
            const look = () => document.querySelector({json.dumps(selector)}) ? done()
                : requestAnimationFrame(look);
            look(); }})""")

    def test_requests_appear_as_they_come_with_what_the_server_did(self):
        for width, dark in ((1000, False), (1000, True), (360, False)):
            self.open([entry("https://shop.test/cart", fields_of(TRACE)),
                       entry("https://shop.test/logo.svg", [])], width=width, dark=dark)
            self.assertEqual(len(self.texts("#requests li")), 1)
            self.assertIn("GET cartshop.test · 100 ms", self.texts("#requests li"))
            self.assertEqual(len(self.texts(".trench-bar")), 3)
            self.assertEqual(self.texts(".trench-points .link"), ["tax", "show", "query"])
            self.finish("https://shop.test/again", fields_of(TRACE))
            self.assertEqual(len(self.texts("#requests li")), 2)
            self.assertIn("GET https://shop.test/cart", self.texts("h1"))
            self.choose(1)
            self.assertIn("GET https://shop.test/again", self.texts("h1"))
            self.assertEqual(self.page.errors, [])
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
            if screenshots := os.environ.get("PAGE_SCREENSHOTS"):
                folder = pathlib.Path(screenshots)
                folder.mkdir(parents=True, exist_ok=True)
                look = "dark" if dark else "light"
                self.page.screenshot(folder / f"panel-{width}-{look}.png")
        self.page.evaluate("document.querySelector('.requests-head button').click()")
        self.assertEqual(self.texts("#requests li"), [])

    def test_a_trace_at_a_url_is_fetched_when_it_is_chosen(self):
        self.open()
        self.finish(f"{self.site}/page", [{"name": "Banky-Trace", "value": "url=/trace"}])
        self.wait_for(".trench-bar")
        self.assertEqual(len(self.texts(".trench-bar")), 3)
        self.finish(f"{self.site}/page", [{"name": "Banky-Trace", "value": "url=/missing"}])
        self.finish(f"{self.site}/page", [{"name": "Banky-Trace", "value": "url=/broken"}])
        for number, why in ((1, "its status is 404"), (2, "it is not JSON")):
            self.choose(number)
            self.wait_for("main .failure")
            self.assertIn(why, self.texts("main .failure")[0])

    def test_hostile_traces_are_said_and_harm_nothing(self):
        self.open()
        hostile = "</script><img src=x onerror=alert(1)>"
        named = {**TRACE, "classes": [hostile]}
        circle = {**TRACE, "stack": [[0, 1, 1, [0]]]}
        damaged = fields_of(TRACE)[:-1]
        for path, headers in (("named", fields_of(named)), ("circle", fields_of(circle)),
                              ("damaged", damaged),
                              ("other", [{"name": "Banky-Trace", "value": "url=//b.test/t"}])):
            self.finish(f"https://shop.test/{path}", headers)
        self.assertIn(hostile, self.texts(".trench-points .says")[0])
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)
        for number, why in ((1, "is its own caller"), (2, "is missing"), (3, "of another origin")):
            self.choose(number)
            self.assertIn(why, self.texts("main .failure")[0])
        self.assertEqual([url for url in self.page.requests if "b.test" in url], [])
        self.assertEqual(self.page.errors, [])

    def test_the_zip_is_whole(self):
        with zipfile.ZipFile(BUILD / "trench.zip") as archive:
            self.assertIsNone(archive.testzip())
            names = set(archive.namelist())
            manifest = json.loads(archive.read("manifest.json"))
            self.assertEqual(manifest["manifest_version"], 3)
            self.assertNotIn("permissions", manifest)
            self.assertIn(manifest["devtools_page"], names)
            self.assertIn(b"panel.html", archive.read("devtools.js"))
            for needed in ("panel.html", "panel.js", "panel.css", "devtools.js", "icon.svg"):
                self.assertIn(needed, names)


if __name__ == "__main__":
    harness.main()
