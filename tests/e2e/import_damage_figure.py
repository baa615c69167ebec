#!/usr/bin/env python3
"""Damages real recordings at random, with fixed seeds, and reports what imports made of them.
REPRISE_CORPUS names the folder of the recordings.

usage: import_damage_figure.py

For each kind of recording a row: how many were damaged; refused; imported with the loss named; the
same as the whole one; changed where the format has nothing that reveals it (hidden); and changed
without a word though the file reveals it (missed).
"""

import os
import pathlib
import re
import subprocess
import sys

import figure

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/release/import_test"
COLUMNS = ("damaged", "refused", "named", "same", "hidden", "missed")


def main():
    if not os.environ.get("REPRISE_CORPUS"):
        sys.exit("REPRISE_CORPUS names no folder of recordings")
    done = subprocess.run(
        [PROGRAM, "--gtest_filter=ImportDamage.OfRealRecordingsIsNeverTakenForGood"],
        stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    sys.stderr.write(done.stdout)
    rows = [(row[1], *map(int, row[2].split("|")))
            for row in re.finditer(r"^\| ([^|]+) \|((?: \d+ \|){5} \d+) \|$", done.stdout, re.M)]
    figure.table(("recording", *COLUMNS), rows)
    for column, name in enumerate(COLUMNS, start=1):
        bound = {"damaged": "== 500", "missed": "== 0"}.get(name)
        figure.report(f"import_damage_{name}", sum(row[column] for row in rows), "files", bound)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
