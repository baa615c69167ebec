#!/usr/bin/env python3
"""What was recorded in parts, or coded with a dictionary, for a client that asks otherwise."""

import json
import re
import subprocess

import harness
from wire import HOST, Certificate, response

FILE = bytes(range(256)) * 40
SIZE = len(FILE)
BASE64 = b":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:"


def answer_parts(request):
    asked = re.fullmatch(rb"bytes=(\d+)-(\d*)", (request.all(b"range") or [b""])[0])
    if request.target.startswith("/part") and asked:
        first, last = int(asked[1]), int(asked[2] or SIZE - 1)
        return response(FILE[first:last + 1], b"206 Partial Content",
                        b'ETag: "v1"\r\nContent-Range: bytes %d-%d/%d\r\n' % (first, last, SIZE))
    return response(FILE, headers=b'ETag: "v1"\r\n')


class Parts(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        self.report_file = self.folder / "report.json"

    def record_ranges(self, *ranges, tls=None, path="/part"):
        recorder = self.record(self.archive, origins=(self.origin(answer_parts, tls=tls),))
        with recorder.connect("https" if tls else "http") as client:
            for each in ranges:
                client.get(path, headers=self.field(each))
        self.assertEqual(recorder.stop(), 0, recorder.log())

    @staticmethod
    def field(wanted):
        return b"Range: bytes=" + wanted + b"\r\n" if wanted else b""

    def replay_and(self, *ranges, path="/part"):
        replay = self.replay(self.archive, "--report", str(self.report_file))
        with replay.connect("http") as client:
            got = [client.get(path, headers=self.field(each)) for each in ranges]
        self.assertEqual(replay.stop(), 0, replay.log())
        return got, json.loads(self.report_file.read_text())

    def test_parts_that_cover_it_are_the_whole(self):
        self.record_ranges(b"0-4999", b"5000-")
        got, report = self.replay_and(b"0-4999", b"", b"4000-5999", b"-10", b"20000-")
        self.assertEqual([each.status for each in got], [206, 200, 206, 206, 416])
        self.assertEqual([each.body for each in got],
                         [FILE[:5000], FILE, FILE[4000:6000], FILE[-10:], b""])
        self.assertEqual(got[1].all(b"content-range"), [])
        self.assertEqual(got[1].all(b"content-length"), [b"%d" % SIZE])
        self.assertEqual(got[2].all(b"content-range"), [b"bytes 4000-5999/%d" % SIZE])
        self.assertEqual((report["hits"], report["misses"], report["special"]["stitched"]),
                         (5, 0, 4))

    def test_a_gap_is_a_miss_that_says_what_is_there(self):
        self.record_ranges(b"0-99", b"200-299")
        got, report = self.replay_and(b"250-259", b"90-109", b"")
        self.assertEqual([each.status for each in got], [206, 404, 404])
        self.assertEqual(got[0].body, FILE[250:260])
        self.assertEqual({miss["reason"] for miss in report["distinct_misses"]},
                         {f"recorded in parts that do not have it: bytes 0-99, 200-299 of {SIZE}"})

    def test_a_whole_one_is_better_than_parts(self):
        self.record_ranges(b"0-99", b"200-299", b"", path="/whole")
        got, report = self.replay_and(b"90-109", b"", path="/whole")
        self.assertEqual([each.body for each in got], [FILE[90:110], FILE])
        self.assertEqual(report["special"]["stitched"], 0)

    def test_over_h2_too(self):
        self.record_ranges(b"0-4999", b"5000-", tls=Certificate(self.folder / "certificate"))
        replay = self.replay(self.archive, "--protocol", "h2")
        host, port = replay.address("https")
        for wanted, body in (((), FILE), (("-r", "4000-5999"), FILE[4000:6000])):
            done = subprocess.run(
                ["curl", "-sS", "--http2", "--cacert", replay.ready["ca_file"], "--connect-to",
                 f"::{host}:{port}", *wanted, f"https://{HOST}/part"], capture_output=True,
                timeout=harness.DEADLINE_SECONDS, check=True)
            self.assertEqual(done.stdout, body)


def answer_dictionary(request):
    own = b"Content-Encoding: dcb\r\nUse-As-Dictionary: match=\"/d*\"\r\n"
    if request.all(b"available-dictionary"):
        return response(b"coded " + request.all(b"available-dictionary")[0], headers=own)
    return response(b"plain", headers=b"Use-As-Dictionary: match=\"/d*\"\r\n")


class Dictionaries(harness.TestCase):
    def replay_and(self, recorded, asked):
        """Bodies of what `asked` gets after `recorded` was; both lists of dictionaries."""
        archive, report = self.folder / "a.reprise", self.folder / "report.json"
        def fields(dictionary):
            has = b"Available-Dictionary: " + dictionary + b"\r\n" if dictionary else b""
            return b"Accept-Encoding: gzip, br, dcb, dcz\r\n" + has
        recorder = self.record(archive, origins=(self.origin(answer_dictionary),))
        with recorder.connect("http") as client:
            for each in recorded:
                client.get("/d", headers=fields(each))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(archive, "--report", str(report))
        with replay.connect("http") as client:
            got = [client.get("/d", headers=fields(each)) for each in asked]
        self.assertEqual(replay.stop(), 0, replay.log())
        return got, json.loads(report.read_text())

    def test_who_has_the_dictionary_gets_what_is_coded_with_it(self):
        got, report = self.replay_and([b"", BASE64, b":b3RoZXI=:"],
                                      [BASE64, b":b3RoZXI=:", b"", b":bmV3:", BASE64])
        self.assertEqual([each.body for each in got],
                         [b"coded " + BASE64, b"coded :b3RoZXI=:", b"plain", b"plain",
                          b"coded " + BASE64])
        self.assertEqual(report["misses"], 0)
        self.assertEqual(got[2].all(b"use-as-dictionary"), [b'match="/d*"'])

    def test_who_has_not_gets_a_miss_that_says_so(self):
        got, report = self.replay_and([BASE64], [BASE64, b"", b":bmV3:"])
        self.assertEqual([each.status for each in got], [200, 404, 404])
        self.assertEqual([miss["reason"] for miss in report["distinct_misses"]],
                         ["coded with a dictionary that the client does not have"])
        self.assertEqual(report["distinct_misses"][0]["count"], 2)


if __name__ == "__main__":
    harness.main()
