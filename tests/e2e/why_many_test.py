#!/usr/bin/env python3
"""`why` where one cause is not the answer: two at once, two that mask each other, three among forty
differences, and none. An idle machine's test; prints a table.

usage: why_many_test.py                    each once
       why_many_test.py --figure [PAIRS]   20 pairs of recordings of an unchanged site, as JSON
"""

import collections
import random
import sys

import figure
import harness
from gate_sites import noise, words
from test_seed import TEST_SEED
from what_if_test import HOST, LATE, THIRD, png
from why_sites import TABLE, TwoRecordings, busy, decoys

THINK_MS = 510
EACH_ALONE = 6  # loads of each group, if each was tried alone as often as `why` loads A and B


def volatile(site, dice):
    """What differs between two recordings of an unchanged site: dates, tokens, counters, names of
    what is made for each visit."""
    token = f"{dice.getrandbits(64):016x}".encode()
    page = HOST, "/"
    site.replace(*page, b"<title>t</title>", b"<title>t</title><meta name=csrf content=%s>" % token)
    site.replace(*page, b"build 1", b"visit %d" % dice.randrange(10_000))
    site.replace(*page, b"</body>", b"<script>window.session = '%s'</script></body>" % token[:8])
    site.replace(HOST, "/app.js", b"\n// ", b"\nwindow.made = %d;\n// " % dice.getrandbits(40))
    site.files[THIRD]["/ad.js"][1] += b"window.ad = '%s';\n" % token[8:]
    site.files[LATE]["/late.png"] += [b"200 OK", b"ETag: \"%s\"\r\n" % token]
    for n in (1, 2, 3):
        site.files[HOST][f"/after{n}.bin"][1] = noise(dice.getrandbits(20), 2_000)


class Many(TwoRecordings):
    def causes_of(self, name, prepare, plant, expected, *arguments, think=()):
        """Each of `expected` is in the titles of a cause of its own, before all others."""
        a = self.record(self.site(prepare), "a")
        changed = self.site(prepare)
        plant(changed)
        b = self.record(changed, "b", think)
        report, text = self.why(a, b, "--max-runs", "6", *arguments)
        causes = report["causes"]
        titles = [[group["title"] for group in each["groups"]] for each in causes]
        groups = sum(len(each["groups"]) for each in causes + report["no_effect_shown"])
        shown = "; ".join(f"{each['estimate']:+.0f} ms ({each['low']:+.0f} to {each['high']:+.0f})"
                          f" {' or '.join(title)[:70]}" for each, title in zip(causes, titles))
        TABLE.append(f"{name}: {shown}; of {groups} groups; {len(report['loads'])} loads")
        print(text, flush=True)
        for title in titles[:len(expected)]:
            self.assertEqual(len(title), 1, text)
        found = {each for each in expected for title in titles[:len(expected)] if each in title[0]}
        self.assertEqual(found, set(expected), text)
        return groups, report

    def test_two_at_once(self):
        def plant(site):
            decoys(site)
            site.files[HOST]["/app.js"][1] = busy(400) + site.files[HOST]["/app.js"][1]
        self.causes_of("two at once", lambda site: None, plant,
                       (f"{THIRD}: think time", "app.js: line 1"), "--max-loads", "48",
                       think={"third_page_test": THINK_MS})

    def test_two_that_mask_each_other(self):
        def prepare(site):  # two scripts of two hosts, and nothing else of theirs
            late = b"<script src=https://late.page.test/late.js></script>\n"
            site.replace(HOST, "/", b"<script src=/app.js>", late + b"<script src=/app.js>")
            site.replace(HOST, "/app.js", b"new Image().src = late;", b"")
            site.files[LATE] = {"/late.js": [b"text/javascript", b"window.late = 1;\n"]}
        def plant(site):
            saved = site.files[LATE]
            site.files[LATE] = {"/late.png": [b"image/png", b""]}
            decoys(site)
            site.files[LATE] = saved
        _, report = self.causes_of(
            "two that mask each other", prepare, plant,
            (f"{THIRD}: think time", f"{LATE}: think time"), "--max-loads", "72",
            think={"third_page_test": THINK_MS, "late_page_test": THINK_MS})
        self.assertEqual([pair["causes"] for pair in report["pairs"]], [[0, 1]], report["pairs"])
        self.assertLess(report["pairs"][0]["high"], 0)
        TABLE.append(report["pairs"][0]["text"])

    def test_three_of_forty(self):
        matter = (7, 19, 30)
        def prepare(site):  # over HTTP/2 they come together, so that no download hides any work
            site.h2 = set(site.files)
            scripts = b"".join(b"<script src=/s%d.js></script>\n" % n for n in range(40))
            site.replace(HOST, "/", b"<h1>", scripts + b"<h1>")
            for n in range(40):
                site.files[HOST][f"/s{n}.js"] = [b"text/javascript",
                                                 b"window.s%d = 1; // " % n + words(n, 90)]
        def plant(site):
            for n in range(40):
                work = b"{ %s }" % busy(300) if n in matter else b"window.t%d = 2;\n" % n
                site.files[HOST][f"/s{n}.js"][1] = work + site.files[HOST][f"/s{n}.js"][1]
        groups, report = self.causes_of("three of forty", prepare, plant,
                                        [f"/s{n}.js" for n in matter], "--max-loads", "200")
        self.assertGreaterEqual(groups, 40)
        self.assertLess(len(report["loads"]), EACH_ALONE * groups)

    def test_none(self):
        self.assertIn(self.null(0), ("no cause", "undecided"))

    def null(self, number):
        """What is said of two recordings of an unchanged site."""
        archives = []
        for side in (0, 1):
            dice = random.Random(f"{TEST_SEED} {number} {side}")
            site = self.site(lambda site, dice=dice: volatile(site, dice))
            think = {f"{host}_page_test": 10 + dice.randrange(10) for host in ("third", "late")}
            archives.append(self.record(site, f"{number}-{side}", think))
        report, text = self.why(*archives, "--max-runs", "12", "--max-loads", "36",
                                codes=(0, 5, 6))
        print(text, file=sys.stderr, flush=True)
        if report is None:
            return "no cause" if "no cause to find" in text else "undecided"
        return f"{len(report['causes'])} causes" if report["causes"] else "no cause"


def report_figure(pairs):
    many = Many()
    many.setUp()
    try:
        said = collections.Counter(many.null(number) for number in range(pairs))
    finally:
        many.doCleanups()
    undecided = said.pop("undecided", 0)
    figure.report(f"why_null_undecided_of_{pairs}", undecided, "pairs", None)
    figure.report(f"why_null_causes_of_{pairs}", pairs - undecided - said["no cause"], "pairs",
                  "== 0")


if __name__ == "__main__":
    if "--figure" in sys.argv:
        report_figure(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    else:
        harness.main()
