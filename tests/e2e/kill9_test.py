#!/usr/bin/env python3
"""`kill -9` at a random moment under load: what the clients had in full is in the archive, and
nothing that the origin did not send.

usage: kill9_test.py               6 kills, as a test
       kill9_test.py --figure 50   report how many exchanges 50 kills cost or invented
REPRISE_TEST_SEED chooses the moments: see tests/test_seed.py.
"""

import itertools
import os
import random
import signal
import sys

import figure
import harness
import load
from test_seed import TEST_SEED

BYTES_BEFORE_THE_KILL_MAX = 12 << 20


class Kill9(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(TEST_SEED)

    def kill_once(self, round_number):
        """Returns (lost, invented): objects that a client had and the archive has not, and objects
        that the archive gives out with other bytes than the origin's."""
        archive = self.folder / f"{round_number}.reprise"
        origin = self.origin(load.answer)
        recorder = self.record(archive, origins=(origin,))
        moment = self.chance.randrange(BYTES_BEFORE_THE_KILL_MAX)

        def kill_at_the_moment(total):
            if total >= moment:
                os.kill(recorder.pid, signal.SIGKILL)

        fetchers = load.Fetchers(recorder, itertools.count(1 + 10_000 * round_number),
                                 kill_at_the_moment)
        fetchers.join()
        self.assertEqual(recorder.process.wait(harness.DEADLINE_SECONDS), -signal.SIGKILL)
        origin.close()
        self.assertEqual(fetchers.wrong, [])
        return self.examine(archive, set(fetchers.complete))

    def examine(self, archive, had):
        listed = self.archive_json("ls", str(archive))
        kept = {load.number_of(each["url"]) for each in listed if each["outcome"] == "complete"}
        self.assert_sound(archive)
        replay = self.replay(archive)
        fetchers = load.Fetchers(replay, kept)
        fetchers.join()
        self.assertEqual(replay.stop(), 0, replay.log())
        self.assertEqual(set(fetchers.complete), kept)
        archive.unlink()
        return had - kept, set(fetchers.wrong)

    def test_nothing_is_lost_and_nothing_invented(self):
        for round_number in range(6):
            with self.subTest(round=round_number):
                self.assertEqual(self.kill_once(round_number), (set(), set()))


def report_figure(rounds):
    case = Kill9()
    case.setUp()
    try:
        results = [case.kill_once(round_number) for round_number in range(rounds)]
        figure.report(f"kill9_lost_in_{rounds}", sum(len(lost) for lost, _ in results),
                      "exchanges", "== 0")
        figure.report(f"kill9_invented_in_{rounds}", sum(len(invented) for _, invented in results),
                      "exchanges", "== 0")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--figure"]:
        report_figure(int(sys.argv[2]))
    else:
        harness.main()
