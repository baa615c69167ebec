#!/usr/bin/env python3
"""Beacons of real pages, from end to end: a Chromium loads a page with our script, the nginx of
docs/beacons.md writes what it sends to a file, our reader gives the browser's own times. Pages that
are hostile to the script see no error from it."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

import devtools
import harness
import nginx_site
from wire import DEADLINE_SECONDS

BUILD = harness.REPOSITORY / "build/release"
READER = os.environ.get("READ_BEACONS", BUILD / "read_beacons")
SCRIPT = os.environ.get("BEACON_SCRIPT", BUILD / "analysis/beacons/beacon.min.js")
TIMES_AGREE_US = 5000

TYPES = "types { text/html html; text/javascript js; text/css css; image/png png; }\n"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>page</title>
<script>{before}</script>
<script src="/beacon.js" data-country="D&quot;\u00c9" data-build="7"></script>
<link rel="stylesheet" href="/style.css?token=secret"><script src="/app.js"></script>
<img src="/a.png"><img src="/b.png"><img src="http://localhost:{port}/closed.png">"""
RESOURCES = 7  # with the script itself, and what APP fetches
APP = "performance.measure('</script>\\u00e9\\n', {start: 0, end: 12.5}); fetch('/data.png');"

# What pages, or other scripts in them, do to the browser.
HOSTILE = {
    "frozen": "Object.freeze(performance); Object.freeze(navigator); Object.freeze(document);"
              "Object.freeze(Performance.prototype); Object.freeze(Navigator.prototype)",
    "no performance": "Object.defineProperty(window, 'performance', {value: undefined})",
    "no sendBeacon": "delete Navigator.prototype.sendBeacon",
    "sendBeacon throws": "Navigator.prototype.sendBeacon = () => { throw new Error('mine') }",
    "sendBeacon is no function": "Navigator.prototype.sendBeacon = 7",
    "no entries": "Performance.prototype.getEntriesByType = () => { throw new Error('mine') }",
    "odd entries": "Performance.prototype.getEntriesByType = () => [null, {name: Symbol('s')}]",
    "no JSON": "JSON.stringify = () => { throw new Error('mine') }",
    "old toJSON": "Array.prototype.toJSON = function () { throw new Error('mine') }",
    "no listeners": "const listen = EventTarget.prototype.addEventListener;"
                    "EventTarget.prototype.addEventListener = function (...all) {"
                    " if (new Error().stack.includes('beacon.js')) throw new Error('mine');"
                    " return listen.apply(this, all) }",
    "no Blob": "delete window.Blob",
    "no currentScript": "Object.defineProperty(document, 'currentScript', {value: null})",
    "odd lists": "Array.prototype.map = Array.prototype.forEach = "
                 "() => { throw new Error('mine') }",
}


def tenths(milliseconds):
    """What the script sends of a time: tenths of milliseconds, rounded as JavaScript does."""
    return math.floor(10 * milliseconds + 0.5)


class Site:
    """The page in `folder`, served by the configuration that docs/beacons.md shows."""

    def __init__(self, folder):
        self.folder = folder / "nginx"
        self.root = self.folder / "www"
        self.root.mkdir(parents=True)
        self.folder.chmod(0o755)
        self.beacons = self.folder / "beacons.ndjson"
        shutil.copy(SCRIPT, self.root / "beacon.js")
        for name in ("a.png", "b.png", "closed.png", "data.png"):
            (self.root / name).write_bytes(b"\x89PNG" + b"x" * 500)
        (self.root / "style.css").write_text("p { color: red }")
        (self.root / "app.js").write_text(APP)
        text = (harness.REPOSITORY / "docs/beacons.md").read_text()
        servers = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)[1]
        self.process, self.port, _ = harness.at_free_ports(
            lambda port, inner: nginx_site.start(self.folder,
                                                 TYPES + self.changed(servers, port, inner)),
            harness.LOOPBACK, harness.LOOPBACK)

    def changed(self, servers, port, inner):
        """The documented configuration with our ports and files."""
        for documented, ours in (("listen 80;", f"listen 127.0.0.1:{port};"),
                                 ("127.0.0.1:8081", f"127.0.0.1:{inner}"),
                                 ("/var/www", str(self.root)),
                                 ("/var/log/nginx/beacons.ndjson", str(self.beacons)),
                                 ("flush=10s", "flush=1ms")):
            assert documented in servers, documented
            servers = servers.replace(documented, ours)
        return servers

    def page(self, name, before=""):
        (self.root / f"{name}.html").write_text(PAGE.format(before=before, port=self.port))
        return f"http://127.0.0.1:{self.port}/{name}.html"

    def close(self):
        if self.process.poll() is None:
            nginx_site.stop(self.process)

    def views(self, at_least):
        """The call trees of all beacons, of which so many come, and the counts of lines."""
        for _ in harness.watch_folder(self.folder, self.process.pid, harness.MODIFIED):
            if self.beacons.exists() and self.beacons.read_bytes().count(b"\n") >= at_least:
                break
        self.close()
        with open(self.beacons, "rb") as beacons:
            done = subprocess.run([READER], stdin=beacons, stdout=subprocess.PIPE, check=True,
                                  timeout=DEADLINE_SECONDS)
        *views, counts = map(json.loads, done.stdout.splitlines())
        return views, counts


@unittest.skipUnless(devtools.PROGRAM, "no chromium-headless-shell")
class Beacons(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.site = Site(self.folder)
        self.addCleanup(self.site.close)
        self.page = devtools.Page()
        self.addCleanup(self.page.close)

    def leave(self):
        """The page sends its beacon when it is left, some time after this returns."""
        self.page.call("Page.navigate", url=f"http://127.0.0.1:{self.site.port}/a.png")

    def test_the_reader_gives_what_the_browser_measured(self):
        self.page.show(self.site.page("page"), 1280, 900)
        known = self.page.evaluate(
            "new Promise(done => new PerformanceObserver(() => {"
            f" if (performance.getEntriesByType('resource').length === {RESOURCES}) done(); "
            "}).observe({type: 'resource', buffered: true}))"
            ".then(() => ({load: performance.getEntriesByType('navigation')[0].loadEventStart,"
            " started: performance.timeOrigin, network: navigator.connection.effectiveType,"
            " entries: [...performance.getEntriesByType('navigation'),"
            " ...performance.getEntriesByType('resource')].map(entry => entry.toJSON())}))")
        self.leave()
        views, counts = self.site.views(1)
        self.assertEqual(counts, {"lines": 1, "views": 1, "bad_lines": 0})
        view, = views
        self.assertEqual(view["page"], f"http://127.0.0.1:{self.site.port}/page.html")
        self.assertEqual(view["tags"], {"network": known["network"], "country": "D\"\u00c9",
                                        "build": "7"})
        self.assertAlmostEqual(view["started_unix_ms"], known["started"], delta=1)
        self.assertAlmostEqual(view["window_us"], 1000 * known["load"], delta=TIMES_AGREE_US)
        requests = [(place, call) for place, call in enumerate(view["calls"])
                    if call["kind"] == "request"]
        self.assertEqual(len(requests), len(known["entries"]))
        self.assertEqual(len(requests), 1 + RESOURCES)
        for (place, call), entry in zip(requests, known["entries"]):
            self.assertEqual(call["name"], entry["name"].split("?")[0])
            start, end = call["start_us"], call["end_us"]
            self.assertAlmostEqual(start, 1000 * entry["startTime"], delta=TIMES_AGREE_US)
            self.assertAlmostEqual(end, 1000 * entry["responseEnd"], delta=TIMES_AGREE_US)
            wait = [each for each in view["calls"]
                    if each.get("parent") == place and each["name"] == "wait"]
            # None for the closed port, nor for an answer that was there within the clock's step.
            self.assertEqual(len(wait), int(tenths(entry["requestStart"])
                                            < tenths(entry["responseStart"])), entry)
            for each in wait:
                self.assertAlmostEqual(each["start_us"], 1000 * entry["requestStart"],
                                       delta=TIMES_AGREE_US)
                self.assertAlmostEqual(each["end_us"], 1000 * entry["responseStart"],
                                       delta=TIMES_AGREE_US)
        measure, = [call for call in view["calls"] if call["kind"] == "measure"]
        self.assertEqual((measure["name"], measure["end_us"]), ("</script>\u00e9\n", 12500))
        self.assertEqual(self.page.errors, [])

    def test_hostile_pages_see_no_error(self):
        for name, before in HOSTILE.items():
            with self.subTest(name):
                seen = ("window.seen = []; window.onerror = (text, source, line, column, error) =>"
                        " seen.push(`${source} ${error && error.stack}`);")
                self.page.show(self.site.page(name.replace(" ", "_"), seen + before), 800, 600)
                errors = self.page.evaluate(
                    "(dispatchEvent(new Event('pagehide')),"
                    " document.dispatchEvent(new Event('visibilitychange')),"
                    " new Promise(done => setTimeout(() => done(seen))))")
                # Ours alone: app.js of the page is hit by its own deeds.
                self.assertEqual([each for each in errors + self.page.errors
                                  if "beacon" in each], [])
        self.leave()
        views, counts = self.site.views(3)
        self.assertEqual(counts["bad_lines"], 0)
        self.assertGreaterEqual(len(views), 3, "frozen, no currentScript, no entries, ...")


if __name__ == "__main__":
    if not devtools.PROGRAM:
        print("skipped: Chromium and nginx are needed")
        sys.exit(harness.SKIPPED)
    harness.main()
