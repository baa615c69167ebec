#!/usr/bin/env python3
"""`reprise gate` on a machine that disturbs the loads: a process that somebody stops and lets go
on, and a control group with half a processor. Each is named; the loads are repeated or refused, and
never counted."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import gate_sites
import harness
from gate_sites import URL

# Version 1 of control groups, or version 2.
CPU_GROUPS = [pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")]

# 1.5 % of a load of 4 s.
STOP_SECONDS = 0.06
STOPPED = "a process of the load was stopped (SIGSTOP)"


def descendants(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield int(child)
            yield from descendants(int(child))


def name_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def stop_a_browser(gate):
    """Stops a process of the browser for a moment, in which a gate looks around twice."""
    for pid in descendants(gate):
        if not name_of(pid).startswith(("chrom", "headless")):
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            until = time.monotonic() + STOP_SECONDS
            while time.monotonic() < until:
                os.sched_yield()
            os.kill(pid, signal.SIGCONT)
            return True
    return False


@contextlib.contextmanager
def half_a_processor():
    """A control group with that quota, or none."""
    for root in CPU_GROUPS:
        group = root / f"reprise-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / "cpu.cfs_quota_us").exists():
                (group / "cpu.cfs_quota_us").write_text("50000")
            else:
                (group / "cpu.max").write_text("50000 100000")
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    yield None


class Disturbance(harness.TestCase):
    def setUp(self):
        super().setUp()
        archive = gate_sites.record(self.folder, "page", gate_sites.plain_site())
        self.side = f"'{archive}' {URL} --no-bodies --quiet 500"

    def start_gate(self, *arguments, before=None):
        return subprocess.Popen(
            [harness.REPRISE, "gate", self.side, self.side, "--json", "--seed", "1",
             "--skip-noise-check", "--metric", "load", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env=harness.environment(self.folder), preexec_fn=before)

    def test_a_stopped_process_has_its_run_repeated(self):
        gate = self.start_gate("--max-runs", "6", "-o", str(self.folder))
        said, repeated = [], None
        for line in gate.stderr:
            said.append(line)
            repeated = repeated or re.fullmatch(
                rf"reprise: run (\d+) is repeated: {re.escape(STOPPED)}\n", line)
            # A busy machine can hide a stop: then there is another one. What became of run 2 is
            # known before run 3.
            if re.match("run [135] of", line) and not repeated:
                while not stop_a_browser(gate.pid) and gate.poll() is None:
                    os.sched_yield()
        output = gate.stdout.read()
        gate.communicate()
        self.assertIn(gate.returncode, (0, 5, 6), "".join(said))
        self.assertTrue(repeated, "".join(said))
        self.assertGreaterEqual(json.loads(output)["gate"]["skipped"][STOPPED], 1)
        for name in ("a", "b"):
            loads = json.loads((self.folder / f"{name}.json").read_text())["loads"]
            of_run = [load for load in loads if load["run"] == int(repeated[1])]
            self.assertGreater(len(of_run), 1)  # both sides again
            self.assertNotIn("skipped", of_run[-1])
            self.assertIn(STOPPED, [load.get("skipped") for load in of_run])

    def test_a_quota_of_half_a_processor_is_no_number(self):
        with half_a_processor() as group:
            if group is None:
                raise unittest.SkipTest("control groups cannot be made here")
            gate = self.start_gate(
                "--max-runs", "10",
                before=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
            output, said = gate.communicate()
            self.assertEqual(gate.returncode, 6, said)
            self.assertIn("undecided, since the machine disturbs the loads: ", said)
            self.assertRegex(said, r"a processor quota stopped the load for \d+ ms")
            self.assertIn("larger processor quota", said)
            verdict = json.loads(output)
            self.assertEqual(set(verdict["gate"]["largest"]), set(verdict["gate"]["skipped"]))
            self.assertEqual((verdict["verdict"], verdict["gate"]["end"]),
                             ("undecided", "disturbed"))


if __name__ == "__main__":
    harness.main()
