#!/usr/bin/env python3
"""An archive that was damaged after it was written is replayed as far as it is whole. What is not
is counted, explained, and seen by --strict."""

import json

import harness
from wire import response

SMALL = b"a body in one record"
LARGE = b"".join(b"%015d\n" % line for line in range(200_000))  # over what is kept in one record


class Damage(harness.TestCase):
    def recorded_bytes(self):
        archive = self.folder / "whole.reprise"
        bodies = {"/small": SMALL, "/large": LARGE}
        origin = self.origin(lambda asked: response(bodies[asked.target],
                                                    headers=b"X-Marker: findme\r\n"))
        recorder = self.record(archive, origins=(origin,))
        with recorder.connect("http") as client:
            for path in bodies:
                client.get(path)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return archive.read_bytes()

    def replay_damaged_at(self, position, path):
        """Flips one bit. Returns the response, the report and the log of a strict replay."""
        data = bytearray(self.recorded_bytes())
        data[position(data)] ^= 1
        archive = self.folder / "damaged.reprise"
        archive.write_bytes(data)
        report_file = self.folder / "report.json"
        replay = self.replay(archive, "--strict", "--report", str(report_file))
        with replay.connect("http") as client:
            got = client.get(path)
        self.assertEqual(replay.stop(), 5, replay.log())
        report = json.loads(report_file.read_text())
        self.assertEqual([report[name] for name in ("hits", "misses", "damaged")], [0, 1, 1])
        (miss,) = report["distinct_misses"]
        self.assertEqual(miss["url"], f"http://origin.test{path}")
        self.assertRegex(miss["reason"], r"^damaged in the archive: .*at byte \d+")
        self.assertIn(miss["reason"], replay.log())
        return got, miss["reason"]

    def test_a_record_that_cannot_be_read(self):
        got, reason = self.replay_damaged_at(lambda data: data.find(b"findme"), "/small")
        self.assertEqual(got.status, 404)
        self.assertIn(reason, got.body.decode())

    def test_a_small_body(self):
        got, _ = self.replay_damaged_at(lambda data: data.find(SMALL), "/small")
        self.assertEqual(got.status, 404)

    def test_the_record_of_the_session(self):
        data = bytearray(self.recorded_bytes())
        data[data.index(b"--connect-to")] ^= 1  # the session keeps its command line
        archive = self.folder / "damaged.reprise"
        archive.write_bytes(data)
        for options in ((), ("--session", "1")):
            replay = self.replay(archive, *options)
            with replay.connect("http") as client:
                self.assertEqual(client.get("/small").body, SMALL)
            self.assertEqual(replay.stop(), 0, replay.log())
        done = harness.run("replay", str(archive), "--session", "2", folder=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"no session 2", done.stderr)

    def test_a_later_piece_of_a_large_body(self):
        line = LARGE[1_600_000:1_600_015]
        got, _ = self.replay_damaged_at(lambda data: data.find(line), "/large")
        self.assertEqual(got.status, 200)
        self.assertTrue(got.cut)
        self.assertTrue(LARGE.startswith(got.body))


class LongUrls(harness.TestCase):
    def test_of_a_missed_url_only_the_beginning_is_kept(self):
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(self.origin(lambda _: response(b"x")),))
        with recorder.connect("http") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        report_file = self.folder / "report.json"
        replay = self.replay(archive, "--report", str(report_file))
        with replay.connect("http") as client:
            for end in ("a", "b", "b"):
                got = client.get("/" + "x" * 500_000 + end)
                self.assertEqual(got.status, 404)
                self.assertLess(len(got.body), 10_000)
        self.assertEqual(replay.stop(), 0, replay.log())
        report = json.loads(report_file.read_text())
        self.assertEqual(report["misses"], 3)
        self.assertEqual([miss["count"] for miss in report["distinct_misses"]], [1, 2])
        for miss in report["distinct_misses"]:
            self.assertTrue(miss["url"].startswith("http://origin.test/xxx"))
            self.assertTrue(miss["url"].endswith("x..."))
            self.assertLess(len(miss["url"]), 4200)


if __name__ == "__main__":
    harness.main()
