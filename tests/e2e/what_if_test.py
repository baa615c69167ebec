#!/usr/bin/env python3
"""`--what-if`: each action in a browser behind a link, over HTTP/1.1 and HTTP/2: what it does on
the wire, and to which request; two actions on one document; a warm cache; refusals; `whatif`."""

import hashlib
import json
import pathlib
import random
import shutil
import struct
import tempfile
import zlib

import harness
from gate_sites import noise
from wire import Certificate, Origin, response

HOST, THIRD, LATE = "www.page.test", "third.page.test", "late.page.test"
ADDRESSES = {HOST: "127.0.1.1", THIRD: "127.0.1.2", LATE: "127.0.1.3"}
URL = f"https://{HOST}/"
RTT_MS = 100
LINK = f"20mbit/20mbit/{RTT_MS}"
PROTOCOLS = ("h1", "h2")
QUICK = ("--quiet", "500", "--settle", "200")


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
    """One recording for all tests; `load()` gives the first load of each protocol."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.archive = cls.kept / "page.reprise"
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
                                      tls=Certificate(cls.kept / host, (host,))))
            arguments = [each for origin in origins for each in origin.connect_to()]
            done = harness.run("record", "-o", str(cls.archive), "--inject", "none",
                               "--insecure-origin", *arguments, URL, folder=cls.kept, timeout=120)
        finally:
            for origin in origins:
                origin.close()
        assert done.returncode == 0, done.stderr.decode()
        cls.base = {}

    def load(self, *texts, protocols=PROTOCOLS, arguments=()):
        result = self.folder / "result.json"
        what_ifs = [each for text in texts for each in ("--what-if", text)]
        link = () if "--link" in arguments else ("--link", LINK)
        done = harness.run("load", str(self.archive), URL, *link, *QUICK, "--inject", "none",
                           "--protocol", ",".join(protocols), "-o", str(result), *what_ifs,
                           *arguments, folder=self.folder, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.result = json.loads(result.read_text())
        loads = {each["configuration"]["protocol"]: Load(each) for each in self.result["loads"]}
        self.assertEqual(set(loads), set(protocols))
        return loads

    def pairs(self, *texts, also=(), **options):
        """For each protocol: a load without `texts`, and one with them. Both with `also`."""
        key = (also, options.get("protocols"), options.get("arguments"))
        if key not in self.base:
            type(self).base[key] = self.load(*also, **options)
        changed = self.load(*also, *texts, **options)
        return [(self.base[key][protocol], load) for protocol, load in changed.items()]

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


def span(request):
    return request["end_ms"] - request["start_ms"]


class Conditions(Recorded):
    def test_think_time_of_the_document_moves_all(self):
        for base, load in self.pairs("path=/: think=+300ms"):
            for metric in ("load_event_ms", "first_contentful_paint_ms"):
                self.assertGreater(load[metric] - base[metric], 150)

    def test_think_time_from_a_file(self):
        times = self.folder / "times"
        times.write_text("[400, 400.0]\n400\n")
        for base, load in self.pairs(f"path=/: think={times}"):
            self.assertGreater(load["load_event_ms"] - base["load_event_ms"], 200)

    def test_an_origin_further_away_costs_its_round_trips(self):
        # TCP, TLS 1.3, the request: three more of each.
        for base, load in self.pairs("host=third.page.test: rtt=+50ms"):
            ad = "third.page.test/ad.js"
            self.assertGreater(span(load.request(ad)) - span(base.request(ad)), 100)
            style = "www.page.test/style.css"
            self.assertAlmostEqual(span(load.request(style)), span(base.request(style)), delta=100)

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
        for base, load in self.pairs("host=third.page.test,late.page.test: coalesce",
                                     protocols=("h2",)):
            for url in ("third.page.test/ad.js", "late.page.test/late.png"):
                self.assertNotEqual(base.request(url)["connection"],
                                    base.request("www.page.test/")["connection"])
                self.assertEqual(load.request(url)["connection"],
                                 load.request("www.page.test/")["connection"])
                self.assertEqual(load.request(url)["remote_address"],
                                 load.request("www.page.test/")["remote_address"])
            self.assertLess(span(load.request("third.page.test/ad.js")),
                            span(base.request("third.page.test/ad.js")) - RTT_MS)

    def test_h1_cannot_coalesce(self):
        code, told = self.refused("host=third.page.test: coalesce", arguments=("--protocol", "h1"))
        self.assertEqual(code, 2)
        self.assertIn("cannot share a connection", told)


class Responses(Recorded):
    def test_a_third_party_that_is_gone(self):
        think = "host=third.page.test: think=+600ms"
        slow = self.load(think)
        for protocol, load in self.load("host=third.page.test: drop").items():
            self.assertTrue(load.request("third.page.test/ad.js")["failure"])
            metric = "first_contentful_paint_ms"
            self.assertLess(load[metric], slow[protocol][metric] - 300)
        self.assertEqual(self.refused(think, "host=third.page.test: drop")[0], 2)

    def test_one_resource_of_a_host_that_is_gone(self):
        for base, load in self.pairs("path=/picture.png: drop"):
            self.assertTrue(load.request("www.page.test/picture.png")["failure"])
            self.assertFalse(load.request("www.page.test/app.js")["failure"])

    def test_a_status(self):
        for base, load in self.pairs("path=/ad.js: status=503"):
            self.assertEqual(base.request("third.page.test/ad.js")["status"], 200)
            self.assertEqual(load.request("third.page.test/ad.js")["status"], 503)

    def test_a_body_and_its_coding(self):
        body = self.folder / "new.js"
        body.write_bytes(b"document.title += 'new';//" + 5000 * b" comment")
        texts = (f"path=/app.js: body={body}", "path=/app.js: compress=br")
        for base, load in self.pairs(*texts):
            app = load.request("www.page.test/app.js")
            self.assertEqual(app["body_sha256"], hashlib.sha256(body.read_bytes()).hexdigest())
            self.assertEqual(app["decoded_bytes"], len(body.read_bytes()))
            self.assertLess(app["encoded_bytes"], 1000)
            self.assertNotIn("late.page.test/late.png", load.requests)

    def test_codings_leave_the_bytes(self):
        plain = len(FILES[HOST]["/app.js"][1])
        sizes = {}
        for coding in ("gzip", "br", "zstd"):
            for base, load in self.pairs(f"path=/app.js: compress={coding}"):
                app = load.request("www.page.test/app.js")
                self.assertEqual(app["body_sha256"],
                                 base.request("www.page.test/app.js")["body_sha256"])
                sizes[coding] = app["encoded_bytes"]
                self.assertLess(app["encoded_bytes"], plain * .7)
        self.assertEqual(self.refused("path=/app.js: compress=off")[0], 2)  # it is so already

    def test_a_year_in_the_cache(self):
        for base, load in self.pairs("type=image: cache=1y", arguments=("--cache", "warm")):
            self.assertFalse(base.request("www.page.test/picture.png")["from_cache"])
            self.assertTrue(load.request("www.page.test/picture.png")["from_cache"])
            self.assertFalse(load.request("www.page.test/app.js")["from_cache"])

    def test_half_an_image(self):
        if not shutil.which("vips"):
            code, told = self.refused("type=image: bytes=x0.5")
            self.assertEqual(code, 2)
            self.assertIn("libvips-tools", told)
            self.skipTest("libvips-tools is not installed")
        size = len(FILES[HOST]["/picture.png"][1])
        for base, load in self.pairs("path=/picture.png: bytes=x0.5"):
            picture = load.request("www.page.test/picture.png")
            self.assertEqual(picture["decoded_bytes"], size // 2)
            self.assertFalse(picture["failure"])


class Documents(Recorded):
    def test_a_preload_starts_with_the_documents_first_bytes(self):
        for base, load in self.pairs("path=/late.png: preload"):
            late = load.request("late.page.test/late.png")
            document = load.request("www.page.test/")
            self.assertLess(late["start_ms"] - document["response_ms"], 150)
            self.assertGreater(base.request("late.page.test/late.png")["start_ms"] -
                               base.request("www.page.test/")["response_ms"], 200)

    def test_a_preconnect_saves_the_handshake_of_a_late_host(self):
        for base, load in self.pairs("host=late.page.test: preconnect"):
            late = "late.page.test/late.png"
            self.assertLess(span(load.request(late)), span(base.request(late)) - RTT_MS)

    def test_early_hints_come_before_the_document(self):
        also = ("path=/: think=+500ms", "path=/style.css: cache=1y")
        for base, load in self.pairs("path=/style.css: early-hints", also=also,
                                     protocols=("h2",)):
            # It is there when the document asks for it.
            style = "www.page.test/style.css"
            self.assertLess(span(load.request(style)), .8 * RTT_MS)
            self.assertGreater(span(base.request(style)), .9 * RTT_MS)

    def test_async_and_defer_end_the_wait_for_a_blocking_script(self):
        for action in ("async", "defer"):
            for base, load in self.pairs(f"path=/ad.js: {action}",
                                         also=("path=/ad.js: think=+600ms",)):
                metric = "first_contentful_paint_ms"
                self.assertLess(load[metric], base[metric] - 400)

    def test_priorities(self):
        for base, load in self.pairs("path=/below.png: priority=high",
                                     "path=/picture.png: priority=low"):
            picture, below = "www.page.test/picture.png", "www.page.test/below.png"
            self.assertEqual(load.request(picture)["priority"], "Low")
            self.assertEqual(load.request(below)["priority"], "High")
            for load_, first, second in ((base, picture, below), (load, below, picture)):
                self.assertLess(load_.request(first)["timing"]["send_start_ms"],
                                load_.request(second)["timing"]["send_start_ms"])

    def test_lazy_images_below_the_fold_are_not_fetched(self):
        for base, load in self.pairs("path=/below.png: lazy"):
            self.assertIn("www.page.test/below.png", base.requests)
            self.assertNotIn("www.page.test/below.png", load.requests)

    def test_an_inline_style_sheet_and_script(self):
        for base, load in self.pairs("path=/style.css,/app.js: inline"):
            for url in ("www.page.test/style.css", "www.page.test/app.js"):
                self.assertIn(url, base.requests)
                self.assertNotIn(url, load.requests)
            for url in ("www.page.test/back.png", "late.page.test/late.png"):  # what they ask for
                self.assertFalse(load.request(url)["failure"])

    def test_two_changes_of_one_document(self):
        texts = ("path=/ad.js: async", "path=/ad.js: priority=high", "path=/style.css: inline",
                 "path=/late.png: preload", "path=/: compress=br")
        for base, load in self.pairs(*texts):
            self.assertNotIn("www.page.test/style.css", load.requests)
            self.assertLess(load.request("late.page.test/late.png")["start_ms"],
                            load.request("www.page.test/")["response_ms"] + 150)
            self.assertEqual(load.request("third.page.test/ad.js")["priority"], "High")
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
        done = harness.run("whatif", str(self.archive), URL, "--link", LINK, "--inject", "none",
                           "--what-if", "path=/: think=+400ms", "--what-if",
                           "path=/style.css: inline", "--max-runs", "4", "--look-every", "4",
                           "--skip-noise-check", "--metric", "load", "-o", str(folder),
                           *QUICK, folder=self.folder, timeout=240)
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

    def test_advise(self):
        folder = self.folder / "out"
        done = harness.run("advise", str(self.archive), URL, "--link", LINK, "--inject", "none",
                           "--quiet", "500", "--settle", "200", "--what-if",
                           "path=/ad.js: think=+600ms", "--metric", "fcp", "--candidates", "2",
                           "--max-runs", "6", "-o", str(folder), folder=self.folder, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        report = json.loads((folder / "advice.json").read_text())
        self.assertEqual(len(report["changes"]), 2)
        best = report["changes"][0]
        self.assertEqual([each["kind"] for each in best["changes"]], ["blocking script"])
        self.assertIn('path="/ad.js"', best["changes"][0]["what_if"])
        # On a busy machine disturbed loads do not count, and fewer show less.
        self.assertIn(best["verdict"], ("saves", "undecided"))
        self.assertLess(best["shift"]["estimate"], -200)
        advised = "1. " if best["verdict"] == "saves" else "-  "
        self.assertIn(advised + "Defer https://third.page.test/ad.js", done.stdout.decode())
        self.assertIn("`--what-if", (folder / "advice.md").read_text())
        self.assertIn("as recorded", (folder / "view.html").read_text())


if __name__ == "__main__":
    harness.main()
