#!/usr/bin/env python3
"""`predict-service`: what it infers of a service whose graph is known, scenarios whose effect is
arithmetic, profiles made from traces, think times that a what-if reads, and what it refuses."""

import gzip
import json

import harness

MS = 1_000_000
START = 1_700_000_000_000 * MS
REQUESTS = 150


def span(trace, number, start_ms, end_ms, name, kind, **attributes):
    return {"traceId": f"{trace + 1:032x}", "spanId": f"{number:016x}", "name": name, "kind": kind,
            "parentSpanId": "" if number == 1 else f"{1:016x}",
            "startTimeUnixNano": str(START + round((trace * 1000 + start_ms) * MS)),
            "endTimeUnixNano": str(START + round((trace * 1000 + end_ms) * MS)),
            "attributes": [{"key": key.replace("_", "."), "value": {"stringValue": value}}
                           for key, value in attributes.items()]}


def traces(slower=1):
    """Each request asks a cache and a database at once, and the database again after both."""
    spans = []
    for i in range(REQUESTS):
        cache = 1 + i * 37 % 50
        first = 2 + (1 + i * 53 % 50) * slower
        joined = max(cache, first) + 1.5
        second = joined + (5 + i * 17 % 20) * slower
        spans += [span(i, 1, 0, second + 1.25, "GET /cart", 2),
                  span(i, 2, .5, cache, "GET", 3, db_system="redis"),
                  span(i, 3, .75, first, "SELECT cart", 3, db_system="postgresql"),
                  span(i, 4, joined, second, "SELECT prices", 3, db_system="postgresql")]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]})


class PredictService(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.spans = self.folder / "spans.json"
        self.spans.write_text(traces())

    def predict(self, *arguments, code=0, spans=None):
        done = harness.run("predict-service", str(spans or self.spans), *map(str, arguments))
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def report(self, *arguments):
        return json.loads(self.predict("--json", *arguments).stdout)

    def test_what_waits_for_what(self):
        report = self.report()
        self.assertEqual(report["schema"], "reprise-service-prediction/1")
        self.assertEqual((report["service"], report["endpoint"], report["requests"]),
                         ("shop", "GET /cart", REQUESTS))
        names = [node["name"] for node in report["graph"]["nodes"]]
        waits = {(names[edge["from"]], names[edge["to"]]) for edge in report["graph"]["edges"]}
        self.assertEqual(waits, {("redis GET", "postgresql SELECT prices"),
                                 ("postgresql SELECT cart", "postgresql SELECT prices"),
                                 ("postgresql SELECT prices", "answer")})
        self.assertEqual(report["graph"]["ambiguous"], [])
        self.assertEqual(report["predicted_ms"], report["observed_ms"])
        told = self.predict().stdout.decode()
        self.assertTrue(told.startswith(f"GET /cart of shop, {REQUESTS} requests\n"), told)
        self.assertIn("changes nothing", told)

    def test_spans_can_be_compressed(self):
        packed = self.folder / "spans.json.gz"
        packed.write_bytes(gzip.compress(traces().encode("utf-8-sig")))
        self.assertEqual(self.predict(spans=packed).stdout, self.predict().stdout)

    def test_a_round_trip_becomes_think_times(self):
        think = self.folder / "think.txt"
        report = self.report("--scenario", "postgresql: rtt=+10ms", "-o", think)
        self.assertEqual([float(line) for line in think.read_text().split()],
                         report["predicted_ms"])
        for before, after in zip(report["observed_ms"], report["predicted_ms"]):
            self.assertGreaterEqual(round(after - before, 3), 10)
            self.assertLessEqual(round(after - before, 3), 20)
        self.assertLess(report["quantiles"][0]["saving_ms"], -10)

    def test_profiles_made_from_traces(self):
        slower = self.folder / "slower.json"
        slower.write_text(traces(slower=3))
        profile = self.folder / "profile.json"
        for spans, tier in ((self.spans, "large"), (slower, "small")):
            self.predict("--conditions", f"tier={tier}", "--add-to-profile", profile, spans=spans)
        made = json.loads(profile.read_text())
        self.assertEqual([each["name"] for each in made["dependencies"]], ["postgresql", "redis"])
        self.assertEqual(made["dependencies"][0]["observed"], {"tier": "large"})
        report = self.report("--profile", profile, "--scenario", "postgresql: tier=small",
                             "--measured", slower)
        wrong = report["measured"]["error"]["distance"]
        nothing = report["measured"]["error_if_nothing_changed"]["distance"]
        self.assertLess(wrong["largest"], .1)
        self.assertGreater(nothing["largest"], .5)

    def test_many_users_wait_for_each_other(self):
        report = self.report("--scenario", "service: users=50", "--scenario", "service: cpu=x10")
        # Each request has more than 30 ms of work, and is one of 50.
        self.assertGreater(report["quantiles"][0]["predicted_ms"], 50 * 30)

    def test_the_service_demand(self):
        report = self.report("--scenario", "service: users=50", "--service-demand", "40")
        self.assertAlmostEqual(report["quantiles"][0]["predicted_ms"], 50 * 40, delta=100)
        self.assertGreater(report["work_factor"], 5)
        self.assertIn("check its unit",
                      " ".join(self.report("--scenario", "service: users=2", "--service-demand",
                                           "40000")["remarks"]))
        self.assertIn("is not used", " ".join(self.report("--service-demand", "40")["remarks"]))

    def test_what_it_refuses(self):
        broken = self.folder / "broken.json"
        broken.write_text('{"schema":"x"}')
        for arguments, code, why in (
                (("--scenario", "postgresql: tier=small"), 2, "needs a profile of postgresql"),
                (("--scenario", "mysql: rtt=+1ms"), 2, "selects none of: postgresql, redis"),
                (("--scenario", "postgresql: speed=2"), 2, "'speed=2' is not a change"),
                (("--profile", broken), 1, "schema must be"),
                (("--profile", self.folder / "none"), 1, "cannot be read"),
                (("--endpoint", "GET /"), 1, "has no requests to "),
                (("--service-demand", "nan"), 2, "'nan' is not a number"),
                (("--conditions", "tier=large"), 2, "--add-to-profile"),
                (("--conditions", "tier=x", "--add-to-profile", broken, "--scenario",
                  "redis: rtt=+1ms"), 2, "--scenario"),
                (("-o", self.spans), 2, "TRACES and -o are the same file"),
                (("--measured", broken, "-o", broken), 2, "--measured and -o are the same file"),
                (("--json", "-o", "-"), 2, "both write to standard output"),
                (("--conditions", "tier", "--add-to-profile", broken), 2, "must be tier=NAME")):
            self.assertIn(why, self.predict(*arguments, code=code).stderr.decode())


if __name__ == "__main__":
    harness.main()
