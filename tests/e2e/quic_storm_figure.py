#!/usr/bin/env python3
"""Reports what 10 million random datagrams do to QUIC connections: tests/fuzz/quic_storm.cc. An
assertion of the libraries, or an answer that is too long, ends it with a signal.

usage: quic_storm_figure.py [DATAGRAMS]
"""

import json
import pathlib
import subprocess
import sys

import figure
import harness
from test_seed import TEST_SEED

GROWTH_MB_MAX = 4

if __name__ == "__main__":
    datagrams = sys.argv[1] if sys.argv[1:] else "10000000"
    program = pathlib.Path(harness.REPRISE).with_name("quic_storm")
    done = subprocess.run([program, datagrams, str(TEST_SEED)], stdout=subprocess.PIPE, check=False)
    result = json.loads(done.stdout or "{}")
    figure.report("quic_storm_datagrams", result.get("datagrams", 0), "datagrams",
                  f">= {datagrams}")
    figure.report("quic_storm_memory_growth", result.get("grown_kb", 1e6) / 1000, "MB",
                  f"< {GROWTH_MB_MAX}")
    sys.exit(done.returncode)
