#!/usr/bin/env python3
"""`reprise explain --partial` and `--merge` as an engine runs them: lines in, lines out, the same
bytes however the work is cut; exit codes and counters. And `explain` on a file of beacons."""

import json
import random
import re
import subprocess

import harness
from wire import DEADLINE_SECONDS

VIEWS = 400


def beacon(draw):
    """A view in the lean form."""
    start, requests = 0, []
    for entry in range(draw.randint(1, 30)):
        host = draw.choice(["shop.test", "cdn.test", "ads.test"])
        end = start + draw.randint(0, 5000)
        requests.append([f"https://{host}/{entry}.js", "script", start, end, 100])
        start += draw.randint(0, 400)
    return json.dumps({"beacon": 1, "page": f"https://shop.test/{draw.randint(0, 3)}",
                       "started": 1795000000000 + draw.randint(0, 2) * 86400000,
                       "load": draw.randint(1, 30000),
                       "tags": {"network": draw.choice(["4g", "3g"])},
                       "requests": requests}).encode() + b"\n"


def explain(*arguments, given=b"", **options):
    return subprocess.run([harness.REPRISE, "explain", *arguments], input=given,
                          stderr=subprocess.PIPE, timeout=DEADLINE_SECONDS, check=False,
                          **{"stdout": subprocess.PIPE, **options})


def counters(done):
    return {name.decode(): int(number) for name, number in
            re.findall(rb"^reporter:counter:reprise,(\w+),(\d+)$", done.stderr, re.M)}


class Partials(harness.TestCase):
    def lines_of(self, *arguments, given):
        done = explain(*arguments, given=given)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def partial(self, given):
        return self.lines_of("--partial", "--by", "network", given=given)

    def merged(self, given):
        lines = sorted(given.splitlines(keepends=True))
        return self.lines_of("--merge", given=b"".join(lines))

    def test_the_bytes_do_not_depend_on_how_the_work_is_cut(self):
        draw = random.Random(1)
        views = [beacon(draw) for _ in range(VIEWS)]
        whole = self.partial(b"".join(views))
        self.assertEqual(sum(int(line.split(b"\t")[1]) for line in whole.splitlines()), VIEWS)
        draw.shuffle(views)
        shards = [self.partial(b"".join(views[at:at + 40])) for at in range(0, VIEWS, 40)]
        self.assertEqual(self.merged(b"".join(shards)), whole)
        once = [self.merged(each) for each in shards]
        self.assertEqual(self.merged(b"".join(once)), whole)
        twice = [self.merged(b"".join(once[at:at + 3])) for at in range(0, len(once), 3)]
        self.assertEqual(self.merged(b"".join(twice)), whole)

    def test_files_are_read_like_standard_input(self):
        file = self.folder / "beacons.ndjson"
        file.write_bytes(beacon(random.Random(2)))
        self.assertEqual(self.lines_of("--partial", str(file), given=b""),
                         self.lines_of("--partial", given=file.read_bytes()))

    def test_a_bad_line_is_counted_and_the_first_one_named(self):
        good = beacon(random.Random(3))
        done = explain("--partial", given=good + b"{\n" + good + b"\xff\n" + good[:-9])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(counters(done),
                         {"lines": 5, "views": 2, "other_beacons": 0, "bad_lines": 3})
        self.assertIn(b"line 2 skipped: not JSON", done.stderr)

    def test_exit_codes_say_whether_to_try_again(self):
        good = beacon(random.Random(4))
        self.assertEqual(explain("--partial", given=b"").returncode, 0)
        self.assertEqual(explain("--partial", given=b"x\ny\n").returncode, 65)
        self.assertEqual(explain("--merge", given=b"x\n").returncode, 65)
        self.assertEqual(explain("--partial", str(self.folder / "none")).returncode, 75)
        with open("/dev/full", "wb") as full:
            self.assertEqual(explain("--partial", given=good, stdout=full).returncode, 75)
            self.assertEqual(explain("--merge", given=b"a|1\t1\t2\n", stdout=full).returncode, 75)
        # What cannot be merged is still read to its end: this is more than a pipe holds.
        refused = explain("--merge", given=b"b|1\t1\t2\na|1\t1\t2\n" * 100_000)
        self.assertEqual(refused.returncode, 65)
        self.assertIn(b"line 2 is not in the order of LC_ALL=C sort", refused.stderr)
        self.assertEqual(explain("--partial", "--json", given=good).returncode, 2)
        self.assertEqual(explain("--partial", "--merge", given=good).returncode, 2)
        self.assertEqual(explain("--merge", "--by", "network", given=b"").returncode, 2)

    def test_explain_prints_tables_of_merged_sums(self):
        file = self.folder / "day.partial"
        kinds = "\t0" * 7
        file.write_text(f"2026-11-22|p|3g|DE|20\t2\t40000\t10000\t30000\t0{kinds}\n"
                        f"2026-11-22|p|4g|DE|10\t6\t60000\t60000\t0\t0{kinds}\n"
                        "no line of sums\n"
                        f"2026-11-23|q|4g|FR|20\t2\t44000\t0\t44000\t0{kinds}\n")
        options = ("--tags", "network,country", "--by", "network", "--slowest", "50%")
        done = explain(str(file), *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"line 3 skipped: not a partial result", done.stderr)
        self.assertEqual(done.stdout.decode(), """\
5 views, mean 19 ms
  kind      share ms     %
  ads             15  78.7
  redirect       4.0  21.3

4 views, mean 16 ms, network 4g
  kind      share ms     %
  ads             11  68.8
  redirect       5.0  31.2

1 view, mean 20 ms, network 3g
  kind      share ms     %
  ads             15  75.0
  redirect       5.0  25.0

The slowest 50 % of each.

Not in these figures:
  1 line that is not a partial result
""")
        done = explain(str(file), *options, "--csv")
        self.assertEqual(done.stdout.decode().splitlines(), [
            "network,views,kind,us,percent", ",5,ads,14800,78.7", ",5,redirect,4000,21.3",
            "4g,4,ads,11000,68.8", "4g,4,redirect,5000,31.2", "3g,1,ads,15000,75.0",
            "3g,1,redirect,5000,25.0"])

    def test_day_and_page_are_in_every_key_and_need_no_tag(self):
        given = b"".join(beacon(random.Random(seed)) for seed in range(5))
        lines = self.lines_of("--partial", "--by", "day,network,page", given=given)
        self.assertEqual(lines, self.partial(given))

    def test_explain_passes_over_parts_without_lines(self):
        part, empty = self.folder / "part-r-00000", self.folder / "part-r-00001"
        part.write_bytes(self.partial(beacon(random.Random(5))))
        empty.write_bytes(b"")
        done = explain(str(empty), str(part), "--by", "network")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"1 view", done.stdout)

    def test_explain_refuses_sums_that_do_not_fit(self):
        file = self.folder / "day.partial"
        sums = "\t0" * 10
        file.write_text(f"2026-11-22|p|3g|20\t1\t0{sums}\n")
        beacons = self.folder / "beacons.ndjson"
        beacons.write_bytes(beacon(random.Random(6)))
        entities = self.folder / "entities.json"
        entities.write_text("[]")
        for arguments, status, message in (
                (["--by", "day"], 1, b"line 1 has 1 tag, but 0 are named: name them with --tags"),
                (["--by", "country", "--tags", "network"], 2, b"--by country: partial results"),
                (["--by", "network", "--json"], 2, b"partial results are sums by kind"),
                (["--by", "network", "--entities", str(entities)], 2,
                 b"partial results are sums by kind"),
                (["--by", "network", str(beacons)], 2, b"beacons.ndjson is not a partial result")):
            done = explain(str(file), *arguments)
            self.assertEqual(done.returncode, status, done.stderr.decode())
            self.assertIn(message, done.stderr)
        self.assertEqual(explain(str(beacons), "--tags", "network").returncode, 2)
        file.write_text("2026-11-22|p|20\t1\t0\t0\n")
        self.assertIn(b"sums of 1 kind, but the rules have 10: give the same --types",
                      explain(str(file)).stderr)

    def test_explain_reads_beacons_and_prints_the_script(self):
        file = self.folder / "beacons.ndjson"
        draw = random.Random(5)
        file.write_bytes(beacon(draw) + b"no beacon\n" + beacon(draw) + b"rt.quit=&rt.end=1\n")
        done = explain("--json", str(file))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        explanation = json.loads(done.stdout)
        self.assertEqual(explanation["views"], 2)
        self.assertIn({"what": "lines that are not beacons", "count": 1}, explanation["losses"])
        self.assertIn({"what": "beacons that are not of a view", "count": 1},
                      explanation["losses"])
        self.assertIn(b"the first is line 2", done.stderr)
        self.assertIn(b"sendBeacon", explain("--beacon-script").stdout)
        self.assertEqual(explain().returncode, 2)


if __name__ == "__main__":
    harness.main()
