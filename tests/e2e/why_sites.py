"""A page on three hosts, recorded as it is and with changes, for tests of `why`."""

import json
import pathlib

import harness
from gate_sites import noise, words
from what_if_test import ADDRESSES, HOST, LATE, THIRD, URL, png
from wire import Certificate, Origin, response

QUICK = ("--quiet", "500", "--settle", "200")
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
        self.certificates = {host: Certificate(self.folder / host, (host,)) for host in ADDRESSES}

    def replace(self, host, path, old, new):
        body = self.files[host][path][1]
        assert old in body, (old, path)
        self.files[host][path][1] = body.replace(old, new)

    def answer(self, host):
        def answered(request):
            found = self.files[host].get(request.target)
            if found is None:
                return response(b"", b"404 Not Found")
            kind, body, *more = found
            status, fields = (more + [b"200 OK", b""])[:2] if more else (b"200 OK", b"")
            cache = b"" if b"Cache-Control" in fields else b"Cache-Control: no-store\r\n"
            return response(body, status, headers=b"Content-Type: " + kind + b"\r\n" + cache +
                            b"Timing-Allow-Origin: *\r\nAccess-Control-Allow-Origin: *\r\n" +
                            fields)
        return answered

    def record(self, archive):
        origins = [Origin(self.answer(host), names=(host,), address=ADDRESSES[host],
                          tls=self.certificates[host]) for host in self.files]
        try:
            arguments = [each for origin in origins for each in origin.connect_to()]
            done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                               "--inject", "none", "--insecure-origin", *arguments, URL,
                               folder=self.folder, timeout=120)
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
