#!/usr/bin/env python3
"""`why` on planted regressions among more than ten other differences, three of them large and off
the path: the right cause comes first, and what it costs is what it costs alone. An idle machine's
test; prints a table."""

import gzip

import harness
from gate_sites import noise, words
from what_if_test import ADDRESSES, HOST, LATE, THIRD, URL, png
from why_sites import QUICK, TwoRecordings, busy, decoys
from wire import Certificate


class Known(TwoRecordings):
    def run_case(self, name, plant=lambda site: None, first=None, prepare=lambda site: None,
                 think=(), costs_ms=None, among=lambda site: decoys(site), metric="load",
                 arguments=()):
        """`first`: found in the title of the first cause. `think`: think times of hosts in B.
        `costs_ms`: what the plant costs, if that is known without loads. `arguments`: of all
        loads."""
        a = self.record(self.site(prepare), "a")
        truth = costs_ms, costs_ms
        if costs_ms is None:
            alone = self.site(prepare)
            plant(alone)
            truth = self.alone(a, self.record(alone, "alone", think), metric, arguments)
        together = self.site(prepare)
        among(together)
        plant(together)
        b = self.record(together, "b", think)
        self.first_cause(name, a, b, first, truth, metric, arguments)

    def test_a_host_thinks_longer(self):
        self.run_case("think time", first=f"{HOST}: think time", think={"www_page_test": 310})

    def test_a_third_party_is_slow(self):
        self.run_case("third party slow", first=f"{THIRD}: think time",
                      think={"third_page_test": 510}, costs_ms=500)

    def test_a_script_blocks(self):
        def plant(site):
            site.files[HOST]["/app.js"][1] = busy(500) + site.files[HOST]["/app.js"][1]
        self.run_case("blocking script", plant, r"app\.js: line 1.*while", costs_ms=500)

    def test_a_script_works_twice_as_much(self):
        def prepare(site):
            site.files[HOST]["/app.js"][1] = busy(400) + site.files[HOST]["/app.js"][1]
        def plant(site):
            site.replace(HOST, "/app.js", b"() + 400;", b"() + 800;")
        self.run_case("script work doubled", plant, r"app\.js: line 1.*800.*instead of", prepare,
                      costs_ms=400)

    def test_an_image_is_ten_times_as_large(self):
        def plant(site):
            site.files[HOST]["/below.png"][1] = png(5, 9_000)
        def prepare(site):
            site.files[HOST]["/below.png"][1] = png(5, 900)
        self.run_case("image x 10", plant, r"below\.png: \d+ bytes instead of", prepare)

    def test_compression_is_lost(self):
        text = b"// " + words(9, 600_000)
        def prepare(site):
            site.files[HOST]["/app.js"] = [
                b"text/javascript", gzip.compress(text, mtime=0), b"200 OK",
                b"Content-Encoding: gzip\r\n"]
        def plant(site):
            site.files[HOST]["/app.js"] = [b"text/javascript", text]
        def among(site):
            site.files[HOST]["/app.js"][1:2] = [site.files[HOST]["/app.js"][1]]
            site.replace = (lambda old: lambda host, path, *what:
                            None if path == "/app.js" else old(host, path, *what))(site.replace)
            decoys(site)
        self.run_case("compression lost", plant, r"coding: no coding instead of gzip", prepare,
                      among=among)

    def test_connections_are_not_kept(self):
        def prepare(site):  # what six connections take in several turns
            images = b"".join(b"<img src=/row%d.png width=63 height=9>" % n for n in range(18))
            site.replace(HOST, "/", b"</body>", images + b"</body>")
            for n in range(18):
                site.files[HOST][f"/row{n}.png"] = [b"image/png", png(40 + n, 9)]
        def plant(site):
            for file in site.files[HOST].values():
                status, fields = file[2:] or (b"200 OK", b"")
                file[2:] = [status, fields + b"Connection: close\r\n"]
        self.run_case("keep-alive lost", plant, r"connection: .*connection: close", prepare)

    def test_a_name_is_slow_to_resolve(self):
        def prepare(site):
            site.lookup_ms[THIRD] = 20
        def plant(site):
            site.lookup_ms[THIRD] = 520
        self.run_case("name slow to resolve", plant, f"{THIRD}: name resolution: resolved in",
                      prepare, costs_ms=500)

    def test_a_redirect_more(self):
        def plant(site):
            files = site.files[THIRD]
            files["/moved.js"] = list(files["/ad.js"][:2])
            files["/ad.js"] = [b"text/javascript", b"", b"302 Found",
                               b"Location: /moved.js\r\n"]
        self.run_case("redirect", plant, r"ad\.js: redirect: 302 to /moved\.js")

    def test_a_preload_is_removed(self):
        link = b"<link rel=preload as=image href=https://late.page.test/late.png>\n"
        def prepare(site):
            site.replace(HOST, "/", b"<link rel=stylesheet", link + b"<link rel=stylesheet")
            site.files[THIRD]["/ad.js"][1] = busy(100)
        def plant(site):
            site.replace(HOST, "/", link, b"")
        self.run_case("preload removed", plant, r"removed `<link rel=preload as=image", prepare)

    def test_a_synchronous_request(self):
        def plant(site):
            site.replace(HOST, "/app.js", b"addEventListener('DOM",
                         b"const asked = new XMLHttpRequest();\n"
                         b"asked.open('GET', 'https://third.page.test/config.json', false);\n"
                         b"asked.send();\naddEventListener('DOM")
            site.files[THIRD]["/config.json"] = [b"application/json", b"{}"]
        self.run_case("synchronous XHR", plant, r"app\.js: .*XMLHttpRequest")

    def test_http2_is_lost(self):
        def prepare(site):
            site.h2 = set(site.files)
            images = b"".join(b"<img src=/%d.png width=9 height=9>" % n for n in range(40))
            site.replace(HOST, "/", b"<img src=/picture.png", images + b"\n<img src=/picture.png")
            for n in range(40):
                site.files[HOST][f"/{n}.png"] = [b"image/png", png(40 + n, 9)]
        def plant(site):
            site.h2.discard(HOST)
        self.run_case("h2 lost", plant, r"http/1\.1 instead of h2", prepare)

    def test_hosts_no_longer_coalesce(self):
        def prepare(site):
            site.h2 = set(site.files)
            shared = Certificate(site.folder / "shared", (HOST, LATE))
            site.certificates |= {HOST: shared, LATE: shared}
            site.addresses[LATE] = site.addresses[HOST]
        def plant(site):
            site.addresses[LATE] = ADDRESSES[LATE]
        self.run_case("coalescing lost", plant, "at the address of", prepare)

    def test_a_chain_of_certificates_grows(self):
        def plant(site):
            site.certificates[HOST] = Certificate(site.folder / "long", (HOST,), 15_000)
        self.run_case("chain grown", plant, r"a chain of \d+ bytes instead of")

    def test_a_cache_lifetime_is_lost(self):
        def prepare(site):
            site.files[HOST]["/app.js"] += [b"200 OK", b"Cache-Control: max-age=86400\r\n"]
            site.files[HOST]["/app.js"][1] += words(8, 300_000)
        def plant(site):
            site.files[HOST]["/app.js"][3] = b"Cache-Control: no-store\r\n"
        self.run_case("cache lifetime lost", plant, r"app\.js: caching", prepare,
                      arguments=("--cache", "warm"))

    def test_a_font_blocks(self):
        def prepare(site):
            site.files[LATE]["/slow.woff2"] = [b"font/woff2", noise(9, 90_000)]
            site.replace(HOST, "/style.css", b"p {", b"@font-face { font-family: slow; "
                         b"src: url(https://late.page.test/slow.woff2); font-display: swap; }\n"
                         b"h2 { font: 40px slow; }\np {")
            site.replace(HOST, "/", b"<p>words", b"<h2>" + b"many words " * 20 + b"</h2><p>words")
        def plant(site):
            site.replace(HOST, "/style.css", b"font-display: swap", b"font-display: block")
        self.run_case("font that blocks", plant, r"style\.css: .*block", prepare, metric="lcp")

    def test_gate_explains_what_it_found(self):
        site = self.site(lambda site: None)
        a = self.record(site, "a")
        site.files[HOST]["/app.js"][1] = busy(300) + site.files[HOST]["/app.js"][1]
        b = self.record(site, "b")
        sides = [f"{archive} {URL} --inject none " + " ".join(QUICK) for archive in (a, b)]
        done = harness.run("gate", *sides, "--metric", "load", "--max-runs", "6", "--allow",
                           "requests", "--skip-noise-check", "--why", "--why-budget", "5m",
                           "--markdown", "--seed", "1", folder=self.folder, timeout=900)
        self.assertEqual(done.returncode, 5, done.stdout.decode() + done.stderr.decode())
        self.assertRegex(done.stdout.decode(), r"1\. .*app\.js: line 1: added `const end300")


if __name__ == "__main__":
    harness.main()
