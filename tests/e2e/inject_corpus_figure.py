#!/usr/bin/env python3
"""Real pages, loaded again and again from their imported archives: with the script all loads make
the same set of requests, without it they differ. REPRISE_CORPUS names the folder of the recordings.

usage: inject_corpus_figure.py [PAGE...]     RUNS loads of each with the script, a quarter without

For each page a row: how many of the loads with the script made the set of requests that most of
them made, and how many sets there were with and without it. Not compared is what a page has
measured of its own load and reports: performance.timing stays real. What differs most often goes to
stderr, and a line as each page is done: all of them take a quarter of an hour.
"""

import collections
import json
import os
import pathlib
import sys
import tempfile
import time

import figure
from real_pages_figure import BROWSER, PAGES, run, unmeasured

NAMED_MAX = 8
RUNS = int(os.environ.get("FIGURE_RUNS", "20"))


def request_sets(folder, archive, page, inject, runs):
    """The set of requests of each load, by new browsers."""
    result = folder / "load.json"
    run(folder, "load", archive, page, "--browser", BROWSER, "--no-bodies", "--inject", inject,
        "--runs", str(runs), "--warm-up", "0", "-o", result)
    loads = json.loads(result.read_text())["loads"]
    return collections.Counter(
        frozenset((each["method"], unmeasured(each["url"])) for each in load["requests"])
        for load in loads)


def main():
    if not os.environ.get("REPRISE_CORPUS"):
        return figure.report("inject_corpus_not_there", 1, "", None)
    corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
    wanted = sys.argv[1:] or [name for name, _, _ in PAGES]
    rows, same, all_loads = [], 0, 0
    for name, pattern, page in PAGES:
        if name not in wanted:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
            folder = pathlib.Path(temporary)
            archive = folder / "page.reprise"
            run(folder, "archive", "import", next(corpus.glob(pattern)), "-o", archive)
            with_script = request_sets(folder, archive, page, "default", RUNS)
            without = request_sets(folder, archive, page, "none", max(2, RUNS // 4))
        (most, count), *others = with_script.most_common()
        differing = collections.Counter(each for other, _ in others for each in most ^ other)
        for (method, url), _ in differing.most_common(NAMED_MAX):
            print(f"{name}: not in all loads: {method} {url[:300]}", file=sys.stderr)
        rows.append((name, len(most), f"{count} of {RUNS}", len(with_script),
                     f"{len(without)} of {sum(without.values())}"))
        same, all_loads = same + count, all_loads + RUNS
        print(f"{name}: {count} of {RUNS} loads alike, {time.monotonic() - began:.0f} s",
              file=sys.stderr, flush=True)
    figure.report("loads_of_real_pages_that_differ", all_loads - same, "loads", "== 0")
    figure.table(("page", "requests", "same set", "sets", "sets without the script"), rows)


if __name__ == "__main__":
    main()
