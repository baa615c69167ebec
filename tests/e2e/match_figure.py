#!/usr/bin/env python3
"""Reports what finding an answer costs among 100,000 exchanges of one path, and among ten times as
many: exact, by the best score, a decision that is a miss, and its explanation.

The times of both are held against each other by their medians, since the 99th percentile of a
look-up of microseconds is whatever else the machine does.
"""

import json
import pathlib
import subprocess
import tempfile

import figure

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FEW, MANY = 100_000, 1_000_000
MICROSECONDS_MAX = {"exact": 20, "fuzzy_time": 20, "fuzzy_version": 20, "miss": None,
                    "nearest": 1000}
TIMES_MAX = 2


def measure(exchanges):
    with tempfile.TemporaryDirectory(prefix="reprise-match.") as folder:
        done = subprocess.run([REPOSITORY / "build/release/measure_match", str(exchanges), folder],
                              stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    few, many = measure(FEW), measure(MANY)
    for kind, limit in MICROSECONDS_MAX.items():
        figure.report(f"match_{kind}_p99", few[f"{kind}_p99_us"], "us",
                      limit and f"< {limit}")
        grows = many[f"{kind}_p50_us"] / few[f"{kind}_p50_us"]
        figure.report(f"match_{kind}_at_ten_times_as_many", round(grows, 2), "times",
                      f"< {TIMES_MAX}")


if __name__ == "__main__":
    main()
