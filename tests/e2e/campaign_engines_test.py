#!/usr/bin/env python3
"""`campaign collect` as map and merge: under Dask, where one of three workers is killed in the
middle, and by lines in any order: the set has the bytes of one process's."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import unittest

import campaigns
import harness

PAGE = (harness.REPOSITORY / "docs/engines.md").read_text()
SECONDS_MAX = 240
PAGES, PARTS = 12, 8


def has_dask():
    return subprocess.run(["/usr/bin/python3", "-c", "import distributed"], check=False,
                          capture_output=True).returncode == 0


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


class Engines(campaigns.CampaignCase):
    def setUp(self):
        super().setUp()
        corpus = self.folder / "corpus"
        corpus.mkdir()
        for page in range(PAGES):
            (corpus / f"p{page}.reprise").write_bytes(b"")
        file = self.campaign(archives=["corpus"], links=["none", "wpt:4g"], loads=40,
                             sides=[{"name": "A"}, {"name": "B"}])
        self.run_campaign("plan", file, "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: f"n{shard % 3}",
                           lambda node, side, shard, run: 1000 + run)
        self.whole = self.folder / "whole"
        self.run_campaign("collect", self.plan, "-o", self.whole)
        # What the driver calls `reprise`. Part 5 waits until its pipe is opened and closed.
        self.pipe = self.folder / "pipe"
        os.mkfifo(self.pipe)
        program = self.folder / "bin/reprise"
        program.parent.mkdir()
        program.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *" 5/{PARTS}")\n'
            f'  [ -p {self.pipe} ] && cat {self.pipe} > /dev/null;;\nesac\n'
            f'exec {shlex.quote(harness.REPRISE)} "$@"\n')
        program.chmod(0o755)
        self.environment["PATH"] = f"{program.parent}:{self.environment['PATH']}"

    def started(self, *command):
        log = self.folder / f"{len(list(self.folder.glob('*.log')))}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd=self.folder,
                                       env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def logs(self):
        return "\n".join(log.read_text(errors="replace") for log in self.folder.glob("*.log"))

    def parent_of(self, word, workers):
        """The process among `workers` below which a command has `word` as its last."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # it has ended
            if parent in workers and words[-2:-1] == [word]:
                return parent
        raise AssertionError(f"no worker runs {word}:\n{self.logs()}")

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
        block = re.findall(r"```python\n(.*?)```", PAGE, re.S)
        driver = self.folder / "collect_with_dask.py"
        driver.write_text(next(each for each in block if "def collect(" in each))
        results = self.folder / "set"
        process = self.started("/usr/bin/python3", str(driver), str(scheduler_file),
                               str(self.plan), str(results), str(PARTS))

        opened = []
        opener = threading.Thread(
            target=lambda: opened.append(os.open(self.pipe, os.O_WRONLY)), daemon=True)
        opener.start()
        opener.join(SECONDS_MAX)
        self.assertTrue(opened, self.logs())
        victim = self.parent_of(f"5/{PARTS}".encode(), workers)
        workers[victim].kill()
        workers[victim].wait()
        self.pipe.unlink()
        os.close(opened[0])

        self.assertEqual(process.wait(SECONDS_MAX), 0, self.logs())
        self.assertEqual(files_of(results), files_of(self.whole))
        self.assertEqual(sum(worker.poll() is None for worker in workers.values()), 2)

    def test_lines_sorted_and_repeated_as_engines_do_give_the_same_bytes(self):
        """Hadoop Streaming sorts lines and may run a map twice; Spark gives them in any order."""
        self.pipe.unlink()
        lines = []
        for part in range(1, PARTS + 1):
            command = f"campaign collect {self.plan} -o {self.folder / 'set'} --part {part}/{PARTS}"
            for _ in range(1 + part % 2):
                lines += self.run_campaign(*command.split()[1:]).stdout.splitlines(keepends=True)
        self.run_campaign("collect", self.plan, "-o", self.folder / "set", "--merge",
                          input=b"".join(sorted(lines)))
        self.assertEqual(files_of(self.folder / "set"), files_of(self.whole))


if __name__ == "__main__":
    program = unittest.main(verbosity=2, exit=False)
    if program.result.wasSuccessful() and program.result.skipped:
        sys.exit(harness.SKIPPED)
    sys.exit(not program.result.wasSuccessful())
