#!/usr/bin/env python3
"""The disk fills up while recording: what was recorded stays whole, and the user is told.

The archive lies on a small tmpfs in a mount namespace of this test's own, which needs root or
unprivileged user namespaces.
"""

import subprocess

import harness
import load

DISK_BYTES = 4 << 20


class DiskFull(harness.TestCase):
    def small_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(disk)],
                       check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(disk)], check=True)
        return disk

    def test_the_archive_that_a_recording_joins_is_named(self):
        given = self.folder / "a.reprise"
        recorder = self.record(self.small_disk() / "a.reprise.adding", "--joins", str(given),
                               origins=(self.origin(load.answer),))
        load.Fetchers(recorder, range(2000)).join()
        self.assertEqual(recorder.process.wait(harness.DEADLINE_SECONDS), 3, recorder.log())
        self.assertIn(f"{given} cannot be written: No space left", recorder.log())
        self.assertIn("It is unchanged", recorder.log())
        self.assertNotIn(".adding", recorder.log())

    def test_what_was_recorded_stays_whole(self):
        archive = self.small_disk() / "a.reprise"
        origin = self.origin(load.answer)
        recorder = self.record(archive, origins=(origin,))
        fetchers = load.Fetchers(recorder, range(2000))
        fetchers.join()
        self.assertEqual(recorder.process.wait(harness.DEADLINE_SECONDS), 3, recorder.log())
        self.assertIn(str(archive), recorder.log())
        self.assertIn("No space left", recorder.log())
        self.assertEqual(fetchers.wrong, [])
        self.assertLess(len(fetchers.complete), 2000)
        origin.close()
        self.assert_holds(archive, set(fetchers.complete))

    def assert_holds(self, archive, had):
        self.assert_sound(archive)
        listed = self.archive_json("ls", str(archive))
        kept = {load.number_of(each["url"]) for each in listed if each["outcome"] == "complete"}
        self.assertEqual(had - kept, set())
        replay = self.replay(archive)
        fetchers = load.Fetchers(replay, kept)
        fetchers.join()
        self.assertEqual((set(fetchers.complete), fetchers.wrong), (kept, []))


if __name__ == "__main__":
    harness.main_in_namespace("--mount")
