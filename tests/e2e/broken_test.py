#!/usr/bin/env python3
"""Exchanges that were cut, or that the origin failed, are replayed as what they were."""

import json
import socket
import struct
import subprocess
import threading

import harness
from wire import HOST, Certificate, Close, response

CUT = b"HTTP/1.1 200 OK\r\nX-Kept: 1\r\nContent-Length: 100\r\n\r\n0123456789"
CUT_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n"
CUT_HEAD = b"HTTP/1.1 200 OK\r\nX-Kept: 1\r\nContent-Length: 100\r\n\r\n"


class Broken(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        self.report_file = self.folder / "report.json"
        self.over = threading.Event()
        self.addCleanup(self.over.set)

    def answer(self, request):
        path = request.target.split("?")[0]
        if path == "/cut":
            yield CUT
            raise Close
        if path == "/chunked":
            yield CUT_CHUNKED
            raise Close
        if path == "/head":
            yield CUT_HEAD
            raise Close
        if path == "/failed":
            raise Close
        if path == "/twice" and self.first("/twice"):
            raise Close
        if path in ("/slow", "/again") and self.first(path):
            yield CUT
            self.over.wait(harness.DEADLINE_SECONDS)
            raise Close
        yield response(b"whole")

    def first(self, path):
        return sum(request.target == path for request in self.site.requests) == 1

    def record_paths(self, *paths, tls=None):
        """Asks for each, as far as the origin lets it; what never ends is broken off."""
        self.site = self.origin(self.answer, tls=tls)
        recorder = self.record(self.archive, origins=(self.site,))
        for path in paths:
            never_ends = path in ("/slow", "/again") and self.not_asked_yet(path)
            with recorder.connect("https" if tls else "http") as client:
                client.send(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
                if never_ends:
                    client.read_head()
                    got = b""
                    while len(got) < 10:
                        got += client.read_some()
                    # A reset, as of a browser that cancels.
                    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
                else:
                    try:
                        client.read_response()
                    except EOFError:
                        pass  # the recorder had not sent a head yet
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def not_asked_yet(self, path):
        return not any(request.target == path for request in self.site.requests)

    def replay_and(self, *paths, arguments=(), code=0):
        """What each path gets, on its own connection; None where that closed without a head."""
        replay = self.replay(self.archive, "--report", str(self.report_file), *arguments)
        got = []
        for path in paths:
            with replay.connect("http") as client:
                try:
                    got.append(client.get(path))
                except (EOFError, ConnectionResetError):
                    got.append(None)
        self.assertEqual(replay.stop(), code, replay.log())
        return got, json.loads(self.report_file.read_text())

    def test_what_the_origin_cut_is_cut(self):
        self.record_paths("/cut", "/chunked", "/head")
        (cut, chunked, head), report = self.replay_and("/cut", "/chunked", "/head",
                                                       arguments=("--strict",))
        self.assertEqual((cut.status, cut.cut, cut.all(b"x-kept")), (200, True, [b"1"]))
        self.assertEqual(cut.all(b"content-length"), [b"100"])
        self.assertTrue(chunked.cut)
        self.assertEqual((head.status, head.cut), (200, True))
        self.assertEqual((report["hits"], report["misses"], report["special"]["cut"]), (3, 0, 3))
        self.assertEqual(report["exchanges_servable"], 3)
        first = report["special_answers"][0]
        self.assertEqual((first["kind"], first["url"]), ("cut", f"http://{HOST}/cut"))
        self.assertIn("the origin broke off", first["why"])

    def test_the_bytes_before_the_cut_come(self):
        self.record_paths("/cut")
        with self.replay(self.archive).connect("http") as client:
            client.send(f"GET /cut HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            client.read_head()
            got = b""
            while piece := client.read_some():
                got += piece
            self.assertEqual(got, b"0123456789")

    def test_what_the_origin_failed_fails(self):
        self.record_paths("/failed", "/twice", "/twice")
        got, report = self.replay_and("/failed", "/twice", "/twice", "/failed?t=1700000000000")
        self.assertEqual([each and each.body for each in got[:3]], [None, None, b"whole"])
        self.assertEqual((report["hits"], report["special"]["failed"]), (3, 2))
        self.assertEqual(report["misses"], 1, "a parameter that the recording does not know")

    def test_failures_match_as_all_else_does(self):
        self.record_paths("/failed?t=1700000000001")
        (got,), report = self.replay_and("/failed?t=1800000000002")
        self.assertIsNone(got)
        self.assertEqual((report["fuzzy_hits"], report["special"]["failed"]), (1, 1))

    def test_what_the_client_cut_comes_as_far_as_it_went(self):
        self.record_paths("/slow", "/again", "/again")
        (slow, again), report = self.replay_and("/slow", "/again")
        self.assertEqual((slow.status, slow.cut), (200, True))
        self.assertEqual(again.body, b"whole", "a whole one was recorded")
        self.assertEqual((report["special"]["cut"], report["exchanges_servable"]), (1, 2))

    def test_broken_ones_can_be_left_out(self):
        self.record_paths("/cut", "/failed", "/slow")
        got, report = self.replay_and("/cut", "/failed", "/slow",
                                      arguments=("--failures", "miss", "--strict"), code=5)
        self.assertEqual([each.status for each in got], [404] * 3)
        self.assertEqual((report["misses"], report["exchanges_servable"]), (3, 0))
        self.assertEqual([miss["nearest"][0]["why"] for miss in report["distinct_misses"]],
                         ["the recording was cut by the origin",
                          "the origin failed when it was recorded",
                          "the recording was cut by the client"])

    def test_on_h2_the_stream_is_reset(self):
        self.record_paths("/cut", "/head", "/failed", "/ok",
                          tls=Certificate(self.folder / "certificate"))
        replay = self.replay(self.archive, "--protocol", "h2")
        host, port = replay.address("https")
        for path, said in (("/cut", b"200 10"), ("/head", b"200 0"), ("/failed", b"000 0")):
            done = subprocess.run(
                ["curl", "-sS", "--http2", "--cacert", replay.ready["ca_file"], "--connect-to",
                 f"::{host}:{port}", "-o", str(self.folder / "body"), "-w",
                 "%{http_code} %{size_download}", f"https://{HOST}{path}",
                 "--next", "-sS", "--cacert", replay.ready["ca_file"], "--connect-to",
                 f"::{host}:{port}", "-o", str(self.folder / "after"), f"https://{HOST}/ok"],
                capture_output=True, timeout=harness.DEADLINE_SECONDS, check=False)
            self.assertEqual(done.stdout, said, done.stderr)
            self.assertIn(b"was not closed cleanly", done.stderr)
            self.assertEqual((self.folder / "after").read_bytes(), b"whole")


if __name__ == "__main__":
    harness.main()
