#!/usr/bin/env python3
"""How much the load event of one page varies when a replay serves it over an emulated link: the
demonstration's site is recorded once, and its first page is loaded by a new browser each time.

usage: page_load_figure.py [PROFILE...]      default: wpt:4g wpt:3gfast wpt:cable

RUNS loads of each profile count, after one that does not. A table for people goes to stdout after
the figures, each load and the machine's load average to stderr. With FIGURE_FOLDER=FOLDER the
archive and the result stay there.

What varies is the browser's own computing, and that by what else the machine does: over wpt:cable
the link was busy for 3449 ms of each load, within 1 ms, and idle for 306 to 431 before the browser
had asked for everything. On a machine that is not idle, `chrt --rr 1 page_load_figure.py` puts all
of this before the rest.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import demo_origin
import figure
import harness

PAGE = demo_origin.PAGE
PROFILES = ("wpt:4g", "wpt:3gfast", "wpt:cable")
RUNS = int(os.environ.get("FIGURE_RUNS", "15"))
CV_BOUND_PERCENT = 0.7
BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")


def run(folder, *arguments):
    done = subprocess.run([harness.REPRISE, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=harness.environment(folder), check=False)
    if done.returncode:
        sys.exit(f"reprise {arguments[0]}: exit {done.returncode}\n{done.stderr}")
    return done.stderr


def record(folder):
    archive = folder / "meadow.reprise"
    with demo_origin.serving(folder / "site") as arguments:
        run(folder, "record", "-o", archive, *arguments, PAGE)
    return archive


def measure(folder, archive, profiles):
    """The result of RUNS loads over each profile, in a mixed order."""
    result = folder / "loads.json"
    print(run(folder, "load", archive, PAGE, "--link", ",".join(profiles), "--link-seed", "1",
              "--realtime", "--runs", RUNS, "--browser", BROWSER, "--no-bodies", "-o", result),
          file=sys.stderr)
    return json.loads(result.read_text())


def row(result, profile):
    """A row of the table, of the loads over one profile that count; reports their variation."""
    loads = [each for each in result["loads"]
             if each["configuration"]["link"] == profile and not each["warm_up"]]
    times = [each["load_event_ms"] for each in loads]
    lateness = [result["replays"][each["replay"]]["report"]["link"]["lateness"]["p99_us"]
                for each in loads]
    mean, deviation = statistics.mean(times), statistics.stdev(times)
    figure.report(f"page_load_{profile.replace(':', '_')}_cv", round(100 * deviation / mean, 3),
                  "%", f"< {CV_BOUND_PERCENT}")
    return (profile, len(times), f"{mean:.1f}", f"{deviation:.1f}",
            f"{100 * deviation / mean:.2f}", f"{min(times):.1f}", f"{max(times):.1f}",
            sum(each["misses"] for each in loads), f"{max(lateness) / 1000:.2f}")


def main():
    profiles = sys.argv[1:] or PROFILES
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(os.environ.get("FIGURE_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / "meadow.reprise"
        if not archive.exists():
            archive = record(folder)
        before = os.getloadavg()[0]
        result = measure(folder, archive, profiles)
        print(f"load average {before:.1f}, then {os.getloadavg()[0]:.1f}", file=sys.stderr)
        rows = [row(result, profile) for profile in profiles]
    figure.table(("link", "loads", "mean ms", "deviation ms", "CV %", "least", "most", "misses",
                  "worst link lateness p99 ms"), rows)


if __name__ == "__main__":
    main()
