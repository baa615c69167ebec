#!/usr/bin/env python3
"""Reports what opening an archive of 100,000 exchanges of 10 KB costs, and a look-up in it."""

import json
import pathlib
import subprocess

import figure

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    done = subprocess.run([REPOSITORY / "build/release/measure_archive_open", "100000", "10000"],
                          stdout=subprocess.PIPE, check=True)
    measured = json.loads(done.stdout)
    figure.report("archive_open", measured["open_ms"], "ms", "< 300")
    figure.report("archive_open_anonymous", measured["open_anonymous_kib"] / 1000, "MB", "< 200")
    figure.report("archive_open_unclosed", measured["open_unclosed_ms"], "ms", None)
    figure.report("archive_open_unclosed_anonymous",
                  measured["open_unclosed_anonymous_kib"] / 1000, "MB", "< 200")
    # Instructions where the machine counts them: time also pays for memory that is not in a cache.
    unit = "ns" if measured["lookup_instructions"] is None else "instructions"
    few, many = measured[f"lookup_{unit}_of_1000"], measured[f"lookup_{unit}"]
    figure.report("archive_lookup", many, unit, None)
    figure.report("archive_lookup_against_1000_exchanges", round(many / few, 2), "times",
                  "< 4" if unit == "ns" else "< 1.5")
