#!/usr/bin/env python3
"""`advise`: what it measures, prints, keeps and shows; a change with which the page's scripts fail.

What a busy machine disturbs is not judged: what_if_known_test.py and advise_known_test.py say what
is found."""

import json
import re

import harness
from what_if_test import ADDRESSES, HOST, QUICK, SHORT_LINK, URL, Recorded, png
from wire import Certificate, Origin, response

VERDICTS = ("saves", "costs", "no effect", "undecided", "not compared")
# The script in the page needs the one before it.
NEEDS = {"/": (b"text/html", b"<!doctype html><title>t</title><link rel=icon href=data:,>"
                             b"<script src=/boot.js></script><p>words<script>boot()</script>"),
         "/boot.js": (b"text/javascript",
                      b"function boot() { new Image().src = '/booted.png?' + Math.random() }"),
         "/booted.png": (b"image/png", png(3, 90))}


class Advise(Recorded):
    def advise(self, archive, *arguments):
        folder = self.folder / "out"
        folder.mkdir()
        stale = folder / "picture-7-1-changed.jpg"
        stale.write_text("of an earlier run")
        done = harness.run("advise", str(archive), URL, "--link", SHORT_LINK, *QUICK,
                           "--metric", "fcp", "--min-effect", "300ms", "--candidates", "1",
                           "--max-runs", "6", "--budget", "40m", "--browser", harness.BROWSER,
                           "-o", str(folder), *arguments, folder=self.folder, timeout=2400)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.change, = json.loads((folder / "advice.json").read_text())["changes"]
        self.text = done.stdout.decode()
        self.assertFalse(stale.exists())
        return folder

    def assert_pictures(self, folder):
        """Both sides of a change with advice, at the same time; the frames of the page as recorded
        in any case."""
        text, page = ((folder / name).read_text() for name in ("advice.md", "view.html"))
        self.assertIn("[view.html](view.html) shows the loads, and all frames", text)
        self.assertIn("as recorded, traced", page)
        self.assertTrue('"frames":[[' in page)
        shown = re.findall(r"\]\((picture-[^)]+)\)", text)
        self.assertEqual(sorted(shown), sorted(each.name for each in folder.glob("picture-*")))
        for name in shown:
            self.assertTrue((folder / name).read_bytes().startswith(b"\xff\xd8\xff"), name)
        helps = self.change["verdict"] == "saves"
        self.assertEqual("## Before and after" in text, helps)
        self.assertEqual("picture-1-1-changed.jpg" in shown, helps)
        self.assertNotIn("Note: ", text)

    def test_a_slow_script_that_blocks_the_page(self):
        folder = self.advise(self.archive, "--inject", "none", "--what-if",
                             "path=/ad.js: think=+600ms")
        made, = self.change["changes"]
        self.assertIn(made["what_if"], self.text)
        self.assertIn(made["what_if"], (folder / "advice.md").read_text())
        self.assertIn(self.change["verdict"], VERDICTS)
        self.assertNotIn("losses", self.change)
        if self.change["verdict"] != "not compared":  # one change, one look: all of --alpha
            self.assertAlmostEqual(self.change["shift"]["level"] or .95, .95)
        self.assert_pictures(folder)

    def test_a_page_that_does_less_is_no_better(self):
        def answer(request):
            path = request.target.split("?")[0]
            if path not in NEEDS:
                return response(b"", b"404 Not Found")
            kind, body = NEEDS[path]
            return response(body, headers=b"Content-Type: " + kind + b"\r\n")
        archive = self.folder / "needs.reprise"
        origin = Origin(answer, names=(HOST,), address=ADDRESSES[HOST],
                        tls=Certificate(self.folder / "needs", (HOST,)))
        try:
            done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                               "--insecure-origin", *origin.connect_to(), URL, folder=self.folder,
                               timeout=120)
        finally:
            origin.close()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        folder = self.advise(archive, "--what-if", "path=/boot.js: think=+600ms", "--no-pictures")
        self.assertFalse(list(folder.glob("picture-*")))
        self.assertNotIn("as recorded, traced", (folder / "view.html").read_text())
        self.assertIn("[view.html](view.html) shows the loads.", (folder / "advice.md").read_text())
        self.assertEqual([each["kind"] for each in self.change["changes"]], ["blocking script"])
        losses = self.change["losses"]
        self.assertEqual(losses["requests"], [f"GET {URL}booted.png"])
        error, = losses["errors"]
        self.assertIn("boot is not defined", error)
        self.assertIn(self.change["verdict"],
                      {*VERDICTS, "breaks the page"} - {"saves"})
        self.assertNotIn(self.change["changes"][0]["advice"], (folder / "view.html").read_text())
        for text in (self.text, (folder / "advice.md").read_text()):
            self.assertIn("No change could be shown to make the page faster", text)
            self.assertIn(f"the page does less: 1 request is lost: GET {URL}booted.png; "
                          "1 new error: ", text)


if __name__ == "__main__":
    harness.main()
