#!/usr/bin/env python3
"""`archive stats` of many archives: of folders, and as map and merge as Hadoop Streaming and Spark
run it: the bytes of one process's. dask_test.py does the same under Dask."""

import json
import random
import shutil
import subprocess

import engines
import harness
from wire import response

KINDS = ("text/html", "text/css", "image/png")
ARCHIVES = 24
PARTIAL = "reprise archive stats --partial"
MERGE = "reprise archive stats --merge"


class StatisticsCase(engines.EngineCase):
    """Has a corpus, with one file that is no archive, and its sums by one process."""

    def setUp(self):
        super().setUp()
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir()
        made = [self.make(number) for number in range(3)]
        for number in range(3, ARCHIVES):
            shutil.copy(made[number % 3], self.corpus / f"p{number:02}.reprise")
        (self.corpus / "broken.reprise").write_bytes(b"no archive\n" * 100)
        self.archives = sorted(self.corpus.glob("*.reprise"))
        self.whole = self.stats("--partial", self.corpus).stdout

    def make(self, number):
        """An archive with `number` + 1 exchanges, of which the last has no type."""
        path = self.corpus / f"p{number:02}.reprise"
        kind = KINDS[number]
        typed = f"Content-Type: {kind}\r\n".encode()
        origin = self.origin(lambda request: response(
            b"x" * 100 * (number + 1), headers=b"" if request.target == f"/{number}" else typed))
        recorder = self.record(path, origins=[origin])
        with recorder.connect("http", harness.HOST) as client:
            for each in range(number + 1):
                client.get(f"/{each}", harness.HOST)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return path

    def stats(self, *arguments, expect=0, **options):
        done = subprocess.run([harness.REPRISE, "archive", "stats", *map(str, arguments)],
                              check=False, timeout=60, **{"stdin": subprocess.DEVNULL,
                              "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        self.assertEqual(done.returncode, expect, done.stderr.decode())
        return done


class Statistics(StatisticsCase):
    def test_a_folder_has_the_sums_of_its_archives(self):
        done = self.stats(self.corpus, "--json", expect=3)
        self.assertIn(b"broken.reprise: not a reprise archive", done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["archives"], told["unusable_archives"]), (ARCHIVES, 1))
        each = [json.loads(self.stats(path, "--json").stdout) for path in self.archives
                if path.name != "broken.reprise"]
        for name in ("sessions", "exchanges", "connections", "dns_answers", "file_bytes",
                     "body_bytes", "body_bytes_stored", "body_bytes_shared"):
            self.assertEqual(told[name], sum(one[name] for one in each), name)
        for group in ("hosts", "types", "methods", "statuses", "protocols", "outcomes"):
            names = {name for one in each for name in one[group]}
            self.assertEqual(told[group], {name: {count: sum(
                one[group][name][count] for one in each if name in one[group])
                for count in ("exchanges", "response_bytes")} for name in names}, group)
        self.assertEqual(told["types"]["image/png"],
                         {"exchanges": ARCHIVES // 3 * 2, "response_bytes": ARCHIVES // 3 * 600})

    def test_merged_sums_print_like_the_folder(self):
        lines = b"".join(self.stats("--partial", path, expect=65 if "broken" in path.name else 0)
                         .stdout for path in reversed(self.archives))
        merged = self.stats("--merge", stdin=None, input=b"".join(
            sorted(lines.splitlines(keepends=True)))).stdout
        self.assertEqual(merged, self.whole)
        file = self.folder / "corpus.partial"
        file.write_bytes(merged)
        for form in ((), ("--json",)):
            self.assertEqual(self.stats(file, *form).stdout,
                             self.stats(self.corpus, *form, expect=3).stdout)

    def test_exit_codes_say_whether_to_try_again(self):
        self.assertEqual(self.stats("--partial").stdout, b"")
        broken = self.corpus / "broken.reprise"
        self.assertEqual(self.stats("--partial", broken, expect=65).stdout,
                         b"totals|unusable_archives\t1\t0\n")
        gone = self.corpus / "gone.reprise"
        self.assertEqual(self.stats("--partial", self.archives[1], gone, expect=75).stdout, b"")
        self.stats("--merge", stdin=None, input=b"b|x\t1\t2\na|x\t1\t2\n", expect=65)
        with open("/dev/full", "wb") as full:
            self.stats("--partial", self.archives[1], stdout=full, expect=75)
        self.stats(expect=2)
        bad = self.folder / "bad.partial"
        bad.write_bytes(self.whole + b"hosts|a\t1\t2\t3\n")
        self.assertIn(b"is not a partial result of archives", self.stats(bad, expect=3).stderr)

    def test_engines_that_pipe_lines_give_the_same_bytes(self):
        """Of names in any order, cut anywhere; combined 0, 1 and 2 times; tasks killed."""
        for combined in range(3):
            with self.subTest(combined=combined):
                draw = random.Random(combined)
                names = [f"{path}\n".encode() for path in self.archives]
                draw.shuffle(names)
                while b"broken" in names[0]:
                    draw.shuffle(names)
                splits = [names[:2 + combined], names[2 + combined:9], names[9:]]
                hadoop = engines.HadoopStreaming(draw, self.environment, killed=(1, 3, 5))
                lines = hadoop.job(splits, PARTIAL, MERGE, MERGE, combined)
                self.assertEqual(b"".join(sorted(lines)), self.whole)
                self.assertEqual(hadoop.killing.killed, 3)
                self.assertEqual(hadoop.counters[PARTIAL, "archives"], ARCHIVES + 1)
                self.assertEqual(hadoop.counters[PARTIAL, "unusable_archives"], 1)
        spark = engines.Spark(self.environment, killed=(2, 4))
        merged = spark.job(splits, PARTIAL, MERGE)
        self.assertEqual("".join(f"{each}\n" for each in sorted(merged)).encode(), self.whole)
        self.assertEqual(spark.killing.killed, 2)

    def test_the_page_shows_the_commands_that_are_tested(self):
        for command in (f"-mapper './{PARTIAL}'", f"-combiner './{MERGE}'",
                        f"-reducer './{MERGE}'", f'.pipe("{PARTIAL}", checkCode=True)',
                        f'.pipe("{MERGE}", checkCode=True)'):
            self.assertIn(command, engines.PAGE)


if __name__ == "__main__":
    harness.main()
