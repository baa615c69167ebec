#!/usr/bin/env python3
"""curl through `reprise replay` behind the packet link and behind the modelled one: a Markdown
table of medians, cold (with TLS) and warm (again on the connection), over HTTP/1.1 and HTTP/2.
Exits with 1 when a row is more than 10 % apart. $REPRISE names the binary.

    shells_compared.py [LINK...]
"""

import pathlib
import statistics
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import harness  # noqa: E402
from wire import Certificate, response  # noqa: E402

SIZES = (14_000, 50_000, 200_000, 1_000_000)
RUNS = 5
TOLERANCE = 0.10
PORT = 18443
STAND_IN = "198.18.0.1"  # the first of the namespace's range
HOST = harness.HOST
LINKS = sys.argv[1:] or ["wpt:4g"]


class ShellsCompared(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        origin = self.origin(lambda request: response(bytes(int(request.line.split()[1][1:]))),
                             tls=Certificate(self.folder / "tls"))
        recorder = self.record(self.archive, origins=(origin,))
        with recorder.connect("https") as client:
            for size in SIZES:
                client.get(f"/{size}")
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def fetch_ms(self, link, shaper, protocol, size, seed):
        """A first and a second fetch on one connection."""
        listeners = {"packet": [], "stream": ["--https", f"127.0.0.1:{PORT}", "--http", "off",
                                              "--proxy", "off"]}[shaper]
        way = {"packet": ["--resolve", f"{HOST}:443:{STAND_IN}"],
               "stream": ["--connect-to", f"::127.0.0.1:{PORT}"]}[shaper]
        version = {"h1": "--http1.1", "h2": "--http2"}[protocol]
        done = harness.run(
            "replay", str(self.archive), "--protocol", protocol, "--link", link, "--link-seed",
            str(seed), "--shaper", shaper, "--no-selfcheck", *listeners, "--", "curl", "-sSk",
            version, *way, "-w", "%{time_total}\\n", *2 * ["-o", "/dev/null"],
            *2 * [f"https://{HOST}/{size}"], folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [float(line) * 1e3 for line in done.stdout.split()]

    def test_medians_are_close(self):
        print("| link | HTTP | bytes | | packet ms | stream ms | off by |\n"
              "|---|---|---:|---|---:|---:|---:|")
        wrong = 0
        for link in LINKS:
            for size in SIZES:
                for protocol in ("h1", "h2"):
                    cold_warm = [
                        [statistics.median(times) for times in zip(*[
                            self.fetch_ms(link, shaper, protocol, size, seed)
                            for seed in range(RUNS)])] for shaper in ("packet", "stream")]
                    for kind, packet, stream in zip(("cold", "warm"), *cold_warm):
                        off = stream / packet - 1
                        wrong += abs(off) > TOLERANCE
                        print(f"| {link} | {protocol} | {size} | {kind} | {packet:.1f} "
                              f"| {stream:.1f} | {off:+.1%} |", flush=True)
        self.assertEqual(wrong, 0, "rows that are more than 10 % apart")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
