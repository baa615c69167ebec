#!/usr/bin/env python3
"""Whatever an origin sends comes out of the recorder, and with the origin off out of the replay:
the same status and reason, headers in order and case, body bytes, trailers.

Each response goes through all four ways in: both transparent listeners, and the explicit proxy
with absolute-form targets and with CONNECT. The replay is asked with curl.
"""

import gzip
import subprocess

import harness
from wire import Certificate, Close, HOST, parse_response, response

TEXT = b"".join(b"line %d of a text that compresses\n" % i for i in range(2000))
WAYS_IN = ("http", "proxy", "https", "connect")

# What a proxy has to say itself on each connection (RFC 9110 section 7.6.1), and Alt-Svc, which
# would take the client away. Content-Length is compared when the origin sent one.
OF_THE_CONNECTION = {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding",
                     b"upgrade", b"alt-svc"}


def pack(*command):
    return subprocess.run(command, input=TEXT, capture_output=True, check=True).stdout


def coded(coding, body):
    return response(body, headers=b"Content-Type: text/plain\r\nContent-Encoding: %b\r\n" % coding)


def closing(data):
    def pieces():
        yield data
        raise Close
    return pieces


CASES = {
    "identity": response(TEXT, headers=b"Content-Type: text/plain\r\n"),
    "gzip": coded(b"gzip", gzip.compress(TEXT)),
    "br": coded(b"br", pack("brotli", "-c", "-q", "5")),
    "zstd": coded(b"zstd", pack("zstd", "-c", "-q")),
    "every byte": response(bytes(range(256)) * 16),
    "coded as it says, in truth not": coded(b"gzip", b"this is not gzip"),
    "empty": response(),
    "empty chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "204": b"HTTP/1.1 204 No Content\r\nX-Kept: yes\r\n\r\n",
    "304": b'HTTP/1.1 304 Not Modified\r\nETag: "a1"\r\nVary: Accept\r\n\r\n',
    "404": response(b"gone fishing", status=b"404 Not Found"),
    "500": response(b"oh", status=b"500 Internal Server Error"),
    "redirect": response(status=b"301 Moved Permanently", headers=b"Location: /elsewhere?a=b\r\n"),
    "HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 123456\r\nX-Kept: yes\r\n\r\n",
    "HEAD without length": b"HTTP/1.1 200 OK\r\nX-Kept: yes\r\n\r\n",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"5\r\nhello\r\n1;ext=\"x\"\r\n,\r\n006\r\n world\r\n0\r\n\r\n",
    "chunked with trailers": b"HTTP/1.1 200 OK\r\nTrailer: X-Sum, x-oDD\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n"
                             b"5\r\nhello\r\n0\r\nX-Sum: 5d41\r\nx-oDD: 1\r\nx-oDD: 2\r\n\r\n",
    "close-delimited": closing(b"HTTP/1.1 200 OK\r\nX-Kept: yes\r\n\r\n" + TEXT),
    "close-delimited and empty": closing(b"HTTP/1.1 200 OK\r\nX-Kept: yes\r\n\r\n"),
    "HTTP/1.0": closing(b"HTTP/1.0 200 OK\r\nX-Kept: yes\r\n\r\nold"),
    "HTTP/1.0 with length": closing(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold"),
    "4,000 headers": response(b"many", headers=b"".join(b"X-%d: value %d\r\n" % (i, i)
                                                        for i in range(4000))),
    "duplicate Set-Cookie": response(b"c", headers=b"Set-Cookie: a=1; Path=/\r\nX-Between: 1\r\n"
                                     b"Set-Cookie: b=2\r\nset-cookie: a=1; Path=/\r\n"),
    "odd header case": response(b"o", headers=b"x-ALL-oVeR: 1\r\nETAG: \"q\"\r\n"
                                b"content-TYPE: a/b\r\n"),
    "odd reason": response(b"r", status=b"200 caf\xe9 d\xe9j\xe0 vu"),
    "odd values": response(b"v", headers=b"X-Empty:\r\nX-Two:  a   b \r\nX-Latin: caf\xe9\r\n"
                           b"X-Colon: a:b::c\r\n"),
    "odd reason": response(b"r", status=b"200 Fine, thanks; and you?"),
    "empty reason": b"HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx",
    "odd status": response(b"s", status=b"299 Odd"),
}


def method_of(name):
    return "HEAD" if name.startswith("HEAD") else "GET"


def path_of(way_in, name):
    return f"/{way_in}/{list(CASES).index(name)}"


def answer(request):
    case = CASES[list(CASES)[int(request.target.rsplit("/", 1)[1])]]
    return case() if callable(case) else case


def sent(name):
    """What the origin sends, as the client should see it."""
    case = CASES[name]
    data = next(case()) if callable(case) else case
    return parse_response(data, method_of(name))


def shown(parsed):
    """Everything about a response that must not change on the way."""
    return {"status": parsed.status, "reason": parsed.reason, "headers": end_to_end(parsed.headers),
            "body": parsed.body, "trailers": parsed.trailers, "cut": parsed.cut}


def end_to_end(headers):
    return [(name, value) for name, value in headers
            if name.lower() not in OF_THE_CONNECTION | {b"content-length"}]


def curl(replay, way_in, name):
    """The response as curl got it, byte for byte."""
    scheme = "https" if way_in in ("https", "connect") else "http"
    command = ["curl", "-sS", "--raw", "--http1.1", "--max-time", str(harness.DEADLINE_SECONDS),
               "-I" if method_of(name) == "HEAD" else "-i", "--cacert", replay.ca_file]
    if way_in in ("proxy", "connect"):
        command += ["--suppress-connect-headers", "-x", "http://" + replay.ready["proxy"]]
    else:
        command += ["--connect-to", "::" + replay.ready[scheme]]
    done = subprocess.run([*command, f"{scheme}://{HOST}{path_of(way_in, name)}"],
                          capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"curl: {done.stderr.decode()}")
    return parse_response(done.stdout, method_of(name))


class Fidelity(harness.TestCase):
    def assert_same(self, name, got):
        want = sent(name)
        self.assertEqual(shown(want), shown(got))
        if length := want.all(b"content-length"):
            self.assertEqual(length, got.all(b"content-length"))

    def record_all(self, archive):
        clear = self.origin(answer)
        secure = self.origin(answer, tls=Certificate(self.folder / "tls"))
        recorder = self.record(archive, origins=(clear, secure))
        for way_in in WAYS_IN:
            for name in CASES:
                with self.subTest("recorded", way_in=way_in, case=name), \
                     recorder.connect(way_in) as client:
                    got = client.get(path_of(way_in, name), method=method_of(name),
                                     form="absolute" if way_in == "proxy" else "origin")
                    self.assert_same(name, got)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(clear.failures + secure.failures, [])
        clear.close()
        secure.close()

    def test_every_response_comes_back_as_it_was_sent(self):
        archive = self.folder / "a.reprise"
        self.record_all(archive)
        self.assert_sound(archive)
        replay = self.replay(archive)
        for way_in in WAYS_IN:
            for name in CASES:
                with self.subTest("replayed", way_in=way_in, case=name):
                    self.assert_same(name, curl(replay, way_in, name))
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    harness.main()
