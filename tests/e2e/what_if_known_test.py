#!/usr/bin/env python3
"""What-ifs whose effect is known beforehand, to some milliseconds: an idle machine's test."""

import json
import statistics

import harness
from gate_sites import words
from what_if_test import (LINK, PROTOCOLS, QUICK, RTT_MS, SHORT_LINK, URL, Load,
                          Recorded)

RUNS = 3


def span(request):
    return request["end_ms"] - request["start_ms"]


class KnownAnswers(Recorded):
    def median(self, of, *texts, arguments=()):
        """Of `of(load)` over several loads, for each protocol."""
        values = {protocol: [] for protocol in PROTOCOLS}
        self.load(*texts, arguments=("--runs", str(RUNS), *arguments))
        for each in self.result["loads"]:
            if not each["warm_up"]:
                values[each["configuration"]["protocol"]].append(of(Load(each)))
        return {protocol: statistics.median(all_) for protocol, all_ in values.items()}

    def moved(self, of, *texts, also=(), arguments=()):
        before = self.median(of, *also, arguments=arguments)
        after = self.median(of, *also, *texts, arguments=arguments)
        return [after[protocol] - before[protocol] for protocol in PROTOCOLS]

    def test_think_time_of_the_document_moves_the_load_event(self):
        for moved in self.moved(lambda load: load["load_event_ms"], "path=/: think=+200ms"):
            self.assertAlmostEqual(moved, 200, delta=40)

    def test_an_origin_further_away_costs_its_round_trips(self):
        for moved in self.moved(lambda load: span(load.request("third.page.test/ad.js")),
                                "host=third.page.test: rtt=+50ms"):
            self.assertAlmostEqual(moved, 150, delta=25)  # TCP, TLS 1.3, the request

    def test_a_preload_starts_with_the_documents_first_bytes(self):
        waits = self.median(lambda load: load.request("late.page.test/late.png")["start_ms"] -
                            load.request("www.page.test/")["response_ms"],
                            "path=/late.png: preload")
        for wait in waits.values():
            self.assertLess(wait, 60)

    def test_a_coding_saves_what_the_link_says(self):
        body, mbit = self.folder / "words.js", 2
        body.write_bytes(b"// " + words(1, 300_000))
        arguments = ("--link", f"{mbit}mbit/{mbit}mbit/{RTT_MS}")
        also, gzip = (f"path=/app.js: body={body}",), "path=/app.js: compress=gzip"
        app = "www.page.test/app.js"
        saved = self.moved(lambda load: load.request(app)["encoded_bytes"], gzip, also=also,
                           arguments=arguments)
        moved = self.moved(lambda load: load["load_event_ms"], gzip, also=also,
                           arguments=arguments)
        packets = 1 + 52 / 1448  # their heads
        for bytes_, ms in zip(saved, moved):
            self.assertLess(bytes_, -100_000)
            self.assertAlmostEqual(ms, bytes_ * packets * 8 / (mbit * 1000), delta=60)

    def test_advice_finds_a_slow_script_that_blocks_the_page(self):
        folder = self.folder / "out"
        done = harness.run("advise", str(self.archive), URL, "--link", SHORT_LINK, "--inject",
                           "none", *QUICK, "--what-if", "path=/ad.js: think=+600ms", "--metric",
                           "fcp", "--candidates", "2", "--max-runs", "8", "-o", str(folder),
                           folder=self.folder, timeout=400)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        best = json.loads((folder / "advice.json").read_text())["changes"][0]
        self.assertEqual([each["kind"] for each in best["changes"]], ["blocking script"])
        self.assertEqual(best["verdict"], "saves")
        self.assertAlmostEqual(best["shift"]["estimate"], -600, delta=60)
        self.assertIn("1. Defer https://third.page.test/ad.js", done.stdout.decode())

    def test_a_gate_whose_sides_differ_in_a_what_if(self):
        side = f"{self.archive} {URL} --link {LINK} --inject none"
        done = harness.run("gate", side, side + " --what-if 'path=/: think=+400ms'", "--max-runs",
                           "6", "--look-every", "6", "--skip-noise-check", "--metric", "load",
                           "--json", folder=self.folder, timeout=400)
        self.assertEqual(done.returncode, 5, done.stderr.decode())
        metric = json.loads(done.stdout)["pages"][0]["metrics"][0]
        self.assertAlmostEqual(metric["shift"], 400, delta=40)


if __name__ == "__main__":
    harness.main()
