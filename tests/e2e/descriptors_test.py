#!/usr/bin/env python3
"""Out of descriptors: newcomers are served, over either version of HTTP, and the connections that
have been idle longest make room for them."""

import subprocess

import harness
from h2_test import Nginx
from h2_wire import ACK, GOAWAY, MAGIC, SETTINGS, Client, frame, head, settings
from wire import DEADLINE_SECONDS, HOST

LIMIT = 64
CLIENTS = 60


class Descriptors(harness.TestCase):
    def recorded(self):
        archive = self.folder / "a.reprise"
        origin = Nginx(self.folder)
        self.addCleanup(origin.close)
        recorder = self.record(archive, origins=(origin,))
        subprocess.run(["curl", "-sS", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"], f"https://{HOST}/small"], check=True,
                       capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return archive

    def few_descriptors(self):
        return self.replay(self.recorded(),
                           wrapper=("sh", "-c", f'ulimit -n {LIMIT}; exec "$@"', "sh"))

    def open_h2(self, replay):
        client = Client(replay.address("https"))
        self.addCleanup(client.sock.close)
        client.send(MAGIC + settings() + frame(SETTINGS, ACK) + head(1, (
            (":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", "/small"))))
        while True:
            seen = client.next()
            self.assertIsNotNone(seen)
            self.assertNotEqual(seen.kind, GOAWAY)
            if seen.ends(1):
                return client

    def test_idle_connections_make_room(self):
        replay = self.few_descriptors()
        h1, h2 = [], []
        for _ in range(CLIENTS):
            h1.append(replay.connect("https"))
            self.addCleanup(h1[-1].close)
            self.assertEqual(h1[-1].get("/small").status, 200)
            h2.append(self.open_h2(replay))
        # Those that were told to go were told that nothing of theirs was lost.
        seen = h2[0].next()
        while seen.kind != GOAWAY:
            seen = h2[0].next()
        self.assertEqual(seen.code(), 0)
        self.assertIsNone(h2[0].next())
        with self.assertRaises((EOFError, OSError)):
            h1[0].get("/small")
        self.assertEqual(h1[-1].get("/small").status, 200)
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    harness.main()
