#!/usr/bin/env python3
"""`wpr record` as its callers use it: a .wprgo that is overwritten, whole when the process has
ended, and replayed by `wpr replay`."""

import os
import re
import signal

import harness
import wpr_case
from wire import Certificate
from wpr_case import entry, read_wprgo, write_wprgo

PAGE = b"<!doctype html><html><head></head><body>live</body></html>"


def respond(body, type=b"text/html"):
    return (b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" %
            (type, len(body), body))


class WprRecord(wpr_case.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "page.wprgo"

    def record(self, *words, **options):
        return self.wpr("record", "--http_port=0", "--https_port=0", *words, self.archive,
                        **options)

    def live(self, answer=PAGE, **options):
        """An origin, and its URL by a name that the system resolves."""
        origin = self.origin(lambda *_: respond(answer), **options)
        return origin, f"http://localhost:{origin.port}"

    def test_what_was_recorded_is_replayed(self):
        script = self.folder / "deterministic.js"
        script.write_text("var seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        write_wprgo(self.archive, [("http://old.test/", entry("http://old.test/", b"old"))])
        origin, site = self.live()
        recorder = self.record(f"--inject_scripts={script}")
        self.assertEqual(recorder.command("web-page-replay-generate-200").status, 200)
        live = recorder.get(site + "/page")
        seed = re.search(rb"<script>var seed = (\d+);</script>", live.body)
        self.assertTrue(seed, live.body)
        recorder.command("web-page-replay-command-exit")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(recorder.text().count("not verified"), 1)
        self.assertFalse((self.folder / "page.wprgo.reprise").exists())
        recorded = read_wprgo(self.archive)
        self.assertEqual(list(recorded), [site + "/page"], "overwritten; the probes are not in it")
        self.assertTrue(recorded[site + "/page"][0][1].endswith(PAGE), "the original")
        origin.close()
        replay = self.wpr("replay", "--http_port=0", "--https_port=0",
                          f"--inject_scripts={script}", self.archive)
        self.assertEqual(replay.get(site + "/page").body, live.body)

    def test_sigint_and_sigterm_write_it_as_well(self):
        origin, site = self.live()
        for number, ignored in ((signal.SIGINT, True), (signal.SIGTERM, False)):
            recorder = self.record("--inject_scripts", "", ignore_sigint=ignored)
            recorder.get(site + f"/{number}")
            self.assertEqual(recorder.signal(number), 0)
            self.assertEqual(list(read_wprgo(self.archive)), [site + f"/{number}"])

    def test_clear_drops_what_was_recorded_so_far(self):
        origin, site = self.live()
        recorder = self.record("--inject_scripts=")
        recorder.get(site + "/before")
        self.assertEqual(recorder.command("web-page-replay-command-clear").status, 200)
        recorder.get(site + "/after")
        recorder.command("web-page-replay-command-exit")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [site + "/after"])

    def test_names_below_localhost_are_this_machine(self):
        origin, _ = self.live()
        recorder = self.record("--inject_scripts=")
        url = f"http://sub.localhost:{origin.port}/"
        self.assertEqual(recorder.get(url).body, PAGE)
        self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [url])

    def test_a_recording_of_nothing_is_an_archive_that_replays(self):
        recorder = self.record("--inject_scripts=")
        recorder.command("web-page-replay-command-exit")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(read_wprgo(self.archive), {})
        replay = self.wpr("replay", "--http_port=0", "--inject_scripts=", self.archive, servers=1)
        self.assertEqual(replay.get("http://a.test/").status, 404)

    def test_a_killed_recorder_leaves_what_it_had(self):
        origin, site = self.live()
        recorder = self.record("--inject_scripts=")
        recorder.get(site + "/page")
        recorder.kill()
        self.assertFalse(self.archive.exists())
        replay = self.wpr("replay", "--http_port=0", "--https_port=0", "--inject_scripts=",
                          self.folder / "page.wprgo.reprise")
        self.assertEqual(replay.get(site + "/page").body, PAGE)

    def test_what_killed_recorders_left_is_kept(self):
        origin, site = self.live()
        for path in ("/first", "/second"):
            recorder = self.record("--inject_scripts=")
            recorder.get(site + path)
            recorder.kill()
        recorder = self.record("--inject_scripts=")
        recorder.get(site + "/third")
        self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [site + "/third"])
        self.assertIn("page.wprgo.kept-2.reprise", recorder.text())
        for name, path in (("page.wprgo.kept.reprise", "/first"),
                           ("page.wprgo.kept-2.reprise", "/second")):
            self.assertIn(site + path, str(self.archive_json("ls", str(self.folder / name))))

    def test_what_is_not_a_file_is_refused_before_the_start(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for archive in (".", fifo):
            done = self.run_wpr("record", "--http_port=0", "--inject_scripts=", archive)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)
            self.assertIn(b": not a regular file", done.stderr)
        self.assertTrue(fifo.is_fifo())
        self.assertEqual([each for each in os.listdir(self.folder) if each.endswith(".reprise")],
                         [])

    def test_a_running_request_is_cut_and_not_in_the_file(self):
        origin, site = self.live()
        recorder = self.record("--inject_scripts=")
        recorder.get(site + "/page")
        with recorder.connect() as client:
            client.send(f"POST /up HTTP/1.1\r\nHost: localhost:{origin.port}\r\n"
                        "Content-Length: 9\r\n\r\nhalf".encode())
            recorder.command("web-page-replay-command-exit")
            self.assertEqual(recorder.wait(), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [site + "/page"])

    def test_an_archive_of_reprise_is_written_by_its_name(self):
        origin, site = self.live()
        self.archive = self.folder / "page.reprise"
        for path in ("/first", "/second"):
            recorder = self.record("--inject_scripts=")
            recorder.get(site + path)
            self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        listed = self.archive_json("ls", str(self.archive))
        self.assertIn("/second", str(listed))
        self.assertNotIn("/first", str(listed), "overwritten")

    def test_a_symbolic_link_stays_and_leads_to_the_new_recording(self):
        origin, site = self.live()
        (self.folder / "kept").mkdir()
        for name in ("page.wprgo", "page.reprise"):
            self.archive = self.folder / name
            self.archive.symlink_to(f"kept/{name}")
            target = self.folder / "kept" / name
            for path in ("/dangling", "/leading-to-a-file"):
                with self.subTest(name + path):
                    recorder = self.record("--inject_scripts=")
                    recorder.get(site + path)
                    self.assertEqual(recorder.signal(signal.SIGTERM), 0)
                    self.assertTrue(self.archive.is_symlink())
                    listed = (read_wprgo(target) if name == "page.wprgo"
                              else self.archive_json("ls", str(target)))
                    self.assertIn(path, str(listed))
                    self.assertEqual(len(listed), 1, "overwritten")

    def test_an_origin_with_a_certificate_of_its_own_is_recorded(self):
        origin, _ = self.live(tls=Certificate(self.folder, ["other.test"]))
        url = f"https://localhost:{origin.port}/"
        recorder = self.record("--inject_scripts=")
        self.assertEqual(recorder.get(url).body, PAGE)
        self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [url])

    def test_a_recording_under_way_is_not_overwritten(self):
        origin, site = self.live()
        recorder = self.record("--inject_scripts=")
        recorder.get(site + "/page")
        done = self.run_wpr("record", "--http_port=0", "--inject_scripts=", self.archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"stop the other reprise first", done.stderr)
        self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [site + "/page"])

    def test_what_cannot_start_leaves_the_older_recording(self):
        self.archive = self.folder / "page.reprise"
        recorder = self.record("--inject_scripts=")
        self.assertEqual(recorder.signal(signal.SIGTERM), 0)
        before = self.archive.read_bytes()
        done = self.run_wpr("record", "--http_port=0", "--inject_scripts=no.js", self.archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--inject_scripts no.js: No such file", done.stderr)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_what_cannot_be_written_exits_with_1(self):
        done = self.run_wpr("record", "--http_port=0", self.folder / "no" / "page.wprgo")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No such file", done.stderr)


if __name__ == "__main__":
    harness.main()
