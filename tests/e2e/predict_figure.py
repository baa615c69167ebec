#!/usr/bin/env python3
"""Predicted against measured: ten changes of pages over HTTP/2, each predicted and measured in one
interleaved experiment (`predict --measure`), beside the predictor that says that nothing changes.

A page of three hosts, with REPRISE_CORPUS also imported real ones; archives as arguments
("ARCHIVE URL") are measured instead. A table for people goes to stdout, then the figures."""

import json
import os
import pathlib
import statistics
import sys
import tempfile

import figure
import gate_sites
import harness
from real_pages_figure import PAGES
from what_if_test import FILES, HOST, LATE, THIRD, URL, Recorded, png

RUNS = os.environ.get("PREDICT_RUNS", "8")
LINK = "9000/9000/60"
TIMEOUT_SECONDS = 1800
BELOW = .05  # of the load: smaller effects are not judged by their own size


def enlarged():
    """The page of three hosts, with something for a slower link and processor to do."""
    for path, seed in (("/picture.png", 3), ("/below.png", 5), ("/back.png", 4)):
        FILES[HOST][path] = (b"image/png", png(seed, 700))
    FILES[LATE]["/late.png"] = (b"image/png", png(6, 700))
    work = b"\nfor (let end = performance.now() + 30, i = 0; i < 3e6; ++i) Math.sqrt(i + end);\n"
    words = b"/* " + gate_sites.words(7, 60_000) + b" */\n"
    FILES[HOST]["/app.js"] = (b"text/javascript", work + FILES[HOST]["/app.js"][1])
    FILES[THIRD]["/ad.js"] = (b"text/javascript", work + words + FILES[THIRD]["/ad.js"][1])
    FILES[HOST]["/style.css"] = (b"text/css", FILES[HOST]["/style.css"][1] + words)


def changes(third, late, coding):
    """The name of each change, and its arguments. `third`: a filter of a third party; `late`: of
    what can be preloaded; `coding`: another one than that of the recording."""
    yield "think time", ("--what-if", f"{third}: think=+200ms")
    yield "round trip", ("--to-link", "9000/9000/160")
    yield "bandwidth", ("--to-link", "900/9000/60")
    yield "third party", ("--what-if", f"{third}: drop")
    yield "compression", ("--what-if", f"type=script,style,html: compress={coding}")
    yield "images halved", ("--what-if", "type=image: bytes=x0.5")
    yield "h1", ("--to-protocol", "h1")
    yield "processor", ("--to-cpu-throttle", "4")
    yield "preload", ("--what-if", f"{late}: preload")
    yield "defer", ("--what-if", "type=script: defer")


class ThreeHosts(Recorded):
    """The recording of what_if_test.py, without its tests."""

    def runTest(self):
        pass


def real_pages(folder):
    corpus = os.environ.get("REPRISE_CORPUS")
    for name, pattern, url in PAGES if corpus else ():
        archive = folder / f"{name}.reprise"
        recording = next(pathlib.Path(corpus).glob(pattern))
        done = harness.run("archive", "import", str(recording), "-o", str(archive), folder=folder,
                           timeout=TIMEOUT_SECONDS)
        assert done.returncode == 0, done.stderr.decode()
        host = url.split("/")[2].removeprefix("www.")
        yield name, archive, url, f"!host=.{host}", "type=font,style", "off"


def predicted(folder, archive, url, arguments):
    """The report, or why there is none."""
    done = harness.run("predict", str(archive), url, "--link", LINK, "--protocol", "h2",
                       "--measure", "--json", "--runs", RUNS, "--seed", "1",
                       *arguments, folder=folder, timeout=TIMEOUT_SECONDS)
    if done.returncode != 0:
        return done.stderr.decode().strip().splitlines()[-1]
    return json.loads(done.stdout)


def rows_of(page, change, report):
    if isinstance(report, str):
        yield page, change, report[:70], *[""] * 9
        return
    for each in report["milestones"]:
        measured, middle = each["measured"], each["quantiles"][0]
        before, ours = middle["observed_ms"], middle["saving_ms"]
        true, error = measured["saving_ms"], measured["error"]
        nothing = measured["error_if_nothing_changed"]
        judged = abs(true) > BELOW * before
        yield (page, change, each["milestone"], round(before), round(ours), round(true),
               f"{error['of_saving']:.0%}" if judged else "",
               ("right" if ours * true > 0 else "WRONG") if judged else "",
               f"{ours / before:+.1%}" if not judged else "",
               f"{error['distance']['median']:.2f}", f"{nothing['distance']['median']:.2f}",
               f"{measured['distance_of_the_same_loads']['median']:.2f}")


def main(folder):
    if sys.argv[1:]:
        pages = [(archive, pathlib.Path(archive), url, f"!host={url.split('/')[2]}",
                  "type=font,style", "off")
                 for archive, url in zip(sys.argv[1::2], sys.argv[2::2])]
    else:
        enlarged()
        ThreeHosts.setUpClass()
        pages = [("three hosts", ThreeHosts.archive, URL, f"host={THIRD}", "path=/late.png", "br"),
                 *real_pages(folder)]
    rows = []
    for page, archive, url, *filters in pages:
        for change, arguments in changes(*filters):
            for row in rows_of(page, change, predicted(folder, archive, url, arguments)):
                rows.append(row)
                print(*row, file=sys.stderr, flush=True)
    ThreeHosts.doClassCleanups()
    figure.table(("page", "change", "milestone", "before, ms", "predicted saving",
                  "measured saving", "error of it", "sign", "predicted where little changes",
                  "distance", "if nothing changed", "of the same loads"), rows)
    errors = [float(row[6].rstrip("%")) / 100 for row in rows if row[6]]
    small = [abs(float(row[8].rstrip("%"))) / 100 for row in rows if row[8]]
    if errors:
        figure.report("predict_saving_error_median", statistics.median(errors), "of the saving",
                      "<= .25")
        figure.report("predict_sign_wrong", sum(row[7] == "WRONG" for row in rows) / len(errors),
                      "of the effects", "<= .05")
    if small:
        figure.report("predict_little_changes_max", max(small), "of the load", "<= .03")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(made))
