#!/usr/bin/env python3
"""How a run with a command beside it ends: the command hears what it has to hear, once, reprise
does not end before it, and it does not outlive reprise."""

import fcntl
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import termios

import harness
from wire import DEADLINE_SECONDS, response

# Says its number, then the signals that it hears; ends with 9 at the last of those it was given.
LISTENER = """
import os, signal, sys
names = sys.argv[1:]
signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in names])
print(os.getpid(), flush=True)
while True:
    heard = signal.Signals(signal.sigwait([getattr(signal, name) for name in names])).name
    print(heard, flush=True)
    if heard == names[-1]:
        sys.exit(9)
"""


class Ending(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.body = b"x"
        self.site = self.origin(lambda _: response(self.body))
        self.archive = self.folder / "a.reprise"
        recorder = self.record(self.archive, origins=(self.site,))
        with recorder.connect("http") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def beside_listener(self, signals, mode=None, wrapper=(), **options):
        """A replay, or `mode`, beside a command that hears `signals`."""
        self.ready_file = self.folder / "ready"
        command = [*wrapper, harness.REPRISE, *(mode or ("replay", str(self.archive))), "--admin",
                   "127.0.0.1:0", "--ready-file", str(self.ready_file), "--", sys.executable, "-c",
                   LISTENER, *signals]
        process = subprocess.Popen(command, env=harness.environment(self.folder), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **{"stdin": subprocess.DEVNULL, **options})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.command = os.pidfd_open(int(process.stdout.readline()))
        self.addCleanup(os.close, self.command)
        self.addCleanup(self.kill_command, self.command)
        return process

    @staticmethod
    def kill_command(command):
        try:
            signal.pidfd_send_signal(command, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def ask_to_stop(self):
        admin = json.loads(self.ready_file.read_text())["admin"]
        subprocess.run(["curl", "-sS", "-X", "POST", f"http://{admin}/stop"], check=True,
                       capture_output=True)

    def assert_ends(self, process, exit_code, heard):
        said, complaints = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((process.returncode, said.split()), (exit_code, heard), complaints)
        self.assertTrue(select.select([self.command], [], [], DEADLINE_SECONDS)[0])

    def wait_until_taken(self, process, number):
        """Until the signal is no longer pending."""
        pending = 1 << (number - 1)
        while pending:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                fields = dict(line.split(":", 1) for line in status)
            pending &= int(fields["ShdPnd"], 16)

    def test_a_signal_is_passed_on_and_the_commands_status_returned(self):
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            with self.subTest(name):
                process = self.beside_listener([name])
                process.send_signal(getattr(signal, name))
                self.assert_ends(process, 9, [name])

    def test_a_typed_interrupt_reaches_the_command_once(self):
        keyboard, terminal = pty.openpty()
        self.addCleanup(os.close, keyboard)
        self.addCleanup(os.close, terminal)
        process = self.beside_listener(
            ["SIGINT", "SIGTERM"], stdin=terminal, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.write(keyboard, b"\x03")
        self.assertEqual(process.stdout.readline(), "SIGINT\n")
        self.wait_until_taken(process, signal.SIGINT)
        self.ask_to_stop()  # what reprise passes on comes in order: a second SIGINT before this
        self.assert_ends(process, 9, ["SIGTERM"])

    def test_a_second_signal_ends_the_command_too(self):
        process = self.beside_listener(["SIGTERM", "SIGUSR1"])
        process.terminate()
        self.assertEqual(process.stdout.readline(), "SIGTERM\n")
        process.terminate()
        self.assertEqual(process.wait(DEADLINE_SECONDS), 128 + signal.SIGTERM)
        self.assertTrue(select.select([self.command], [], [], DEADLINE_SECONDS)[0])

    def test_stop_waits_for_the_command(self):
        process = self.beside_listener(["SIGTERM"])
        self.ask_to_stop()
        self.assert_ends(process, 9, ["SIGTERM"])

    def test_stop_kills_a_command_that_does_not_end(self):
        process = self.beside_listener(["SIGTERM", "SIGUSR1"])
        self.ask_to_stop()
        self.assert_ends(process, 128 + signal.SIGKILL, ["SIGTERM"])

    def test_an_archive_that_cannot_be_written_ends_the_command_first(self):
        self.body = bytes(100_000)
        limited = ("sh", "-c", 'trap "" XFSZ; ulimit -f 50; exec "$@"', "sh")
        process = self.beside_listener(
            ["SIGTERM"], wrapper=limited, mode=("record", "-o", str(self.folder / "b.reprise"),
                                                *self.site.connect_arguments()))
        ready = json.loads(self.ready_file.read_text())
        subprocess.run(["curl", "-sS", "-x", f"http://{ready['proxy']}", "http://origin.test/"],
                       capture_output=True, check=False)
        self.assert_ends(process, 3, ["SIGTERM"])

    def test_a_hang_up_alone_ends_in_order(self):
        report = self.folder / "report"
        replay = self.replay(self.archive, "--report", str(report))
        self.assertEqual(replay.stop(signal.SIGHUP), 0, replay.log())
        self.assertIn("hits", json.loads(report.read_text()))

    def test_a_signal_ends_the_preparation_of_a_what_if(self):
        archive = self.folder / "slow.reprise"
        self.body = random.Random(1).randbytes(300_000).hex().encode()
        recorder = self.record(archive, origins=(self.site,))
        with recorder.connect("http") as client:
            for number in range(10):
                client.get(f"/{number}")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        private = self.short_folder()
        process = subprocess.Popen(
            [harness.REPRISE, "replay", str(archive), "--what-if", "*: compress=br", "--http",
             "127.0.0.1:0", "--https", "off", "--proxy", "off", "--dns", "off"],
            env={**harness.environment(self.folder), "TMPDIR": str(private)}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for _ in harness.watch_folder(private, process.pid):
            if process.poll() is not None or list(private.glob("reprise-what-if-*")):
                break
        process.terminate()
        _, complaints = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, complaints)
        self.assertNotIn("replayed", complaints)
        self.assertEqual(list(private.iterdir()), [])

    def test_a_hang_up_that_was_ignored_stays_ignored(self):
        replay = self.replay(self.archive, wrapper=("nohup",))
        os.kill(replay.pid, signal.SIGHUP)
        with replay.connect("http") as client:
            self.assertEqual(client.get("/").body, b"x")
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    harness.main()
