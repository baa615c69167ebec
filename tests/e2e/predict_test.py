#!/usr/bin/env python3
"""`predict`: what it prints and keeps, think times whose saving is arithmetic on observed loads,
changes of documents, hosts and links, and what it refuses."""

import json
import shutil
import subprocess

import harness
from what_if_test import LINK, QUICK, URL, Recorded

# The last load is known only of a page that was quiet for two seconds.
MILESTONES = ["first contentful paint", "largest contentful paint", "load event"]
CHANGE = ("--what-if", "path=/: think=+300ms")


class Predict(Recorded):
    measured = None

    def measured_change(self):
        """The folder of a prediction for CHANGE and of its loads, and the report: of all tests."""
        if not Predict.measured:
            folder = self.archive.parent / "measured"
            report = self.report(*CHANGE, "--measure", "-o", str(folder), "--seed", "1")
            Predict.measured = folder, report
        return Predict.measured

    def predict(self, *arguments, code=0, archive=None):
        done = harness.run("predict", str(archive or self.archive), URL, "--link", LINK,
                           "--inject", "none", "--protocol", "h2", "--browser", harness.BROWSER,
                           *QUICK, *arguments, folder=self.folder, timeout=1500)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def report(self, *arguments):
        return json.loads(self.predict("--json", "--runs", "4", *arguments).stdout)

    def saving_ms(self, report, milestone):
        """Of the median."""
        each, = (each for each in report["milestones"] if each["milestone"] == milestone)
        return each["quantiles"][0]["saving_ms"]

    def test_a_think_time_is_added_to_what_was_observed(self):
        folder, report = self.measured_change()
        self.assertEqual(report["schema"], "reprise-prediction/1")
        self.assertEqual([each["milestone"] for each in report["milestones"]], MILESTONES)
        self.assertEqual(report["what_ifs"][0]["changed"], 1)
        for each in report["milestones"]:
            self.assertEqual([quantile["quantile"] for quantile in each["quantiles"]],
                             [.5, .75, .9])
            self.assertEqual(len(each["observed_ms"]), report["loads"])
            self.assertEqual(len(each["predicted_ms"]), report["loads"])
            # All of the page waits for its document.
            for before, after in zip(each["observed_ms"], each["predicted_ms"]):
                self.assertAlmostEqual(after - before, 300, delta=1)
            for quantile in each["quantiles"]:
                self.assertAlmostEqual(quantile["saving_ms"], -300, delta=1)
                # Four loads have no 95 % interval of any quantile.
                for limit in ("low_ms", "high_ms", "saving_low_ms", "saving_high_ms"):
                    self.assertIsNone(quantile[limit])
            # The page has waited that long, whatever else the machine does.
            self.assertGreater(min(each["measured_ms"]), 300)
            self.assertEqual(each["measured"]["error_if_nothing_changed"]["of_saving"], 1)
            self.assertLessEqual(each["measured"]["error"]["distance"]["median"], 1)
        self.assertEqual(json.loads((folder / "prediction.json").read_text()), report)
        graph = json.loads((folder / "dependency.json").read_text())
        self.assertEqual(graph["schema"], "reprise-dependency/1")
        kinds = {node["kind"] for node in graph["nodes"]}
        self.assertIn("request", kinds)
        self.assertIn("milestone", kinds)
        self.assertEqual(len(json.loads((folder / "b.json").read_text())["what_ifs"]), 1)
        traces = [load["trace"] for side in ("a", "b")
                  for load in json.loads((folder / f"{side}.json").read_text())["loads"]]
        self.assertEqual(sorted(traces), sorted(map(str, (folder / "traces").iterdir())))

    def test_kept_loads_are_not_made_again(self):
        measured, report = self.measured_change()
        folder = self.folder / "kept"
        shutil.copytree(measured, folder)  # it is changed below
        kept = ("--json", "--seed", "1", "--loads", str(folder))
        again = json.loads(self.predict(*kept, *CHANGE, "--measure").stdout)
        self.assertEqual(again, report)
        other = json.loads(self.predict(*kept, "--what-if", "path=/: think=+500ms").stdout)
        for each, before in zip(other["milestones"], report["milestones"], strict=True):
            self.assertEqual(each["observed_ms"], before["observed_ms"])
            self.assertAlmostEqual(each["quantiles"][0]["saving_ms"], -500, delta=1)
        asked = json.loads(self.predict(*kept, *CHANGE, "--quantile", ".95,.5", "--quantile",
                                        "0.25").stdout)
        for each in asked["milestones"]:
            self.assertEqual([quantile["quantile"] for quantile in each["quantiles"]],
                             [.95, .5, .25])
        told = self.predict("--loads", str(folder), *CHANGE, "--measure").stdout.decode()
        self.assertIn("too few loads for a 95 % interval, which needs 29\n", told)
        self.assertRegex(told, "distance D [01][.][0-9]+, median [01][.][0-9]+, mean [01][.]")
        # Options that are not given are those of the loads.
        done = harness.run("predict", str(self.archive), *kept, *CHANGE, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(json.loads(done.stdout),
                         json.loads(self.predict(*kept, *CHANGE).stdout))
        for arguments, why in (
                ((*CHANGE, "--cache", "warm"), 'another --cache: "cold", not "warm"'),
                ((*CHANGE, "--think-time", "recorded"),
                 'other replay options: "--inject=none", not "--inject=none --think-time'),
                ((*CHANGE, "--cpu-throttle", "2"), 'another --cpu-throttle: "1", not "2"'),
                (("--what-if", "path=/: think=+500ms", "--measure"), "b.json was loaded with"),
                ((*CHANGE, "--runs", "4"), "--runs")):
            self.assertIn(why, self.predict(*kept, *arguments, code=2).stderr.decode())
        self.assertFalse([each for each in report["remarks"] if "dropped" in each])
        loads = json.loads((folder / "a.json").read_text())
        for each in loads["replays"]:
            each["report"]["link"]["down"]["queue_drops"] = 3
        (folder / "a.json").write_text(json.dumps(loads))
        told = self.predict(*kept, *CHANGE).stderr.decode()
        self.assertRegex(told, "dropped packets in ([0-9]+) of \\1 loads: .*queue=1000p")
        # A load that was repeated is not lost.
        lost = {**loads["loads"][-1], "skipped": "the machine was busy"}
        runs = len({each["run"] for each in loads["loads"] if not each["warm_up"]})
        for run, remarks in (
                (lost["run"], []),
                (lost["run"] + 1, [f"learnt from {report['loads']} of {runs + 1} loads: "
                                   "the others failed or were skipped"])):
            more = [*loads["loads"], {**lost, "run": run}]
            (folder / "a.json").write_text(json.dumps({**loads, "loads": more}))
            told = json.loads(self.predict(*kept, *CHANGE).stdout)["remarks"]
            self.assertEqual([each for each in told if each.startswith("learnt from")], remarks)
        counted = [each for each in loads["loads"] if not each["warm_up"] and "skipped" not in each]
        for each in counted[:-3]:
            each["skipped"] = lost["skipped"]
        (folder / "a.json").write_text(json.dumps(loads))
        told = self.predict(*kept, *CHANGE, code=1).stderr.decode()
        self.assertIn(f"predict needs at least 4 loads and has 3 of {runs} loads: ", told)
        (folder / "b.json").unlink()
        told = self.predict(*kept, *CHANGE, "--measure", code=2).stderr.decode()
        self.assertIn("b.json: ", told)

    def test_a_script_a_link_and_a_processor_at_once_of_a_page_that_is_not_whole(self):
        folder = self.folder / "out"
        archive = self.folder / "not-whole.reprise"
        done = harness.run("archive", "trim", str(self.archive), "--drop", "path=/back.png", "-o",
                           str(archive), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        change = ("--to-link", "20mbit/20mbit/200", "--to-cpu-throttle", "2", "--what-if",
                  "host=third.page.test: think=+9000ms", "--what-if", "path=/ad.js: async")
        done = self.predict("--runs", "4", *change, "-o", str(folder), archive=archive)
        told = done.stdout.decode()
        self.assertTrue(told.startswith(URL), told)
        for milestone in MILESTONES:
            self.assertIn(f"\n{milestone}\n  median  ", told)
        self.assertIn("does not have 1 request of the page, such as GET "
                      "https://www.page.test/back.png", done.stderr.decode())
        report = json.loads((folder / "prediction.json").read_text())
        times = {each["milestone"]: list(zip(each["observed_ms"], each["predicted_ms"],
                                             strict=True)) for each in report["milestones"]}
        # The script is async now: a paint that a busy machine made late can come before it.
        for milestone, some in zip(MILESTONES, (any, any, all), strict=True):
            self.assertTrue(some(after > before for before, after in times[milestone]), times)
        painted, after_change = zip(*times["first contentful paint"])
        if max(painted) - min(painted) <= 200:
            self.assertNotIn("saves", told)
        self.assertEqual(report["to"]["link"], "20mbit/20mbit/200")
        slowdown = report["to"].get("cpu_slowdown")
        if slowdown is None:  # other tests have the processors
            self.assertIn("could not be measured (is the machine busy?)", done.stderr.decode())
        else:
            self.assertGreater(slowdown, 1)
            self.assertIn(f"--cpu-throttle 2 makes pages compute {slowdown:.1f} times as long as "
                          "1", done.stderr.decode())
        again = self.predict("--loads", str(folder), "--json", *change, archive=archive)
        self.assertEqual(json.loads(again.stdout)["to"].get("cpu_slowdown"), slowdown)
        # Name, connection, TLS and request; the load event waits for the script, the paint does
        # not any more.
        savings = [before - after for before, after in zip(painted, after_change)]
        self.assertLess(min(savings), -300)
        self.assertGreater(max(savings), -5000)
        self.assertLess(self.saving_ms(report, "load event"), -5000)

    def test_an_interruption_before_the_first_load_leaves_no_folder(self):
        folder = self.folder / "out"
        started = subprocess.Popen([harness.REPRISE, "predict", str(self.archive), URL, "--link",
                                    LINK, "--browser", harness.BROWSER, "--what-if",
                                    "path=/: think=+1ms", "-o", str(folder)], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertIn("1 change", started.stderr.readline())
        self.until(folder.exists)
        started.terminate()
        self.assertIn("interrupted", started.communicate(timeout=harness.DEADLINE_SECONDS)[1])
        self.assertFalse(folder.exists())

    def test_what_the_model_does_not_have(self):
        for arguments, why in (
                (("--what-if", "type=image: lazy"), "does not know what is in view"),
                (("--what-if", "path=/ad.js: status=503"), "is not known"),
                (("--what-if", "path=/: drop"), "the page itself would be gone"),
                (("--to-link", "none"), "limit of a link's rate"),
                (("--to-link", "20mbit/20mbit/100/1%"), "has no losses"),
                (("--to-link", "fast"), "fast"),
                ((*CHANGE, "--quantile", "90"), "above 0 and below 1, such as .95, not '90'"),
                (("--what-if", "host=nobody.test: drop"), "selects no request"),
                (("--to-protocol", "spdy"), "--protocol must be"),
                (("--what-if", "*: drop", "--protocol", "h1"), "one configuration"),
                ((), "predict needs a change")):
            told = self.predict(*arguments, code=2).stderr.decode()
            self.assertIn(why, told)
        cut = self.folder / "cut.reprise"
        cut.write_bytes(self.archive.read_bytes()[:-100])
        told = self.predict("--what-if", "host=nobody.test: drop", code=2, archive=cut)
        self.assertRegex(told.stderr.decode(), "selects no request .*cut.reprise: the ")


if __name__ == "__main__":
    harness.main()
