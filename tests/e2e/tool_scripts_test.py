#!/usr/bin/env python3
"""Scripts in tools/ that people run: what the demonstration compares, which figures are measured
again, what the setup tells users of other systems."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import unittest.mock

import harness

TOOLS = harness.REPOSITORY / "tools"
sys.path.append(str(TOOLS))
import test_figures  # pylint: disable=wrong-import-position

URL = "http://a.test/"


def load(**members):
    request = {"method": "GET", "url": URL, "status": 200, "body_sha256": "b" * 64,
               "from_cache": False}
    return {"url": URL, "outcome": "loaded", "warm_up": False, "dom_sha256": "d" * 64,
            "load_event_ms": 10.0, "requests": [request], **members}


class DemoCompare(harness.TestCase):
    def compare(self, live, replayed, code):
        files = [self.folder / "live.json", self.folder / "replay.json"]
        for file, loads in zip(files, (live, replayed)):
            file.write_text(json.dumps({"loads": loads}))
        done = subprocess.run([sys.executable, "-B", TOOLS / "demo_compare.py", *files],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        return done.stdout

    def test_loads_that_warmed_up_do_not_count(self):
        told = self.compare([load()], [load(warm_up=True, requests=[]), load()], 0)
        self.assertIn("replay 1", told)
        self.assertNotIn("replay 2", told)

    def test_a_load_without_a_document_is_a_difference(self):
        lost = load(dom_sha256=None, outcome="browser-died", load_event_ms=None)
        told = self.compare([load()], [lost], 1)
        self.assertIn("the replay ended as 'browser-died'", told)
        self.assertIn("different document: dddddddddddd became none", told)
        self.assertIn("became dddddddddddd", self.compare([lost], [load()], 1))


class Demo(harness.TestCase):
    """`tools/demo URL`, with a stand-in for the program."""

    def demo(self, code, outcome):
        program = self.folder / "reprise"
        result = json.dumps({"loads": [load(outcome=outcome)]})
        program.write_text(f"""#!/bin/bash
case "$1 $2" in
  "archive ls") echo "1 200 GET complete {URL}"; exit ;;
  "archive stats") exit ;;
esac
printf '%s ' "$@" >> {self.folder}/asked
while [[ $1 != --load-report && $1 != -o || $2 == *.reprise ]]; do shift; done
cat > "$2" <<'RESULT'
{result}
RESULT
exit {code}
""")
        program.chmod(0o755)
        return subprocess.run([TOOLS / "demo", URL], capture_output=True, text=True, check=False,
                              env={**harness.environment(self.folder), "REPRISE": str(program)})

    def test_a_page_that_is_never_quiet_is_compared_all_the_same(self):
        done = self.demo(1, "timed-out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the replay ended as 'timed-out'", done.stdout)

    def test_the_page_is_loaded_twice(self):
        self.assertEqual(self.demo(0, "loaded").returncode, 0)
        self.assertIn("--runs 2 --warm-up 0", (self.folder / "asked").read_text())

    def test_other_failures_end_it(self):
        self.assertEqual(self.demo(3, "loaded").returncode, 3)


class Figures(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.table = self.folder / "table"
        self.ran = self.folder / "ran"
        for name, value in (("TABLE", self.table), ("RESULTS", self.folder / "results.json"),
                            ("REPOSITORY", self.folder)):
            patch = unittest.mock.patch.object(test_figures, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def full(self, commit, row):
        """What `tools/test --full` prints and how often its one row ran so far."""
        self.table.write_text(f"figure {row}\n")
        told = io.StringIO()
        with contextlib.redirect_stdout(told), \
             unittest.mock.patch.object(test_figures, "commit", lambda: commit), \
             unittest.mock.patch.object(sys, "argv", ["test_figures.py"]):
            self.assertEqual(test_figures.main(), 0, told.getvalue())
        return told.getvalue(), len(self.ran.read_text().splitlines())

    def test_a_row_is_measured_again_if_its_command_has_changed(self):
        figure = json.dumps({"name": "n", "value": 1, "unit": "", "bound": "", "ok": True})
        row = f"echo x >> {self.ran}; echo '{figure}'"
        told, ran = self.full("first", row)
        self.assertEqual(ran, 1)
        self.assertNotIn("measured at", told)
        told, ran = self.full("second", row)
        self.assertEqual(ran, 1)
        self.assertIn("measured at first\n", told)
        self.assertIn("1 of 1 rows: measured at another commit than second", told)
        told, ran = self.full("second", "true; " + row)
        self.assertEqual(ran, 2)
        self.assertNotIn("measured at", told)

    def test_rows_use_the_release_binary_whatever_the_environment_says(self):
        with unittest.mock.patch.dict("os.environ", REPRISE="/another"):
            test_figures.measure("row", f"echo $REPRISE > {self.ran}")
        self.assertEqual(self.ran.read_text(), f"{self.folder}/build/release/reprise\n")


class Setup(harness.TestCase):
    def test_other_systems_are_told_the_list_that_was_chosen(self):
        release = self.folder / "os-release"
        release.write_text("ID=other VERSION_ID=1\n")
        script = (TOOLS / "setup").read_text().replace("/etc/os-release", str(release))
        for chosen, listed, tests in (([], "tools/setup --list", "ON"),
                                      (["--demo"], "tools/setup --demo --list", "OFF"),
                                      (["--full"], "tools/setup --full --list", "ON")):
            done = subprocess.run(["bash", "-c", script, "setup", *chosen], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"'{listed}'", done.stderr)
            self.assertIn(f"-DREPRISE_TESTS={tests} ", done.stderr)


if __name__ == "__main__":
    harness.main()
