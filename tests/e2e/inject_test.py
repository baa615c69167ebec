#!/usr/bin/env python3
"""The script on its way through the program: in what a recorder passes on, not in what it archives;
in what a replay serves, with true lengths and a report; nowhere with --inject none."""

import gzip
import json
import threading

import harness
from wire import response

PAGE = b"<!doctype html><html><head><title>A page</title></head><body>text</body></html>"
WORKER = b"'use strict'; postMessage(Math.random());"
HTML = b"Content-Type: text/html; charset=utf-8\r\n"
NAVIGATION = b"Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
WORKER_LOAD = b"Sec-Fetch-Dest: worker\r\nSec-Fetch-Mode: same-origin\r\n"
FETCH = b"Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\n"
# How the embedded script begins.
MARK = b"(function"


def answer(request):
    if request.target == "/page":
        return response(PAGE, headers=HTML)
    if request.target == "/gzip":
        return response(gzip.compress(PAGE, mtime=0), headers=HTML + b"Content-Encoding: gzip\r\n")
    if request.target == "/lie":
        return response(PAGE, headers=HTML + b"Content-Encoding: gzip\r\n")
    if request.target == "/policy":
        return response(PAGE, headers=HTML + b"Content-Security-Policy: script-src 'self'\r\n")
    return response(WORKER, headers=b"Content-Type: text/javascript\r\n")


def get(server, path, headers=NAVIGATION):
    with server.connect("http") as client:
        return client.get(path, headers=headers)


def plain(got):
    return gzip.decompress(got.body) if got.body.startswith(b"\x1f\x8b") else got.body


class Inject(harness.TestCase):
    def recorded(self, *arguments):
        """An archive of all pages, and what the recorder passed on of them."""
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, *arguments, origins=(self.origin(answer),))
        passed = {path: get(recorder, path) for path in ("/page", "/gzip", "/lie", "/policy")}
        passed["/worker"] = get(recorder, "/worker", WORKER_LOAD)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return archive, passed

    def replayed(self, archive, *arguments):
        return self.start("replay", *arguments, str(archive))

    def test_the_client_has_the_script_and_the_archive_the_original(self):
        archive, passed = self.recorded()
        for path in ("/page", "/gzip", "/policy"):
            body = plain(passed[path])
            before, script = body.split(b"<script>")
            script, after = script.split(b"</script>")
            self.assertEqual(before + after, PAGE, path)
            self.assertTrue(script.startswith(MARK), path)
        self.assertTrue(passed["/worker"].body.startswith(b"'use strict';" + MARK))
        self.assertTrue(passed["/worker"].body.endswith(WORKER))
        self.assertEqual(passed["/lie"].body, PAGE)
        self.assertIn(b"'sha256-", passed["/policy"].all(b"content-security-policy")[0])
        originals = (PAGE, gzip.compress(PAGE, mtime=0), PAGE, PAGE, WORKER)
        for number, original in enumerate(originals, 1):
            self.assertEqual(harness.run("archive", "cat", str(archive), str(number)).stdout,
                             original)

    def test_the_replay_serves_what_the_recorder_passed_on(self):
        archive, passed = self.recorded()
        report = self.folder / "report.json"
        replay = self.replayed(archive, "--report", str(report))
        for path, before in passed.items():
            got = get(replay, path, WORKER_LOAD if path == "/worker" else NAVIGATION)
            self.assertEqual(plain(got), plain(before), path)
            self.assertEqual(got.all(b"content-length"), [str(len(got.body)).encode()], path)
            self.assertEqual(got.all(b"content-encoding"), before.all(b"content-encoding"))
            self.assertEqual(got.all(b"content-security-policy"),
                             before.all(b"content-security-policy"))
        self.assertEqual(get(replay, "/page", FETCH).body, PAGE)
        self.assertEqual(get(replay, "/worker", FETCH).body, WORKER)
        self.assertEqual(replay.stop(), 0, replay.log())
        told = json.loads(report.read_text())["injection"]
        self.assertEqual(told["responses"], 4)
        documents = {each["url"].rsplit("/", 1)[1]: each for each in told["documents"]}
        self.assertEqual(documents["lie"]["verdict"], "does not match its Content-Encoding")
        self.assertEqual(documents["worker"]["as"], "worker")
        self.assertEqual(documents["page"]["added_bytes"], len(passed["/page"].body) - len(PAGE))
        self.assertEqual(documents["policy"]["policy_changes"][0]["directive"], "script-src")
        self.assertIn("the script was added to 4 responses", replay.log())

    def test_pages_are_told_in_the_replay_what_they_were_told_in_the_recording(self):
        archive, passed = self.recorded("--time-seed", "2019-03-01T12:00:00Z", "--random-seed",
                                        "7", "--clock", "steady", "--timezone", "Asia/Tokyo")
        script = passed["/page"].body
        for setting in (b"time:1551441600000,", b"seeds:[7,0,", b'clock:"steady"',
                        b'zone:"Asia/Tokyo"'):
            self.assertIn(setting, script)
        replay = self.replayed(archive)
        self.assertEqual(get(replay, "/page").body, script)
        other = self.replayed(archive, "--time-seed", "1000", "--random-seed", "8", "--clock",
                              "step", "--timezone", "browser")
        changed = get(other, "/page").body
        for setting in (b"time:1000,", b"seeds:[8,0,", b'clock:"step"'):
            self.assertIn(setting, changed)
        self.assertNotIn(b"Asia/Tokyo", changed)

    def test_none_is_byte_for_byte(self):
        archive, passed = self.recorded("--inject", "none")
        self.assertEqual(passed["/page"].body, PAGE)
        self.assertEqual(passed["/worker"].body, WORKER)
        replay = self.replayed(archive, "--inject", "none")
        for path, before in passed.items():
            got = get(replay, path)
            self.assertEqual((got.status_line, got.headers, got.body),
                             (before.status_line, before.headers, before.body))
        # A replay injects all the same when it is not told otherwise.
        self.assertIn(MARK, get(self.replayed(archive), "/page").body)

    def test_files_follow_the_script_or_stand_alone(self):
        archive, _ = self.recorded()
        file = self.folder / "mine.js"
        file.write_text("mine(1);\n")
        both = get(self.replayed(archive, "--inject", str(file)), "/page").body
        self.assertEqual(both.count(b"<script>"), 2)
        self.assertLess(both.index(MARK), both.index(b"<script>mine(1);\n</script>"))
        alone = self.replayed(archive, "--inject", "none", "--inject", str(file))
        self.assertEqual(get(alone, "/page").body.count(b"<script>"), 1)
        self.assertEqual(get(alone, "/worker", WORKER_LOAD).body, WORKER)

    def test_a_script_for_the_browser_leaves_documents_as_recorded(self):
        archive, passed = self.recorded()
        replay = self.replayed(archive, "--script-in", "browser")
        for path in ("/page", "/policy"):
            got = get(replay, path)
            self.assertEqual(got.body, PAGE, path)
        self.assertNotIn(b"sha256-", get(replay, "/policy").all(b"content-security-policy")[0])
        self.assertEqual(get(replay, "/worker", WORKER_LOAD).body, passed["/worker"].body)
        scripts = [harness.run("replay", str(archive), "--script-in", place, "--", "sh", "-c",
                               'printf %s "$REPRISE_SCRIPT"', folder=self.folder).stdout
                   for place in ("browser", "documents")]
        text = passed["/page"].body.split(b"<script>")[1].split(b"</script>")[0]
        # But for the shift of dates, which is that of its replay.
        self.assertEqual(len(scripts[0]), len(b"/^https?:/.test(location.href)&&" + text))
        self.assertIn(MARK, scripts[0])
        self.assertEqual(scripts[1], b"")

    def test_what_cannot_be_injected_is_refused(self):
        archive, _ = self.recorded()
        file = self.folder / "unfit.js"
        file.write_text("'</script>'")
        for arguments, said in ((("--inject", str(file)), "cannot be embedded in every document"),
                                (("--inject", str(self.folder / "none.js")), "No such file"),
                                (("--time-seed", "yesterday"), "--time-seed must be"),
                                (("--random-seed", "-1"), "is not a whole number"),
                                (("--inject", "none", "--inject", "default"), "exclude each")):
            done = harness.run("replay", *arguments, str(archive), folder=self.folder)
            self.assertEqual(done.returncode, 2, said)
            self.assertIn(said, done.stderr.decode())

    def test_a_document_that_comes_slowly_keeps_coming(self):
        has_first, parts = threading.Event(), (PAGE[:60], PAGE[60:])

        def slowly(_):
            yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + HTML + b"\r\n"
            yield b"%x\r\n%s\r\n" % (len(parts[0]), parts[0])
            if not has_first.wait(harness.DEADLINE_SECONDS):
                raise AssertionError("the first part never came through")
            yield b"%x\r\n%s\r\n0\r\n\r\n" % (len(parts[1]), parts[1])

        origin = self.origin(slowly)
        recorder = self.record(self.folder / "slow.reprise", origins=(origin,))
        body = b""

        def take(piece):
            nonlocal body
            body += piece
            if parts[0][-10:] in body:
                has_first.set()

        with recorder.connect("http") as client:
            client.send(b"GET / HTTP/1.1\r\nHost: origin.test\r\n" + NAVIGATION + b"\r\n")
            self.assertFalse(client.read_response(sink=take).cut)
        self.assertEqual(origin.failures, [])
        self.assertIn(b"</script>", body)


if __name__ == "__main__":
    harness.main()
