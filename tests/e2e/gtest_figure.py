#!/usr/bin/env python3
"""Runs some cases of a unit test and reports how many failed.

usage: gtest_figure.py NAME PROGRAM FILTER     PROGRAM stands in build/release
"""

import pathlib
import re
import subprocess
import sys

import figure

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    name, program, cases = sys.argv[1:]
    done = subprocess.run([REPOSITORY / "build/release" / program, f"--gtest_filter={cases}"],
                          stdout=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stdout)
    ran = re.search(r"\[==========\] (\d+) tests? .* ran", done.stdout)
    passed = re.search(r"\[  PASSED  \] (\d+)", done.stdout)
    count = int(ran[1]) if ran else 0
    figure.report(f"{name}_cases", count, "cases", None)
    figure.report(f"{name}_failed", count - int(passed[1]) if passed else 1, "cases", "== 0")
    sys.exit(done.returncode or count == 0)
