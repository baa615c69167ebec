#!/usr/bin/env python3
"""harness.py itself: an interrupted test fails, ends what it started and is the last one; ports
that another program took are drawn again."""

import errno
import os
import pathlib
import signal
import subprocess
import sys

import harness

SCRIPT = """
import os, signal, subprocess, sys
import harness

number = int(sys.argv.pop())
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background


class Tests(harness.TestCase):
    def test_1(self):
        started = subprocess.Popen(["sleep", "600"])
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        print(self.folder, started.pid, flush=True)
        {rest}

    def test_2(self):
        print("the next test", flush=True)


harness.main()
"""
IN_A_SUBTEST = """
        for part in range(2):
            with self.subTest(part=part):
                os.kill(os.getpid(), number)
            print("the next subtest", flush=True)
"""
# Python does so where it cannot raise, as in a destructor.
DROPPED = """
        try:
            os.kill(os.getpid(), number)
        except SystemExit:
            pass
"""


class Interrupted(harness.TestCase):
    def assert_ends(self, rest, number):
        script = self.folder / "interrupted.py"
        script.write_text(SCRIPT.format(rest=rest.strip()))
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(harness.__file__).parent)}
        done = subprocess.run([sys.executable, "-B", str(script), str(int(number))],
                              env=environment, capture_output=True, text=True, check=False,
                              timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        folder, started, *more = done.stdout.split()
        self.assertEqual(more, [])
        self.assertFalse(pathlib.Path(folder).exists())
        with self.assertRaises(ProcessLookupError):
            os.kill(int(started), 0)

    def test_it_fails_ends_what_it_started_and_is_the_last(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.assert_ends(IN_A_SUBTEST, number)

    def test_it_fails_also_when_the_exception_is_dropped(self):
        self.assert_ends(DROPPED, signal.SIGTERM)


class Ports(harness.TestCase):
    def test_those_that_another_program_took_are_drawn_again(self):
        tried = []

        def start(*ports):
            tried.append(list(ports))
            if len(tried) < harness.START_TRIES:
                raise AssertionError(f"bind() failed ({os.strerror(errno.EADDRINUSE)})")
            return "started"

        started, *ports = harness.at_free_ports(start, harness.LOOPBACK, "127.0.0.2")
        self.assertEqual((started, ports), ("started", tried[-1]))
        self.assertEqual(len(tried), harness.START_TRIES)
        for first, second in tried:
            self.assertNotEqual(first, second)
            self.assertIn(first, harness.PORTS)

    def test_other_faults_are_raised_at_once(self):
        tried = []

        def start(port):
            tried.append(port)
            raise AssertionError("no such file")

        with self.assertRaisesRegex(AssertionError, "no such file"):
            harness.at_free_ports(start, harness.LOOPBACK)
        self.assertEqual(len(tried), 1)


if __name__ == "__main__":
    harness.main()
