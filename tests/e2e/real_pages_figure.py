#!/usr/bin/env python3
"""Real pages, recorded years ago by other people's tools, loaded from the imported archive by a
headless Chromium. REPRISE_CORPUS names the folder of the recordings; without it there is nothing to
measure. A table for people goes to stdout behind the figure.

A miss is a request that the recording has no answer for: pages make up some names anew on every
load (timestamps, random numbers), and a browser of today asks for more than one of 2018 did.
"""

import collections
import json
import os
import pathlib
import sys
import tempfile

import figure
import harness

BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")
PAGES = (
    ("VK", "rec-warc-servo/VK--*.warc.gz", "https://vk.com/"),
    ("JD", "rec-warc-servo/JD--*.warc.gz", "https://www.jd.com/"),
    ("Reddit", "rec-warc-servo/Reddit--*.warc.gz", "https://www.reddit.com/"),
    ("Facebook", "rec-warc-servo/Facebook--*.warc.gz", "https://www.facebook.com/"),
    ("Wikipedia", "rec-warc-servo/Wikipedia--*.warc.gz", "https://www.wikipedia.org/"),
    ("gatech", "rec-wprgo-arcanum/custom.wprgo", "https://www.gatech.edu/"),
    ("TriWest", "rec-wacz-warcbench/triwest.wacz", "https://joinournetwork.triwest.com/"),
)
TIMEOUT_SECONDS = 600


def run(folder, *arguments):
    done = harness.run(*map(str, arguments), folder=folder, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        sys.exit(f"reprise {' '.join(map(str, arguments))}: exit {done.returncode}\n"
                 f"{done.stderr.decode()}")
    return done


def load(folder, name, recording, page):
    """A row of the table: what became of the page's requests."""
    archive = folder / f"{name}.reprise"
    result = pathlib.Path(os.environ.get("FIGURE_FOLDER", folder)) / f"{name}.json"
    run(folder, "archive", "import", recording, "-o", archive)
    run(folder, "load", archive, page, "--browser", BROWSER, "--no-bodies", "-o", result)
    loaded = json.loads(result.read_text())
    page_load, replay = loaded["loads"][0], loaded["replays"][0]["report"]
    for miss in replay["distinct_misses"]:
        print(f"{name}: missed {miss['method']} {miss['url'][:150]}: {miss['reason']}",
              file=sys.stderr)
    return page_load, replay


def main():
    if not os.environ.get("REPRISE_CORPUS"):
        return figure.report("real_pages_not_there", 1, "", None)
    corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
    rows = []
    total = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        for name, pattern, page in PAGES:
            for recording in sorted(corpus.glob(pattern)):
                page_load, replay = load(pathlib.Path(temporary), name, recording, page)
                event = page_load["load_event_ms"]
                rows.append(f"| {name} | {len(page_load['requests'])} | {replay['hits']} | "
                            f"{replay['misses']} | {event if event is None else round(event)} |")
                total.update(pages=1, loaded=event is not None, misses=replay["misses"])
    figure.report("real_pages_without_load_event", total["pages"] - total["loaded"], "pages",
                  "== 0")
    print("\n| page | requests | hits | misses | load event ms |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
