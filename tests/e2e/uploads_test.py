#!/usr/bin/env python3
"""Uploads that stream: their answer comes while they go on, as it did."""

import json

import harness
from wire import HOST, Close, response

BEGIN = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"
END = b"6\r\nsecond\r\n0\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Uploads(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def begin(self, client, path="/stream"):
        client.send(f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n".encode() + chunk(b"one"))

    def test_a_call_in_both_directions_is_answered_before_it_is_over(self):
        """The client says more only when it has heard something."""
        origin = self.origin(lambda _: END,
                             before_body=lambda connection, *_: connection.send(BEGIN))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("http") as client:
            self.begin(client)
            client.read_head()
            client.read_line()
            self.assertEqual(client.read_line(), b"first")
            client.send(chunk(b"two") + b"0\r\n\r\n")
            self.assertEqual(client.read_line(), b"6")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        report = self.folder / "report.json"
        replay = self.replay(self.archive, "--report", str(report))
        for _ in range(2):
            with replay.connect("http") as client:
                self.begin(client)
                self.assertEqual(client.read_response("POST").body, b"firstsecond")
        self.assertEqual(replay.stop(), 0, replay.log())
        self.assertEqual(json.loads(report.read_text())["hits"], 2)

    def test_what_was_refused_unread_is_refused_unread(self):
        def refuse(connection, *_):
            connection.send(response(b"too much", b"413 Content Too Large"))
            raise Close
        recorder = self.record(self.archive, origins=(self.origin(None, before_body=refuse),))
        with recorder.connect("http") as client:
            self.begin(client)
            self.assertEqual(client.read_response("POST").status, 413)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        with self.replay(self.archive).connect("http") as client:
            self.begin(client)
            self.assertEqual(client.read_response("POST").status, 413)

    def test_what_was_answered_at_its_end_is_compared_first(self):
        origin = self.origin(lambda request: response(request.body))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("http") as client:
            for body in (b"1", b"2"):
                self.begin(client)
                client.send(chunk(body) + b"0\r\n\r\n")
                client.read_response("POST")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        with self.replay(self.archive).connect("http") as client:
            self.begin(client)
            client.send(chunk(b"2") + b"0\r\n\r\n")
            self.assertEqual(client.read_response("POST").body, b"one2")


if __name__ == "__main__":
    harness.main()
