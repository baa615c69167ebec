#!/usr/bin/env python3
"""A body of 300 MB is recorded and replayed in little memory, and held back by a slow client.

usage: large_body_test.py             run as a test
       large_body_test.py --figure    report the peak of anonymous memory, recording and replaying
"""

import hashlib
import pathlib
import re
import sys

import figure
import harness

BODY_BYTES = 300 * 1000 * 1000
BLOCK = hashlib.shake_256(b"large body").digest(1000 * 1000)
ANONYMOUS_MB_MAX = 64
SAMPLES = 60


def blocks():
    """The body, in pieces that all differ (so that nothing is stored once for many)."""
    for i in range(BODY_BYTES // len(BLOCK)):
        yield i.to_bytes(8, "big") + BLOCK[8:]


def answer(_):
    yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BODY_BYTES
    yield from blocks()


def body_digest():
    digest = hashlib.sha256()
    for block in blocks():
        digest.update(block)
    return digest.hexdigest()


def anonymous_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) / 1000


class Download:
    """Takes the body through `proxy`, and looks at the process's memory as it goes."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.digest = hashlib.sha256()
        self.received = 0
        self.peak_mb = 0
        with proxy.connect("http") as client:
            client.send(b"GET /film HTTP/1.1\r\nHost: origin.test\r\n\r\n")
            self.response = client.read_response(sink=self.take)

    def take(self, piece):
        self.digest.update(piece)
        position = self.received * SAMPLES // BODY_BYTES
        self.received += len(piece)
        if self.received * SAMPLES // BODY_BYTES != position:
            self.peak_mb = max(self.peak_mb, anonymous_mb(self.proxy.pid))


class LargeBody(harness.TestCase):
    def downloads(self):
        """The same body from a recorder, and with the origin off from a replay."""
        archive = self.folder / "a.reprise"
        origin = self.origin(answer)
        recorder = self.record(archive, origins=(origin,))
        recorded = Download(recorder)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()
        replay = self.replay(archive)
        replayed = Download(replay)
        self.assertEqual(replay.stop(), 0, replay.log())
        return recorded, replayed

    def test_it_goes_through_whole_and_in_little_memory(self):
        recorded, replayed = self.downloads()
        want = body_digest()
        for name, download in (("recorded", recorded), ("replayed", replayed)):
            with self.subTest(name):
                self.assertEqual(download.received, BODY_BYTES)
                self.assertEqual(download.digest.hexdigest(), want)
                self.assertLess(download.peak_mb, ANONYMOUS_MB_MAX)
        self.assert_sound(self.folder / "a.reprise")

    def test_a_client_that_stops_reading_stops_the_origin(self):
        sent = []

        def film(_):
            yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BODY_BYTES
            for block in blocks():
                yield block
                sent.append(len(block))

        origin = self.origin(film, timeout_seconds=15)
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        with recorder.connect("http") as client:
            client.send(b"GET /film HTTP/1.1\r\nHost: origin.test\r\n\r\n")
            self.assertEqual(client.read_head().status, 200)
            self.assertTrue(origin.connection_ended.wait(harness.DEADLINE_SECONDS))
            self.assertLess(sum(sent), ANONYMOUS_MB_MAX * 1000 * 1000)
            self.assertLess(anonymous_mb(recorder.pid), ANONYMOUS_MB_MAX)


def report_figures():
    case = LargeBody()
    case.setUp()
    try:
        for mode, download in zip(("record", "replay"), case.downloads()):
            figure.report(f"large_body_{mode}_anonymous_peak", download.peak_mb, "MB",
                          f"< {ANONYMOUS_MB_MAX}")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--figure"]:
        report_figures()
    else:
        harness.main()
