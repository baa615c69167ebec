#!/usr/bin/env python3
"""Debian's gtlsclient against a replay over HTTP/3, many connections at a time: no request fails,
and memory stays flat.

usage: h3_load_test.py             run as a test, with few requests
       h3_load_test.py --figure    100,000 requests on 50 connections, twice: what the first
                                   round takes at most is kept for the second
"""

import json
import shutil
import subprocess
import sys
import unittest

import figure
import harness
from h2load_test import GROWTH_MB_MAX, memory_mb
from wire import Certificate, response

CLIENT = shutil.which("gtlsclient")
HOST = "localhost"  # gtlsclient resolves the name itself, and sends it
TARGETS = [f"/{number}" for number in range(10)]
SECONDS_MAX = 1200


@unittest.skipUnless(CLIENT, "there is no gtlsclient")
class H3Load(harness.TestCase):
    def replayed(self):
        archive = self.folder / "a.reprise"
        tls = Certificate(self.folder / "tls", (HOST,))
        origin = self.origin(lambda request: response(b"x" * 3000), names=(HOST,), tls=tls)
        recorder = self.record(archive, origins=[origin])
        with recorder.connect("https", HOST) as client:
            for target in TARGETS:
                self.assertEqual(client.get(target, HOST).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        self.report = self.folder / "report"
        return self.replay(archive, "--protocol", "h3", "--report", str(self.report))

    @staticmethod
    def ask(port, connections, requests):
        """How many of the clients failed, each with a connection and its requests."""
        clients = [subprocess.Popen(
            [CLIENT, "-q", "--exit-on-all-streams-close", "--disable-early-data", "--timeout=300s",
             "-n", str(requests), HOST, str(port), *(f"https://{HOST}{each}" for each in TARGETS)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(connections)]
        return sum(client.wait(SECONDS_MAX) != 0 for client in clients)

    def runs(self, connections, rounds):
        """Failed clients, hits, and memory after each round of that many requests on each."""
        replay = self.replayed()
        _, port = replay.address("https")
        failed, memory = 0, []
        for requests in rounds:
            failed += self.ask(port, connections, requests)
            memory.append(memory_mb(replay.pid))
            print(f"{connections} x {requests}: RSS %.1f MB, anonymous %.1f MB" % memory[-1],
                  file=sys.stderr)
        self.assertEqual(replay.stop(), 0, replay.log())
        report = json.loads(self.report.read_text())
        self.assertEqual(report["misses"], 0)
        return failed, report["hits"], memory

    def test_no_request_fails_and_memory_is_flat(self):
        failed, hits, memory = self.runs(10, (100, 100, 100))
        self.assertEqual((failed, hits), (0, 3000))
        self.assertLess(memory[-1][1] - memory[0][1], GROWTH_MB_MAX)


def report_figures():
    case = H3Load()
    case.setUp()
    try:
        failed, hits, memory = case.runs(50, (2000, 2000))
        figure.report("h3load_failed_connections", failed, "connections of 100", "== 0")
        figure.report("h3load_unanswered_requests", 200_000 - hits, "requests of 200,000", "== 0")
        figure.report("h3load_memory_growth_after_first_round",
                      round(memory[-1][1] - memory[0][1], 2), "MB", f"< {GROWTH_MB_MAX}")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--figure"]:
        report_figures()
    else:
        harness.main()
