#!/usr/bin/env python3
"""A campaign on Slurm for real: a controller and three nodes, and one of another partition. A node
dies with its task, a task is killed, the controller is killed and restarted. Nothing is lost or
counts twice, and the result set has the cells of --engine local. And a node that is slowed on
purpose is named."""

import os
import shutil
import signal
import subprocess
import time
import unittest

import campaigns
import harness
import slurm

SHARDS = 60
SECONDS = 1500


def children_of(pid):
    """The processes that descend from one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
    found, more = set(), {pid}
    while more:
        more = {child for child, parent in parents.items() if parent in more} - found
        found |= more
    return found


@unittest.skipUnless(campaigns.BROWSER, "no Chromium")
@unittest.skipUnless(slurm.is_installed(), "Slurm is not installed")
class OnSlurm(campaigns.CampaignCase):
    def start_cluster(self, **options):
        cluster = slurm.Cluster(self.folder / "slurm", **options)
        self.addCleanup(cluster.stop)
        self.environment |= {"SLURM_CONF": str(cluster.configuration),
                             "PATH": cluster.environment["PATH"]}
        return cluster

    def plan_pages(self, folder, pages, **members):
        archives = self.record_pages(pages)
        file = self.campaign(archives=[str(archives)], browsers=[campaigns.BROWSER],
                             flags=[f"http://{harness.HOST}/", "--quiet", "100",
                                    "--settle", "100"], **members)
        self.run_campaign("plan", file, "-o", folder)

    def start_campaign(self, *arguments):
        process = subprocess.Popen([harness.REPRISE, "campaign", *map(str, arguments)],
                                   env=self.environment, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def done(self):
        return len(list((self.plan / "results").glob("??????.json")))

    def test_deaths_in_the_middle_cost_nothing(self):
        self.plan_pages(self.plan, SHARDS, loads=1, load_seconds=30, shard_minutes=1)
        self.assertEqual(len(self.status()["missing"]), SHARDS)
        cluster = self.start_cluster()
        runner = self.start_campaign("submit", self.plan, "--engine", "slurm", "--wait")

        cluster.wait(lambda: self.done() >= SHARDS // 6, "first results", SECONDS)
        # A node with its task and everything below it.
        cluster.wait(self.working_nodes, "a working node", SECONDS)
        first = next(iter(self.working_nodes()), "n1")
        victim = cluster.processes[first].pid
        tasks = [pid for pid in self.tasks_of(first)]
        cluster.kill(first)
        for pid in {victim, *tasks, *(child for task in tasks for child in children_of(task))}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        cluster.wait(lambda: self.done() >= SHARDS // 3, "results of two nodes", SECONDS)
        # One task, whose node lives.
        cluster.wait(lambda: self.kill_a_task(first) or self.done() == SHARDS,
                     "a task of another node", SECONDS)
        self.assertLess(self.done(), SHARDS)
        # The controller.
        cluster.kill("slurmctld")
        cluster.start_controller()
        cluster.start_node(first)

        _, errors = runner.communicate(timeout=SECONDS)
        self.assertEqual(runner.returncode, 0, errors.decode())
        status = self.status()
        self.assertEqual((status["missing"], status["loads"]), ([], SHARDS), errors.decode())
        self.assertLessEqual(set(status["nodes"]), {"n1", "n2", "n3"})
        self.assertGreaterEqual(len(status["nodes"]), 2)

        on_slurm, here = self.folder / "slurm-set", self.folder / "local-set"
        self.run_campaign("collect", self.plan, "-o", on_slurm)
        local = self.folder / "local"
        self.plan_pages(local, SHARDS, loads=1, load_seconds=30, shard_minutes=1)
        self.assertEqual((local / "plan.json").read_bytes(), (self.plan / "plan.json").read_bytes())
        self.run_campaign("submit", local, "--node", "here")
        self.run_campaign("collect", local, "-o", here)
        self.assertEqual((on_slurm / "cells.tsv").read_bytes(), (here / "cells.tsv").read_bytes())
        self.assertEqual(len((here / "cells.tsv").read_text().splitlines()), SHARDS + 1)

    def working_nodes(self):
        """A node that differs from the others is refused, as one may that is busy otherwise."""
        return [node for node in ("n1", "n2", "n3") if self.tasks_of(node)]

    def kill_a_task(self, spared):
        """Of another node than `spared`; False if none runs."""
        for node in self.working_nodes():
            for pid in self.tasks_of(node) if node != spared else ():
                try:
                    os.kill(pid, signal.SIGKILL)
                    return True
                except ProcessLookupError:
                    pass
        return False

    def tasks_of(self, node):
        """The processes `reprise campaign run` that a node's environment names."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            of_node = b"SLURMD_NODENAME=" + node.encode() in environment
            if of_node and words[1:3] == [b"campaign", b"run"] and \
                    os.fsencode(self.plan) in words:
                found.append(int(entry))
        return found

    @unittest.skipUnless(os.geteuid() == 0, "a processor quota needs root")
    def test_a_node_slowed_on_purpose_is_named_and_a_gate_without_it_shows_no_difference(self):
        self.plan_pages(self.plan, 3, loads=10, sides=[{"name": "A"}, {"name": "B"}],
                        load_seconds=10)
        group = self.quota(percent=20)
        enter = ("/bin/sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh")
        cluster = self.start_cluster(wrapper_of={"n3": enter})
        self.run_campaign("submit", self.plan, "--engine", "slurm", "--wait")
        status = self.status()
        self.assertEqual([each["node"] for each in status["refused_nodes"]], ["n3"],
                         cluster.logs())
        self.assertNotIn("n3", status["nodes"])
        results = self.folder / "set"
        self.run_campaign("collect", self.plan, "-o", results)
        done = harness.run("compare", str(results / "A"), str(results / "B"), "--metric", "load",
                           "--allow", "calibration", timeout=60)
        self.assertIn(done.returncode, (0, 6), done.stdout.decode() + done.stderr.decode())

    def quota(self, percent):
        """A control group with a part of one processor."""
        for root, limit in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"),
                            ("/sys/fs/cgroup", "cpu.max")):
            group = f"{root}/reprise-campaign-{os.getpid()}"
            try:
                os.mkdir(group)
                with open(f"{group}/{limit}", "w", encoding="ascii") as file:
                    file.write(str(percent * 1000) + (" 100000" if limit == "cpu.max" else ""))
                self.addCleanup(self.remove_group, group)
                return group
            except OSError:
                shutil.rmtree(group, ignore_errors=True)
        self.skipTest("no control group for processors")

    @staticmethod
    def remove_group(group):
        for _ in range(50):
            try:
                os.rmdir(group)
                return
            except OSError:
                time.sleep(0.2)  # until the last of its processes is gone


if __name__ == "__main__":
    program = harness.main(exit=False)
    if program.result.wasSuccessful() and program.result.skipped:
        raise SystemExit(harness.SKIPPED)
    raise SystemExit(not program.result.wasSuccessful())
