#!/usr/bin/env python3
"""`reprise explain`: the article's story in a browser (ads that block a page and then compute are
on top, and their shares fall when they are deferred), tags, days, the main thread of a trace, CSV,
and inputs that are not what they should be.

--figure: the same story with `gate`, with the numbers before and after."""

import csv
import gzip
import io
import json
import sys
import tempfile
import pathlib

import figure
import gate_sites
import harness
from gate_sites import HOST, URL
from wire import Certificate, Origin

ADS = "ads.test"
ADS_KINDS = {"ads", "client execution"}  # what they cost a page that waits for them
MORE_LOADS = 4  # of each side, on a busy machine
LINK = "10mbit/10mbit/60"
# A tenth of a second of a processor's time, however busy the machine: a step needs the one before.
COMPUTES = (b"{ let sum = 1;"
            b" for (let i = 0; i < 80000000; i++) sum = (Math.imul(sum, 69069) + i) | 0;"
            b" window.sum = sum; }")


def page(deferred):
    """A page with a picture, and three ads: in its head, or once it has loaded."""
    ads = b"".join(b"<script src=https://ads.test/ad%d.js></script>" % i for i in range(3))
    if deferred:
        ads = (b"<script>addEventListener('load', () => { for (let i = 0; i < 3; i++) {"
               b"const ad = document.createElement('script');"
               b"ad.src = `https://ads.test/ad${i}.js`; document.head.append(ad) } })</script>")
    return (b"<!doctype html><title>t</title><link rel=icon href=data:,>" + ads +
            b"<script src=/app.js></script><img src=/picture.svg>")


def record(folder, name, deferred):
    files = {"/": (b"text/html", page(deferred)), "/picture.svg": gate_sites.picture(1, 20_000),
             "/app.js": (b"text/javascript", b"document.title += 'x'")}
    for i in range(3):
        files[f"/ad{i}.js"] = (b"text/javascript",
                               COMPUTES + b"//" + gate_sites.noise(i, 90_000).hex().encode())
    tls = Certificate(folder / f"tls-{name}", (HOST, ADS))
    origin = Origin(gate_sites.Site(files, gzipped=False).answer, names=(HOST, ADS), tls=tls)
    archive = folder / f"{name}.reprise"
    try:
        done = harness.run("record", "-o", str(archive), "--browser", harness.BROWSER,
                           "--quiet", "500", "--inject", "none", *origin.connect_arguments(), URL,
                           folder=folder, timeout=120)
    finally:
        origin.close()
    assert done.returncode == 0, done.stderr.decode()
    return archive


def entities(folder):
    path = folder / "entities.json"
    path.write_text(json.dumps([{"name": "Adserver", "category": "ad", "domains": [f"*.{ADS}"]}]))
    return str(path)


def explained(folder, *arguments):
    done = harness.run("explain", "--json", "--entities", entities(folder), *map(str, arguments),
                       folder=folder)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def shares(slice_):
    return {each["kind"]: each for each in slice_["shares"]}


def least_shares(slice_, so_far=None):
    """Microseconds by kind. What else runs on the machine only ever adds."""
    us = {kind: share["us"] for kind, share in shares(slice_).items()}
    if so_far is None:
        return us
    return {kind: min(us[kind], so_far[kind]) for kind in us.keys() & so_far.keys()}


def tells_the_story(blocking, deferred):
    """The ads are on top, and fall to less than half when they are deferred."""
    return (set(sorted(blocking, key=blocking.get)[-2:]) == ADS_KINDS and
            all(deferred.get(kind, 0) < blocking[kind] / 2 for kind in ADS_KINDS))


def loads(folder, archive, runs, *arguments, result=None):
    result = result or archive.with_suffix(".json")
    done = harness.run("load", str(archive), URL, "--browser", harness.BROWSER, "--link",
                       LINK, "--inject", "none", "--runs", str(runs), "--no-bodies", "-o",
                       str(result), *arguments, folder=folder, timeout=300)
    assert done.returncode in (0, 5), done.stderr.decode()
    return result


class Story(harness.TestCase):
    def test_ads_that_block_a_page_are_its_bottleneck(self):
        archives, results, slices = {}, {}, {}
        for name, deferred in (("blocking", False), ("deferred", True)):
            archives[name] = record(self.folder, name, deferred)
            traced = ("--trace", str(self.folder / "traces")) if name == "blocking" else ()
            results[name] = loads(self.folder, archives[name], 2, *traced)
            slices[name] = explained(self.folder, results[name])["slices"][0]
        blocking = slices["blocking"]
        least = {name: least_shares(slices[name]) for name in archives}
        for _ in range(MORE_LOADS):
            if tells_the_story(**least):
                break
            for name, archive in archives.items():
                more = self.folder / f"more-{name}.json"
                loads(self.folder, archive, 1, result=more)
                least[name] = least_shares(explained(self.folder, more)["slices"][0], least[name])
        self.assertTrue(tells_the_story(**least), least)
        ads = [each for each in blocking["calls"] if each["kind"] == "ads"]
        self.assertEqual([each["detail"] for each in ads], 3 * ["Adserver"], ads)
        self.assertEqual([each["count"] for each in ads], [2, 2, 2], ads)

        # The trace says who computed in the gaps.
        scripts = [each for each in blocking["calls"] if each["name"].startswith("script")
                   and ADS in each["name"]]
        self.assertEqual(len(scripts), 3, blocking["calls"])
        self.assertGreater(sum(each["us"] for each in scripts), 100_000)

        # Both together, by what tells them apart.
        both = explained(self.folder, *results.values(), "--by", "archive", "--slowest", "50%")
        self.assertEqual(sorted(each["tags"]["archive"] for each in both["slices"][1:]),
                         ["blocking.reprise", "deferred.reprise"])
        self.assertEqual([each["views"] for each in both["slices"]], [2, 1, 1])
        for point in both["points"]:
            self.assertEqual(sum(point["shares"]), point["window_us"])

        # The recording explains itself, too.
        archive = explained(self.folder, self.folder / "blocking.reprise")
        self.assertIn("ads", shares(archive["slices"][0]))


HAR = {"log": {"entries": [
    {"startedDateTime": f"2026-11-2{day}T10:00:00.000Z", "time": 50, "pageref": f"p{day}",
     "request": {"method": "GET", "url": "https://a.test/=1+1"}, "response": {"status": 200},
     "timings": {"send": 0, "wait": 30 * (day + 1), "receive": 20}}
    for day in range(3)]}}

# Each span is inside the other.
CIRCLE = [{"traceId": f"{1:032x}", "id": f"{i:016x}", "parentId": f"{3 - i:016x}", "timestamp": 5,
           "duration": 7, "localEndpoint": {"serviceName": "shop"}} for i in (1, 2)]


class Inputs(harness.TestCase):
    def explain(self, *arguments):
        done = harness.run("explain", *map(str, arguments))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

    def test_a_har_by_day_as_table_and_csv(self):
        har = self.write("a.har", json.dumps(HAR))
        code, table, _ = self.explain(har, "--trend", "day")
        self.assertEqual(code, 0)
        self.assertIn("3 views, mean 80 ms, median 80, slowest 110\n", table)
        self.assertIn("1 view, mean 50 ms, day 2026-11-20\n", table)
        code, text, _ = self.explain(har, "--csv", "--by", "page", "--where", "load>70ms")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual({row["views"] for row in rows}, {"2"})
        self.assertEqual(sum(int(row["us"]) for row in rows
                             if not row["page"] and not row["call"]), 95_000)
        self.assertEqual(self.explain(har, "--csv", "--trend", "day")[0], 2)
        for form in ("--json", "--csv"):
            code, _, said = self.explain(har, "-o", "-", form)
            self.assertEqual(code, 2)
            self.assertIn("both write to standard output", said)
        for more in (("--json",), ("--csv",), ("-o", "-")):
            code, text, said = self.explain(har, "--calls", "-", *more)
            self.assertEqual((code, text), (2, ""))
            self.assertIn(f"--calls - and {' '.join(more)} both write to standard output", said)

    def test_costs_of_an_interval(self):
        har = self.write("a.har", json.dumps(HAR))
        code, table, _ = self.explain(har)
        self.assertEqual(code, 0)
        self.assertIn("By host\n", table)
        code, text, _ = self.explain(har, "--from", "10", "--to", "30", "--json")
        self.assertEqual(code, 0)
        (whole,) = json.loads(text)["slices"]
        self.assertEqual(whole["window_us"]["max"], 20_000)
        (host,) = whole["costs"]["host"]
        self.assertEqual((host["name"], host["us"], host["requests"]), ("a.test", 20_000, 1))
        code, _, said = self.explain(har, "--from", "30", "--to", "30")
        self.assertEqual(code, 2)
        self.assertIn("--from must be before --to", said)

    def test_views_are_selected_by_their_whole_load_time(self):
        har = self.write("a.har", json.dumps(HAR))
        part = ("--from", "10", "--to", "30", "--json")
        code, text, said = self.explain(har, *part, "--where", "load>70ms")
        self.assertEqual(code, 0, said)
        self.assertEqual(json.loads(text)["views"], 2)
        code, text, _ = self.explain(har, *part, "--slowest", "30%")
        self.assertEqual(code, 0)
        (point,) = json.loads(text)["points"]
        self.assertEqual((point["load"], point["window_us"], point["slices"]), (3, 20_000, [0]))

    def test_views_that_ended_before_the_interval_are_counted(self):
        har = self.write("a.har", json.dumps(HAR))
        code, text, said = self.explain(har, "--from", "60", "--json")
        self.assertEqual(code, 0, said)
        explained = json.loads(text)
        self.assertEqual((explained["views"], explained["views_read"]), (2, 3))
        self.assertEqual(explained["slices"][0]["window_us"]["min"], 20_000)
        self.assertEqual(explained["losses"], [
            {"what": "views that ended before --from, skipped", "count": 1}])
        code, text, said = self.explain(har, "--from", "110")
        self.assertEqual((code, text), (1, ""))
        self.assertIn("all views ended before --from", said)

    def test_only_what_reprise_view_shows_alone_is_linked(self):
        one = {"log": {"entries": HAR["log"]["entries"][:1]}}
        hars = [self.write(f"{name}.har", json.dumps(har)) for name, har in
                (("one", one), ("three", HAR))]
        lines = self.folder / "a.ndjson"
        self.assertEqual(self.explain(hars[0], "--calls", lines)[0], 0)
        code, text, said = self.explain(*hars, lines, "--json", "-o", self.folder / "why.html",
                                        "--view", self.folder / "view.html")
        self.assertEqual(code, 0, said)
        explained = json.loads(text)
        self.assertEqual([each["in_view"] for each in explained["inputs"]], [1, None, None])
        self.assertEqual(explained["view"], "view.html")

    def test_calls_come_back(self):
        har = self.write("a.har", json.dumps(HAR))
        lines = self.folder / "a.ndjson"
        _, first, _ = self.explain(har, "--json", "--calls", lines)
        _, again, _ = self.explain(lines, "--json")
        first, again = json.loads(first), json.loads(again)
        self.assertEqual(first["slices"], again["slices"])
        with open(lines, "a") as file:
            file.write('{"calls":[{"kind":"cow"}]}\nnot even JSON\n')
        code, text, said = self.explain(lines, "--json")
        self.assertEqual((code, json.loads(text)["slices"]), (0, first["slices"]))
        self.assertIn("line 4 skipped: calls[0].kind must be request, phase", said)
        self.assertIn("2 lines skipped in all", said)
        self.assertIn({"what": "lines that are not calls", "count": 2}, json.loads(text)["losses"])

    def test_calls_on_standard_output_are_alone_there(self):
        har = self.write("a.har", json.dumps(HAR))
        lines = self.folder / "a.ndjson"
        self.assertEqual(self.explain(har, "--calls", lines)[0], 0)
        for more in ((), ("-o", self.folder / "page.html")):
            code, text, said = self.explain(har, "--calls", "-", *more)
            self.assertEqual((code, text), (0, lines.read_text()), said)
        self.assertIn("reprise explain", (self.folder / "page.html").read_text())

    def test_own_kinds(self):
        har = self.write("a.har", json.dumps(HAR))
        kinds = self.write("kinds", "slow: phase=wait\nquick:\nfix slow: Be quick.\n")
        code, table, _ = self.explain(har, "--types", kinds)
        self.assertEqual(code, 0)
        self.assertIn("slow: Be quick.", table)
        code, _, said = self.explain(har, "--types", self.write("bad", "slow: fase=wait\n"))
        self.assertEqual(code, 2)
        self.assertIn("bad: line 1: unknown field 'fase'; the fields are host, path", said)

    def test_a_file_that_is_cut_off_is_refused(self):
        calls = self.folder / "calls.ndjson"
        self.explain(self.write("a.har", json.dumps(HAR)), "--calls", calls)
        beacon = b'{"beacon":1,"page":"p","requests":[["https://a.test/","img",1,2,3]]}\n'
        for name, lines in (("calls", calls.read_bytes()), ("beacons", beacon * 10)):
            whole = gzip.compress(lines)
            path = self.folder / f"{name}.gz"
            path.write_bytes(whole)
            self.assertEqual(self.explain(path)[0], 0)
            path.write_bytes(whole[:-6])
            code, out, _ = self.explain(path)
            self.assertEqual((code, out), (1, ""))

    def test_beacons_can_begin_with_an_empty_line(self):
        beacon = '{"beacon":1,"page":"p","requests":[["https://a.test/","img",1,2,3]]}\n'
        code, _, said = self.explain(self.write("beacons", "\n" + beacon))
        self.assertEqual(code, 0, said)

    def test_what_cannot_be_explained(self):
        cases = (
            ((self.folder / "none.json",), 1, "none.json: cannot be read: No such file"),
            ((self.write("empty", ""),), 1, "empty: is empty"),
            ((self.write("other.json", "{}"),), 1, "neither a result of `load -o`, an archive"),
            ((self.write("bad.json", '{"schema":7}'),), 1, "bad.json: not a result of `load -o`"),
            ((self.write("a.har", json.dumps(HAR)), "--where", "load>1m"), 1,
             "--where selects none of the 3 views"),
            ((self.write("a.har", json.dumps(HAR)), "--where", "load>"), 2, "a value is missing"),
            ((self.write("a.har", json.dumps(HAR)), "-o", self.folder / "a.har"), 2,
             "FILE and -o are the same file"),
            ((self.write("a.har", json.dumps(HAR)), "-o", self.folder / "x", "--calls",
              self.folder / "x"), 2, "--calls and -o are the same file"),
            ((self.write("list.json", '[{"a": 1}]'),), 1, "no entry of a view in it"),
            ((self.write("circle.json", json.dumps(CIRCLE)),), 1, "no span begins a view"),
            ((self.write("a.har", json.dumps(HAR)), "--slowest", "0"), 2, "--slowest 0: give"),
        )
        for arguments, expected, what in cases:
            code, out, said = self.explain(*arguments)
            self.assertEqual((code, out), (expected, ""), said)
            self.assertIn(what, said)


def story_figure():
    """The table: both pages by `explain` and by `gate`."""
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as temporary:
        folder = pathlib.Path(temporary)
        archives = [record(folder, name, name == "deferred") for name in ("blocking", "deferred")]
        before, after = (explained(folder, loads(folder, archive, 20))["slices"][0]
                         for archive in archives)
        rows = [(kind, *(f"{shares(each).get(kind, {'us': 0})['us'] / 1000:.1f}"
                         for each in (before, after))) for kind in shares(before)]
        sides = (f"'{archive}' {URL} --link {LINK} --inject none --no-bodies"
                 for archive in archives)
        verdict, _ = gate_sites.gate(folder, *sides, "--metric", "load", "--allow", "archive")
        shift = verdict["pages"][0]["metrics"][0]["shift"]
        top = {each["kind"] for each in before["shares"][:2]}
        figure.report("explain_story_top", int(top == {"ads", "client execution"}), "", "== 1")
        figure.report("explain_story_shift", round(shift, 1), "ms", "< 0")
        figure.table(("kind", "blocking ms", "deferred ms"), rows)
        print(gate_sites.told(verdict))


if __name__ == "__main__":
    if "--figure" in sys.argv:
        story_figure()
    else:
        harness.main()
