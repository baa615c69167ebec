#!/usr/bin/env python3
"""`reprise campaign` on this machine: a plan, its shards, what is done and missing, one result set;
and what is refused or survived: a changed plan, a full disk, a node without a browser, two at once.
"""

import fcntl
import json
import os
import signal
import subprocess
import unittest

import campaigns
import harness
from wire import Certificate

HOST = "pages.test"
LINKS = ["none", "wpt:4g"]


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
class Measured(campaigns.CampaignCase):
    def test_all_shards_are_measured_once_and_collected(self):
        told = self.plan_pages(2, loads=2, load_seconds=20, shard_minutes=2,
                               sides=[{"name": "A"}, {"name": "B"}])
        self.assertIn(b"2 archives, 8 loads in 2 shards", told.stdout)
        self.assertEqual(self.status()["missing"], [1, 2])
        refused = self.run_campaign("collect", self.plan, "-o", self.folder / "set", expect=1)
        self.assertIn(b"2 shards missing: run `reprise campaign resume`", refused.stderr)

        self.run_campaign("submit", self.plan, "--node", "here")
        status = self.status()
        self.assertEqual((status["done"], status["loads"], status["failed_loads"]), (2, 8, 0))
        self.assertEqual(status["nodes"]["here"]["shards"], 2)
        before = {path.name: path.read_bytes() for path in (self.plan / "results").iterdir()}
        self.run_campaign("run", self.plan, 1, "--node", "here")
        self.run_campaign("resume", self.plan, "--node", "here")
        after = {path.name: path.read_bytes() for path in (self.plan / "results").iterdir()}
        self.assertEqual(before, after)

        results = self.folder / "set"
        self.run_campaign("collect", self.plan, "-o", results)
        index = json.loads((results / "set.json").read_text())
        self.assertEqual([page["nodes"] for page in index["pages"]], [{"here": 4}] * 2)
        rows = [line.split("\t") for line in (results / "cells.tsv").read_text().splitlines()]
        self.assertEqual([row[0:2] + row[7:9] for row in rows[1:]],
                         [[page, side, "2", "2"] for page in ("p0", "p1") for side in "AB"])
        for page in ("p0", "p1"):
            done = harness.run("compare", "--allow", "calibration",
                               str(results / "A" / f"{page}.json"),
                               str(results / "B" / f"{page}.json"), timeout=60)
            self.assertIn(done.returncode, (0, 6), done.stderr.decode())
            loads = json.loads((results / "A" / f"{page}.json").read_text())["loads"]
            self.assertEqual({load["node"] for load in loads}, {"here"})
        done = harness.run("explain", *map(str, (results / "A").iterdir()), "--json", timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_an_interruption_costs_only_the_shard_that_ran(self):
        self.plan_pages(2, loads=2, load_seconds=60, shard_minutes=2)
        runner = subprocess.Popen(
            [harness.REPRISE, "campaign", "submit", str(self.plan), "--node", "here"],
            env=self.environment, stderr=subprocess.PIPE)
        self.addCleanup(runner.wait)
        self.addCleanup(runner.kill)
        for _ in harness.watch_folder(self.plan / "nodes", runner.pid):
            if list((self.plan / "nodes").glob("*.json")) or runner.poll() is not None:
                break
        runner.send_signal(signal.SIGTERM)
        runner.communicate(timeout=campaigns.SECONDS)
        self.assertNotEqual(runner.returncode, 1)
        started = (self.plan / "rounds" / "1.txt").read_text()
        self.assertEqual(started, "1\n", "the second shard has all its starts left")
        self.run_campaign("resume", self.plan, "--node", "here")
        self.assertEqual(self.status()["missing"], [])

    def test_a_node_without_a_browser_is_refused_with_the_way_out(self):
        archives = self.record_pages(1)
        self.run_campaign("plan", self.campaign(archives=[str(archives)]), "-o", self.plan)
        empty = self.folder / "empty"
        empty.mkdir()
        bare = {**self.environment, "PATH": str(empty)}
        done = self.run_campaign("submit", self.plan, "--node", "bare", environment=bare, expect=1)
        self.assertIn(b"apt-get install chromium", done.stderr)
        self.assertIn(b"run `reprise campaign resume`", done.stderr)
        status = self.status()
        self.assertEqual(status["refused_nodes"][0]["node"], "bare")
        self.assertEqual(list((self.plan / "results").iterdir()), [])
        code = self.run_campaign("run", self.plan, 1, "--node", "bare", environment=bare, expect=75)
        self.assertIn(b"node refused", code.stderr)

    def test_a_full_disk_leaves_no_result_and_says_so(self):
        disk = self.plan
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(disk)], check=True)
        self.plan_pages(1, loads=1)
        self.run_campaign("check", self.plan, "--node", "here")
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        done = self.run_campaign("run", self.plan, 1, "--node", "here", expect=75)
        self.assertIn(b"No space left on device. Free some space", done.stderr)
        self.assertEqual(list((disk / "results").iterdir()), [])
        filler.unlink()
        self.run_campaign("resume", self.plan, "--node", "here")
        self.assertEqual(self.status()["missing"], [])


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
class Recorded(campaigns.CampaignCase):
    def test_pages_are_recorded_in_shards_side_by_side_and_collected_into_one_corpus(self):
        tls = Certificate(self.folder / "tls", (HOST,))
        server = self.origin(campaigns.answer, names=(HOST,), tls=tls)
        browser, used = self.folder / "browser", self.folder / "used"
        browser.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] || : > {used}\n"
                           f"exec {campaigns.BROWSER} \"$@\"\n")
        browser.chmod(0o755)
        file = self.campaign(
            urls=[f"https://{HOST}/", f"https://{HOST}/none"], load_seconds=60, shard_minutes=1,
            browsers=[str(browser)], flags=["--quiet", "100", "--settle", "50", "--retries", "1",
                                            *server.connect_arguments()])
        self.run_campaign("plan", file, "-o", self.plan)
        self.run_campaign("submit", self.plan, "--node", "here", "--jobs", "2")
        status = self.status()
        self.assertEqual((status["done"], status["missing"], status["loads"]), (2, [], 2))
        self.assertTrue(used.exists())
        corpus = self.folder / "collected"
        self.run_campaign("collect", self.plan, "-o", corpus)
        pages = json.loads((corpus / "corpus.json").read_text())["pages"]
        self.assertEqual(sorted(page["url"] for page in pages),
                         [f"https://{HOST}/", f"https://{HOST}/none"])
        for page in pages:
            self.assert_sound(corpus / page["archive"])
        leftovers = [path.name for path in (self.plan / "results").iterdir()
                     if not path.name.isdigit()]
        self.assertEqual(leftovers, [])


class Planned(campaigns.CampaignCase):
    """Without a browser: the results are made up."""

    def setUp(self):
        super().setUp()
        corpus = self.folder / "corpus"
        corpus.mkdir()
        for page in range(5):
            (corpus / f"p{page}.reprise").write_bytes(b"")
        self.file = self.campaign(archives=["corpus"], links=LINKS, loads=40,
                                  sides=[{"name": "A"}, {"name": "B"}])
        self.run_campaign("plan", self.file, "-o", self.plan)
        self.shards = len(json.loads((self.plan / "plan.json").read_text())["shards"])

    def simulate(self, **options):
        campaigns.simulate(self.plan, lambda shard: f"n{shard % 3}",
                           lambda node, side, shard, run: 1000 + run, **options)

    def test_planning_twice_gives_the_same_bytes_and_another_plan_is_refused(self):
        before = (self.plan / "plan.json").read_bytes()
        self.run_campaign("plan", self.file, "-o", self.plan)
        self.assertEqual((self.plan / "plan.json").read_bytes(), before)
        other = self.campaign(archives=["corpus"], loads=41)
        done = self.run_campaign("plan", other, "-o", self.plan, expect=1)
        self.assertIn(b"use another folder", done.stderr)

    def test_browsers_and_trace_files_are_relative_to_the_file(self):
        place = self.folder.resolve() / "place"
        place.mkdir()
        (place / "p0.reprise").write_bytes(b"")
        (place / "a.trace").write_text("1\n2\n")
        (place / "campaign.json").write_text(json.dumps(
            {"schema": "reprise-campaign/1", "name": "test", "archives": ["p0.reprise"],
             "browsers": ["bin/browser", "chromium"],
             "links": ["a.trace", "wpt:4g,up=a.trace"]}))
        plans = []
        for folder, file in ((place, "campaign.json"), (place.parent, "place/campaign.json")):
            output = self.folder / f"from-{folder.name}"
            self.run_campaign("plan", file, "-o", output, cwd=folder)
            plans.append((output / "plan.json").read_bytes())
        self.assertEqual(plans[0], plans[1])
        campaign = json.loads(plans[0])["campaign"]
        self.assertEqual(campaign["browsers"], [f"{place}/bin/browser", "chromium"])
        self.assertEqual(campaign["links"], [f"{place}/a.trace", f"wpt:4g,up={place}/a.trace"])

    def test_a_plan_that_changed_after_submission_is_refused(self):
        self.simulate()
        text = (self.plan / "plan.json").read_text()
        (self.plan / "plan.json").write_text(text.replace('"seed":1', '"seed":2'))
        done = self.run_campaign("run", self.plan, 1, "--plan", "0123456789abcdef", expect=1)
        self.assertIn(b"it has changed since", done.stderr)
        status = self.status()
        self.assertEqual(status["done"], 0)
        self.assertIn(f"{self.shards} results of another plan", status["remarks"][0])

    def test_a_clock_an_hour_off_is_named_and_changes_nothing(self):
        self.simulate()
        sets = []
        for name, hours in (("right", 0), ("wrong", 1)):
            if hours:
                for path in (self.plan / "results").iterdir():
                    head, rest = path.read_text().split("\n", 1)
                    header = json.loads(head)
                    if header["node"] == "n1":
                        header["finished_unix_ms"] += hours * 3_600_000
                        path.write_text(json.dumps(header) + "\n" + rest)
                        os.utime(path, (0, 0))
            for node in range(3):
                (self.plan / "nodes" / f"n{node}.json").write_text(json.dumps(
                    {"schema": "reprise-node/1", "plan": self.digest(), "node": f"n{node}",
                     "machine": {}, "clock_ahead_s": 3600 * hours if node == 1 else 1}))
            remarks = self.status()["remarks"]
            self.assertEqual(len(remarks), hours, remarks)
            self.assertEqual((self.status()["missing"], self.status()["refused_nodes"]), ([], []))
            results = self.folder / name
            self.run_campaign("collect", self.plan, "-o", results)
            sets.append({str(path.relative_to(results)): path.read_bytes()
                         for path in results.rglob("*") if path.is_file()})
        self.assertIn("the clock of node n1 is 60 min fast", remarks[0])
        self.assertEqual(sets[0], sets[1])

    def test_two_at_once_are_refused(self):
        with open(self.plan / "lock", "w") as lock:
            lock.write("process 7 on far")
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.run_campaign("resume", self.plan, expect=1)
        self.assertIn(b"another `reprise campaign` works on", done.stderr)
        self.assertIn(b"process 7 on far", done.stderr)

    def test_what_is_missing_is_judged_by_results(self):
        self.simulate(skip={2, 5})
        status = self.status()
        self.assertEqual(status["missing"], [2, 5])
        self.assertEqual(sorted(status["nodes"]), ["n0", "n1", "n2"])
        self.assertGreater(status["seconds_left"], 0)
        # A torn file, as a broken file system may leave it, is no result.
        (self.plan / "results" / "000001.json").write_bytes(b'{"schema":"reprise-sh')
        self.assertEqual(self.status()["missing"], [1, 2, 5])

    def test_parts_merge_to_the_bytes_of_one_process(self):
        self.simulate()
        whole, parts = self.folder / "whole", self.folder / "parts"
        self.run_campaign("collect", self.plan, "-o", whole)
        lines = b"".join(self.run_campaign("collect", self.plan, "-o", parts, "--part",
                                           f"{part}/3").stdout for part in (3, 1, 2))
        self.assertEqual(len(lines.splitlines()), 5)
        self.run_campaign("collect", self.plan, "-o", parts, "--merge", input=lines)
        names = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
        self.assertEqual(len(names), 2 * 5 + 2)
        for name in names:
            self.assertEqual((whole / name).read_bytes(), (parts / name).read_bytes(), name)
        few = lines[:lines.index(b"\n") + 1]
        done = self.run_campaign("collect", self.plan, "-o", parts, "--merge", input=few, expect=1)
        self.assertIn(b"give those of all parts", done.stderr)

    def test_every_load_is_collected_once(self):
        self.simulate()
        results = self.folder / "set"
        self.run_campaign("collect", self.plan, "-o", results)
        for side in "AB":
            for page in range(5):
                loads = json.loads((results / side / f"p{page}.json").read_text())["loads"]
                counted = [(load["run"], load["configuration"]["link"]) for load in loads
                           if not load["warm_up"]]
                self.assertEqual(sorted(counted),
                                 sorted((run + 1, link) for run in range(40) for link in LINKS))
        self.assertEqual(os.stat(results / "set.json").st_mode & 0o777, 0o600)

    def test_archives_that_are_old_or_torn_are_collected_again(self):
        self.plan, collected = self.folder / "recorded", self.folder / "collected"
        self.run_campaign("plan", self.campaign(urls=["https://a.test/"]), "-o", self.plan)
        shard = self.recorded_shard(
            {"url": "https://a.test/", "name": "a", "archive": "a.reprise"})
        (shard / "a.reprise").write_bytes(b"recorded")
        collected.mkdir()
        for found in (b"an older one", b"rec"):
            for name in ("a.reprise", "a.reprise.part"):
                (collected / name).unlink(missing_ok=True)
                (collected / name).write_bytes(found)
            for _ in range(2):
                self.run_campaign("collect", self.plan, "-o", collected)
                self.assertEqual((collected / "a.reprise").read_bytes(), b"recorded")
        self.assertEqual(sorted(path.name for path in collected.iterdir()),
                         ["a.reprise", "corpus.json"])

    def test_a_campaign_that_cannot_be_planned_says_what_to_change(self):
        for members, sentence in (
                ({"archives": ["nowhere"]}, b"nowhere does not exist"),
                ({"archives": ["corpus"], "lods": 3}, b"lods is not a member of a campaign"),
                ({"archives": ["corpus", "corpus"]}, b"rename one"),
                ({"archives": ["corpus"], "links": ["wpt:4gg"]},
                 b"neither a known profile nor a file"),
                ({"archives": ["corpus"], "sides": [{"name": "A", "archives": "other"}]},
                 b"side A has no")):
            done = self.run_campaign("plan", self.campaign(**members), "-o", self.folder / "x",
                                     expect=2)
            self.assertIn(sentence, done.stderr)


class Advised(campaigns.CampaignCase):
    """Digests of a result set that nobody measured: 20 pages, three owners."""

    def write_set(self, name, slower=(), saving=50):
        pages = []
        for page in range(20):
            base = 1000 * (1.2 if page in slower else 1)
            changes = [{"verdict": "saves" if page % 2 else "no effect",
                        "changes": [{"advice": "Defer a.js", "what_if": "path=/a.js: defer"}],
                        "shift": {"estimate": -saving - page, "low": -saving - page - 9,
                                  "high": -saving - page + 9}}]
            pages.append({"page": f"p{page}", "url": f"https://t{page % 3}.test/{page}",
                          "nodes": {"n1": 8},
                          "load_events_ms": [base + load for load in range(8)],
                          "advice": {"schema": "reprise-advice/1", "changes": changes}})
        folder = self.folder / name
        folder.mkdir()
        (folder / "set.json").write_text(json.dumps(
            {"schema": "reprise-set/1", "task": "advise", "pages": pages}))
        return folder

    def digests(self, results, *arguments):
        owners = self.folder / "owners.json"
        owners.write_text(json.dumps({"schema": "reprise-owners/1", "owners": [
            {"owner": "shop", "pages": ["https://t0.test/*"]},
            {"owner": "news", "pages": ["https://t1.test/*"]},
            {"owner": "rest", "pages": ["*"]}]}))
        output = self.folder / f"digests-{results.name}"
        self.run_campaign("advise", results, "--owners", owners, "-o", output, *arguments)
        return {path.stem: json.loads(path.read_text()) for path in output.glob("*.json")}, output

    def test_each_owner_reads_measured_savings_and_the_page_that_became_slower(self):
        first = self.write_set("first")
        digests, _ = self.digests(first)
        self.assertEqual({owner: len(each["pages"]) for owner, each in digests.items()},
                         {"shop": 7, "news": 7, "rest": 6})
        self.assertEqual(sum(each["suggestions"] for each in digests.values()), 10)
        self.assertEqual(sum(each["slower"] for each in digests.values()), 0)

        digests, folder = self.digests(self.write_set("second", slower=[4]), "--before", first)
        self.assertEqual({owner: each["slower"] for owner, each in digests.items()},
                         {"shop": 0, "news": 1, "rest": 0})
        self.assertEqual(digests["news"]["pages"][0]["page"], "p4")
        self.assertIn("slower (+200 ms since the last time)", (folder / "news.md").read_text())
        new = [each["new"] for digest in digests.values() for page in digest["pages"]
               for each in page["suggestions"]]
        self.assertEqual(new, [False] * 10)


if __name__ == "__main__":
    harness.main_in_namespace("--mount")
