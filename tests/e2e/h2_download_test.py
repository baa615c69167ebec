#!/usr/bin/env python3
"""A large download over HTTP/2 through a recorder: as fast as the network, and held back by a slow
client.

usage: h2_download_test.py             run as a test, with a smaller download
       h2_download_test.py --figure    143 MB: the time it takes, relative to the same without a
                                       recorder, on loopback and behind 100 Mbit/s and 50 ms
"""

import random
import re
import socket
import subprocess
import sys

import figure
import harness
from h2_test import Nginx
from large_body_test import ANONYMOUS_MB_MAX, anonymous_mb
from wire import DEADLINE_SECONDS, HOST

FIGURE_BYTES = 143 * 1000 * 1000
TEST_BYTES = 10 * 1000 * 1000
STALLED_BYTES = 200 * 1000 * 1000
LINK = "100mbit/100mbit/50ms"
OUTSIDE = "192.0.2.1"  # this machine's loopback, to a command behind a link
NOT_PERMITTED = 4
# A client that takes nothing is given up, and the line that tells of it ends with the bytes sent.
STALL = "location /film {{ send_timeout 2s; access_log syslog:server=unix:{}; }}"


class Download(harness.TestCase):
    def film(self, size_bytes, locations=""):
        """An origin that has it."""
        origin = Nginx(self.folder, locations)
        self.addCleanup(origin.close)
        block = random.Random(1).randbytes(1 << 20)
        with open(origin.folder / "www/film", "wb") as file:
            for i in range(0, size_bytes, len(block)):
                file.write(i.to_bytes(8, "big") + block[8:][:size_bytes - i - 8])
        return origin

    def curl(self, to, *arguments):
        """The command; it prints the seconds that the body took and the version."""
        return ["curl", "-sS", "--http2", "--insecure", "--connect-to", f"::{to}", "-w",
                "%{time_total} %{http_version} %{size_download}", "-o", "/dev/null", *arguments,
                f"https://{HOST}/film"]

    def seconds(self, command, size_bytes):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env=harness.environment(self.folder))
        if done.returncode == NOT_PERMITTED:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        took, version, received = done.stdout.split()
        self.assertEqual((version, int(received)), ("2", size_bytes), done.stderr)
        return float(took)

    def on_loopback(self, origin, size_bytes, rounds):
        """Times without a recorder and with one, taken in turn."""
        times = []
        for number in range(rounds):
            archive = self.folder / f"{number}.reprise"
            recorder = self.record(archive, origins=(origin,))
            direct = self.seconds(self.curl(f"127.0.0.1:{origin.port}"), size_bytes)
            times.append((direct, self.seconds(self.curl(recorder.ready["https"]), size_bytes)))
            self.assertEqual(recorder.stop(), 0, recorder.log())
            self.assert_recorded(archive, size_bytes)
            archive.unlink()
            print("loopback: %.3f s direct, %.3f s recorded" % times[-1], file=sys.stderr)
        return times

    def behind_a_link(self, origin, size_bytes, rounds):
        """The same with a link before the origin: the client, and the recorder if there is one, are
        on its far side."""
        shape = [harness.REPRISE, "shape", "--link", LINK, "--no-selfcheck", "--"]
        times = []
        for number in range(rounds):
            archive = self.folder / f"{number}.reprise"
            own = "127.0.0.1:8443"  # in a network of its own
            record = [harness.REPRISE, "record", "-o", archive, "--https", own, "--insecure-origin",
                      "--connect-to", f"{HOST}:443:{OUTSIDE}:{origin.port}", "--"]
            direct = self.seconds([*shape, *self.curl(f"{OUTSIDE}:{origin.port}")], size_bytes)
            times.append((direct, self.seconds([*shape, *record, *self.curl(own)], size_bytes)))
            self.assert_recorded(archive, size_bytes)
            archive.unlink()
            print("behind the link: %.3f s direct, %.3f s recorded" % times[-1], file=sys.stderr)
        return times

    def assert_recorded(self, archive, size_bytes):
        (entry,) = self.archive_json("ls", str(archive))
        self.assertEqual((entry["version"], entry["size_bytes"], entry["outcome"]),
                         ("h2", size_bytes, "complete"))

    def test_goes_through_as_fast_as_the_network(self):
        self.on_loopback(self.film(TEST_BYTES), TEST_BYTES, 1)

    def test_is_not_held_up_by_distance(self):
        """A window that is too small holds up every round; other work on the machine, which makes
        the link lose packets, does not."""
        film = self.film(TEST_BYTES)
        times = []
        for _ in range(8):
            times += self.behind_a_link(film, TEST_BYTES, 1)
            if ratio(times) < 2:
                return
        self.fail(f"seconds direct and recorded: {times}")

    def test_a_client_that_stops_reading_stops_the_origin(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.bind(str(self.folder / "told"))
            told.settimeout(DEADLINE_SECONDS)
            origin = self.film(STALLED_BYTES, STALL.format(self.folder / "told"))
            recorder = self.record(self.folder / "a.reprise", origins=(origin,))
            command = self.curl(recorder.ready["https"])
            command[command.index("/dev/null")] = "-"
            with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
                line = told.recv(1000).decode()
                self.assertLess(anonymous_mb(recorder.pid), ANONYMOUS_MB_MAX)
                client.kill()
        sent_bytes = int(re.search(r'" 200 (\d+) "', line)[1])
        self.assertLess(sent_bytes, ANONYMOUS_MB_MAX * 1000 * 1000)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        (entry,) = self.archive_json("ls", str(self.folder / "a.reprise"))
        self.assertNotEqual(entry["outcome"], "complete")


def ratio(times):
    """Of the best of each, since whatever else the machine does makes a time worse."""
    direct, recorded = (min(each) for each in zip(*times))
    return round(recorded / direct, 3)


def report_figures():
    case = Download()
    case.setUp()
    try:
        origin = case.film(FIGURE_BYTES)
        figure.report("h2_download_time_on_loopback",
                      ratio(case.on_loopback(origin, FIGURE_BYTES, 9)), "of direct", "<= 2.5")
        figure.report("h2_download_time_behind_100mbit_50ms",
                      ratio(case.behind_a_link(origin, FIGURE_BYTES, 3)), "of direct", "<= 1.02")
    finally:
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--figure"]:
        report_figures()
    else:
        harness.main()
