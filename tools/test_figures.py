#!/usr/bin/env python3
"""Runs the rows of tools/test_figures.txt and keeps their results in build/full/results.json.

usage: test_figures.py [--fresh] [NAME...]

A row is a name and a shell command. The command runs in the repository with REPRISE naming the
release binary, and prints one line with a JSON object for each figure:

    {"name": "first_byte_added", "value": 0.4, "unit": "ms", "bound": "< 5", "ok": true}

Rows whose figures held are not run again while their command stays the same, so an interrupted run
can be continued. Those of another commit are shown with it. Exit 0 if every figure holds.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
TABLE = REPOSITORY / "tools/test_figures.txt"
RESULTS = REPOSITORY / "build/full/results.json"


def read_table():
    rows = {}
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, command = line.split(None, 1)
            rows[name] = command
    return rows


def save(results):
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    unfinished = RESULTS.with_suffix(".new")
    unfinished.write_text(json.dumps(results, indent=2) + "\n")
    unfinished.replace(RESULTS)


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=REPOSITORY,
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def figures_in(text):
    figures = []
    for line in text.splitlines():
        if line.startswith('{"name"'):
            figures.append(json.loads(line))
    return figures


def measure(name, command):
    """Runs one row; its other output goes to build/full/NAME.log."""
    start = time.monotonic()
    env = {**os.environ, "REPRISE": str(REPOSITORY / "build/release/reprise"),
           "PYTHONDONTWRITEBYTECODE": "1"}
    with open(RESULTS.parent / f"{name}.log", "w", encoding="utf-8") as log:
        done = subprocess.run(command, shell=True, cwd=REPOSITORY, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=log, check=False)
        log.write(done.stdout)
    figures = figures_in(done.stdout)
    held = done.returncode == 0 and bool(figures) and all(each["ok"] for each in figures)
    return {"command": command, "ok": held, "exit": done.returncode, "figures": figures,
            "seconds": round(time.monotonic() - start, 1), "commit": commit()}


def stands(result, command):
    """Whether the result of an earlier run is one of this row, and held."""
    return result.get("ok", False) and result.get("command") == command


def show(name, result):
    verdict = "holds" if result["ok"] else "FAILS"
    if not result["figures"]:
        print(f"  {verdict}  {name}: no figure, exit {result['exit']}; see build/full/{name}.log")
    for each in result["figures"]:
        bound = f" (bound {each['bound']})" if each["bound"] else ""
        verdict = "holds" if each["ok"] else "FAILS"
        print(f"  {verdict}  {each['name']} = {each['value']} {each['unit']}{bound}")


def main():
    rows = read_table()
    asked = [argument for argument in sys.argv[1:] if argument != "--fresh"]
    if unknown := set(asked) - rows.keys():
        sys.exit(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(rows)}")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    results = {}
    if RESULTS.exists() and "--fresh" not in sys.argv:
        results = json.loads(RESULTS.read_text())
    wanted = asked or list(rows)
    now = commit()
    start = time.monotonic()
    for number, name in enumerate(wanted, 1):
        if name in asked or not stands(results.get(name, {}), rows[name]):
            elapsed = int(time.monotonic() - start)
            print(f"[{elapsed:4} s] {number}/{len(wanted)} {name}: {rows[name]}", flush=True)
            results[name] = measure(name, rows[name])
            save(results)
        show(name, results[name])
        if results[name].get("commit") != now:
            print(f"         measured at {results[name].get('commit', 'unknown')}")
    older = [name for name in wanted if results[name].get("commit") != now]
    if older:
        print(f"{len(older)} of {len(wanted)} rows: measured at another commit than {now}; "
              "tools/test --full NAME... measures rows again, tools/test --full --fresh all")
    held = [name for name in wanted if results[name]["ok"]]
    print(f"{len(held)} of {len(wanted)} rows hold; {RESULTS.relative_to(REPOSITORY)}")
    return 0 if held == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
