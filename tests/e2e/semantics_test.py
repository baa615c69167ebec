#!/usr/bin/env python3
"""What a replay makes of what is stored, for a client that wants it otherwise than it was recorded:
without its coding, only its head, with the dates of today."""

import datetime
import email.utils
import gzip
import json

import harness
from wire import response

TEXT = b"some text, " * 100
CODED = gzip.compress(TEXT, mtime=0)
TAKES_GZIP = b"Accept-Encoding: gzip, br\r\n"


class Semantics(harness.TestCase):
    def recorded(self, answer):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(answer),))
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/", headers=TAKES_GZIP).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return archive

    def test_who_does_not_take_the_coding_gets_it_decoded(self):
        headers = b"Content-Encoding: gzip\r\nContent-MD5: x\r\nVary: accept-encoding\r\n"
        archive = self.recorded(lambda _: response(CODED, headers=headers))
        report = self.folder / "report.json"
        replay = self.replay(archive, "--report", str(report))
        with replay.connect("http") as client:
            self.assertEqual(client.get("/", headers=TAKES_GZIP).body, CODED)
            for accepted in (b"Accept-Encoding: br\r\n", b"Accept-Encoding: gzip;q=0\r\n", b""):
                got = client.get("/", headers=accepted)
                self.assertEqual(got.body, TEXT)
                self.assertEqual(got.all(b"content-length"), [b"%d" % len(TEXT)])
                self.assertEqual(got.all(b"content-encoding") + got.all(b"content-md5"), [])
                self.assertEqual(got.all(b"vary"), [b"accept-encoding"])
        self.assertEqual(replay.stop(), 0, replay.log())
        told = json.loads(report.read_text())
        self.assertEqual((told["hits"], told["decoded"]), (4, 3))

    def test_a_lie_about_the_coding_is_served_as_it_is(self):
        archive = self.recorded(lambda _: response(TEXT, headers=b"Content-Encoding: gzip\r\n"))
        with self.replay(archive).connect("http") as client:
            self.assertEqual(client.get("/", headers=b"Accept-Encoding: br\r\n").body, TEXT)

    def test_head_is_answered_from_get(self):
        archive = self.recorded(lambda _: response(TEXT, headers=b"X-Kept: 1\r\n"))
        with self.replay(archive).connect("http") as client:
            got = client.get("/", method="HEAD", headers=TAKES_GZIP)
            self.assertEqual((got.status, got.body), (200, b""))
            self.assertEqual(got.all(b"content-length") + got.all(b"x-kept"),
                             [b"%d" % len(TEXT), b"1"])
            self.assertEqual(client.get("/", headers=TAKES_GZIP).body, TEXT)

    def test_dates_are_as_far_from_today_as_they_were(self):
        then = datetime.datetime(2018, 3, 1, 12, tzinfo=datetime.timezone.utc)
        har = self.folder / "old.har"
        fields = {"Date": then, "Last-Modified": then - datetime.timedelta(days=9),
                  "Expires": then + datetime.timedelta(hours=1)}
        dates = {name: email.utils.format_datetime(at, usegmt=True) for name, at in fields.items()}
        headers = [{"name": name, "value": value} for name, value in dates.items()]
        headers.append({"name": "Set-Cookie", "value": "a=b; Expires=" + dates["Expires"]})
        creator = {"name": "x", "version": ""}
        har.write_text(json.dumps({"log": {"version": "1.2", "creator": creator, "entries": [{
            "startedDateTime": then.isoformat(), "time": 1,
            "request": {"method": "GET", "url": "http://origin.test/", "httpVersion": "HTTP/1.1",
                        "headers": [], "queryString": [], "cookies": [], "headersSize": -1,
                        "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
                         "headers": headers, "cookies": [], "redirectURL": "", "headersSize": -1,
                         "bodySize": 2, "content": {"size": 2, "mimeType": "text/plain",
                                                    "text": "ok"}},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}}]}}))
        archive = self.folder / "old.reprise"
        done = harness.run("archive", "import", str(har), "-o", str(archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        replay = self.start("replay", "--inject", "none", str(archive))
        now = datetime.datetime.now(datetime.timezone.utc)
        with replay.connect("http") as client:
            got = client.get("/")
            moved = {name: email.utils.parsedate_to_datetime(
                got.all(name.lower().encode())[0].decode()) for name in fields}
            self.assertLess(abs(moved["Date"] - now), datetime.timedelta(minutes=5))
            for name, at in fields.items():
                self.assertEqual(moved[name] - moved["Date"], at - then, name)
            self.assertTrue(got.all(b"set-cookie")[0].endswith(got.all(b"expires")[0]))
        # The client has the date that this replay told it, or one that an earlier replay did.
        before, earlier = (email.utils.format_datetime(at, usegmt=True).encode() for at in (
            fields["Last-Modified"] - datetime.timedelta(seconds=1),
            moved["Last-Modified"] - datetime.timedelta(days=1)))
        for value, status in ((got.all(b"last-modified")[0], 304), (earlier, 304),
                              (dates["Last-Modified"].encode(), 304), (before, 200)):
            with replay.connect("http") as client:
                condition = b"If-Modified-Since: " + value + b"\r\n"
                self.assertEqual(client.get("/", headers=condition).status, status)
        with self.replay(archive).connect("http") as client:
            self.assertEqual(client.get("/").all(b"date"), [dates["Date"].encode()])


if __name__ == "__main__":
    harness.main()
