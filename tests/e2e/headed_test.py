#!/usr/bin/env python3
"""`reprise load --headed` in both browsers: the window is on the screen, extensions are in it, and
it stays until it is closed where that is asked for. Skipped without Xvfb."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import display
import harness
from wire import response

BROWSERS = [name for name in ("chromium", "firefox-esr") if shutil.which(name)]
COLOUR = (0x12, 0xab, 0x34)
# A page that is shown in the size of its window, instead of the one that it is measured in, asks
# for /resized. The content script of EXTENSION tells that it runs.
PAGE = b"""<!doctype html><title>page</title><link rel=icon href=data:,>
<body style="background: #12ab34"><script>
addEventListener('resize', () => requestAnimationFrame(() => requestAnimationFrame(
    () => fetch('/resized'))));
</script>"""
# One that asks before it has loaded, and again in the size of its window. Its worker says /open a
# while after the second question, to which the page would tell the answer.
ASKING = b"""<!doctype html><title>page</title><link rel=icon href=data:,>
<script>
const code = "postMessage(''); onmessage = ({data}) => setTimeout(() => fetch(data), 2000);";
const worker = new Worker(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
const runs = new Promise((resolve) => { worker.onmessage = resolve; });
fetch('/first/' + confirm('Before it has loaded?'));
let asked = false;
addEventListener('resize', async () => {
  if (asked) return;
  asked = true;
  await runs;  // a dialog would prevent its start
  worker.postMessage(location.origin + '/open');
  setTimeout(() => fetch('/second/' + confirm('By its user?')), 0);
});
</script>"""
MANIFEST = {"manifest_version": 3, "name": "mark", "version": "1",
            "browser_specific_settings": {"gecko": {"id": "mark@reprise.invalid"}},
            "host_permissions": ["http://*/*"],
            "content_scripts": [{"matches": ["http://*/*"], "js": ["mark.js"]}]}


def browser_below(pid):
    """The process of the browser itself among the descendants of `pid`."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            try:
                arguments = pathlib.Path(f"/proc/{child}/cmdline").read_bytes()
            except FileNotFoundError:
                continue
            name = os.path.basename(arguments.split(b"\0")[0])
            if name in (b"chromium", b"firefox-esr") and b"\0--type=" not in arguments:
                return int(child)
            if found := browser_below(child):
                return found
    return None


@unittest.skipUnless(BROWSERS, "no chromium and no firefox-esr")
class Headed(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.resized = threading.Event()
        self.open = threading.Event()
        self.page = PAGE
        self.site = self.origin(self.answer, names=("localhost",))
        self.url = f"http://127.0.0.1:{self.site.port}/"
        extension = self.folder / "mark"
        extension.mkdir()
        (extension / "manifest.json").write_text(json.dumps(MANIFEST))
        (extension / "mark.js").write_text("document.title = 'marked';")
        self.result = self.folder / "loads.json"

    def answer(self, request):
        if request.target == "/resized":
            self.resized.set()
        if request.target == "/open":
            self.open.set()
        return response(self.page, headers=b"Content-Type: text/html\r\n")

    def command(self, *arguments):
        return [harness.REPRISE, "load", "--live", self.url, "--quiet", "0", "--headed",
                *arguments]

    def refusal(self, *command):
        environment = {name: value for name, value in harness.environment(self.folder).items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment,
                              timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def start_kept_open(self, browser, environment, *arguments, shown=None):
        """A load in `browser`, once its page is left to the user and sets `shown` [resized]. It
        leads a process group, as what a shell starts."""
        shown = shown or self.resized
        shown.clear()
        process = subprocess.Popen(
            self.command("--browser", browser, "--keep-open", "--viewport", "900x700", *arguments),
            cwd=self.folder, env={**harness.environment(self.folder), **environment},
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        stayed = shown.wait(harness.DEADLINE_SECONDS)
        self.assertTrue(stayed, process.poll() is not None and process.stderr.read())
        return process

    def test_a_window_stays_with_its_extensions_until_it_is_closed(self):
        screen = display.Display(self.folder)
        self.addCleanup(screen.close)
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                process = self.start_kept_open(
                    browser, screen.environment, "--extension", "trench", "--extension", "mark",
                    "--dom", "-o", str(self.result))
                screen.wait_for(*COLOUR, share=0.2)
                os.kill(browser_below(process.pid), signal.SIGTERM)
                said = process.communicate(timeout=harness.DEADLINE_SECONDS)[1]
                self.assertEqual(process.returncode, 0, said)
                load, = json.loads(self.result.read_text())["loads"]
                self.assertEqual(load["outcome"], "loaded")
                self.assertIn("<title>marked</title>", load["dom"])
                self.assertEqual([each["url"] for each in load["requests"]], [self.url])

    def test_a_dialog_is_left_to_the_user_once_the_page_has_loaded(self):
        screen = display.Display(self.folder)
        self.addCleanup(screen.close)
        self.page = ASKING
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                self.site.requests.clear()
                process = self.start_kept_open(browser, screen.environment, shown=self.open)
                os.killpg(process.pid, signal.SIGINT)
                said = process.communicate(timeout=harness.DEADLINE_SECONDS)[1]
                asked = [request.target for request in self.site.requests]
                self.assertIn("/first/true", asked, said)
                self.assertFalse([each for each in asked if each.startswith("/second")], said)

    def test_ctrl_c_ends_the_browser_and_leaves_nothing_of_it(self):
        screen = display.Display(self.folder)
        self.addCleanup(screen.close)
        temporary = self.short_folder()
        for browser in BROWSERS:
            with self.subTest(browser=browser):
                process = self.start_kept_open(browser, {**screen.environment,
                                                         "TMPDIR": str(temporary)})
                self.assertNotEqual(list(temporary.iterdir()), [], "the profile is elsewhere")
                shown = os.pidfd_open(browser_below(process.pid))
                self.addCleanup(os.close, shown)
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does
                said = process.communicate(timeout=harness.DEADLINE_SECONDS)[1]
                self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
                self.assertIn("interrupted", said)
                self.assertTrue(select.select([shown], [], [], harness.DEADLINE_SECONDS)[0])
                self.assertEqual(list(temporary.iterdir()), [])

    def test_an_extension_that_is_none_is_refused(self):
        (self.folder / "mark" / "manifest.json").write_text("{")
        screen = display.Display(self.folder)
        self.addCleanup(screen.close)
        for browser in BROWSERS:
            done = subprocess.run(
                self.command("--browser", browser, "--extension", str(self.folder / "mark")),
                capture_output=True, text=True, timeout=harness.DEADLINE_SECONDS,
                env={**harness.environment(self.folder), **screen.environment})
            self.assertEqual(done.returncode, 1)
            self.assertIn("does not take the extension in", done.stderr)
        self.assertIn("has no manifest.json",
                      self.refusal(harness.REPRISE, "load", "--extension", str(self.folder)))

    def test_what_cannot_be_is_said_before_anything_starts(self):
        self.assertIn("DISPLAY", self.refusal(*self.command()))
        self.assertIn("needs --headed", self.refusal(harness.REPRISE, "load", "--live", self.url,
                                                     "--keep-open"))
        for option in ("--extension trench", "--keep-open"):
            side = f"some.reprise {self.url} {option}"
            self.assertIn("`reprise load` alone", self.refusal(harness.REPRISE, "gate", side, side))
        self.assertEqual(self.site.requests, [])


if __name__ == "__main__":
    if not display.PROGRAM:
        print("skipped: needs Xvfb")
        sys.exit(harness.SKIPPED)
    harness.main()
