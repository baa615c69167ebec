#!/usr/bin/env python3
"""A replay's listener and priorities over HTTP/2: what was written to the socket before a more
urgent request came cannot be overtaken, so it must not be much.

usage: h2_priority_test.py             run as a test
       h2_priority_test.py HOST PORT   the client alone: prints what came before the response
"""

import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import time

import harness
from h2_test import Nginx
from wire import DEADLINE_SECONDS, HOST

DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
RUNNING_BYTES = 300_000  # of the first response, before the second is asked for
LINK = "1.6mbit/768kbit/150ms"
NOT_PERMITTED = 4
RECEIVE_BUFFER_BYTES = 32 << 10
# On loopback: what is read before the server gets to run at all comes on top, on a busy machine.
TRIES = 30
# What is on its way: twice the receive buffer, which is what Linux makes of it, and what the server
# may have written without the client's system asking for it.
ON_ITS_WAY_BYTES_MAX = 2 * RECEIVE_BUFFER_BYTES + 200_000


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(
        ">I", stream) + payload


def literal(name, value):
    """A header field without any compression (RFC 7541 section 6.2.2)."""
    return b"\0" + b"".join(bytes((len(text),)) + text.encode() for text in (name, value))


def request(stream, path, priority):
    fields = ((":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", path),
              ("priority", priority))
    return frame(HEADERS, END_STREAM | END_HEADERS, stream,
                 b"".join(literal(*field) for field in fields))


def frames(sock):
    held = b""
    while True:
        while len(held) < 9 or len(held) < 9 + int.from_bytes(held[:3], "big"):
            got = sock.recv(4096)
            if not got:
                raise AssertionError("the connection has ended")
            held += got
        size = int.from_bytes(held[:3], "big")
        yield held[3], held[4], int.from_bytes(held[5:9], "big"), held[9:9 + size]
        held = held[9 + size:]


def connect(address, port):
    """TLS, with a client's system that takes little ahead of the client."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    raw.settimeout(DEADLINE_SECONDS)
    raw.connect((address, port))
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(raw, server_hostname=HOST)


def overtake(sock):
    """Bytes of the running response that came after the urgent one was asked for and before it
    came, the ms that it took, and whether the urgent one then came in one piece."""
    window = struct.pack(">HI", 4, 1 << 30)
    sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, window) +
                 frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)) +
                 request(1, "/large", "u=5"))
    received = 0
    order = []
    asked = first = None
    for kind, flags, stream, payload in frames(sock):
        if kind == SETTINGS and not flags & ACK:
            sock.sendall(frame(SETTINGS, ACK, 0))
        if kind != DATA:
            continue
        if asked is not None:
            order.append((stream, len(payload)))
            if stream == 3 and first is None:
                first = time.monotonic()
            if stream == 3 and flags & END_STREAM:
                break
        else:
            received += len(payload)
            if received > RUNNING_BYTES:
                sock.sendall(request(3, "/page", "u=1"))
                asked = time.monotonic()
    urgent = [stream for stream, _ in order].index(3)
    return {"before_bytes": sum(size for _, size in order[:urgent]),
            "ms": (first - asked) * 1000,
            "in_one_piece": {stream for stream, _ in order[urgent:]} == {3}}


class Priority(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = Nginx(self.folder)
        self.addCleanup(origin.close)
        recorder = self.record(self.archive, origins=(origin,))
        subprocess.run(["curl", "-sSf", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"], "-o", os.devnull, "-o", os.devnull,
                        f"https://{HOST}/large", f"https://{HOST}/page"], check=True,
                       capture_output=True)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def assert_overtaken(self, measured):
        self.assertTrue(measured["in_one_piece"], measured)
        self.assertLess(measured["before_bytes"], ON_ITS_WAY_BYTES_MAX)

    def test_an_urgent_response_overtakes_a_running_one(self):
        replay = self.replay(self.archive)
        for _ in range(TRIES):
            with connect(*replay.address("https")) as sock:
                measured = overtake(sock)
            if measured["before_bytes"] < ON_ITS_WAY_BYTES_MAX:
                break
        self.assert_overtaken(measured)

    def test_the_same_behind_a_link(self):
        done = harness.run("replay", "--link", LINK, "--inject", "none", "--dates", "recorded",
                           str(self.archive), "--", sys.executable, "-B", __file__, HOST, "443",
                           folder=self.folder)
        if done.returncode == NOT_PERMITTED:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        measured = json.loads(done.stdout)
        print(measured, file=sys.stderr)
        self.assert_overtaken(measured)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        with connect(sys.argv[1], int(sys.argv[2])) as connected:
            print(json.dumps(overtake(connected)))
    else:
        harness.main()
