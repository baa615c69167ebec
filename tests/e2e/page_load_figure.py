#!/usr/bin/env python3
"""How much the load event of one page varies when a replay serves it over an emulated link: the
demonstration's site is recorded once, and its first page is loaded by a new browser each time.

usage: page_load_figure.py [PROFILE...]      default: wpt:4g wpt:3gfast wpt:cable

RUNS loads of each profile count, after one that does not. A table for people goes to stdout after
the figures, each load and the machine's load average to stderr. With FIGURE_FOLDER=FOLDER the
archive, the results and the replays' reports stay there.

What varies is the browser's own computing, and that by what else the machine does: over wpt:cable
the link was busy for 3449 ms of each load, within 1 ms, and idle for 306 to 431 before the browser
had asked for everything. On a machine that is not idle, `chrt --rr 1 page_load_figure.py` puts all
of this before the rest.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import figure
import harness

PAGE = "https://www.meadow.test/"
PROFILES = ("wpt:4g", "wpt:3gfast", "wpt:cable")
RUNS = int(os.environ.get("FIGURE_RUNS", "15"))
CV_BOUND_PERCENT = 0.7
BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or "nginx"


def run(folder, *arguments):
    done = subprocess.run([harness.REPRISE, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=harness.environment(folder), check=False)
    if done.returncode:
        sys.exit(f"reprise {arguments[0]}: exit {done.returncode}\n{done.stderr}")
    return done.stderr


def record(folder):
    archive, site = folder / "meadow.reprise", folder / "site"
    site.mkdir()
    make_site = harness.REPOSITORY / "tools/demo_site/make_site.py"
    subprocess.run([sys.executable, "-B", make_site, site, folder], check=True)
    nginx = subprocess.Popen([NGINX, "-p", site, "-e", site / "error.log", "-c",
                              site / "nginx.conf", "-g", "daemon off;"], stdin=subprocess.DEVNULL)
    try:
        for _ in harness.watch_folder(site, nginx.pid):
            if (site / "nginx.pid").exists() or nginx.poll() is not None:
                break
        connects = [each for line in (site / "connect").read_text().split()
                    for each in ("--connect-to", line)]
        run(folder, "record", "-o", archive, *connects, "--origin-ca", site / "tls/ca.pem", PAGE)
    finally:
        nginx.terminate()
        nginx.wait()
    return archive


def load(folder, archive, profile):
    """The load events of RUNS loads in ms, and what the replay says about its link."""
    name = profile.replace(":", "-").replace("/", "-")
    result, report = folder / f"{name}.json", folder / f"{name}.replay.json"
    run(folder, "replay", archive, "--warm", "--link", profile, "--link-seed", "1", "--realtime",
        "--report", report, "--", harness.REPRISE, "load", "--live", PAGE, "--runs", RUNS + 1,
        "--browser", BROWSER, "-o", result, "--", "{chromium-flags}")
    loads = json.loads(result.read_text())["loads"]
    return [each["load_event_ms"] for each in loads][1:], json.loads(report.read_text())


def measure(folder, archive, profile):
    before = os.getloadavg()[0]
    times, report = load(folder, archive, profile)
    if report["misses"]:
        print(f"{profile}: {report['misses']} misses", file=sys.stderr)
    mean, deviation = statistics.mean(times), statistics.stdev(times)
    print(profile, "load average", round(before, 1), "then", round(os.getloadavg()[0], 1), "ms:",
          *(round(each) for each in times), file=sys.stderr)
    figure.report(f"page_load_{profile.replace(':', '_')}_cv", round(100 * deviation / mean, 3),
                  "%", f"< {CV_BOUND_PERCENT}")
    return (profile, len(times), f"{mean:.1f}", f"{deviation:.1f}",
            f"{100 * deviation / mean:.2f}", f"{min(times):.1f}", f"{max(times):.1f}",
            f"{report['link']['lateness']['p99_us'] / 1000:.2f}", f"{before:.1f}")


def main():
    profiles = sys.argv[1:] or PROFILES
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(os.environ.get("FIGURE_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / "meadow.reprise"
        if not archive.exists():
            archive = record(folder)
        rows = [measure(folder, archive, profile) for profile in profiles]
    figure.table(("link", "loads", "mean ms", "deviation ms", "CV %", "least", "most",
                  "link lateness p99 ms", "load average"), rows)


if __name__ == "__main__":
    main()
