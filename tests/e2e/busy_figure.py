#!/usr/bin/env python3
"""Whether loads and gates can be trusted beside other work: on the machine as it is, beside four
busy loops, and beside a build; with the rights of root, and without any.

usage: busy_figure.py [PART]... [idle|loops|build]... [rights|none]...      default: all

loads      loads of the demonstration's page over wpt:4g
small      loads of a page of ten requests, idle and beside loops
gates      gates of one archive against itself and against a page that is 3 % slower
resampled  2,000 gates whose loads are drawn from 60 that were made beside loops
pages      imported real pages on the idle machine (REPRISE_CORPUS, see real_pages_figure.py)
ping       what a link adds to a ping, with the default settings
cost       processor time of a link at 100 Mbit/s, and mahimahi's, if that is installed

The other words select cases of loads, small and gates.

With BUSY_KEEP=FOLDER results stay there as JSON; a later run goes on where one ended and reports
all of them, so the folder is for one version of the program. With BUSY_MINUTES=N nothing begins
that may not end within N minutes (0: only reports what is there). What was asked for and is not
measured yet is a figure that does not hold.

FIGURE_RUNS loads (30) in each case, FIGURE_GATES gates (20; half as many of the slower page; on the
idle machine a tenth of that, for comparison). The machine must have nothing else to do. Tables for
people go to stdout behind the figures, each load, refusal and cause to stderr.
"""

import collections
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import busy_machine
import figure
import gate_sites
import real_pages_figure
import shape_figure
from busy_machine import BESIDE, RIGHTS
from busy_runs import (DEMO, LINK, RUNS, SMALL, Kept, archive_of, bound_of, chosen, cv_of,
                       is_time_for, load, loaded, run, say, times_of)

GATES = int(os.environ.get("FIGURE_GATES", "20"))
REAL_PAGES = ("VK", "Facebook", "Wikipedia", "gatech")
GATE_MINUTES = 12
START_SECONDS = 60  # for the recording, the other jobs, and cyclictest
LATE_MS = 1
FAR = 0.01  # of the idle machine's median: the least effect that a gate counts by default
DELAYS_MS = (40, 100, 200)
MBIT, MBIT_RTT_MS, MBIT_SECONDS, WARM_UP_SECONDS = 100, 40, 20, 3


def table(columns, rows):
    if rows:
        figure.table(columns, rows)


# ---- loads

def measure_loads(kept, page):
    for rights in chosen(RIGHTS):
        for beside in chosen(page.beside, BESIDE):
            name = f"{page.name}-{beside}-{rights}"
            if not kept.lacks(name, bound_of(RUNS) + START_SECONDS):
                continue
            archive_of(kept.folder, page)  # recorded beside nothing
            with BESIDE[beside]():
                kept.put(f"{name}-floor", busy_machine.worst_wake_up_ms())
                load(kept, name, page, rights, RUNS)


def compared(kept, a, b):
    """What `reprise compare` says: the verdict, and why it refuses."""
    _, printed, said = run(kept.folder, "compare", a, b, "--metric", "load", "--json")
    if not printed:
        sys.exit(f"compare: {said}")
    verdict = json.loads(printed)
    return verdict["verdict"], [each["text"] for each in verdict["refusals"]]


def disturbance_of(kept, idle, result, one):
    """What disturbed that load of the result, in the program's words; "" if it calls it sound."""
    path = kept.folder / "one_load.json"
    path.write_text(json.dumps({**result, "loads": [one]}))
    _, refusals = compared(kept, idle, path)
    return next((each.partition("loads of B: ")[2] for each in refusals if "loads of B: " in each),
                "")


def count_unnamed(kept, name, idle, result, median):
    """Loads that are off the idle machine's median, and that the program takes for sound."""
    far = [each for each in loaded(result) if abs(each["load_event_ms"] / median - 1) > FAR]
    unnamed = 0
    for each in far:
        why = disturbance_of(kept, idle, result, each)
        unnamed += not why
        say(f"{name}: run {each['run']}: {each['load_event_ms']:.0f} ms "
            f"({100 * (each['load_event_ms'] / median - 1):+.1f} %): {why or 'NOT NAMED'}")
    return len(far), unnamed


def report_bounds(page, beside, rights, values):
    """Figures of one case. Without rights loads may be anything, if the program says so."""
    trusted, is_idle = rights == "rights", beside == "idle"
    busy = trusted and not is_idle
    idle_cv = "<= 0.2" if page is DEMO and trusted else None
    for what, unit, bound in (
            ("failed", "loads", "== 0"),
            ("cv", "%", "<= 1.5" if busy else idle_cv),
            ("off", "%", "<= 1" if busy else None),
            ("with_late_packets", "loads", "== 0" if trusted else None),
            ("off_and_not_named", "loads", None if trusted or is_idle else "== 0"),
            ("called_different", "comparisons", "== 0"),
            ("refused", "comparisons", "== 0" if page is SMALL and trusted else None)):
        figure.report(f"{page.name}_{beside}_{rights}_{what}", values[what], unit, bound)


def report_case(kept, page, beside, rights):
    """Its row of the table, if it is there."""
    name = f"{page.name}-{beside}-{rights}"
    # The idle machine at its best, and with a link of the same kind.
    best, alike = (kept.first(*(f"{page.name}-idle-{each}" for each in order))
                   for order in (RIGHTS, (rights, *RIGHTS)))
    if not kept.first(name) or not best:
        return None
    result = kept.get(name)
    sound, times = loaded(result), times_of(result)
    median, cv = statistics.median(times), cv_of(times)
    idle_median = statistics.median(times_of(kept.get(best)))
    off = 100 * (median / idle_median - 1)
    links = [result["replays"][each["replay"]]["report"]["link"] for each in sound]
    late = [each["lateness"]["max_us"] / 1000 for each in links]
    verdict, refusals = compared(kept, kept.path(alike), kept.path(name))
    for each in refusals:
        say(f"{name}: refused: {each}")
    far, unnamed = count_unnamed(kept, name, kept.path(alike), result, idle_median)
    report_bounds(page, beside, rights, {
        "failed": sum(not each["warm_up"] for each in result["loads"]) - len(times),
        "cv": round(cv, 3), "off": round(abs(off), 3), "off_and_not_named": unnamed,
        "with_late_packets": sum(each > LATE_MS for each in late),
        "called_different": int(verdict == "different"), "refused": int(verdict == "refused")})
    others = statistics.mean(max(0, each["machine"]["busy_ms"] - each["machine"]["own_ms"]) /
                             each["machine"]["span_ms"] for each in sound)
    floor = kept.get(f"{name}-floor")
    return (page.name, beside, rights, len(times), f"{median:.1f}", f"{cv:.2f}", f"{off:+.2f}",
            f"{far} ({unnamed})", verdict, f"{max(late):.2f}", floor or "?",
            f"{statistics.median(each['lateness']['cost_ms'] for each in links):.1f}",
            f"{others:.2f}", links[0]["priority"])


def report_loads(kept, page):
    cases = [(beside, rights) for rights in RIGHTS for beside in page.beside]
    rows = [row for case in cases if (row := report_case(kept, page, *case))]
    table(("page", "beside", "rights", "loads", "median ms", "CV %", "off idle %",
           "loads off by 1 % (not named)", "against idle", "latest packet ms",
           "cyclictest's latest ms", "lateness cost ms", "processors others used", "priority"),
          rows)


def loads(kept, page=DEMO):
    measure_loads(kept, page)
    report_loads(kept, page)


def small(kept):
    loads(kept, SMALL)


# ---- gates

KINDS = {"same": ("", GATES), "slower": ("--think-time 30", GATES // 2)}  # that is +3 %


def gate_names(beside, rights, kind):
    number = KINDS[kind][1]
    if beside == "idle":
        number = max(2, number // 10)
    return [f"gate-{beside}-{rights}-{kind}-{i}" for i in range(number)]


def gate(folder, rights, kind, seed):
    archive = busy_machine.copy_for(folder, archive_of(folder, DEMO), rights)
    home = archive.parent
    sides = [f"'{archive}' {DEMO.url} --link {LINK} --no-bodies {each}"
             for each in ("", KINDS[kind][0])]
    began = time.monotonic()
    try:
        # The first one in this home does not know the machine, and measures its noise.
        verdict, said = gate_sites.gate(
            home, *sides, "--metric", "load", "--budget", f"{GATE_MINUTES}m", seed=seed,
            timeout=60 * (GATE_MINUTES + 5), noise_check=True, cwd=home,
            env=busy_machine.environment(home), **busy_machine.user(rights))
    except gate_sites.Refused as refusal:
        verdict, said = {"verdict": "refused"}, str(refusal)
    minutes = (time.monotonic() - began) / 60
    say(f"{rights} {kind} {seed}: {verdict['verdict']}, {minutes:.1f} minutes\n{said}")
    return {"verdict": verdict, "minutes": minutes, "said": said}


def measure_gates(kept, beside, rights):
    for kind in KINDS:
        names = gate_names(beside, rights, kind)
        todo = [name for name in names if kept.lacks(name, 60 * GATE_MINUTES + START_SECONDS)]
        if not todo:
            continue
        archive_of(kept.folder, DEMO)
        with BESIDE[beside]():
            for name in todo:
                if is_time_for(60 * GATE_MINUTES):
                    kept.put(name, gate(kept.folder, rights, kind, names.index(name)))


def outcome(kind, verdict):
    """What a gate's verdict is worth."""
    if verdict["verdict"] not in ("same", "different"):
        return verdict["verdict"]
    slower = any((metric["shift"] or 0) > 0
                 for page in verdict["pages"] for metric in page["metrics"])
    is_right = {"same": verdict["verdict"] == "same",
                "slower": verdict["verdict"] == "different" and slower}
    return "right" if is_right[kind] else "wrong"


def minutes_of(kept, beside, rights, kind):
    there = [result["minutes"] for name in gate_names(beside, rights, kind)
             if (result := kept.get(name))]
    return statistics.median(there) if there else None


def report_gates(kept, beside, rights, kind):
    """Its row of the table, if any of these gates is there."""
    results = [result for name in gate_names(beside, rights, kind) if (result := kept.get(name))]
    if not results:
        return None
    name = f"gates_{beside}_{rights}_{kind}"
    counts = collections.Counter(outcome(kind, each["verdict"]) for each in results)
    is_open = counts["undecided"] + counts["refused"]
    of = f"of {len(results)} gates"
    figure.report(f"{name}_wrong", counts["wrong"], of, "== 0")
    is_bounded = kind == "slower" and rights == "rights" and beside != "idle"
    figure.report(f"{name}_undecided_or_refused", is_open, of,
                  f"<= {KINDS[kind][1] // 5}" if is_bounded else None)
    causes = collections.Counter()
    for each in results:
        facts = each["verdict"].get("gate", {})
        causes.update(facts.get("skipped", {}))
        if outcome(kind, each["verdict"]) in ("undecided", "refused"):
            say(f"{name}: {facts.get('end', 'refused')}: {each['said'].strip().splitlines()[-1]}")
    for why, runs in causes.most_common():
        say(f"{name}: repeated {runs} times: {why}")
    minutes = minutes_of(kept, beside, rights, kind)
    idle = minutes_of(kept, "idle", rights, kind)
    figure.report(f"{name}_minutes", round(minutes, 1), "minutes", None)
    return (beside, rights, kind, len(results), *(counts[each] for each in (
        "right", "wrong", "undecided", "refused")), sum(causes.values()), f"{minutes:.1f}",
            f"{minutes / idle:.1f}" if idle else "?")


def gates(kept):
    for rights in chosen(RIGHTS):
        for beside in chosen(BESIDE):
            measure_gates(kept, beside, rights)
    rows = [row for rights in RIGHTS for beside in BESIDE for kind in KINDS
            if (row := report_gates(kept, beside, rights, kind))]
    table(("beside", "rights", "B is", "gates", "right", "wrong", "undecided", "refused",
           "runs repeated", "median minutes", "times the idle machine's"), rows)


def resampled(kept):
    """Splits of 60 loads of one archive, as 2,000 gates would see them."""
    name = "resampled"
    if kept.lacks(name, bound_of(2 * RUNS) + START_SECONDS):
        archive_of(kept.folder, DEMO)
        with busy_machine.busy_loops():
            load(kept, name, DEMO, RIGHTS[0], 2 * RUNS, "--browser", real_pages_figure.BROWSER)
    if not kept.path(name).exists():
        return
    code, _, said = run(kept.folder, "gate", "--aa", "--loads", kept.path(name), "--metric",
                        "load", "-o", kept.folder / "aa", "--seed", 1)
    say(said)
    figure.report("resampled_gates_refused", int(code != 0), "runs", "== 0")
    if code != 0:
        return
    floor = json.loads((kept.folder / "aa/noise.json").read_text())
    figure.report("resampled_gates", floor["splits"], "gates", None)
    figure.report("resampled_gates_wrong", round(100 * floor["different"] / floor["splits"], 2),
                  "%", "<= 5")


# ---- the idle machine

def measure_page(kept, recording, name, url):
    archive = kept.folder / f"{name}.reprise"
    result = kept.folder / "loads.json"
    if not archive.exists():
        real_pages_figure.run(kept.folder, "archive", "import", recording, "-o", archive)
    done = real_pages_figure.run(kept.folder, "load", archive, url, "--link", LINK, "--browser",
                                 real_pages_figure.BROWSER, "--runs", RUNS, "--no-bodies", "-o",
                                 result, allowed=(0, 5))
    say(done.stderr.decode())
    result.replace(kept.path(f"page-{name}"))


def pages(kept):
    corpus = os.environ.get("REPRISE_CORPUS")
    if not corpus:
        figure.report("real_pages_not_there", 1, "", None)
        return
    rows = []
    for name, pattern, url in real_pages_figure.PAGES:
        if name not in REAL_PAGES:
            continue
        if kept.lacks(f"page-{name}", real_pages_figure.TIMEOUT_SECONDS):
            (recording,) = pathlib.Path(corpus).glob(pattern)
            measure_page(kept, recording, name, url)
        if result := kept.get(f"page-{name}"):
            times = times_of(result)
            figure.report(f"page_{name}_cv", round(cv_of(times), 2), "%", "<= 0.5")
            rows.append((name, len(times), f"{statistics.median(times):.0f}",
                         f"{cv_of(times):.2f}", *(round(end(times)) for end in (min, max))))
    table(("page", "loads", "median ms", "CV %", "least", "most"), rows)


def ping(kept):
    rows = []
    for delay_ms in DELAYS_MS:
        name = f"ping-{delay_ms}"
        if kept.lacks(name, 60):
            kept.put(name, [shape_figure.bench(f"none,rtt={delay_ms}ms", "ping",
                                               shape_figure.PINGS, 5000, ways=())
                            for _ in range(shape_figure.TRIES)])
        if tries := kept.get(name):
            means, worst = (sorted(each[key] - delay_ms for each in tries)
                            for key in ("mean_ms", "max_ms"))
            # Of the best try, as in shape_figure.py: the table has all.
            figure.report(f"ping_{delay_ms}ms_mean_error", round(means[0], 3), "ms", "<= 0.1")
            figure.report(f"ping_{delay_ms}ms_worst_error", round(worst[0], 3), "ms", "< 1")
            rows.append((delay_ms, *(" ".join(f"{each:.3f}" for each in values)
                                     for values in (means, worst))))
    table(("ms", "mean error of each try, ms", "worst ping's error, ms"), rows)


def cost(kept):
    seconds = WARM_UP_SECONDS + MBIT_SECONDS  # what link_bench takes
    if kept.lacks("cost", 6 * seconds):
        tries = []
        for _ in range(2):  # in turn
            link = shape_figure.bench(f"{MBIT}mbit/{MBIT}mbit/{MBIT_RTT_MS}ms", "down",
                                      MBIT_SECONDS, ways=())
            tries.append({"link": {"seconds": link["link_cpu_s"], "mbit": link["down_bps"] / 1e6},
                          "mahimahi": busy_machine.mahimahi(MBIT, MBIT_RTT_MS, seconds)})
        kept.put("cost", tries)
    rows = []
    least = {}
    for who in ("link", "mahimahi"):
        there = [each[who] for each in kept.get("cost") or () if each[who]]
        if there:
            least[who] = round(min(100 * each["seconds"] / seconds for each in there), 1)
            rows.append((who, *(" ".join(f"{each[key]:.1f}" for each in there)
                                for key in ("seconds", "mbit"))))
    if "link" in least:
        figure.report(f"link_cost_{MBIT}mbit", least["link"], "% of a processor",
                      f"<= {least['mahimahi']}" if "mahimahi" in least else None)
    table(("link", f"processor seconds in {seconds} s", "Mbit/s"), rows)


PARTS = {"loads": loads, "small": small, "gates": gates, "resampled": resampled, "pages": pages,
         "ping": ping, "cost": cost}


def main():
    if not set(sys.argv[1:]) <= {*PARTS, *BESIDE, *RIGHTS}:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        kept = Kept(pathlib.Path(os.environ.get("BUSY_KEEP", temporary)).resolve())
        kept.folder.mkdir(parents=True, exist_ok=True)
        kept.folder.chmod(0o755)  # also for a user without rights
        if not shutil.which("cyclictest"):
            say("cyclictest is not installed (Debian: rt-tests)")
        for part in chosen(PARTS):
            PARTS[part](kept)
        if missing := kept.missing():
            say("not measured yet: " + " ".join(missing))
            figure.report("busy_not_measured_yet", len(missing), "results", "== 0")


if __name__ == "__main__":
    main()
