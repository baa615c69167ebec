#!/usr/bin/env python3
"""Reports how many seconds a command takes; a command that fails fails the figure.

usage: seconds_figure.py NAME SECONDS_MAX COMMAND...
"""

import subprocess
import sys
import time

import figure

if __name__ == "__main__":
    name, limit, *command = sys.argv[1:]
    start = time.monotonic()
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    figure.report(name, round(time.monotonic() - start, 1), "s", f"< {limit}")
    sys.exit(done.returncode)
