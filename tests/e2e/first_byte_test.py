#!/usr/bin/env python3
"""What a replay and the relay of `shape` cost in round trips, beside the origin itself: nginx
behind the same link, with nothing between them. Compared are the first byte and the whole document,
for documents that the first flight takes and for those that it does not, in both protocols and both
versions of TLS.

nginx has records of 1400 bytes (ssl_buffer_size): with its usual 16 KB its own first byte comes a
round trip late where head and body share a record, in HTTP/1.1 always, in HTTP/2 by chance, with
the relay and without it.

Whatever else runs on the machine only ever adds: what was not as it should be is tried again.
Needs root or unprivileged user namespaces, for the link.
"""

import os
import pathlib
import random
import subprocess
import unittest

import harness
import nginx_site
from wire import Certificate

LINK_SERVER = pathlib.Path(harness.REPRISE).parent / "link_server"
RTT_MS = 300  # far above what a busy machine adds
LINK = f"none,rtt={RTT_MS}ms"
TRIES_MAX = 40
# Kilobytes, and the round trips until the document is whole: ten segments, twenty, forty.
DOCUMENTS = {1: 1, 14: 2, 16: 2, 60: 3}
CLIENTS = {"h1-tls12.test": "--http1.1 --tls-max 1.2", "h1-tls13.test": "--http1.1",
           "h2-tls12.test": "--http2 --tls-max 1.2", "h2-tls13.test": "--http2"}
SMALL_ANSWERS = 10
ADDRESS = "198.18.0.1"  # of the servers that are behind the link themselves
OUTSIDE = "192.0.2.1"  # of the machine, behind `shape`

SERVER = """
  ssl_buffer_size 1400;
  server {{
    listen {address} ssl http2; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate {leaf}; ssl_certificate_key {key};
    root {folder}/www; types {{ text/plain txt; }}
  }}"""


def curl(host, paths):
    """Prints a line for each transfer, over one connection: host, path, the seconds until the
    request, the first byte and the last. $SERVER is where it connects."""
    told = "%{time_pretransfer} %{time_starttransfer} %{time_total}"
    transfers = " --next ".join(
        f"-sSkf {CLIENTS[host]} --connect-to ::$SERVER -o /dev/null "
        f"-w '{host} {path} {told}\\n' https://{host}/{path}" for path in paths)
    return f"curl {transfers} || echo failed"


def hosts_of(asked):
    """Each once, in the order of CLIENTS."""
    return [host for host in CLIENTS if any(host == each for each, _ in asked)]


class FirstByte(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        done = harness.run("shape", "--link", "none", "--no-selfcheck", "--", "true")
        if done.returncode == 4:
            raise unittest.SkipTest(done.stderr.decode())

    def setUp(self):
        super().setUp()
        (self.folder / "www").mkdir()
        for kilobytes in DOCUMENTS:
            body = random.Random(kilobytes).randbytes(kilobytes << 10)
            (self.folder / f"www/{kilobytes}.txt").write_bytes(body)
        self.tls = Certificate(self.folder / "tls", tuple(CLIENTS))
        self.archive = self.folder / "a.reprise"
        self.start_origin()
        self.record_all()

    def servers(self, address):
        leaf = self.tls.leaf_file
        return SERVER.format(folder=self.folder, address=address, leaf=leaf,
                             key=leaf.with_suffix(".key"))

    def start_origin(self):
        """nginx outside any link, until the end of the test."""
        origin, self.port = harness.at_free_ports(
            lambda port: nginx_site.start(self.folder, self.servers(f"127.0.0.1:{port}")),
            harness.LOOPBACK)
        self.addCleanup(nginx_site.stop, origin)

    def record_all(self):
        connects = [part for host in CLIENTS
                    for part in ("--connect-to", f"{host}:443:127.0.0.1:{self.port}")]
        recorder = self.record(self.archive, *connects, "--insecure-origin")
        for host in CLIENTS:
            urls = [f"https://{host}/{kilobytes}.txt" for kilobytes in DOCUMENTS]
            subprocess.run(["curl", "-sSfk", *CLIENTS[host].split(), "--connect-to",
                            "::" + recorder.ready["https"],
                            *(part for url in urls for part in ("-o", os.devnull, url))],
                           check=True, timeout=harness.DEADLINE_SECONDS)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def times(self, server, script):
        """Milliseconds until the first byte and until the last, by host and path."""
        address = f"{OUTSIDE}:{self.port}" if server == "shape" else f"{ADDRESS}:443"
        command = ["env", f"SERVER={address}", "sh", "-c", script]
        if server == "shape":
            command = [harness.REPRISE, "shape", "--link", LINK, "--no-selfcheck", "--ports",
                       str(self.port), "--", *command]
        elif server == "nginx":
            serve = nginx_site.command(self.folder, self.servers("0.0.0.0:443"))
            command = [LINK_SERVER, LINK, "443", *serve, "--", *command]
        else:
            command = [harness.REPRISE, "replay", "--inject", "none", "--dates", "recorded",
                       "--link", LINK, "--no-selfcheck", self.archive, "--", *command]
        done = subprocess.run(command, env=harness.environment(self.folder), capture_output=True,
                              text=True, timeout=4 * harness.DEADLINE_SECONDS, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("failed", done.stdout, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        return {(host, path): [1000 * (float(end) - float(asked)) for end in ends]
                for host, path, asked, *ends in lines}

    def assert_round_trips(self, expected, script_of):
        """Of the first byte and of the whole, by host and path: each is once as it should be, in
        so many tries, later ones only of what is missing. A client that was kept waiting counts too
        many, or, before it took the time of its request, too few."""
        for server in ("nginx", "shape", "replay"):
            missing = dict(expected)
            for _ in range(TRIES_MAX):
                seen = {each: [round(time / RTT_MS) for time in times]
                        for each, times in self.times(server, script_of(missing)).items()}
                self.assertLessEqual(missing.keys(), seen.keys())
                missing = {each: trips for each, trips in missing.items() if seen[each] != trips}
                if not missing:
                    break
            self.assertEqual(missing, {}, (server, seen))

    def test_costs_the_round_trips_of_the_origin(self):
        paths = {f"{kilobytes}.txt": trips for kilobytes, trips in DOCUMENTS.items()}

        def script_of(asked):
            return "".join("(" + ";".join(curl(host, [path]) for path in paths
                                          if (host, path) in asked) + ") & "
                           for host in hosts_of(asked)) + "wait"
        self.assert_round_trips({(host, path): [1, trips] for host in CLIENTS
                                 for path, trips in paths.items()}, script_of)

    def test_costs_no_more_after_small_answers_that_opened_no_window(self):
        def script_of(asked):
            return " & ".join(curl(host, SMALL_ANSWERS * ["1.txt"] + ["60.txt"])
                              for host in hosts_of(asked)) + " & wait"
        self.assert_round_trips({(host, path): [1, trips] for host in CLIENTS
                                 for path, trips in (("1.txt", 1), ("60.txt", 3))}, script_of)


if __name__ == "__main__":
    harness.main()
