#!/usr/bin/env python3
"""`reprise compare`: exit codes, the table, Markdown and JSON, what is refused and allowed, and
results that are not what they should be."""

import json
import random
import xml.etree.ElementTree

import harness

URL = "https://a.test/"


def load(number, load_ms, **changes):
    return {"url": URL, "run": number, "outcome": "loaded", "failure": "", "warm_up": number == 0,
            "configuration": {"browser": "chromium", "protocol": "h2", "link": "wpt:4g",
                              "cache": "cold"},
            "load_event_ms": load_ms, "last_load_ms": load_ms and load_ms + 20, "replay": 0,
            "first_contentful_paint_ms": 300, "largest_contentful_paint_ms": None,
            "dom_content_loaded_ms": 400, "cumulative_layout_shift": 0, "request_count": 2,
            "encoded_bytes": 5000, "requests": [{"method": "GET", "url": URL},
                                                {"method": "GET", "url": URL + "s.css"}],
            **changes}


def result(mean_ms, loads=20, archive_sha256="aa", doubts=(), **changes):
    chance = random.Random(mean_ms)
    link = {"shaper": "packet", "self_check": {"ok": True}, "doubts": list(doubts)}
    return {"schema": "reprise-load/1", "archive": "a.reprise", "archive_sha256": archive_sha256,
            "machine": {"cpu": "Example", "cores": 2},
            "browsers": [{"name": "chromium", "version": "Chrome/1"}],
            "loads": [load(n, chance.gauss(mean_ms, 5), **changes) for n in range(loads + 1)],
            "replays": [{"run": 1, "exit_code": 0,
                         "report": {"distinct_misses": [], "link": link}}]}


def answered(status):
    """The requests of a page whose document has this status."""
    return [{"method": "GET", "url": URL, "resource_type": "Document", "status": status},
            {"method": "GET", "url": URL + "s.css"}]


class Compare(harness.TestCase):
    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def compare(self, a, b, *arguments):
        done = harness.run("compare", self.write("a.json", a), self.write("b.json", b), *arguments)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_a_slower_b_is_different(self):
        code, told, _ = self.compare(result(1000), result(1040))
        self.assertEqual(code, 5, told)
        row = next(line for line in told.splitlines() if "load event" in line)
        self.assertRegex(row, r"\+\d\d\.\d ms \(\+\d\.\d %\).*< 0\.001  different")
        self.assertIn("A: 20 loads; B: 20 loads", told)
        self.assertRegex(told, r"different: load event \+\d\d\.\d ms.*, last load time")

    def test_the_same_is_the_same(self):
        code, told, _ = self.compare(result(1000), result(1001))
        self.assertEqual(code, 0, told)
        self.assertIn("\nsame: ", told)

    def test_junit_has_a_case_for_each_metric_of_a_page(self):
        report = self.folder / "report.xml"
        url = URL + "?a=1&b=<x>\"\u0001"
        for b, code, kinds in ((result(1040), 5, {"load event": "failure"}),
                               (result(1001), 0, {}),
                               (result(1040, loads=3), 6, {"load event": "skipped"})):
            a = result(1000, loads=len(b["loads"]) - 1)
            for side in (a, b):
                for each in side["loads"]:
                    each["url"] = url
            self.assertEqual(self.compare(a, b, "--junit", str(report))[0], code)
            root = xml.etree.ElementTree.parse(report).getroot()
            (suite,) = root.findall("testsuite")
            self.assertTrue(suite.get("name").startswith(URL + '?a=1&b=<x>"'), suite.get("name"))
            cases = {case.get("name"): [each.tag for each in case] for case in suite}
            self.assertEqual(cases["failed loads"], [])
            self.assertEqual(len(suite), int(suite.get("tests")))
            for metric, kind in kinds.items():
                self.assertEqual(cases[metric], [kind])
            for kind in ("failure", "skipped"):
                count = sum(kind in each for each in cases.values())
                self.assertEqual(int(suite.get({"failure": "failures"}.get(kind, kind))), count)
                self.assertEqual(kind in kinds.values(), count > 0, kind)
        self.assertEqual(self.compare(result(1000), result(1000, archive_sha256="bb"), "--junit",
                                      str(report))[0], 1)
        (error,) = xml.etree.ElementTree.parse(report).getroot().iter("error")
        self.assertIn("--allow archive", error.get("message"))
        code, _, told = self.compare(result(1000), result(1000), "--junit",
                                     str(self.folder / "none" / "x"))
        self.assertEqual(code, 1)
        self.assertIn("cannot be written", told)

    def test_junit_skips_what_too_many_failed_loads_leave_undecided(self):
        report = self.folder / "report.xml"
        failing = result(1000, loads=11)
        failing["loads"] += [load(n, None, outcome="timed-out") for n in range(12, 16)]
        self.assertEqual(self.compare(result(1000, loads=15), failing, "--junit",
                                      str(report))[0], 6)
        (skipped,) = xml.etree.ElementTree.parse(report).getroot().iter("skipped")
        self.assertIn("too many failed to call the others the same", skipped.get("message"))

    def test_few_loads_are_undecided(self):
        code, told, _ = self.compare(result(1000, loads=3), result(1040, loads=3))
        self.assertEqual(code, 6, told)
        self.assertIn("too few loads", told)

    def test_one_request_more_in_every_load_is_found_with_five_loads(self):
        code, told, _ = self.compare(result(1000, 5), result(1000, 5, request_count=3),
                                     "--metric", "requests", "--json")
        self.assertEqual(code, 5, told)
        (metric,) = json.loads(told)["pages"][0]["metrics"]
        self.assertEqual((metric["shift"], metric["low"], metric["high"]), (1, 1, 1))

    def test_the_least_effect_is_the_users(self):
        a, b = result(1000), result(1040)
        for effect, code in (("10%", 0), ("100ms", 0), ("1%,5ms", 5), ("20ms", 5)):
            self.assertEqual(self.compare(a, b, "--metric", "load", "--min-effect", effect)[0],
                             code, effect)

    def test_settings_that_differ_are_told(self):
        a, b = result(1000), result(1040)
        a["settings"] = {"cpu_throttle": 1, "replay_options": []}
        b["settings"] = {"cpu_throttle": 4, "replay_options": ["--think-time=recorded"]}
        _, told, _ = self.compare(a, b)
        self.assertIn("note: A was loaded with --cpu-throttle 1, B with 4", told)
        self.assertIn("A was loaded with replay options none, B with --think-time=recorded", told)
        self.assertNotIn("note: A was loaded", self.compare(a, a)[1])
        del b["settings"]["replay_options"]
        self.assertNotIn("replay options", self.compare(a, b)[1])

    def test_only_what_is_slower_fails_if_asked_for(self):
        slow, fast = result(1040), result(1000)
        slower = ("--fail-on", "slower", "--metric", "load")
        for a, b, flags, code in ((fast, slow, slower, 5), (slow, fast, slower, 0),
                                  (slow, fast, slower[2:], 5), (fast, fast, slower, 0)):
            self.assertEqual(self.compare(a, b, *flags)[0], code, flags)
        failing = result(1000)
        for each in failing["loads"]:
            each["outcome"] = "timed-out"
        self.assertEqual(self.compare(slow, failing, *slower)[0], 5)
        self.assertEqual(self.compare(failing, fast, *slower)[0], 6, "A has no load event")
        junit = self.folder / "report.xml"
        self.compare(slow, fast, *slower, "--junit", str(junit))
        self.assertIn('failures="0"', junit.read_text())

    def test_markdown_is_for_a_comment(self):
        code, told, _ = self.compare(result(1000), result(1040), "--markdown")
        self.assertEqual(code, 5)
        self.assertTrue(told.startswith("**different: load event"), told)
        self.assertIn("| metric | A | B | B - A |", told)
        hostile = result(1000, url="https://a.test/|x|<img src=x>")
        told = self.compare(hostile, hostile, "--markdown")[1]
        self.assertIn("\\|x\\|&lt;img", told)

    def test_what_cannot_be_compared_is_refused_unless_it_is_the_question(self):
        other_conditions = {"browser": "chromium", "protocol": "h1", "link": "none",
                            "cache": "cold"}
        for names, b, reason in (
                ("archive", result(1000, archive_sha256="bb"), "(bb)"),
                ("requests", result(1000, requests=[]), f"in A alone: GET {URL}, GET {URL}s.css"),
                ("calibration", result(1000, doubts=["busy"]), "20 of 20 loads of B: busy"),
                ("status", result(1000, requests=answered(500)),
                 f"{URL} has no error in A and the status 500 in B"),
                ("protocol,link", result(1000, configuration=other_conditions),
                 "with h2, B with h1"),
        ):
            code, told, said = self.compare(result(1000), b)
            self.assertEqual((code, told), (1, ""), names)
            self.assertIn(reason, said)
            self.assertIn("--allow " + names.split(",")[0], said)
            self.assertIn(self.compare(result(1000), b, "--allow", names)[0], (0, 6), names)
        code, told, _ = self.compare(result(1000), result(1000, requests=[]), "--json")
        self.assertEqual((code, json.loads(told)["verdict"]), (1, "refused"))

    def test_an_error_page_is_not_faster_in_any_output(self):
        page = result(1000, requests=answered(200))
        broken = result(100, requests=answered(500))
        why = f"{URL} has no error in A and the status 500 in B"
        report = self.folder / "report.xml"
        for flags in ((), ("--fail-on", "slower"), ("--markdown",), ("--json",)):
            code, told, said = self.compare(page, broken, "--junit", str(report), *flags)
            self.assertEqual(code, 1, flags)
            self.assertIn(why, told + said)
        self.assertEqual([each["difference"] for each in json.loads(told)["refusals"]],
                         ["status"])
        (error,) = xml.etree.ElementTree.parse(report).getroot().iter("error")
        self.assertIn(why, error.get("message"))
        self.assertIn("--allow status", error.get("message"))
        both = result(1000, requests=answered(500))
        code, told, _ = self.compare(both, both)
        self.assertEqual(code, 0, told)
        self.assertIn(f"note: {URL} has the status 500 in A and in B", told)

    def test_failed_loads_are_counted_and_no_numbers(self):
        b = result(1000)
        b["loads"].append(load(99, None, outcome="timed-out", failure="Not quiet in 30 s."))
        code, told, _ = self.compare(result(1000), b)
        self.assertEqual(code, 0, told)
        self.assertIn("B: 20 loads, 1 failed (timed-out: Not quiet in 30 s.)", told)
        self.assertIn("note: https://a.test/: 1 of 21 loads failed in B and none", told)
        b["loads"] += [b["loads"][-1]] * 9
        code, told, _ = self.compare(result(1000), b)
        self.assertEqual(code, 5, told)
        self.assertIn("different: only B has loads that failed", told)
        self.assertEqual(self.compare(b, b)[0], 0)

    def test_a_file_that_is_no_result_is_an_error_that_says_why(self):
        for text, why in (("", "not JSON"), ("[]", "not a JSON object"),
                          ("{}", "schema is missing"),
                          (json.dumps(result(1000, url=7)), "loads[0].url must be a text"),
                          ("[" * 100_000, "not JSON")):
            code, _, said = self.compare(result(1000), text)
            self.assertEqual(code, 1, text[:20])
            self.assertIn("b.json is not a result of `reprise load -o`: ", said)
            self.assertIn(why, said)
        self.assertEqual(harness.run("compare", "/nonexistent", "/nonexistent").returncode, 1)

    def test_wrong_flags_are_a_usage_error_that_names_what_there_is(self):
        for flag, value, why in (("--metric", "speed", "load last-load fcp"),
                                 ("--min-effect", "5", "1% or 5ms"),
                                 ("--allow", "weather", "pages browser protocol")):
            code, _, said = self.compare(result(1000), result(1000), flag, value)
            self.assertEqual(code, 2)
            self.assertIn(why, said)

    def compare_folders(self, *results, flags=()):
        """Two folders, each with these results by their names, as a dict."""
        folders = []
        for side, named in zip("AB", results):
            folder = self.folder / "set" / side
            folder.mkdir(parents=True)
            folders.append(str(folder))
            for name, content in named.items():
                self.write(f"set/{side}/{name}.json", content)
        done = harness.run("compare", *folders, *flags)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_two_folders_are_compared_page_by_page_and_say_why(self):
        failing = result(1000)
        failing["loads"] += [load(99, None, outcome="timed-out")] * 10
        other = result(1000, url=URL + "other")
        under_h1 = {"browser": "chromium", "protocol": "h1", "link": "wpt:4g", "cache": "cold"}
        code, told, _ = self.compare_folders(
            dict.fromkeys(("failing", "h1", "other", "same"), result(1000)),
            {"failing": failing, "h1": result(1000, configuration=under_h1), "other": other,
             "same": result(1000)})
        self.assertEqual(code, 5, told)
        self.assertRegex(told, r"different +failing; only B has loads that failed\n")
        self.assertRegex(told, r"refused +h1: A was loaded with h2, B with h1 "
                               r"\(--allow protocol permits the comparison\)\n")
        self.assertRegex(told, r"refused +other: .*https://a\.test/")
        self.assertRegex(told, r"same +same\n")

    def test_two_folders_say_what_the_pages_remark(self):
        failing = result(1000)
        failing["loads"] += [load(99, None, outcome="timed-out")]
        code, told, _ = self.compare_folders({"page": result(1000)}, {"page": failing})
        self.assertEqual(code, 0, told)
        self.assertRegex(told, r"same +page; note: .*failed")

    def test_folders_are_undecided_where_their_results_are(self):
        slower = ("--fail-on", "slower", "--metric", "load", "--metric", "fcp")
        a, b = result(1000, loads=3), result(1000, loads=3)
        a["loads"] *= 2
        b["loads"] *= 2
        for number, (of_a, of_b) in enumerate(zip(a["loads"], b["loads"])):
            of_b["first_contentful_paint_ms"] = 200
            of_a["load_event_ms"], of_b["load_event_ms"] = 1000 + 100 * number, 1010 + 90 * number
        code = self.compare(a, b, *slower)[0]
        self.assertEqual(code, 6)
        self.assertEqual(self.compare_folders({"page": a}, {"page": b}, flags=slower)[0], code)

    def test_folders_of_other_pages_and_whole_sets_are_refused(self):
        code, _, said = self.compare_folders({"home": result(1000)}, {"shop": result(1000)})
        self.assertEqual(code, 1)
        self.assertIn("by the same names. In A alone: home.json", said)
        for name in ("set.json", "cells.tsv"):
            self.write("set/" + name, "{}")
        whole = str(self.folder / "set")
        done = harness.run("compare", whole, whole)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{whole} is a whole result set. Name the folder of one side in it, such as "
                      f"{whole}/A".encode(), done.stderr)

    def write_set(self, *pages, sides=("A", "B")):
        """As `campaign collect` does."""
        head = json.dumps({"schema": "reprise-set/1", "sides": list(sides), "pages": []})
        self.write("set/set.json",
                   head[:-2] + "\n" + ",\n".join(map(json.dumps, pages)) + "\n]}\n")

    def test_a_page_of_the_set_without_a_file_is_named_as_not_compared(self):
        home, slow = result(1000), result(1040)
        self.compare_folders({"home": home}, {"home": home})
        folders = [str(self.folder / "set" / side) for side in "AB"]
        why = "shard 2 has no result: no such page\u001b[31m"
        self.write_set({"page": "home"}, {"page": "gone"},
                       {"page": "shop", "failures": [{"side": "C", "url": "", "why": "of C"},
                                                     {"side": "", "url": "", "why": why}]},
                       {"page": "../../home"})
        neither = "neither A nor B has a result of this page"
        for flags, code in (((), 1), (("--allow", "pages"), 0)):
            done = harness.run("compare", *folders, *flags)
            told = done.stdout.decode()
            self.assertEqual(done.returncode, code, told)
            hint = "" if flags else r" \(--allow pages permits the comparison\)"
            self.assertRegex(told, rf"same +home\nnot compared: gone: {neither}{hint}\n"
                                   rf"not compared: shop: {neither}; shard 2 has no result: "
                                   rf"no such page\\x1b\[31m{hint}\n"
                                   r"1 page: 1 same, .* 0 refused; 2 pages not compared\n$")
            done = harness.run("compare", *folders, "--json", *flags)
            self.assertEqual(done.returncode, code)
            found = json.loads(done.stdout)
            self.assertEqual(found["not_compared"], [{"page": "gone", "why": neither},
                                                     {"page": "shop", "why": f"{neither}; {why}"}])
            self.assertEqual((found["alpha"], found["same"], len(found["pages"])), (0.05, 1, 1))
        self.write("set/B/home.json", slow)
        self.assertEqual(harness.run("compare", *folders).returncode, 5)
        for side in "AB":
            (self.folder / "set" / side / "home.json").unlink()
        done = harness.run("compare", *folders, "--allow", "pages")
        self.assertEqual(done.returncode, 1, "nothing is compared")
        self.assertIn(b"0 pages: ", done.stdout)
        self.assertIn(b"; 3 pages not compared", done.stdout)

    def test_other_files_of_reprise_in_a_folder_are_no_results(self):
        corpus = '{"schema": "reprise-corpus/1", "reprise": "1", "pages": []}'
        code, told, said = self.compare_folders(
            {"home": result(1000), "corpus": corpus,
             "dependency": '{"schema":"reprise-dependency/2"}'},
            {"home": result(1000), "corpus": corpus})
        self.assertEqual(code, 0, said)
        self.assertRegex(told, r"^same +home\n1 page: 1 same")
        for side in "AB":  # the result of an archive of that name
            self.write(f"set/{side}/corpus.json", result(1000))
        done = harness.run("compare", *(str(self.folder / "set" / side) for side in "AB"))
        self.assertIn(b"2 pages: 2 same", done.stdout)
        self.write("set/B/home.json", '{"schema": "another/1"}')
        done = harness.run("compare", *(str(self.folder / "set" / side) for side in "AB"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"home.json is not a result of", done.stderr)

    def with_firefox(self, mean_ms):
        """Also loads of a browser that has no first contentful paint."""
        both = result(mean_ms)
        firefox = {"browser": "firefox", "protocol": "h2", "link": "wpt:4g", "cache": "cold"}
        both["loads"] += result(mean_ms, configuration=firefox,
                                first_contentful_paint_ms=None)["loads"]
        return both

    def test_a_browser_without_the_metric_is_named_in_every_output(self):
        a, report = self.with_firefox(1000), self.folder / "report.xml"
        code, told, _ = self.compare(a, a, "--metric", "fcp", "--junit", str(report))
        self.assertEqual(code, 6, told)
        self.assertIn(f"undecided: no load of {URL} (firefox, h2, link wpt:4g, cold) has a value "
                      "of what is compared.\n", told)
        (skipped,) = xml.etree.ElementTree.parse(report).getroot().iter("skipped")
        self.assertEqual(skipped.get("message"), "no load has a value of what is compared")
        found = json.loads(self.compare(a, a, "--metric", "fcp", "--json")[1])
        self.assertEqual([(len(each["metrics"]), each["few_count"]) for each in found["pages"]],
                         [(1, False), (0, False)])
        told = self.compare_folders({"home": a}, {"home": a}, flags=("--metric", "fcp"))[1]
        self.assertRegex(told, r"undecided +home; no load of .*firefox.* has a value")

    def test_a_page_of_one_side_alone_is_named_where_that_is_allowed(self):
        both = result(1000)
        both["loads"] += result(1000, url=URL + "more")["loads"]
        code, told, _ = self.compare(both, result(1000), "--allow", "pages")
        self.assertEqual(code, 0, told)
        self.assertIn(f"note: not compared: only A has loads of {URL}more\n", told)
        other = result(1000, url=URL + "more")
        for flags, why in (((), f"only A has loads of {URL}\n"),
                           (("--allow", "pages"), "no page has loads in both A and B\n")):
            code, told, said = self.compare(result(1000), other, *flags)
            self.assertEqual((code, told), (1, ""))
            self.assertIn("A and B cannot be compared: " + why, said)

    def test_only_the_set_of_the_two_folders_names_pages(self):
        home = result(1000)
        code, told, _ = self.compare_folders({"home": home}, {"home": home})
        self.write_set({"page": "shop"}, sides=("C", "D"))
        folders = [str(self.folder / "set" / side) + "/" for side in "AB"]
        self.assertEqual(harness.run("compare", *folders).stdout.decode(), told)
        self.assertEqual(code, 0)
        self.assertNotIn("not compared", told)
        self.write_set({"page": "home"})
        self.assertEqual(harness.run("compare", *folders).stdout.decode(), told)
        self.write_set({"page": "shop"})
        self.assertIn(b"1 page not compared", harness.run("compare", *folders).stdout)

    def test_two_folders_have_neither_markdown_nor_junit(self):
        for flags in (("--markdown",), ("--junit", str(self.folder / "report.xml"))):
            done = harness.run("compare", str(self.folder), str(self.folder), *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"not for folders", done.stderr)


if __name__ == "__main__":
    harness.main()
