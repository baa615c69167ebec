#!/usr/bin/env python3
"""The files that a user names for results: who may read them, what they may take the place of, and
that one which cannot be written is noticed before the work and not after it."""

import json
import os
import stat
import subprocess
import sys

import harness
from wire import response

LINK = "20mbit/20mbit/10"


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Outputs(harness.TestCase):
    def setUp(self):
        super().setUp()
        site = self.origin(lambda _: response(b"<p>x", headers=b"Content-Type: text/html\r\n"))
        self.archive = self.folder / "a.reprise"
        recorder = self.record(self.archive, origins=(site,))
        with recorder.connect("http") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def run_well(self, *arguments, **options):
        done = harness.run(*map(str, arguments), folder=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done

    def test_others_read_none_of_them(self):
        names = {name: self.folder / name for name in (
            "ready", "replay", "shape", "plot", "log", "dns", "dns-ready", "page")}
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        self.run_well("replay", self.archive, "--ready-file", names["ready"], "--report",
                      names["replay"], "--", "true")
        self.run_well("shape", "--link", LINK, "--no-selfcheck", "--report", names["shape"],
                      "--plot", names["plot"], "--link-log", names["log"], "--", "true")
        self.run_well("view", self.archive, "-o", names["page"])
        dns = subprocess.Popen(
            [harness.REPRISE, "dns", "--archive", str(self.archive), "--listen", "127.0.0.1:0",
             "--ready-file", str(names["dns-ready"]), "--report", str(names["dns"])],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(dns.stderr.close)
        self.addCleanup(dns.kill)
        dns.stderr.readline()  # it answers
        dns.terminate()
        self.assertEqual(dns.wait(harness.DEADLINE_SECONDS), 0)
        for name, path in names.items():
            self.assertEqual(oct(mode_of(path)), oct(0o600), name)

    def test_what_is_no_regular_file_is_written_and_not_replaced(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.run_well("replay", self.archive, "--report", fifo, "--", "true")
        self.assertIn("hits", json.loads(os.read(reader, 1 << 20)))
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))

        target = self.folder / "target"
        link = self.folder / "link"
        link.symlink_to(target)
        for attempt in ("dangling", "leading to a file"):
            self.run_well("view", self.archive, "-o", link)
            self.assertTrue(link.is_symlink(), attempt)
            self.assertIn(b"<html", target.read_bytes())

        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            return  # root alone makes devices, and could replace one
        for arguments in (("view", self.archive, "-o", device),
                          ("replay", self.archive, "--report", device, "--", "true"),
                          ("shape", "--link", LINK, "--no-selfcheck", "--plot", device, "--",
                           "true")):
            self.run_well(*arguments)
            self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode), arguments[0])

    def test_no_name_is_used_that_others_can_foresee(self):
        """A link in a folder that all may write to would lead the writer to any file."""
        report = self.folder / "report"
        victim = self.folder / "victim"
        victim.write_text("kept")
        (self.folder / "report.part").symlink_to(victim)
        self.run_well("replay", self.archive, "--report", report, "--", "true")
        self.assertEqual(victim.read_text(), "kept")

    def test_a_report_that_cannot_be_written_is_noticed_first(self):
        missing = self.folder / "no" / "report"
        ran = self.folder / "ran"
        for arguments in (("replay", self.archive, "--report", missing, "--", "touch", ran),
                          ("replay", self.archive, "--report", self.folder, "--", "touch", ran),
                          ("shape", "--link", LINK, "--report", missing, "--", "touch", ran),
                          ("shape", "--link", LINK, "--plot", missing, "--", "touch", ran),
                          ("load", self.archive, "http://origin.test/", "-o", missing)):
            done = harness.run(*map(str, arguments), folder=self.folder)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("cannot be written", done.stderr.decode())
            self.assertFalse(ran.exists(), arguments)

    def test_the_files_of_an_earlier_gate_are_not_taken_for_this_ones(self):
        report, results = self.folder / "report.xml", self.folder / "results"
        results.mkdir()
        names = ("a.json", "b.json", "verdict.json", "why.md")
        for path in (report, *(results / name for name in names)):
            path.write_text("of an earlier run")
        sides = (f"{archive} http://origin.test/"
                 for archive in (self.folder / "missing.reprise", self.archive))
        done = harness.run("gate", *sides, "--why", "--junit", str(report), "-o", str(results),
                           folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(list(results.iterdir()), [], done.stderr.decode())
        self.assertIn("<error message=", report.read_text())
        self.assertIn(f"exit status {done.returncode}", report.read_text())

    def test_a_gate_that_is_refused_before_any_load_tells_it_like_one_after_loads(self):
        report, results = self.folder / "report.xml", self.folder / "results"
        sides = [f"{self.archive} http://{host}.test/" for host in ("origin", "other")]
        done = harness.run("gate", *sides, "--json", "--junit", str(report), "-o", str(results),
                           folder=self.folder)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertIn("refused before the first load", said)
        self.assertNotIn("measuring the noise", said)
        verdict = json.loads(done.stdout)
        self.assertEqual((verdict["verdict"], verdict["gate"]["end"]), ("refused", "refused"))
        self.assertEqual([each["text"] for each in verdict["refusals"]],
                         ["only A has loads of http://origin.test/",
                          "only B has loads of http://other.test/"])
        self.assertEqual(json.loads((results / "verdict.json").read_text()), verdict)
        self.assertEqual(json.loads((results / "a.json").read_text())["loads"], [])
        self.assertIn("A and B cannot be compared: only A has loads of", report.read_text())
        told = harness.run("gate", *sides, folder=self.folder)
        self.assertEqual((told.returncode, told.stdout), (1, b""))
        self.assertIn("A and B cannot be compared: only A has loads of", told.stderr.decode())

    def test_a_folder_where_no_file_can_be_created_is_noticed_first(self):
        if os.geteuid() == 0:
            self.skipTest("root can create files everywhere")
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        side = f"{self.archive} http://origin.test/"
        for arguments in (("gate", side, side), ("gate", "--aa", side),
                          ("whatif", self.archive, "http://origin.test/", "--what-if",
                           "host=x.test: drop")):
            done = harness.run(*map(str, arguments), "-o", str(closed), folder=self.folder)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("no file can be created in", done.stderr.decode())

    def test_two_results_in_one_file_are_refused_before_the_run(self):
        before = self.archive.read_bytes()
        one, ran = self.folder / "one", self.folder / "ran"
        same = f"{self.folder}/./one"
        for arguments in (
                ("shape", "--link", LINK, "--report", one, "--plot", same, "--", "touch", ran),
                ("shape", "--link", LINK, "--report", one, "--link-log", one, "--", "touch", ran),
                ("replay", self.archive, "--report", one, "--ready-file", same, "--", "touch", ran),
                ("replay", self.archive, "--report", self.archive, "--", "touch", ran),
                ("record", "-o", one, "--ready-file", same, "--", "touch", ran),
                ("dns", "--archive", self.archive, "--listen", "127.0.0.1:0", "--report", one,
                 "--ready-file", one),
                ("load", self.archive, "-o", self.archive)):
            done = harness.run(*map(str, arguments), folder=self.folder)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("are the same file", done.stderr.decode())
            self.assertFalse(one.exists(), arguments)
            self.assertFalse(ran.exists(), arguments)
        self.assertEqual(self.archive.read_bytes(), before)

    def test_a_link_log_that_cannot_be_written_to_its_end_is_an_error(self):
        for mode in (("shape",), ("replay", str(self.archive))):
            done = harness.run(*mode, "--link", LINK, "--no-selfcheck", "--link-log", "/dev/full",
                               "--", "true", folder=self.folder)
            self.assertEqual(done.returncode, 1, done.stderr.decode())
            self.assertIn("log could not be written to its end: No space left",
                          done.stderr.decode())

    def test_an_output_that_cannot_be_written_is_an_error(self):
        for arguments in (("completion", "bash"), ("ca", "path"), ("ca", "export"), ("doctor",),
                          ("doctor", "--json"), ("profiles",), ("load", "--help"), ("--version",),
                          ("archive", "ls", str(self.archive))):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([harness.REPRISE, *arguments], stdin=subprocess.DEVNULL,
                                      stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                      timeout=harness.DEADLINE_SECONDS,
                                      env=harness.environment(self.folder))
            self.assertEqual(done.returncode, 1, arguments)
            self.assertEqual(done.stderr.count("cannot write the output: No space left"), 1,
                             arguments)

    def test_a_file_over_the_users_limit_is_an_error(self):
        """SIGXFSZ would end the process without a word."""
        page = self.folder / "page"
        done = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", harness.REPRISE, "view",
                               str(self.archive), "-o", str(page)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertFalse(page.exists())

    def test_the_command_has_the_signals_as_they_were(self):
        script = ("import signal; print(signal.getsignal(signal.SIGXFSZ) is signal.SIG_DFL or "
                  "signal.getsignal(signal.SIGXFSZ), signal.pthread_sigmask(signal.SIG_BLOCK, []))")
        direct = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        for link in ([], ["--link", LINK, "--no-selfcheck"]):
            done = self.run_well("replay", self.archive, *link, "--", sys.executable, "-c", script)
            self.assertEqual(done.stdout, direct.stdout)

    def test_an_archive_that_was_removed_is_not_recorded(self):
        for replaced in (False, True):
            with self.subTest(replaced=replaced):
                path = self.folder / "gone.reprise"
                recorder = self.record(path)
                path.unlink()
                if replaced:
                    path.write_text("another")
                self.assertEqual(recorder.stop(), 3, recorder.log())
                self.assertIn("removed or replaced", recorder.log())
                self.assertNotIn("recorded ", recorder.log())
                self.assertEqual(path.exists(), replaced)
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    harness.main()
