#!/usr/bin/env python3
"""The recipe of docs/ci.md, on a site that it is told to reach: the first run records what the
change is compared with; a change that makes a picture large is found; the pipeline calls the
script as it is documented."""

import contextlib
import subprocess

import gate_sites
import harness
from wire import Certificate, Origin

RECIPE = harness.REPOSITORY / "docs/ci/gate.sh"


class Recipe(harness.TestCase):
    def run_recipe(self, site, *arguments, **environment):
        tls = Certificate(self.folder / "tls", (gate_sites.HOST,))
        with contextlib.closing(Origin(site.answer, names=(gate_sites.HOST,), tls=tls)) as origin:
            return subprocess.run(
                [RECIPE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=1800,
                stdin=subprocess.DEVNULL, check=False,
                env={**harness.environment(self.folder), "REPRISE": harness.REPRISE,
                     "BASE": "base.reprise", "URL": gate_sites.URL,
                     "RECORD": " ".join(("--browser", harness.BROWSER,
                                         *origin.connect_arguments())), **environment})

    def test_a_change_that_makes_the_page_slower_is_stopped(self):
        done = self.run_recipe(gate_sites.plain_site())
        self.assertEqual(done.returncode, 1, "nothing to compare with")
        self.assertIn("gate.sh base' on the main branch", done.stderr)
        done = self.run_recipe(gate_sites.plain_site(), "base")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Tests share a machine: packets may be late. The picture takes 800 ms; the link's words are
        # followed by other options of a load.
        done = self.run_recipe(gate_sites.plain_site(image_bytes=1_000_000),
                               LINK=f"10mbit/10mbit/40 --browser {harness.BROWSER} --quiet 500 "
                                    "--settle 50",
                               GATE="--metric load --min-effect 100ms --seed 1 "
                                    "--allow calibration --skip-noise-check")
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("**different: load event +"), done.stdout)
        kept = {each.name for each in (self.folder / "results").iterdir()}
        self.assertEqual(kept, {"a.json", "b.json", "verdict.json", "summary.md"})

    def test_a_run_that_fails_leaves_nothing_of_an_earlier_one(self):
        results = self.folder / "results"
        results.mkdir()
        for name in ("summary.md", "verdict.json", "why.md", "own.txt"):
            (results / name).write_text("earlier")
        (self.folder / "base.reprise").write_text("")
        done = subprocess.run(
            [RECIPE], cwd=self.folder, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
            check=False, env={**harness.environment(self.folder), "REPRISE": "false",
                              "BASE": "base.reprise", "URL": gate_sites.URL})
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual([each.name for each in results.iterdir()], ["own.txt"])

    def test_the_pipeline_calls_the_script(self):
        pipeline = (RECIPE.parent / "pipeline.yml").read_text()
        for line in ("docs/ci/gate.sh", "docs/ci/gate.sh base"):
            self.assertIn(f"- BASE=base.reprise URL=https://www.example.org/ {line}\n", pipeline)


if __name__ == "__main__":
    harness.main()
