#!/usr/bin/env python3
"""How loads end that do not go well: each by an outcome of its own and without a number that could
be taken for a measurement; and whatever becomes of `reprise load`, nothing of a browser is left
running or on disk."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import unittest

import harness
from wire import response

BROWSER = os.environ.get("BROWSER", "chromium-headless-shell")
SECONDS = 240
PAGES = {
    "/": b"<!doctype html><title>well</title><link rel=icon href=data:,><p>well",
    "/hung": b"<!doctype html><link rel=icon href=data:,><script>for (;;) {}</script>",
    "/restless": b"<!doctype html><link rel=icon href=data:,>"
                 b"<script>setInterval(() => fetch('/'), 50)</script>",
}


def processes_with(folder):
    """Of all processes whose environment names `folder`, a descriptor that tells of the end."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(folder) in (entry / "environ").read_bytes():
                found.append(os.pidfd_open(int(entry.name)))
        except OSError:
            continue  # it has ended, or is not ours
    return found


@unittest.skipUnless(shutil.which(BROWSER), "no Chromium")
class LoadOutcomes(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.short_folder()
        self.result = self.folder / "result.json"
        self.archive = self.folder / "pages.reprise"
        self.marks = self.folder / "marks"
        self.marks.mkdir()

    def record(self):
        origin = self.origin(lambda request: response(PAGES[request.target],
                                                      headers=b"Content-Type: text/html\r\n"))
        recorder = super().record(self.archive, origins=[origin])
        for path in PAGES:
            with recorder.connect("http", harness.HOST) as client:
                self.assertEqual(client.get(path, harness.HOST).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def environment(self):
        return {**harness.environment(self.folder), "TMPDIR": str(self.temporary)}

    def command(self, *arguments):
        return [harness.REPRISE, "load", *map(str, arguments), "--settle", "50", "-o",
                str(self.result)]

    def load(self, *arguments):
        """Its loads and its exit status, once it has ended by itself."""
        done = subprocess.run(self.command(*arguments), capture_output=True, timeout=SECONDS,
                              env=self.environment(), stdin=subprocess.DEVNULL, check=False)
        self.said = done.stderr.decode()
        self.assertEqual(list(self.temporary.iterdir()), [], self.said)
        return json.loads(self.result.read_text())["loads"], done.returncode

    def browser_that_tells(self):
        """A browser that leaves a file named by its process, which leads its group. Behind a link
        its number is that of a namespace, the same each time."""
        program = self.folder / "browser"
        program.write_text(f"#!/bin/sh\n: > {self.marks}/$$.$(date +%s%N)\nexec {BROWSER} \"$@\"\n")
        program.chmod(0o755)
        return program

    def start_load(self, *arguments):
        with open(self.folder / "said", "wb") as said:
            process = subprocess.Popen(self.command(*arguments), env=self.environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=said)
        self.addCleanup(process.kill)
        return process

    def wait_for_browsers(self, process, count):
        for _ in harness.watch_folder(self.marks, process.pid):
            if len(list(self.marks.iterdir())) >= count:
                return
            self.assertIsNone(process.poll(), (self.folder / "said").read_text())
        self.fail("no browser was started in time")

    def assert_nothing_is_left(self):
        for process in processes_with(self.temporary):
            ended = select.select([process], [], [], SECONDS)[0]
            os.close(process)
            self.assertTrue(ended, "a process is left")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_pages_that_hang_or_never_rest_or_are_not_there(self):
        self.record()
        site = f"http://{harness.HOST}"
        self.assert_outcomes({f"{site}/hung": "timed-out", f"{site}/restless": "timed-out"},
                             "--timeout", 3)
        self.assert_outcomes({f"{site}/": "loaded", f"{site}/other": "not-in-archive",
                              "http://nobody.test/": "not-in-archive"})

    def assert_outcomes(self, pages, *arguments):
        loads, code = self.load(self.archive, *pages, "--browser", BROWSER, "--match", "exact",
                                *arguments)
        self.assertEqual(code, 1, self.said)
        self.assertEqual({each["url"]: each["outcome"] for each in loads}, pages, self.said)
        for each in loads:
            self.assertEqual(bool(each["failure"]), each["outcome"] != "loaded")
            self.assertEqual(each["last_load_ms"] is None, each["outcome"] != "loaded")
            self.assertEqual(each["browser_requests"], [], self.said)

    def test_a_browser_that_dies_and_one_that_is_missing(self):
        def answer(request):
            if request.target == "/die":
                for mark in self.marks.iterdir():
                    os.killpg(int(mark.stem), signal.SIGKILL)
            return response(PAGES["/"], headers=b"Content-Type: text/html\r\n")
        origin = self.origin(answer)
        loads, code = self.load("--live", f"http://127.0.0.1:{origin.port}/die", "--browser",
                                self.browser_that_tells())
        self.assertEqual((code, loads[0]["outcome"]), (1, "browser-died"), self.said)
        self.assertIsNone(loads[0]["load_event_ms"])
        self.result.unlink()
        with self.assertRaises(FileNotFoundError):  # of a result
            self.load("--live", f"http://127.0.0.1:{origin.port}/", "--browser",
                      f"{BROWSER},/nonexistent/chromium")
        self.assertIn("There is no browser at /nonexistent/chromium.", self.said)

    def test_a_browser_that_does_not_ask_the_replay(self):
        self.record()
        elsewhere = self.origin(lambda _: response(PAGES["/"],
                                                   headers=b"Content-Type: text/html\r\n"))
        url = f"http://{harness.HOST}/"
        rule = f"--host-resolver-rules=MAP {harness.HOST} 127.0.0.1:{elsewhere.port}"
        loads, code = self.load(self.archive, url, "--browser", BROWSER, "--chromium-flag", rule)
        self.assertEqual((code, loads[0]["outcome"]), (1, "not-in-archive"), self.said)
        self.assertIn("did not ask the replay", self.said)
        self.assertIsNone(loads[0]["load_event_ms"])
        self.assertNotEqual(elsewhere.requests, [])
        other = rule.replace(harness.HOST, "other.test")
        loads, code = self.load(self.archive, url, "--browser", BROWSER, "--chromium-flag", other)
        self.assertEqual((code, loads[0]["outcome"]), (0, "loaded"), self.said)
        refused = subprocess.run(
            self.command(self.archive, url, "--chromium-flag=--proxy-server=direct://"),
            capture_output=True, timeout=SECONDS, env=self.environment(),
            stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn(b"--proxy-server needs --live", refused.stderr)

    def kill_in_the_middle(self, *arguments):
        self.record()
        process = self.start_load(self.archive, f"http://{harness.HOST}/", "--browser",
                             self.browser_that_tells(), "--runs", 50, *arguments)
        self.wait_for_browsers(process, 2)
        process.kill()
        process.wait()
        self.assert_nothing_is_left()

    def test_nothing_is_left_when_a_matrix_is_killed(self):
        self.kill_in_the_middle("--protocol", "h1,h2")

    def test_nothing_is_left_when_it_is_killed_with_the_browser_behind_a_link(self):
        probe = harness.run("shape", "--link", "none", "--no-selfcheck", "--", "true")
        if probe.returncode:
            self.skipTest(probe.stderr.decode())
        self.kill_in_the_middle("--link", "wpt:cable", "--shaper", "packet", "--no-selfcheck")

    def test_what_an_interrupted_measurement_has_is_written(self):
        self.record()
        process = self.start_load(self.archive, f"http://{harness.HOST}/", "--browser",
                             self.browser_that_tells(), "--runs", 50)
        self.wait_for_browsers(process, 3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(SECONDS), 128 + signal.SIGINT)
        self.assert_nothing_is_left()
        loads = json.loads(self.result.read_text())["loads"]
        self.assertEqual([each["outcome"] for each in loads], ["loaded"] * len(loads))
        self.assertGreaterEqual(len(loads), 2)
        said = (self.folder / "said").read_text()
        self.assertIn(f"interrupted after {len(loads)} of 51 loads", said)


if __name__ == "__main__":
    harness.main()
