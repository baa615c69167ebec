#!/usr/bin/env python3
"""`record URL`, with a real browser: pages that cannot be fetched, an interruption, and a TMPDIR as
CI has it."""

import os
import signal
import subprocess
import threading
import unittest.mock

import harness
from wire import HOST, Certificate, response

PAGE = response(b"<!doctype html><title>x</title><p>x", headers=b"Content-Type: text/html\r\n")


class RecordPage(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "page.reprise"

    def record_page(self, url, *arguments):
        return subprocess.run(
            [harness.REPRISE, "record", "-o", str(self.archive), "--browser", harness.BROWSER,
             "--quiet", "500", *arguments, url],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=4 * harness.DEADLINE_SECONDS, env=harness.environment(self.folder))

    def test_a_page_that_fails_leaves_nothing_and_the_next_try_records_it(self):
        site = self.origin(lambda _: PAGE, tls=Certificate(self.folder, (HOST,)))
        connect = list(site.connect_to())
        url = f"https://{HOST}/"
        failed = self.record_page(url, *connect)
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("navigation-failed", failed.stderr)
        self.assertIn("--origin-ca", failed.stderr)
        self.assertIn("--insecure-origin", failed.stderr)
        self.assertFalse(self.archive.exists())
        done = self.record_page(url, *connect, "--insecure-origin")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_sound(self.archive)

    def test_a_name_that_is_unknown(self):
        failed = self.record_page("http://no.such.name.invalid/")
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("no.such.name.invalid", failed.stderr)
        self.assertFalse(self.archive.exists())

    def test_a_session_without_exchanges_is_not_the_one_that_is_replayed(self):
        site = self.origin(lambda _: PAGE)
        done = self.record_page(f"http://{HOST}/", *site.connect_arguments())
        self.assertEqual(done.returncode, 0, done.stderr)
        failed = self.record_page("http://no.such.name.invalid/", "--append")
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertTrue(self.archive.exists())
        replay = self.replay(self.archive)
        with replay.connect("http") as client:
            self.assertEqual(client.get("/").status, 200)
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_what_is_no_url_starts_no_browser(self):
        for text in ("example.org", "ftp://example.org/", "https://", "file:///etc/passwd"):
            failed = self.record_page(text)
            self.assertEqual(failed.returncode, 2, failed.stderr)
            self.assertIn(text, failed.stderr)
            self.assertFalse(self.archive.exists())

    def test_a_browser_that_cannot_record_is_refused_before_anything_is_written(self):
        urls = self.folder / "urls.txt"
        urls.write_text(f"http://{HOST}/\nhttp://{HOST}/2\n")
        for code, words, argument in (
                (1, "There is no browser at /nonexistent/b", "--browser=/nonexistent/b"),
                (2, "--host-resolver-rules cannot be used with record: ",
                 "--chromium-flag=--host-resolver-rules=MAP * 127.0.0.1"),
                (2, "--proxy-server cannot be used with record: ",
                 "--chromium-flag=--proxy-server=127.0.0.1:1")):
            for pages in ([f"http://{HOST}/"], ["--urls", str(urls)]):
                done = harness.run("record", "-o", str(self.archive), argument, *pages)
                self.assertEqual(done.returncode, code, done.stderr.decode())
                self.assertIn(words, done.stderr.decode())
                self.assertNotIn(b"page 1 of 2", done.stderr)
                self.assertFalse(self.archive.exists())

    def test_ctrl_c_of_a_load_that_records_first_closes_the_archive(self):
        held, go_on = threading.Event(), threading.Event()

        def answer(request):
            if request.target == "/held":
                held.set()
                go_on.wait(harness.DEADLINE_SECONDS)
            return response(b"<!doctype html><script src=/held></script>",
                            headers=b"Content-Type: text/html\r\n")
        site = self.origin(answer)
        self.addCleanup(go_on.set)
        flags = (f"--record-flag={flag}" for flag in
                 (*site.connect_arguments(), "--browser", harness.BROWSER))
        process = subprocess.Popen(
            [harness.REPRISE, "load", "--record-to", str(self.archive), *flags, "--browser",
             harness.BROWSER, f"http://{HOST}/"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=harness.environment(self.folder))
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertTrue(held.wait(harness.DEADLINE_SECONDS))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=harness.DEADLINE_SECONDS)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        state = self.archive_json("verify", str(self.archive))
        self.assertEqual((state["whole"], state["closed"]), (True, True), said)
        self.assertIn(f"http://{HOST}/", [each["url"] for each in
                                          self.archive_json("ls", str(self.archive))])

    def test_a_long_tmpdir(self):
        """A socket in Chromium's profile has a path of at most 107 bytes."""
        site = self.origin(lambda _: PAGE)
        long_folder = self.folder / ("t" * (200 - len(str(self.folder)) - 1))
        long_folder.mkdir()
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(long_folder)):
            done = self.record_page(f"http://{HOST}/", *site.connect_arguments())
            self.assertEqual(done.returncode, 0, done.stderr)
            loaded = harness.run("load", str(self.archive), "--browser", harness.BROWSER,
                                 folder=self.folder, timeout=4 * harness.DEADLINE_SECONDS)
            self.assertEqual(loaded.returncode, 0, loaded.stderr.decode())
        self.assertEqual(list(long_folder.iterdir()), [])


if __name__ == "__main__":
    harness.main()
