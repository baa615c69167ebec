#!/usr/bin/env python3
"""`gate --why`: a change that makes a page slower is named first, in the text, in why.json and on
the page. The planted change is so large that it needs no quiet machine."""

import harness
import why_test
from what_if_test import THIRD, URL
from why_sites import read_json


class GateWhy(why_test.Why):
    def gate(self, *flags):
        sides = [f"{archive} {URL} --inject none --think-time recorded {' '.join(why_test.QUICK)}"
                 for archive in (self.a, self.b)]
        done = harness.run("gate", *sides, "--why", "--markdown", "--metric", "load", "--allow",
                           "calibration", *why_test.DISTURBED, "--max-runs", "4",
                           "--skip-noise-check", "--seed", "1", *flags, folder=self.folder,
                           timeout=1400)
        self.assertEqual(done.returncode, 5, done.stdout.decode() + done.stderr.decode())
        return done

    def test_a_difference_is_one_whatever_time_there_is_for_its_causes(self):
        self.assertIn(b"Use a longer --why-budget", self.gate("--why-budget", "1s").stderr)

    def test_the_planted_change_is_named_first(self):
        out = self.folder / "out"
        done = self.gate("--why-budget", "50s", "-o", str(out))
        report = read_json(out / "why.json")
        effects = report["causes"] + report["no_effect_shown"]
        first = max(effects, key=lambda each: each["estimate"])
        (planted,) = first["groups"][0]["differences"]
        self.assertEqual((planted["kind"], planted["where"]), ("think time", THIRD))
        self.assertIn("1500 ms instead of 10 ms for /ad.js", done.stdout.decode())
        self.assertEqual([report["rows"][row]["b"]["url"] for row in first["rows"]],
                         [f"https://{THIRD}/ad.js"])
        self.assertIn("### B is slower than A", (out / "why.md").read_text())
        self.assertIn("1500 ms instead of 10 ms", (out / "why.html").read_text())


if __name__ == "__main__":
    harness.main()
