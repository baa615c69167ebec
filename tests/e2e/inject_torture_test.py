#!/usr/bin/env python3
"""A page that asks for the time and for random numbers in every way and in every kind of realm: the
same answers in each load, wherever the script is, in Chromium and in Firefox, and others without
it.

With --figure as the only argument: 20 loads, and how many values there were.
"""

import collections
import sys

import harness
from inject_pages import BROWSERS, PAGES, Pages

FIGURE = sys.argv[1:] == ["--figure"]
LOADS = 20 if FIGURE else 1
URL = "https://one.test/torture/index.html?other=https://two.test"
FRAMES = [f"/torture/frame.html?name={name}" for name in ("same+origin", "cross+origin")]
# All but these depend on nothing in an unmodified browser.
STEADY = ("timeZone", "Temporal.Now.timeZoneId", "getTimezoneOffset", "cookie", "lastModified",
          "Temporal.Now.plainDateISO", "toLocaleString", "Date()", "toString", "format",
          "formatToParts", "Temporal.Now.plainTimeISO")


class Torture(Pages):
    def setUp(self):
        super().setUp()
        files = [f"/torture/{path.name}" for path in sorted((PAGES / "torture").iterdir())]
        self.record_pages([*files, *FRAMES, URL.removeprefix("https://one.test")])

    def values(self, browser, *arguments, runs):
        """For each (realm, API) the values of all loads."""
        values = collections.defaultdict(list)
        for load in self.load(URL, browser, *arguments, runs=runs):
            told = self.told(load)
            self.assertEqual([name for name, each in told.items()
                              if each == "missing" or name.startswith("error")], [], told)
            for realm, each in told.items():
                for api, value in each.items():
                    values[realm, api].append(value)
        return values

    def test_every_realm_gets_the_same_values_in_each_load_and_others_without_the_script(self):
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                values = self.values(browser, "--inject", "default", runs=LOADS)
                wrong = {key: each for key, each in values.items()
                         if len(each) != LOADS or len(set(map(repr, each))) != 1}
                self.assertEqual(wrong, {})
                realms = {realm for realm, _ in values}
                self.assertGreaterEqual(len(realms), 35)
                self.assertGreaterEqual(len(values), 20 * len(realms))
                # Cookies that the page's clock would have dropped long ago.
                self.assertEqual({values[realm, "cookie"][0] for realm in
                                  ("page", "same origin", "srcdoc")}, {True})
                # Not the same values everywhere: realms draw numbers of their own.
                drawn = {each[0] for (_, api), each in values.items() if api == "Math.random"}
                self.assertGreaterEqual(len(drawn), len(realms) - 5)
                in_documents = self.values(browser, "--inject", "default",
                                           "--replay-flag=--script-in=documents", runs=1)
                self.assertEqual(in_documents, {key: each[:1] for key, each in values.items()})
                without = self.values(browser, "--inject", "none", runs=1)
                same = [key for key, each in without.items()
                        if key[1] not in STEADY and each[0] == values[key][0]]
                self.assertEqual(same, [])
                if FIGURE:
                    print(f"{browser}: {len(values)} values of {len(realms)} realms, the same in "
                          f"{LOADS} loads")


if __name__ == "__main__":
    if FIGURE:
        sys.argv.pop()
    harness.main()
