#!/usr/bin/env python3
"""The page of `reprise why`, looked at in a real browser with made-up reports
(tests/view/why/reports.mjs). $WHY_PAGE_OF is the program that makes pages of them."""

import json
import os
import subprocess

import harness
from page_case import HOSTILE, SHOWN, PageCase

PAGE_OF = os.environ.get("WHY_PAGE_OF", str(harness.REPOSITORY / "build/release/why_page_of"))
MAKER = harness.REPOSITORY / "tests/view/why/report_json.mjs"
AD, HERO = "https://third.page.test/ad.js", "https://www.page.test/hero.png"


def report(**options):
    return json.loads(subprocess.run(["node", MAKER, json.dumps(options)], check=True,
                                     capture_output=True).stdout)


class WhyPage(PageCase):
    def make_page(self, file, given):
        file.write_bytes(subprocess.run([PAGE_OF], input=json.dumps(given).encode(), check=True,
                                        capture_output=True).stdout)

    def count(self, selector):
        return self.page.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector):
        self.page.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
        self.page.settle()

    def lit(self):
        return self.texts(".pairs .row.lit .path")

    def test_causes_in_order_and_both_waterfalls(self):
        given = report()
        self.look("why", given)
        self.open(given)
        self.assertIn("Largest cause, 441 ms: think time of third.page.test", self.texts("h1")[0])
        self.assertEqual(self.texts("button .step-number"), ["1", "2", "3"])
        self.assertEqual(self.texts(".step-took"),
                         ["440 ms", "+441 ms (+419 ms to +463 ms)", "+152 ms (+122 ms to +182 ms)",
                          "−31.0 ms (−43.0 ms to −19.0 ms)", "+2.0 ms",
                          "+18.0 ms (−7.0 ms to +43.0 ms)", "1,022 ms"])
        self.assertIn("1 and 2 mask each other", self.texts(".said.pair")[0])
        self.assertEqual(self.count(".pairs .row"), 12)
        self.assertEqual(self.texts(".only"), ["only A", "only B"])
        self.assertEqual(self.count(".pairs .row:nth-of-type(3) .of-a"),
                         self.count(".pairs .row:nth-of-type(3) .of-b"))
        self.assertEqual(self.lit(), [])

    def test_a_chosen_cause_lights_up_its_rows(self):
        given = report(requests=400)
        self.open(given)
        self.click("button[data-cause='1']")
        self.assertEqual(self.lit(), ["ad.js"])
        self.assertEqual(self.texts("[aria-pressed=true] .step-number"), ["1"])
        self.assertEqual(self.page.evaluate("location.hash"), "#cause=1")
        self.assertEqual(self.count(".step-differences:not([hidden])"), 1)
        self.click("button[data-cause='3']")
        self.assertEqual(self.lit(), ["old.png", "new.js"])
        self.click("button[data-cause='3']")
        self.assertEqual(self.lit(), [])
        self.assertEqual(self.count("[aria-pressed=true]"), 0)
        # A link, to one of those that cost nothing as well.
        self.open(given, fragment="#cause=4")
        self.assertEqual(self.lit(), ["app.9d8e7f.js"])
        self.assertIn("hero.png", "".join(self.texts(".pairs .path")))

    def test_a_row_far_down_comes_into_view(self):
        given = report(requests=400)
        given["causes"][0]["rows"] = [390]
        self.open(given, fragment="#cause=1")
        self.assertEqual(self.lit(), ["390.png"])
        self.assertLess(self.count(".pairs .row"), 80)

    def test_the_keyboard_does_it_all(self):
        self.open(report())
        self.page.evaluate("document.querySelector(\"button[data-cause='2']\").focus()")
        self.page.press(" ")
        self.assertEqual(self.lit(), ["hero.png"])
        self.page.evaluate("document.querySelector('.pairs').focus()")
        for _ in range(4):
            self.page.press("ArrowDown")
        self.assertEqual(self.texts(".details .url"), [HERO])
        self.assertIn("Receiving", "".join(self.texts(".details th")))
        self.assertIn("120 kB instead of 12.0 kB", self.texts(".details dd"))
        self.click(".details button.link")
        self.assertEqual(self.lit(), ["hero.png"])
        self.page.evaluate("document.querySelector('.pairs').focus()")
        self.page.press("Escape")
        self.assertIn("Choose a request", self.texts(".details")[0])
        self.assert_whole()

    def test_requests_are_found_and_filtered(self):
        self.open(report(requests=30))
        self.click("#only-different")
        self.assertEqual(self.texts(".count"), ["4 of 30 requests"])
        self.choose("input[type=search]", "hero", "input")
        self.assertEqual(self.texts(".pairs .path"), ["hero.png"])

    def test_two_timelines(self):
        given = report(measured=False)
        self.look("timelines", given)
        self.open(given)
        self.assertIn("Between requests", "".join(self.texts(".step-name")))
        self.assertEqual(self.count(".interval"), 0)

    def test_what_the_servers_did(self):
        given = report(traces="choose")
        self.look("servers", given)
        self.open(given)
        self.assertEqual(self.texts("#servers .trench-said"),
                         ["Choose a bar: double-click or Enter zooms in, Escape zooms out."])
        self.assertIn("440 ms more than A’s", self.texts("#servers .trench .said")[0])
        self.assertEqual(self.texts("#servers .trench-points tr:first-child td"),
                         ["A", "chooseshop.Ads", "0", "40.0 ms", "480 ms", "+440 ms"])
        self.click("#servers input[value=a]")
        self.assertIn("45.0 ms for 1 request", self.texts("#servers .trench .said")[0])
        self.open(report(traces="choose", skipped=2))
        self.assertEqual(self.texts("#servers .failure"),
                         ["Server traces of B are skipped: 2 too large for the page. "
                          "Without them, no difference is drawn."])
        self.assertEqual(self.count("#servers input[value=difference]"), 0)
        self.assertIn("45.0 ms for 1 request", self.texts("#servers .trench .said")[0])
        self.open(report(missing=1))
        self.assertEqual(self.texts("#servers .failure"),
                         ["Server traces of B are skipped: 1 not fetched. "
                          "Without them, no difference is drawn."])
        self.open(report(traces=HOSTILE))
        self.assertIn(SHOWN, "\n".join(self.texts("#servers td")))
        self.assert_whole()
        self.open(report())
        self.assertEqual(self.count("#servers"), 0)

    def test_no_cause(self):
        given = report(causes=False, interrupted=True)
        self.look("no-cause", given)
        self.open(given)
        self.assertIn("no cause could be shown", self.texts("h1")[0])
        self.assertIn("interrupted", self.texts("#top .said")[0])

    def test_what_a_page_chose_is_text(self):
        given = report(text=HOSTILE)
        self.look("hostile", given)
        self.open(given, fragment="#cause=1")
        self.click(".pairs .row[aria-rowindex='2']")
        for place in ("h1", "#top .said", ".step-name", ".step-differences", ".details .url",
                      ".others li"):
            self.assertIn(SHOWN, "\n".join(self.texts(place)), place)
        everything = self.page.evaluate("document.body.innerText")
        self.assertNotIn("\u202e", everything)
        self.assertEqual(self.count("script"), 2)
        self.assertEqual(self.count("img"), 0)
        self.assert_whole()


if __name__ == "__main__":
    harness.main()
