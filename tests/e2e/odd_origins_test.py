#!/usr/bin/env python3
"""Origins that break the rules of HTTP/1.1, and that browsers bear: what Chromium shows of them
directly it shows of the recording and of the replay, and clients get a message that can be read one
way. proxy/http/ORIGINS.md has the whole table."""

import json
import subprocess
import unittest

import devtools
import harness
from wire import HOST, Certificate, Close

BODY = b"<title>shown</title>hello, odd world"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


def odd(line=b"HTTP/1.1 200 OK", fields=b"", length=LENGTH, body=BODY):
    return line + b"\r\nContent-Type: text/html\r\n" + fields + length + b"\r\n" + body


# What each origin sends before it closes, and what its client can make of it: SHOWN, or FAILS as in
# Chromium itself.
SHOWN, FAILS = True, False
ORIGINS = {
    "a space in a name": (odd(fields=b"X Bad: 1\r\n"), SHOWN),
    "a name beyond ASCII": (odd(fields=b"X-\xc3\xa9: 1\r\n"), SHOWN),
    "a separator in a name": (odd(fields=b"X(a): 1\r\n"), SHOWN),
    "no name": (odd(fields=b": 1\r\n"), SHOWN),
    "a space behind a name": (odd(fields=b"X-A : 1\r\n"), SHOWN),
    "no colon": (odd(fields=b"a line\r\n"), SHOWN),
    "a folded line": (odd(fields=b"X-A: 1\r\n 2\r\n"), SHOWN),
    "a first line that is folded": (odd(fields=b" X-A: 1\r\n"), SHOWN),
    "a CR in a value": (odd(fields=b"X-A: 1\rX-B: 2\r\n"), SHOWN),
    "a CR in a name": (odd(fields=b"X\rX-B: 2\r\n"), SHOWN),
    "a control character in a value": (odd(fields=b"X-A: a\x01b\r\n"), SHOWN),
    "a NUL in a value": (odd(fields=b"X-A: a\0b\r\n"), FAILS),
    "a NUL in a name": (odd(fields=b"X\0A: b\r\n"), FAILS),
    "a negative length": (odd(length=b"Content-Length: -1\r\n"), SHOWN),
    "a length that is text": (odd(length=b"Content-Length: long\r\n"), SHOWN),
    "an empty length": (odd(length=b"Content-Length:\r\n"), SHOWN),
    "a length with a sign": (odd(length=b"Content-Length: +5\r\n"), SHOWN),
    "a length with a tail": (odd(length=b"Content-Length: 5;\r\n"), SHOWN),
    "a length beyond all numbers": (odd(length=b"Content-Length: 99999999999999999999\r\n"), SHOWN),
    "a length twice": (odd(fields=LENGTH), SHOWN),
    "a length in a list": (odd(length=b"Content-Length: 36, 36\r\n"), SHOWN),
    "two lengths": (odd(fields=b"Content-Length: 5\r\n"), FAILS),
    "two lengths in a list": (odd(length=b"Content-Length: 36, 5\r\n"), FAILS),
    "a length that is none beside one": (odd(fields=b"Content-Length: -1\r\n"), FAILS),
    "a length hidden by a CR": (odd(length=b"X-A: 1\rContent-Length: 36\r\n"), SHOWN),
    "chunks beside a negative length":
        (odd(fields=CHUNKED, length=b"Content-Length: -1\r\n", body=CHUNKS), SHOWN),
    "chunks beside two lengths":
        (odd(fields=CHUNKED + b"Content-Length: 1\r\n", body=CHUNKS), SHOWN),
    "chunks twice": (odd(fields=CHUNKED + CHUNKED, length=b"", body=CHUNKS), SHOWN),
    "chunks of an old origin": (odd(b"HTTP/1.0 200 OK", CHUNKED, b"", CHUNKS), SHOWN),
    "a coding that is none": (odd(fields=b"Transfer-Encoding: identity\r\n"), SHOWN),
    "a version in lower case": (odd(b"http/1.1 200 OK"), SHOWN),
    "HTTP/1.2": (odd(b"HTTP/1.2 200 OK"), SHOWN),
    "HTTP/2.0": (odd(b"HTTP/2.0 200 OK"), SHOWN),
    "HTTP/1": (odd(b"HTTP/1 200 OK"), SHOWN),
    "no version": (odd(b"HTTP 200 OK"), SHOWN),
    "an audio stream's status line": (odd(b"ICY 200 OK"), SHOWN),
    "a byte order mark": (odd(b"\xef\xbb\xbfHTTP/1.1 200 OK"), SHOWN),
    "an empty line": (odd(b"\r\nHTTP/1.1 200 OK"), SHOWN),
    "a line of junk": (odd(b"some junk\r\nHTTP/1.1 200 OK"), FAILS),
    "no HTTP": (BODY, FAILS),
    "a status of four digits": (odd(b"HTTP/1.1 0200 OK"), SHOWN),
    "a status without a space": (odd(b"HTTP/1.1 200OK"), SHOWN),
    "a status that is text": (odd(b"HTTP/1.1 fine OK"), SHOWN),
    "no status": (odd(b"HTTP/1.1"), SHOWN),
    "two spaces": (odd(b"HTTP/1.1  200  OK"), SHOWN),
    "line feeds alone": (odd(fields=b"X-A: 1\r\n").replace(b"\r\n", b"\n"), SHOWN),
}
NAMES = list(ORIGINS)


def path_of(name):
    return f"/{NAMES.index(name)}"


def answer(request):
    number = request.target.strip("/")
    if number.isdigit():
        yield ORIGINS[NAMES[int(number)]][0]
    raise Close


class Browser(devtools.Page):
    """Tells what a page shows, or that no page is shown."""

    def __init__(self):
        self.events = []
        super().__init__()

    def _note(self, method, event):
        super()._note(method, event)
        if method:
            self.events.append((method, event))

    def shown(self, url):
        self.events = []
        loaded = self.call("Page.navigate", url=url)
        if loaded.get("errorText"):
            return None

        def of_page(method, event):
            return method.startswith("Network.loading") and event["requestId"] == loaded["loaderId"]
        while not (ended := [each for each in self.events if of_page(*each)]):
            self._next()
        if ended[0][0] == "Network.loadingFailed":
            return None
        head = next(event["response"] for method, event in self.events
                    if method == "Network.responseReceived" and event["type"] == "Document")
        if head["status"] == 502:
            return None
        fields = {name.lower(): " ".join(value.split()) for name, value in head["headers"].items()}
        for framing in ("content-length", "transfer-encoding"):
            fields.pop(framing, None)
        page = json.loads(self.evaluate(
            "JSON.stringify([document.title, document.body.innerText, document.contentType])"))
        return head["status"], head["statusText"], fields, page


class OddOrigins(harness.TestCase):
    def recorded(self, *arguments, **options):
        archive = self.folder / "odd.reprise"
        origin = self.origin(answer, **options)
        recorder = self.record(archive, "--inject", "none", *arguments, origins=(origin,))
        return archive, origin, recorder

    def check(self, name, got):
        raw, shown = ORIGINS[name]
        if not shown:
            self.assertEqual(got.status, 502)
            return
        self.assertEqual(got.status, 200)
        self.assertFalse(got.cut)
        expected = raw if name == "an audio stream's status line" else (
            CHUNKS if name == "chunks of an old origin" else BODY)
        self.assertEqual(got.body, expected)
        lengths, codings = got.all(b"content-length"), got.all(b"transfer-encoding")
        self.assertLessEqual(len(lengths) + len(codings), 1)
        for length in lengths:
            self.assertEqual(length, b"%d" % len(expected))
        for each, value in got.headers:
            self.assertRegex(each, rb"^[A-Za-z-]+$")
            self.assertNotIn(b"\r", value)

    def test_clients_get_a_message_that_can_be_read_one_way(self):
        archive, _, recorder = self.recorded()
        for name in NAMES:
            with self.subTest(name), recorder.connect("http") as client:
                self.check(name, client.get(path_of(name)))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assert_sound(archive)
        replay = self.replay(archive, "--failures", "miss")
        for name, (_, shown) in ORIGINS.items():
            with self.subTest(name, replayed=True), replay.connect("http") as client:
                got = client.get(path_of(name))
                if shown:
                    self.check(name, got)
                else:
                    self.assertEqual(got.status, 404)

    def test_the_archive_keeps_what_clients_do_not_get(self):
        archive, _, recorder = self.recorded()
        for name in ("a space in a name", "a negative length"):
            with recorder.connect("http") as client:
                client.get(path_of(name))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        fields = [self.archive_json("show", str(archive), str(number))["response"]["headers"]
                  for number in (1, 2)]
        self.assertIn(["X Bad", "1"], fields[0])
        self.assertIn(["Content-Length", "-1"], fields[1])

    def test_over_http_2_the_same_is_shown(self):
        archive, _, recorder = self.recorded(tls=Certificate(self.folder / "tls"))
        for name in NAMES:
            with recorder.connect("https") as client:
                client.get(path_of(name))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(archive, "--protocol", "h2")
        for name, (raw, shown) in ORIGINS.items():
            with self.subTest(name):
                done = subprocess.run(
                    ["curl", "--silent", "--http2", "--cacert", replay.ca_file, "--connect-to",
                     "::" + replay.ready["https"], "--write-out", "%{http_version}",
                     f"https://{HOST}{path_of(name)}"], capture_output=True, check=False,
                    timeout=harness.DEADLINE_SECONDS)
                self.assertEqual(done.returncode == 0, shown, done)
                if shown and name != "an audio stream's status line":
                    self.assertIn(BODY, done.stdout)
                    self.assertTrue(done.stdout.endswith(b"2"))

    @unittest.skipUnless(devtools.PROGRAM, "needs Chromium")
    def test_chromium_shows_the_same(self):
        origin = self.origin(answer)
        page = Browser()
        self.addCleanup(page.close)

        def look(at):
            return {name: page.shown(f"http://127.0.0.1:{at}{path_of(name)}") for name in NAMES}
        direct = look(origin.port)
        archive = self.folder / "a.reprise"
        recorder, port = harness.at_free_ports(
            lambda port: self.record(archive, "--inject", "none", "--http", f"127.0.0.1:{port}",
                                     "--connect-to", f"127.0.0.1:{port}:127.0.0.1:{origin.port}"),
            harness.LOOPBACK)
        recorded = look(port)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(archive, "--topology", "single", "--http", f"127.0.0.1:{port}")
        replayed = look(port)
        self.assertEqual(replay.stop(), 0, replay.log())
        for name, (_, shown) in ORIGINS.items():
            with self.subTest(name):
                self.assertEqual(direct[name] is not None, shown, "Chromium has changed its mind")
                self.assertEqual(recorded[name], direct[name])
                self.assertEqual(replayed[name], direct[name])


class Requests(harness.TestCase):
    def test_clients_are_borne_nothing(self):
        origin = self.origin(lambda _: odd())
        recorder = self.record(self.folder / "a.reprise", origins=(origin,))
        for request in (b"get / http/1.1\r\nHost: origin.test\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: origin.test\r\nX Bad: 1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: origin.test\r\nX-A: 1\rX-B: 2\r\n\r\n",
                        b"POST / HTTP/1.1\r\nHost: origin.test\r\nContent-Length: -1\r\n\r\n"):
            with self.subTest(request), recorder.connect("http") as client:
                client.send(request)
                self.assertGreaterEqual(client.read_response().status, 400)


if __name__ == "__main__":
    harness.main()
