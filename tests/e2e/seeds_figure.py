#!/usr/bin/env python3
"""Runs the cases of a test file that take their seed from tests/test_seed.* with many, and reports
how many failed. The first is REPRISE_TEST_SEED itself, or a fresh one.

usage: seeds_figure.py FILE [SEEDS [SECONDS]]     1,000 seeds, at most 600 s a case
A run that fails is printed with its REPRISE_TEST_SEED.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import figure

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("REPRISE_TEST_SEED", "fresh")
sys.path.append(str(REPOSITORY / "tests"))
from test_seed import TEST_SEED

BUILD = REPOSITORY / "build/release"
RUN_SECONDS_MAX = 900


def cases_of(file):
    """The names that ctest has for the seeded cases of a GoogleTest source."""
    for case in re.split(r"^(?=TEST)", file.read_text(), flags=re.M):
        named = re.match(r"TEST(?:_F)?\((\w+),\s*(\w+)\)", case)
        if named and re.search(r"\bTestSeed\b|\bfor_seeds\(", case):
            yield f"{named[1]}.{named[2]}"


def cases_in(program):
    """The names of all cases of a GoogleTest program."""
    shown = subprocess.run([program, "--gtest_list_tests"], text=True, stdout=subprocess.PIPE,
                           check=True).stdout
    suite = ""
    for line in shown.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith(" "):
            yield suite + name.strip()
        else:
            suite = name


def commands_of(file):
    """(name, command, environment, exit for skipped) of each case, as ctest would run it."""
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    cases = set(cases_of(file)) if file.suffix == ".cc" else None
    for test in json.loads(shown)["tests"]:
        command = test.get("command", [""])
        properties = {each["name"]: each["value"] for each in test["properties"]}
        about = (dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", [])),
                 properties.get("SKIP_RETURN_CODE"))
        if cases is None:
            if any(part.endswith(file.name) for part in command):
                yield test["name"], command, *about
        elif "--gtest_brief=1" in command and pathlib.Path(command[0]).exists():
            for case in sorted(cases.intersection(cases_in(command[0]))):
                yield case, [*command, f"--gtest_filter={case}"], *about


def run(name, command, environment, skipped, seed):
    """Whether it held; None where it was skipped."""
    environment = {**os.environ, **environment, "REPRISE_TEST_SEED": str(seed)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=BUILD, errors="replace",
                          timeout=RUN_SECONDS_MAX, check=False)
    if done.returncode == skipped:
        return None
    if done.returncode != 0:
        sys.stderr.write(f"REPRISE_TEST_SEED={seed} {name}\n{done.stdout[-4000:]}\n")
    return done.returncode == 0


def measure(case, seeds, seconds):
    end = time.monotonic() + seconds

    def run_in_time(number):
        seed = TEST_SEED + number * 10_000  # cases count on from theirs
        return run(*case, seed) if time.monotonic() < end else None

    held = []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for each in pool.map(run_in_time, range(seeds)):
            held += [] if each is None else [each]
            print(f"\r{case[0]}: {len(held)} of {seeds} seeds, {held.count(False)} failed", end="",
                  file=sys.stderr, flush=True)
    print(file=sys.stderr)
    figure.report(f"{case[0]}_seeds", len(held), "runs", None)
    figure.report(f"{case[0]}_failed", held.count(False), "runs", "== 0")
    return all(held)


def main():
    file = REPOSITORY / sys.argv[1]
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 600
    commands = list(commands_of(file))
    if not commands:
        sys.exit(f"no test of {sys.argv[1]} takes a seed")
    return 0 if all([measure(each, seeds, seconds) for each in commands]) else 1


if __name__ == "__main__":
    sys.exit(main())
