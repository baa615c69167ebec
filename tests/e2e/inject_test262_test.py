#!/usr/bin/env python3
"""What ECMA's tests find out about Date, Math.random, Intl.DateTimeFormat and Temporal.Now is the
same with and without the script. REPRISE_TEST262 names a checkout of tc39/test262; without it there
is nothing to do. With --figure as the only argument: how many tests there were.
"""

import json
import os
import pathlib
import re
import sys
import unittest

import harness
from inject_pages import BROWSERS, Pages, write_har

FIGURE = sys.argv[1:] == ["--figure"]
FOLDER = os.environ.get("REPRISE_TEST262")
TESTS = ("test/built-ins/Date", "test/built-ins/Math/random", "test/built-ins/Temporal/Now",
         "test/intl402/Date", "test/intl402/DateTimeFormat", "test/intl402/Temporal/Now")
FRONT_MATTER = re.compile(r"/\*---(.*?)---\*/", re.DOTALL)
# Each test in a document of its own, which is served and so has the script.
PAGE = """<!doctype html><title>test262</title><body><script>
const HARNESS_SECONDS = 5;
async function outcomeOf(source, isAsync) {
  const frame = document.createElement('iframe');
  frame.src = 'frame.html';
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await loaded;
  const realm = frame.contentWindow;
  const outcome = new Promise((resolve) => {
    let failure = 'passes';
    realm.onerror = (message) => { failure = message; resolve(failure); return true; };
    realm.print = (text) => resolve(text);
    const script = realm.document.createElement('script');
    script.textContent = source;
    realm.document.body.append(script);
    if (!isAsync) resolve(failure);
    setTimeout(() => resolve('does not end'), HARNESS_SECONDS * 1000);
  });
  const told = await outcome;
  frame.remove();
  return told;
}
addEventListener('load', async () => {
  const outcomes = {};
  const { prelude, tests } = await (await fetch('tests.json')).json();
  for (const { name, source, includes, isAsync } of tests) {
    const text = [...includes.map((each) => prelude[each]), source];
    outcomes[name] = await outcomeOf(text.join('\\n'), isAsync);
  }
  const shown = document.body.appendChild(document.createElement('pre'));
  shown.id = 'told';
  shown.textContent = JSON.stringify(outcomes);
});
</script>"""
HOST = """var $262 = {
  global: globalThis,
  gc() {},
  detachArrayBuffer(buffer) { structuredClone(buffer, { transfer: [buffer] }); },
  evalScript(text) { return (0, eval)(text); },
  createRealm() {
    const frame = document.body.appendChild(document.createElement('iframe'));
    return { global: frame.contentWindow, evalScript: (text) => frame.contentWindow.eval(text) };
  },
};"""


def field(front_matter, name):
    """A list of the front matter, which is YAML: in brackets or a line each."""
    match = re.search(rf"^{name}:\s*(?:\[(.*?)\]|((?:\n\s+- .*)+))", front_matter,
                      re.MULTILINE | re.DOTALL)
    if not match:
        return []
    return [each.strip() for each in re.split(r",|\n\s+- ", match[1] or match[2]) if each.strip()]


def read_tests(folder):
    prelude = {path.name: path.read_text() for path in (folder / "harness").glob("*.js")}
    prelude["host"] = HOST
    tests = []
    for path in sorted(path for each in TESTS for path in (folder / each).rglob("*.js")):
        source = path.read_text()
        front_matter = FRONT_MATTER.search(source)
        if not front_matter or "_FIXTURE" in path.name:
            continue
        flags = field(front_matter[1], "flags")
        if {"module", "raw", "CanBlockIsFalse"} & set(flags):
            continue
        includes = ["host", "assert.js", "sta.js", *field(front_matter[1], "includes")]
        if "async" in flags:
            includes.append("doneprintHandle.js")
        strict = "onlyStrict" in flags
        if strict:
            prelude["strict"] = '"use strict";'
            includes.insert(0, "strict")
        tests.append({"name": str(path.relative_to(folder)), "source": source,
                      "includes": includes, "isAsync": "async" in flags})
    return {"prelude": prelude, "tests": tests}


@unittest.skipUnless(FOLDER, "REPRISE_TEST262 names no checkout of test262")
class Test262(Pages):
    def setUp(self):
        super().setUp()
        tests = read_tests(pathlib.Path(FOLDER))
        self.assertGreater(len(tests["tests"]), 500)
        har = self.folder / "tests.har"
        write_har(har, {"": ("text/html", PAGE),
                        "frame.html": ("text/html", "<!doctype html><body>"),
                        "tests.json": ("application/json", json.dumps(tests))},
                  "2026-03-01T12:00:00Z")
        done = harness.run("archive", "import", str(har), "-o", str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_outcomes_are_the_same(self):
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                old, new = (self.told(self.load("https://one.test/", browser, "--inject", inject,
                                                "--quiet", "8000", seconds=600)[0])
                            for inject in ("none", "default"))
                passed = [name for name, outcome in old.items() if outcome == "passes"]
                self.assertGreater(len(passed), len(old) * 3 / 4)
                different = {name: (outcome, new[name]) for name, outcome in old.items()
                             if new[name] != outcome}
                if FIGURE:
                    print(f"{browser}: {len(old)} tests, {len(passed)} pass without the script, "
                          f"{len(different)} end otherwise with it")
                self.assertEqual(different, {})


if __name__ == "__main__":
    if FIGURE:
        sys.argv.pop()
    harness.main()
