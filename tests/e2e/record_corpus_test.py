#!/usr/bin/env python3
"""`reprise record --urls`: an archive for each page of a list, what speaks against each, and going
on after an interruption."""

import json
import os
import shutil
import signal
import subprocess
import unittest

import harness
from wire import Certificate, response

BROWSER = shutil.which(harness.BROWSER)
HOST = "pages.test"
HTML = b"Content-Type: text/html\r\n"
PAGES = {
    "/good": b"<title>good</title><p>good",
    "/gone": b"<title>gone</title><p>gone",
    "/wall": b"<title>Just a moment...</title>",
    "/consent": b"<div id='onetrust-banner-sdk'>We value your privacy</div>",
    # Another address in each load, whatever is done about clocks and dice.
    "/moving": b"<script>fetch('/n/' + performance.timeOrigin + '/' + performance.now())</script>",
}
STATUS = {"/gone": b"404 Not Found", "/wall": b"403 Forbidden"}
WAIT_SECONDS = 300


def answer(request):
    if request.target in PAGES:
        return response(PAGES[request.target], STATUS.get(request.target, b"200 OK"), headers=HTML)
    return response(b"ok")


@unittest.skipUnless(BROWSER, "no Chromium")
class RecordCorpus(harness.TestCase):
    def setUp(self):
        super().setUp()
        tls = Certificate(self.folder / "tls", (HOST,))
        self.server = self.origin(answer, names=(HOST,), tls=tls)
        self.corpus = self.folder / "corpus"

    def list(self, *urls):
        path = self.folder / "urls.txt"
        path.write_text("# pages\n" + "".join(f"{url}\n" for url in urls))
        return path

    def command(self, *urls, retries=0):
        return ("record", "--urls", str(self.list(*urls)), "-o", str(self.corpus), "--browser",
                BROWSER, "--quiet", "100", "--settle", "50", "--retries", str(retries),
                *self.server.connect_arguments())

    def recorded(self, *urls, retries=0):
        """Runs it to its end: the exit code, the pages by their paths, the process."""
        done = harness.run(*self.command(*urls, retries=retries), folder=self.folder,
                           timeout=WAIT_SECONDS)
        return done.returncode, self.pages(), done

    def pages(self):
        pages = json.loads((self.corpus / "corpus.json").read_text())["pages"]
        return {"/" + page["url"].split("/", 3)[3]: page for page in pages}

    @staticmethod
    def url(path):
        return f"https://{HOST}{path}"

    def kinds(self, page):
        return [problem["kind"] for problem in page["problems"]]

    def test_each_page_has_an_archive_and_a_judgement(self):
        code, pages, done = self.recorded(*map(self.url, PAGES))
        self.assertEqual(code, 5, done.stderr.decode())
        self.assertEqual({path: self.kinds(page) for path, page in pages.items()}, {
            "/good": [], "/gone": ["error-page"], "/wall": ["error-page", "bot-wall"],
            "/consent": ["consent-wall"], "/moving": ["misses"]})
        self.assertEqual({path: page["status"] for path, page in pages.items()}, {
            "/good": 200, "/gone": 404, "/wall": 403, "/consent": 200, "/moving": 200})
        for path, page in pages.items():
            self.assert_sound(self.corpus / page["archive"])
            listed = self.archive_json("ls", str(self.corpus / page["archive"]))
            self.assertIn(self.url(path), json.dumps(listed))
        self.assertIn(self.url("/n/"), pages["/moving"]["problems"][0]["text"])
        table = done.stdout.decode()
        self.assertEqual(table.count("warnings "), 4, table)
        self.assertIn("5 of 5 pages recorded, 4 with warnings", table)

    def test_what_is_recorded_is_not_recorded_again(self):
        code, pages, done = self.recorded(self.url("/good"))
        self.assertEqual(code, 0, done.stderr.decode())
        archive = self.corpus / pages["/good"]["archive"]
        first = archive.stat()
        code, pages, done = self.recorded(self.url("/good"), self.url("/gone"))
        self.assertEqual((code, len(pages)), (5, 2), done.stderr.decode())
        self.assertEqual(archive.stat().st_ino, first.st_ino)
        self.assertEqual(self.asked("/good"), 1)
        # An archive that is gone is made again.
        archive.unlink()
        self.recorded(self.url("/good"))
        self.assertEqual(self.asked("/good"), 2)
        self.assert_sound(archive)

    def test_it_goes_on_where_it_was_interrupted(self):
        process = subprocess.Popen(
            [harness.REPRISE, *self.command(*map(self.url, PAGES))], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.environment(self.folder))
        self.addCleanup(process.kill)
        for line in process.stderr:
            if line.startswith(b"page 2 of 5"):
                break
        os.kill(process.pid, signal.SIGTERM)
        table, _ = process.communicate(timeout=WAIT_SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, table.decode())
        self.assertEqual(list(self.pages()), ["/good"])
        self.assertEqual(table.decode().count("open "), 4)
        # As after kill -9.
        second = {page["url"]: page for page in self.pages().values()}
        half = next(iter(second.values()))["archive"] + ".part"
        (self.corpus / half).write_bytes(b"half")
        code, pages, done = self.recorded(*map(self.url, PAGES))
        self.assertEqual((code, len(pages)), (5, 5), done.stderr.decode())
        self.assertEqual(self.asked("/good"), 1)
        for page in pages.values():
            self.assert_sound(self.corpus / page["archive"])

    def test_a_page_that_is_not_there_is_tried_again_and_said(self):
        code, pages, done = self.recorded("https://nowhere.invalid/x", self.url("/good"), retries=1)
        self.assertEqual(code, 1, done.stderr.decode())
        self.assertIsNone(pages["/x"]["archive"])
        self.assertEqual(pages["/x"]["attempts"], 2)
        self.assertNotEqual(pages["/x"]["failure"], "")
        self.assertIn(pages["/x"]["failure"], done.stdout.decode())
        self.assertEqual(self.kinds(pages["/good"]), [])
        self.assertEqual(sorted(path.name for path in self.corpus.iterdir()),
                         sorted(["corpus.json", pages["/good"]["archive"]]))

    def test_what_cannot_be_is_said(self):
        wrong = harness.run("record", "--urls", str(self.list("ftp://x/")), "-o", str(self.corpus))
        self.assertEqual(wrong.returncode, 2)
        self.assertIn(b"line 2 is not an http or https URL", wrong.stderr)
        both = harness.run(*self.command(self.url("/good")), "https://x.test/")
        self.assertEqual(both.returncode, 2)
        self.corpus.mkdir()
        (self.corpus / "corpus.json").write_text("[]")
        foreign = harness.run(*self.command(self.url("/good")))
        self.assertEqual(foreign.returncode, 1)
        self.assertIn(b"is not a corpus summary", foreign.stderr)

    def asked(self, path):
        return sum(request.target == path for request in self.server.requests)


if __name__ == "__main__":
    harness.main()
