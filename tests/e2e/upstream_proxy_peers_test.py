#!/usr/bin/env python3
"""A recorder behind Debian's tinyproxy, with a password: HTTP, HTTPS and WebSocket. In a network
namespace, where the origin has an address that is not loopback; skipped without tinyproxy."""

import shutil
import socket
import subprocess
import sys

import harness
from upstream_proxy_test import echo
from web_socket_wire import CLOSE, TEXT, H1WebSocket
from wire import DEADLINE_SECONDS, Certificate, response

TINYPROXY = shutil.which("tinyproxy")
ADDRESS = "198.18.0.1"
USER, PASSWORD = "jane", "s3cret"


class UpstreamProxyPeers(harness.TestCase):
    def setUp(self):
        super().setUp()
        for command in (("link", "set", "lo", "up"), ("addr", "replace", ADDRESS, "dev", "lo")):
            subprocess.run(["ip", *command], check=True)
        tls = Certificate(self.folder / "tls")
        for port, each in ((80, None), (443, tls)):
            self.origin(lambda request: response(b"got " + request.target.encode()), tls=each,
                        before_body=echo, address=ADDRESS, port=port)
        self.archive = self.folder / "a.reprise"

    def tinyproxy(self):
        """Starts it; returns its address once it accepts."""
        [port] = harness.free_ports(harness.LOOPBACK)
        file = self.folder / "tinyproxy.conf"
        file.write_text(f"Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\n"
                        f"LogFile \"{self.folder}/tinyproxy.log\"\nLogLevel Info\n"
                        f"BasicAuth {USER} {PASSWORD}\nConnectPort 443\nConnectPort 80\n")
        process = subprocess.Popen([TINYPROXY, "-d", "-c", str(file)], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        for _ in harness.watch_folder(self.folder, process.pid, harness.MODIFIED):
            try:
                socket.create_connection(("127.0.0.1", port), DEADLINE_SECONDS).close()
                return f"127.0.0.1:{port}"
            except ConnectionRefusedError:
                self.assertIsNone(process.poll(), "tinyproxy ended")
        raise AssertionError("tinyproxy does not accept")

    def test_a_recording_through_tinyproxy(self):
        proxy = f"http://{USER}:{PASSWORD}@{self.tinyproxy()}"
        recorder = self.start("record", "-o", str(self.archive), "--insecure-origin",
                              "--upstream-proxy", proxy)
        with recorder.connect("http") as client:
            self.assertEqual(client.get("/a", ADDRESS).body, b"got /a", recorder.log())
        with recorder.connect("connect", ADDRESS) as client:
            self.assertEqual(client.get("/b", ADDRESS).body, b"got /b", recorder.log())
        for listener in ("http", "connect"):
            with recorder.connect(listener, ADDRESS) as client:
                chat = H1WebSocket(client, ADDRESS, "/socket")
                self.assertEqual(chat.head.status, 101, recorder.log())
                chat.send(TEXT, b"hello")
                self.assertEqual(chat.message(), (TEXT, b"hello"))
                chat.send(CLOSE, b"\x03\xe8")
                self.assertEqual(chat.message()[0], CLOSE)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        log = (self.folder / "tinyproxy.log").read_text()
        self.assertIn(f"GET http://{ADDRESS}/a", log)
        self.assertIn(f"CONNECT {ADDRESS}:443", log)
        self.assertIn(f"CONNECT {ADDRESS}:80", log)
        for text in (self.archive.read_bytes(), recorder.log().encode()):
            self.assertNotIn(PASSWORD.encode(), text)
        self.assert_sound(self.archive)

    def test_a_missing_password_is_explained(self):
        # A wrong one gets 401 from tinyproxy, as if from the origin.
        recorder = self.start("record", "-o", str(self.archive), "--upstream-proxy",
                              self.tinyproxy())
        with recorder.connect("http") as client:
            got = client.get("/a", ADDRESS)
        self.assertEqual(got.status, 502)
        self.assertIn(b"needs a user and a password", got.body)
        self.assertEqual(recorder.stop(), 0)


if __name__ == "__main__":
    if TINYPROXY is None:
        print("skipped: tinyproxy is not installed")
        sys.exit(harness.SKIPPED)
    harness.main_in_namespace("--net")
