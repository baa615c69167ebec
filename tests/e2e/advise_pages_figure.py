#!/usr/bin/env python3
"""Advice for the demonstration's page and, with REPRISE_CORPUS, for three imported real pages: what
`advise` finds over a 4G link, what each change was predicted and measured to save, and whether the
Markdown for the page's owner has its pictures. An idle machine's figure: 15 minutes a page.

ADVISE_PAGES, a regular expression, chooses among the pages; ADVISE_BUDGET is the time for each
[10m]. ADVISE_KEEP, a folder, keeps what `advise` writes for each page; a page whose advice it has
from an earlier run is not loaded again. A table for people goes to stdout, then the figures."""

import collections
import json
import math
import os
import pathlib
import re
import sys
import tempfile

import advice_files
import demo_origin
import figure
import harness
import page_archives

REAL = ("Facebook", "Wikipedia", "VK")
LINK = "wpt:4g"
BUDGET = os.environ.get("ADVISE_BUDGET", "10m")
TIMEOUT_SECONDS = 7200
CELL_MAX = 200
COLUMNS = ("page", "what", "change", "predicted, ms", "measured, ms", "prediction", "why")


def pages(folder):
    chosen = re.compile(os.environ.get("ADVISE_PAGES", ""))
    if chosen.search("demonstration"):
        yield "demonstration", page_archives.demonstration(folder), demo_origin.PAGE
    yield from page_archives.imported(folder, tuple(filter(chosen.search, REAL)))


def advise(folder, name, archive, url):
    """The folder with the advice; None if there is none: why is told."""
    out, text = folder / f"{name}.advice", folder / f"{name}.advice.txt"
    if text.exists():
        return out
    done = harness.run("advise", str(archive), url, "--link", LINK, "--budget", BUDGET, "--seed",
                       "1", "-o", str(out), folder=folder, timeout=TIMEOUT_SECONDS)
    print(name, done.stdout.decode(), done.stderr.decode(), sep="\n", file=sys.stderr, flush=True)
    if done.returncode:
        return None
    text.write_bytes(done.stdout)
    return out


def is_advised(change):
    return change["verdict"] == "saves" and change["changes"][0]["kind"] != "third party"


def measured(change):
    """The saving in ms and its interval, whose ends can be infinite; None: it was not compared."""
    shift = change.get("shift", {"estimate": None})
    if shift["estimate"] is None:
        return None
    low = -math.inf if shift["high"] is None else -shift["high"]
    high = math.inf if shift["low"] is None else -shift["low"]
    return -shift["estimate"], low, high


def holds_zero(change):
    saving = measured(change)
    return saving is None or saving[1] <= 0 <= saving[2]


def prediction_off(change):
    """By how many ms the prediction is outside the measured interval, 0 within it; None: one of
    the two is missing."""
    if "predicted" not in change or measured(change) is None:
        return None
    saving, (_, low, high) = change["predicted"]["saving_ms"], measured(change)
    return max(low - saving, saving - high, 0)


def cell(text):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= CELL_MAX else f"{text[:CELL_MAX]}..."


def predicted_text(change):
    if "predicted" not in change:
        return cell(change.get("not_predicted", ""))
    saving, low, high = (change["predicted"][each] for each in ("saving_ms", "low_ms", "high_ms"))
    return f"{saving:+.0f}" + ("" if low is None else f" ({low:+.0f} to {high:+.0f})")


def why(change):
    losses = change.get("losses", {})
    said = [change["verdict"], change.get("not_compared", "")]
    said += [f"{what}: {len(losses[name])}" for name, what in
             (("requests", "lost requests"), ("errors", "new errors")) if losses.get(name)]
    return cell(": ".join(filter(None, (said[0], ", ".join(filter(None, said[1:]))))))


def row_of(page, what, change):
    saving, off = measured(change), prediction_off(change)
    return (page, what, cell("; ".join(each["advice"] for each in change["changes"])),
            predicted_text(change),
            f"{saving[0]:+.0f} ({saving[1]:+.0f} to {saving[2]:+.0f})" if saving else "",
            "" if off is None else f"{off:.1f} ms outside" if off else "within", why(change))


def rows_of(page, advice):
    for change in advice["changes"]:
        helps = change["verdict"] == "saves"
        yield row_of(page, "advised" if is_advised(change) else
                     "a third party's cost" if helps else "not advised", change)
    if "together" in advice:
        yield row_of(page, "together", advice["together"])
    for change in advice["left_out"]:
        yield page, "not in the combination", cell(change["advice"]), "", "", "", cell(
            change["why"])
    for change in advice["not_tried"]:
        predicted = predicted_text(change)
        yield page, "not measured", cell(change["advice"]), predicted, "", "", cell(change["why"])


def report_predictions(changes, suffix):
    off = [each for each in map(prediction_off, changes) if each is not None]
    if off:
        figure.report(f"advise_pages_predicted_within{suffix}",
                      round(off.count(0) / len(off), 2), f"of {len(off)} changes", None)
        figure.report(f"advise_pages_predicted_outside_max{suffix}", round(max(off)), "ms", None)


def main(folder):
    rows, changes, together, found = [], [], [], collections.Counter()
    if not os.environ.get("REPRISE_CORPUS"):
        figure.report("advise_pages_real_not_there", 1, "", None)
    for name, archive, url in pages(folder):
        found["pages"] += 1
        out = advise(folder, name, archive, url)
        if out is None:
            found["failed"] += 1
            continue
        advice = json.loads((out / "advice.json").read_text())
        rows += rows_of(name, advice)
        both = [advice["together"]] if "together" in advice else []
        changes += advice["changes"]
        together += both
        faults = advice_files.faults_of(out, sum(map(is_advised, advice["changes"])) + len(both))
        for fault in faults:
            print(f"{name}: {fault}", file=sys.stderr, flush=True)
        found["faults"] += len(faults)
        found["pictures"] += len(list(out.glob("picture-*.jpg")))
    figure.table(COLUMNS, rows)
    advised = list(filter(is_advised, changes))
    figure.report("advise_pages", found["pages"], "pages", None)
    figure.report("advise_pages_failed", found["failed"], "pages", "== 0")
    figure.report("advise_pages_advised", len(advised), "changes", None)
    figure.report("advise_pages_advised_without_saving", sum(map(holds_zero, advised)), "changes",
                  None)  # by the loads that made it advice
    figure.report("advise_pages_together", len(together), "combinations", None)
    figure.report("advise_pages_together_without_saving", sum(map(holds_zero, together)),
                  "combinations", None)
    report_predictions(advised, "")
    report_predictions(changes, "_of_all_measured")
    figure.report("advise_pages_pictures", found["pictures"], "pictures", None)
    figure.report("advise_pages_files_wrong", found["faults"], "faults", "== 0")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as made:
        kept = pathlib.Path(os.environ.get("ADVISE_KEEP", made)).absolute()
        kept.mkdir(parents=True, exist_ok=True)
        main(kept)
