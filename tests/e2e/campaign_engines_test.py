#!/usr/bin/env python3
"""`campaign collect` as map and merge, as Hadoop Streaming and Spark run it: the set has the bytes
of one process's. dask_test.py does the same under Dask."""

import random

import campaigns
import engines
import harness

PAGES, PARTS = 12, 8


class CollectCase(engines.EngineCase, campaigns.CampaignCase):
    """Has a plan with results, and the set of them by one process."""

    def setUp(self):
        super().setUp()
        self.environment |= {"PATH": f"{self.program.parent}:{self.environment['PATH']}"}
        corpus = self.folder / "corpus"
        corpus.mkdir()
        for page in range(PAGES):
            (corpus / f"p{page}.reprise").write_bytes(b"")
        file = self.campaign(archives=["corpus"], links=["none", "wpt:4g"], loads=40,
                             sides=[{"name": "A"}, {"name": "B"}])
        self.run_campaign("plan", file, "-o", self.plan)
        campaigns.simulate(self.plan, lambda shard: f"n{shard % 3}",
                           lambda node, side, shard, run: 1000 + run)
        whole = self.folder / "whole"
        self.run_campaign("collect", self.plan, "-o", whole)
        self.whole = engines.files_of(whole)
        self.set = self.folder / "set"
        self.collect = f"reprise campaign collect {self.plan} -o {self.set}"
        self.parts = [f"{part}/{PARTS}\n".encode() for part in range(1, PARTS + 1)]


class Engines(CollectCase):
    def test_hadoop_streaming_gives_the_same_bytes(self):
        """One reducer. Lines that come twice, as of a map that ran twice, change nothing."""
        for combined, repeated in ((0, 1), (1, 2), (2, 1)):
            with self.subTest(combined=combined, repeated=repeated):
                draw = random.Random(combined)
                draw.shuffle(self.parts)
                splits = [self.parts[at:at + 3] for at in range(0, PARTS, 3)] * repeated
                hadoop = engines.HadoopStreaming(draw, self.environment, killed=(2, 3))
                told = hadoop.job(splits, f"{self.collect} --part -", "cat",
                                  f"{self.collect} --merge", combined, reducers=1)
                self.assertEqual((told, hadoop.killing.killed), ([], 2))
                self.assertEqual(engines.files_of(self.set), self.whole)

    def test_spark_pipes_give_the_same_bytes(self):
        spark = engines.Spark(self.environment, killed=(1, PARTS, PARTS + 1))
        told = spark.job([[part] for part in self.parts], f"{self.collect} --part -",
                         f"{self.collect} --merge", partitions=1)
        self.assertEqual((told, spark.killing.killed), ([], 3))
        self.assertEqual(engines.files_of(self.set), self.whole)

    def test_what_cannot_be_collected_fails_after_all_was_read(self):
        line = b'00000000\t{"summary":"{}","cells":""}\n'
        many = line * 100_000  # more than a pipe holds
        for arguments, given, sentence in (
                ("--merge", b"x\n" + many, b"a line that is not of `collect --part`"),
                ("--merge", many, b"lines of 1 page, not of 12: give those of all parts"),
                ("--part -", b"1/8\n9/8\n" + many, b"must be K/N with K from 1 to N")):
            with self.subTest(arguments=arguments, sentence=sentence):
                spark = engines.Spark(self.environment)
                with self.assertRaises(engines.Failed) as failed:
                    spark.pipe(f"{self.collect} {arguments}", given.decode().splitlines())
                self.assertIn(sentence.decode(), str(failed.exception))

    def test_the_page_shows_the_commands_that_are_tested(self):
        for command in ("--part -", "--merge"):
            for form in (f"'./reprise campaign collect /shared/shops -o /shared/results {command}'",
                         f'.pipe("reprise campaign collect /shared/shops -o /shared/results '
                         f'{command}", checkCode=True)'):
                self.assertIn(form, engines.PAGE)


if __name__ == "__main__":
    harness.main()
