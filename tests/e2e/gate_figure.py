#!/usr/bin/env python3
"""What `reprise gate` sees: small changes of a page over wpt:4g (power), a large one that the load
event does not wait for (decoy), h1 against h2 on the demonstration's site, and one archive against
itself (A/A).

usage: gate_figure.py [power|decoy|protocols|noise|gates]...      default: all

noise    AA_LOADS loads (200) of one archive, split at random again and again
gates    AA_GATES gates (10) of one archive against itself
With FIGURE_FOLDER=FOLDER results stay there. Verdicts go to stderr, figures to stdout.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import figure
import gate_sites
import harness
import page_load_figure
from gate_sites import URL, plain_site

LINK = "--link wpt:4g --realtime"
AA_LOADS = int(os.environ.get("AA_LOADS", "200"))
AA_GATES = int(os.environ.get("AA_GATES", "10"))
# Time to think, as the origin had it: the archive keeps it, and the replay gives it back.
THINK_SECONDS = 0.030


def think():
    time.sleep(THINK_SECONDS)


# What B does differently, and what makes that visible.
CHANGES = {
    "think_time_30_ms": (dict(html_delay=think), "--think-time recorded", ()),
    "image_x10": (dict(image_bytes=300_000), "", ()),
    "compression_off": (dict(gzipped=False), "", ()),
    "redirect": (dict(redirect=True), "", ("--allow", "requests")),
}


def say(name, verdict):
    print(f"{name}: {gate_sites.told(verdict)}", file=sys.stderr, flush=True)


def run_gate(folder, name, a, b, flags="", arguments=()):
    sides = (f"'{archive}' {URL} {LINK} --no-bodies {flags}" for archive in (a, b))
    verdict, _ = gate_sites.gate(folder, *sides, "--metric", "load", "--min-effect", "10ms",
                                 "-o", str(folder / f"gate-{name}"), *arguments, timeout=3600)
    say(name, verdict)
    return verdict


def base_of(folder):
    archive = folder / "base.reprise"
    return archive if archive.exists() else gate_sites.record(folder, "base", plain_site())


def power(folder):
    for name, (change, flags, arguments) in CHANGES.items():
        changed = gate_sites.record(folder, name, plain_site(**change))
        verdict = run_gate(folder, name, base_of(folder), changed, flags, arguments)
        found = verdict["verdict"] == "different" and verdict["pages"][0]["metrics"][0]["shift"] > 0
        figure.report(f"gate_finds_{name}", verdict["gate"]["runs"] if found else 999,
                      "loads a side", "<= 30")


def decoy(folder):
    changed = gate_sites.record(folder, "decoy", plain_site(late_bytes=400_000))
    verdict = run_gate(folder, "decoy", base_of(folder), changed)
    figure.report("gate_called_decoy_different", int(verdict["verdict"] == "different"), "gates",
                  "== 0")


def protocols(folder):
    archive = page_load_figure.record(folder)
    page = page_load_figure.PAGE
    sides = (f"'{archive}' {page} --link wpt:3gfast --no-bodies --protocol {protocol}"
             for protocol in ("h1", "h2"))
    verdict, _ = gate_sites.gate(folder, *sides, "--metric", "load", "-o",
                                 str(folder / "gate-protocols"), timeout=3600)
    say("h1 against h2", verdict)
    figure.report("gate_h1_h2_shift", verdict["pages"][0]["metrics"][0]["shift"], "ms", None)


def noise(folder):
    done = harness.run("gate", "--aa", f"'{base_of(folder)}' {URL} {LINK} --no-bodies",
                       "--aa-loads", str(AA_LOADS), "--json", "--seed", "1", "-o",
                       str(folder / "noise"), folder=folder, timeout=7200)
    if done.returncode:
        sys.exit(done.stderr.decode())
    floor = json.loads(done.stdout)
    share = 100 * floor["different"] / floor["splits"]
    print(f"{floor['different']} of {floor['splits']} splits say different: {share:.2f} %, 95 % "
          f"interval {100 * floor['rate_low']:.2f} to {100 * floor['rate_high']:.2f} %",
          file=sys.stderr)
    figure.report("gate_false_alarms_of_splits", round(share, 2), "%", "<= 5")
    load = next(each for each in floor["metrics"] if each["metric"] == "load")
    figure.report("gate_load_event_cv", round(100 * load["variation"], 2), "%", None)
    figure.report("gate_visible_effect", round(load["visible"][-1]["effect"], 1), "ms", None)


def gates(folder):
    alarms = refused = 0
    for number in range(AA_GATES):
        sides = [f"'{base_of(folder)}' {URL} {LINK} --no-bodies"] * 2
        try:
            verdict, _ = gate_sites.gate(folder, *sides, "--max-runs", "15", timeout=3600)
        except gate_sites.Refused as refusal:
            print(f"A/A gate {number + 1}: {refusal}", file=sys.stderr, flush=True)
            refused += 1
            continue
        say(f"A/A gate {number + 1}", verdict)
        alarms += verdict["verdict"] == "different"
    figure.report("gate_false_alarms_of_gates", alarms, f"of {AA_GATES - refused} gates", "<= 1")
    figure.report("gates_refused", refused, f"of {AA_GATES} gates", None)


PARTS = {"power": power, "decoy": decoy, "protocols": protocols, "noise": noise, "gates": gates}


def main():
    parts = sys.argv[1:] or list(PARTS)
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(os.environ.get("FIGURE_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        for part in parts:
            PARTS[part](folder)


if __name__ == "__main__":
    main()
