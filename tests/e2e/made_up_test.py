#!/usr/bin/env python3
"""Requests that nobody recorded and that are no misses: preflights whose request was recorded, and
what browsers ask for by themselves. And misses say what is missing."""

import json

import harness
from wire import response

ALLOWED = (b"Access-Control-Allow-Origin: https://page.test\r\n"
           b"Access-Control-Allow-Credentials: true\r\n")
PREFLIGHT = b"Origin: https://page.test\r\nAccess-Control-Request-Method: "


class MadeUp(harness.TestCase):
    printed = ""

    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = self.origin(lambda _: response(b"kept", headers=ALLOWED))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("http") as client:
            client.get("/item", method="PUT", headers=b"Content-Length: 0\r\n")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def replay_and(self, *asks, code=0):
        """What each ask gets of a strict replay, and the report. Keeps what the replay prints."""
        report = self.folder / "report.json"
        replay = self.replay(self.archive, "--strict", "--report", str(report))
        with replay.connect("proxy") as client:
            got = [client.get(path, host=host, method=method, headers=headers, form="absolute")
                   for method, host, path, headers in asks]
        self.assertEqual(replay.stop(), code, replay.log())
        self.printed = replay.log()
        return got, json.loads(report.read_text())

    def test_a_preflight_is_answered_by_what_its_request_was_allowed(self):
        (got,), report = self.replay_and(
            ("OPTIONS", harness.HOST, "/item",
             PREFLIGHT + b"PUT\r\nAccess-Control-Request-Headers: x-key\r\n"))
        self.assertEqual((got.status, got.body, got.all(b"content-length")), (204, b"", []))
        for name, value in ((b"origin", b"https://page.test"), (b"credentials", b"true"),
                            (b"methods", b"PUT"), (b"headers", b"x-key")):
            self.assertEqual(got.all(b"access-control-allow-" + name), [value])
        self.assertEqual((report["hits"], report["misses"], report["special"]["preflight"]),
                         (0, 0, 1))
        self.assertEqual(report["special_answers"], [{
            "kind": "preflight", "method": "OPTIONS", "url": "http://origin.test/item", "count": 1,
            "why": "as the recorded PUT allows"}])

    def test_a_preflight_of_what_was_not_recorded_is_a_miss_that_says_so(self):
        (got,), report = self.replay_and(
            ("OPTIONS", harness.HOST, "/item", PREFLIGHT + b"DELETE\r\n"), code=5)
        self.assertEqual(got.status, 404)
        (miss,) = report["distinct_misses"]
        self.assertEqual(miss["reason"],
                         "a preflight, and the DELETE that it precedes is not recorded")

    def test_the_browsers_own_requests_are_no_misses(self):
        got, report = self.replay_and(
            ("POST", "update.googleapis.com", "/service/update2/json", b"Content-Length: 0\r\n"),
            ("GET", "connectivitycheck.gstatic.com", "/generate_204", b""),
            ("GET", "detectportal.firefox.com", "/success.txt", b""),
            ("GET", harness.HOST, "/favicon.ico", b"Referer: http://origin.test/\r\n"))
        self.assertEqual([(each.status, each.body) for each in got],
                         [(404, b""), (204, b""), (200, b"success\n"), (404, b"")])
        self.assertEqual((report["misses"], report["special"]["browser"]), (0, 4))
        self.assertEqual(report["confidence_percent"], 100)

    def test_a_miss_says_what_is_missing(self):
        _, report = self.replay_and(("GET", "b.test", "/item", b""),
                                    ("GET", harness.HOST, "/other", b""),
                                    ("GET", harness.HOST, "/item", b""), code=5)
        self.assertEqual(
            [(miss["reason"], [near["why"] for near in miss["nearest"]])
             for miss in report["distinct_misses"]],
            [("host never recorded", []), ("path never recorded", []),
             ("not recorded", ["method is PUT, not GET"])])
        self.assertIn("miss: GET http://b.test/item (host never recorded)\n"
                      "miss: GET http://origin.test/other (path never recorded)\n"
                      "miss: GET http://origin.test/item (not recorded)\n"
                      "  near: http://origin.test/item (method is PUT, not GET)\n", self.printed)


if __name__ == "__main__":
    harness.main()
