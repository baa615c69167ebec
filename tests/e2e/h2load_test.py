#!/usr/bin/env python3
"""h2load against a replay, run after run: no request fails, and memory stays flat.

usage: h2load_test.py             run as a test, with few requests
       h2load_test.py --figure    ten runs of 200,000 requests with 100 streams and with 1
"""

import pathlib
import re
import subprocess
import sys

import figure
import harness
from h2_test import Nginx
from wire import HOST

CLIENTS = 50
STREAMS = (100, 1)
GROWTH_MB_MAX = 4


def memory_mb(pid):
    """All that is resident, and of that what is not of a file."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return tuple(int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1000
                 for name in ("VmRSS", "RssAnon"))


class H2Load(harness.TestCase):
    def replayed(self):
        archive = self.folder / "a.reprise"
        origin = Nginx(self.folder)
        self.addCleanup(origin.close)
        recorder = self.record(archive, origins=(origin,))
        subprocess.run(["curl", "-sSf", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"], f"https://{HOST}/small"], check=True,
                       capture_output=True)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        return self.replay(archive)

    def runs(self, runs, requests):
        """Failed requests, and memory after each run."""
        replay = self.replayed()
        failed = 0
        memory = []
        for number in range(1, runs + 1):
            for streams in STREAMS:
                done = subprocess.run(
                    ["h2load", "-n", str(requests), "-c", str(CLIENTS), "-m", str(streams),
                     "--connect-to", replay.ready["https"], f"https://{HOST}/small"],
                    capture_output=True, text=True, check=True)
                failed += requests - int(re.search(r"(\d+) 2xx", done.stdout)[1])
                rate = re.search(r"finished in .*", done.stdout)[0]
                print(f"run {number} -m {streams}: {rate}", file=sys.stderr)
            memory.append(memory_mb(replay.pid))
            print(f"run {number}: RSS %.1f MB, anonymous %.1f MB" % memory[-1], file=sys.stderr)
        self.assertEqual(replay.stop(), 0, replay.log())
        return failed, memory

    def test_no_request_fails_and_memory_is_flat(self):
        failed, memory = self.runs(3, 2000)
        self.assertEqual(failed, 0)
        self.assertLess(memory[-1][1] - memory[0][1], GROWTH_MB_MAX)


def report_figures():
    case = H2Load()
    case.setUp()
    try:
        failed, memory = case.runs(10, 200_000)
        figure.report("h2load_failed_requests", failed, "requests of 4,000,000", "== 0")
        figure.report("h2load_memory_growth_after_first_run",
                      round(memory[-1][0] - memory[0][0], 2), "MB", f"< {GROWTH_MB_MAX}")
        figure.report("h2load_memory_after_last_run", memory[-1][0], "MB", None)
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--figure"]:
        report_figures()
    else:
        harness.main()
