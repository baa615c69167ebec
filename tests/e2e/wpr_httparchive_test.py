#!/usr/bin/env python3
"""`httparchive`, which reads and writes archives of Web Page Replay."""

import gzip
import json
import os
import shutil
import subprocess
import unittest

import harness
import wpr_case
from wire import response
from wpr_case import entry, read_wprgo, write_wprgo

ONE, TWO, POST = "http://a.test/one?x=1", "https://b.test:8443/two", "http://a.test/post"


class HttpArchive(wpr_case.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = write_wprgo(self.folder / "a.wprgo", [
            (ONE, entry(ONE, b"first")), (TWO, entry(TWO, b"second", status="404 Not Found")),
            (POST, entry(POST, b"third", method="POST"))])
        self.output = self.folder / "out.wprgo"

    def run_tool(self, *words, status=0, **options):
        done = self.run_wpr(*words, name="httparchive", **options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout.decode(errors="replace")

    def urls(self):
        return sorted(read_wprgo(self.output))

    def test_ls_lists_what_the_flags_select(self):
        lines = {ONE: f"GET a.test {ONE}", TWO: f"GET b.test:8443 {TWO}",
                 POST: f"POST a.test {POST}"}
        for words, selected in (([], [ONE, TWO, POST]), (["--host=a.test"], [ONE, POST]),
                                (["--command", "post"], [POST]), (["-full_path=/one"], [ONE]),
                                (["--full-path=/two", "--status_code=404"], [TWO]),
                                (["--status-code=200", "--host=b.test:8443"], [])):
            listed = self.run_tool("ls", *words, self.archive).splitlines()
            self.assertEqual(sorted(listed), sorted(lines[each] for each in selected), words)

    def test_cat_prints_requests_and_responses(self):
        text = self.run_tool("cat", "--full_path=/one", self.archive)
        self.assertIn("-" * 40 + "\nGET /one?x=1 HTTP/1.1\r\n", text)
        self.assertTrue(text.endswith("\r\n\r\nfirst\n"), text)
        self.assertNotIn("second", text)

    def test_cat_decodes_bodies_if_told_to(self):
        coded = gzip.compress(b"plain text", mtime=0)
        archive = write_wprgo(self.folder / "coded.wprgo", [
            (ONE, entry(ONE, coded, type="text/html\r\nContent-Encoding: gzip")),
            (TWO, entry(TWO, coded[:-9], type="text/html\r\nContent-Encoding: gzip"))])
        text = self.run_tool("cat", "--decode_response_body", "--full-path=/one", archive)
        self.assertTrue(text.endswith("Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n"
                                      "plain text\n"), text)
        text = self.run_tool("cat", "-decode-response-body", archive, status=1)
        self.assertIn("\r\n\r\nplain text\n", text)
        self.assertIn(f"Content-Length: {len(coded) - 9}\r\n", text)

    def test_flags_that_change_nothing_are_taken(self):
        flags = ["--decode-response-body", "--log_level=WARN", "--relative-timestamps"]
        self.assertEqual(self.run_tool("ls", *flags, self.archive),
                         self.run_tool("ls", self.archive))
        self.run_tool("trim", *flags, "--host=a.test", self.archive, self.output)
        self.assertEqual(self.urls(), [TWO])

    def test_trim_drops_or_keeps_the_selected(self):
        self.run_tool("trim", "--host=a.test", self.archive, self.output)
        self.assertEqual(self.urls(), [TWO])
        self.run_tool("trim", "--host=a.test", "--invert-match", self.archive, self.output)
        self.assertEqual(self.urls(), sorted([ONE, POST]), "the output is overwritten")

    def test_an_output_that_is_a_symbolic_link_stays_one(self):
        self.output.symlink_to("target")
        for words in (["--host=a.test"], ["--host=b.test:8443"]):
            self.run_tool("trim", *words, self.archive, self.output)
            self.assertTrue(self.output.is_symlink())
            self.assertTrue((self.folder / "target").is_file())
        self.assertEqual(self.urls(), sorted([ONE, POST]))

    def test_inject_puts_a_script_into_the_selected_documents(self):
        page = b"<!doctype html><head></head><body>page</body>"
        urls = [f"http://a.test/{name}" for name in ("one", "two", "style")]
        archive = write_wprgo(self.folder / "pages.wprgo", [
            (url, entry(url, page, type="text/css" if url.endswith("style") else "text/html"))
            for url in urls])
        script = self.folder / "extra.js"
        script.write_text("var seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        self.run_tool("inject", "--host=a.test", "--full_path=/one", archive, self.output, script)
        bodies = {url: answers[0][1].split(b"\r\n\r\n")[1]
                  for url, answers in read_wprgo(self.output).items()}
        injected = page.replace(
            b"<head>", b"<head><script>var seed = 1523318400000;</script>")
        self.assertEqual([bodies[url] for url in urls], [injected, page, page])
        self.run_tool("inject", archive, self.output, script)
        both = [b"var seed" in answers[0][1] for answers in read_wprgo(self.output).values()]
        self.assertEqual(both.count(True), 2, "of two documents and a style sheet")

    def test_inject_leaves_documents_that_contain_the_script(self):
        page = "<!doctype html><head></head><body>page</body>"
        documents = {
            "plain": (page.encode(), "text/html"),
            "coded": (gzip.compress(page.encode(), mtime=0),
                      "text/html\r\nContent-Encoding: gzip"),
            "wide": (page.encode("utf-16-le"), "text/html; charset=utf-16le")}
        archive = write_wprgo(self.folder / "pages.wprgo", [
            (url, entry(url, body, type=type))
            for url, (body, type) in ((f"http://a.test/{name}", each)
                                      for name, each in documents.items())])
        script = self.folder / "extra.js"
        script.write_text("var seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        self.run_tool("inject", archive, self.output, script)
        once = read_wprgo(self.output)
        self.assertNotEqual(once, read_wprgo(archive))
        self.run_tool("inject", self.output, self.output, script)
        self.assertEqual(read_wprgo(self.output), once)

    def test_merge_keeps_the_first_or_both(self):
        other = write_wprgo(self.folder / "b.wprgo", [
            (ONE, entry(ONE, b"other")), (TWO + "/more", entry(TWO + "/more", b"more"))])
        self.run_tool("merge", self.archive, other, self.output)
        merged = read_wprgo(self.output)
        self.assertEqual(sorted(merged), sorted([ONE, TWO, POST, TWO + "/more"]))
        self.assertEqual([answer[-5:] for _, answer in merged[ONE]], [b"first"])
        self.run_tool("merge", "--keep-duplicates", self.archive, other, self.output)
        self.assertEqual([answer[-5:] for _, answer in read_wprgo(self.output)[ONE]],
                         [b"first", b"other"])

    def test_edit_opens_the_selected_bodies(self):
        editor = self.folder / "editor"
        editor.write_text("#!/bin/sh\nprintf edited > \"$1\"\n")
        editor.chmod(0o700)
        env = {**os.environ, "EDITOR": str(editor), "VISUAL": "false"}
        self.run_tool("edit", "--full_path=/one", self.archive, self.output, env=env)
        edited = read_wprgo(self.output)
        self.assertTrue(edited[ONE][0][1].endswith(b"\r\n\r\nedited"), edited[ONE])
        self.assertTrue(edited[POST][0][1].endswith(b"third"))

    def test_a_signal_leaves_no_copies(self):
        started, go = (self.folder / name for name in ("started", "go"))
        for each in (started, go):
            os.mkfifo(each)
        editor = self.folder / "editor"
        editor.write_text(f"#!/bin/sh\necho > {started}\ncat {go} > /dev/null\n")
        editor.chmod(0o700)
        copies = self.folder / "copies"
        copies.mkdir()
        env = {**os.environ, "EDITOR": str(editor), "TMPDIR": str(copies)}
        with subprocess.Popen([harness.REPRISE, "httparchive", "edit", self.archive, self.output],
                              env=env, stderr=subprocess.PIPE) as tool:
            started.read_bytes()
            tool.terminate()
            go.write_bytes(b"")
            tool.communicate(timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(tool.returncode, 1)
        self.assertEqual(list(copies.iterdir()), [])
        self.assertFalse(self.output.exists())

    def test_add_skips_what_is_there(self):
        urls = self.folder / "urls"
        urls.write_text(ONE + "\n")
        self.run_tool("addAll", "--skip-existing", self.archive, self.output, urls)
        self.assertEqual(self.urls(), sorted([ONE, TWO, POST]))
        self.run_tool("add", "--skip_existing", self.archive, self.output, ONE, ONE)
        self.assertEqual(self.urls(), sorted([ONE, TWO, POST]))

    def test_add_knows_what_is_there_in_another_spelling(self):
        site = "http://c.test/"
        archive = write_wprgo(self.folder / "c.wprgo", [
            (each, entry(each, b"c")) for each in (ONE, TWO, site)])
        urls = self.folder / "urls"
        urls.write_bytes(b"HTTP://A.Test:80/one?x=1#part\r\n\r\n  http://c.test\r\n")
        self.run_tool("addAll", "--skip-existing", archive, self.output, urls)
        self.assertEqual(self.urls(), sorted([ONE, TWO, site]))

    @unittest.skipUnless(shutil.which(harness.BROWSER), "no Chromium")
    def test_add_replaces_what_is_there_if_told_to(self):
        page = b"<!doctype html><link rel=icon href=data:,>new"
        origin = self.origin(lambda _: response(page, headers=b"Content-Type: text/html\r\n"))
        url = f"http://localhost:{origin.port}/page"
        archive = write_wprgo(self.folder / "old.wprgo", [
            (url, entry(url, b"old")), (ONE, entry(ONE, b"first"))])
        self.run_tool("add", "--overwrite_existing", archive, self.output,
                      url.replace("localhost", "LocalHost"))
        added = read_wprgo(self.output)
        self.assertEqual(sorted(added), sorted([url, ONE]))
        self.assertEqual([answer.split(b"\r\n\r\n")[1] for _, answer in added[url]], [page])

    def test_archives_of_reprise_are_read_and_written(self):
        ours = self.folder / "a.reprise"
        self.run_tool("trim", "--host=a.test", self.archive, ours)
        self.assert_sound(ours)
        self.assertEqual(self.run_tool("ls", ours), f"GET b.test:8443 {TWO}\n")

    def test_what_a_wprgo_cannot_hold_is_kept(self):
        opening = {"request": {"method": "GET", "url": "ws://a.test/chat",
                               "httpVersion": "HTTP/1.1",
                               "headers": [{"name": "Upgrade", "value": "websocket"}]},
                   "response": {"status": 101, "statusText": "", "httpVersion": "HTTP/1.1",
                                "headers": [{"name": "Upgrade", "value": "websocket"}],
                                "content": {"size": 0, "mimeType": ""}},
                   "startedDateTime": "2026-03-01T12:00:00Z", "time": 1, "timings": {},
                   "_resourceType": "websocket",
                   "_webSocketMessages": [{"type": "send", "time": 1772366400.5, "opcode": 1,
                                           "data": "said"}]}
        page = {"request": {"method": "GET", "url": "http://b.test/", "headers": []},
                "response": {"status": 200, "headers": [], "content": {"size": 1, "text": "p"}},
                "startedDateTime": "2026-03-01T12:00:00Z", "time": 1, "timings": {}}
        har = self.folder / "chat.har"
        har.write_text(json.dumps({"log": {"version": "1.2", "entries": [opening, page]}}))
        chat = self.folder / "chat.reprise"
        harness.run("archive", "import", str(har), "-o", str(chat))
        done = self.run_wpr("trim", "--host=b.test", chat, self.output, name="httparchive")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"1 WebSocket message is not written", done.stderr)
        kept = self.folder / "out.wprgo.kept.reprise"
        self.assertIn(str(kept).encode(), done.stderr)
        self.assertIn("/chat", self.run_tool("ls", kept))
        self.assertEqual(self.urls(), [])

    def write_marked(self):
        """As a .reprise; "findme" is in the record of the first exchange alone."""
        marked = write_wprgo(self.folder / "marked.wprgo", [
            (ONE, entry(ONE, b"first", fields="X-Marker: findme\r\n")),
            (TWO, entry(TWO, b"second"))])
        ours = self.folder / "marked.reprise"
        self.run_tool("trim", "--host=other.test", marked, ours)
        return ours

    def test_a_damaged_archive_is_not_changed(self):
        ours = self.write_marked()
        data = bytearray(ours.read_bytes())
        data[data.index(b"findme")] ^= 1
        edited, script = self.folder / "edited", self.folder / "extra.js"
        script.write_text("extra();")
        editor = self.folder / "editor"
        editor.write_text(f"#!/bin/sh\ntouch {edited}\n")
        editor.chmod(0o700)
        for archive in (data, data[:-1]):  # closed, and not, so that it is scanned
            ours.write_bytes(archive)
            for words in (["trim", "--host=b.test:8443", ours, self.output],
                          ["edit", "--full_path=/two", ours, self.output],
                          ["add", "--skip-existing", ours, self.output, TWO],
                          ["inject", ours, self.output, script],
                          ["merge", ours, self.archive, self.output],
                          ["merge", self.archive, ours, self.output]):
                done = self.run_wpr(*words, name="httparchive", env={"EDITOR": str(editor)})
                self.assertEqual(done.returncode, 1, words)
                self.assertIn(b"damaged: a checksum", done.stderr, words)
                self.assertFalse(self.output.exists(), words)
                self.assertFalse(edited.exists(), words)

    def test_an_archive_that_was_not_closed_is_read_with_a_notice(self):
        ours = self.write_marked()
        ours.write_bytes(ours.read_bytes()[:-1])
        done = self.run_wpr("trim", "--host=b.test:8443", ours, self.output, name="httparchive")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"not closed properly", done.stderr)
        self.assertEqual(self.urls(), [ONE])

    def test_only_a_file_is_replaced(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for output in (fifo, self.folder):
            done = self.run_wpr("trim", self.archive, output, name="httparchive")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b": not a regular file", done.stderr)
        self.assertTrue(fifo.is_fifo())

    def test_what_is_beside_the_output_stays(self):
        beside = self.folder / "out.wprgo.new"
        shutil.copy(self.archive, beside)
        self.run_tool("trim", "--host=a.test", beside, self.output)
        self.assertEqual(self.urls(), [TWO])
        self.assertEqual(beside.read_bytes(), self.archive.read_bytes())

    def test_a_replay_goes_on_with_what_it_opened(self):
        ours = self.folder / "a.reprise"
        self.run_tool("trim", "--host=b.test:8443", self.archive, ours)
        replay = self.wpr("replay", "--http_port=0", "--inject_scripts=", ours, servers=1)
        self.run_tool("trim", "--full_path=/one", ours, ours)
        self.assertEqual(self.run_tool("ls", ours), f"POST a.test {POST}\n")
        self.assertEqual(replay.get(ONE).body, b"first")

    def test_output_that_cannot_be_written_is_an_error(self):
        for verb in ("ls", "cat"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([harness.REPRISE, "httparchive", verb, self.archive],
                                      stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot write the output", done.stderr)

    def test_help_is_a_word_or_an_option(self):
        for word in ((), ("ls",)):
            self.assertEqual(self.run_tool("help", *word), self.run_tool(*word, "--help"))

    def test_errors_exit_with_1(self):
        for words in (["ls"], ["ls", self.folder / "missing"], ["serve"], ["ls", "--no", "A"],
                      ["trim", self.archive, self.folder / "no" / "out.wprgo"],
                      ["inject", self.archive, self.output, self.folder / "missing.js"]):
            self.run_tool(*words, status=1)


if __name__ == "__main__":
    harness.main()
