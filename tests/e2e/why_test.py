#!/usr/bin/env python3
"""`why`: two recordings of a page, of which one has a slow host and a larger image off the path:
what it says, what its hybrids serve, when it refuses."""

import hashlib
import pathlib
import tempfile
import unittest

import harness
from what_if_test import HOST, THIRD, URL, png
from why_sites import Site, read_json, settle_think_times

LARGE = png(8, 900)
# A load counts although something may have cost it less than this.
DISTURBED = ("--min-effect", "200ms")
QUICK = ("--browser", harness.BROWSER, "--quiet", "250", "--settle", "0", "--timeout", "90")
FEW = ("--max-runs", "4", "--max-loads", "12")
MANY = ("--max-runs", "16", "--max-loads", "48")
UNDECIDED = 6


class Why(harness.TestCase):
    """Two recordings for all tests, in the folder `kept`."""

    kept = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if Why.kept:
            return
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        Why.kept = pathlib.Path(folder.name)
        Why.a, Why.b = Why.kept / "a.reprise", Why.kept / "b.reprise"
        site = Site(Why.kept / "site")
        site.record(Why.a)
        site.files[HOST]["/below.png"][1] = LARGE
        site.replace(HOST, "/", b"build 1", b"build 2")
        site.replace(HOST, "/app.js", b"src = late;", b"src = late + '';")
        site.record(Why.b)
        settle_think_times(Why.a, Why.kept)
        settle_think_times(Why.b, Why.kept, third_page_test=1500)

    def why(self, *arguments, a=None, b=None):
        return harness.run("why", str(a or self.a), str(b or self.b), URL, "--inject", "none",
                           "--metric", "load", "--allow", "calibration", *DISTURBED, *QUICK,
                           *arguments, folder=self.folder, timeout=900)

    def why_decided(self, *arguments, **archives):
        """With few loads; where a busy machine leaves these undecided, once more with many."""
        done = self.why(*FEW, "--seed", "1", *arguments, **archives)
        if done.returncode == UNDECIDED:
            done = self.why(*MANY, "--seed", "1", *arguments, **archives)
        return done


class Causes(Why):
    def test_the_slow_host_costs_most_and_hybrids_serve_what_they_say(self):
        out = self.folder / "out"
        done = self.why_decided("-o", str(out))
        self.assertEqual(done.returncode, 5, done.stdout.decode() + done.stderr.decode())
        report = read_json(out / "why.json")
        self.assertEqual(report["schema"], "reprise-why/1")
        # On a busy machine so few loads need not make it certain.
        effects = report["causes"] + report["no_effect_shown"]
        first = max(effects, key=lambda each: each["estimate"])
        self.assertEqual([(each["kind"], each["where"], each["what"])
                          for each in first["groups"][0]["differences"]],
                         [("think time", THIRD, "1500 ms instead of 10 ms for /ad.js")])
        self.assertGreater(first["estimate"], 0)
        for cause in report["causes"]:
            self.assertTrue(cause["evidence"])
        self.assertIn("Unexplained: ", done.stdout.decode())
        self.assertIn("### B is slower than A", (out / "why.md").read_text())
        groups = {}
        for each in effects:
            for group in each["groups"]:
                groups[group["differences"][0]["where"]] = group
        self.assertIn("line 3: `new Image().src = late + '';` instead of `new Image().src = late;`",
                      groups[f"{URL}app.js"]["title"])
        self.assertIn("`build 2` instead of `build 1`", groups[URL]["title"])
        self.assert_hybrids_serve(report, read_json(out / "loads.json"), groups)

    def assert_hybrids_serve(self, report, loads, groups):
        """The bodies of each load are those of what was put in."""
        large = hashlib.sha256(LARGE).hexdigest()
        image, script = groups[f"{URL}below.png"]["group"], groups[f"{URL}app.js"]["group"]
        page, host = groups[URL]["group"], groups[THIRD]["group"]
        bodies = {name: set() for name in ("below.png", "app.js", "")}
        self.assertEqual(len(report["loads"]), len(loads["loads"]))
        hybrids = 0
        for row, load in zip(report["loads"], loads["loads"]):
            served = {each["url"]: each for each in load["requests"]}
            put_in = set(row["groups"])
            hybrids += 0 < len(put_in) < 4
            self.assertEqual(served[f"{URL}below.png"]["body_sha256"] == large, image in put_in)
            for name, group in (("app.js", script), ("", page)):
                bodies[name].add((served[URL + name]["body_sha256"], group in put_in))
            waited = served[f"https://{THIRD}/ad.js"]
            if host in put_in:
                self.assertGreater(waited["end_ms"] - waited["start_ms"], 1490)
        self.assertGreater(hybrids, 0)
        for name in ("app.js", ""):  # one body with it, another one without
            self.assertEqual(len(bodies[name]), 2, name)
            self.assertEqual(len({digest for digest, _ in bodies[name]}), 2)


class Refusals(Why):
    def refused(self, code, why, *arguments, **archives):
        self.assert_refused(self.why(*arguments, **archives), code, why)

    def assert_refused(self, done, code, why):
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertIn(why, done.stderr.decode())
        self.assertNotIn("1. ", done.stdout.decode())

    def test_what_cannot_be_asked(self):
        self.refused(2, "one --metric", "--metric", "fcp")
        self.refused(2, "--budget must be a time", "--budget", "soon")
        done = harness.run("why", str(self.a), folder=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs two archives", done.stderr.decode())
        self.refused(3, "nothing.reprise", a=self.folder / "nothing.reprise")

    def test_an_archive_without_exchanges(self):
        empty = self.folder / "empty.reprise"
        done = harness.run("record", "-o", str(empty), "--", "true", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.refused(3, "there is nothing to compare", b=empty)

    def test_the_same_archive_has_no_cause(self):
        self.refused(0, "there is no cause", b=self.a)

    def test_an_archive_that_lacks_what_its_page_asks_for(self):
        cut = self.folder / "cut.reprise"
        done = harness.run("archive", "trim", str(self.b), "--drop", "path=/app.js", "-o",
                           str(cut), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.refused(1, "B asks for what it does not have: GET https://www.page.test/app.js",
                     b=cut)

    def test_a_page_that_asks_for_what_neither_has_when_put_together(self):
        # A script depends on a name that only B's document defines.
        site = Site(self.kept / "site")
        site.replace(HOST, "/", b"<script src=/app.js>",
                     b"<script>const place = '/below.png'</script>\n<script src=/app.js>")
        site.replace(HOST, "/app.js", b"'https://late.page.test/late.png'",
                     b"typeof place == 'undefined' ? '/nowhere.png' : place")
        b = self.folder / "b.reprise"
        site.record(b)
        settle_think_times(b, self.folder, third_page_test=1500)
        self.assert_refused(
            self.why_decided(b=b), 1, "neither archive has what a load of A with some of B's "
            "differences asks for: GET https://www.page.test/nowhere.png")


if __name__ == "__main__":
    harness.main()
