#!/usr/bin/env python3
"""A budget of time spent by the optimum against an even split: two imported real pages under ten
configurations each, which vary differently. REPRISE_CORPUS names the folder of the recordings."""

import os
import pathlib
import re
import sys
import tempfile

import figure
import harness
from real_pages_figure import PAGES

NAMES = ("VK", "Wikipedia")
LINKS = ("none", "wpt:4g", "wpt:cable", "wpt:3gfast", "wpt:4g,loss=1%")
BUDGET = "10m"
TOLD = re.compile(r"standard errors of the load events: ([\d.]+) ms in all; .* left ([\d.]+) ms")


def main():
    if not os.environ.get("REPRISE_CORPUS"):
        figure.report("budget_not_there", 1, "", None)
        return
    corpus = pathlib.Path(os.environ["REPRISE_CORPUS"])
    rows, sums = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, pattern, url in PAGES:
            if name not in NAMES:
                continue
            done = harness.run("load", str(next(corpus.glob(pattern))), url, "--protocol", "h1,h2",
                               "--link", ",".join(LINKS), "--budget", BUDGET, "--seed", "1",
                               "-o", f"{folder}/loads.json", timeout=1800)
            told = TOLD.search(done.stderr.decode())
            if not told:
                sys.exit(done.stderr.decode())
            sums.append(tuple(map(float, told.groups())))
            rows.append((name, *told.groups()))
    figure.table(("page, 10 configurations", "by the optimum, ms", "split evenly, ms"), rows)
    optimum, even = (sum(each) for each in zip(*sums))
    figure.report("budget_standard_errors", round(optimum / even, 3), "of an even split", "<= 1")


if __name__ == "__main__":
    main()
