#!/usr/bin/env python3
"""What goes wrong outside reprise: each has a clear message and its documented exit code, and costs
nothing that was recorded before."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import unittest

import harness
from wire import Certificate, Close, response

LISTENERS = ("--http", "--https", "--proxy", "--dns")


def hello(_):
    return response(b"hello")


class CannotStart(harness.TestCase):
    """reprise ends at once, with the documented code and a message that names the thing."""

    def assert_refused(self, exit_code, words, *arguments):
        done = harness.run(*arguments, folder=self.folder)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, exit_code, said)
        for word in words:
            self.assertIn(word, said)
        return said

    def recorded_archive(self):
        archive = self.folder / "good.reprise"
        recorder = self.record(archive, origins=(self.origin(hello),))
        with recorder.connect("http") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return archive

    def replay_arguments(self, archive):
        return ("replay", *(part for flag in LISTENERS for part in (flag, "127.0.0.1:0")),
                str(archive))

    def test_a_busy_port_is_named_with_its_flag(self):
        with socket.create_server(("127.0.0.1", 0)) as busy:
            port = busy.getsockname()[1]
            for flag in LISTENERS:
                with self.subTest(flag):
                    others = [part for other in LISTENERS if other != flag
                              for part in (other, "127.0.0.1:0")]
                    archive = self.folder / f"busy{flag}.reprise"
                    self.assert_refused(4, [str(port), flag], "record", "-o", str(archive),
                                        flag, f"127.0.0.1:{port}", *others)

    def test_listening_beyond_loopback_needs_permission(self):
        self.assert_refused(2, ["--allow-remote"], "record", "-o", str(self.folder / "a.reprise"),
                            "--http", "0.0.0.0:0", "--https", "off", "--proxy", "off")

    def test_a_resolver_for_other_machines_needs_an_address_to_give_them(self):
        listeners = {"--http": "off", "--https": "off", "--proxy": "off", "--dns": "0.0.0.0:0"}
        archive = str(self.folder / "a.reprise")
        for flag in ("--http", "--https"):
            words = [word for each in {**listeners, flag: "0.0.0.0:0"}.items() for word in each]
            self.assert_refused(2, [f"Give {flag} the address that other machines use"], "record",
                                "-o", archive, "--allow-remote", *words)

    def test_an_archive_that_is_not_there(self):
        absent = self.folder / "absent.reprise"
        for arguments in (self.replay_arguments(absent), ("archive", "ls", str(absent))):
            self.assert_refused(3, [str(absent), "No such file"], *arguments)

    def test_a_file_of_another_kind(self):
        for name, data in {"text": b"hello, I am a text\n" * 100, "empty": b"",
                           "short": b"RE", "zeros": bytes(4096)}.items():
            with self.subTest(name):
                foreign = self.folder / f"{name}.reprise"
                foreign.write_bytes(data)
                for arguments in (self.replay_arguments(foreign),
                                  ("archive", "verify", str(foreign))):
                    self.assert_refused(3, [str(foreign)], *arguments)
                self.assertEqual(foreign.read_bytes(), data)

    def test_a_folder_for_an_archive(self):
        self.assert_refused(3, [str(self.folder)], *self.replay_arguments(self.folder))

    def test_a_newer_format_version_is_named(self):
        archive = self.recorded_archive()
        data = bytearray(archive.read_bytes())
        position = int.from_bytes(data[8:12], "little")
        self.assertEqual(position, 1, "the version stands elsewhere: see archive/FORMAT.md")
        data[8:12] = (position + 1).to_bytes(4, "little")
        newer = self.folder / "newer.reprise"
        newer.write_bytes(data)
        self.assert_refused(3, [str(newer), "newer"], *self.replay_arguments(newer))

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "needs to shed root")
    def test_an_unreadable_archive(self):
        archive = self.recorded_archive()
        archive.chmod(0)
        done = self.run_without_privileges(*self.replay_arguments(archive))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(str(archive), done.stderr)
        self.assertIn("Permission denied", done.stderr)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "needs to shed root")
    def test_an_unwritable_directory(self):
        locked = self.folder / "locked"
        locked.mkdir(0o555)
        archive = locked / "a.reprise"
        done = self.run_without_privileges("record", "-o", str(archive), "--http", "127.0.0.1:0",
                                           "--https", "127.0.0.1:0", "--proxy", "127.0.0.1:0",
                                           "--dns", "127.0.0.1:0")
        self.assertIn(done.returncode, (1, 3), done.stderr)
        self.assertIn(str(archive), done.stderr)
        self.assertIn("Permission denied", done.stderr)

    def run_without_privileges(self, *arguments):
        """As the user of the test, without what lets root read and write everything."""
        shed = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        return subprocess.run([*shed, harness.REPRISE, *arguments], capture_output=True, text=True,
                              timeout=harness.DEADLINE_SECONDS, stdin=subprocess.DEVNULL,
                              env=harness.environment(self.folder), check=False)

    def test_a_usage_error(self):
        self.assert_refused(2, ["--no-such-flag"], "record", "--no-such-flag")

    def test_recording_never_overwrites(self):
        archive = self.recorded_archive()
        before = archive.read_bytes()
        self.assert_refused(3, [str(archive), "--append"], "record", "-o", str(archive),
                            "--http", "127.0.0.1:0", "--https", "off", "--proxy", "off",
                            "--dns", "off")
        self.assertEqual(archive.read_bytes(), before)


class OriginFails(harness.TestCase):
    """The client gets a 502 that says why, and the archive no response that was never sent."""

    def fails(self, words, way_in="http", origins=(), arguments=()):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, *arguments, origins=origins)
        with recorder.connect(way_in) as client:
            got = client.get("/")
        self.assertEqual(got.status, 502)
        said = got.body.decode()
        for word in words:
            self.assertIn(word, said)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_nothing_archived_as_response(archive)

    def assert_nothing_archived_as_response(self, archive):
        for each in self.archive_json("ls", str(archive)):
            self.assertNotEqual(each["outcome"], "complete")
            self.assertNotEqual(each["status"], 502)
        replay = self.replay(archive, "--failures", "miss")
        with replay.connect("http") as client:
            self.assertEqual(client.get("/").status, 404)

    def test_it_refuses_the_connection(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            self.fails(["origin.test", "refused"],
                       arguments=("--connect-to", f"origin.test:80:127.0.0.1:{port}"))

    def test_its_certificate_is_from_nobody_known(self):
        origin = self.origin(hello, tls=Certificate(self.folder / "tls"))
        connect_only = tuple(origin.connect_arguments())[:2]
        self.fails(["certificate"], way_in="connect", arguments=connect_only)

    def test_its_certificate_is_for_another_name(self):
        origin = self.origin(hello, tls=Certificate(self.folder / "tls", ["other.test"]))
        self.fails(["certificate", "origin.test"], way_in="connect", origins=(origin,))

    def test_an_invalid_certificate_is_accepted_when_asked_to(self):
        origin = self.origin(hello, tls=Certificate(self.folder / "tls", ["other.test"]))
        connect_only = tuple(origin.connect_arguments())[:2]
        recorder = self.record(self.folder / "a.reprise", "--insecure-origin", *connect_only)
        with recorder.connect("https") as client:
            self.assertEqual(client.get("/").body, b"hello")

    def test_it_closes_without_a_word(self):
        def silent(_):
            raise Close
        self.fails(["origin.test"], origins=(self.origin(silent),))

    def test_it_does_not_speak_http(self):
        def babble(_):
            yield b"SSH-2.0-OpenSSH_9.2\r\n\r\n"
            raise Close
        self.fails(["origin.test"], origins=(self.origin(babble),))

    def test_it_breaks_off_inside_a_body(self):
        broken = {
            "/length": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
            "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            "/badchunk": b"HTTP/1.1 200 OK\r\nTransfer-encoding:chunked\r\n\r\n4\r\nhalf\r\nzz\r\n",
        }

        def half(request):
            yield broken[request.target]
            raise Close
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(half),))
        for path in broken:
            with self.subTest(path), recorder.connect("http") as client:
                got = client.get(path)
                self.assertTrue(got.cut)
                self.assertEqual(got.body, b"half")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        listed = self.archive_json("ls", str(archive))
        self.assertEqual(len(listed), len(broken))
        for each in listed:
            self.assertNotEqual(each["outcome"], "complete")
        self.assert_sound(archive)


class Ends(harness.TestCase):
    def test_a_client_that_leaves_costs_nothing_else(self):
        gone = threading.Event()

        def slow(request):
            if request.target == "/quick":
                yield response(b"quick")
                return
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + b"x" * 1000
            gone.wait(harness.DEADLINE_SECONDS)
            for _ in range(100000):
                yield b"x" * 1000

        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(slow),))
        with recorder.connect("http") as client:
            client.send(b"GET /slow HTTP/1.1\r\nHost: origin.test\r\n\r\n")
            client.read_head()
        gone.set()
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/quick").body, b"quick")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        outcomes = {each["url"].rsplit("/", 1)[1]: each["outcome"]
                    for each in self.archive_json("ls", str(archive))}
        self.assertEqual(outcomes["quick"], "complete")
        self.assertNotEqual(outcomes.get("slow"), "complete")

    def test_either_signal_ends_in_order_with_an_open_connection(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                archive = self.folder / f"{number}.reprise"
                recorder = self.record(archive, origins=(self.origin(hello),))
                with recorder.connect("http") as idle, recorder.connect("http") as client:
                    self.assertEqual(client.get("/").body, b"hello")
                    self.assertEqual(recorder.stop(number), 0, recorder.log())
                    self.assertTrue(idle.closed_by_peer())
                self.assert_sound(archive)
                self.assertEqual(len(self.archive_json("ls", str(archive))), 1)

    def test_the_archive_is_private(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(hello),))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(archive.stat().st_mode & 0o777, 0o600)

    def test_two_recorders_cannot_write_one_archive(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(hello),))
        done = harness.run("record", "--append", "-o", str(archive), "--http", "127.0.0.1:0",
                           "--https", "off", "--proxy", "off", "--dns", "off",
                           folder=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def test_append_adds_a_session(self):
        archive = self.folder / "a.reprise"
        for session in (1, 2):
            options = ("--append",) if session == 2 else ()
            recorder = self.record(archive, *options, origins=(self.origin(hello),))
            with recorder.connect("http") as client:
                client.get(f"/{session}")
            self.assertEqual(recorder.stop(), 0, recorder.log())
        listed = self.archive_json("ls", str(archive))
        self.assertEqual([each["session"] for each in listed], [1, 2])
        self.assert_sound(archive)


if __name__ == "__main__":
    harness.main()
