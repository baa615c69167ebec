#!/usr/bin/env python3
"""What a machine's fault must not become: a page that counts as not recorded, a result of a refused
machine that stays, two shards that measure at once, an owner who reads nothing."""

import json
import os
import shutil
import unittest

import campaigns
import harness
from wire import Certificate

HOST = "pages.test"
GONE = "https://nowhere.invalid/x"
ONE_A_SHARD = {"load_seconds": 60, "shard_minutes": 1}


class Refused(campaigns.CampaignCase):
    def setUp(self):
        super().setUp()
        (self.folder / "p0.reprise").write_bytes(b"")
        self.run_campaign("plan", self.campaign(archives=["p0.reprise"], loads=1), "-o", self.plan)

    def test_results_of_a_node_that_is_refused_now_are_run_again(self):
        (self.plan / "nodes" / "n1.json").write_text(json.dumps(
            {"schema": "reprise-node/1", "plan": self.digest(), "node": "n1", "machine": {},
             "problems": ["it is too slow"]}))
        empty = self.folder / "empty"
        empty.mkdir()
        bare = {**self.environment, "PATH": str(empty)}
        for name in ("n1-000001.json", "n1-000001-2.json"):
            campaigns.simulate(self.plan, lambda shard: "n1", lambda *_: 1000)
            done = self.run_campaign("run", self.plan, 1, "--node", "here", environment=bare,
                                     expect=75)
            self.assertIn(b"node refused", done.stderr)
            self.assertTrue((self.plan / "set-aside" / name).exists())
            self.assertEqual(list((self.plan / "results").iterdir()), [])

    def test_a_shard_measures_nothing_without_the_lock_of_its_node(self):
        for command in (("run", self.plan, 1), ("check", self.plan)):
            expect = 75 if command[0] == "run" else 1
            missing = self.folder / "none"
            done = self.run_campaign(*command, "--node", "here", expect=expect,
                                     environment={**self.environment, "TMPDIR": str(missing)})
            self.assertIn(f"{missing}: ", done.stderr.decode())
            self.assertIn(b"Set TMPDIR to a folder on this machine", done.stderr)
        lock = f"{self.environment['TMPDIR']}/reprise-campaign-{os.getuid()}-here.lock"
        os.mkdir(lock)
        done = self.run_campaign("run", self.plan, 1, "--node", "here", expect=75)
        self.assertIn(f"{lock}: Is a directory", done.stderr.decode())
        self.assertEqual(list((self.plan / "nodes").iterdir()), [])


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
class Recorded(campaigns.CampaignCase):
    def plan_urls(self, *urls, **members):
        """In one shard, unless `members` of the campaign say otherwise. A good page may need a
        second attempt on a busy machine."""
        tls = Certificate(self.folder / "tls", (HOST,))
        self.server = self.origin(campaigns.answer, names=(HOST,), tls=tls)
        retries = "1" if any(HOST in url for url in urls) else "0"
        file = self.campaign(**{"urls": list(urls), "browsers": [campaigns.BROWSER],
                                "load_seconds": 10,
                                "flags": ["--quiet", "100", "--settle", "50",
                                          "--retries", retries,
                                          *self.server.connect_arguments()], **members})
        self.run_campaign("plan", file, "-o", self.plan)

    def write_check(self, node, **members):
        (self.plan / "nodes" / f"{node}.json").write_text(json.dumps(
            {"schema": "reprise-node/1", "plan": self.digest(), "node": node, "machine": {},
             **members}))

    def run_on(self, node, shard=1, **options):
        return self.run_campaign("run", self.plan, shard, "--node", node, **options)

    def asked(self):
        return sum(request.target == "/" for request in self.server.requests)

    def test_a_page_that_fails_is_tried_again_and_the_others_are_not_recorded_again(self):
        self.plan_urls(GONE, f"https://{HOST}/")
        done = self.run_on("here", expect=1)
        self.assertIn(b" cannot be recorded (", done.stderr)
        self.assertEqual(self.status()["missing"], [1])
        self.assertEqual(list((self.plan / "results").iterdir()), [])
        asked = self.asked()
        self.assertGreater(asked, 0)
        self.run_on("here")
        self.assertEqual(self.asked(), asked)
        status = self.status()
        self.assertEqual((status["missing"], status["loads"], status["failed_loads"]), ([], 2, 1))
        self.assertEqual([each["url"] for each in status["failed_pages"]], [GONE])
        corpus = self.folder / "collected"
        self.run_campaign("collect", self.plan, "-o", corpus, expect=1)
        archive, = corpus.glob("*.reprise")
        self.assert_sound(archive)
        self.assertEqual(list((self.plan / "unfinished").iterdir()), [])

    def test_a_shard_without_a_page_is_a_result_only_when_the_next_attempt_agrees(self):
        self.plan_urls(GONE)
        done = self.run_on("here", expect=75)
        self.assertIn(b"no page of the shard can be recorded", done.stderr)
        self.assertEqual(self.status()["missing"], [1])
        done = self.run_on("here")
        self.assertIn(b"as in the last attempt", done.stderr)
        status = self.status()
        self.assertEqual((status["missing"], status["failed_loads"]), ([], 1))

    def test_a_shard_without_a_page_needs_a_second_machine_if_there_is_one(self):
        self.plan_urls(GONE)
        self.run_on("here", expect=75)
        self.write_check("there")
        self.run_on("here", expect=75)
        self.assertEqual(self.status()["missing"], [1])
        self.run_on("there")
        self.assertEqual(self.status()["missing"], [])

    def test_a_machine_that_has_recorded_another_page_needs_no_second_machine(self):
        self.plan_urls("https://good.invalid/", GONE, **ONE_A_SHARD)
        self.write_check("there")
        self.recorded_shard({"name": "good", "archive": "good.reprise"}, node="here")
        self.assertEqual(self.status()["missing"], [2])
        self.run_on("here", 2, expect=75)
        self.run_on("here", 2)
        status = self.status()
        self.assertEqual((status["missing"], status["failed_loads"]), ([], 1))

    def test_a_shard_of_gone_pages_shows_no_machine_that_can_record(self):
        """The second shard ends with 75: the engine does not start the third."""
        self.plan_urls(GONE, GONE + "2", GONE + "3", **ONE_A_SHARD)
        (self.plan / "failures" / "000001.json").write_text(json.dumps(
            {"shard": 1, "node": "there", "reason": "no page of the shard can be recorded"}))
        done = self.run_campaign("resume", self.plan, "--node", "here", expect=1)
        self.assertIn(b"this machine cannot continue", done.stderr)
        self.assertIn(b"Perhaps no page of these shards can be recorded", done.stderr)
        self.assertEqual((self.plan / "rounds" / "1.txt").read_text(), "1\n2\n")
        self.assertEqual(self.status()["missing"], [2, 3])

    def test_what_another_machine_recorded_does_not_show_that_this_one_can(self):
        self.plan_urls(GONE, GONE + "2", GONE + "3", **ONE_A_SHARD)
        self.write_check("here", problems=["it has no browser"])
        self.recorded_shard({"name": "x", "archive": "x.reprise"}, node="there")
        self.run_campaign("resume", self.plan, "--node", "here", expect=1)
        self.assertEqual((self.plan / "rounds" / "1.txt").read_text(), "2\n")

    def test_a_shard_whose_recorder_ends_early_is_no_result(self):
        """A folder is in the way of the second page's archive. The first one is recorded once."""
        self.plan_urls(f"https://{HOST}/", f"https://{HOST}/none")
        second = json.loads((self.plan / "plan.json").read_text())["pages"][1]["name"]
        obstacle = self.left() / f"{second}.reprise" / "in-the-way"
        obstacle.mkdir(parents=True)
        for _ in range(2):
            done = self.run_on("here", expect=75)
            self.assertIn(b"ended before all pages of the shard were recorded", done.stderr)
            self.assertEqual(self.status()["missing"], [1])
        asked = self.asked()
        self.assertGreater(asked, 0)
        shutil.rmtree(obstacle.parent)
        self.run_on("here")
        self.assertEqual((self.status()["missing"], self.status()["failed_pages"]), ([], []))
        self.assertEqual(self.asked(), asked)

    def left(self):
        """What an attempt at the first shard leaves to the next one."""
        return self.plan / "unfinished" / f"000001-{self.digest()}"

    def test_a_page_that_the_recorder_did_not_reach_again_has_not_failed_again(self):
        """The recorder of the second attempt cannot read corpus.json, and exits with 1."""
        self.plan_urls(GONE, f"https://{HOST}/")
        self.run_on("here", expect=1)
        corpus = self.left() / "corpus.json"
        pages = json.loads(corpus.read_text())["pages"]
        self.assertEqual(sum(page["archive"] is None for page in pages), 1)
        corpus.write_text(json.dumps({"schema": "another", "pages": pages}))
        done = self.run_on("here", expect=75)
        self.assertIn(b"ended before all pages of the shard were recorded", done.stderr)
        self.assertEqual(self.status()["missing"], [1])


class Advised(campaigns.CampaignCase):
    def digests(self, results, *arguments):
        owners = self.folder / "owners.json"
        owners.write_text(json.dumps({"schema": "reprise-owners/1", "owners": [
            {"owner": "shop", "pages": ["https://shop.test/*"]}]}))
        output = self.folder / "digests"
        done = self.run_campaign("advise", results, "--owners", owners, "-o", output, *arguments)
        pages = {path.stem: [page["page"] for page in json.loads(path.read_text())["pages"]]
                 for path in output.glob("*.json")}
        return pages, done.stderr.decode(), output

    def write_set(self, name, *pages):
        folder = self.folder / name
        folder.mkdir()
        (folder / "set.json").write_text(json.dumps(
            {"schema": "reprise-set/1", "task": "advise", "pages": pages}))
        return folder

    def test_the_owner_of_a_page_that_failed_is_found_by_the_url_that_it_had(self):
        failures = [{"side": "", "url": "", "loads": 1, "why": "it is damaged"}]
        before = self.write_set("before", {"page": "p0", "url": "https://shop.test/cart"})
        now = self.write_set("now", {"page": "p0", "failures": failures},
                             {"page": "p1", "failures": failures})
        pages, told, output = self.digests(now, "--before", before)
        self.assertEqual(pages, {"shop": ["p0"], "without-owner": ["p1"]})
        self.assertIn("1 page has no URL, so only patterns for names can match: p1\n", told)
        self.assertIn("not measured (it is damaged)", (output / "shop.md").read_text())

    def test_a_page_that_failed_has_the_url_of_the_campaign(self):
        (self.folder / "p0.reprise").write_bytes(b"")
        file = self.campaign(task="advise", archives=["p0.reprise"],
                             flags=["https://shop.test/cart"])
        self.run_campaign("plan", file, "-o", self.plan)
        header = campaigns.shard_header(self.digest(), failed=1, failures=[
            {"page": 0, "side": "", "url": "", "loads": 1, "why": "it is damaged"}])
        (self.plan / "results" / "000001.json").write_text(json.dumps(header) + "\n")
        results = self.folder / "set"
        self.run_campaign("collect", self.plan, "-o", results, expect=1)
        page, = json.loads((results / "set.json").read_text())["pages"]
        self.assertEqual(page["url"], "https://shop.test/cart")
        self.assertEqual(self.digests(results)[:2], ({"shop": ["p0"]}, ""))


if __name__ == "__main__":
    harness.main()
