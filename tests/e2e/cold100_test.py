#!/usr/bin/env python3
"""100 objects fetched cold over 6 connections are 100 objects in the archive, every time.

usage: cold100_test.py               5 rounds, as a test
       cold100_test.py --figure 20   report how many objects were lost in 20 rounds
"""

import sys

import figure
import harness
import load

OBJECTS = 100


class Cold100(harness.TestCase):
    def lost(self, round_number):
        """Records one round on a fresh recorder; returns the objects that the archive lacks."""
        archive = self.folder / f"{round_number}.reprise"
        origin = self.origin(load.answer)
        recorder = self.record(archive, origins=(origin,))
        numbers = range(OBJECTS * round_number, OBJECTS * (round_number + 1))
        fetchers = load.Fetchers(recorder, numbers)
        fetchers.join()
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual((len(fetchers.complete), fetchers.wrong), (OBJECTS, []))
        listed = self.archive_json("ls", str(archive))
        found = {load.number_of(each["url"]) for each in listed if each["outcome"] == "complete"}
        self.assertEqual(len(listed), len(found), "an object was recorded twice")
        return set(numbers) - found

    def test_all_are_recorded(self):
        for round_number in range(5):
            with self.subTest(round=round_number):
                self.assertEqual(self.lost(round_number), set())


def report_figure(rounds):
    case = Cold100()
    case.setUp()
    try:
        lost = sum(len(case.lost(round_number)) for round_number in range(rounds))
        figure.report(f"cold_objects_lost_of_{OBJECTS * rounds}", lost, "objects", "== 0")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--figure"]:
        report_figure(int(sys.argv[2]))
    else:
        harness.main()
