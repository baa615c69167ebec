#!/usr/bin/env python3
"""Runs one fuzz target and reports its crashes.

usage: fuzz_figure.py TARGET SECONDS      TARGET is NAME of build/fuzz/fuzz_NAME
"""

import pathlib
import re
import subprocess
import sys

import figure

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    name, seconds = sys.argv[1:]
    found = REPOSITORY / f"build/fuzz/fuzz/{name}"
    found.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [REPOSITORY / f"build/fuzz/fuzz_{name}", f"-max_total_time={seconds}", "-timeout=10",
         "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={found}-",
         found, REPOSITORY / f"tests/fuzz/corpus/{name}"],
        stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stderr)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    figure.report(f"fuzz_{name}_inputs", int(runs[1]) if runs else 0, "inputs", None)
    figure.report(f"fuzz_{name}_crashes", int(done.returncode != 0), "crashes", "== 0")
    sys.exit(done.returncode)
