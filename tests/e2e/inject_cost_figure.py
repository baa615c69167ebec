#!/usr/bin/env python3
"""What calls cost that the script has replaced, in Chromium: nanoseconds a call with and without
it, the least of some rounds, in a document with 1,000 elements and a frame.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import figure
import harness
from inject_pages import write_har

BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")
FACTOR_MAX = 2
PAGE = """<!doctype html><title>cost</title><body><iframe></iframe><div id="place"></div><script>
const place = document.getElementById('place');
for (let i = 0; i < 1000; i += 1) place.append(document.createElement('p'));
const loose = document.createElement('div');
const node = document.createElement('b');
const other = loose.appendChild(document.createElement('i'));
const date = new Date();
const formatter = new Intl.DateTimeFormat('en');
const bytes = new Uint8Array(16);
const headers = new Headers({ a: 'b' });
const CALLS = {
  'Date.now()': () => Date.now(),
  'new Date()': () => new Date(),
  'new Date(0)': () => new Date(0),
  'Math.random()': () => Math.random(),
  'crypto.getRandomValues(16)': () => crypto.getRandomValues(bytes),
  'crypto.randomUUID()': () => crypto.randomUUID(),
  'appendChild, in the document': () => place.appendChild(node),
  'appendChild, outside': () => loose.appendChild(node),
  'insertBefore, in the document': () => place.insertBefore(node, place.firstChild),
  'append, in the document': () => place.append(node),
  'innerHTML': () => { loose.innerHTML = '<b>a</b><i>b</i>'; },
  'innerHTML, in the document': () => { place.firstChild.innerHTML = '<b>a</b><i>b</i>'; },
  'format(date)': () => formatter.format(date),
  'Function.prototype.toString()': () => node.constructor.toString(),
  'headers.get()': () => headers.get('a'),
  'new Blob()': () => new Blob([]),
};
const CALLS_AT_ONCE = 100, ROUND_MS = 3, ROUNDS = 40;
function cost(call) {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    let calls = 0, time = 0;
    while (time < ROUND_MS) {
      for (let i = 0; i < CALLS_AT_ONCE; i += 1) call();
      calls += CALLS_AT_ONCE;
      time = performance.now() - start;
    }
    least = Math.min(least, time * 1e6 / calls);
  }
  return least;
}
addEventListener('load', () => {
  const told = {};
  for (const [name, call] of Object.entries(CALLS)) told[name] = cost(call);
  const shown = document.body.appendChild(document.createElement('pre'));
  shown.id = 'told';
  shown.textContent = JSON.stringify(told);
});
</script>"""


def costs(folder, inject):
    result = folder / "loads.json"
    done = harness.run("load", str(folder / "page.reprise"), "https://one.test/", "--browser",
                       BROWSER, "--inject", inject, "--dom", "--no-bodies", "-o", str(result),
                       folder=folder, timeout=120)
    if done.returncode:
        sys.exit(done.stderr.decode())
    dom = json.loads(result.read_text())["loads"][0]["dom"]
    return json.loads(re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)[1])


def main():
    if not shutil.which(BROWSER):
        return figure.report("inject_cost_no_browser", 1, "", None)
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        write_har(folder / "page.har", {"": ("text/html", PAGE)}, "2026-03-01T12:00:00Z")
        done = harness.run("archive", "import", str(folder / "page.har"), "-o",
                           str(folder / "page.reprise"))
        if done.returncode:
            sys.exit(done.stderr.decode())
        old, new = costs(folder, "none"), costs(folder, "default")
    dearer = sum(new[call] > FACTOR_MAX * old[call] for call in old)
    figure.report("inject_calls_over_twice_as_dear", dearer, "calls", "<= 3")
    figure.table(("call", "ns without", "ns with", "factor"),
                 [(call, f"{old[call]:.0f}", f"{new[call]:.0f}", f"{new[call] / old[call]:.1f}")
                  for call in old])


if __name__ == "__main__":
    main()
