#!/usr/bin/env python3
"""The callers of Web Page Replay, by their documented sequences: the words of their command lines,
what they wait for, how they probe, stop and kill."""

import os
import pathlib
import select
import signal
import socket
import subprocess

import harness
import wpr_case
from wire import DEADLINE_SECONDS
from wpr_case import chain_hashes, entry, make_root, read_wprgo, spki_hash, write_wprgo

PAGE = b"<!doctype html><html><head></head><body>page</body></html>"


def processor_seconds(pid):
    """Of the process and of its children that have ended: proc(5), fields 14 to 17."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    ticks = stat.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Callers(wpr_case.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "archive.wprgo"
        self.rsa = make_root(self.folder, "wpr", "rsa:2048")
        self.ecdsa = make_root(self.folder, "ecdsa", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.script = self.folder / "deterministic.js"
        self.script.write_text("var time_seed = {{WPR_TIME_SEED_TIMESTAMP}};")
        self.helper = self.folder / "automation_helper.js"
        self.helper.write_text("function help() { return '\u2713'; }")

    def site(self):
        origin = self.origin(
            lambda *_: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
            % (len(PAGE), PAGE))
        return f"http://localhost:{origin.port}/"

    def ended(self, process):
        """Waits for its end; returns the processor seconds that it took in all."""
        end = os.pidfd_open(process.pid)
        self.addCleanup(os.close, end)
        self.assertTrue(select.select([end], [], [], DEADLINE_SECONDS)[0], "it does not end")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def write_archive(self, url="https://site.test/"):
        write_wprgo(self.archive, [(url, entry(url, PAGE, version="2.0"))])
        return url

    def test_crossbench_records_clears_exits_and_kills(self):
        url = self.site()
        self.assertFalse(self.archive.exists())
        words = ["--http_port=0", "--https_port=0", f"--https_key_file={self.ecdsa[1]}",
                 f"--https_cert_file={self.ecdsa[0]}", f"--inject_scripts={self.script}"]
        wpr = self.wpr("record", *words, self.archive)
        self.assertNotEqual(wpr.host, "")
        self.assertEqual(wpr.command("web-page-replay-generate-200").status, 200)
        wpr.get(url + "early")
        self.assertEqual(wpr.command("web-page-replay-command-clear").status, 200)
        body = wpr.get(url).body
        before = processor_seconds(wpr.process.pid)
        wpr.command("web-page-replay-command-exit")
        # Crossbench kills it after a second, in which a busy machine may give it none.
        self.assertLess(self.ended(wpr.process) - before, 1)
        self.assertEqual(list(read_wprgo(self.archive)), [url])

        wpr = self.wpr("replay", *words, "--serve_response_in_chronological_sequence",
                       "--disable_fuzzy_url_matching", self.archive)
        self.assertEqual(wpr.get(url).body, body)
        wpr.command("web-page-replay-command-exit")
        self.assertEqual(wpr.wait(), 0)

    def test_browsertime_adds_up_the_exit_status_of_its_script(self):
        url = self.site()
        http, https = harness.free_ports(harness.LOOPBACK, harness.LOOPBACK)
        ports = f"--http_port {http} --https_port {https}"
        certificates = f"--https_cert_file {self.rsa[0]} --https_key_file {self.rsa[1]}"
        binary = wpr_case.wpr_binary(self.folder)
        script = self.folder / "start.sh"
        # Its jobs in the background start with SIGINT ignored, as in every shell script.
        script.write_text(f"""
            {binary} installroot {certificates} || exit 9
            run() {{
              {binary} "$1" {ports} {certificates} --inject_scripts {self.script} {self.archive} \\
                  > "$2" 2>&1 &
              pid=$!
              read -r _ < "$2.go"
              kill -2 $pid
              wait $pid
              result=$((result + $?))
            }}
            result=0
            run record record.log
            run replay replay.log
            exit $result
        """)
        logs = ("record.log", "replay.log")
        for log in logs:  # one each: the second run must not meet the end of the first one's word
            os.mkfifo(self.folder / f"{log}.go")
        shell = subprocess.Popen(["bash", str(script)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 env={**harness.environment(self.folder), "HOME": str(self.folder)})
        self.addCleanup(shell.kill)
        bodies = []
        for log in logs:
            (self.folder / log).touch()
            wpr = wpr_case.Wpr(self.folder, self.folder / log, shell)
            bodies.append(wpr.get(url).body)
            with open(self.folder / f"{log}.go", "w", encoding="ascii") as go:
                go.write("on\n")
        self.assertEqual(shell.wait(timeout=DEADLINE_SECONDS), 0)
        self.assertEqual(bodies[0], bodies[1])
        self.assertIn(b"var time_seed = ", bodies[0])

    def test_tast_takes_fixed_ports_and_a_death_by_sigint(self):
        url = self.write_archive()
        wpr, http, https = harness.at_free_ports(
            lambda http, https: self.wpr(
                "replay", f"--http_port={http}", f"--https_port={https}",
                f"--https_cert_file={self.rsa[0]}", f"--https_key_file={self.rsa[1]}",
                f"--inject_scripts={self.script}", self.archive),
            harness.LOOPBACK, harness.LOOPBACK)
        self.assertEqual(wpr.ports, {"http": http, "https": https})
        socket.create_connection(("localhost", http)).close()
        self.assertIn(b"var time_seed = 1523318400000;", wpr.get(url).body)
        self.assertIn(wpr.signal(signal.SIGINT), (0, -signal.SIGINT))

    def test_captured_sites_take_both_roots_and_two_scripts(self):
        url = self.write_archive()
        wpr = self.wpr("replay", f"--https_cert_file={self.rsa[0]},{self.ecdsa[0]}",
                       f"--https_key_file={self.rsa[1]},{self.ecdsa[1]}", "--http_port=0",
                       "--https_port=0", "--serve_response_in_chronological_sequence",
                       "--quiet_mode",
                       f"--inject_scripts={self.script},{self.helper}", self.archive)
        self.assertEqual(chain_hashes(wpr, "site.test"), [spki_hash(self.rsa[0].read_bytes())] * 2)
        body = wpr.get(url).body
        self.assertIn(b"<head><script>function help() { return '\\u2713'; }</script><script>var ",
                      body)
        self.assertEqual(wpr.signal(signal.SIGTERM), 0)

    def test_other_machines_of_a_lan_load_with_rules(self):
        url = self.write_archive("http://site.test/")
        rules = self.folder / "R.json"
        rules.write_text('[{"URLPattern": ".*", "ExtraHeaders": {"X-Served": ["yes"]}}]')
        wpr = self.wpr("replay", "--host=0.0.0.0", "--http_port=0", "--https_port=0",
                       "--inject_scripts=", f"--rules_file={rules}",
                       "--serve_response_in_chronological_sequence", self.archive)
        answer = wpr.get(url)
        self.assertEqual((answer.body, answer.all(b"x-served")), (PAGE, [b"yes"]))
        self.assertEqual(wpr.command("web-page-replay-reset-replay-chronology").status, 200)


if __name__ == "__main__":
    harness.main()
