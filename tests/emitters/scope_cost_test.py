#!/usr/bin/env python3
"""What a scope of the C++ emitter costs: without a trace, counted in instructions by valgrind; the
times are printed, and depend on the machine."""

import os
import re
import shutil
import subprocess
import sys
import unittest

SCOPE_COST = os.environ["SCOPE_COST"]
OFF_MAX = 10  # instructions: the load of the thread's place, a branch at either end, the frame


def instructions_a_call(how):
    def counted(calls):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", SCOPE_COST, how,
             str(calls)], capture_output=True, text=True, check=True)
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])
    return (counted(200_000) - counted(100_000)) / 100_000


class ScopeCost(unittest.TestCase):
    def test_a_scope_without_a_trace_is_a_few_instructions(self):
        for how, calls in (("bare", 100_000_000), ("off", 100_000_000), ("on", 2_000_000)):
            said = subprocess.run([SCOPE_COST, how, str(calls)], capture_output=True, text=True,
                                  check=True).stdout
            print(f"{how}: {said.split(' (')[0]}")
        added = instructions_a_call("off") - instructions_a_call("bare")
        print(f"off: {added:.1f} instructions more than bare")
        self.assertGreater(added, 1)
        self.assertLessEqual(added, OFF_MAX)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: needs valgrind")
        sys.exit(77)
    unittest.main()
