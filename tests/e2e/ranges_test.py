#!/usr/bin/env python3
"""Conditional and partial requests: a replay of a file that was recorded once, as a whole, answers
as the nginx that it came from, request by request, but for If-Modified-Since beside
If-None-Match."""

import email
import random
import socket

import harness
import nginx_site
from test_seed import TEST_SEED
from wire import Client

SIZES = {"/small": 1000, "/empty": 0, "/large": 3 << 20}
ROUNDS = 240
SERVER = """
  default_type text/plain;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; }}"""


class Requests:
    """Random requests for one file, as often malformed as a hostile client's."""

    def __init__(self, rng, size, etag, modified):
        self.rng, self.size, self.etag, self.modified = rng, size, etag, modified

    def position(self):
        edges = (0, 1, self.size - 1, self.size, self.size + 1, 1 << 62, 1 << 63, 10**30)
        return max(0, self.rng.choice((*edges, self.rng.randrange(self.size + 10))))

    def range_item(self):
        kind = self.rng.randrange(12)
        if kind < 6:
            first = self.position()
            return f"{first}-{first + self.rng.randrange(300)}"
        first, last = self.position(), self.position()
        return (f"{first}-", f"-{last}", f"{first}-{last}", f" {first} - {last} ", "x",
                "")[kind - 6]

    def range_field(self):
        items = [self.range_item() for _ in range(self.rng.choice((1, 1, 1, 2, 3, 8)))]
        return self.rng.choice(("bytes=",) * 9 + ("BYTES=", "items=", "bytes ")) + ",".join(items)

    def tag(self):
        return self.rng.choice((self.etag, "W/" + self.etag, '"other"', "*", self.etag[:-1],
                                f'"a", {self.etag}', f'"b",W/{self.etag} ,"c"', ""))

    def date(self):
        return self.rng.choice((self.modified, "Thu, 01 Jan 1970 00:00:00 GMT",
                                "Fri, 01 Jan 2038 00:00:00 GMT", "yesterday"))

    def fields(self):
        fields = {}
        if self.rng.random() < .7:
            fields["Range"] = self.range_field()
        if self.rng.random() < .3:
            fields["If-Range"] = self.rng.choice((self.tag, self.date))()
        for name, value in (("If-None-Match", self.tag), ("If-Match", self.tag),
                            ("If-Modified-Since", self.date), ("If-Unmodified-Since", self.date)):
            if self.rng.random() < .15:
                fields[name] = value()
        return fields


def for_nginx(fields):
    """Beside If-None-Match, nginx counts If-Modified-Since, against RFC 9110 section 13.1.3."""
    ignored = {"If-Modified-Since"} if "If-None-Match" in fields else set()
    return {name: value for name, value in fields.items() if name not in ignored}


def text_of(fields):
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()


def parts_of(got):
    """The parts of multipart/byteranges, or the body as it is."""
    kind = b"".join(got.all(b"content-type"))
    if not kind.startswith(b"multipart/byteranges"):
        return got.body
    message = email.message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + got.body)
    return [(part["Content-Type"], part["Content-Range"], part.get_payload(decode=True))
            for part in message.get_payload()]


def outcome(got):
    """What must be equal: of errors only that they are, and which."""
    fields = (b"content-range", b"etag", b"last-modified")
    if got.status in (200, 206):
        return got.status, [got.all(name) for name in fields], parts_of(got)
    if got.status == 304:
        return got.status, got.all(b"etag"), got.all(b"last-modified"), got.body
    return got.status, got.all(b"content-range")


class Ranges(harness.TestCase):
    def setUp(self):
        super().setUp()
        files = self.folder / "files"
        files.mkdir()
        rng = random.Random(1)
        for path, size in SIZES.items():
            (files / path[1:]).write_bytes(rng.randbytes(size))
        nginx, self.port = harness.at_free_ports(
            lambda port: nginx_site.start(self.folder,
                                          SERVER.format(folder=self.folder, port=port)),
            harness.LOOPBACK)
        self.addCleanup(nginx_site.stop, nginx)

    def origin_client(self):
        return Client(socket.create_connection(("127.0.0.1", self.port), harness.DEADLINE_SECONDS))

    def test_answers_are_those_of_nginx(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, "--connect-to", f"origin.test:80:127.0.0.1:{self.port}")
        validators = {}
        with recorder.connect("http") as client:
            for path in SIZES:
                got = client.get(path)
                self.assertEqual(got.status, 200)
                validators[path] = [got.all(name)[0].decode()
                                    for name in (b"etag", b"last-modified")]
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(archive)
        rng = random.Random(TEST_SEED)
        seen = {}
        with replay.connect("http") as ours:
            for number in range(ROUNDS):
                path = rng.choice(list(SIZES))
                fields = Requests(rng, SIZES[path], *validators[path]).fields()
                method = rng.choice(("GET", "GET", "GET", "HEAD"))
                with self.subTest(number=number, path=path, method=method, fields=fields):
                    with self.origin_client() as theirs:  # nginx ends some connections
                        expected = outcome(theirs.get(path, method=method,
                                                      headers=text_of(for_nginx(fields))))
                    got = ours.get(path, method=method, headers=text_of(fields))
                    self.assertEqual(outcome(got), expected)
                    seen[expected[0]] = seen.get(expected[0], 0) + 1
        # The requests are of all kinds.
        self.assertEqual(set(seen), {200, 206, 304, 412, 416}, seen)
        self.assertEqual(replay.stop(), 0, replay.log())


if __name__ == "__main__":
    harness.main()
