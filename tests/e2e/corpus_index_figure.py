#!/usr/bin/env python3
"""Figures of `archive ls DIR` over 1,000 archives of 100 exchanges: the first listing, which opens
them all, and those from the index."""

import resource
import shutil
import subprocess
import time
import unittest

import figure
import harness
from wire import response

ARCHIVES, EXCHANGES = 1000, 100


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class CorpusIndexFigure(harness.TestCase):
    def test_listing_a_thousand_archives(self):
        corpus = self.folder / "corpus"
        corpus.mkdir()
        first = corpus / "p0000.reprise"
        origin = self.origin(lambda request: response(b"x" * 200,
                                                      headers=b"Content-Type: text/html\r\n"))
        recorder = self.record(first, origins=[origin])
        with recorder.connect("http", harness.HOST) as client:
            for number in range(EXCHANGES):
                client.get(f"/{number}", harness.HOST)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        for number in range(1, ARCHIVES):
            shutil.copy(first, corpus / f"p{number:04}.reprise")
        rows = []
        for name, filters, lines in (("open", (), ARCHIVES * EXCHANGES),
                                     ("list", (), ARCHIVES * EXCHANGES),
                                     ("filter", ("path=/7",), ARCHIVES)):
            before, began = used(), time.monotonic()
            done = subprocess.run([harness.REPRISE, "archive", "ls", str(corpus), *filters],
                                  capture_output=True, check=True)
            rows.append((name, time.monotonic() - began, used() - before))
            self.assertEqual(len(done.stdout.splitlines()), lines)
        figure.table(("step", "seconds", "of a processor"),
                     [(name, f"{wall:.2f}", f"{processor:.2f}") for name, wall, processor in rows])
        for name, wall, processor in rows:
            figure.report(f"corpus_{name}_seconds", round(wall, 2), "s", None)
            figure.report(f"corpus_{name}_processor", round(processor, 2), "s", "< 1")


if __name__ == "__main__":
    unittest.main(argv=["corpus_index_figure"])
