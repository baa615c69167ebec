#!/usr/bin/env python3
"""Think time and the pace of bodies: an answer comes as it came, or at once, as it was asked for.

Nothing comes sooner than it should; that is asserted, and holds on a busy machine. By how much it
is later is for think_time_figure.py.
"""

import contextlib
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

import harness
from wire import DEADLINE_SECONDS, HOST, Certificate, Client, response

GAP_SECONDS = 0.12
EVENTS = [b"data: %d\n\n" % i for i in range(5)]
PAGE = [b"<!doctype html><title>first</title>", b"<p>looked up", b"<p>at once"]
PAGE_PAUSE_SECONDS = 0.4
THINK_SECONDS = 0.15
HOUR_MS = "3600000"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def answer(request):
    """What is measured here takes its time."""
    pace = threading.Event()
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: "
    if request.target == "/events":
        yield head + b"text/event-stream\r\n\r\n"
        for event in EVENTS:
            yield chunk(event)
            pace.wait(GAP_SECONDS)
        yield b"0\r\n\r\n"
    elif request.target == "/page":
        yield head + b"text/html\r\n\r\n" + chunk(PAGE[0])
        pace.wait(PAGE_PAUSE_SECONDS)
        yield chunk(PAGE[1]) + chunk(PAGE[2]) + b"0\r\n\r\n"
    elif request.target == "/slow":
        pace.wait(THINK_SECONDS)
        yield response(b"thought about", headers=b"ETag: \"x\"\r\n")
    else:
        yield response(b"here")


def arrivals(pieces, start):
    """All bytes, and (when they came since `start` in s, how many there were by then)."""
    body, times = b"", []
    for piece in pieces:
        body += piece
        times.append((time.monotonic() - start, len(body)))
    return body, times


class Pacing(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = self.origin(answer, tls=Certificate(self.folder / "tls"))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("https") as client:
            for path in ("/events", "/page", "/slow", "/quick"):
                client.get(path)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        listed = self.archive_json("ls", str(self.archive))
        shown = [self.archive_json("show", str(self.archive), str(each["number"]))
                 for each in listed]
        self.recorded = {each["request"]["target"]: each for each in shown}

    def due(self, path):
        """When each byte was there, in s since the head: (seconds, how many bytes by then)."""
        shown = self.recorded[path]
        head_ns = shown["timings"]["first_byte_ns"]
        chunks = {}
        for each in shown["response"]["chunks"]:  # the end of a chunked body may count as a piece
            chunks.setdefault(each["end_bytes"], (each["ns"] - head_ns) / 1e9)
        self.assertGreater(len(chunks), 1)
        return [(seconds, size) for size, seconds in chunks.items()]

    def get_over_h1(self, replay, path):
        with replay.connect("https") as client:
            start = time.monotonic()
            client.send(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            got = client.read_head()
            self.assertEqual(got.status, 200)
            return arrivals(client.body_pieces(got, "GET"), start)

    def get_over_h2(self, replay, path):
        start = time.monotonic()
        with subprocess.Popen(["curl", "-sSN", "--http2", "-w", "%{stderr}%{http_version}",
                               "--max-time", str(DEADLINE_SECONDS), "--cacert", replay.ca_file,
                               "--connect-to", "::" + replay.ready["https"],
                               f"https://{HOST}{path}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as curl:
            got = arrivals(iter(lambda: os.read(curl.stdout.fileno(), 65536), b""), start)
            self.assertEqual(curl.stderr.read(), b"2")
        return got

    def assert_not_sooner(self, times, due):
        for seconds, size in due:
            came = next(when for when, got in times if got >= size)
            self.assertGreaterEqual(came, seconds - 0.001, f"{size} bytes of {times}")

    def paced(self, get, *arguments):
        replay = self.replay(self.archive, "--report", str(self.folder / "report"), *arguments)
        body, times = get(replay, "/events")
        self.assertEqual(body, b"".join(EVENTS))
        self.assert_not_sooner(times, self.due("/events"))
        body, times = get(replay, "/page")
        self.assertEqual(body, b"".join(PAGE))
        first = len(PAGE[0])
        self.assert_not_sooner(times, [at for at in self.due("/page") if at[1] > first][:1])
        self.assertEqual(replay.stop(), 0, replay.log())
        self.assertIn("pauses in bodies", replay.log())

    def test_streams_and_pauses_come_as_they_came_over_h1(self):
        self.paced(self.get_over_h1)

    def test_streams_and_pauses_come_as_they_came_over_h2(self):
        self.paced(self.get_over_h2, "--protocol", "h2")

    def report_after(self, *arguments):
        """All paths once; what the report says of time."""
        replay = self.replay(self.archive, "--report", str(self.folder / "report"), *arguments)
        took = {}
        with replay.connect("https") as client:
            for path in ("/events", "/page", "/slow", "/quick"):
                start = time.monotonic()
                client.get(path)
                took[path] = time.monotonic() - start
            client.get("/slow", method="HEAD")
            client.get("/slow", headers=b"Range: bytes=1-2\r\n")
        self.assertEqual(replay.stop(), 0, replay.log())
        return took, harness.json.loads((self.folder / "report").read_text())["timing"]

    def test_nothing_waits_where_nothing_is_to_be_waited_for(self):
        _, timing = self.report_after("--pace", "none")
        nothing = {"waits": 0, "waited_ms": 0.0}
        self.assertEqual(timing, {"think_time": "none", "pace": "none", "before_heads": nothing,
                                  "in_bodies": nothing})

    def test_think_time_is_what_it_was(self):
        timings = self.recorded["/slow"]["timings"]
        waited = (timings["first_byte_ns"] - timings["request_sent_ns"]) / 1e9
        self.assertGreaterEqual(waited, THINK_SECONDS - 0.01)
        took, timing = self.report_after("--pace", "none", "--think-time", "recorded")
        self.assertGreaterEqual(took["/slow"], THINK_SECONDS - 0.05)  # a round trip is taken off
        self.assertEqual(timing["think_time"], "recorded")
        self.assertGreaterEqual(timing["before_heads"]["waited_ms"],
                                3 * (THINK_SECONDS - 0.05) * 1000)  # of HEAD and ranges, too

    def test_think_time_is_what_it_is_told_to_be(self):
        took, timing = self.report_after("--pace", "none", "--think-time", "40")
        for path, seconds in took.items():
            self.assertGreaterEqual(seconds, 0.04, path)
        self.assertEqual(timing["think_time"], "40 ms")
        self.assertEqual(timing["before_heads"]["waits"], 6)
        took, timing = self.report_after("--pace", "none", "--think-time", "x2")
        self.assertGreaterEqual(took["/slow"], 2 * THINK_SECONDS - 0.1)

    def test_an_edited_think_time_is_replayed(self):
        edited = str(self.folder / "b.reprise")
        done = harness.run("archive", "edit", str(self.archive), "path=/quick or path=/slow",
                           "--think-time", "+200ms", "-o", edited)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"the think time of 2 exchanges", done.stderr)
        numbers = {each["url"].rsplit("/", 1)[1]: each["number"]
                   for each in self.archive_json("ls", edited)}
        done = harness.run("archive", "edit", edited, str(numbers["slow"]), "--think-time",
                           "-50ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        for arguments in (("1", "--think-time", "1s"), ("path=/slow", "--raw"),
                          ("1", "--head", "--think-time", "1")):
            done = harness.run("archive", "edit", edited, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
        self.assert_sound(edited)
        self.archive = edited
        took, _ = self.report_after("--think-time", "recorded")
        self.assertGreaterEqual(took["/quick"], 0.2)
        self.assertGreaterEqual(took["/slow"], THINK_SECONDS + 0.1)

    def test_other_think_times_are_refused(self):
        for text in ("fast", "x", "-1", "1s"):
            done = harness.run("replay", "--think-time", text, str(self.archive))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"none, recorded, xFACTOR or milliseconds", done.stderr)

    def sockets(self, pid):
        count = 0
        for each in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed since it was listed
                count += os.readlink(each).startswith("socket:")
        return count

    def test_a_client_that_goes_away_ends_the_wait(self):
        replay = self.replay(self.archive, "--think-time", HOUR_MS)
        before = self.sockets(replay.pid)
        with socket.create_connection(replay.address("http"), DEADLINE_SECONDS) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client = Client(sock)
            client.send(b"GET /quick HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\n\r\n")
            self.wait_for(lambda: self.sockets(replay.pid) == before + 1)
        self.wait_for(lambda: self.sockets(replay.pid) == before)
        curl = subprocess.Popen(["curl", "-sS", "--http2", "--cacert", replay.ca_file,
                                 "--connect-to", "::" + replay.ready["https"],
                                 f"https://{HOST}/quick"], stderr=subprocess.DEVNULL)
        self.wait_for(lambda: self.sockets(replay.pid) == before + 1)
        curl.kill()
        curl.wait()
        self.wait_for(lambda: self.sockets(replay.pid) == before)

    def wait_for(self, condition):
        pace, deadline = threading.Event(), time.monotonic() + DEADLINE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            pace.wait(0.02)

    def test_what_is_under_way_when_it_ends_is_finished_without_waiting(self):
        for protocol in ("h1", "h2"):
            replay = self.replay(self.archive, "--think-time", HOUR_MS, "--protocol", protocol,
                                 "--admin", "127.0.0.1:0")
            curl = subprocess.Popen(["curl", "-sS", "--cacert", replay.ca_file, "--connect-to",
                                     "::" + replay.ready["https"], f"https://{HOST}/quick"],
                                    stdout=subprocess.PIPE)
            self.wait_for(lambda: self.status(replay)["hits"] == 1)
            self.assertEqual(replay.stop(), 0, replay.log())
            self.assertEqual(curl.communicate(timeout=DEADLINE_SECONDS)[0], b"here")
            self.assertEqual(curl.returncode, 0)

    def status(self, replay):
        with replay.connect("admin") as client:
            return harness.json.loads(client.get("/status", host="localhost").body)


if __name__ == "__main__":
    harness.main()
