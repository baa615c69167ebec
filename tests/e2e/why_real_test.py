#!/usr/bin/env python3
"""`why` on regressions planted in a real page, http2.github.io of 2018 with a feed of a third
party, among more than ten differences that two visits could have, three of them large and off the
path. An idle machine's test; prints a table. REPRISE_CORPUS names the folder of the recordings.

The recording is a HAR, and so are the changed ones. What HAR cannot hold (certificates and which
names they have) is recorded again, from nginx."""

import base64
import copy
import gzip
import json
import os
import pathlib
import unittest
from urllib.parse import urlsplit

import harness
from gate_sites import noise, words
from nginx_site import Host, NginxSite
from what_if_test import png
from why_sites import TwoRecordings, busy, settle_think_times
from wire import Certificate

CORPUS = os.environ.get("REPRISE_CORPUS")
PAGE = "https://http2.github.io/"
OWN_HOST, TWITTER = "http2.github.io", "platform.twitter.com"
STYLE, SCRIPT, JQUERY = "/asset/site.css", "/js/bootstrap.min.js", "/jquery.min.js"
WIDGETS, LOGO = "https://platform.twitter.com/widgets.js", "Twitter_logo_blue.png"


class Visit:
    """A HAR that can be changed."""

    def __init__(self, text):
        self.har = json.loads(text)
        self.entries = self.har["log"]["entries"]
        # Only where it is recorded again: bytes of comment in a host's certificate; hosts of one
        # certificate and, unless apart, one address.
        self.padding = {}
        self.one_certificate = ()
        self.apart = False

    def entry(self, part):
        """Of the first request whose URL is `part`, or ends with it."""
        return next(each for each in self.entries if each["request"]["url"].endswith(part))

    def of_host(self, host):
        return [each for each in self.entries
                if each["request"]["url"].startswith(f"https://{host}/")]

    def body(self, part):
        content = self.entry(part)["response"]["content"]
        return (base64.b64decode(content["text"]) if content.get("encoding") == "base64"
                else content.get("text", "").encode())

    def set_body(self, part, body):
        response = self.entry(part)["response"]
        response["bodySize"] = len(body)
        response["content"].update(text=base64.b64encode(body).decode(), encoding="base64",
                                   size=len(body))
        self.set_field(part, "content-length", str(len(body)))

    def replace(self, part, old, new):
        body = self.body(part)
        assert old in body, (part, old)
        self.set_body(part, body.replace(old, new, 1))

    def set_field(self, part, name, value):
        response = self.entry(part)["response"]
        response["headers"] = [each for each in response["headers"] if each["name"] != name]
        if value is not None:
            response["headers"].append({"name": name, "value": value})

    def add(self, url, kind, body, like=STYLE, wait_ms=30):
        """A response like that of another request, on the same connection."""
        entry = copy.deepcopy(self.entry(like))
        entry["request"].update(url=url, queryString=[])
        entry["timings"].update(wait=wait_ms, dns=-1, connect=-1, ssl=-1)
        self.entries.append(entry)
        entry["response"]["content"]["mimeType"] = kind
        self.set_body(url, body)
        self.set_field(url, "content-type", kind)
        self.set_field(url, "etag", None)
        return entry

    def think(self, host, more_ms):
        for entry in self.of_host(host):
            entry["timings"]["wait"] += more_ms


def with_after(visit):
    """Three requests after the load event, which nothing waits for."""
    visit.replace(PAGE, b"</body>",
                  b"<script>addEventListener('load', () => setTimeout(() => {"
                  b" for (const n of [1, 2, 3]) fetch('/after' + n + '.bin'); }, 50));</script>"
                  b"</body>")
    for n in (1, 2, 3):
        visit.add(f"{PAGE}after{n}.bin", "application/octet-stream", noise(20 + n, 2_000))


def another_time(visit):
    """What differs in another visit, and costs nothing or next to it."""
    for n in (1, 2, 3):
        visit.set_body(f"/after{n}.bin", noise(30 + n, 60_000))
    visit.replace(PAGE, b"<title>HTTP/2", b"<title>HTTP/2 (2)")
    visit.replace(PAGE, b'<meta name="viewport"',
                  b'<meta name="request-id" content="4EB7"><meta name="viewport"')
    visit.replace(PAGE, b"<h1>HTTP/2", b"<h1 class=large>HTTP/2")
    visit.replace(PAGE, b"It is maintained by", b"It was maintained by")
    visit.replace(PAGE, b'<h2 id="specifications"', b"<script>window.visit = 2</script>"
                  b'<h2 id="specifications"')
    visit.replace(STYLE, b"margin-top: 75px", b"margin-top: 76px")
    visit.replace("bootstrap.min.css", b"Bootstrap v3.1.1", b"Bootstrap v3.1.2")
    visit.replace(SCRIPT, b"Bootstrap v3.1.1", b"Bootstrap v3.1.2")
    visit.set_body(LOGO, visit.body(LOGO) + b"visit 2")
    visit.set_field(JQUERY, "vary", "Accept-Encoding, Origin")
    visit.set_field(WIDGETS, "referrer-policy", "origin")
    visit.replace("https://syndication.twitter.com/settings", b"{", b'{"visit":2,')


@unittest.skipUnless(CORPUS, "REPRISE_CORPUS does not name the recordings")
class Real(TwoRecordings):
    url = PAGE
    allowed = ("misses",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.har = (pathlib.Path(CORPUS) / "rec-har-bodies/webrecorder+har2warc/"
                   "http2.github.io.har").read_bytes()

    def run_archive(self, *arguments):
        done = harness.run("archive", *map(str, arguments), folder=self.kept, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def import_of(self, visit, name):
        har, archive = self.kept / f"{name}.har", self.kept / f"{name}.reprise"
        har.write_text(json.dumps(visit.har))
        self.run_archive("import", har, "-o", archive)
        return archive

    def recording_of(self, visit, name):
        """The visit recorded again: over HTTP/2, all think times 10 ms."""
        origin = NginxSite(self.kept / f"nginx-{name}", self.nginx_hosts(visit, name))
        archive = self.kept / f"{name}.reprise"
        try:
            done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                               "--inject", "none", *origin.connect_arguments(), PAGE,
                               folder=self.kept, timeout=120)
        finally:
            origin.close()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        settle_think_times(archive, self.kept)
        return archive

    def nginx_hosts(self, visit, name):
        files = {}
        for entry in visit.entries:
            url, response = urlsplit(entry["request"]["url"]), entry["response"]
            if response["status"] == 200:
                fields = [("Cache-Control", "no-store")] + [
                    (each["name"], each["value"]) for each in response["headers"]
                    if each["name"].lower().startswith("access-control-allow")]
                files.setdefault(url.hostname, {}).setdefault(url.path, (
                    response["content"]["mimeType"], visit.body(entry["request"]["url"]), fields))
        addresses = {host: f"127.0.1.{n + 1}" for n, host in enumerate(files)}
        folder = self.kept / f"certificates-{name}"
        certificates = {host: Certificate(folder / host, (host,), visit.padding.get(host, 0))
                        for host in files if host not in visit.one_certificate}
        if visit.one_certificate:
            shared = Certificate(folder / "shared", visit.one_certificate)
            certificates.update(dict.fromkeys(visit.one_certificate, shared))
            if not visit.apart:
                addresses.update(dict.fromkeys(visit.one_certificate,
                                               addresses[visit.one_certificate[0]]))
        return {host: Host(addresses[host], certificates[host], of_host)
                for host, of_host in files.items()}

    def visits(self, prepare):
        """The page as it was recorded, without the Content-Encoding fields of bodies that the HAR
        holds decoded."""
        first, again = self.kept / "first.har", self.kept / "again.har"
        first.write_bytes(self.har)
        self.run_archive("import", first, "-o", self.kept / "first.reprise")
        self.run_archive("export", self.kept / "first.reprise", "--to", "har", "-o", again)
        while True:
            visit = Visit(again.read_text())
            with_after(visit)
            prepare(visit)
            yield visit

    def run_case(self, name, plant, first, prepare=lambda visit: None, costs_ms=None,
                 metric="load", arguments=(), keep=import_of, max_loads=48):
        """As in why_known_test.py. `keep` makes an archive of a visit."""
        visits = self.visits(prepare)
        a = keep(self, next(visits), "a")
        truth = costs_ms, costs_ms
        if costs_ms is None:
            alone = next(visits)
            plant(alone)
            truth = self.alone(a, keep(self, alone, "alone"), metric, arguments)
        together = next(visits)
        another_time(together)
        plant(together)
        self.first_cause(name, a, keep(self, together, "b"), first, truth, metric, arguments,
                         max_loads)

    def test_a_host_thinks_longer(self):
        def plant(visit):
            visit.think(OWN_HOST, 300)
        self.run_case("think time", plant, "http2.github.io: think time")

    def test_a_third_party_is_slow(self):
        def plant(visit):
            visit.entry(WIDGETS)["timings"]["wait"] += 500
        self.run_case("third party slow", plant, "platform.twitter.com.*think time", costs_ms=500)

    def test_an_image_is_ten_times_as_large(self):
        def plant(visit):
            visit.set_body(LOGO, visit.body(LOGO) + noise(1, 2_700_000))
        def prepare(visit):
            visit.set_body(LOGO, visit.body(LOGO) + noise(1, 270_000))
        self.run_case("image x 10", plant, r"logo_blue\.png: \d+ bytes instead of", prepare)

    def test_a_redirect_more(self):
        moved = "https://ton.twimg.com/moved.js"
        def plant(visit):
            visit.add(moved, "application/javascript", visit.body(WIDGETS), "827b058.css")
            response = visit.entry(WIDGETS)["response"]
            visit.set_body(WIDGETS, b"")
            visit.set_field(WIDGETS, "location", moved)
            response.update(status=302, statusText="Found", redirectURL=moved)
        self.run_case("redirect", plant, r"widgets\.js: redirect: 302 to https://ton")

    def test_a_script_blocks(self):
        def plant(visit):  # on a connection that is there already: to connect early saves time
            visit.replace(PAGE, b'<link href="/asset', b"<script src=/block.js></script>"
                          b'<link href="/asset')
            visit.add(f"{PAGE}block.js", "application/javascript", b"window.block = 1;",
                      wait_ms=1200)
        self.run_case("blocking script", plant, r"added `<script src=/block\.js")

    def test_http2_is_lost(self):
        def prepare(visit):  # what one connection takes at once
            images = b"".join(b"<img src=/row%d.png width=63 height=9>" % n for n in range(160))
            visit.replace(PAGE, b"</h1>", b"</h1>" + images)
            for n in range(160):
                visit.add(f"{PAGE}row{n}.png", "image/png", png(40 + n, 9))
        def plant(visit):
            for entry in visit.of_host(OWN_HOST):
                entry["request"]["httpVersion"] = entry["response"]["httpVersion"] = "HTTP/1.1"
        self.run_case("h2 lost", plant, r"http/1\.1 instead of h2", prepare)

    def test_connections_are_not_kept(self):
        def plant(visit):
            for entry in visit.of_host(TWITTER):
                entry["response"]["headers"].append({"name": "Connection", "value": "close"})
        self.run_case("keep-alive lost", plant, r"connection: .*connection: close")

    def test_compression_is_lost(self):
        text = words(9, 600_000)
        def prepare(visit):
            visit.set_body(WIDGETS, gzip.compress(visit.body(WIDGETS) + b"\n// " + text, mtime=0))
            visit.set_field(WIDGETS, "content-encoding", "gzip")
        def plant(visit):
            visit.set_body(WIDGETS, gzip.decompress(visit.body(WIDGETS)))
            visit.set_field(WIDGETS, "content-encoding", None)
        self.run_case("compression lost", plant, r"coding: no coding instead of gzip", prepare)

    def test_a_script_works_twice_as_much(self):
        def prepare(visit):
            visit.set_body(WIDGETS, busy(400) + visit.body(WIDGETS))
        def plant(visit):
            visit.replace(WIDGETS, b"() + 400;", b"() + 800;")
        self.run_case("script work doubled", plant, r"widgets\.js: line 1.*800.*instead of",
                      prepare, costs_ms=400)

    def test_a_preload_is_removed(self):
        link = b'<link rel="preload" as="script" href="%s">\n    ' % WIDGETS.encode()
        def prepare(visit):
            visit.replace(PAGE, b'<link href="/comp', link + b'<link href="/comp')
        def plant(visit):
            visit.replace(PAGE, link, b"")
        self.run_case("preload removed", plant, r'removed `<link rel="preload" as="script"',
                      prepare)

    def test_a_synchronous_request(self):
        def plant(visit):
            visit.set_body(WIDGETS, b"const asked = new XMLHttpRequest();\n"
                           b"asked.open('GET', '/config.json', false);\nasked.send();\n" +
                           visit.body(WIDGETS))
            visit.add(f"{PAGE}config.json", "application/json", b"{}", wait_ms=300)
        self.run_case("synchronous XHR", plant, r"widgets\.js: .*XMLHttpRequest")

    def test_a_cache_lifetime_is_lost(self):
        def prepare(visit):
            for entry in visit.entries:
                visit.set_field(entry["request"]["url"], "expires", None)
            visit.set_field("bootstrap.min.css", "cache-control", "max-age=86400")
        def plant(visit):
            visit.set_field("bootstrap.min.css", "cache-control", "no-store")
        self.run_case("cache lifetime lost", plant, r"bootstrap\.min\.css: caching", prepare,
                      arguments=("--cache", "warm"))

    def test_a_name_is_slow_to_resolve(self):
        def resolves_in(ms):
            return lambda visit: visit.entry(WIDGETS)["timings"].update(dns=ms)
        self.run_case("name slow to resolve", resolves_in(520),
                      "platform.twitter.com: name resolution: resolved in", resolves_in(20),
                      costs_ms=500)

    # Over HTTP/2 alone the load event has two places, a second apart: the feed asks for its last
    # stylesheet just when the one before has come.

    def test_hosts_no_longer_coalesce(self):
        def prepare(visit):
            visit.one_certificate = OWN_HOST, TWITTER
            last = visit.of_host("ton.twimg.com")
            visit.entries[:] = [each for each in visit.entries if each not in last]
        def plant(visit):
            visit.apart = True
        self.run_case("coalescing lost", plant, "at the address of", prepare,
                      keep=Real.recording_of)

    def test_a_chain_of_certificates_grows(self):
        def plant(visit):  # replay pads to 16 KiB at most: one flight more
            visit.padding[OWN_HOST] = 15_000
        self.run_case("chain grown", plant, r"a chain of \d+ bytes instead of", metric="fcp",
                      keep=Real.recording_of, max_loads=96)

    def test_a_font_blocks(self):
        def prepare(visit):
            visit.add("https://g.twimg.com/slow.woff2", "font/woff2", noise(9, 90_000), LOGO)
            visit.replace(STYLE, b"body {", b"@font-face { font-family: slow; "
                          b"src: url(https://g.twimg.com/slow.woff2); font-display: swap; }\n"
                          b"h3 { font: 60px slow; }\nbody {")
            visit.replace(PAGE, b"<h1>", b"<h3>" + b"many words " * 20 + b"</h3><h1>")
        def plant(visit):
            visit.replace(STYLE, b"font-display: swap", b"font-display: block")
        self.run_case("font that blocks", plant, r"site\.css: .*block", prepare, metric="lcp")


if __name__ == "__main__":
    harness.main()
