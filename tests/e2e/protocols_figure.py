#!/usr/bin/env python3
"""A page over HTTP/1.1, HTTP/2 and HTTP/3, on four links: docs/protocols.md. Needs an idle machine
and packet links; with few loads it shows only that it works.

    protocols_figure.py [ARCHIVE URL] [--runs N] [--browser NAME] [--link LINK]...

Without an archive it loads a page of 30 images of 20 KB. The median, its interval (95 %, by order
statistics) and the quartiles are of the load event, in ms. h3 against h2 is by the rank test of
Mann and Whitney: `undecided` if p is not below 0.01.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import unittest

import figure
import h3_test
import harness

PROTOCOLS = ("h1", "h2", "h3")
LINKS = ("wpt:4g", "wpt:3gfast", "wpt:cable", "9000/9000/170/1%")
ALPHA = 0.01
SECONDS_A_LOAD = 60


class Recorded(h3_test.H3):
    """Records the page, with the fixture of the tests."""

    def runTest(self):
        self.recorded("/", *(f"/image/{number}" for number in range(30)))
        pathlib.Path(os.environ["FIGURE_ARCHIVE"]).write_bytes(self.archive.read_bytes())


def record_page(folder):
    archive = folder / "page.reprise"
    os.environ["FIGURE_ARCHIVE"] = str(archive)
    result = unittest.TextTestRunner(stream=sys.stderr).run(Recorded())
    if not result.wasSuccessful():
        sys.exit("the page cannot be recorded")
    return archive, f"https://{h3_test.HOSTS[0]}/"


def median_interval(values):
    """The order statistics around the median that hold it with 95 %."""
    ordered = sorted(values)
    half = 0.98 * math.sqrt(len(ordered))
    low = max(0, math.floor(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half) - 1)
    return ordered[low], ordered[high]


def rank_test(left, right):
    """The two-sided p of Mann and Whitney, by the normal approximation with ties."""
    merged = sorted([(value, 0) for value in left] + [(value, 1) for value in right])
    count = len(merged)
    rank_sum, ties, at = 0.0, 0, 0
    while at < count:
        end = at
        while end < count and merged[end][0] == merged[at][0]:
            end += 1
        rank = (at + 1 + end) / 2
        rank_sum += rank * sum(1 for _, side in merged[at:end] if side == 0)
        ties += (end - at) ** 3 - (end - at)
        at = end
    u = rank_sum - len(left) * (len(left) + 1) / 2
    variance = len(left) * len(right) / 12 * (count + 1 - ties / (count * (count - 1)))
    if variance == 0:
        return 1.0
    z = abs(u - len(left) * len(right) / 2) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def verdict(h2, h3):
    if rank_test(h2, h3) >= ALPHA:
        return "undecided"
    return "faster" if statistics.median(h3) < statistics.median(h2) else "slower"


def loads_of(result):
    """The load events by link and protocol; a load without one is counted as failed."""
    events, failed = {}, 0
    for load in json.loads(result.read_text())["loads"]:
        conditions = load["configuration"]
        if load["warm_up"]:
            continue
        if load["load_event_ms"] is None:
            failed += 1
            continue
        cell = events.setdefault((conditions["link"], conditions["protocol"]), [])
        cell.append(load["load_event_ms"])
    return events, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", nargs="?")
    parser.add_argument("url", nargs="?")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--link", action="append")
    wanted = parser.parse_args()
    links = wanted.link or LINKS
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        archive, url = ((wanted.archive, wanted.url) if wanted.archive else record_page(folder))
        result = folder / "result.json"
        cells = len(PROTOCOLS) * len(links)
        done = harness.run(
            "load", str(archive), url, "--browser", wanted.browser, "--no-bodies",
            "--protocol", ",".join(PROTOCOLS), "--link", ",".join(links), "--shaper", "packet",
            "--runs", str(wanted.runs), "-o", str(result), folder=folder,
            timeout=600 + cells * (wanted.runs + 1) * SECONDS_A_LOAD)
        if not result.exists():
            sys.exit(done.stderr.decode())
        events, failed = loads_of(result)
    rows = []
    for link in links:
        for protocol in PROTOCOLS:
            values = events.get((link, protocol), [])
            if len(values) < 2:
                continue
            low, high = median_interval(values)
            quarter, median, three = statistics.quantiles(values, n=4, method="inclusive")
            compared = ""
            if protocol == "h3" and len(events.get((link, "h2"), [])) > 1:
                compared = verdict(events[link, "h2"], values)
            rows.append((link, protocol, len(values), f"{median:.0f}", f"{low:.0f} to {high:.0f}",
                         f"{quarter:.0f} to {three:.0f}", f"{min(values):.0f} to {max(values):.0f}",
                         compared))
    figure.report("protocols_failed_loads", failed, "loads", "== 0")
    figure.report("protocols_cells_without_loads", cells - len(events), "cells", "== 0")
    figure.table(("link", "protocol", "loads", "median ms", "its interval", "half of the loads",
                  "all", "h3 against h2"), rows)


if __name__ == "__main__":
    main()
