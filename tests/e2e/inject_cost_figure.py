#!/usr/bin/env python3
"""What the script costs.

Bytes that a document grows by, uncoded, gzip and brotli: with the script in it, as other browsers
get it, and for a browser that `load` drives, which has the script from us.

The load event of a page of 82 bytes behind wpt:4g, with and without the script: the medians of
pairs of loads.

The processor time that a new browser takes to make the global object of that page, with and without
the script.

Calls that the script has replaced, in Chromium: nanoseconds a call with and without it, the least
of some rounds, in a document with 1,000 elements and a frame. One call is also made beside ten
frames of another origin, which the script cannot enter.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import devtools
import figure
import harness
from inject_pages import write_har
from wire import Origin, response

BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")
FACTOR_MAX = 2
LINK = "wpt:4g"
PAIRS = int(os.environ.get("FIGURE_RUNS", "15"))
SMALL_PAGE = "<!doctype html><html><head><title>A page</title></head><body>text.</body></html>\n\n"
DOCUMENT = b"Content-Type: text/html; charset=utf-8\r\n"
CODINGS = {"uncoded": lambda body: body,
           "gzip": lambda body: gzip.compress(body, mtime=0),
           "br": lambda body: subprocess.run(["brotli", "-c"], input=body, capture_output=True,
                                             check=True).stdout}
BESIDE = "innerHTML, beside ten frames of another origin"
FOREIGN = '<iframe sandbox srcdoc="x"></iframe>'
PAGE = f"""<!doctype html><title>cost</title><body><iframe></iframe>
<div id="foreign">{10 * FOREIGN}</div><div id="place"></div><script>
const BESIDE = '{BESIDE}';""" + """
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
  [BESIDE]: () => { loose.innerHTML = '<b>a</b><i>b</i>'; },
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
  const foreign = document.getElementById('foreign');
  for (const [name, call] of Object.entries(CALLS)) {
    if (name !== BESIDE) foreign.remove();
    told[name] = cost(call);
  }
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


def answer(request):
    name = request.target.removeprefix("/")
    coded = b"" if name == "uncoded" else b"Content-Encoding: " + name.encode() + b"\r\n"
    return response(CODINGS[name](SMALL_PAGE.encode()), headers=DOCUMENT + coded)


def growth(folder):
    """Bytes added to the document in each coding: {(coding, where the script is): bytes}; and the
    script that an uncoded document has."""
    origin = Origin(answer)
    archive = folder / "codings.reprise"
    recorder = harness.Reprise(folder, "record", "-o", str(archive), *origin.connect_arguments(),
                               "--inject", "none")
    sizes = {}
    for coding in CODINGS:
        with recorder.connect("http") as client:
            sizes[coding] = len(client.get(f"/{coding}").body)
    recorder.stop()
    origin.close()
    added = {}
    for place in ("documents", "browser"):
        replay = harness.Reprise(folder, "replay", str(archive), "--script-in", place)
        for coding, size in sizes.items():
            with replay.connect("http") as client:
                got = client.get(f"/{coding}", headers=b"Sec-Fetch-Dest: document\r\n"
                                                       b"Accept-Encoding: gzip, br\r\n")
            added[coding, place] = len(got.body) - size
            if coding == "uncoded" and place == "documents":
                script = re.search(rb"<script>(.*?)</script>", got.body, re.DOTALL)[1].decode()
        replay.stop()
    return added, script


def load_event(folder, archive, *arguments):
    result = folder / "load.json"
    done = harness.run("load", str(archive), "https://one.test/", "--browser", BROWSER, "--link",
                       LINK, "--link-seed", "1", "--no-bodies", "--quiet", "300", "-o",
                       str(result), *arguments, folder=folder, timeout=120)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return json.loads(result.read_text())["loads"][0]["load_event_ms"]


def small_page(folder):
    """Medians of the load event without the script, with it, and with it in the document."""
    write_har(folder / "small.har", {"": ("text/html", SMALL_PAGE)}, "2026-03-01T12:00:00Z")
    archive = folder / "small.reprise"
    done = harness.run("archive", "import", str(folder / "small.har"), "-o", str(archive))
    if done.returncode:
        sys.exit(done.stderr.decode())
    ways = {"none": ("--inject", "none"), "browser": (),
            "documents": ("--replay-flag=--script-in=documents",)}
    times = {way: [] for way in ways}
    for _ in range(PAIRS):
        for way, arguments in ways.items():
            times[way].append(load_event(folder, archive, *arguments))
    return {way: statistics.median(each) for way, each in times.items()}


def set_up_ms(url, script):
    """Milliseconds of the page's thread until its global object is ready; in a new browser."""
    page = devtools.Page()
    try:
        if script:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script, runImmediately=True)
        events = page.traced("v8", lambda: page.show(url, 800, 600))
    finally:
        page.close()
    # The blank page has one, too, and the fetched page's comes after it.
    made = [event for event in events if event["name"] == "LocalWindowProxy::Initialize"]
    return max(made, key=lambda event: event["ts"])["tdur"] / 1000


def report_set_up(script):
    origin = Origin(answer)
    url = f"http://{origin.address}:{origin.port}/uncoded"
    fetched_only = f"/^https?:/.test(location.href)&&{script}"
    times = [(set_up_ms(url, None), set_up_ms(url, fetched_only)) for _ in range(PAIRS)]
    origin.close()
    for name, of in (("least", min), ("median", statistics.median)):
        without, with_it = map(of, zip(*times))
        figure.report(f"inject_set_up_{name}", round(with_it - without, 2), "ms",
                      "<= 5" if of is min else None)


def report_bytes_and_times(folder):
    added, script = growth(folder)
    for coding in CODINGS:
        figure.report(f"inject_bytes_in_driven_browser_{coding}", added[coding, "browser"],
                      "bytes", "== 0")
        figure.report(f"inject_bytes_in_document_{coding}", added[coding, "documents"], "bytes",
                      None)
    times = small_page(folder)
    grown = 100 * (times["browser"] / times["none"] - 1)
    figure.report("inject_small_page_grows", round(grown, 2), "% of the load event", "<= 1")
    figure.table(("script", f"load event of 82 bytes over {LINK}, median of {PAIRS}"),
                 [(way, f"{each:.0f} ms") for way, each in times.items()])
    report_set_up(script)


def main():
    if not shutil.which(BROWSER):
        return figure.report("inject_cost_no_browser", 1, "", None)
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        report_bytes_and_times(folder)
        write_har(folder / "page.har", {"": ("text/html", PAGE)}, "2026-03-01T12:00:00Z")
        done = harness.run("archive", "import", str(folder / "page.har"), "-o",
                           str(folder / "page.reprise"))
        if done.returncode:
            sys.exit(done.stderr.decode())
        old, new = costs(folder, "none"), costs(folder, "default")
    dearer = sum(new[call] > FACTOR_MAX * old[call] for call in old if call != BESIDE)
    figure.report("inject_calls_over_twice_as_dear", dearer, "calls", "<= 3")
    # An error for each frame would take 10 ms.
    figure.report("inject_beside_frames_of_another_origin", round(new[BESIDE] - old[BESIDE]), "ns",
                  "<= 100000")
    figure.table(("call", "ns without", "ns with", "factor"),
                 [(call, f"{old[call]:.0f}", f"{new[call]:.0f}", f"{new[call] / old[call]:.1f}")
                  for call in old])


if __name__ == "__main__":
    main()
