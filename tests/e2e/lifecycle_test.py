#!/usr/bin/env python3
"""Starts, stops and signals at random moments in the first 200 ms, or in three times as long as a
start takes, beside two busy loops: nothing hangs, nothing is left running, and every run that a
signal ended in order has its report.

usage: lifecycle_test.py                     300 starts and 5 loads
       lifecycle_test.py --figure [STARTS]   10,000 starts and 50 loads, as JSON
REPRISE_TEST_SEED chooses them: see tests/test_seed.py.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import select
import signal
import statistics
import subprocess
import sys
import time

import figure
import harness
from test_seed import TEST_SEED
from wire import DEADLINE_SECONDS, HOST, response

STARTS = 300
LOADS = 5
AT_ONCE = 4
LINK = "40mbit/40mbit/10"
BROWSER = "chromium-headless-shell"
MODES = ("replay", "replay", "record", "shape", "dns")
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
COMMANDS = (["true"], ["true"], ["false"], ["sleep", "600"], ["sh", "-c", "sleep 600; true"])
# Ends with the test, however that ends.
BUSY_LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
DOCUMENT = b"<!doctype html><title>x</title>" + b"<p>Some text for a document.</p>" * 2000


class Start:
    """One run of reprise that is asked to end, once or twice, within `seconds`."""

    def __init__(self, dice, folder, archive, modes, seconds):
        self.marker = f"REPRISE_LIFECYCLE={folder}"  # whose name is no other run's
        self.folder = folder
        self.report = folder / "report"
        self.archive = folder / "recorded.reprise"
        self.mode = dice.choice(modes)
        self.command = dice.choice(COMMANDS)
        takes_command = self.mode not in ("dns", "load")
        linked = self.mode == "shape" or (takes_command and dice.random() < 0.4)
        if not takes_command or (not linked and dice.random() < 0.3):
            self.command = []
        self.arguments = {
            "replay": ["replay", str(archive), "--report", str(self.report)],
            "record": ["record", "-o", str(self.archive)],
            "shape": ["shape", "--report", str(self.report)],
            "load": ["load", str(archive), f"http://{HOST}/0", "--browser", BROWSER, "-o",
                     str(self.report)],
            "dns": ["dns", "--archive", str(archive), "--listen", "127.0.0.1:0", "--report",
                    str(self.report)]}[self.mode]
        if linked:
            self.arguments += ["--link", LINK]
            self.arguments += dice.choice((["--no-selfcheck"], ["--no-selfcheck"], []))
            self.arguments += dice.choice(([], ["--keep-awake"]))
        if takes_command and not self.command:
            for listener in ("--http", "--https", "--proxy", "--dns"):
                self.arguments += [listener, "127.0.0.1:0"]
        ends_by_itself = self.command and self.command[0] in ("true", "false")
        self.moments = sorted(dice.uniform(0, seconds) for _ in range(dice.choice((1, 1, 1, 2))))
        # dash loses a SIGINT between its fork(2) and execve(2), and then waits for its child.
        shell = self.command[:1] == ["sh"]
        self.signals = [dice.choice(SIGNALS[:2] if shell else SIGNALS) for _ in self.moments]
        # Behind a link, the kernel ends all that the command has started; else, the command alone.
        if dice.random() < 0.1 and (linked or self.command != COMMANDS[-1]):
            self.signals[-1] = signal.SIGKILL
        elif ends_by_itself and dice.random() < 0.4:
            self.signals = []
        self.catchable = bool(self.signals) and self.signals[0] != signal.SIGKILL
        self.in_order = False  # the first signal came when reprise was prepared for it
        self.exit_code = None

    def __str__(self):
        sent = ", ".join(f"{number.name} at {moment * 1000:.0f} ms"
                         for number, moment in zip(self.signals, self.moments))
        return f"{' '.join([*self.arguments, '--', *self.command])}; {sent or 'no signal'}"

    def run(self):
        """Returns what was wrong."""
        command = [harness.REPRISE, *self.arguments]
        if self.command:
            command += ["--", *self.command]
        name, value = self.marker.split("=")
        with open(self.folder / "log", "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True,
                                       env={**harness.environment(self.folder), name: value})
        ended = os.pidfd_open(process.pid)
        try:
            passed = 0
            for number, moment in zip(self.signals, self.moments):
                if select.select([ended], [], [], moment - passed)[0]:
                    break
                passed = moment
                if number == self.signals[0] and self.catchable and not self.in_order:
                    self.in_order = is_prepared(process.pid, number)
                process.send_signal(number)
            if not select.select([ended], [], [], DEADLINE_SECONDS)[0]:
                return "hangs"
            self.exit_code = process.wait()
        finally:
            os.close(ended)
            if process.poll() is None:
                process.kill()
                process.wait()
        return self.orphans() or self.judge()

    def orphans(self):
        """What still runs of it, once the kernel has had the time to end it."""
        marker = self.marker.encode() + b"\0"
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            left = []
            for entry in pathlib.Path("/proc").iterdir():
                if not entry.name.isdigit():
                    continue
                try:
                    if marker in (entry / "environ").read_bytes():
                        left.append(entry.name)
                except (OSError, ProcessLookupError):
                    pass
            if not left:
                return None
            if time.monotonic() >= end:
                return f"left running: {left}"
            # Waits for one of them, not for a time.
            try:
                one = os.pidfd_open(int(left[0]))
            except ProcessLookupError:
                continue
            select.select([one], [], [], max(0, end - time.monotonic()))
            os.close(one)

    def judge(self):
        killed = signal.SIGKILL in self.signals
        twice = len(self.signals) > 1
        allowed = {128 + number for number in self.signals} | {-number for number in self.signals}
        allowed |= {1} if self.command == ["false"] else {0}
        if self.exit_code not in allowed:
            return f"exit code {self.exit_code}, allowed {sorted(allowed)}"
        if killed or twice or (self.signals and not self.in_order and self.exit_code < 0):
            return None
        try:
            if self.mode == "record":
                if self.command and self.exit_code > 0:  # which has requested nothing
                    return "an empty archive" if self.archive.exists() else None
                done = harness.run("archive", "verify", str(self.archive))
                return None if done.returncode == 0 else f"verify: {done.stderr.decode()}"
            json.loads(self.report.read_text())
        except (OSError, ValueError) as error:
            return f"no report: {error}"
        return None


def is_prepared(pid, number):
    """Whether the signal waits, or is caught."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            fields = dict(line.split(":", 1) for line in status)
        bit = 1 << (number - 1)
        return bool((int(fields["SigBlk"], 16) | int(fields["SigCgt"], 16)) & bit)
    except (OSError, KeyError):
        return False


class Lifecycle(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        site = self.origin(lambda _: response(DOCUMENT, headers=b"Content-Type: text/html\r\n"))
        recorder = self.record(self.archive, origins=(site,))
        with recorder.connect("http") as client:
            for number in range(60):
                client.get(f"/{number}")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def keep_busy(self):
        """With two loops, until the test ends."""
        for _ in range(2):
            busy = subprocess.Popen([sys.executable, "-c", BUSY_LOOP])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def seconds_of_a_start(self):
        """The median of runs that end by themselves, so many at once as `fates` has."""
        def run(_):
            began = time.monotonic()
            harness.run("replay", str(self.archive), "--", "true", folder=self.folder)
            return time.monotonic() - began

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return statistics.median(pool.map(run, range(3 * AT_ONCE)))

    def fates(self, count, modes=MODES, seconds=0.2, at_once=AT_ONCE):
        """(start, what was wrong with it, its folder) of so many."""
        seconds = max(seconds, 3 * self.seconds_of_a_start())
        dice = random.Random(f"{TEST_SEED} {modes}")

        def run(seed_of_one, number):
            folder = self.folder / f"{modes[0]}-{number}"
            folder.mkdir()
            start = Start(random.Random(seed_of_one), folder, self.archive, modes, seconds)
            return start, start.run(), folder

        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            runs = [pool.submit(run, dice.getrandbits(64), number) for number in range(count)]
            try:
                for each in concurrent.futures.as_completed(runs):
                    yield each.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # in an interrupted test

    def assert_all_end_well(self, count, *arguments, **options):
        catchable = in_order = 0
        wrong = []
        for start, fault, folder in self.fates(count, *arguments, **options):
            catchable += start.catchable
            in_order += start.in_order
            if fault:
                wrong.append(f"{start}: {fault}\n{(folder / 'log').read_text(errors='replace')}")
        self.assertEqual(wrong, [])
        self.assertGreater(in_order, catchable / 4)

    def test_starts_and_signals(self):
        self.keep_busy()
        self.assert_all_end_well(STARTS)

    def test_a_parent_that_ignores_its_childrens_ends_is_no_obstacle(self):
        replay = ["replay", str(self.archive)]
        link = ["--link", "none", "--no-selfcheck"]
        for arguments in (replay, [*replay, *link], ["shape", *link],
                          ["record", "-o", str(self.folder / "b.reprise")]):
            with self.subTest(" ".join(arguments)):
                done = harness.run(*arguments, "--", "sh", "-c", "exit 7", folder=self.folder,
                                   preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
                self.assertEqual(done.returncode, 7, done.stderr.decode())

    def test_loads(self):
        self.keep_busy()
        self.assert_all_end_well(LOADS, ("load",), seconds=3, at_once=1)


def report_figure(starts):
    lifecycle = Lifecycle()
    lifecycle.setUp()
    lifecycle.keep_busy()
    counts = {"starts": 0, "hung": 0, "orphaned": 0, "otherwise_wrong": 0, "signalled_in_order": 0}
    loads = lifecycle.fates(starts // 200, ("load",), seconds=3, at_once=2)
    try:
        for start, fault, _ in itertools.chain(lifecycle.fates(starts), loads):
            counts["starts"] += 1
            counts["signalled_in_order"] += start.in_order
            if fault:
                kind = {"hangs": "hung"}.get(fault, "otherwise_wrong")
                counts["orphaned" if fault.startswith("left") else kind] += 1
                print(f"{start}: {fault}", file=sys.stderr, flush=True)
            if counts["starts"] % 500 == 0:
                print(f"{counts['starts']} of {starts}", file=sys.stderr, flush=True)
    finally:
        lifecycle.doCleanups()
    failed = counts["hung"] + counts["orphaned"] + counts["otherwise_wrong"]
    print(counts, file=sys.stderr)
    figure.report(f"lifecycle_wrong_of_{starts}", failed, "starts", "== 0")


if __name__ == "__main__":
    # Ignored under nohup and in the background of a shell, and then by all that is started here.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "--figure" in sys.argv:
        report_figure(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    else:
        harness.main()
