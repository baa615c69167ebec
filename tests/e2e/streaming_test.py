#!/usr/bin/env python3
"""Bytes pass through the recorder as they come.

usage: streaming_test.py             run as a test
       streaming_test.py --figure    report the time that the recorder adds before the first byte
"""

import statistics
import sys
import threading
import time

import figure
import harness
from wire import Close

CHUNKS = 20
TRICKLE_SECONDS = 2
TRICKLE_BYTES = 20
ROUNDS = 9


class LockStep:
    """An origin that sends a chunk only when the client has the one before."""

    def __init__(self):
        self.got = [threading.Event() for _ in range(CHUNKS)]

    def answer(self, _):
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for i, got in enumerate(self.got):
            yield b"8\r\nchunk%3d\r\n" % i
            if not got.wait(harness.DEADLINE_SECONDS):
                raise AssertionError(f"chunk {i} never came through")
        yield b"0\r\n\r\n"


class Streaming(harness.TestCase):
    def test_each_chunk_passes_before_the_next_is_sent(self):
        for way_in in ("http", "proxy"):
            with self.subTest(way_in=way_in):
                lock_step = LockStep()
                origin = self.origin(lock_step.answer)
                recorder = self.record(self.folder / f"{way_in}.reprise", origins=(origin,))
                body = b""

                def take(piece):
                    nonlocal body
                    body += piece
                    for got in lock_step.got[:len(body) // 8]:
                        got.set()

                with recorder.connect(way_in) as client:
                    target = "http://origin.test/" if way_in == "proxy" else "/"
                    client.send(f"GET {target} HTTP/1.1\r\nHost: origin.test\r\n\r\n".encode())
                    got = client.read_response(sink=take)
                self.assertFalse(got.cut)
                self.assertEqual(body, b"".join(b"chunk%3d" % i for i in range(CHUNKS)))
                self.assertEqual(origin.failures, [])
                self.assertEqual(recorder.stop(), 0, recorder.log())

    def test_each_piece_of_an_upload_passes_before_the_next_is_sent(self):
        pieces = 20
        arrived = [threading.Event() for _ in range(pieces)]

        def before_body(connection, _line, _headers):
            for event in arrived:
                self.assertEqual(b"".join(connection.exactly(4)), b"data")
                event.set()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            raise Close

        origin = self.origin(lambda _: b"", before_body=before_body)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("http") as client:
            client.send(b"POST /up HTTP/1.1\r\nHost: origin.test\r\nContent-Length: %d\r\n\r\n"
                        % (4 * pieces))
            for i, event in enumerate(arrived):
                client.send(b"data")
                self.assertTrue(event.wait(harness.DEADLINE_SECONDS), f"piece {i} was held back")
            self.assertEqual(client.read_response().body, b"ok")


def trickle(_):
    """A body that takes TRICKLE_SECONDS to send; pacing is what is measured here."""
    pace = threading.Event()
    yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TRICKLE_BYTES
    for _ in range(TRICKLE_BYTES):
        yield b"."
        pace.wait(TRICKLE_SECONDS / TRICKLE_BYTES)


def first_byte_ms(client):
    start = time.perf_counter()
    client.send(b"GET / HTTP/1.1\r\nHost: origin.test\r\n\r\n")
    client.read_head()
    client.read_some(1)
    elapsed_ms = (time.perf_counter() - start) * 1000
    for _ in client.exactly(TRICKLE_BYTES - 1):
        pass
    client.close()
    return elapsed_ms


def report_figure():
    case = Streaming()
    case.setUp()
    try:
        origin = case.origin(trickle)
        recorder = case.record(case.folder / "a.reprise", origins=(origin,))
        direct = [first_byte_ms(origin.connect()) for _ in range(ROUNDS)]
        through = [first_byte_ms(recorder.connect("http")) for _ in range(ROUNDS)]
        added = statistics.median(through) - statistics.median(direct)
        figure.report("first_byte_added", round(added, 3), "ms", "< 5")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--figure"]:
        report_figure()
    else:
        harness.main()
