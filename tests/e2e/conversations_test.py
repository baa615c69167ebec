#!/usr/bin/env python3
"""Answers that are part of a longer talk: challenges, redirects in a circle, early hints, upgrades,
ends of connections. Each is recorded, and its replay compared."""

import itertools
import subprocess

import harness
from wire import HOST, Certificate, response

BASIC = b"Authorization: Basic YTpi\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"


class Conversations(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def talk(self, process, asks):
        """All there is of each answer, and whether the connection went on."""
        heard = []
        client = process.connect("http")
        for path, headers in asks:
            got = client.get(path, headers=headers)
            heard.append((got.status_line, got.headers, got.body,
                          [(each.status_line, each.headers) for each in got.interim]))
            if got.framing == "close" or b"close" in got.all(b"connection"):
                self.assertTrue(client.closed_by_peer())
                heard.append("closed")
                client.close()
                client = process.connect("http")
        client.close()
        return heard

    def compare(self, answer, *asks):
        """Records the talk, replays it, and returns what was heard, which is the same."""
        recorder = self.record(self.archive, origins=(self.origin(answer),))
        recorded = self.talk(recorder, asks)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.archive, "--strict")
        self.assertEqual(self.talk(replay, asks), recorded)
        self.assertEqual(replay.stop(), 0, replay.log())
        return [each for each in recorded if each != "closed"]

    def test_a_challenge_and_what_answers_it(self):
        for status, field in ((b"401 Unauthorized", b"WWW-Authenticate: Basic realm=x\r\n"),
                              (b"407 Proxy Authentication Required",
                               b"Proxy-Authenticate: Basic realm=x\r\n")):
            self.archive.unlink(missing_ok=True)
            def answer(request, status=status, field=field):
                if request.all(b"authorization"):
                    return response(b"in")
                return response(b"who?", status, field)
            heard = self.compare(answer, ("/", b""), ("/", BASIC), ("/b", b""), ("/b", BASIC))
            self.assertEqual([body for _, _, body, _ in heard], [b"who?", b"in"] * 2)

    def test_a_redirect_to_itself_ends_as_it_did(self):
        count = itertools.count()
        def answer(_):
            if next(count) < 3:
                return response(status=b"302 Found", headers=b"Location: /\r\nSet-Cookie: a=1\r\n")
            return response(b"there")
        heard = self.compare(answer, *[("/", b"")] * 4)
        self.assertEqual([line.split()[1] for line, *_ in heard], [b"302"] * 3 + [b"200"])

    def test_a_redirect_in_a_circle_goes_on_for_ever(self):
        def answer(request):
            return response(status=b"301 Moved", headers=b"Location: " +
                            (b"/b" if request.target == "/a" else b"/a") + b"\r\n")
        self.compare(answer, *[("/a", b""), ("/b", b"")] * 2)
        with self.replay(self.archive).connect("http") as client:
            for _ in range(20):
                self.assertEqual(client.get("/a").all(b"location"), [b"/b"])
                self.assertEqual(client.get("/b").all(b"location"), [b"/a"])

    def test_early_hints_come_first(self):
        (heard,) = self.compare(lambda _: [HINTS, HINTS, response(b"page")], ("/", b""))
        self.assertEqual([line for line, _ in heard[3]], [b"HTTP/1.1 103 Early Hints"] * 2)

    def test_early_hints_come_over_h2(self):
        origin = self.origin(lambda _: [HINTS, response(b"page", headers=b"Connection: close\r\n")],
                             tls=Certificate(self.folder / "certificate"))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("https") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.archive, "--protocol", "h2")
        host, port = replay.address("https")
        done = subprocess.run(
            ["curl", "-sS", "--http2", "--cacert", replay.ready["ca_file"], "--connect-to",
             f"::{host}:{port}", "-D", "-", f"https://{HOST}/", f"https://{HOST}/"],
            capture_output=True, timeout=harness.DEADLINE_SECONDS, check=True)
        self.assertEqual(done.stdout.count(b"HTTP/2 103"), 2)
        self.assertEqual(done.stdout.count(b"link: </s.css>; rel=preload"), 2)
        self.assertNotIn(b"connection:", done.stdout)

    def test_the_end_of_a_connection_is_its_end(self):
        self.compare(lambda request: response(b"bye", headers=b"Connection: close\r\n"),
                     ("/", b""), ("/", b""))

    def test_an_offer_to_upgrade_is_not_taken_up(self):
        upgrade = (b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                   b"HTTP2-Settings: AAMAAABk\r\n")
        heard = self.compare(lambda _: response(b"plain"), ("/", upgrade), ("/", b""))
        self.assertEqual([body for _, _, body, _ in heard], [b"plain"] * 2)

    def test_an_upgrade_that_nobody_asked_for_is_a_failure_of_the_origin(self):
        switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
        recorder = self.record(self.archive, origins=(self.origin(lambda _: switch),))
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/").status, 502)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        with self.replay(self.archive).connect("http") as client:
            self.assertRaises((EOFError, ConnectionResetError), client.get, "/")

    def test_not_modified_is_for_who_has_a_copy(self):
        def answer(request):
            if request.all(b"if-none-match"):
                return b"HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"
            return response(b"page", headers=b'ETag: "v1"\r\n')
        copy = b'If-None-Match: "v1"\r\n'
        self.compare(answer, ("/", b""), ("/", copy), ("/cached", copy))
        with self.replay(self.archive).connect("http") as client:
            got = [client.get("/", headers=each).status for each in (copy, b"", b"", copy)]
            self.assertEqual(got, [304, 200, 200, 304])
            missed = client.get("/cached")
            self.assertEqual(missed.status, 404)
            self.assertIn(b"recorded as not modified, and the client has no copy", missed.body)


if __name__ == "__main__":
    harness.main()
