#!/usr/bin/env python3
"""The recipe of docs/ci.md, on the demonstration's site: the first run records what the change is
compared with; a change that makes its document large is found; the pipeline calls the script as it
is documented."""

import random
import subprocess

import demo_origin
import harness

RECIPE = harness.REPOSITORY / "docs/ci/gate.sh"


def make_slower(site):
    page = site / "www/index.html"
    filler = random.Random(1).randbytes(150_000).hex()  # which gzip halves
    page.write_text(page.read_text().replace("<head>", f"<head><!--{filler}-->", 1))


class Recipe(harness.TestCase):
    def run_recipe(self, connects, **environment):
        return subprocess.run(
            [RECIPE], cwd=self.folder, capture_output=True, text=True, timeout=800,
            stdin=subprocess.DEVNULL, check=False,
            env={**harness.environment(self.folder), "REPRISE": harness.REPRISE,
                 "BASE": "base.reprise", "URL": demo_origin.PAGE, "RECORD": " ".join(connects),
                 **environment})

    def test_a_change_that_makes_the_page_slower_is_stopped(self):
        with demo_origin.serving(self.folder / "before") as connects:
            done = self.run_recipe(connects)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing to compare with yet", done.stdout)
        with demo_origin.serving(self.folder / "after", make_slower) as connects:
            # Tests share a machine: packets may be late.
            done = self.run_recipe(connects, GATE="--metric load --min-effect 1%,10ms --seed 1 "
                                                  "--allow calibration")
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("**different: load event +"), done.stdout)
        kept = {each.name for each in (self.folder / "results").iterdir()}
        self.assertEqual(kept, {"a.json", "b.json", "verdict.json", "summary.md",
                                "changed.reprise"})

    def test_the_pipeline_calls_the_script(self):
        pipeline = (RECIPE.parent / "pipeline.yml").read_text()
        self.assertIn("BASE=base.reprise URL=https://www.example.org/ docs/ci/gate.sh", pipeline)


if __name__ == "__main__":
    harness.main()
