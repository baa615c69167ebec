#!/usr/bin/env python3
"""Partial results on engines: 1,000 shards under Dask.distributed with a worker killed in the
middle, the contracts of Hadoop Streaming and of Spark's pipe, DuckDB. The driver and the query are
those of docs/engines.md. Skipped, as far as they need it, without Dask or npm."""

import collections
import csv
import io
import itertools
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import tempfile
import unittest

import engines
import harness
import npm_packages
from partials_test import beacon, counters

ENGINE = pathlib.Path(__file__).resolve().parent / "engine"
SHARDS, VIEWS = 1000, 20
PARTIAL = "reprise explain --partial --by network"
MERGE = "reprise explain --merge"


class Engines(engines.EngineCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="reprise-engine."))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        draw = random.Random(1)
        cls.shards, cls.bad = [], 0
        for number in range(SHARDS):
            lines = [beacon(draw) for _ in range(VIEWS)]
            if number % 7 == 0:
                lines.insert(draw.randint(0, VIEWS), draw.choice([lines[0][:-9] + b"\n", b"{\n"]))
                cls.bad += 1
            cls.shards.append(cls.home / f"{number:04}.ndjson")
            cls.shards[-1].write_bytes(b"".join(lines))
        done = subprocess.run([harness.REPRISE, *PARTIAL.split()[1:], *map(str, cls.shards)],
                              capture_output=True, timeout=engines.SECONDS_MAX, check=True)
        cls.whole = done.stdout
        assert counters(done) == {"lines": SHARDS * VIEWS + cls.bad, "views": SHARDS * VIEWS,
                                  "other_beacons": 0, "bad_lines": cls.bad}, done.stderr

    def splits(self, number):
        lines = [line for shard in self.shards[:100]
                 for line in shard.read_bytes().splitlines(keepends=True)]
        size = -(-len(lines) // number)
        return [lines[at:at + size] for at in range(0, len(lines), size)]

    def one_process(self, splits):
        return subprocess.run(shlex.split(PARTIAL), input=b"".join(itertools.chain(*splits)),
                              env=self.environment, capture_output=True, check=True).stdout

    @unittest.skipUnless(engines.has_dask(), "python3-distributed is not installed")
    def test_a_worker_of_dask_dies_and_the_bytes_are_those_of_one_process(self):
        output = self.folder / "day.partial"
        self.run_with_a_death(PARTIAL.removeprefix("reprise "), MERGE.removeprefix("reprise "),
                              self.shards, self.shards[SHARDS // 2], output)
        self.assertEqual(output.read_bytes(), self.whole)

    def test_hadoop_streaming_gives_the_same_bytes_however_often_it_combines(self):
        splits = self.splits(8)
        whole = self.one_process(splits)
        for combined in range(3):
            with self.subTest(combined=combined):
                hadoop = engines.HadoopStreaming(random.Random(combined), self.environment,
                                                 killed=(2, 9, 11))
                lines = hadoop.job(splits, PARTIAL, MERGE, MERGE, combined)
                self.assertEqual(b"".join(sorted(lines)), whole)
                self.assertEqual(hadoop.killing.killed, 3)
                self.assertEqual(hadoop.counters[PARTIAL, "views"], 100 * VIEWS)
                self.assertEqual(hadoop.counters[PARTIAL, "bad_lines"], 15)
                self.assertEqual(hadoop.counters[MERGE, "bad_lines"], 0)

    def test_hadoop_streaming_fails_a_task_without_one_good_line(self):
        hadoop = engines.HadoopStreaming(random.Random(1), self.environment)
        with self.assertRaisesRegex(engines.Failed, "exit 65"):
            hadoop.job([*self.splits(2), [b"x\n", b"y\n"]], PARTIAL, MERGE, MERGE, 0)

    def test_the_page_shows_the_commands_that_are_tested(self):
        for command in (f"-mapper './{PARTIAL}'", f"-combiner './{MERGE}'",
                        f"-reducer './{MERGE}'", f'.pipe("{PARTIAL}", checkCode=True)',
                        f'.pipe("{MERGE}", checkCode=True)'):
            self.assertIn(command, engines.PAGE)

    def test_spark_pipes_give_the_same_bytes(self):
        splits = self.splits(8)
        spark = engines.Spark(self.environment, killed=(1, 8, 10))
        merged = spark.job(splits, PARTIAL, MERGE)
        self.assertEqual("".join(f"{each}\n" for each in sorted(merged)).encode(),
                         self.one_process(splits))
        self.assertEqual(spark.killing.killed, 3)
        # The same by reduceByKey on integers, without --merge.
        mapped = itertools.chain(*(
            spark.pipe(PARTIAL, [line.decode().rstrip("\n") for line in split])
            for split in splits))
        sums = collections.defaultdict(lambda: itertools.repeat(0))
        for key, *numbers in (element.split("\t") for element in mapped):
            sums[key] = [left + right for left, right in zip(sums[key], map(int, numbers))]
        self.assertEqual(sorted("\t".join([key, *map(str, sums[key])]) for key in sums),
                         sorted(merged))
        with self.assertRaises(engines.Failed):
            spark.pipe(PARTIAL, ["x"])

    @unittest.skipUnless(shutil.which("npm") and shutil.which("node"), "npm is not installed")
    def test_duckdb_answers_the_slowest_ten_percent_by_network(self):
        merged = self.folder / "day.partial"
        merged.write_bytes(self.whole)
        done = subprocess.run(
            ["node", str(ENGINE / "query.mjs")], input=engines.from_page("sql", "network"),
            text=True, capture_output=True, cwd=self.folder, timeout=engines.SECONDS_MAX,
            check=False, env={**os.environ, "NODE_PATH": str(npm_packages.installed(ENGINE))})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["network"]: row for row in json.loads(done.stdout)}
        self.assertEqual(list(rows), ["3g", "4g"])

        told = harness.run("explain", str(merged), "--by", "network", "--slowest", "10%", "--csv")
        self.assertEqual(told.returncode, 0, told.stderr.decode())
        table = [row for row in csv.DictReader(io.StringIO(told.stdout.decode())) if row["network"]]
        for network, row in rows.items():
            kinds = {each["kind"]: each for each in table if each["network"] == network}
            self.assertEqual({kind for kind in row if kind not in ("network", "slowest", "total")
                              and row[kind] > 0}, set(kinds))
            self.assertGreater(len(kinds), 2)
            for kind, each in kinds.items():
                self.assertAlmostEqual(row[kind], int(each["us"]), delta=.51)
                self.assertAlmostEqual(row["slowest"], float(each["views"]), places=4)


if __name__ == "__main__":
    engines.main()
