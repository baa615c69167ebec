#!/usr/bin/env python3
"""`reprise gate` with a real browser on the example that this program was made for: two resources
loaded one after the other against at the same time. Through a 4G link the latter is found faster;
without a network the difference is not seen."""

import json
import sys

import gate_sites
import harness
from gate_sites import URL


class Gate(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.chained = gate_sites.record(self.folder, "chained", gate_sites.chain_site(False))
        self.parallel = gate_sites.record(self.folder, "parallel", gate_sites.chain_site(True))

    def gate(self, link, *arguments):
        sides = (f"'{archive}' {URL} --link {link} --no-bodies"
                 for archive in (self.chained, self.parallel))
        verdict, said = gate_sites.gate(self.folder, *sides, "--metric", "load", "--min-effect",
                                        "50ms", "--allow", "calibration",  # tests share a machine
                                        "-o", str(self.folder / link), *arguments)
        print(link, gate_sites.told(verdict), file=sys.stderr)
        return verdict, said

    def test_the_network_is_what_makes_the_parallel_page_faster(self):
        verdict, said = self.gate("wpt:4g")
        (page,) = verdict["pages"]
        (metric,) = page["metrics"]
        self.assertEqual(verdict["verdict"], "different", said)
        self.assertLess(metric["shift"], -50)  # a round trip is 170 ms
        self.assertLess(metric["high"], 0)
        self.assertIn("look 1 of 6, 5 loads a side: load event -", said)
        for name, loads in (("a", page["a"]["loads"]), ("b", page["b"]["loads"])):
            result = json.loads((self.folder / "wpt:4g" / f"{name}.json").read_text())
            counted = [load for load in result["loads"] if not load["warm_up"]]
            self.assertEqual(len(counted), verdict["gate"]["runs"])
            self.assertLessEqual(loads, len(counted))
        kept = json.loads((self.folder / "wpt:4g" / "verdict.json").read_text())
        self.assertEqual(kept, verdict)

        zeroed, said = self.gate("none", "--max-runs", "10")
        self.assertNotEqual(zeroed["verdict"], "different", said)


if __name__ == "__main__":
    harness.main()
