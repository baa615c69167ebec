#!/usr/bin/env python3
"""What callers of `wpr` change: rules files, scripts, a parameter to ignore, and trust."""

import json
import subprocess

import harness
import wpr_case
from wpr_case import entry, make_root, read_wprgo, write_wprgo

PAGE = b"<!doctype html><html><head></head><body>recorded</body></html>"
URL = "http://a.test/page"


class WprRules(wpr_case.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = write_wprgo(self.folder / "page.wprgo", [
            (URL, entry(URL, PAGE)), (URL + ".css", entry(URL + ".css", b"css", type="text/css")),
            (URL + "?a=1", entry(URL + "?a=1", b"one"))])

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def replay(self, *words):
        return self.wpr("replay", "--http_port=0", *words, self.archive, servers=1)

    def rules(self, *rules):
        return self.write("rules.json", json.dumps(rules))

    def test_rules_add_fields_and_scripts(self):
        self.write("extra.js", "var extra = '\u00e4';")
        rules = self.rules(
            {"URL": URL, "ExtraHeaders": {"X-Rule": ["1", "2"]}, "InjectedScript": "extra.js"},
            {"URLPattern": r"\.css$", "ExtraHeaders": {"Server-Timing": ["a"]}},
            {"URLPattern": "never", "Push": [{"URL": URL}]})
        before = self.archive.read_bytes()
        wpr = self.replay("--inject_scripts=", f"--rules_file={rules}")
        page = wpr.get(URL)
        self.assertEqual(page.all(b"x-rule"), [b"1", b"2"])
        self.assertEqual(page.body, PAGE.replace(
            b"<head>", b"<head><script>var extra = '\\u00e4';</script>"))
        css = wpr.get(URL + ".css")
        self.assertEqual((css.all(b"server-timing"), css.body), ([b"a"], b"css"))
        self.assertEqual(wpr.get(URL + "?a=1").all(b"x-rule"), [])
        self.assertIn("rules: 2 responses changed", wpr.text())
        self.assertIn("are ignored", wpr.text())
        self.assertEqual(self.archive.read_bytes(), before)

    def test_a_wrong_rules_file_exits_with_1(self):
        for text, wrong in (("[{}]", b"rule 1: "), ("x", b"is not JSON"),
                            ('[{"URL":"u","InjectedScript":"missing.js"}]', b"missing.js")):
            rules = self.write("rules.json", text)
            done = self.run_wpr("replay", "--http_port=0", "--rules_file", rules, self.archive)
            self.assertEqual(done.returncode, 1)
            self.assertIn(wrong, done.stderr)

    def test_scripts_are_injected_by_url(self):
        first, second = self.write("first.js", "first();"), self.write("second.js", "second();")
        wpr = self.replay("--inject_scripts=", "--inject-script-by-url", f"{first}::page$",
                          f"--inject-script-by-url={second}::a\\.test")
        self.assertIn(b"<head><script>second();</script><script>first();</script>",
                      wpr.get(URL).body)
        self.assertIn(b"second();", wpr.get(URL + "?a=1").body)
        self.assertNotIn(b"first();", wpr.get(URL + "?a=1").body)
        for wrong in ("first.js", f"{first}::(", "missing.js::.*"):
            done = self.run_wpr("replay", "--http_port=0", "--inject_script_by_url", wrong,
                                self.archive)
            self.assertEqual(done.returncode, 1, wrong)

    def test_scripts_are_in_the_documents_as_the_tool_has_them(self):
        first = self.write("deterministic.js", "var t = WPR_TIME_SEED_TIMESTAMP, "
                           "r = {{WPR_CONSTANT_RANDOM_RESULT}};")
        second = self.write("helper.js", "helper();")
        wpr = self.replay(f"--inject_scripts={first},{second}",
                          "--constant-math-random-result=0.25")
        self.assertIn(b"<head><script>helper();</script>"
                      b"<script>var t = 1523318400000, r = 0.25;</script>", wpr.get(URL).body)
        usual = self.replay()
        self.assertIn(b"r = null", usual.get(URL).body, "deterministic.js of its folder")
        off = self.replay("--html-injection=false")
        self.assertEqual(off.get(URL).body, PAGE)
        ours = self.replay("--reprise-clock", f"--inject_scripts={first},{second}")
        body = ours.get(URL).body
        self.assertNotIn(b"var t = ", body)
        self.assertLess(body.index(b"<script"), body.index(b"<script>helper();"))
        last = self.replay("--reprise-clock", "--constant-math-random-result=0.5",
                           f"--inject_scripts={second},{first}")
        self.assertIn(b"<script>helper();", last.get(URL).body)
        self.assertIn("--constant_math_random_result changes nothing", last.text())

    def test_a_parameter_of_a_url_is_ignored(self):
        wpr = self.replay("--inject_scripts=", "--disable_fuzzy_url_matching",
                          "--param-to-ignore-in-url-path", URL + "::q")
        self.assertEqual(wpr.get(URL + "?a=1&q=77").body, b"one")
        self.assertEqual(wpr.get(URL + "?q=1").body, PAGE)
        self.assertEqual(wpr.get("http://a.test/other?q=1").status, 404)

    def test_a_parameter_is_not_recorded_either(self):
        origin = self.origin(lambda *_: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        site = f"http://localhost:{origin.port}"
        self.archive.unlink()
        wpr = self.wpr("record", "--http_port=0", "--inject_scripts=",
                       f"--param-to-ignore-in-url-path={site}/::q", self.archive, servers=1)
        self.assertEqual(wpr.get(site + "/x?q=1&a=2").body, b"ok")
        wpr.command("web-page-replay-command-exit")
        self.assertEqual(wpr.wait(), 0)
        self.assertEqual(list(read_wprgo(self.archive)), [site + "/x?a=2"])

    def test_roots_are_installed_and_removed(self):
        certificate, key = make_root(self.folder, "root", "ec", "-pkeyopt",
                                     "ec_paramgen_curve:P-256")
        files = ("--https_cert_file", certificate, "--https_key_file", key)
        listed = []
        for words in (("removeroot",), ("installroot",), ("installroot",), ("removeroot",)):
            done = self.run_wpr(*words, *files, env={"XDG_DATA_HOME": str(self.folder / "data")})
            self.assertEqual(done.returncode, 0, done.stderr)
            database = self.folder / ".pki/nssdb"
            if database.exists():
                listed.append(subprocess.run(["certutil", "-L", "-d", f"sql:{database}"],
                                             capture_output=True, check=True, text=True).stdout)
        present = ["Web Page Replay root" in each and "C,," in each for each in listed]
        self.assertEqual(present, [True, True, False])
        self.assertEqual(self.run_wpr("installroot").returncode, 1, "there is no root")

    def test_roots_of_one_name_or_none_are_told_apart(self):
        for subject in ("/CN=same", "/O=without a common name"):
            with self.subTest(subject=subject):
                roots = [make_root(self.folder, name, "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                   subject=subject) for name in ("one", "two")]
                certificates, keys = (",".join(map(str, files)) for files in zip(*roots))
                for verb, listed, printed in (("installroot", 2, b"trust \"Web Page Replay "),
                                              ("removeroot", 0, b"Removed \"Web Page Replay "),
                                              ("removeroot", 0, b"do not contain \"Web Page ")):
                    done = self.run_wpr(verb, "--https_cert_file", certificates,
                                        "--https_key_file", keys,
                                        env={"XDG_DATA_HOME": str(self.folder / "data")})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stderr.count(printed), 2, done.stderr)
                    names = subprocess.run(
                        ["certutil", "-L", "-d", f"sql:{self.folder / '.pki/nssdb'}"],
                        capture_output=True, check=True, text=True).stdout
                    self.assertEqual(names.count("Web Page Replay "), listed, names)


if __name__ == "__main__":
    harness.main()
