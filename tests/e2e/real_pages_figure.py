#!/usr/bin/env python3
"""Real pages, recorded years ago by other people's tools, each loaded three times from the imported
archive by a headless Chromium: the loads ask the same and get the same. REPRISE_CORPUS names the
folder of the recordings; without it there is nothing to measure. A table for people goes to stdout
behind the figures. Names of pages as arguments: those alone.

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
# What these pages tell of their own loads holds load times (Google's: `tfd`), or, it seems, a
# digest of a body that does (Reddit): it is asked for in every load, and differs.
MEASURED = ("https://fd.3.cn/cesu/r?", "https://events.reddit.com/v1?",
            "https://analytics.google.com/g/collect?")
TIMEOUT_SECONDS = 600
LOADS = 3


def run(folder, *arguments, allowed=(0,)):
    done = harness.run(*map(str, arguments), folder=folder, timeout=TIMEOUT_SECONDS)
    if done.returncode not in allowed:
        sys.exit(f"reprise {' '.join(map(str, arguments))}: exit {done.returncode}\n"
                 f"{done.stderr.decode()}")
    return done


def load(folder, name, recording, page):
    """What became of the page's requests, in each of several loads that begin alike."""
    archive = folder / f"{name}.reprise"
    run(folder, "archive", "import", recording, "-o", archive)
    loads = []
    for number in range(LOADS):
        result = pathlib.Path(os.environ.get("FIGURE_FOLDER", folder)) / f"{name}.{number}.json"
        # A page that never gets quiet has loaded all the same; the result says so.
        run(folder, "load", archive, page, "--browser", BROWSER, "--no-bodies", "-o", result,
            allowed=(0, 1))
        loaded = json.loads(result.read_text())
        loads.append((loaded["loads"][0], loaded["replays"][0]["report"]))
    for miss in loads[0][1]["distinct_misses"]:
        near = miss["nearest"][0]["why"] if miss["nearest"] else ""
        print(f"{name}: missed {miss['method']} {miss['url'][:150]}: {miss['reason']}: {near}",
              file=sys.stderr)
    return loads


def unmeasured(url):
    return next((f"{start}..." for start in MEASURED if url.startswith(start)), url)


def asked(page_load):
    return collections.Counter((each["method"], unmeasured(each["url"]))
                               for each in page_load["requests"])


def answered(replay):
    """What the recording gave, exchange by exchange as far as the report tells."""
    return (replay["hits"], [each["sequence"] for each in replay["never_asked_for"]],
            sorted((unmeasured(hit["url"]), hit["recorded_url"])
                   for hit in replay["inexact_hits"]))


def unexplained(replay):
    return sum(miss["reason"] == "not recorded" and not miss["nearest"]
               for miss in replay["distinct_misses"])


def differences(name, loads):
    """Whether any load differs from the first; says in what."""
    first_load, first_replay = loads[0]
    differs = False
    for page_load, replay in loads[1:]:
        more = asked(page_load) - asked(first_load)
        less = asked(first_load) - asked(page_load)
        for sign, requests in (("+", more), ("-", less)):
            for method, url in list(requests)[:5]:
                print(f"{name}: {sign} {method} {url[:150]}", file=sys.stderr)
        differs = differs or bool(more or less) or answered(replay) != answered(first_replay)
    return differs


def main():
    if not os.environ.get("REPRISE_CORPUS"):
        return figure.report("real_pages_not_there", 1, "", None)
    corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
    rows = []
    total = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        for name, pattern, page in PAGES:
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            for recording in sorted(corpus.glob(pattern)):
                loads = load(pathlib.Path(temporary), name, recording, page)
                page_load, replay = loads[0]
                event = page_load["load_event_ms"]
                differs = differences(name, loads)
                rows.append(
                    f"| {name} | {len(page_load['requests'])} | {replay['hits']} | "
                    f"{replay['fuzzy_hits']} | {replay['misses']} | "
                    f"{replay['special']['browser']} | "
                    f"{replay['confidence_percent']} | {'differs' if differs else 'same'} | "
                    f"{event if event is None else round(event)} |")
                print(rows[-1], file=sys.stderr)
                total.update(pages=1, loaded=event is not None, misses=replay["misses"],
                             differ=differs,
                             unexplained=sum(unexplained(each) for _, each in loads))
    figure.report("real_pages_without_load_event", total["pages"] - total["loaded"], "pages",
                  "== 0")
    figure.report("real_pages_whose_loads_differ", total["differ"], "pages", "== 0")
    figure.report("real_pages_unexplained_misses", total["unexplained"], "misses", "== 0")
    print("\n| page | requests | hits | fuzzy | misses | browser's own | confidence % | "
          f"{LOADS} loads | load event ms |\n|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
