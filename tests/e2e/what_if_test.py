#!/usr/bin/env python3
"""`--what-if`: each action in a browser behind a link, over HTTP/2 (thorough: over HTTP/1.1, too):
what it does on the wire, and to which request; two actions on one document; a warm cache; refusals;
`whatif`."""

import base64
import hashlib
import json
import pathlib
import random
import shutil
import struct
import tempfile
import unittest
import zlib

import harness
from gate_sites import noise
from wire import Certificate, Origin, response

HOST, THIRD, LATE = "www.page.test", "third.page.test", "late.page.test"
ADDRESSES = {HOST: "127.0.1.1", THIRD: "127.0.1.2", LATE: "127.0.1.3"}
URL = f"https://{HOST}/"
RTT_MS = 100
LINK = f"20mbit/20mbit/{RTT_MS}"
SHORT_LINK = "50mbit/50mbit/20"
PROTOCOLS = ("h1", "h2") if harness.THOROUGH else ("h2",)
QUICK = ("--quiet", "500", "--settle", "0", "--timeout", "90")


def png(seed, rows):
    """64 bytes a row and a little more, which do not compress."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    chance = random.Random(seed)
    pixels = b"".join(b"\0" + chance.randbytes(63) for _ in range(rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 63, rows, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(pixels, 0)) + chunk(b"IEND", b""))


PAGE = b"""<!doctype html><title>t</title><link rel=icon href=data:,>
<link rel=stylesheet href=/style.css>
<script src=https://third.page.test/ad.js></script>
<script src=/app.js></script>
<p>words</p><img src=/picture.png width=63 height=90>
<div style="height:30000px"></div><img src=/below.png width=63 height=90>
"""
STYLE = b"p { color: green; background: url(/back.png) }"
APP = (b"addEventListener('DOMContentLoaded', () => {"
       b" new Image().src = 'https://late.page.test/late.png' });")
FILES = {
    HOST: {"/": (b"text/html", PAGE), "/style.css": (b"text/css", STYLE),
           "/app.js": (b"text/javascript", APP + b"//" + noise(2, 9000).hex().encode()),
           "/picture.png": (b"image/png", png(3, 90)), "/back.png": (b"image/png", png(4, 9)),
           "/below.png": (b"image/png", png(5, 90))},
    THIRD: {"/ad.js": (b"text/javascript", b"document.title += 'ad'")},
    LATE: {"/late.png": (b"image/png", png(6, 90))},
}


class Recorded(harness.TestCase):
    """One recording for all tests. `loads()` gives the first load of each protocol."""

    archive = None
    kept = {}  # loads, by how they were made

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if Recorded.archive:
            return
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        archive = folder / "page.reprise"
        origins = []
        try:
            for host, files in FILES.items():
                def answer(request, files=files):
                    if request.target not in files:
                        return response(b"", b"404 Not Found")
                    kind, body = files[request.target]
                    return response(body, headers=b"Content-Type: " + kind +
                                    b"\r\nCache-Control: no-store\r\n"
                                    b"Timing-Allow-Origin: *\r\n")
                origins.append(Origin(answer, names=(host,), address=ADDRESSES[host],
                                      tls=Certificate(folder / host, (host,))))
            arguments = [each for origin in origins for each in origin.connect_to()]
            done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                               "--inject", "none", "--insecure-origin", *arguments, URL,
                               folder=folder, timeout=120)
        finally:
            for origin in origins:
                origin.close()
        assert done.returncode == 0, done.stderr.decode()
        Recorded.archive = archive

    def load(self, *texts, protocols=PROTOCOLS, arguments=()):
        result = self.folder / "result.json"
        what_ifs = [each for text in texts for each in ("--what-if", text)]
        link = () if "--link" in arguments else ("--link", LINK)
        # Without windows, Chromium does not connect ahead.
        browser = "chromium" if "preconnect" in " ".join(texts) else harness.BROWSER
        done = harness.run("load", str(self.archive), URL, "--browser", browser, *link, *QUICK,
                           "--no-selfcheck", "--inject", "none", "--protocol",
                           ",".join(protocols), "-o", str(result), *what_ifs, *arguments,
                           folder=self.folder, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.result = json.loads(result.read_text())
        loads = {each["configuration"]["protocol"]: Load(each) for each in self.result["loads"]}
        self.assertEqual(set(loads), set(protocols))
        return loads

    def mixed_loads(self):
        """Changes by files, a status and half an image, of different requests."""
        times, body = (self.archive.parent / name for name in ("times", "new.js"))
        times.write_text("[400, 400.0]\n400\n")
        body.write_bytes(NEW_SCRIPT)
        return self.loads(f"host=third.page.test: think={times}", "path=/ad.js: status=503",
                          f"path=/app.js: body={body}", "path=/app.js: compress=br",
                          *((HALVED,) if HAS_VIPS else ()))

    def loads(self, *texts, **options):
        """A load over each protocol; the same for all tests that ask for the same."""
        key = (texts, *sorted(options.items()))
        if key not in self.kept:
            self.kept[key] = list(self.load(*texts, **options).values())
        return self.kept[key]

    def pairs(self, *texts, **options):
        """For each protocol: a load of the page as it is, and one with `texts`."""
        return zip(self.loads(**options), self.loads(*texts, **options))

    def refused(self, *texts, arguments=()):
        what_ifs = [each for text in texts for each in ("--what-if", text)]
        done = harness.run("replay", str(self.archive), "--http", "127.0.0.1:0", "--https",
                           "127.0.0.1:0", "--proxy", "off", "--dns", "off", *what_ifs, *arguments,
                           "--", "true", folder=self.folder)
        return done.returncode, done.stderr.decode()


class Load:
    def __init__(self, load):
        self.load = load
        self.requests = {each["url"].partition("://")[2]: each for each in load["requests"]}

    def __getitem__(self, metric):
        return self.load[metric]

    def request(self, url):
        return self.requests[url]

    def timing(self, url):
        return self.requests[url]["timing"]

    def wait_ms(self, url):
        """From the request on the network to the first byte of its response."""
        return self.timing(url)["first_byte_ms"] - self.timing(url)["send_start_ms"]

    def lookup_ms(self, url):
        return self.timing(url)["dns_end_ms"] - self.timing(url)["dns_start_ms"]

    def connect_ms(self, url):
        return self.timing(url)["connect_end_ms"] - self.timing(url)["connect_start_ms"]


# Several changes of different requests, in one load: browsers start slowly. The tests look at what
# cannot be otherwise, however busy the machine is: it makes things later, never earlier.
SOME = ("path=/: think=+300ms", "host=third.page.test: rtt=+50ms",
        "host=late.page.test: dns=+150ms", "path=/picture.png: drop",
        "path=/below.png: lazy", "path=/late.png: preload", "path=/app.js: compress=gzip")
OTHERS = ("path=/ad.js: think=+6000ms", "path=/ad.js: async", "path=/style.css,/app.js: inline")
MORE = ("path=/ad.js: think=+3000ms", "path=/ad.js: defer", "host=late.page.test: preconnect",
        "path=/below.png: priority=high", "path=/picture.png: priority=low",
        "path=/app.js: compress=zstd")
DOCUMENT, AD, LATE_IMAGE = "www.page.test/", "third.page.test/ad.js", "late.page.test/late.png"
STYLE_SHEET, SCRIPT = "www.page.test/style.css", "www.page.test/app.js"
PICTURE, BELOW = "www.page.test/picture.png", "www.page.test/below.png"
CLOCK_MS = 5
HAS_VIPS = shutil.which("vips") is not None
HALVED = "path=/picture.png: bytes=x0.5"
NEW_SCRIPT = b"document.title += 'new';//" + 5000 * b" comment"


class Conditions(Recorded):
    def test_think_time(self):
        for base, load in self.pairs(*SOME):
            self.assertGreater(load.wait_ms(DOCUMENT), 300 + RTT_MS - CLOCK_MS)
            self.assertGreater(base.wait_ms(DOCUMENT), RTT_MS - CLOCK_MS)

    def test_think_time_from_a_file(self):
        for load in self.mixed_loads():
            self.assertGreater(load.wait_ms(AD), 400 + RTT_MS - CLOCK_MS)

    def test_an_origin_further_away_costs_its_round_trips(self):
        for load in self.loads(*SOME):
            self.assertGreater(load.wait_ms(AD), RTT_MS + 50 - CLOCK_MS)
            self.assertGreater(load.connect_ms(AD), 2 * (RTT_MS + 50) - CLOCK_MS)  # TCP, TLS 1.3

    def test_a_name_that_is_slow_to_resolve(self):
        for base, load in self.pairs(*SOME):
            self.assertGreater(load.lookup_ms(LATE_IMAGE), RTT_MS + 150 - CLOCK_MS)
            self.assertGreater(base.lookup_ms(LATE_IMAGE), RTT_MS - CLOCK_MS)
        for asked, arguments in (("dns=+1ms", ()), ("dns=1ms", ("--dns", "127.0.0.1:0"))):
            code, told = self.refused(f"host=third.page.test: {asked}", arguments=arguments)
            self.assertEqual(code, 2, told)

    def test_another_protocol_for_one_host(self):
        other = {"h1": ("h2", "http/1.1"), "h2": ("h1", "h2")}
        for protocol, (asked, rest) in other.items():
            load = self.load(f"host=third.page.test: protocol={asked}",
                             protocols=(protocol,))[protocol]
            spoken = {url.split("/")[0]: each["protocol"] for url, each in load.requests.items()
                      if "." in url}
            self.assertEqual(spoken[THIRD], {"h2": "h2", "h1": "http/1.1"}[asked])
            self.assertEqual({spoken[HOST], spoken[LATE]}, {rest})

    def test_coalesced_hosts_share_the_pages_connection(self):
        base = self.loads()[PROTOCOLS.index("h2")]
        load, = self.loads("host=third.page.test,late.page.test: coalesce", protocols=("h2",))
        for url in (AD, LATE_IMAGE):
            self.assertNotEqual(base.request(url)["connection"],
                                base.request(DOCUMENT)["connection"])
            for field in ("connection", "remote_address"):
                self.assertEqual(load.request(url)[field], load.request(DOCUMENT)[field])
            self.assertGreater(base.connect_ms(url), 2 * RTT_MS - CLOCK_MS)
            self.assertIsNone(load.timing(url)["connect_start_ms"])

    def test_h1_cannot_coalesce(self):
        code, told = self.refused("host=third.page.test: coalesce", arguments=("--protocol", "h1"))
        self.assertEqual(code, 2)
        self.assertIn("cannot share a connection", told)


class Responses(Recorded):
    def test_a_third_party_that_is_gone(self):
        for load in self.loads("host=third.page.test: drop"):
            self.assertTrue(load.request(AD)["failure"])
            self.assertFalse(load.request(LATE_IMAGE)["failure"])
        self.assertEqual(self.refused("host=third.page.test: think=+600ms",
                                      "host=third.page.test: drop")[0], 2)

    def test_one_resource_of_a_host_that_is_gone(self):
        for load in self.loads(*SOME):
            self.assertTrue(load.request(PICTURE)["failure"])
            self.assertFalse(load.request(SCRIPT)["failure"])

    def test_a_status_and_half_an_image(self):
        if not HAS_VIPS:
            code, told = self.refused(HALVED)
            self.assertEqual(code, 2)
            self.assertIn("libvips-tools", told)
        size = len(FILES[HOST]["/picture.png"][1])
        for base, load in zip(self.loads(), self.mixed_loads()):
            self.assertEqual(base.request(AD)["status"], 200)
            self.assertEqual(load.request(AD)["status"], 503)
            self.assertFalse(load.request(PICTURE)["failure"])
            self.assertEqual(load.request(PICTURE)["decoded_bytes"],
                             size // 2 if HAS_VIPS else size)

    def test_a_body_and_its_coding(self):
        for load in self.mixed_loads():
            app = load.request(SCRIPT)
            self.assertEqual(app["body_sha256"], hashlib.sha256(NEW_SCRIPT).hexdigest())
            self.assertEqual(app["decoded_bytes"], len(NEW_SCRIPT))
            self.assertLess(app["encoded_bytes"], 1000)
            self.assertNotIn(LATE_IMAGE, load.requests)

    def test_codings_leave_the_bytes(self):
        plain = len(FILES[HOST]["/app.js"][1])
        for texts in (SOME, MORE):
            for base, load in self.pairs(*texts):
                self.assertEqual(load.request(SCRIPT)["body_sha256"],
                                 base.request(SCRIPT)["body_sha256"])
                self.assertLess(load.request(SCRIPT)["encoded_bytes"], plain * .7)
        self.assertEqual(self.refused("path=/app.js: compress=off")[0], 2)  # it is so already

    def test_a_year_in_the_cache(self):
        for base, load in self.pairs("type=image: cache=1y", arguments=("--cache", "warm")):
            self.assertFalse(base.request(PICTURE)["from_cache"])
            self.assertTrue(load.request(PICTURE)["from_cache"])
            self.assertFalse(load.request(SCRIPT)["from_cache"])


class Documents(Recorded):
    def test_a_preload_starts_with_the_document(self):
        for base, load in self.pairs(*SOME):
            self.assertGreater(base.request(LATE_IMAGE)["start_ms"],
                               base.request(SCRIPT)["end_ms"])  # which asks for it
            self.assertLess(load.request(LATE_IMAGE)["start_ms"],
                            load.request(SCRIPT)["response_ms"])

    def demand_integrity(self):
        digest = base64.b64encode(hashlib.sha256(FILES[HOST]["/app.js"][1]).digest())
        page, self.archive = self.folder / "page.html", self.folder / "integrity.reprise"
        page.write_bytes(PAGE.replace(b"/app.js", b"/app.js nonce=n integrity=sha256-" + digest))
        harness.run("archive", "edit", str(Recorded.archive), "1", "--body", str(page),
                    "-o", str(self.archive))

    def test_a_preload_of_a_script_with_an_integrity_is_used(self):
        self.demand_integrity()
        self.load("path=/app.js: preload", protocols=("h2",))
        for load in self.result["loads"]:
            urls = [each["url"].partition("://")[2] for each in load["requests"]]
            self.assertEqual(urls.count(SCRIPT), 1, urls)
            self.assertIn(LATE_IMAGE, urls)  # the script ran

    def test_a_preconnect_saves_the_handshake_of_a_late_host(self):
        for base, load in self.pairs(*MORE):
            self.assertGreater(base.connect_ms(LATE_IMAGE), 2 * RTT_MS - CLOCK_MS)
            self.assertIsNone(load.timing(LATE_IMAGE)["connect_start_ms"])

    def test_early_hints_come_before_the_document(self):
        also = ("path=/: think=+3000ms", "path=/style.css: cache=1y")
        load, = self.loads(*also, "path=/style.css: early-hints", protocols=("h2",))
        self.assertTrue(load.request(STYLE_SHEET)["from_cache"])  # when the document asks for it

    def test_early_hints_of_a_script_with_an_integrity_come_before_the_document(self):
        self.demand_integrity()
        load, = self.load("path=/: think=+3000ms", "path=/app.js: cache=1y",
                          "path=/app.js: early-hints", protocols=("h2",)).values()
        self.assertTrue(load.request(SCRIPT)["from_cache"])

    def test_async_and_defer_end_the_wait_for_a_blocking_script(self):
        metric = "first_contentful_paint_ms"
        for base in self.loads():
            self.assertGreater(base[metric], base.request(AD)["end_ms"])
        for texts in (OTHERS, MORE):
            loads = self.loads(*texts)
            for _ in range(2):  # a busy machine may paint late
                if all(load[metric] < load.request(AD)["end_ms"] for load in loads):
                    break
                loads = self.load(*texts).values()
            for load in loads:
                self.assertLess(load[metric], load.request(AD)["end_ms"])

    def test_priorities(self):
        for base, load in self.pairs(*MORE):
            self.assertEqual(load.request(PICTURE)["priority"], "Low")
            self.assertEqual(load.request(BELOW)["priority"], "High")
            for load_, first, second in ((base, PICTURE, BELOW), (load, BELOW, PICTURE)):
                self.assertLess(load_.timing(first)["send_start_ms"],
                                load_.timing(second)["send_start_ms"])

    def test_lazy_images_below_the_fold_are_not_fetched(self):
        for base, load in self.pairs(*SOME):
            self.assertIn(BELOW, base.requests)
            self.assertNotIn(BELOW, load.requests)

    def test_an_inline_style_sheet_and_script(self):
        for base, load in self.pairs(*OTHERS):
            for url in (STYLE_SHEET, SCRIPT):
                self.assertIn(url, base.requests)
                self.assertNotIn(url, load.requests)
            for url in ("www.page.test/back.png", LATE_IMAGE):  # what they ask for
                self.assertFalse(load.request(url)["failure"])

    def test_five_changes_of_one_document(self):
        texts = ("path=/ad.js: async", "path=/ad.js: priority=high", "path=/style.css: inline",
                 "path=/late.png: preload", "path=/: compress=br")
        for load in self.load(*texts).values():
            self.assertNotIn(STYLE_SHEET, load.requests)
            self.assertLess(load.request(LATE_IMAGE)["start_ms"],
                            load.request(SCRIPT)["response_ms"])
            self.assertEqual(load.request(AD)["priority"], "High")
            self.assertEqual([each["changed"] for each in self.result["what_ifs"]],
                             [1, 1, 1, 1, 1])


class Refusals(Recorded):
    def test_what_cannot_be(self):
        for text, why in (
                ("type=script", "needs 'FILTER: ACTION'"),
                (": drop", "no filter"),
                ("host=: drop", "a value is missing"),
                ("hots=a: drop", "unknown field 'hots'"),
                ("*: jump", "unknown action 'jump'"),
                ("*: status=304", "status needs"),
                ("*: think=soon", "needs a time"),
                ("*: rtt=+0ms", "rtt=+0ms changes nothing"),
                ("*: think=x2", "it has no think time"),
                ("*: rtt=40", "rtt needs a time to add"),
                ("*: bytes=x2", "a factor below 1"),
                ("*: cache=soon", "cache needs an age"),
                ("*: body=/nowhere", "/nowhere"),
                ("*: protocol=spdy", "protocol needs"),
                ("*: priority=top", "priority needs"),
                ("@/nowhere", "/nowhere"),
                ("host=nobody.test: drop", "selects no request"),
                ("type=html: preload", "cannot be preloaded"),
                ("path=/late.png: lazy", "no document mentions it"),
                ("*: " + 70 * "(" + "drop", "unknown action"),
                (70 * "(" + "host=a" + 70 * ")" + ": drop", "nested"),
                ("*: rtt=+10ms", "packet link")):
            code, told = self.refused(text)
            self.assertEqual(code, 2, (text, told))
            self.assertIn(why, told)

    def test_a_protocol_that_is_spoken_already_in_some_rows(self):
        for load in self.load("*: protocol=h2", protocols=("h1", "h2")).values():
            self.assertEqual(load.request(SCRIPT)["protocol"], "h2")
        made, = self.result["what_ifs"]
        self.assertGreater(made["changed"], 0)
        self.assertIn("it is so already with --protocol h2: ", made["remarks"][0])

    def test_a_protocol_that_all_hosts_speak_already(self):
        for spoken, other in (("h1", "h2"), ("h2", "h1")):
            for asked, code in ((spoken, 2), (other, 0)):
                got, told = self.refused(f"*: protocol={asked}", arguments=("--protocol", spoken))
                self.assertEqual(got, code, told)
                self.assertEqual("it is so already" in told, code == 2, told)
        got, told = self.refused("*: protocol=h3", arguments=("--protocol", "h3"))
        self.assertEqual(got, 2, told)
        self.assertIn("it is so already", told)

    def test_an_archive_that_is_missing(self):
        for words in (("advise",), ("whatif", "--what-if", "*: drop"), ("gate", "", "")):
            done = harness.run(*words, folder=self.folder)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"the archive is missing", done.stderr)

    def test_a_file_of_them(self):
        lines = self.folder / "changes"
        lines.write_text("# third parties\nhost=third.page.test: drop\n\n  type=image: cache=1y\n")
        code, told = self.refused(f"@{lines}")
        self.assertEqual(code, 0, told)
        self.assertIn("what if host=third.page.test: drop: 1 change by 1 request\n", told)
        self.assertIn("what if type=image: cache=1y: 4 changes by 4 requests\n", told)


class Measured(Recorded):
    def test_whatif(self):
        folder = self.folder / "out"
        done = harness.run("whatif", str(self.archive), URL, "--link", SHORT_LINK,
                           "--inject", "none", "--what-if",
                           "path=/: think=+400ms", "--what-if", "path=/style.css: inline",
                           "--max-runs", "4", "--look-every", "4",
                           "--skip-noise-check", "--metric", "load", "--min-effect", "100ms",
                           "--allow", "calibration",
                           "--browser", harness.BROWSER, "-o", str(folder), *QUICK,
                           folder=self.folder, timeout=900)
        self.assertIn(done.returncode, (0, 6), done.stderr.decode())
        report = json.loads((folder / "whatif.json").read_text())
        self.assertEqual([each["text"] for each in report["what_ifs"]],
                         ["path=/: think=+400ms", "path=/style.css: inline"])
        self.assertEqual(report["requests"]["went"], [f"GET {URL}style.css"])
        self.assertIn(f"GET {URL}app.js", [each["url"] for each in report["requests"]["moved"]])
        self.assertIn("requests that went: 1", done.stdout.decode())
        self.assertIn("load event +", done.stdout.decode())
        self.assertIn("what if", (folder / "view.html").read_text())
        self.assertNotIn("what_ifs", json.loads((folder / "a.json").read_text()))
        self.assertEqual(len(json.loads((folder / "b.json").read_text())["what_ifs"]), 2)


if __name__ == "__main__":
    harness.main()
