"""What tests of engines share: Dask on this machine, and the contracts of Hadoop Streaming and of
Spark's pipe, which Debian does not have. The drivers are those of docs/engines.md."""

import collections
import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
import zlib

import harness

PAGE = (harness.REPOSITORY / "docs/engines.md").read_text()
PYTHON = "/usr/bin/python3"
SECONDS_MAX = 240


def has_dask():
    return subprocess.run([PYTHON, "-c", "import distributed"], check=False,
                          capture_output=True).returncode == 0


def from_page(language, containing):
    """The block of docs/engines.md in this language that contains a text."""
    found = [block for block in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
             if containing in block]
    assert len(found) == 1, f"{len(found)} blocks of {language} with {containing}"
    return found[0]


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


class Failed(Exception):
    """A process that ended with a status other than 0."""


class Killing:
    """Kills the first attempt of some tasks after a part of their input, and starts them again, as
    every engine does: what the attempt printed is dropped."""

    def __init__(self, tasks=()):
        self.tasks = set(tasks)
        self.killed = 0
        self.started = 0

    def attempt(self, words, lines, environment):
        """Standard output and error of the attempt that ends."""
        self.started += 1
        if self.started in self.tasks:
            self.killed += 1
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=environment) as process:
                try:
                    process.stdin.write(b"".join(lines[:len(lines) // 2]))
                    process.stdin.flush()
                except BrokenPipeError:
                    pass
                process.kill()
        done = subprocess.run(words, input=b"".join(lines), capture_output=True, check=False,
                              env=environment, timeout=SECONDS_MAX)
        if done.returncode != 0:
            raise Failed(f"exit {done.returncode}: {done.stderr.decode()}")
        return done.stdout, done.stderr


class HadoopStreaming:
    """Its contract: commands are split at blanks and quotes; keys end at the first tab; a combiner
    runs any number of times; each reducer gets whole keys, sorted, their values in any order; lines
    `reporter:counter:GROUP,COUNTER,AMOUNT` on standard error are counters."""

    def __init__(self, draw, environment, killed=()):
        self.draw = draw
        self.environment = environment
        self.killing = Killing(killed)
        self.counters = collections.Counter()

    def run(self, command, lines):
        output, errors = self.killing.attempt(shlex.split(command), lines, self.environment)
        for report in re.findall(rb"^reporter:(.*)$", errors, re.M):
            kind, group, name, amount = re.fullmatch(rb"(\w+):(\w+),(\w+),(\d+)", report).groups()
            assert (kind, group) == (b"counter", b"reprise"), report
            self.counters[command, name.decode()] += int(amount)
        return output.splitlines(keepends=True)

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


class Spark:
    """RDD.pipe with checkCode=True: a string is split at blanks, elements are printed with a
    newline, lines become elements; the status is looked at last."""

    def __init__(self, environment, killed=()):
        self.environment = environment
        self.killing = Killing(killed)

    def pipe(self, command, elements):
        lines = [f"{each}\n".encode() for each in elements]
        output, _ = self.killing.attempt(command.split(), lines, self.environment)
        return output.decode().splitlines()

    def job(self, splits, mapper, merge, partitions=3):
        """As docs/engines.md: pipe, repartitionAndSortWithinPartitions by key, pipe."""
        mapped = itertools.chain(*(
            self.pipe(mapper, [line.decode().rstrip("\n") for line in split]) for split in splits))
        parts = [[] for _ in range(partitions)]
        for element in mapped:
            parts[zlib.crc32(element.split("\t", 1)[0].encode()) % partitions].append(element)
        return list(itertools.chain(*(
            self.pipe(merge, sorted(part, key=lambda each: each.split("\t", 1)[0]))
            for part in parts)))


class EngineCase(harness.TestCase):
    """Has a command `reprise` that says what ran, and starts Dask. What a test waits for is the
    last word of a command: a pipe, which holds whoever opens it until `release`."""

    def setUp(self):
        super().setUp()
        home = pathlib.Path(tempfile.mkdtemp(prefix="reprise-engine."))
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        self.ran = home / "ran"
        self.held = home / "held"
        self.program = home / "bin/reprise"
        self.program.parent.mkdir()
        self.environment = {**os.environ,
                            "PATH": f"{self.program.parent}:{os.environ['PATH']}"}
        self.write_program()
        self.logs_folder = home

    def write_program(self, hold=None):
        """Commands that end with the word `hold` first read the pipe `held`, if it is there."""
        holding = "" if hold is None else (
            f'case "$*" in *{shlex.quote(" " + hold)})\n'
            f'  [ -p {self.held} ] && cat {self.held} > /dev/null;;\nesac\n')
        self.program.write_text(f'#!/bin/sh\necho "$*" >> {self.ran}\n{holding}'
                                f'exec {shlex.quote(harness.REPRISE)} "$@"\n')
        self.program.chmod(0o755)

    def started(self, *command, output=None):
        """A process that ends with the test; what it prints is in a file."""
        log = self.logs_folder / f"{len(list(self.logs_folder.glob('*.log')))}.log"
        with open(log, "wb") as errors, open(output or log, "ab") as lines:
            process = subprocess.Popen(list(map(str, command)), stdout=lines, stderr=errors,
                                       cwd=self.folder, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def logs(self):
        return "\n".join(log.read_text(errors="replace")
                         for log in self.logs_folder.glob("*.log"))

    def start_dask(self, workers=3):
        """Returns the scheduler's file and the workers by process id."""
        scheduler_file = self.logs_folder / "scheduler.json"
        scheduler = self.started(
            PYTHON, "/usr/bin/dask-scheduler", "--host", "127.0.0.1", "--port", "0",
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file",
            scheduler_file)
        for _ in harness.watch_folder(self.logs_folder, scheduler.pid):
            if scheduler_file.exists() or scheduler.poll() is not None:
                break
        self.assertTrue(scheduler_file.exists(), self.logs())
        by_pid = {}
        for number in range(workers):
            worker = self.started(
                PYTHON, "/usr/bin/dask-worker", "--scheduler-file", scheduler_file, "--host",
                "127.0.0.1", "--no-nanny", "--nthreads", "1", "--no-dashboard",
                "--dashboard-address", "127.0.0.1:0", "--name", f"w{number}",
                "--local-directory", self.logs_folder / f"w{number}")
            by_pid[worker.pid] = worker
        return scheduler_file, by_pid

    def start_driver(self, scheduler_file, mapping, merging, shards, output):
        driver = self.logs_folder / "with_dask.py"
        driver.write_text(from_page("python", "distributed import"))
        return self.started(PYTHON, driver, scheduler_file, mapping, merging, *shards,
                            output=output)

    def run_with_a_death(self, mapping, merging, shards, hold, output):
        """The driver's whole run on three workers, of which one is killed while it has the shard
        `hold`; fails unless the driver succeeds."""
        self.write_program(hold=str(hold))
        os.mkfifo(self.held)
        self.ran.write_bytes(b"")
        scheduler_file, workers = self.start_dask()
        driver = self.start_driver(scheduler_file, mapping, merging, shards, output)
        opened = []
        opener = threading.Thread(
            target=lambda: opened.append(os.open(self.held, os.O_WRONLY)), daemon=True)
        opener.start()
        opener.join(SECONDS_MAX)
        self.assertTrue(opened, f"nobody took the shard {hold}:\n{self.logs()}")
        victim = self.worker_that_runs(str(hold), workers)
        workers[victim].kill()
        workers[victim].wait()
        self.held.unlink()
        os.close(opened[0])
        self.assertEqual(driver.wait(SECONDS_MAX), 0, self.logs())
        self.assertEqual(sum(worker.poll() is None for worker in workers.values()), 2)
        ran = [line for line in self.ran.read_text().splitlines() if line.startswith(mapping)]
        self.assertEqual(sum(line.endswith(f" {hold}") for line in ran), 2)
        self.assertEqual(len(set(ran)), len(shards))

    def worker_that_runs(self, word, workers):
        """The process among `workers` below which a command has `word` as its last."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended
            if parent in workers and words[-2:-1] == [os.fsencode(word)]:
                return parent
        raise AssertionError(f"no worker runs {word}:\n{self.logs()}")


def main():
    """Skipped tests make the whole skipped: they are told apart from those that passed."""
    program = harness.main(exit=False)
    if program.result.wasSuccessful() and program.result.skipped:
        raise SystemExit(harness.SKIPPED)
    raise SystemExit(not program.result.wasSuccessful())
