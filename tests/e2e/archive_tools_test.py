#!/usr/bin/env python3
"""reprise archive ls FILTER, trim, merge, edit, diff, redact, add: what was recorded from origins
here is changed by each as its users do it, and replayed."""

import fcntl
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import unittest

import harness
from wire import DEADLINE_SECONDS, Certificate, response

BROWSER = shutil.which(harness.BROWSER)
NAMES = ("origin.test", "other.test")
SECRET = "s3cret-0123456789"
PAGE = b"<!doctype html><link rel=icon href='data:,'><title>old</title>"


def answer(request):
    path = request.target.split("?")[0]
    if path == "/page":
        return response(gzip.compress(PAGE, mtime=0), headers=b"Content-Type: text/html\r\n"
                        b"Content-Encoding: gzip\r\nETag: \"tag\"\r\n"
                        b"Set-Cookie: sid=" + SECRET.encode() + b"; Path=/\r\n")
    if path == "/missing":
        return response(b"gone", b"404 Not Found")
    if path == "/nothing":
        return response()
    if path == "/same":
        return b"HTTP/1.1 304 Not Modified\r\n\r\n"
    if path == "/chunks":
        return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n"
                b"3\r\none\r\n3\r\ntwo\r\n0\r\nx-sum: 6\r\n\r\n")
    return response(path.encode(), headers=b"Content-Type: text/plain\r\n")


class Tools(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        self.out = self.folder / "out.reprise"

    def archive_of(self, path, *requests, options=()):
        """Records GETs of (host, target) pairs."""
        origin = self.origin(answer, names=NAMES)
        recorder = self.record(path, *options, origins=(origin,))
        for host, target in requests:
            with recorder.connect("http") as client:
                client.get(target, host=host, headers=f"Cookie: sid={SECRET}\r\n".encode())
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return path

    def site(self):
        return self.archive_of(self.archive, ("origin.test", "/page"), ("origin.test", "/missing"),
                               ("origin.test", f"/a?token={SECRET}"), ("other.test", "/chunks"))

    def run_archive(self, *arguments, expect=0, **options):
        done = harness.run("archive", *map(str, arguments), folder=self.folder, **options)
        self.assertEqual(done.returncode, expect, done.stderr.decode())
        return done

    def urls(self, archive, *arguments):
        return [each["url"] for each in self.archive_json("ls", str(archive), *arguments)]

    def replayed(self, archive, *requests):
        """The responses of a replay, in which nothing may be missed."""
        report = self.folder / "report.json"
        replay = self.replay(archive, "--report", str(report))
        responses = []
        for host, target in requests:
            with replay.connect("http") as client:
                responses.append(client.get(target, host=host))
        self.assertEqual(replay.stop(), 0, replay.log())
        self.assertEqual(json.loads(report.read_text())["misses"], 0)
        return responses

    def test_ls_takes_a_filter(self):
        self.site()
        self.assertEqual(self.urls(self.archive, "status=404"), ["http://origin.test/missing"])
        self.assertEqual(self.urls(self.archive, "host=.other.test", "or", "type=html"),
                         ["http://origin.test/page", "http://other.test/chunks"])
        done = self.run_archive("ls", self.archive, "host=a or hots=b", expect=2)
        self.assertEqual(done.stderr.decode().splitlines()[1:],
                         ["  host=a or hots=b", "            ^"])

    def test_trim_keeps_all_of_what_it_keeps(self):
        self.site()
        done = self.run_archive("trim", self.archive, "--drop", "status=404 or type=html",
                                "-o", self.out)
        self.assertIn(b"2 exchanges kept, 2 dropped", done.stderr)
        self.assert_sound(self.out)
        for before, after in ((3, 1), (4, 2)):
            shown = [self.archive_json("show", str(path), str(number))
                     for path, number in ((self.archive, before), (self.out, after))]
            for each in shown:
                del each["number"]
            self.assertEqual(*shown)
        self.run_archive("diff", self.archive, self.out, "--times", "--requests",
                         "--all-headers", "--filter", "!status=404 !type=html")
        self.assertEqual(self.replayed(self.out, ("other.test", "/chunks"))[0].trailers,
                         [(b"x-sum", b"6")])

    def test_merged_archives_replay_as_one(self):
        self.site()
        other = self.archive_of(self.folder / "b.reprise", ("origin.test", "/page"),
                                ("other.test", "/more"))
        self.run_archive("merge", self.archive, other, "-o", self.out, "--duplicates", "first")
        self.assert_sound(self.out)
        responses = self.replayed(self.out, ("origin.test", "/page"), ("other.test", "/more"),
                                  ("other.test", "/chunks"))
        self.assertEqual([each.body for each in responses[1:]], [b"/more", b"onetwo"])
        self.assertEqual(len(self.urls(self.out)), 5)
        both = self.folder / "both.reprise"
        self.run_archive("merge", self.archive, other, "-o", both, "--sessions", "separate",
                         "--only", "host=other.test")
        self.assertEqual([each["session"] for each in self.archive_json("ls", str(both))], [1, 2])

    def test_diff_pairs_urls_that_differ_in_a_time(self):
        self.archive_of(self.archive, ("origin.test", "/page?t=1732845600123"))
        self.archive_of(self.out, ("origin.test", "/page?t=1732849999999"))
        note = "only values that look random or like a time differ: t"
        done = self.run_archive("diff", self.archive, self.out)
        self.assertIn(note, done.stderr.decode())
        found = json.loads(self.run_archive("diff", self.archive, self.out, "--json").stdout)
        self.assertEqual((found["same"], found["only_in_a"], found["only_in_b"]), (1, 0, 0))
        self.assertEqual(len(found["remarks"]), 1)
        self.assertIn(note, found["remarks"][0])
        new = self.folder / "new.html"
        new.write_bytes(b"another body")
        self.run_archive("edit", self.out, 1, "--body", new)
        done = self.run_archive("diff", self.archive, self.out, expect=5)
        self.assertIn("url: http://origin.test/page?t=1732845600123 -> "
                      "http://origin.test/page?t=1732849999999", done.stdout.decode())
        found = json.loads(self.run_archive("diff", self.archive, self.out, "--json",
                                            expect=5).stdout)
        self.assertEqual(found["differences"][0]["url_b"],
                         "http://origin.test/page?t=1732849999999")

    def test_an_edited_body_is_coded_as_it_was(self):
        self.site()
        page = self.run_archive("cat", self.archive, 1, "--decoded").stdout
        self.assertEqual(page, PAGE)
        new = self.folder / "new.html"
        new.write_bytes(page.replace(b"old", b"new and longer") * 3)
        self.run_archive("edit", self.archive, 1, "--body", new, "-o", self.out)
        self.assert_sound(self.out)
        (got,) = self.replayed(self.out, ("origin.test", "/page"))
        self.assertEqual(gzip.decompress(got.body), new.read_bytes())
        self.assertEqual(got.all(b"content-length"), [str(len(got.body)).encode()])
        self.assertEqual((got.all(b"etag"), got.all(b"content-encoding")), ([b'"tag"'], [b"gzip"]))
        done = self.run_archive("diff", self.archive, self.out, "--json", "--times", expect=5)
        found = json.loads(done.stdout)
        self.assertEqual((found["same"], found["changed"]), (3, 1))
        edits = found["differences"][0]["header_edits"]
        self.assertEqual([each[:2] for each in edits],
                         [["-", "Content-Length"], ["+", "Content-Length"]])

    def test_an_editor_edits_in_place(self):
        self.site()
        before = self.archive.read_bytes()
        self.edit_by("sed -i s/old/new/", 1)
        (got,) = self.replayed(self.archive, ("origin.test", "/page"))
        self.assertIn(b"<title>new<", gzip.decompress(got.body))
        self.edit_by("sed -i -e s/200/503/ -e /Content-Encoding/d", 1, "--head")
        (got,) = self.replayed(self.archive, ("origin.test", "/page"))
        self.assertEqual(got.status, 503)
        self.assertEqual(got.body, PAGE.replace(b"old", b"new"), "no longer coded")
        self.assertEqual(got.all(b"content-length"), [str(len(PAGE)).encode()])
        self.assertNotEqual(self.archive.read_bytes(), before)
        # What fails, or changes nothing, leaves the file as it is.
        before = self.archive.read_bytes()
        self.edit_by("false", 1, expect=1)
        self.edit_by("true", 1)
        self.edit_by("sed -i s/503/999999/", 1, "--head", expect=1)
        self.assertEqual(self.archive.read_bytes(), before)
        self.assertEqual([each.name for each in self.folder.glob("a.reprise*")], ["a.reprise"])

    def test_a_head_and_a_coded_body_come_from_files(self):
        self.site()
        head = self.folder / "head.txt"
        head.write_bytes(self.run_archive("cat", self.archive, 1, "--head").stdout)
        self.assertTrue(head.read_bytes().startswith(b"200 OK\nContent-Type: text/html\n"))
        self.run_archive("edit", self.archive, 1, "--headers", head)  # changes nothing
        head.write_bytes(head.read_bytes().replace(b"gzip", b"br") + b"X-More: yes\n")
        self.run_archive("edit", self.archive, 1, "--headers", head, "-o", self.out)
        self.assertEqual(self.run_archive("cat", self.out, 1, "--decoded").stdout, PAGE)
        self.assertNotEqual(self.run_archive("cat", self.out, 1).stdout,
                            self.run_archive("cat", self.archive, 1).stdout)
        coded = self.folder / "coded"
        coded.write_bytes(gzip.compress(b"coded elsewhere"))
        self.run_archive("edit", self.archive, 1, "--body", coded, "--raw")
        (got,) = self.replayed(self.archive, ("origin.test", "/page"))
        self.assertEqual(got.body, coded.read_bytes())
        head.write_bytes(b"204\n")
        done = self.run_archive("edit", self.archive, 1, "--headers", head, expect=1)
        self.assertIn(b"cannot have a body", done.stderr)

    def test_a_new_coding_codes_no_empty_body(self):
        self.archive_of(self.archive, ("origin.test", "/nothing"), ("origin.test", "/same"))
        head = self.folder / "head.txt"
        for number in (1, 2):
            head.write_bytes(self.run_archive("cat", self.archive, number, "--head").stdout +
                             b"Content-Encoding: gzip\n")
            self.run_archive("edit", self.archive, number, "--headers", head)
            self.assertIn(b"Content-Encoding: gzip",
                          self.run_archive("cat", self.archive, number, "--head").stdout)
            self.assertEqual(self.run_archive("cat", self.archive, number).stdout, b"")

    def edit_by(self, editor, number, *arguments, expect=0):
        env = {**harness.environment(self.folder), "EDITOR": editor}
        env.pop("VISUAL", None)
        done = subprocess.run([harness.REPRISE, "archive", "edit", str(self.archive), str(number),
                               *arguments], capture_output=True, env=env, check=False,
                              stdin=subprocess.DEVNULL, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, expect, done.stderr.decode())

    def test_redacted_archives_hold_no_secret_and_still_fit_together(self):
        self.site()
        done = self.run_archive("redact", self.archive, "-o", self.out, "--param", "token",
                                "--bodies", "--json")
        report = json.loads(done.stdout)["redacted"]
        self.assertEqual(report["cookie sid"]["places"], 5, "four sent, one set")
        self.assertEqual(report["parameter token"]["places"], 1)
        self.assertNotIn(SECRET.encode(), done.stdout + done.stderr)
        self.assertIn(SECRET.encode(), self.archive.read_bytes())
        self.assertNotIn(SECRET.encode(), self.out.read_bytes())
        self.assert_sound(self.out)
        shown = self.archive_json("show", str(self.out), "3")["request"]
        token = shown["url"].split("token=")[1]
        self.assertEqual(len(token), len(SECRET))
        self.assertIn(["Cookie", f"sid={token}"], shown["headers"])
        self.replayed(self.out, ("origin.test", f"/a?token={token}"))

    @unittest.skipIf(BROWSER is None, "there is no Chromium here")
    def test_added_urls_join_the_session(self):
        tls = Certificate(self.folder / "tls", NAMES)
        origin = self.origin(answer, names=NAMES, tls=tls)
        self.site()
        before = self.archive_json("show", str(self.archive), "1")
        done = self.run_archive("add", self.archive, "https://other.test/page",
                                *origin.connect_arguments(), timeout=120)
        self.assertIn(b"now 5", done.stderr)
        self.assertIn(b"recorded " + bytes(self.archive) + b": ", done.stderr)
        self.assertNotIn(b".adding", done.stderr)
        self.assertEqual(self.pages(), ["https://other.test/page"], "it had no start URLs")
        self.assert_sound(self.archive)
        self.assertEqual(self.archive_json("show", str(self.archive), "1"), before)
        added = self.archive_json("show", str(self.archive), "5")
        self.assertEqual(added["request"]["url"], "https://other.test/page")
        self.assertEqual(added["session"], before["session"])
        self.assertEqual([each.name for each in self.folder.glob("a.reprise*")], ["a.reprise"])
        more = ("https://other.test/more", *origin.connect_arguments())
        self.run_archive("add", self.archive, *more, timeout=120)
        self.assertEqual(self.pages(), ["https://other.test/page"])
        self.run_archive("add", self.archive, "--page", *more, timeout=120)
        self.assertEqual(self.pages(), ["https://other.test/page", "https://other.test/more"])

    def pages(self):
        """The start URLs of the only session."""
        (session,) = self.archive_json("stats", str(self.archive))["session_list"]
        return session["pages"]

    def test_what_cannot_be_recorded_is_not_added(self):
        self.site()
        before = self.archive.read_bytes()
        self.run_archive("add", self.archive, expect=2)
        self.run_archive("add", self.archive, "https://a.test/", "--connect-to", "nonsense",
                         expect=2)
        self.run_archive("add", self.folder / "none.reprise", "https://a.test/", expect=3)
        self.assertEqual(self.archive.read_bytes(), before)
        self.assertEqual([each.name for each in self.folder.glob("a.reprise*")], ["a.reprise"])

    def test_a_recording_that_cannot_be_made_names_the_archive(self):
        self.site()
        left = self.folder / "a.reprise.adding"
        left.mkdir()
        # A browser that is never started.
        page = ("https://a.test/", "--browser", "/bin/sh")
        done = self.run_archive("add", self.archive, *page, expect=3)
        self.assertIn(bytes(left) + b" is in the way of a recording for " + bytes(self.archive),
                      done.stderr)
        left.rmdir()
        # As `add` calls it, where no file can be created.
        missing = self.folder / "none" / "a.reprise.adding"
        done = harness.run("record", "-o", str(missing), "--joins", str(self.archive), *page,
                           folder=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertIn(bytes(self.archive) + b": No such file or directory", done.stderr)
        self.assertNotIn(b".adding", done.stderr)

    def test_a_report_does_not_replace_the_archive(self):
        self.site()
        before = self.archive.read_bytes()
        done = self.run_archive("add", self.archive, "https://a.test/", "--browser", "/bin/sh",
                                "--load-report", self.archive, expect=2)
        self.assertIn(b"--load-report", done.stderr)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_an_archive_in_use_is_named_before_anything_is_recorded(self):
        origin = self.origin(answer, names=NAMES)
        self.site()
        with open(self.archive, "rb") as used:
            fcntl.flock(used, fcntl.LOCK_SH)
            done = self.run_archive("add", self.archive, "http://other.test/page",
                                    *origin.connect_arguments(), expect=3, timeout=120)
        self.assertIn(b"stop the other reprise first", done.stderr)
        self.assertNotIn(b"record", done.stderr)
        self.assertEqual(origin.requests, [])
        self.assertEqual([each.name for each in self.folder.glob("a.reprise*")], ["a.reprise"])

    @unittest.skipIf(BROWSER is None, "there is no Chromium here")
    def test_a_recording_that_cannot_be_joined_is_kept(self):
        used = []

        def answer_in_use(request):  # as if a replay began meanwhile
            if not used:
                used.append(os.open(self.archive, os.O_RDONLY))
                self.addCleanup(os.close, used[0])
                fcntl.flock(used[0], fcntl.LOCK_SH)
            return answer(request)

        tls = Certificate(self.folder / "tls", NAMES)
        origin = self.origin(answer_in_use, names=NAMES, tls=tls)
        self.site()
        before = self.archive.read_bytes()
        done = self.run_archive("add", self.archive, "https://other.test/page",
                                *origin.connect_arguments(), expect=3, timeout=120)
        kept = self.folder / "a.reprise.added"
        self.assertIn(b"recorded into " + bytes(kept) + b"; join it with", done.stderr)
        self.assertEqual(self.archive.read_bytes(), before)
        fcntl.flock(used[0], fcntl.LOCK_UN)
        self.run_archive("add", self.archive, "https://a.test/", "--connect-to", "nonsense",
                         expect=2)
        self.run_archive("merge", self.archive, kept, "-o", self.out)
        self.assertEqual(len(self.urls(self.out)), 5)

    def test_nothing_is_overwritten_and_what_is_no_archive_is_named(self):
        self.site()
        bad = self.folder / "bad.reprise"
        bad.write_bytes(b"no archive")
        self.out.write_bytes(b"precious")
        commands = {
            "trim": ("--keep", "", "-o", self.out),
            "merge": (self.archive, "-o", self.out),
            "redact": ("-o", self.out),
            "edit": (1, "--body", bad, "-o", self.out),
        }
        for name, arguments in commands.items():
            with self.subTest(name):
                done = self.run_archive(name, self.archive, *arguments, expect=3)
                self.assertIn(b"out.reprise: already exists", done.stderr)
                done = self.run_archive(name, bad, *arguments, expect=3)
                self.assertIn(b"bad.reprise: not a reprise archive", done.stderr)
                self.assertIn(b"`reprise archive import F", done.stderr)
                self.run_archive(name, self.archive, "--nonsense", expect=2)
        self.run_archive("diff", self.archive, bad, expect=3)
        self.run_archive("edit", self.archive, 5, "--body", bad, expect=2)
        self.run_archive("trim", self.archive, "-o", self.folder / "x", expect=2)
        for number in ("x", "0", "1.5", "99999999999999999999"):
            done = self.run_archive("show", self.archive, number, expect=2)
            self.assertIn(b"is not a whole number of at least 1", done.stderr)
        done = self.run_archive("edit", self.archive, "/nothing", "--think-time", "1ms", expect=1)
        self.assertIn(b"no exchange of ", done.stderr)
        self.assertEqual(self.out.read_bytes(), b"precious")

    def test_an_interrupted_copy_leaves_nothing(self):
        def run_when_idle():  # or it is done before this script has a turn on a busy machine
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

        dice = random.Random(1)
        origin = self.origin(lambda request: response(dice.randbytes(4 << 20)), names=NAMES)
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("http") as client:
            for number in range(12):
                client.get(f"/{number}")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        for _ in range(20):  # until one is caught at work
            command = [harness.REPRISE, "archive", "trim", str(self.archive), "--keep", "", "-o",
                       str(self.out)]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL,
                                  preexec_fn=run_when_idle) as process:
                for _ in harness.watch_folder(self.folder, process.pid):
                    if self.out.exists() or process.poll() is not None:
                        break
                process.send_signal(signal.SIGINT)
                code = process.wait(DEADLINE_SECONDS)
            if not self.out.exists():
                self.assertEqual(code, -signal.SIGINT)
                return
            self.assertIn(code, (0, -signal.SIGINT))  # between the last step and the end
            self.run_archive("verify", self.out)
            self.out.unlink()
        self.fail("never caught at work")

    def test_damage_is_named_and_leaves_nothing(self):
        self.site()
        content = bytearray(self.archive.read_bytes())
        content[content.index(b"/missing") + 2] ^= 1
        self.archive.write_bytes(content)
        for command in (("trim", self.archive, "--keep", "", "-o", self.out),
                        ("redact", self.archive, "-o", self.out),
                        ("merge", self.archive, self.archive, "-o", self.out),
                        ("diff", self.archive, self.archive)):
            with self.subTest(command[0]):
                done = self.run_archive(*command, expect=3)
                self.assertIn(b"damaged", done.stderr)
                if command[0] == "diff":
                    self.assertIn(b": exchange 2 is damaged", done.stderr)
                self.assertFalse(self.out.exists())

    def test_merge_names_the_damaged_archive(self):
        self.site()
        good = self.folder / "good.reprise"
        content = bytearray(self.archive.read_bytes())
        good.write_bytes(content)
        content[content.index(b"/missing") + 2] ^= 1
        self.archive.write_bytes(content)
        for archives in ((good, self.archive), (self.archive, good), (good, self.archive, good)):
            for options in ((), ("--sessions", "separate"), ("--duplicates", "last")):
                with self.subTest(archives=archives, options=options):
                    done = self.run_archive("merge", *archives, "-o", self.out, *options, expect=3)
                    self.assertIn(f"reprise: {self.archive}: damaged".encode(), done.stderr)
                    self.assertNotIn(bytes(good), done.stderr)
                    self.assertFalse(self.out.exists())

    def test_damage_of_an_unclosed_archive_is_left_to_repair(self):
        self.site()
        head = self.folder / "head.txt"
        head.write_bytes(self.run_archive("cat", self.archive, 1, "--head").stdout)
        content = bytearray(self.archive.read_bytes()[:-1])  # no trailer: it is scanned
        content[content.index(b"/missing") + 2] ^= 1
        self.archive.write_bytes(content)
        page = ("https://a.test/", "--browser", "/bin/sh")  # it is never started
        for command in (("edit", self.archive, 1, "--body", head),
                        ("edit", self.archive, 1, "--headers", head),
                        ("edit", self.archive, 1, "--think-time", "+30ms"),
                        ("add", self.archive, *page),
                        ("add", self.archive, "--new-session", *page)):
            with self.subTest(command=command):
                done = self.run_archive(*command, expect=3)
                self.assertIn(b"`reprise archive repair` to keep", done.stderr)
                self.assertEqual(self.archive.read_bytes(), content)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        self.archive_of(self.archive, ("origin.test", "/page"))
        har = self.folder / "a.har"
        for command in (("export", self.archive, "--to", "har", "-o", har, "--json"),
                        ("import", har, "-o", self.out, "--json")):
            with self.subTest(command[0]), open("/dev/full", "wb") as full:
                done = subprocess.run([harness.REPRISE, "archive", *map(str, command)],
                                      stdout=full, stderr=subprocess.PIPE, check=False,
                                      stdin=subprocess.DEVNULL, timeout=DEADLINE_SECONDS)
                self.assertEqual(done.returncode, 1, done.stderr.decode())
                self.assertIn(b"cannot write the output", done.stderr)


if __name__ == "__main__":
    sys.exit(harness.main())
