#!/usr/bin/env python3
"""A page of assertions with and without the script in the same browser: whatever can be known of a
realm, by its properties and by what its functions do, is the same but for the values.

What is told as different on purpose is EXCEPTIONS, and inject/README.md says why of each.
"""

import re

import harness
from inject_pages import FEWER_BROWSERS, PAGES, Pages

URL = "https://one.test/transparency/index.html"

# Of constructors, which are proxies of the natives.
CONSTRUCTORS = "(?:Blob|Date|File|Worker)"
EXCEPTIONS = [
    # V8 quotes a function's true text in its messages.
    r"\w+ as a class: throws TypeError Class extends value", r"\w+ as a class stack:",
    r"\w+ as heritage: throws TypeError Class extends value", r"\w+ as heritage stack:",
    # A native's own `caller` and `arguments` are not a proxy's.
    CONSTRUCTORS + r" (?:caller|arguments)(?: stack)?:",
    # The error that a cycle would be is made by a native that is then on the stack.
    CONSTRUCTORS + r" prototype cycle stack:",
    r"structuredClone of a function(?: stack)?:",
    # While a callback of the page's runs inside a call of ours, we are on the stack.
    r"stack of a callback:",
]
EXCEPTION = re.compile(r"(?:frame |worker )?(?:" + "|".join(EXCEPTIONS) + ")")
STACK = re.compile(r"(.*?) stack: (.*)", re.DOTALL)


def is_shortened(old, new):
    """V8 keeps ten lines of a stack, some of which were ours."""
    old, new = old.split("\n"), new.split("\n")
    return len(new) >= 2 and new == old[:len(new)]


class Transparency(Pages):
    def setUp(self):
        super().setUp()
        files = sorted(path.name for path in (PAGES / "transparency").iterdir())
        self.record_pages([f"/transparency/{name}" for name in [*files, "worker.js?show="]])

    def test_nothing_but_values_tells_that_the_script_was_there(self):
        for browser in FEWER_BROWSERS:
            (old,) = self.load(URL, browser, "--inject", "none")
            for place in ("browser", "documents"):
                with self.subTest(browser=browser, place=place):
                    (new,) = self.load(URL, browser, "--inject", "default",
                                       f"--replay-flag=--script-in={place}")
                    self.compare(self.told(old), self.told(new))
                    self.assertEqual(new["console_errors"], old["console_errors"])

    def compare(self, old, new):
        self.assertGreater(len(old), 15_000)
        self.assertLess(sum(map(bool, map(EXCEPTION.match, old))), 200)
        stacks = {name: stack for name, stack in
                  (match.groups() for match in map(STACK.fullmatch, old) if match)}
        only_old, only_new = set(old) - set(new), set(new) - set(old)
        wrong = []
        for fact in sorted(only_new):
            stack = STACK.fullmatch(fact)
            shortened = stack and is_shortened(stacks.get(stack[1], ""), stack[2])
            if not shortened and not EXCEPTION.match(fact):
                wrong.append("+ " + fact)
        for fact in sorted(only_old):
            if not STACK.fullmatch(fact) and not EXCEPTION.match(fact):
                wrong.append("- " + fact)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    harness.main()
