#!/usr/bin/env python3
"""Advice about a page with six planted faults, one after the other on its path, and four decoys:
more bytes or a longer wait, off the path. What each fault costs is known from a recording of the
page without it, loaded as often. An idle machine's test."""

import gzip
import json
import random
import shutil
import statistics
import sys

import harness
from gate_sites import words
from what_if_test import png
from wire import Certificate, Origin, response

PAGE, TAGS, PARTS, IMAGES, NOTES = ("www.advice.test", "tags.test", "parts.test", "images.test",
                                    "notes.test")
ADDRESSES = {host: f"127.0.2.{i}"
             for i, host in enumerate((PAGE, TAGS, PARTS, IMAGES, NOTES), start=1)}
URL = f"https://{PAGE}/"
LINK = "20mbit/20mbit/100,queue=1000p"
RUNS = 30
QUIET = ("--quiet", "1000", "--settle", "200", "--inject", "none", "--protocol", "h2", "--link",
         LINK, "--what-if", f"host={TAGS}: think=+500ms", "--what-if",
         f"host={NOTES}: think=+250ms")
CANDIDATES = 12

# Each fault: the page as it would be without it, and the advice that is due.
FAULTS = {
    "tag blocks": ("blocking script", "/tag.js"),
    "app is found late": ("late resource", "/app.js"),
    "app is not compressed": ("no compression", PAGE),
    "parts is met late": ("late connection", PARTS),
    "hero is found late": ("late resource", "/hero.png"),
    "hero is too large": ("large image", "/hero.png"),
}
# What they are about; a large picture and a style sheet during the wait for the tag, a script of
# another site that is there before the tag, and a host that is met late by what ends early.
DECOYS = ("/big.png", "/big.css", "/note.js", IMAGES)


def append(element, **properties):
    made = ", ".join(f"{name}: '{value}'" for name, value in properties.items())
    return (f"document.head.append(Object.assign(document.createElement('{element}'), "
            f"{{{made}}}));").encode()


def site(without):
    """The files of each host, by path."""
    def fault(name):
        return name != without
    app = append("script", src=f"https://{PARTS}/part.js")
    part = append("img", src=f"{URL}hero.png").replace(b"head", b"body")
    # Found late: a script makes its URL. Otherwise it stands in the head.
    head = b"".join((
        b"" if fault("app is found late") else b"<link rel=preload as=script href=/app.js>",
        b"" if fault("parts is met late")
        else b"<link rel=preconnect href=https://%s>" % PARTS.encode(),
        b"" if fault("hero is found late") else b"<link rel=preload as=image href=/hero.png>"))
    page = (b"<!doctype html><title>t</title><link rel=icon href=data:,>" + head +
            b"<link rel=stylesheet href=/big.css>"
            b"<script async src=/early.js></script>"
            b"<script src=https://%s/note.js></script>" % NOTES.encode() +
            b"<script %ssrc=https://%s/tag.js></script>" % (
                b"" if fault("tag blocks") else b"async ", TAGS.encode()) +
            b"<img src=/big.png width=63 height=90><p>words"
            b"<script>" + append("script", src="/app.js") + b"</script>")
    script, image = b"text/javascript", b"image/png"
    app = app + b"//" + random.Random(1).randbytes(150_000).hex().encode()
    return {
        PAGE: {"/": (b"text/html", page), "/app.js": (script, app),
               "/early.js": (script, append("img", src=f"https://{IMAGES}/early.png")),
               "/big.css": (b"text/css", b"/*" + words(2, 200_000) + b"*/"),
               "/big.png": (image, png(3, 4000)),
               "/hero.png": (image, png(4, 8000 if fault("hero is too large") else 4000))},
        TAGS: {"/tag.js": (script, b"window.tagged = 1;")},
        NOTES: {"/note.js": (script, b"window.noted = 1;")},
        PARTS: {"/part.js": (script, part)},
        IMAGES: {"/early.png": (image, png(5, 400))},
    }


def is_coded(path, without):
    """All text is, but the app whose fault that is."""
    return path != "/app.js" or without == "app is not compressed"


class AdviseKnown(harness.TestCase):
    def record(self, without=None):
        archive = self.folder / f"{(without or 'page').replace(' ', '-')}.reprise"
        origins = []
        try:
            for host, files in site(without).items():
                origins.append(self.origin(host, files, without))
            arguments = [each for origin in origins for each in origin.connect_to()]
            done = harness.run("record", "-o", str(archive), "--quiet", "500", "--inject", "none",
                               "--insecure-origin", *arguments, URL, folder=self.folder,
                               timeout=120)
        finally:
            for origin in origins:
                origin.close()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return archive

    def origin(self, host, files, without):
        def answer(request):
            if request.target not in files:
                return response(b"", b"404 Not Found")
            kind, body = files[request.target]
            headers = (b"Content-Type: " + kind + b"\r\nCache-Control: no-store\r\n"
                       b"Timing-Allow-Origin: *\r\n")
            if kind.startswith(b"text/") and is_coded(request.target, without):
                headers += b"Content-Encoding: gzip\r\n"
                body = gzip.compress(body, mtime=0)
            return response(body, headers=headers)
        return Origin(answer, names=(host,), address=ADDRESSES[host],
                      tls=Certificate(self.folder / f"{host}-{without}", (host,)))

    def load_event(self, archive):
        result = self.folder / "result.json"
        done = harness.run("load", str(archive), URL, *QUIET, "--runs", "1", "--warm-up", "0",
                           "-o", str(result), folder=self.folder, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        load, = json.loads(result.read_text())["loads"]
        return load["load_event_ms"]

    def truths(self, archive):
        """What each fault costs: of loads in turn, since a machine drifts over minutes."""
        without = {fault: self.record(fault) for fault in FAULTS}
        shifts = {fault: [] for fault in FAULTS}
        for _ in range(RUNS):
            base = self.load_event(archive)
            for fault, other in without.items():
                shifts[fault].append(self.load_event(other) - base)
        return {fault: statistics.median(each) for fault, each in shifts.items()}

    def test_all_faults_and_no_decoy(self):
        self.assertTrue(shutil.which("vips"), "images need vips: libvips-tools")
        archive, out = self.record(), self.folder / "out"
        done = harness.run("advise", str(archive), URL, *QUIET, "--candidates", str(CANDIDATES),
                           "--budget", "25m", "--seed", "1", "-o", str(out), folder=self.folder,
                           timeout=2000)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        text = done.stdout.decode()
        print(text, file=sys.stderr, flush=True)
        advice = json.loads((out / "advice.json").read_text())
        changes = advice["changes"]
        if "together" in advice:
            self.assertLess(advice["together"]["shift"]["estimate"], 0)
        advised = {(each["changes"][0]["kind"], each["changes"][0]["what_if"]): each
                   for each in changes if each["verdict"] == "saves"
                   and each["changes"][0]["kind"] != "third party"}
        for decoy in DECOYS:
            self.assertFalse([what for _, what in advised if decoy in what], text)
        truths = self.truths(archive)
        for fault, (kind, about) in FAULTS.items():
            with self.subTest(fault):
                found = [each for (its, what), each in advised.items()
                         if its == kind and about in what]
                self.assertEqual(len(found), 1, text)
                truth, shift = truths[fault], found[0]["shift"]
                print(f"{fault}: {truth:+.0f} ms; advised {shift['estimate']:+.0f} ms "
                      f"({shift['low']:+.0f} to {shift['high']:+.0f})", file=sys.stderr, flush=True)
                self.assertLess(shift["low"], truth)
                self.assertGreater(shift["high"], truth)


if __name__ == "__main__":
    harness.main()
