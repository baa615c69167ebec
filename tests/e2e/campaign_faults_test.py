#!/usr/bin/env python3
"""What goes wrong in a campaign costs no more than itself: an engine that dies, a damaged
archive, a folder that is no result, a check that is interrupted, an older set."""

import json
import shutil
import signal
import subprocess
import unittest

import campaigns
import harness
from wire import Certificate

HOST = "pages.test"
ROUNDS = 5


class Checked(campaigns.CampaignCase):
    def test_an_interrupted_check_refuses_no_node(self):
        started, browser = self.folder / "started", self.folder / "browser"
        browser.write_text(f"#!/bin/sh\n: > {started}\nsleep 2\n")
        browser.chmod(0o755)
        (self.folder / "p0.reprise").write_bytes(b"")
        self.run_campaign("plan", self.campaign(archives=["p0.reprise"], browsers=[str(browser)]),
                          "-o", self.plan)
        for words in (("check", self.plan), ("run", self.plan, 1)):
            with self.subTest(words=words):
                started.unlink(missing_ok=True)
                process = subprocess.Popen(
                    [harness.REPRISE, "campaign", *map(str, words), "--node", "here"],
                    env=self.environment, stderr=subprocess.PIPE)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                for _ in harness.watch_folder(self.folder, process.pid):
                    if started.exists() or process.poll() is not None:
                        break
                process.send_signal(signal.SIGTERM)
                _, told = process.communicate(timeout=campaigns.SECONDS)
                self.assertEqual(process.returncode, 128 + signal.SIGTERM, told.decode())
                self.assertIn(b"interrupted while the node was checked", told)
                self.assertNotIn(b"refused", told)


class Collected(campaigns.CampaignCase):
    def setUp(self):
        super().setUp()
        corpus = self.folder / "corpus"
        corpus.mkdir()
        for page in range(3):
            (corpus / f"p{page}.reprise").write_bytes(b"")

    def test_sides_that_only_an_older_set_has_are_removed(self):
        results = self.folder / "set"
        for name, sides in (("first", "ABC"), ("second", "A")):
            plan = self.folder / name
            file = self.campaign(archives=["corpus"], loads=3,
                                 sides=[{"name": side} for side in sides])
            self.run_campaign("plan", file, "-o", plan)
            campaigns.simulate(plan, lambda shard: "n1", lambda node, side, shard, run: 1000 + run)
            done = self.run_campaign("collect", plan, "-o", results)
            if name == "first":
                (results / "C" / "mine.json").write_text("{}")
        self.assertIn(b"B is a side of an older set: 3 files removed", done.stderr)
        self.assertEqual(sorted(str(path.relative_to(results)) for path in results.rglob("*")),
                         ["A", "A/p0.json", "A/p1.json", "A/p2.json", "C", "C/mine.json",
                          "cells.tsv", "set.json"])

    def test_nothing_of_an_older_set_is_left(self):
        file = self.campaign(archives=["corpus"], loads=40, sides=[{"name": "A"}, {"name": "B"}])
        self.run_campaign("plan", file, "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: "n1", lambda node, side, shard, run: 1000 + run)
        results = self.folder / "set"
        self.run_campaign("collect", self.plan, "-o", results)
        (results / "A" / "p9.json").write_text("{}")
        (results / "A" / "notes.txt").write_text("mine")
        shards = json.loads((self.plan / "plan.json").read_text())["shards"]
        for number, shard in enumerate(shards, 1):
            if any(part["page"] == 1 for part in shard["parts"]):
                (self.plan / "results" / f"{number:06}.json").unlink()
        done = self.run_campaign("collect", self.plan, "-o", results, "--incomplete")
        self.assertIn(b"p9.json is of no page of the plan: removed", done.stderr)
        self.assertEqual([sorted(path.name for path in (results / side).iterdir())
                          for side in "AB"],
                         [["notes.txt", "p0.json", "p2.json"], ["p0.json", "p2.json"]])


    def fail_every_load(self, url):
        """Of a page, in the results of all shards."""
        for path in (self.plan / "results").iterdir():
            lines = []
            for line in map(json.loads, path.read_text().splitlines()):
                for load in line.get("loads", []) if "archive" in line else []:
                    if load["url"] == url:
                        load.update(outcome="timed-out", failure="net::ERR_FAILED")
                lines.append(json.dumps(line) + "\n")
            path.write_text("".join(lines))

    def test_pages_are_counted_and_one_that_always_failed_is_named(self):
        self.run_campaign("plan", self.campaign(archives=["corpus"], loads=3), "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: "n1", lambda node, side, shard, run: 1000 + run)
        results = self.folder / "set"
        done = self.run_campaign("collect", self.plan, "-o", results)
        self.assertIn(b"9 loads of 3 pages in 3 archives", done.stderr)
        second = "https://p1.test/second"
        path, = (self.plan / "results").iterdir()
        lines = []
        for line in map(json.loads, path.read_text().splitlines()):
            if line.get("archive", "").endswith("p1.reprise"):
                line["loads"] += [{**load, "url": second} for load in line["loads"]]
            lines.append(json.dumps(line) + "\n")
        path.write_text("".join(lines))
        self.fail_every_load(second)
        done = self.run_campaign("collect", self.plan, "-o", results, expect=1)
        self.assertIn(b"of 4 pages in 3 archives", done.stderr)
        self.assertIn(f"page p1 ({second}) failed in every load: net::ERR_FAILED",
                      done.stderr.decode())
        pages = json.loads((results / "set.json").read_text())["pages"]
        self.assertEqual(pages[1]["urls"], ["https://p1.test/", second])
        self.assertEqual(pages[1]["failures"], [{"side": "", "url": second, "loads": 3,
                                                 "why": "net::ERR_FAILED"}])
        parts = self.folder / "parts"
        lines = self.run_campaign("collect", self.plan, "-o", parts, "--part", "1/1").stdout
        done = self.run_campaign("collect", self.plan, "-o", parts, "--merge", input=lines,
                                 expect=1)
        self.assertIn(b"failed in every load: net::ERR_FAILED", done.stderr)

    def test_a_page_whose_shard_failed_is_named_with_the_reason(self):
        file = self.campaign(archives=["corpus"], loads=3, load_seconds=60, shard_minutes=4)
        self.run_campaign("plan", file, "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: "n1", lambda node, side, shard, run: 1000 + run,
                           skip={2})
        (self.plan / "failures" / "000002.json").write_text(json.dumps(
            {"shard": 2, "node": "n1", "reason": "it failed", "detail": "no such page"}))
        results = self.folder / "set"
        done = self.run_campaign("collect", self.plan, "-o", results, "--incomplete", expect=1)
        self.assertIn(b"page p1 failed: shard 2 has no result: it failed (no such page)",
                      done.stderr)
        self.assertIn(b"6 loads of 3 pages in 3 archives", done.stderr)

    def test_a_page_that_was_not_recorded_is_named(self):
        self.run_campaign("plan", self.campaign(urls=["https://a.test/"]), "-o", self.plan)
        self.recorded_shard(
            {"url": "https://a.test/", "name": "a", "archive": None, "failure": "no such host"},
            failed=1, failures=[{"page": 0, "loads": 1, "why": "no such host"}])
        failed, = self.status()["failed_pages"]
        self.assertEqual((failed["url"], failed["why"]), ("https://a.test/", "no such host"))
        done = self.run_campaign("collect", self.plan, "-o", self.folder / "set", expect=1)
        self.assertIn(b"page a (https://a.test/) failed: no such host", done.stderr)


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
class Measured(campaigns.CampaignCase):
    def test_an_engine_that_dies_costs_one_start_of_the_shard_that_ran(self):
        self.plan_pages(2, loads=1, load_seconds=60, shard_minutes=1)
        self.assertEqual(self.status()["missing"], [1, 2])
        for number in range(1, ROUNDS + 1):
            started = self.plan / "rounds" / f"{number}.txt"
            runner = subprocess.Popen(
                [harness.REPRISE, "campaign", "resume", str(self.plan), "--node", "here"],
                env=self.environment, stderr=subprocess.DEVNULL)
            self.addCleanup(runner.wait)
            self.addCleanup(runner.kill)
            for _ in harness.watch_folder(started.parent, runner.pid):
                if (started.exists() and started.read_text()) or runner.poll() is not None:
                    break
            runner.kill()
            runner.wait()
            self.assertEqual(started.read_text(), "1\n")
        done = self.run_campaign("resume", self.plan, "--node", "here", expect=1)
        self.assertIn(b"1 shard failed 5 times", done.stderr)
        self.assertEqual(self.status()["missing"], [1])
        self.run_campaign("resume", self.plan, "--node", "here", "--rounds", ROUNDS + 1)
        self.assertEqual(self.status()["missing"], [])

    def test_a_damaged_archive_costs_only_its_own_page(self):
        self.plan_pages(3, loads=1, load_seconds=10, shard_minutes=5)
        self.assertEqual(self.status()["missing"], [1])
        (self.folder / "corpus" / "p1.reprise").write_bytes(b"damaged")
        done = self.run_campaign("run", self.plan, 1, "--node", "here", expect=None)
        self.assertNotIn(done.returncode, (0, 75), "it may be a fault of the machine")
        done = self.run_campaign("run", self.plan, 1, "--node", "here")
        self.assertIn(b"the results of the shard's other pages are kept", done.stderr)
        status = self.status()
        self.assertEqual((status["missing"], status["loads"], status["failed_loads"]), ([], 3, 1))
        failed, = status["failed_pages"]
        self.assertEqual((failed["page"], failed["loads"]), ("p1", 1))
        self.assertIn("p1.reprise", failed["why"])
        text = self.run_campaign("status", self.plan).stdout.decode()
        self.assertIn(f"page p1 failed: {failed['why']}", text)
        self.run_campaign("resume", self.plan, "--node", "here", expect=1)
        results = self.folder / "set"
        done = self.run_campaign("collect", self.plan, "-o", results, expect=1)
        self.assertIn(f"page p1 failed: {failed['why']}", done.stderr.decode())
        self.assertEqual(sorted(path.name for path in (results / "A").iterdir()),
                         ["p0.json", "p2.json"])
        pages = json.loads((results / "set.json").read_text())["pages"]
        self.assertEqual([[each["why"] for each in page.get("failures", ())] for page in pages],
                         [[], [failed["why"]], []])


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
class Recorded(campaigns.CampaignCase):
    def test_a_folder_that_is_no_result_of_its_shard_does_not_block_it(self):
        tls = Certificate(self.folder / "tls", (HOST,))
        server = self.origin(campaigns.answer, names=(HOST,), tls=tls)
        file = self.campaign(
            urls=[f"https://{HOST}/"], browsers=[campaigns.BROWSER],
            flags=["--quiet", "100", "--settle", "50", "--retries", "1",
                   *server.connect_arguments()])
        self.run_campaign("plan", file, "-o", self.plan)
        header = campaigns.shard_header(self.digest())
        place = self.plan / "results" / "000001"
        texts = ("", json.dumps({**header, "plan": "0123456789abcdef"}) + "\n",
                 json.dumps({**header, "shard": 2}) + "\n")
        for number, text in enumerate(texts, 1):
            with self.subTest(text=text):
                place.mkdir()
                (place / "shard.json").write_text(text)
                self.run_campaign("run", self.plan, 1, "--node", "here")
                found = json.loads((place / "shard.json").read_text())
                self.assertEqual((found["plan"], found["shard"], found["node"]),
                                 (self.digest(), 1, "here"))
                self.assert_sound(next(place.glob("*.reprise")))
                aside = list((self.plan / "set-aside").glob("000001-*/shard.json"))
                self.assertEqual(len(aside), number)
                self.assertIn(text, [path.read_text() for path in aside])
                self.assertEqual([path.name for path in place.parent.iterdir()], ["000001"])
            shutil.rmtree(place)


if __name__ == "__main__":
    harness.main()
