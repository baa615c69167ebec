#!/usr/bin/env python3
"""HTTP/3 from a replay: to Debian's gtlsclient byte for byte, and to browsers, which load all of a
page over it; on loopback and behind a packet link."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

import harness
import load
from wire import DEADLINE_SECONDS, Certificate, response

CLIENT = shutil.which("gtlsclient")
BROWSER = shutil.which(harness.BROWSER)
HOSTS = ("one.test", "two.test")
LOCAL = "localhost"  # gtlsclient resolves the name itself, and sends it
OBJECTS = 40
NOT_PERMITTED = 4
PAGE = b"".join([
    b"<!doctype html><title>x</title><link rel=icon href=data:,>",
    *(b"<img src=/image/%d>" % number for number in range(30)),
    *(b"<script src=https://two.test/script/%d></script>" % number for number in range(5)),
    b"<script>fetch('/data', {method: 'POST', body: 'x'})</script>",
])


def answer(request):
    if request.target.startswith("/object/"):
        return load.answer(request)
    if request.target.startswith("/image/"):
        return response(b"GIF89a" + bytes(20_000), headers=b"Content-Type: image/gif\r\n")
    if request.target.startswith("/script/"):
        return response(b"1;" * 5000, headers=b"Content-Type: text/javascript\r\n")
    if request.target == "/data":
        return response(b"answer", headers=b"Content-Type: text/plain\r\n")
    return response(PAGE, headers=b"Content-Type: text/html\r\n")


class H3(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"

    def recorded(self, *targets, fields=b""):
        """Records objects of LOCAL; or the page of HOSTS[0], with the scripts of HOSTS[1]."""
        host = HOSTS[0] if "/" in targets else LOCAL
        tls = Certificate(self.folder / "tls", (*HOSTS, LOCAL))
        origin = self.origin(lambda request: answer(request).replace(
            b"\r\n", b"\r\n" + fields, 1), names=(*HOSTS, LOCAL), tls=tls)
        recorder = self.record(self.archive, origins=[origin])
        with recorder.connect("https", host) as client:
            for target in targets:
                self.assertEqual(client.get(target, host).status, 200, target)
        if host == HOSTS[0]:
            with recorder.connect("https", HOSTS[0]) as client:
                client.send(b"POST /data HTTP/1.1\r\nHost: one.test\r\nContent-Type: "
                            b"text/plain;charset=UTF-8\r\nContent-Length: 1\r\n\r\nx")
                self.assertEqual(client.read_response("POST").status, 200)
            with recorder.connect("https", HOSTS[1]) as client:
                for number in range(5):
                    client.get(f"/script/{number}", HOSTS[1])
        self.assertEqual(recorder.stop(), 0, recorder.log())
        origin.close()

    def fetch(self, port, targets, *arguments, address=LOCAL):
        """What gtlsclient saved, by the last part of the target."""
        saved = self.folder / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        saved.mkdir()
        done = subprocess.run(
            [CLIENT, "-q", "--exit-on-all-streams-close", "--disable-early-data", "--download",
             saved, *arguments, address, str(port),
             *(f"https://{LOCAL}{target}" for target in targets)],
            capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return {path.name: path.read_bytes() for path in saved.iterdir()}

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_gtlsclient_gets_every_object_byte_for_byte(self):
        targets = [f"/object/{number}" for number in range(OBJECTS)]
        self.recorded(*targets)
        replay = self.replay(self.archive, "--protocol", "h3")
        _, port = replay.address("https")
        saved = self.fetch(port, targets)
        self.assertEqual(saved, {str(number): load.body_of(number) for number in range(OBJECTS)})
        # The same port answers over TCP.
        with replay.connect("https", LOCAL) as client:
            self.assertEqual(client.get("/object/7", LOCAL).body, load.body_of(7))
        self.assertEqual(replay.stop(), 0, replay.log())

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_it_is_served_over_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("there is no IPv6 here")
        self.recorded("/object/1")
        replay = self.replay(self.archive, "--protocol", "h3", "--https", "[::1]:0")
        port = replay.ready["https"].rsplit(":", 1)[1]
        saved = self.fetch(port, ["/object/1"], "--sni", LOCAL, address="::1")
        self.assertEqual(saved, {"1": load.body_of(1)})
        self.assertEqual(replay.stop(), 0, replay.log())

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_threads_share_the_port(self):
        targets = [f"/object/{number}" for number in range(10)]
        self.recorded(*targets)
        replay = self.replay(self.archive, "--protocol", "h3", "--threads", "4")
        _, port = replay.address("https")
        for _ in range(8):
            saved = self.fetch(port, targets)
            self.assertEqual(saved, {str(number): load.body_of(number) for number in range(10)})
        self.assertEqual(replay.stop(), 0, replay.log())

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_a_session_is_resumed(self):
        self.recorded("/object/1")
        replay = self.replay(self.archive, "--protocol", "h3")
        _, port = replay.address("https")
        ticket = self.folder / "ticket"
        whole = self.handshake_bytes(port, ticket)
        self.assertTrue(ticket.exists())
        resumed = self.handshake_bytes(port, ticket)
        # Without certificates and their signature.
        self.assertGreater(resumed, 0)
        self.assertLess(resumed, whole / 2)
        saved = self.fetch(port, ["/object/1"], f"--session-file={ticket}")
        self.assertEqual(saved, {"1": load.body_of(1)})
        self.assertEqual(replay.stop(), 0, replay.log())

    def handshake_bytes(self, port, ticket):
        """The bytes of TLS's encrypted messages before the server's Finished, with that, as the log
        of gtlsclient has them."""
        done = subprocess.run(
            [CLIENT, "--exit-on-all-streams-close", "--disable-early-data", "--no-quic-dump",
             "--no-http-dump", f"--session-file={ticket}", LOCAL, str(port),
             f"https://{LOCAL}/object/1"],
            capture_output=True, timeout=DEADLINE_SECONDS)
        log = (done.stdout + done.stderr).decode(errors="replace")
        self.assertEqual(done.returncode, 0, log[-2000:])
        pieces = dict(re.findall(r" frm rx \d+ Handshake CRYPTO\(0x06\) offset=(\d+) len=(\d+)",
                                 log))
        return sum(int(size) for size in pieces.values())

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_think_time_passes_before_an_answer(self):
        self.recorded("/object/1")
        replay = self.replay(self.archive, "--protocol", "h3", "--think-time", "300")
        _, port = replay.address("https")
        before = time.monotonic()
        self.assertEqual(self.fetch(port, ["/object/1"]),
                         {"1": load.body_of(1)})
        self.assertGreaterEqual(time.monotonic() - before, 0.3)
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_it_is_served_only_when_asked_for(self):
        self.recorded("/object/1")
        replay = self.replay(self.archive)
        self.assertIn("--disable-quic", replay.ready["chromium_flags"])
        _, port = replay.address("https")
        bound = pathlib.Path("/proc/net/udp").read_text(encoding="ascii")
        self.assertNotIn(f":{port:04X} ", bound)
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_a_modelled_link_has_no_quic(self):
        self.recorded("/object/1")
        done = harness.run("replay", str(self.archive), "--protocol", "h3", "--link", "wpt:4g",
                           "--shaper", "stream", folder=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"needs a packet link", done.stderr)

    @unittest.skipUnless(CLIENT, "there is no gtlsclient")
    def test_a_host_that_offered_it_is_known_to_serve_it(self):
        self.recorded("/object/1", fields=b"Alt-Svc: h3=\":443\"; ma=60\r\n")
        replay = self.replay(self.archive, "--protocol", "h3-known")
        self.assertIn("--origin-to-force-quic-on=localhost:443", replay.ready["chromium_flags"])
        _, port = replay.address("https")
        self.assertEqual(self.fetch(port, ["/object/1"]), {"1": load.body_of(1)})
        self.assertEqual(replay.stop(), 0, replay.log())

    def test_a_host_that_did_not_offer_it_does_not_serve_it(self):
        self.recorded("/object/1")
        replay = self.replay(self.archive, "--protocol", "h3-known")
        self.assertIn("--disable-quic", replay.ready["chromium_flags"])
        self.assertIn("no host of the recording offered HTTP/3", replay.log())
        self.assertEqual(replay.stop(), 0, replay.log())

    def loaded(self, *arguments):
        result = self.folder / "loads.json"
        done = harness.run("load", str(self.archive), "https://one.test/", "--browser", BROWSER,
                           "--inject", "none", "--runs", "1", "--settle", "0", "--timeout", "90",
                           "--protocol", "h3", "-o", str(result), *arguments, folder=self.folder,
                           timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        written = json.loads(result.read_text())
        self.assertEqual(written["replays"][0]["report"]["misses"], 0)
        (loaded,) = written["loads"]
        return loaded

    def assert_all_over_h3(self, loaded):
        asked = [each for each in loaded["requests"] if each["url"].startswith("https:")]
        self.assertEqual(len(asked), 37, [each["url"] for each in asked])
        self.assertEqual({each["protocol"] for each in asked}, {"h3"})

    @unittest.skipUnless(BROWSER, "there is no Chromium")
    def test_chromium_loads_everything_over_it(self):
        self.recorded("/", *(f"/image/{number}" for number in range(30)))
        self.assert_all_over_h3(self.loaded())

    @unittest.skipUnless(BROWSER, "there is no Chromium")
    def test_chromium_holds_no_image_back(self):
        """docs/protocols.md: it holds back all but ten on an origin of which it does not know that
        it takes priorities. Each answer waits, so requests before the first are those at once."""
        self.recorded("/", *(f"/image/{number}" for number in range(30)))
        loaded = self.loaded("--think-time", "12000")
        images = [each for each in loaded["requests"] if "/image/" in each["url"]]
        first_end = min(each["end_ms"] for each in images)
        at_once = [each for each in images if each["timing"]["send_start_ms"] < first_end]
        self.assertEqual(len(at_once), 30)

    @unittest.skipUnless(BROWSER, "there is no Chromium")
    def test_chromium_loads_everything_over_it_behind_a_link(self):
        self.recorded("/", *(f"/image/{number}" for number in range(30)))
        if not packet_link_is_permitted(self.folder):
            self.skipTest("packet links are not permitted here")
        loaded = self.loaded("--link", "9000/9000/100")
        self.assert_all_over_h3(loaded)
        # QUIC's handshake, then the request: two round trips at least.
        self.assertGreaterEqual(loaded["load_event_ms"], 200)
        result = json.loads((self.folder / "loads.json").read_text())
        transports = result["replays"][0]["report"]["link"]["transports"]
        self.assertEqual(transports["h3"], {"congestion": "cubic", "initial_window_bytes": 12_000,
                                            "paced": True})
        for protocol in ("h1", "h2"):
            self.assertEqual(transports[protocol], {
                "congestion": "cubic", "initial_window_bytes": 14_480, "paced": False})


def packet_link_is_permitted(folder):
    done = harness.run("shape", "--link", "9000/9000/1", "--no-selfcheck", "--", "true",
                       folder=folder)
    assert done.returncode in (0, NOT_PERMITTED), done.stderr.decode()
    return done.returncode == 0


if __name__ == "__main__":
    if not CLIENT and not BROWSER:
        print("skipped: gtlsclient or Chromium is needed")
        sys.exit(harness.SKIPPED)
    harness.main()
