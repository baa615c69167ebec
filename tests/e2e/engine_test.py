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
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib

import harness
import npm_packages
from partials_test import beacon, counters

PAGE = (harness.REPOSITORY / "docs/engines.md").read_text()
ENGINE = pathlib.Path(__file__).resolve().parent / "engine"
SHARDS, VIEWS = 1000, 20
SECONDS_MAX = 240
PARTIAL = "reprise explain --partial --by network"
MERGE = "reprise explain --merge"


def from_page(language, containing):
    """The block of docs/engines.md in this language that contains a text."""
    found = [block for block in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
             if containing in block]
    assert len(found) == 1, f"{len(found)} blocks of {language} with {containing}"
    return found[0]


def has_dask():
    return subprocess.run(["/usr/bin/python3", "-c", "import distributed"], check=False,
                          capture_output=True).returncode == 0


class Failed(Exception):
    """A process that ended with a status other than 0."""


class HadoopStreaming:
    """Its contract: commands are split at blanks and quotes; keys end at the first tab; a combiner
    runs any number of times; each reducer gets whole keys, sorted, their values in any order; lines
    `reporter:counter:GROUP,COUNTER,AMOUNT` on standard error are counters."""

    def __init__(self, draw, environment):
        self.draw = draw
        self.environment = environment
        self.counters = collections.Counter()

    def run(self, command, lines):
        done = subprocess.run(shlex.split(command), input=b"".join(lines), capture_output=True,
                              env=self.environment, timeout=SECONDS_MAX, check=False)
        if done.returncode != 0:
            raise Failed(f"exit {done.returncode}: {done.stderr.decode()}")
        for report in re.findall(rb"^reporter:(.*)$", done.stderr, re.M):
            kind, group, name, amount = re.fullmatch(rb"(\w+):(\w+),(\w+),(\d+)", report).groups()
            assert (kind, group) == (b"counter", b"reprise"), report
            self.counters[command, name.decode()] += int(amount)
        return done.stdout.splitlines(keepends=True)

    def sorted(self, lines):
        self.draw.shuffle(lines)
        return sorted(lines, key=lambda line: line.partition(b"\t")[0])

    def job(self, splits, mapper, combiner, reducer, combined, reducers=3):
        """Returns what all reducers wrote. The combiner runs `combined` times: on each split's
        lines, then on parts of several splits together."""
        mapped = [self.sorted(self.run(mapper, split)) for split in splits]
        for _ in range(combined):
            mapped = [self.run(combiner, self.sorted(lines)) for lines in mapped]
            mapped = [left + right for left, right in
                      itertools.zip_longest(mapped[::2], mapped[1::2], fillvalue=[])]
        shuffled = [[] for _ in range(reducers)]
        for line in itertools.chain(*mapped):
            shuffled[zlib.crc32(line.partition(b"\t")[0]) % reducers].append(line)
        return list(itertools.chain(*(self.run(reducer, self.sorted(lines))
                                      for lines in shuffled)))


def spark_pipe(command, elements, environment):
    """RDD.pipe of one partition with checkCode=True: a string is split at blanks, elements are
    printed with a newline, lines become elements; the status is looked at last."""
    done = subprocess.run(command.split(), env=environment, capture_output=True, check=False,
                          input="".join(f"{each}\n" for each in elements).encode(),
                          timeout=SECONDS_MAX)
    yield from done.stdout.decode().splitlines()
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}")


class Engines(harness.TestCase):
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
        # What the commands call `reprise`, which also says what ran.
        cls.ran = cls.home / "ran"
        program = cls.home / "bin/reprise"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$*" >> {shlex.quote(str(cls.ran))}\n'
                           f'exec {shlex.quote(harness.REPRISE)} "$@"\n')
        program.chmod(0o755)
        cls.environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        done = subprocess.run([harness.REPRISE, *PARTIAL.split()[1:], *map(str, cls.shards)],
                              capture_output=True, timeout=SECONDS_MAX, check=True)
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

    def started(self, *command):
        """A process that ends with the test; what it prints is in a file."""
        log = self.folder / f"{len(list(self.folder.glob('*.log')))}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd=self.folder,
                                       env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def logs(self):
        return "\n".join(log.read_text(errors="replace") for log in self.folder.glob("*.log"))

    @unittest.skipUnless(has_dask(), "python3-distributed is not installed")
    def test_a_worker_of_dask_dies_and_the_bytes_are_those_of_one_process(self):
        scheduler_file = self.folder / "scheduler.json"
        scheduler = self.started(
            "/usr/bin/python3", "/usr/bin/dask-scheduler", "--host", "127.0.0.1", "--port", "0",
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file",
            str(scheduler_file))
        for _ in harness.watch_folder(self.folder, scheduler.pid):
            if scheduler_file.exists() or scheduler.poll() is not None:
                break
        self.assertTrue(scheduler_file.exists(), self.logs())
        workers = {}
        for number in range(3):
            worker = self.started(
                "/usr/bin/python3", "/usr/bin/dask-worker", "--scheduler-file",
                str(scheduler_file), "--host", "127.0.0.1", "--no-nanny", "--nthreads", "1",
                "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--name", f"w{number}",
                "--local-directory", str(self.folder / f"w{number}"))
            workers[worker.pid] = worker

        # The shard in the middle comes through a pipe: its reader waits until we have seen it.
        middle = self.shards[SHARDS // 2]
        pipe = self.folder / "middle.ndjson"
        os.mkfifo(pipe)
        shards = [str(pipe if shard == middle else shard) for shard in self.shards]
        driver = self.folder / "explain_with_dask.py"
        driver.write_text(from_page("python", "def explain("))
        self.ran.write_bytes(b"")
        output = self.folder / "day.partial"
        with open(output, "wb") as merged, open(self.folder / "driver.log", "wb") as log:
            process = subprocess.Popen(
                ["/usr/bin/python3", str(driver), str(scheduler_file), *shards], stdout=merged,
                stderr=log, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        opened = []
        opener = threading.Thread(target=lambda: opened.append(os.open(pipe, os.O_WRONLY)),
                                  daemon=True)
        opener.start()
        opener.join(SECONDS_MAX)
        self.assertTrue(opened, f"nobody read the shard in the middle:\n{self.logs()}")
        victim = self.worker_that_reads(pipe, workers)
        workers[victim].kill()
        workers[victim].wait()
        # Whoever is asked next finds a file; the orphan of the dead worker, an end.
        shutil.copy(middle, self.folder / "copy")
        os.replace(self.folder / "copy", pipe)
        os.close(opened[0])

        self.assertEqual(process.wait(SECONDS_MAX), 0, self.logs())
        self.assertEqual(output.read_bytes(), self.whole)
        self.assertIsNone(scheduler.poll())
        alive = [pid for pid, worker in workers.items() if worker.poll() is None]
        self.assertEqual(len(alive), 2)
        ran = [line for line in self.ran.read_text().splitlines() if "--partial" in line]
        self.assertEqual(len([line for line in ran if line.endswith(str(pipe))]), 2)
        self.assertEqual(len(set(ran)), SHARDS)
        print(f"{len(ran) - SHARDS} of {SHARDS} shards ran again", file=sys.stderr)

    def worker_that_reads(self, pipe, workers):
        """The process among `workers` with a child that was given `pipe`."""
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(status.read_text().rpartition(")")[2].split()[1])
                command = status.with_name("cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if parent in workers and os.fsencode(pipe) in command:
                return parent
        raise AssertionError(f"no worker reads {pipe}:\n{self.logs()}")

    def test_hadoop_streaming_gives_the_same_bytes_however_often_it_combines(self):
        splits = self.splits(8)
        whole = self.one_process(splits)
        for combined in range(3):
            with self.subTest(combined=combined):
                hadoop = HadoopStreaming(random.Random(combined), self.environment)
                lines = hadoop.job(splits, PARTIAL, MERGE, MERGE, combined)
                self.assertEqual(b"".join(sorted(lines)), whole)
                self.assertEqual(hadoop.counters[PARTIAL, "views"], 100 * VIEWS)
                self.assertEqual(hadoop.counters[PARTIAL, "bad_lines"], 15)
                self.assertEqual(hadoop.counters[MERGE, "bad_lines"], 0)

    def test_hadoop_streaming_fails_a_task_without_one_good_line(self):
        hadoop = HadoopStreaming(random.Random(1), self.environment)
        with self.assertRaisesRegex(Failed, "exit 65"):
            hadoop.job([*self.splits(2), [b"x\n", b"y\n"]], PARTIAL, MERGE, MERGE, 0)

    def test_the_page_shows_the_commands_that_are_tested(self):
        for command in (f"-mapper './{PARTIAL}'", f"-combiner './{MERGE}'",
                        f"-reducer './{MERGE}'", f'.pipe("{PARTIAL}", checkCode=True)',
                        f'.pipe("{MERGE}", checkCode=True)'):
            self.assertIn(command, PAGE)

    def test_spark_pipes_give_the_same_bytes(self):
        splits = self.splits(8)
        mapped = [element for split in splits for element in spark_pipe(
            PARTIAL, [line.decode().rstrip("\n") for line in split], self.environment)]
        partitions = [[] for _ in range(3)]
        for element in mapped:
            partitions[zlib.crc32(element.split("\t", 1)[0].encode()) % 3].append(element)
        merged = [element for partition in partitions for element in spark_pipe(
            MERGE, sorted(partition, key=lambda each: each.split("\t", 1)[0]), self.environment)]
        self.assertEqual("".join(f"{each}\n" for each in sorted(merged)).encode(),
                         self.one_process(splits))
        # The same by reduceByKey on integers, without --merge.
        sums = collections.defaultdict(lambda: itertools.repeat(0))
        for key, *numbers in (element.split("\t") for element in mapped):
            sums[key] = [left + right for left, right in zip(sums[key], map(int, numbers))]
        self.assertEqual(sorted("\t".join([key, *map(str, sums[key])]) for key in sums),
                         sorted(merged))
        with self.assertRaises(Failed):
            list(spark_pipe(PARTIAL, ["x"], self.environment))

    @unittest.skipUnless(shutil.which("npm") and shutil.which("node"), "npm is not installed")
    def test_duckdb_answers_the_slowest_ten_percent_by_network(self):
        merged = self.folder / "day.partial"
        merged.write_bytes(self.whole)
        done = subprocess.run(
            ["node", str(ENGINE / "query.mjs")], input=from_page("sql", "network"), text=True,
            capture_output=True, cwd=self.folder, timeout=SECONDS_MAX, check=False,
            env={**os.environ, "NODE_PATH": str(npm_packages.installed(ENGINE))})
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
    program = unittest.main(verbosity=2, exit=False)
    if program.result.wasSuccessful() and program.result.skipped:
        sys.exit(harness.SKIPPED)
    sys.exit(not program.result.wasSuccessful())
