#!/usr/bin/env python3
"""What the Node and the Java emitter cost: processor time that a server adds to each request of
1 ms and 20 calls (web, service, 18 of the store) when it has the emitter, off or on, in % of that
millisecond. The servers (without, off, on) are asked in turn, in blocks; medians of the blocks."""

import http.client
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import java_shop

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
import figure

WARM_UP = 10_000  # requests, to let just-in-time compilers end
REQUESTS = 300  # in a block
BLOCKS = int(os.environ.get("FIGURE_RUNS", "15"))
MS = 1e6  # ns
BOUNDS = {"off": "<= 2", "on": "<= 50"}  # %

http.client._MAXHEADERS = 1000


class Server:
    def __init__(self, command, path, setting):
        environment = {name: value for name, value in os.environ.items() if name != "BANKY_TRACE"}
        if setting:
            environment["BANKY_TRACE"] = setting
        self.path = path
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", int(self.process.stdout.readline()), timeout=60)

    def ask(self, requests):
        """Returns the ns of processor time for each, and whether the last one had a trace."""
        clock = (~self.process.pid << 3) | 2  # clock_getcpuclockid(3), of all its threads
        before = time.clock_gettime_ns(clock)
        for _ in range(requests):
            self.connection.request("GET", self.path)
            response = self.connection.getresponse()
            assert response.read() == b"sum 306\n"
        spent = time.clock_gettime_ns(clock) - before
        self.connection.close()  # or the server would, until its next turn
        return spent / requests, response.getheader("Banky-Trace") is not None

    def end(self):
        self.connection.close()
        self.process.stdin.close()
        self.process.wait(60)


def measure(emitter, command, path):
    servers = {"without": Server([*command, "bare"], path, None),
               "off": Server(command, path, None), "on": Server(command, path, "on")}
    for how, server in servers.items():
        assert server.ask(WARM_UP)[1] == (how == "on"), how
    costs = {how: [] for how in servers}
    for _ in range(BLOCKS):
        for how, server in servers.items():
            costs[how].append(server.ask(REQUESTS)[0])
    for server in servers.values():
        server.end()
    rows = []
    for how, each in costs.items():
        added = statistics.median(cost - bare for cost, bare in zip(each, costs["without"]))
        rows.append((how, f"{statistics.median(each) / 1000:.1f}", f"{added / 1000:+.1f}"))
        if how != "without":
            figure.report(f"the {emitter} emitter, {how}", round(100 * added / MS, 2),
                          "% of 1 ms", BOUNDS[how])
    figure.table((emitter, "processor time of a request (us)", "added (us)"), rows)


def main():
    measure("Node", ["node", str(HERE / "brief.cjs")], "/")
    if not java_shop.can_run():
        print(f"Java: {java_shop.NEEDS}")
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-java."))
    try:
        java_shop.compile_into(folder)
        # As servers run: with both compilers.
        command = [word for word in java_shop.command(folder) if not word.startswith("-XX:")]
        measure("Java", command, "/brief")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
