#!/usr/bin/env python3
"""Speed Index, visually complete, Total Blocking Time and the LCP element of `reprise view` against
Lighthouse's own code (npm) on the same traces. Also how fast a page of 500 requests is drawn."""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import devtools
import figure
import harness
import npm_packages
import view_results
from view_visuals_test import FILES
from wire import Origin, response

VISUALS = pathlib.Path(__file__).resolve().parent / "visuals"
RUNS = 5


def model_of(page):
    return json.loads(re.search(r'id="model">(.*?)</script>', page.read_text(), re.DOTALL)[1])


def answer(request):
    kind, body = FILES.get(request.target, (b"text/plain", b""))
    return response(body, headers=b"Content-Type: " + kind + b"\r\n")


def run(*arguments, folder):
    done = harness.run(*map(str, arguments), folder=folder, timeout=300)
    if done.returncode:
        sys.exit(done.stderr.decode())


def measure(folder):
    """The loads' visuals, each with Lighthouse's."""
    modules = npm_packages.installed(VISUALS)
    origin = Origin(answer, names=("localhost",))
    url = f"http://localhost:{origin.port}/"
    try:
        run("load", "--live", url, "--runs", RUNS, "--trace", folder / "traces",
            "-o", folder / "result.json", folder=folder)
    finally:
        origin.close()
    run("view", folder / "result.json", "-o", folder / "page.html", folder=folder)
    loads = [load["visuals"] for load in model_of(folder / "page.html")["loads"]]
    traces = sorted((folder / "traces").iterdir())
    for load, trace in zip(loads, traces, strict=True):
        done = subprocess.run(["node", VISUALS / "lighthouse.mjs", modules, trace, url],
                              capture_output=True, check=True, timeout=120)
        yield load, json.loads(done.stdout)


def drawing_ms(folder):
    """From the start of the navigation to the load event, which comes after drawing."""
    path = folder / "500.json"
    load = view_results.load_of(1, 500, random.Random(5), view_results.configuration(), 60, 90_000)
    path.write_text(json.dumps(view_results.result_of([load])))
    run("view", path, "-o", folder / "500.html", folder=folder)
    page = devtools.Page()
    try:
        page.show(f"file://{folder / '500.html'}", 1280, 900)
        page.settle()
        return page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    finally:
        page.close()


def tell(folder):
    rows = list(measure(folder))
    for name in ("speed_index_ms", "visually_complete_ms", "total_blocking_ms"):
        figure.table((name, "Lighthouse"), [(f"{a[name]:.2f}", f"{b[name]:.2f}") for a, b in rows])
    away = max(abs(a[name] - b[name]) / b[name] * 100 for a, b in rows
               for name in ("speed_index_ms", "visually_complete_ms", "total_blocking_ms"))
    figure.report("visuals_from_lighthouse", round(away, 3), "%", "< 1")
    other = sum(a["largest_paint"]["node"] != b["largest_paint"] for a, b in rows)
    figure.report("largest_paint_other_than_lighthouse", other, "loads", "== 0")
    figure.report("view_500_requests", round(drawing_ms(folder), 1), "ms", "< 1000")


def main():
    with tempfile.TemporaryDirectory(prefix="reprise-visuals.") as folder:
        tell(pathlib.Path(folder))


if __name__ == "__main__":
    main()
