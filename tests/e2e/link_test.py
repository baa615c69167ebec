#!/usr/bin/env python3
"""`record` and `replay --link`: the command behind an emulated link, the proxy on its other side.
An unmodified client finds every recorded address there, and needs nothing but to trust the CA.
Times have lower bounds alone: what a link must cost at least."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import unittest

import harness
from wire import Certificate, response

HOSTS = {"one.test": "127.0.0.2", "two.test": "127.0.0.3", "three.test": "127.0.0.2"}
RTT_MS = 120
TRIES_MAX = 4
LINK = f"20mbit/20mbit/{RTT_MS}"
BODY = bytes(range(256)) * 600
ADDRESSES = 90  # of one name, in the answer of 16 bytes each
NODE = shutil.which("node")
DIG = shutil.which("dig")
KDIG = shutil.which("kdig")
FIREFOX = shutil.which("firefox-esr")
BROWSER = shutil.which(harness.BROWSER)

FETCH = """
(async () => {
  for (const url of process.argv.slice(1)) {
    const got = await fetch(url);
    console.log(got.status, (await got.arrayBuffer()).byteLength);
  }
})();
"""


def site(request):
    if request.target == "/page":
        images = "".join(f"<img src='https://{host}/i'>" for host in HOSTS)
        return response(f"<!doctype html><title>t</title><link rel=icon href=data:,>{images}"
                        .encode(), headers=b"Content-Type: text/html\r\n")
    if request.target == "/echo":
        return response(hashlib.sha256(request.body).hexdigest().encode())
    return response(BODY)


class Linked(harness.TestCase):
    """Three hosts at two addresses, recorded with and without a link."""

    @classmethod
    def setUpClass(cls):
        done = harness.run("shape", "--link", "none", "--no-selfcheck", "--", "true")
        if done.returncode == 4:
            raise unittest.SkipTest(done.stderr.decode())

    def setUp(self):
        super().setUp()
        self.tls = tls = Certificate(self.folder / "tls", tuple(HOSTS))
        self.origins = [self.origin(site, names=(host,), tls=tls, address=address)
                        for host, address in HOSTS.items()]
        self.archive = self.folder / "a.reprise"
        self.ca = self.folder / "data/reprise/ca/ca.pem"

    def serving(self, mode, *arguments, command, **options):
        """Runs `reprise MODE ... -- COMMAND` to its end. A cold CA is made first."""
        if not self.ca.exists():
            self.assertEqual(harness.run("ca", "path", folder=self.folder).returncode, 0)
        env = {**harness.environment(self.folder), "CURL_CA_BUNDLE": str(self.ca),
               "NODE_EXTRA_CA_CERTS": str(self.ca)}
        return subprocess.run([harness.REPRISE, mode, *arguments, "--", *command], env=env,
                              capture_output=True, text=True, timeout=90, check=False,
                              stdin=subprocess.DEVNULL, **options)

    def record_behind(self, link):
        connects = [part for origin in self.origins for part in origin.connect_to()]
        connects += ["--origin-ca", str(self.tls.ca_file)]
        urls = [f"https://{host}/i" for host in HOSTS] + ["https://one.test/page"]
        done = self.serving("record", "-o", str(self.archive), *connects, "--link", link,
                            command=["curl", "-sS", "--fail",
                                     *(part for url in urls for part in ("-o", os.devnull, url))])
        self.assertEqual(done.returncode, 0, done.stderr)
        for origin in self.origins:
            origin.close()

    def timed_curl(self, *arguments, command=()):
        """The three images over a link, by one curl each. Prints status, size, address, times."""
        script = "".join(
            f"curl -sS -o /dev/null -w '%{{http_code}} %{{size_download}} %{{remote_ip}} "
            f"%{{time_namelookup}} %{{time_connect}} %{{time_starttransfer}}\\n' "
            f"https://{host}/i || exit 9\n" for host in HOSTS)
        return self.serving("replay", *arguments, "--link", LINK, str(self.archive),
                            command=["sh", "-c", script + " ".join(command)])

    def test_what_was_recorded_behind_a_link_is_replayed_behind_one(self):
        self.record_behind(LINK)
        self.assertEqual(sum(len(origin.requests) for origin in self.origins), 4)
        report = self.folder / "report.json"
        for _ in range(TRIES_MAX):
            done = self.timed_curl("--report", str(report), "--strict", "--dns-any")
            if done.stdout:
                break  # otherwise the machine was too busy for the self-check
        self.assertIn(done.returncode, (0, 5), done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[:2] for line in lines], [["200", str(len(BODY))]] * 3, done.stderr)
        for line in lines:
            lookup, connect, first_byte = (1000 * float(text) for text in line[3:])
            self.assertGreaterEqual(lookup, RTT_MS)
            self.assertGreaterEqual(connect, 2 * RTT_MS)
            self.assertGreaterEqual(first_byte, 4 * RTT_MS)  # TLS 1.3, then the request
        addresses = [line[2] for line in lines]
        self.assertEqual(addresses, ["198.18.0.1", "198.18.0.2", "198.18.0.1"])
        written = json.loads(report.read_text())
        self.assertEqual((written["hits"], written["misses"]), (3, 0))
        self.assertEqual(written["link"]["shaper"], "packet")
        self.assertFalse(written["link"]["approximate"])
        self.assertGreaterEqual(written["link"]["self_check"]["rtt_ms"], RTT_MS)
        self.assertGreaterEqual(written["dns"]["queries"], 3)
        # A busy machine may be why the link missed its settings, and the only reason.
        is_late = "this machine is too busy" in done.stderr
        self.assertEqual(done.returncode, 5 if is_late or written["link"]["doubts"] else 0,
                         done.stderr)

    def test_one_address_for_all_when_asked_for(self):
        self.record_behind("none")
        done = self.timed_curl("--topology", "single", "--no-selfcheck")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({line.split()[2] for line in done.stdout.splitlines()}, {"198.18.0.1"})

    def test_each_origin_keeps_its_distance_when_asked_for(self):
        # The recorder itself is behind a link, so that connecting takes it a round trip.
        origin = self.origin(site, names=("one.test",), tls=self.tls)
        recording = [harness.REPRISE, "record", "-o", str(self.archive), "--origin-ca",
                     str(self.tls.ca_file), "--connect-to",
                     f"one.test:443:192.0.2.1:{origin.port}", "--ready-file", "ready", "--",
                     "sh", "-c",
                     "curl -sSf -o /dev/null --connect-to ::$(sed 's/.*https\":\"//;s/\".*//' "
                     "ready) https://one.test/i"]
        done = self.serving("shape", "--link", f"none,rtt={RTT_MS}", "--no-selfcheck",
                            command=recording, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.folder / "report.json"
        script = ("curl -sS -o /dev/null -w '%{time_namelookup} %{time_connect}' "
                  "https://one.test/i")
        for distance in ("recorded", "none"):
            done = self.serving("replay", "--link", "none", "--no-selfcheck", "--origin-rtt",
                                distance, "--report", str(report), str(self.archive),
                                command=["sh", "-c", script])
            self.assertEqual(done.returncode, 0, done.stderr)
            lookup, connect = (1000 * float(text) for text in done.stdout.split())
            told = json.loads(report.read_text())["link"]["origin_rtt_ms"]
            self.assertEqual(list(told), ["198.18.0.1"] if distance == "recorded" else [])
            if distance == "recorded":
                self.assertGreaterEqual(told["198.18.0.1"], RTT_MS)
                self.assertGreaterEqual(connect - lookup, told["198.18.0.1"])

    def test_ports_and_names_that_were_not_recorded(self):
        self.record_behind("none")
        script = ("curl -sS -o /dev/null https://four.test/; echo $?;"
                  "curl -sS -o /dev/null -w '%{http_code}\\n' https://one.test:8443/i")
        done = self.serving("replay", "--link", "none", "--no-selfcheck", str(self.archive),
                            command=["sh", "-c", script])
        self.assertEqual(done.stdout.split(), ["6", "404"], done.stderr)  # cannot resolve; a miss
        self.assertIn("names: ", done.stderr)

    def test_nothing_is_left_when_a_replay_is_killed(self):
        self.record_behind("none")
        started = self.folder / "started"
        os.mkfifo(started)
        process = subprocess.Popen(
            [harness.REPRISE, "replay", "--link", "none", "--no-selfcheck", str(self.archive), "--",
             "sh", "-c", f"echo $$ > {started}; exec cat"], stdin=subprocess.PIPE,
            env=harness.environment(self.folder), stderr=subprocess.DEVNULL)
        with open(started, encoding="ascii") as told:
            told.read()
        process.send_signal(signal.SIGKILL)
        process.wait()
        # The pipe's reader was the command: once it has gone, writing fails.
        with self.assertRaises(BrokenPipeError):
            for _ in range(1000):
                process.stdin.write(b"x" * 1000)
                process.stdin.flush()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass

    def test_a_wrong_link_is_a_usage_error(self):
        self.record_behind("none")
        for arguments in (["--link", "fast", str(self.archive), "--", "true"],
                          ["--link", "none", "--congestion", "vegas", str(self.archive), "--",
                           "true"]):
            done = harness.run("replay", *arguments, folder=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)

    @unittest.skipUnless(DIG, "no dig")
    def test_a_name_of_many_addresses_is_told_over_tcp(self):
        """More than UDP carries: a client sees that it was cut, and asks again over TCP."""
        tls = Certificate(self.folder / "many", ("many.test",))
        origin = self.origin(site, names=("many.test",), tls=tls, address="0.0.0.0")
        connects = [part for i in range(ADDRESSES)
                    for part in ("--connect-to", f"many.test:{2000 + i}:127.0.1.{i}:{origin.port}")]
        done = self.serving("record", "-o", str(self.archive), *connects, "--origin-ca",
                            str(tls.ca_file), "--link", "none", command=[
                                "curl", "-sS", "--fail", "-o", os.devnull, "--data-binary", "x",
                                f"https://many.test:[2000-{1999 + ADDRESSES}]/echo"])
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.folder / "report.json"
        script = "".join(f"date +%s%N; {ask} many.test A || exit 9; " for ask in (
            "dig +noall +answer", "dig +tcp +noall +answer", f"{KDIG or 'dig'} +tcp +noall +answer"
        )) + "date +%s%N"
        done = self.serving("replay", "--link", LINK, "--no-selfcheck", "--report", str(report),
                            str(self.archive), command=["sh", "-c", script])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        times = [int(line) / 1e6 for line in lines if line.isdigit()]
        # Over UDP in vain, and then as the others do: to connect, and to ask.
        for begin, end, round_trips in zip(times, times[1:], (3, 2, 2)):
            self.assertGreaterEqual(end - begin, round_trips * RTT_MS)
        told = [line.split() for line in lines if line.startswith("many.test.")]
        self.assertEqual(sorted({line[4] for line in told}),
                         sorted(f"198.18.0.{1 + i}" for i in range(ADDRESSES)), done.stdout)
        self.assertEqual(len(told), 3 * ADDRESSES)
        asked = json.loads(report.read_text())["dns"]
        self.assertEqual((asked["by_type"]["A"], asked["truncated"]), (4, 1))

    @unittest.skipUnless(NODE, "no node")
    def test_node_needs_no_flags_but_the_ca(self):
        self.record_behind("none")
        done = self.serving("replay", "--link", LINK, "--no-selfcheck", str(self.archive),
                            command=["node", "-e", FETCH, *(f"https://{h}/i" for h in HOSTS)])
        self.assertEqual(done.stdout.splitlines(), [f"200 {len(BODY)}"] * 3, done.stderr)

    @unittest.skipUnless(FIREFOX, "no Firefox")
    def test_firefox_asks_the_resolver_for_all_it_wants_to_know(self):
        self.record_behind("none")
        self.assertEqual(harness.run("ca", "path", folder=self.folder).returncode, 0)
        profile, report = self.folder / "profile", self.folder / "report.json"
        profile.mkdir()
        (profile / "user.js").write_text('user_pref("network.trr.mode", 5);\n'
                                         'user_pref("datareporting.policy.dataSubmissionEnabled",'
                                         ' false);\n')
        for arguments in (["-N", "--empty-password"],
                          ["-A", "-n", "reprise", "-t", "C,,", "-i", str(self.ca)]):
            subprocess.run(["certutil", *arguments, "-d", f"sql:{profile}"], check=True)
        picture = self.folder / "page.png"
        done = self.serving("replay", "--link", LINK, "--no-selfcheck", "--report", str(report),
                            str(self.archive),
                            command=["env", f"HOME={self.folder}", FIREFOX, "--headless",
                                     "--no-remote", "--profile", str(profile), "--screenshot",
                                     str(picture), "https://one.test/page"])
        self.assertTrue(picture.exists(), done.stderr)
        written = json.loads(report.read_text())
        self.assertEqual((written["hits"], written["misses"]), (4, 0))
        self.assertGreaterEqual(written["dns"]["by_type"]["A"], len(HOSTS))
        self.assertGreaterEqual(written["dns"]["by_type"]["HTTPS"], len(HOSTS))

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_a_browser_loads_the_page_from_the_recorded_addresses(self):
        self.record_behind("none")
        result = self.folder / "loads.json"
        done = self.serving("replay", "--link", LINK, "--no-selfcheck", str(self.archive), command=[
            harness.REPRISE, "load", "--live", "--browser", BROWSER, "--quiet", "300", "--settle",
            "50", "-o", str(result), "https://one.test/page", "--", "{chromium-flags}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        (load,) = json.loads(result.read_text())["loads"]
        self.assertEqual({(each["url"], each["remote_address"]) for each in load["requests"]},
                         {("https://one.test/page", "198.18.0.1:443"),
                          ("https://one.test/i", "198.18.0.1:443"),
                          ("https://two.test/i", "198.18.0.2:443"),
                          ("https://three.test/i", "198.18.0.1:443")})
        self.assertGreaterEqual(load["load_event_ms"], 8 * RTT_MS)  # the page, then a new host


if __name__ == "__main__":
    harness.main()
