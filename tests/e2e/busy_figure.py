#!/usr/bin/env python3
"""Whether loads and gates can be trusted beside other work: loads of the demonstration's page over
wpt:4g on the machine as it is, beside four busy loops, and beside a build; with the rights that
this user has, and without any; gates of one archive against itself and a slower page; gates whose
loads are drawn from 60 that were made beside busy loops; and imported real pages on the idle
machine (REPRISE_CORPUS, see real_pages_figure.py).

usage: busy_figure.py [loads|gates|resampled|pages]...      default: all

FIGURE_RUNS loads (30) in each case, FIGURE_GATES gates (20; half as many with a difference). For
the figures to mean anything the machine has nothing else to do. A table for people goes to stdout
after the figures, each load to stderr. With FIGURE_FOLDER=FOLDER archives and results stay there.
"""

import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import figure
import gate_sites
import harness
import page_load_figure
import real_pages_figure

LINK = "wpt:4g"
RUNS = int(os.environ.get("FIGURE_RUNS", "30"))
REAL_PAGES = ("VK", "Facebook", "Wikipedia", "gatech")
GATES = int(os.environ.get("FIGURE_GATES", "20"))
LOOPS = 4
NOBODY = 65534
LATE_MS = 1
rows = []


@contextlib.contextmanager
def busy_loops():
    """As many as LOOPS, in a session of their own, as another job of the machine would be."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
             for _ in range(LOOPS)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
            each.wait()


@contextlib.contextmanager
def build():
    """Compiles this project on two processors, from the beginning, again and again."""
    with tempfile.TemporaryDirectory(prefix="reprise-build.") as folder:
        commands = (f"cmake -S {harness.REPOSITORY} -B {folder} -G Ninja -DREPRISE_TESTS=OFF "
                    "-DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 "
                    "-DREPRISE_COROUTINES_SOUND=TRUE && "
                    f"while :; do ninja -C {folder} -j2 -k0; ninja -C {folder} clean; done")
        compiling = subprocess.Popen(["sh", "-c", commands], start_new_session=True,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     env={**os.environ, "CCACHE_DISABLE": "1"})
        try:
            yield
        finally:
            os.killpg(compiling.pid, 9)
            compiling.wait()


LOADS_BESIDE = {"idle": contextlib.nullcontext, "loops": busy_loops, "build": build}


def run(folder, rights, *arguments):
    """The exit code and what was said; `folder` is the home, too."""
    user = {} if rights else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    done = subprocess.run([harness.REPRISE, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=harness.environment(folder), check=False,
                          cwd=folder, **user)
    return done.returncode, done.stderr


def home(folder, archive, rights):
    """A folder with a copy of the archive, for a user with or without rights."""
    place = folder / ("rights" if rights else "none")
    if not place.exists():
        place.mkdir()
        shutil.copy(archive, place / archive.name)
    if not rights:
        for each in (place, place / archive.name):
            os.chown(each, NOBODY, NOBODY)
    return place


def loads_of(folder, archive, rights):
    place = home(folder, archive, rights)
    result = place / "loads.json"
    code, said = run(place, rights, "load", place / archive.name, page_load_figure.PAGE, "--link",
                     LINK, "--runs", RUNS, "--no-bodies", "-o", result)
    print(said, file=sys.stderr)
    if code not in (0, 5):
        sys.exit(f"load: exit {code}")
    return json.loads(result.read_text())


def report_loads(name, result, idle_median, rights):
    loads = [each for each in result["loads"] if not each["warm_up"]]
    times = [each["load_event_ms"] for each in loads]
    links = [result["replays"][each["replay"]]["report"]["link"] for each in loads]
    late = [each["lateness"]["max_us"] / 1000 for each in links]
    median = statistics.median(times)
    cv = 100 * statistics.stdev(times) / statistics.mean(times)
    off = 100 * (median / idle_median - 1) if idle_median else 0
    others = statistics.mean(max(0, each["machine"]["busy_ms"] - each["machine"]["own_ms"]) /
                             each["machine"]["span_ms"] for each in loads)
    bounded = rights and name != "idle"
    if rights:
        figure.report(f"load_beside_{name}_cv", round(cv, 3), "%",
                      "<= 1.5" if bounded else "<= 0.2")
        figure.report(f"load_beside_{name}_off", round(abs(off), 3), "%",
                      "<= 1" if bounded else None)
        figure.report(f"load_beside_{name}_late_packets", sum(each > LATE_MS for each in late),
                      "loads", "== 0")
    rows.append((name, "with rights" if rights else "without", len(times), f"{median:.1f}",
                 f"{cv:.2f}", f"{off:+.2f}", f"{max(late):.2f}",
                 f"{statistics.median(each['lateness']['cost_ms'] for each in links):.1f}",
                 f"{others:.2f}", links[0]["priority"]))
    return median


def loads(folder):
    archive = archive_of(folder)
    idle_median = None
    for rights in (True, False):
        for name, beside in LOADS_BESIDE.items():
            with beside():
                result = loads_of(folder, archive, rights)
            median = report_loads(name, result, idle_median, rights)
            idle_median = idle_median or median
    figure.table(("beside", "rights", "loads", "median ms", "CV %", "off idle %",
                  "latest packet ms", "lateness cost ms", "processors others used", "priority"),
                 rows)


def archive_of(folder):
    archive = folder / "meadow.reprise"
    return archive if archive.exists() else page_load_figure.record(folder)


def gates(folder):
    """A/A and a page that is 3 % slower, by its own thinking, beside busy loops."""
    base = archive_of(folder)
    counts = {"same": 0, "different": 0, "undecided": 0}
    seconds = []
    for name, flags, number in (("same", "", GATES), ("slower", "--think-time 30", GATES // 2)):
        counts = dict.fromkeys(("same", "different", "undecided"), 0)
        with busy_loops():
            for i in range(number):
                began = time.monotonic()
                a, b = (f"'{base}' {page_load_figure.PAGE} --link {LINK} --no-bodies {each}"
                        for each in ("", flags))
                verdict, _ = gate_sites.gate(folder, a, b, "--metric", "load", seed=i)
                seconds.append(time.monotonic() - began)
                counts[verdict["verdict"]] += 1
                print(name, gate_sites.told(verdict) if verdict["pages"] else verdict["gate"],
                      f"{seconds[-1]:.0f} s", file=sys.stderr)
        wrong = counts["different"] if name == "same" else counts["same"]
        figure.report(f"busy_gates_{name}_wrong", wrong, f"of {number} gates", "== 0")
        figure.report(f"busy_gates_{name}_undecided", counts["undecided"], f"of {number} gates",
                      "<= 2" if name == "slower" else None)
    figure.report("busy_gate_seconds", round(statistics.median(seconds)), "s", None)


def resampled(folder):
    """Splits of 60 loads of one archive, as 2,000 gates would see them."""
    result = folder / "resampled.json"
    with busy_loops():
        code, said = run(folder, True, "load", archive_of(folder), page_load_figure.PAGE, "--link",
                         LINK, "--browser", real_pages_figure.BROWSER, "--runs", 2 * RUNS,
                         "--no-bodies", "-o", result)
    print(said, file=sys.stderr)
    if code not in (0, 5):
        sys.exit(f"load: exit {code}")
    code, said = run(folder, True, "gate", "--aa", "--loads", result, "--metric", "load", "-o",
                     folder / "aa", "--seed", 1)
    if code != 0:
        sys.exit(said)
    floor = json.loads((folder / "aa/noise.json").read_text())
    figure.report("resampled_gates", floor["splits"], "gates", None)
    figure.report("resampled_gates_wrong", round(100 * floor["different"] / floor["splits"], 2),
                  "%", "<= 5")


def pages(folder):
    corpus = os.environ.get("REPRISE_CORPUS")
    for name, pattern, page in real_pages_figure.PAGES if corpus else ():
        if name not in REAL_PAGES:
            continue
        (recording,) = pathlib.Path(corpus).glob(pattern)
        archive = folder / f"{name}.reprise"
        result = folder / f"{name}.json"
        if not archive.exists():
            real_pages_figure.run(folder, "archive", "import", recording, "-o", archive)
        done = real_pages_figure.run(folder, "load", archive, page, "--link", LINK, "--browser",
                                     real_pages_figure.BROWSER, "--runs", RUNS, "--no-bodies",
                                     "-o", result, allowed=(0, 5))
        sys.stderr.write(done.stderr.decode())
        times = [each["load_event_ms"] for each in json.loads(result.read_text())["loads"]
                 if not each["warm_up"]]
        cv = 100 * statistics.stdev(times) / statistics.mean(times)
        figure.report(f"page_{name}_cv", round(cv, 2), "%", "<= 0.5")
        print(name, *sorted(map(round, times)), file=sys.stderr)


def main():
    todo = sys.argv[1:] or ["loads", "gates", "resampled", "pages"]
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(os.environ.get("FIGURE_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        for each in todo:
            {"loads": loads, "gates": gates, "resampled": resampled, "pages": pages}[each](folder)


if __name__ == "__main__":
    main()
