#!/usr/bin/env python3
"""The command line around the proxies: -- COMMAND, the ready file, versions, the CA."""

import base64
import hashlib
import json
import pathlib
import socket
import subprocess

import harness
from wire import response

WRITE_ARGUMENTS = 'import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], "w"))'


class Command(harness.TestCase):
    def test_its_exit_code_is_returned(self):
        for code in (0, 7):
            with self.subTest(code=code):
                done = harness.run("record", "-o", str(self.folder / f"{code}.reprise"), "--",
                                   "sh", "-c", f"exit {code}", folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)

    def test_a_seed_is_no_negative_number(self):
        for name in ("load", "gate", "whatif", "advise", "why", "predict"):
            for seed in ("-1", "-18446744073709551615"):
                with self.subTest(name=name, seed=seed):
                    done = harness.run(name, "a.reprise", "b.reprise", f"--seed={seed}",
                                       folder=self.folder)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"'{seed}' is not a whole number".encode(), done.stderr)

    def test_a_command_that_cannot_be_run_is_named(self):
        done = harness.run("record", "-o", str(self.folder / "a.reprise"), "--",
                           "/no/such/program", folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"/no/such/program", done.stderr)

    def test_one_that_cannot_be_run_or_requests_nothing_blocks_no_other_attempt(self):
        archive = self.folder / "a.reprise"
        for command, code in ((("/no/such/program",), 127), (("sh", "-c", "exit 7"), 7)):
            with self.subTest(command):
                done = harness.run("record", "-o", str(archive), "--", *command,
                                   folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(b"a.reprise was not created", done.stderr)
                self.assertFalse(archive.exists())
        done = harness.run("record", "-o", str(archive), "--", "true", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        before = archive.read_bytes()
        done = harness.run("record", "--append", "-o", str(archive), "--", "false",
                           folder=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"a.reprise is unchanged", done.stderr)
        self.assertEqual(archive.read_bytes(), before)

    def test_what_it_requested_is_kept_when_it_fails(self):
        archive = self.folder / "a.reprise"
        origin = self.origin(lambda _: response(b"fetched"))
        done = harness.run("record", "-o", str(archive), *origin.connect_arguments(), "--", "sh",
                           "-c", "curl -sS -x http://$REPRISE_PROXY http://origin.test/; exit 7",
                           folder=self.folder)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([each["url"] for each in self.archive_json("ls", str(archive))],
                         ["http://origin.test/"])

    def test_chromium_flags_expand_as_arguments_and_inside_a_string(self):
        written = self.folder / "arguments.json"
        done = harness.run("record", "-o", str(self.folder / "a.reprise"), "--",
                           "python3", "-c", WRITE_ARGUMENTS, str(written), "{chromium-flags}",
                           "run {chromium-flags} now", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        *flags, quoted = json.loads(written.read_text())
        self.assertGreater(len(flags), 1)
        self.assertTrue(all(flag.startswith("--") for flag in flags), flags)
        shell = subprocess.run(["sh", "-c", quoted.replace("run", "printf '%s\\n'", 1)],
                               capture_output=True, text=True, check=True)
        self.assertEqual(shell.stdout.splitlines(), [*flags, "now"])

    def test_it_inherits_what_reprise_was_given(self):
        """Not what reprise sets for itself: SIGPIPE ignored, and the hard limit of descriptors."""
        state = 'sed -n s/^SigIgn://p /proc/self/status; ulimit -Sn'
        outside = ("sh", "-c", 'ulimit -Sn 200; exec "$@"', "sh")
        direct, beside = (
            subprocess.run([*outside, *command, "sh", "-c", state], capture_output=True, check=True,
                           env=harness.environment(self.folder)).stdout
            for command in ((), (harness.REPRISE, "record", "-o", str(self.folder / "a.reprise"),
                                 "--")))
        self.assertEqual(beside, direct)

    def test_without_transparent_listeners_the_flags_lead_to_the_proxy_alone(self):
        recorder = self.record(self.folder / "a.reprise", "--http", "off", "--https", "off")
        self.assertEqual(recorder.ready["chromium_flags"][:3],
                         [f"--proxy-server=http://{recorder.ready['proxy']}",
                          "--proxy-bypass-list=<-loopback>",
                          "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.0.0.1"])

    def test_without_listeners_the_flags_lead_nowhere(self):
        flags = self.record(self.folder / "a.reprise", "--http", "off", "--https", "off", "--proxy",
                            "off").ready["chromium_flags"]
        self.assertEqual(flags[0], "--host-resolver-rules=MAP * ~NOTFOUND")

    def test_the_recorder_serves_while_the_command_runs(self):
        origin = self.origin(lambda _: response(b"fetched"))
        archive = self.folder / "a.reprise"
        ready = self.folder / "ready.json"
        fetch = ('p=$(sed -n \'s/.*"proxy": *"\\([^"]*\\)".*/\\1/p\' "$0"); '
                 'test "$(curl -sS -x "http://$p" http://origin.test/)" = fetched')
        done = harness.run("record", "-o", str(archive), *origin.connect_arguments(),
                           "--ready-file", str(ready), "--", "sh", "-c", fetch, str(ready),
                           folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([each["url"] for each in self.archive_json("ls", str(archive))],
                         ["http://origin.test/"])


class ReadyFile(harness.TestCase):
    def test_it_says_where_and_how(self):
        recorder = self.record(self.folder / "a.reprise")
        ready = recorder.ready
        self.assertEqual(ready["mode"], "record")
        self.assertEqual(ready["pid"], recorder.process.pid)
        for name in ("http", "https", "proxy"):
            self.assertRegex(ready[name], r"^127\.0\.0\.1:[1-9]\d*$")
        self.assertIsNone(ready["admin"])
        self.assertIsInstance(ready["chromium_flags"], list)

    def test_the_ca_is_the_one_whose_digest_is_given(self):
        ready = self.record(self.folder / "a.reprise").ready
        key = subprocess.run(["openssl", "x509", "-in", ready["ca_file"], "-noout", "-pubkey"],
                             capture_output=True, check=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key,
                             capture_output=True, check=True).stdout
        self.assertEqual(ready["ca_spki_sha256"],
                         base64.b64encode(hashlib.sha256(der).digest()).decode())

    def test_the_ca_key_is_private_and_kept(self):
        first = pathlib.Path(self.record(self.folder / "a.reprise").ca_file)
        before = first.read_bytes()
        second = pathlib.Path(self.record(self.folder / "b.reprise").ca_file)
        self.assertEqual((first, before), (second, second.read_bytes()))
        keys = [path for path in first.parent.iterdir() if b"PRIVATE KEY" in path.read_bytes()]
        self.assertTrue(keys)
        for path in keys:
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_that_of_an_earlier_run_is_removed_before_anything_listens(self):
        stale = self.folder / "stale.json"
        stale.write_text("{}")
        with socket.create_server(("127.0.0.1", 0)) as busy:
            done = harness.run("record", "-o", str(self.folder / "a.reprise"), "--http",
                               f"127.0.0.1:{busy.getsockname()[1]}", "--ready-file", str(stale),
                               folder=self.folder)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertFalse(stale.exists())

    def test_one_that_cannot_be_written_leaves_nothing_behind(self):
        taken = self.folder / "taken"
        full = ("sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh")
        empty = self.folder / "a.reprise"
        self.record(empty).stop()
        done = subprocess.run([*full, harness.REPRISE, "replay", str(empty), "--ready-file",
                               str(taken), "--", "true"], capture_output=True, check=False,
                              env=harness.environment(self.folder))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(str(taken).encode(), done.stderr)
        self.assertEqual(list(self.folder.glob("taken*")), [])

    def test_a_listener_can_be_off(self):
        recorder = self.record(self.folder / "a.reprise", "--https", "off")
        self.assertIsNone(recorder.ready["https"])


class Admin(harness.TestCase):
    def test_status_reset_and_stop(self):
        archive = self.folder / "a.reprise"
        counter = iter(range(100))
        origin = self.origin(lambda _: response(b"%d" % next(counter)))
        recorder = self.record(archive, origins=(origin,))
        with recorder.connect("http") as client:
            self.assertEqual([client.get("/").body for _ in range(2)], [b"0", b"1"])
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(archive, "--admin", "127.0.0.1:0")
        with replay.connect("http") as client:
            self.assertEqual([client.get("/").body for _ in range(3)], [b"0", b"1", b"1"])
            self.assertEqual(self.ask(replay, "POST", "/reset")[0], 200)
            self.assertEqual(client.get("/").body, b"0")
            client.get("/missing")
        status, body = self.ask(replay, "GET", "/misses")
        self.assertEqual(status, 200)
        self.assertIn("/missing", body)
        self.assertEqual(self.ask(replay, "GET", "/status")[0], 200)
        self.assertEqual(self.ask(replay, "POST", "/stop")[0], 200)
        self.assertEqual(replay.process.wait(harness.DEADLINE_SECONDS), 0, replay.log())

    def test_a_name_that_leads_here_is_refused(self):
        """A page whose owner points its name at this machine must not read what was missed."""
        recorder = self.record(self.folder / "a.reprise", "--admin", "127.0.0.1:0")
        for host, status in (("evil.test", 403), ("localhost.evil.test", 403), ("localhost", 200),
                             ("127.0.0.1:80", 200), ("[::1]:80", 200)):
            with self.subTest(host):
                self.assertEqual(self.ask(recorder, "GET", "/misses", "-H", f"Host: {host}")[0],
                                 status)

    def ask(self, replay, method, path, *arguments):
        done = subprocess.run(["curl", "-sS", *arguments, "-X", method, "-w", "\n%{http_code}",
                               f"http://{replay.ready['admin']}{path}"],
                              capture_output=True, text=True, check=True)
        body, status = done.stdout.rsplit("\n", 1)
        json.loads(body)
        return int(status), body


class Report(harness.TestCase):
    def test_hits_and_misses_are_counted(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(lambda _: response(b"x")),))
        with recorder.connect("http") as client:
            client.get("/a")
            client.get("/b")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        report_file = self.folder / "report.json"
        replay = self.replay(archive, "--report", str(report_file))
        with replay.connect("http") as client:
            client.get("/a")
            client.get("/c")
        self.assertEqual(replay.stop(), 0, replay.log())
        report = json.loads(report_file.read_text())
        self.assertEqual((report["hits"], report["misses"]), (1, 1))
        self.assertEqual([miss["url"] for miss in report["distinct_misses"]],
                         ["http://origin.test/c"])

    def test_strict_makes_a_miss_the_exit_code(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(lambda _: response(b"x")),))
        with recorder.connect("http") as client:
            client.get("/a")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        for path, code in (("/a", 0), ("/c", 5)):
            with self.subTest(path):
                replay = self.replay(archive, "--strict")
                with replay.connect("http") as client:
                    client.get(path)
                self.assertEqual(replay.stop(), code, replay.log())


class Version(harness.TestCase):
    def test_it_is_printed(self):
        done = harness.run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rb"^reprise \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    harness.main()
