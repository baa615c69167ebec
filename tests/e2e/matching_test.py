#!/usr/bin/env python3
"""What a replay answers to requests that were not recorded as they are, and how it says so."""

import json
import subprocess
import unittest

import harness
from wire import response

JSON = b"Content-Type: application/json\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


def post(client, path, kind, body):
    client.send(b"POST %s HTTP/1.1\r\nHost: origin.test\r\n%sContent-Length: %d\r\n\r\n%s" %
                (path.encode(), kind, len(body), body))
    return client.read_response("POST")


class Matching(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        self.report_file = self.folder / "report.json"

    def record_all(self):
        """Answers say what was asked for."""
        def answer(request):
            return response(request.line + b" " + request.body)
        recorder = self.record(self.archive, origins=(self.origin(answer),))
        with recorder.connect("http") as client:
            for path in ("/page?t=1700000000001", "/item?id=one", "/item?id=two", "/plain"):
                client.get(path)
            post(client, "/json", JSON, b'{"a":1,"b":[1,2]}')
            post(client, "/form", FORM, b"user=ann&t=1700000000001")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def replay_and(self, asks, *arguments, code=0):
        """Bodies of what `asks` gets, None for a miss, and the report."""
        replay = self.replay(self.archive, "--report", str(self.report_file), *arguments)
        with replay.connect("http") as client:
            got = [ask(client) for ask in asks]
        self.assertEqual(replay.stop(), code, replay.log())
        return ([each.body if each.status == 200 else None for each in got],
                json.loads(self.report_file.read_text()))

    def test_the_best_that_was_recorded_answers(self):
        self.record_all()
        bodies, report = self.replay_and([
            lambda client: client.get("/plain"),
            lambda client: client.get("/page?t=1800000000002"),
            lambda client: client.get("/item?id=three"),
            lambda client: post(client, "/json", JSON, b'{ "b":[1,2], "a":1 }'),
            lambda client: post(client, "/form", FORM, b"t=1800000000002&user=ann")])
        self.assertEqual(bodies, [
            b"GET /plain HTTP/1.1 ", b"GET /page?t=1700000000001 HTTP/1.1 ", None,
            b'POST /json HTTP/1.1 {"a":1,"b":[1,2]}',
            b"POST /form HTTP/1.1 user=ann&t=1700000000001"])
        self.assertEqual([report[name] for name in ("hits", "fuzzy_hits", "misses")], [4, 3, 1])
        self.assertEqual((report["exchanges_served"], report["exchanges_servable"]), (4, 6))
        self.assertEqual([hit["url"] for hit in report["inexact_hits"]],
                         ["http://origin.test/page?t=1800000000002", "http://origin.test/json",
                          "http://origin.test/form"])
        self.assertEqual(report["inexact_hits"][0]["differences"],
                         ["query parameter t differs: 1700000000001 -> 1800000000002"])
        self.assertEqual(report["inexact_hits"][0]["score"], 95)
        self.assertEqual(report["inexact_hits"][1]["differences"],
                         ["the body is written differently"])
        (miss,) = report["distinct_misses"]
        self.assertEqual(miss["nearest"][0]["why"], "query parameter id differs: one -> three")
        self.assertEqual([each["url"] for each in report["never_asked_for"]],
                         ["http://origin.test/item?id=one", "http://origin.test/item?id=two"])
        self.assertEqual(len(report["out_of_order"]), 1, "/page and /plain changed places")
        self.assertLess(report["confidence_percent"], 80)

    def test_exact_means_exact(self):
        self.record_all()
        bodies, report = self.replay_and([
            lambda client: client.get("/plain"),
            lambda client: client.get("/page?t=1800000000002"),
            lambda client: post(client, "/json", JSON, b'{ "b":[1,2], "a":1 }')],
            "--match", "exact")
        self.assertEqual(bodies, [b"GET /plain HTTP/1.1 ", None, None])
        self.assertEqual((report["fuzzy_hits"], report["misses"]), (0, 2))

    def test_what_is_ignored_does_not_count(self):
        self.record_all()
        bodies, report = self.replay_and([
            lambda client: client.get("/item?utm_source=mail&id=two"),
            lambda client: client.get("/item?id=two&sid=7"),
            lambda client: client.get("/item?id=two&other=7")],
            "--match", "exact", "--ignore-param", "utm_*", "--ignore-param", "sid")
        self.assertEqual(bodies, [b"GET /item?id=two HTTP/1.1 "] * 2 + [None])
        self.assertEqual((report["fuzzy_hits"], report["misses"]), (2, 1))

    def test_gates_end_with_five(self):
        self.record_all()
        fuzzy = [lambda client: client.get("/page?t=1800000000002")]
        self.replay_and(fuzzy, "--strict", "--min-confidence", "94.5")
        self.replay_and(fuzzy, "--min-confidence", "96", code=5)
        self.replay_and([lambda client: client.get("/none")], "--strict", code=5)
        self.replay_and([lambda client: client.get("/none")])

    def test_sessions_are_served_one_at_a_time(self):
        self.record_all()
        def answer(_):
            return response(b"second session")
        recorder = self.record(self.archive, "--append", origins=(self.origin(answer),))
        with recorder.connect("http") as client:
            client.get("/plain")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        ask = [lambda client: client.get("/plain")]
        self.assertEqual(self.replay_and(ask)[0], [b"second session"])
        self.assertEqual(self.replay_and(ask, "--session", "1")[0], [b"GET /plain HTTP/1.1 "])
        done = harness.run("replay", str(self.archive), "--session", "3", folder=self.folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"no session 3", done.stderr)

    def test_a_reset_starts_a_series_again(self):
        answers = iter([b"first", b"second", b"third"])
        recorder = self.record(self.archive,
                               origins=(self.origin(lambda _: response(next(answers))),))
        with recorder.connect("http") as client:
            for number in range(3):
                client.get(f"/poll?_=170000000000{number}")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.archive, "--admin", "127.0.0.1:0")
        with replay.connect("http") as client:
            def ask(number):
                return client.get(f"/poll?_=180000000000{number}").body
            self.assertEqual([ask(number) for number in range(4)],
                             [b"first", b"second", b"third", b"third"])
            client.get("/none")
            self.assertEqual([miss["url"] for miss in self.admin(replay, "GET", "/misses")],
                             ["http://origin.test/none"])
            self.admin(replay, "POST", "/reset")
            self.assertEqual(self.admin(replay, "GET", "/misses"), [])
            self.assertEqual(ask(7), b"first")
        self.assertEqual(self.admin(replay, "GET", "/status")["fuzzy_hits"], 1)
        self.assertEqual(replay.stop(), 0, replay.log())

    def admin(self, replay, method, path):
        done = subprocess.run(["curl", "-sSf", "-X", method,
                               f"http://{replay.ready['admin']}{path}"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_large_uploads_match_by_their_digest_and_length(self):
        recorder = self.record(self.archive, origins=(self.origin(lambda _: response(b"x")),))
        with recorder.connect("http") as client:
            post(client, "/up", b"", b"a" * 2_000_000)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        bodies, report = self.replay_and([
            lambda client: post(client, "/up", b"", b"a" * 2_000_000),
            lambda client: post(client, "/up", b"", b"b" * 2_000_000),
            lambda client: post(client, "/up?v=1", b"", b"b" * 100)])
        self.assertEqual(bodies, [b"x", b"x", None])
        self.assertEqual(report["inexact_hits"][0]["differences"], ["request body differs"])

    def test_a_host_that_was_recorded_in_clear_answers_over_tls(self):
        self.record_all()
        replay = self.replay(self.archive, "--report", str(self.report_file))
        host, port = replay.address("https")
        done = subprocess.run(
            ["curl", "-sS", "--cacert", replay.ready["ca_file"], "--connect-to",
             f"::{host}:{port}", "https://origin.test/plain"], capture_output=True, check=True)
        self.assertEqual(done.stdout, b"GET /plain HTTP/1.1 ")
        self.assertEqual(replay.stop(), 0, replay.log())
        report = json.loads(self.report_file.read_text())
        self.assertEqual((report["hits"], report["scheme_substituted"]), (1, 1))
        self.assertTrue(report["inexact_hits"][0]["scheme_substituted"])


if __name__ == "__main__":
    harness.main()
