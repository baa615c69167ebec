#!/usr/bin/env python3
"""`why a.json#3 b.json#17`: two loads of results, and two of their requests, without a browser."""

import copy
import json

import harness

SITE = "https://www.page.test"
AD = "https://third.page.test/ad.js"


def request(url, start, first_byte, end, **more):
    timing = {"dns_start_ms": -1, "dns_end_ms": -1, "connect_start_ms": -1, "tls_start_ms": -1,
              "connect_end_ms": -1, "send_start_ms": start, "send_end_ms": start,
              "first_byte_ms": first_byte}
    return {"url": url, "method": "GET", "resource_type": "Script", "status": 200,
            "protocol": "h2", "initiator": "" if start == 0 else f"{SITE}/", "start_ms": start,
            "end_ms": end, "encoded_bytes": 1000, "timing": timing, **more}


def load(run, requests, end):
    return {"url": f"{SITE}/", "final_url": f"{SITE}/", "run": run, "order": run,
            "outcome": "loaded", "browser": "chromium", "protocol": "recorded", "link": "none",
            "cache": "cold", "load_event_ms": end, "requests": requests}


class Places(harness.TestCase):
    def setUp(self):
        super().setUp()
        fast = [request(f"{SITE}/", 0, 80, 100), request(AD, 100, 140, 150)]
        slow = [request(f"{SITE}/", 0, 80, 100),
                request(AD, 100, 540, 550, protocol="http/1.1"),
                request(f"{SITE}/<more>.js", 550, 590, 600)]
        self.a = self.result("a.json", [load(1, fast, 160), load(2, fast, 160)])
        failed = dict(load(2, [], None), outcome="timed_out")
        self.b = self.result("b.json", [dict(load(1, slow, 610), warm_up=True), failed,
                                        load(3, slow, 610)])

    def result(self, name, loads):
        path = self.folder / name
        path.write_text(json.dumps({"schema": "reprise-load/1", "loads": copy.deepcopy(loads)}))
        return str(path)

    def why(self, *arguments, code=0):
        done = harness.run("why", *arguments, folder=self.folder)
        self.assertEqual(done.returncode, code, done.stdout.decode() + done.stderr.decode())
        return (done.stderr if code else done.stdout).decode()

    def test_two_loads_by_what_their_pages_waited_for(self):
        said = self.why(f"{self.a}#2", f"{self.b}#3")
        self.assertIn("B is slower than A: +450.0 ms, 610 ms instead of 160 ms", said)
        self.assertIn(f"1. +400.0 ms {AD}: wait 440 ms instead of 40 ms", said)
        self.assertIn("protocol http/1.1 instead of h2", said)
        self.assertIn(f"2. +50.0 ms {SITE}/<more>.js: only in B", said)
        self.assertIn("Between requests: +0.0 ms", said)
        self.assertIn("&lt;more>.js", self.why(f"{self.a}#2", f"{self.b}#3", "--markdown"))

    def test_a_page_does_not_replace_a_result(self):
        result = self.result("a.html", [load(1, [request(f"{SITE}/", 0, 80, 100)], 160)])
        before = (self.folder / "a.html").read_bytes()
        for sides in ((f"{result}#1", f"{self.b}#3"), (f"{self.b}#3", f"{result}#1")):
            self.assertIn("A or B and -o are the same file", self.why(*sides, "-o", result, code=2))
        self.assertEqual((self.folder / "a.html").read_bytes(), before)

    def test_results_of_archives_do_not_replace_them(self):
        for name in ("why.json", "a.json", "verdict.json"):
            archive = self.folder / name
            archive.write_text("{}")
            for sides in ((str(archive), "other.har"), ("other.har", str(archive))):
                said = self.why(*sides, "-o", str(self.folder), code=2)
                self.assertIn("A or B and -o are the same file", said)
            self.assertEqual(archive.read_text(), "{}")
        for words, name in ((("whatif", "--what-if", "*: drop"), "a.json"),
                            (("advise",), "loads-0.json")):
            archive = self.folder / name
            archive.write_text("{}")
            done = harness.run(*words, str(archive), "-o", str(self.folder))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"ARCHIVE and -o are the same file", done.stderr)
            self.assertEqual(archive.read_text(), "{}")

    def test_the_same_load_has_no_cause(self):
        self.assertIn("Nothing costs more", self.why(f"{self.a}#1", f"{self.a}#2"))

    def test_json_adds_up(self):
        report = json.loads(self.why(f"{self.b}#3", f"{self.a}#1", "--json"))
        self.assertEqual(report["schema"], "reprise-why/1")
        self.assertFalse(report["measured"])
        parts = report["causes"] + report["no_effect_shown"] + [report["unexplained"]]
        self.assertAlmostEqual(sum(each["estimate"] for each in parts), -450)
        self.assertEqual(report["total"]["estimate"], -450)
        first = report["causes"][0]
        self.assertEqual(report["rows"][first["rows"][0]]["a"]["url"], AD)

    def test_an_interval(self):
        said = self.why(f"{self.a}#1", f"{self.b}#3", "--from", "100", "--to", "300")
        self.assertIn("B is slower than A: +140.0 ms, 200 ms instead of 60 ms", said)
        self.assertIn(f"1. +150.0 ms {AD}", said)

    def test_two_requests_by_their_phases(self):
        said = self.why(f"{self.a}#1:2", f"{self.b}#3:2")
        self.assertIn("+400.0 ms, 450 ms instead of 50 ms", said)
        self.assertIn("1. +400.0 ms wait 440 ms instead of 40 ms", said)
        self.assertIn("- protocol http/1.1 instead of h2", said)
        self.assertNotIn("Between requests", said)

    def test_the_page(self):
        self.why(f"{self.a}#1", f"{self.b}#3", "-o", str(self.folder / "page.html"))
        page = (self.folder / "page.html").read_text()
        self.assertIn("<title>reprise why</title>", page)
        self.assertNotIn("<more>", page)

    def test_what_cannot_be_compared(self):
        for code, why, arguments in (
                (1, "a.json has 2 loads, and no load 3", (f"{self.a}#3", f"{self.b}#3")),
                (1, "load 1 of", (f"{self.a}#1", f"{self.b}#1")),
                (1, "is a warm-up", (f"{self.a}#1", f"{self.b}#1")),
                (1, "did not load", (f"{self.a}#1", f"{self.b}#2")),
                (1, "has 2 requests, and no request 9", (f"{self.a}#1:9", f"{self.b}#3:1")),
                (1, "is not a result of", (f"{__file__}#1", f"{self.b}#3")),
                (2, "two loads (FILE#LOAD) or two requests", (f"{self.a}#1:1", f"{self.b}#3")),
                (2, "two archives, or two loads", (f"{self.a}#1", self.b)),
                (2, "drop --link", (f"{self.a}#1", f"{self.b}#3", "--link")),
                (2, "drop --metric", (f"{self.a}#1", f"{self.b}#3", "--metric", "fcp")),
                (2, "drop --link", (f"{self.a}#1", f"{self.b}#3", "--link", "wpt:4g")),
                (2, "drop --seed", (f"{self.a}#1", f"{self.b}#3", "--seed", "1")),
                (2, "--from must be before --to",
                 (f"{self.a}#1", f"{self.b}#3", "--from", "5", "--to", "5")),
                (2, "apply to loads of results", ("a.reprise", "b.reprise", "--from", "5")),
                (2, "give one page", (f"{self.a}#1", f"{self.b}#3", "-o", str(self.folder)))):
            self.assertIn(why, self.why(*arguments, code=code))


if __name__ == "__main__":
    harness.main()
