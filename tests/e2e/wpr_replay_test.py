#!/usr/bin/env python3
"""`wpr replay` as its callers start, probe, use and stop it."""

import re
import signal
import socket
import ssl

import harness
import wpr_case
from wpr_case import chain_hashes, entry, make_root, spki_hash, write_wprgo

PAGE = b"<!doctype html><html><head></head><body>recorded</body></html>"
TWICE = "http://a.test/twice"


class WprReplay(wpr_case.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = write_wprgo(self.folder / "page.wprgo", [
            ("http://a.test/", entry("http://a.test/", PAGE)),
            ("https://b.test/h2", entry("https://b.test/h2", PAGE, version="2.0")),
            (TWICE, entry(TWICE, b"first", fields="Accept: a/1\r\nX-One: 1\r\n")),
            (TWICE, entry(TWICE, b"second", fields="Accept: a/1\r\nX-One: 2\r\n")),
            ("http://a.test/q?x=1&y=2", entry("http://a.test/q?x=1&y=2", b"query"))])

    def replay(self, *words, **options):
        return self.wpr("replay", "--http_port=0", "--https_port=0", "--inject_scripts=", *words,
                        self.archive, **options)

    def test_telemetry_starts_probes_uses_and_stops_it(self):
        script = self.folder / "deterministic.js"
        script.write_text("var seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        wpr = self.wpr("replay", "--disable_fuzzy_url_matching", "--http_port=0", "--https_port=0",
                       f"--inject_scripts={script}", self.archive)
        self.assertEqual(wpr.host, "127.0.0.1")
        self.assertEqual(wpr.command("web-page-replay-generate-200").status, 200)
        self.assertEqual(wpr.command("web-page-replay-generate-200", "https").status, 200)
        body = wpr.get("http://a.test/").body
        self.assertIn(b"<head><script>var seed = 1523318400000;</script></head>", body)
        stopped = wpr.command("web-page-replay-command-exit")
        self.assertIn(stopped and stopped.status, (None, 200))
        self.assertEqual(wpr.wait(), 0)
        self.assertIn("1 hit,", wpr.text())
        self.assertIn("0 misses", wpr.text())

    def test_without_a_seed_the_clock_starts_at_the_date_of_the_recording(self):
        script = self.folder / "deterministic.js"
        script.write_text("var seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        url = "http://a.test/"
        dated = entry(url, PAGE, type="text/html\r\nDate: Mon, 15 Jun 2020 12:00:05 GMT")
        write_wprgo(self.archive, [(url, dated)], seed_ms=0)
        words = ("replay", "--http_port=0", "--https_port=0", f"--inject_scripts={script}")
        wpr = self.wpr(*words, self.archive)
        answer = wpr.get(url)
        self.assertIn(b"var seed = 1592222405000;", answer.body)
        self.assertNotIn(b"2020", answer.all(b"date")[0], "dates are moved to the present")
        self.assertNotIn("no date", wpr.text())
        self.assertEqual(wpr.signal(signal.SIGTERM), 0)
        write_wprgo(self.archive, [(url, entry(url, PAGE))], seed_ms=0)
        wpr = self.wpr(*words, self.archive)
        seed = re.search(rb"var seed = (\d+);", wpr.get(url).body)
        self.assertGreater(int(seed[1]), 1592222405000)
        self.assertIn("the page's clock starts at the present", wpr.text())

    def test_crossbench_resets_the_chronology(self):
        wpr = self.replay("--serve_response_in_chronological_sequence")
        fields = b"Accept: a/1\r\n"
        answers = [wpr.get(TWICE, fields).body for _ in range(3)]
        self.assertEqual(answers, [b"first", b"second", b"second"])
        reset = wpr.command("web-page-replay-reset-replay-chronology")
        self.assertEqual((reset.status, reset.body), (200, b""))
        self.assertEqual(wpr.get(TWICE, fields).body, b"first")

    def test_without_a_sequence_the_most_alike_request_answers(self):
        wpr = self.replay()
        asked = [b"", b"X-One: 2\r\n", b"X-One: 1\r\n", b"X-One: 2\r\nAccept: a/1\r\n", b""]
        answers = [wpr.get(TWICE, fields).body for fields in asked]
        self.assertEqual(answers, [b"first", b"second", b"first", b"second", b"first"])

    def test_browsertime_stops_it_with_sigint_that_its_shell_ignored(self):
        wpr = self.wpr("replay", "--http_port", "0", "--https_port", "0", "--inject_scripts", "",
                       self.archive, ignore_sigint=True)
        self.assertEqual(wpr.get("http://a.test/").body, PAGE)
        self.assertEqual(wpr.signal(signal.SIGINT), 0)

    def test_sigterm_ends_it_in_order(self):
        wpr = self.replay()
        self.assertEqual(wpr.signal(signal.SIGTERM), 0)

    def test_tast_connects_without_a_word(self):
        wpr = self.replay("--quiet_mode")
        socket.create_connection((wpr.host, wpr.ports["http"])).close()
        self.assertEqual(wpr.get("http://a.test/").body, PAGE)
        self.assertEqual(wpr.signal(signal.SIGINT), 0)
        self.assertNotIn("ended", wpr.text())

    def test_a_running_request_does_not_delay_the_end(self):
        wpr = self.replay()
        with wpr.connect() as client:
            client.send(b"POST /upload HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\nhalf")
            wpr.command("web-page-replay-command-exit")
            self.assertEqual(wpr.wait(), 0)

    def test_the_paths_are_commands_under_every_host_and_never_counted(self):
        wpr = self.replay()
        for url in ("http://a.test/web-page-replay-generate-200",
                    "https://b.test/web-page-replay-generate-200?x",
                    "http://never.test/web-page-replay-command-clear"):
            answer = wpr.get(url)
            self.assertEqual((answer.status, answer.body), (200, b""), url)
        self.assertEqual(wpr.get("http://a.test/web-page-replay-other").status, 404)
        self.assertEqual(wpr.signal(signal.SIGTERM), 0)
        self.assertIn("0 hits, 1 miss,", wpr.text())

    def test_a_miss_is_an_empty_404_that_says_the_nearest(self):
        wpr = self.replay("--disable_fuzzy_url_matching")
        miss = wpr.get("http://a.test/q?x=1&y=3")
        self.assertEqual((miss.status, miss.body), (404, b""))
        near = miss.all(b"x-reprise-near")
        self.assertTrue(near and near[0].startswith(b"http://a.test/q?x=1&y=2 "), miss.headers)
        fuzzy = self.replay()
        self.assertEqual(fuzzy.get("http://a.test/q?x=1&y=3").body, b"query")

    def test_it_serves_an_archive_of_reprise_as_well(self):
        archive = self.folder / "page.reprise"
        done = harness.run("archive", "import", str(self.archive), "-o", str(archive))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.archive = archive
        self.assertEqual(self.replay().get("http://a.test/").body, PAGE)

    def test_an_archive_without_exchanges_is_all_misses(self):
        write_wprgo(self.archive, [])
        wpr = self.replay()
        self.assertIn("contains no exchange", wpr.text())
        self.assertEqual(wpr.get("http://a.test/").status, 404)

    def test_the_lines_are_on_stdout_or_with_a_date_on_stderr(self):
        for old, stream, pattern in ((False, "stdout", r"^Starting server on http://127"),
                                     (True, "stderr", r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d Starting")):
            wpr = self.replay(*(["--reprise_old_lines"] if old else []), servers=2)
            self.assertRegex(wpr.text(), "(?m)" + pattern, stream)
            wpr.signal(signal.SIGTERM)

    def test_one_listener_is_enough(self):
        wpr = self.wpr("replay", "-http_port", "0", "--inject-scripts", "", self.archive, servers=1)
        self.assertEqual(list(wpr.ports), ["http"])
        self.assertEqual(wpr.get("http://a.test/").body, PAGE)

    def test_every_address_can_be_served_for_other_machines(self):
        wpr = self.replay("--host=0.0.0.0")
        self.assertEqual(wpr.host, "0.0.0.0")
        self.assertEqual(wpr.get("http://a.test/").body, PAGE)
        self.assertIn("other machines can reach", wpr.text())

    def test_the_roots_of_the_callers_sign(self):
        rsa = make_root(self.folder, "wpr", "rsa:1024")
        ecdsa = make_root(self.folder, "ecdsa", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        wpr = self.replay(f"--https_cert_file={rsa[0]},{ecdsa[0]}",
                          f"--https_key_file={rsa[1]},{ecdsa[1]}")
        rsa_hash, ecdsa_hash = (spki_hash(each[0].read_bytes()) for each in (rsa, ecdsa))
        self.assertEqual(chain_hashes(wpr, "b.test"), [rsa_hash, rsa_hash])
        self.assertEqual(chain_hashes(wpr, "b.test", "ECDSA+SHA256"), [ecdsa_hash, ecdsa_hash])
        context = ssl.create_default_context(cafile=rsa[0])
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        with wpr.connect("https", "b.test", context) as client:
            self.assertEqual(client.get("/h2", host="b.test").body, PAGE)
        for alpn, chosen in ((["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1")):
            with wpr.connect("https", "b.test", alpn=alpn) as client:
                self.assertEqual(client.sock.selected_alpn_protocol(), chosen)
        done = self.run_wpr("replay", "--https_port=0", f"--https_cert_file={rsa[0]}",
                            f"--https_key_file={ecdsa[1]}", self.archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot be used", done.stderr)

    def test_the_roots_in_its_folder_are_the_default(self):
        ecdsa = make_root(self.folder, "ecdsa", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        wpr = self.replay()
        self.assertEqual(chain_hashes(wpr, "b.test"), [spki_hash(ecdsa[0].read_bytes())] * 2)
        self.assertNotIn("authority of reprise", wpr.text())

    def test_a_busy_port_is_named_and_ends_it(self):
        with socket.create_server(("127.0.0.1", 0)) as busy:
            port = busy.getsockname()[1]
            done = self.run_wpr("replay", f"--http_port={port}", self.archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"Failed to start server on http://127.0.0.1:{port}".encode(), done.stdout)

    def test_only_its_own_address_must_be_free(self):
        with socket.create_server(("127.0.0.2", 0)) as other:
            port = other.getsockname()[1]
            wpr = self.wpr("replay", f"--http_port={port}", self.archive, servers=1)
            self.assertEqual((wpr.host, wpr.ports["http"]), ("127.0.0.1", port))

    def test_a_client_without_the_roots_is_told_of_them(self):
        root = make_root(self.folder, "wpr", "rsa:2048")
        wpr = self.replay(f"--https_cert_file={root[0]}", f"--https_key_file={root[1]}")
        with self.assertRaises(ssl.SSLCertVerificationError):
            wpr.connect("https", "b.test", ssl.create_default_context())
        self.until(lambda: "wpr installroot" in wpr.text())
        self.assertEqual(wpr.signal(signal.SIGTERM), 0)
        self.assertNotIn("reprise ca", wpr.text())

    def test_errors_exit_with_1(self):
        bad = self.folder / "bad.wprgo"
        bad.write_bytes(self.archive.read_bytes()[:-20])
        for words in (["replay", "--http_port=0", self.folder / "missing.wprgo"],
                      ["replay", "--http_port=0", bad],
                      ["replay", "--http_port=0", "--inject_scripts=missing.js", self.archive],
                      ["replay", self.archive], ["replay", "--no-such", self.archive], ["serve"]):
            done = self.run_wpr(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertTrue(done.stderr.startswith(b"reprise: "), done.stderr)

    def test_reprise_wpr_takes_the_same_words(self):
        done = harness.run("wpr", "replay", "--http_port=0", "--no-such", "A", folder=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"flag provided but not defined: --no-such", done.stderr)
        done = harness.run("wpr", "--help", folder=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"--https_cert_file", done.stdout)


if __name__ == "__main__":
    harness.main()
