#!/usr/bin/env python3
"""`why` that is interrupted says what it has learnt, or that it has learnt nothing, and leaves no
folder behind."""

import json
import signal
import subprocess

import harness
import why_test
from what_if_test import URL


class Interrupted(why_test.Why):
    def start_why(self, *arguments):
        self.temporary = self.short_folder()
        environment = {**harness.environment(self.folder), "TMPDIR": str(self.temporary)}
        process = subprocess.Popen(
            [harness.REPRISE, "why", str(self.a), str(self.b), URL, "--inject", "none", "--metric",
             "load", "--allow", "calibration", *why_test.DISTURBED, *why_test.QUICK, "--max-runs",
             "4", "--seed", "1", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def end_after(self, process, line_has, number):
        """Sends the signal after that line; returns what was said after it."""
        said = ""
        for line in process.stderr:
            said += line.decode()
            if line_has in said:
                break
        self.assertIn(line_has, said)
        process.send_signal(number)
        out, rest = process.communicate(timeout=120)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return out.decode(), said + rest.decode()

    def test_what_was_learnt_so_far(self):
        page = self.folder / "page.html"
        process = self.start_why("-o", str(page), "--json")
        out, said = self.end_after(process, "12 loads of ", signal.SIGTERM)
        self.assertEqual(process.returncode, 143, said)
        report = json.loads(out)
        self.assertTrue(report["interrupted"])
        self.assertGreaterEqual(len(report["loads"]), 12)
        effects = report["causes"] + report["no_effect_shown"]
        first = max(effects, key=lambda each: each["estimate"])
        self.assertEqual(first["groups"][0]["differences"][0]["kind"], "think time")
        self.assertIn('"interrupted":true', page.read_text())

    def test_too_few_loads_tell_nothing(self):
        process = self.start_why()
        out, said = self.end_after(process, "6 loads of ", signal.SIGINT)
        self.assertEqual(process.returncode, 130, said)
        self.assertEqual(out, "")
        self.assertIn("interrupted after 6 loads, too few to tell 4 causes apart", said)

    def test_before_it_is_known_whether_b_differs(self):
        process = self.start_why()
        out, said = self.end_after(process, "of them can be measured", signal.SIGTERM)
        self.assertEqual(process.returncode, 143, said)
        self.assertEqual(out, "")
        self.assertIn("interrupted", said)


if __name__ == "__main__":
    harness.main()
