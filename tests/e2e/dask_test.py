#!/usr/bin/env python3
"""`archive stats` and `campaign collect` as map and merge under Dask, where one of three workers is
killed in the middle: the bytes of one process's."""

import sys

import archive_stats_test
import campaign_engines_test
import engines
import harness


class Statistics(archive_stats_test.StatisticsCase):
    def test_a_worker_dies_and_the_bytes_are_those_of_one_process(self):
        output = self.folder / "corpus.partial"
        usable = [path for path in self.archives if path.name != "broken.reprise"]
        self.run_with_a_death(archive_stats_test.PARTIAL.removeprefix("reprise "),
                              archive_stats_test.MERGE.removeprefix("reprise "),
                              usable, usable[5], output)
        self.assertEqual(output.read_bytes(), self.stats("--partial", *usable).stdout)


class Collect(campaign_engines_test.CollectCase):
    def test_a_worker_dies_and_the_bytes_are_those_of_one_process(self):
        command = self.collect.removeprefix("reprise ")
        parts = [part.decode().strip() for part in self.parts]
        self.run_with_a_death(f"{command} --part", f"{command} --merge", parts, parts[4],
                              self.folder / "output")
        self.assertEqual(engines.files_of(self.set), self.whole)


if __name__ == "__main__":
    if not engines.has_dask():
        print("skipped: python3-distributed is not installed")
        sys.exit(harness.SKIPPED)
    harness.main()
