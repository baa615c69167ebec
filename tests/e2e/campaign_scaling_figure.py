#!/usr/bin/env python3
"""Figures of `campaign collect` on 1, 2 and 3 workers of Dask on this machine, with results that
nobody measured; and what it asks of a file system for each shard."""

import os
import shutil
import subprocess
import time
import unittest

import campaigns
import engines
import figure
import harness

PAGES, PARTS, REQUESTS = 1000, 24, 20


class Scaling(engines.EngineCase, campaigns.CampaignCase):
    def setUp(self):
        super().setUp()
        self.environment |= {"PATH": f"{self.program.parent}:{self.environment['PATH']}"}
        corpus = self.folder / "corpus"
        corpus.mkdir()
        for page in range(PAGES):
            (corpus / f"p{page:05}.reprise").write_bytes(b"")
        file = self.campaign(archives=["corpus"], links=["none", "wpt:4g", "wpt:3g"], loads=20)
        self.run_campaign("plan", file, "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: f"n{shard % 100}",
                           lambda node, side, shard, run: 1000 + run, requests=REQUESTS)
        self.shards = len(list((self.plan / "results").iterdir()))

    def drive(self, scheduler_file, name, mapping, merging, shards):
        began = time.monotonic()
        driver = self.start_driver(scheduler_file, mapping, merging, shards, self.folder / name)
        self.assertEqual(driver.wait(), 0, self.logs())
        return time.monotonic() - began

    def test_collect_on_one_two_and_three_workers(self):
        whole = self.folder / "whole"
        began = time.monotonic()
        self.run_campaign("collect", self.plan, "-o", whole)
        rows = [("one process", time.monotonic() - began, 0.0)]
        expected = engines.files_of(whole)
        for workers in (1, 2, 3):
            scheduler_file, by_pid = self.start_dask(workers)
            nothing = self.folder / "nothing"
            nothing.write_bytes(b"")
            idle = self.drive(scheduler_file, "idle", "explain --partial", "explain --merge",
                              [nothing])
            results = self.folder / f"set{workers}"
            command = f"campaign collect {self.plan} -o {results}"
            seconds = self.drive(scheduler_file, "output", f"{command} --part",
                                 f"{command} --merge",
                                 [f"{part}/{PARTS}" for part in range(1, PARTS + 1)])
            rows.append((f"{workers} of Dask", seconds, idle))
            self.assertEqual(engines.files_of(results), expected)
            shutil.rmtree(results)
            for worker in by_pid.values():
                worker.kill()
                worker.wait()
            scheduler_file.unlink()
        one = rows[1][1] - rows[1][2]
        print(f"{PAGES} pages, {self.shards} shards, {PARTS} parts, {os.cpu_count()} cores")
        figure.table(("workers", "seconds", "of the driver alone", "speed-up of the rest"),
                     [(name, f"{seconds:.1f}", f"{idle:.1f}",
                       f"{one / (seconds - idle):.2f}" if idle else "")
                      for name, seconds, idle in rows])
        for workers, (_, seconds, idle) in enumerate(rows[1:], 1):
            figure.report(f"collect_{workers}_workers_seconds", round(seconds, 1), "s", None)
            figure.report(f"collect_{workers}_workers_speed_up",
                          round(one / (seconds - idle), 2), "", None)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_calls_of_the_file_system_for_a_shard(self):
        traced = self.folder / "calls"
        for step, arguments in (("status", ()), ("collect", ("-o", self.folder / "traced"))):
            subprocess.run(["strace", "-f", "-o", traced, "-e",
                            "trace=%file,read,pread64,write,fsync,rename,getdents64",
                            harness.REPRISE, "campaign", step, self.plan, *arguments], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=self.environment)
            calls = [line.split(maxsplit=1)[1].split("(")[0]
                     for line in traced.read_text(errors="replace").splitlines()]
            counted = sorted(((calls.count(call) / self.shards, call) for call in set(calls)),
                             reverse=True)
            print(f"{step}, for each of {self.shards} shards:",
                  ", ".join(f"{call} {count:.2f}" for count, call in counted if count >= .05))


if __name__ == "__main__":
    unittest.main(argv=["campaign_scaling_figure"])
