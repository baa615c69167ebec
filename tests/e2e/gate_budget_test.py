#!/usr/bin/env python3
"""`reprise gate --budget-file`: B is like A, and yet over its budget of bytes; --junit has the
comparison. A file that is not a budget is refused before anything is loaded."""

import json
import subprocess
import xml.etree.ElementTree

import gate_sites
import harness
from gate_sites import URL

BUDGET = [{"path": "/*", "resourceSizes": [{"resourceType": "image", "budget": 100},
                                           {"resourceType": "total", "budget": 5000}],
           "resourceCounts": [{"resourceType": "image", "budget": 5}],
           "timings": [{"metric": "interactive", "budget": 1000}]}]


class GateBudget(harness.TestCase):
    def gate(self, budget, *arguments):
        path = self.folder / "budget.json"
        path.write_text(budget)
        side = (f"'{self.folder / 'plain.reprise'}' {URL} --browser {harness.BROWSER} --link none "
                "--no-bodies --quiet 500 --settle 50")
        return subprocess.run(
            [harness.REPRISE, "gate", side, side, "--skip-noise-check", "--seed", "1",
             "--max-runs", "4", "--look-every", "4", "--metric", "requests",
             "--allow", "calibration", "--budget-file", str(path), *arguments],
            capture_output=True, timeout=500, stdin=subprocess.DEVNULL, text=True,
            env=harness.environment(self.folder), check=False)

    def test_b_over_its_budget_fails_though_it_is_like_a(self):
        gate_sites.record(self.folder, "plain", gate_sites.plain_site())
        report = self.folder / "report.xml"
        out = self.folder / "out"
        done = self.gate(json.dumps(BUDGET), "--junit", str(report), "-o", str(out))
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("\nsame: ", done.stdout)
        lines = [line.strip() for line in done.stdout.splitlines()]
        # Four pictures of 30 kB, and one of 20 kB that is fetched after the load.
        (image,) = [line for line in lines if line.startswith("image 14")]
        self.assertTrue(image.endswith(" of 102.4 kB: over"), image)
        self.assertIn("image requests 5 of 5", lines)
        self.assertIn("interactive: not measured", lines)
        self.assertIn("B is over 1 budget.", lines)
        kept = json.loads((out / "verdict.json").read_text())
        self.assertTrue(kept["budgets"][0]["over"])
        (case,) = xml.etree.ElementTree.parse(report).getroot().findall(
            ".//testcase[@name='requests']")
        self.assertEqual(len(case), 0)
        (case,) = xml.etree.ElementTree.parse(report).getroot().findall(
            ".//testcase[@name='budget image']")
        self.assertEqual([each.tag for each in case], ["failure"])

    @harness.thorough
    def test_b_within_its_budget_passes(self):
        gate_sites.record(self.folder, "plain", gate_sites.plain_site())
        sizes = {**BUDGET[0], "resourceSizes": BUDGET[0]["resourceSizes"][1:]}
        done = self.gate(json.dumps([sizes]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\nB keeps what was measured of its budget; 1 of 3 budgets was not "
                      "measured.\n", done.stdout)
        done = self.gate(json.dumps([sizes]), "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("no budget", done.stderr)
        budgets = json.loads(done.stdout)["budgets"]
        self.assertEqual([(each["kind"], each["name"], each["over"]) for each in budgets],
                         [("bytes", "total", False), ("requests", "image", False),
                          ("timing", "interactive", False)])
        self.assertEqual(budgets[0]["budget"], 5000 * 1024)
        self.assertIsNone(budgets[2]["median"])

    @harness.thorough
    def test_a_page_without_a_budget_is_named(self):
        gate_sites.record(self.folder, "plain", gate_sites.plain_site())
        done = self.gate(json.dumps([{**BUDGET[0], "path": "/nowhere"}]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"no budget of {self.folder / 'budget.json'} is for {URL}\n", done.stderr)

    def test_a_report_replaces_no_input_and_can_be_written(self):
        archive = self.folder / "plain.reprise"
        archive.write_text("an archive")
        for report, code, said in (
                (archive, 2, "--junit are the same file"),
                (self.folder / "budget.json", 2, "--junit are the same file"),
                (self.folder / "out" / "verdict.json", 2, "--junit and -o are the same file"),
                (self.folder / "none" / "x.xml", 1, "--junit")):
            done = self.gate(json.dumps(BUDGET), "--junit", str(report), "-o",
                             str(self.folder / "out"))
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(archive.read_text(), "an archive")

    def test_what_is_not_a_budget_is_refused(self):
        for text, said in (("{", "is not a budget.json: it is not JSON"),
                           ('[{"resourceSizes":[{"resourceType":"css","budget":1}]}]', "'css'"),
                           ('[{"timings":[{"metric":"lcp","budget":1}]}]',
                            "unknown metric 'lcp'")):
            done = self.gate(text)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_what_a_noise_floor_would_ignore_is_refused(self):
        for words in (["--aa", "a.reprise", "--budget", "5m"],
                      ["--aa", "a.reprise", "--junit", "r.xml"],
                      ["--aa", "a.reprise", "--budget-file", "budget.json"],
                      ["a.reprise", "b.reprise", "--loads", "old.json"],
                      ["a.reprise", "b.reprise", "--splits", "5"]):
            done = harness.run("gate", *words, folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"--aa", done.stderr)


if __name__ == "__main__":
    harness.main()
