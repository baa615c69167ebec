"""A page on three hosts, recorded as it is and with changes, for tests of `why`."""

import contextlib
import json
import pathlib
import re
import tempfile

import harness
from gate_sites import noise, words
from nginx_site import Host, NginxSite
from what_if_test import ADDRESSES, HOST, LATE, THIRD, URL, png
from wire import Certificate, Origin, response

LINK = "8mbit/8mbit/150"
TABLE = []
QUICK = ("--browser", harness.BROWSER, "--quiet", "500", "--settle", "200")
PAGE = b"""<!doctype html>
<html><head><title>t</title>
<link rel=icon href=data:,>
<link rel=preload as=font crossorigin href=/text.woff2>
<link rel=stylesheet href=/style.css>
<script src=https://third.page.test/ad.js></script>
<script src=/app.js></script>
</head><body>
<h1>title</h1>
<p>words</p>
<img src=/picture.png width=63 height=90>
<div>build 1</div>
<img src=/below.png width=63 height=90>
</body></html>
"""
STYLE = b"p { color: green; background: url(/back.png) }\n"
APP = (b"const late = 'https://late.page.test/late.png';\n"
       b"addEventListener('DOMContentLoaded', () => {\n"
       b"  new Image().src = late;\n"
       b"});\n// ")


def files():
    """By host and path: type, body, and more fields."""
    return {
        HOST: {"/": [b"text/html", PAGE], "/style.css": [b"text/css", STYLE],
               "/app.js": [b"text/javascript", APP + words(2, 20_000)],
               "/picture.png": [b"image/png", png(3, 90)],
               "/back.png": [b"image/png", png(4, 9)],
               "/below.png": [b"image/png", png(5, 90)],
               "/text.woff2": [b"font/woff2", noise(7, 900)]},
        THIRD: {"/ad.js": [b"text/javascript", b"document.title += 'ad';\n"]},
        LATE: {"/late.png": [b"image/png", png(6, 90)]},
    }


class Site:
    """What is recorded; `files` can be changed from one recording to the next."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files = files()
        self.addresses = dict(ADDRESSES)
        self.certificates = {host: Certificate(self.folder / host, (host,)) for host in ADDRESSES}
        self.h2 = set()  # hosts that speak HTTP/2; statuses are all 200 where there is one
        # Milliseconds by host. If there are any, all hosts are at port 443 and are looked up.
        self.lookup_ms = {}

    def replace(self, host, path, old, new):
        body = self.files[host][path][1]
        assert old in body, (old, path)
        self.files[host][path][1] = body.replace(old, new)

    @staticmethod
    def fields(file):
        more = file[3] if len(file) > 3 else b""
        cache = b"" if b"Cache-Control" in more else b"Cache-Control: no-store\r\n"
        return (cache + b"Timing-Allow-Origin: *\r\nAccess-Control-Allow-Origin: *\r\n" + more)

    def answer(self, host):
        def answered(request):
            file = self.files[host].get(request.target)
            if file is None:
                return response(b"", b"404 Not Found")
            status = file[2] if len(file) > 2 else b"200 OK"
            return response(file[1], status, headers=b"Content-Type: " + file[0] + b"\r\n" +
                            self.fields(file))
        return answered

    def nginx_host(self, host):
        def written(file):
            lines = self.fields(file).decode().split("\r\n")[:-1]
            return file[0].decode(), file[1], [tuple(line.split(": ", 1)) for line in lines]
        return Host(self.addresses[host], self.certificates[host],
                    {path: written(file) for path, file in self.files[host].items()},
                    host in self.h2)

    def origins(self, folder):
        if self.h2:
            return [NginxSite(folder, {host: self.nginx_host(host) for host in self.files})]
        return [Origin(self.answer(host), names=(host,), address=self.addresses[host],
                       tls=self.certificates[host], port=443 if self.lookup_ms else 0)
                for host in self.files]

    @contextlib.contextmanager
    def led_to(self, origins):
        """Arguments by which record finds them."""
        if not self.lookup_ms:
            yield [each for origin in origins for each in origin.connect_to()]
            return
        from dns_names import NameServer  # which nobody else needs
        server = NameServer("\n".join(f"{host}. 60 IN A {self.addresses[host]}"
                                      for host in self.files),
                            delays={host: ms / 1000 for host, ms in self.lookup_ms.items()})
        try:
            yield ["--dns-server", server.at, "--allow-private"]
        finally:
            server.close()

    def record(self, archive):
        origins = self.origins(self.folder / f"nginx-{archive.stem}")
        try:
            with self.led_to(origins) as arguments:
                done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                                   "--quiet", "500", "--inject", "none", "--insecure-origin",
                                   *arguments, URL, folder=self.folder, timeout=120)
        finally:
            for origin in origins:
                origin.close()
        assert done.returncode == 0, done.stderr.decode()


def settle_think_times(archive, folder, **by_host):
    """All think times are 10 ms, but for those of `by_host`: milliseconds by name of the host."""
    times = {"*": 10, **{f"host={host.replace('_', '.')}": ms for host, ms in by_host.items()}}
    for which, ms in times.items():
        done = harness.run("archive", "edit", str(archive), which, "--think-time", f"{ms}ms",
                           folder=folder)
        assert done.returncode == 0, done.stderr.decode()


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())


def busy(ms):
    return b"const end%d = performance.now() + %d; while (performance.now() < end%d);\n" % (
        ms, ms, ms)


def with_after(site):
    """Requests after the load event, which nothing waits for."""
    site.replace(HOST, "/", b"</body>",
                 b"<script>addEventListener('load', () => setTimeout(() => {"
                 b" for (const n of [1, 2, 3]) fetch('/after' + n + '.bin'); }, 50));</script>"
                 b"</body>")
    for n in (1, 2, 3):
        site.files[HOST][f"/after{n}.bin"] = [b"application/octet-stream", noise(20 + n, 2_000)]


def decoys(site):
    """Twelve differences that cost nothing, or next to it."""
    page = HOST, "/"
    for n in (1, 2, 3):  # large, off the path
        site.files[HOST][f"/after{n}.bin"][1] = noise(30 + n, 60_000)
    site.replace(*page, b"build 1", b"build 2")
    site.replace(*page, b"<title>t</title>", b"<title>u</title>\n<meta name=build content=2>")
    site.replace(*page, b"<h1>title</h1>", b"<h1 class=large>Title</h1>")
    site.replace(*page, b"<p>words</p>", b"<p>other words</p><script>window.build = 2</script>")
    site.replace(HOST, "/style.css", b"green", b"blue")
    site.replace(HOST, "/app.js", b"const late", b"let late")
    site.files[HOST]["/back.png"][1] = png(14, 9)
    site.files[HOST]["/picture.png"][1] = png(13, 90)
    site.files[LATE]["/late.png"] += [b"200 OK", b"Priority: u=4\r\n"]
    site.files[THIRD]["/ad.js"] += [b"200 OK", b"Referrer-Policy: origin\r\n"]
    site.files[HOST]["/text.woff2"] += [b"200 OK", b"Link: </style.css>; rel=preload; as=style\r\n"]


class TwoRecordings(harness.TestCase):
    """Archives of a site, in the folder `kept`. What TABLE has at the end is printed."""

    url = URL
    allowed = ()  # beside calibration

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        for line in TABLE:
            print(line, flush=True)

    def setUp(self):
        super().setUp()
        self.kept = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def site(self, prepare):
        site = Site(self.kept / "site")
        with_after(site)
        prepare(site)
        return site

    def record(self, site, name, think=()):
        archive = self.kept / f"{name}.reprise"
        site.record(archive)
        settle_think_times(archive, self.kept, **dict(think))
        return archive

    def why(self, a, b, *arguments, metric="load", codes=(5,)):
        """why.json, if there are causes, and what was printed."""
        out = self.kept / "out"
        done = harness.run("why", str(a), str(b), self.url, "--inject", "none", "--metric", metric,
                           "--link", LINK, *QUICK, "--seed", "1",
                           "--allow", ",".join(("calibration", *self.allowed)),
                           *arguments, "-o", str(out), folder=self.folder, timeout=1500)
        text = done.stdout.decode() + done.stderr.decode()
        self.assertIn(done.returncode, codes, text)
        return read_json(out / "why.json") if done.returncode == 5 else None, text

    def alone(self, a, b, metric, arguments):
        """What a regression costs where nothing else differs: an interval of 99 %. `arguments`: of
        all loads, and what may differ."""
        sides = [f"{archive} {self.url} --inject none --think-time recorded --link {LINK} " +
                 " ".join((*QUICK, *arguments)) for archive in (a, b)]
        done = harness.run("gate", *sides, "--metric", metric, "--max-runs", "6", "--look-every",
                           "6", "--skip-noise-check", "--alpha", "0.01", "--json", "--allow",
                           ",".join(("requests", "calibration", *self.allowed)),
                           folder=self.folder, timeout=900)
        self.assertEqual(done.returncode, 5, done.stdout.decode() + done.stderr.decode())
        metric = json.loads(done.stdout)["pages"][0]["metrics"][0]
        return metric["low"], metric["high"]

    def first_cause(self, name, a, b, first, truth, metric="load", arguments=(),
                    max_loads=48):
        """Among ten differences or more, the first cause is one whose title `first` finds. Its cost
        is known to half its size, and meets `truth`, the least and the most that it costs alone."""
        report, text = self.why(a, b, "--max-runs", "6", "--max-loads", str(max_loads),
                                *arguments, metric=metric)
        causes = report["causes"]
        groups = sum(len(each["groups"]) for each in causes + report["no_effect_shown"])
        self.assertGreaterEqual(groups, 10)
        if not causes:
            TABLE.append(f"{name}: no cause among {groups} groups")
            self.fail(text)
        cause = causes[0]
        title = cause["groups"][0]["title"]
        print(text, flush=True)
        TABLE.append(f"{name}: alone {truth[0]:+.0f} to {truth[1]:+.0f} ms; first of "
                     f"{groups}: {cause['estimate']:+.0f} ms ({cause['low']:+.0f} to "
                     f"{cause['high']:+.0f}) {title[:90]}; {len(causes)} shown; unexplained "
                     f"{report['unexplained']['estimate']:+.0f} ms; {len(report['loads'])} loads")
        self.assertRegex(title, re.compile(first, re.DOTALL), text)
        self.assertEqual(len(cause["groups"]), 1, text)
        self.assertLess(cause["high"] - cause["low"], abs(cause["estimate"]), text)
        self.assertLess(cause["low"], truth[1], text)
        self.assertGreater(cause["high"], truth[0], text)
