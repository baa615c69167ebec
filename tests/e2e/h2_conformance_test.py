#!/usr/bin/env python3
"""The replay's HTTP/2 over TLS against h2_cases.py. With an address and a port as arguments, any
other server: prints what it does otherwise."""

import subprocess
import sys

import harness
import h2_wire
from h2_cases import CASES
from h2_test import Nginx
from wire import DEADLINE_SECONDS, HOST

# Servers that take no part in the priorities of RFC 7540 see no dependencies (RFC 9113 section
# 5.3.2), and so none that are wrong.
NOT_DUE = {"5.3.1.2 priority that depends on itself"}


def run(case, address):
    with h2_wire.Client(address) as client:
        try:
            return case.run(client)
        except AssertionError as error:
            return str(error)


class Conformance(harness.TestCase):
    def test_every_case(self):
        origin = Nginx(self.folder)
        self.addCleanup(origin.close)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        subprocess.run(["curl", "-sS", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"], f"https://{HOST}/"], check=True,
                       capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        address = self.replay(self.folder / "a.reprise").address("https")
        for case in CASES:
            with self.subTest(case.name):
                found = run(case, address)
                self.assertEqual(found is not None, case.name in NOT_DUE, found)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        results = [(case.name, run(case, (sys.argv[1], int(sys.argv[2])))) for case in CASES]
        for name, found in results:
            if found is not None:
                print(f"{name}: {found}")
        print(sum(found is not None for _, found in results), "of", len(results))
    else:
        harness.main()
