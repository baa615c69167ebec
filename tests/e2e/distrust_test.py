#!/usr/bin/env python3
"""A client that does not trust the proxy's authority ends its handshake without a request: that is
counted by its alert, and said once with the remedy, for record and replay."""

import json
import socket
import ssl
import subprocess
import urllib.request

import harness
from wire import HOST, Certificate, response


class Distrust(harness.TestCase):
    def started(self, mode):
        archive = self.folder / "a.reprise"
        self.report = self.folder / "report.json"
        origin = self.origin(lambda _: response(b"hello"), tls=Certificate(self.folder / "tls"))
        recorder = self.record(archive, "--admin", "127.0.0.1:0", origins=(origin,))
        if mode == "record":
            return recorder
        with recorder.connect("https") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        return self.replay(archive, "--admin", "127.0.0.1:0", "--report", str(self.report))

    def curl(self, proxy, *arguments):
        return subprocess.run(["curl", "--silent", "--connect-to", "::" + proxy.ready["https"],
                               *arguments, f"https://{HOST}/"], capture_output=True, check=False,
                              timeout=harness.DEADLINE_SECONDS).returncode

    def python_refuses(self, proxy):
        with socket.create_connection(proxy.address("https"), harness.DEADLINE_SECONDS) as sock:
            with self.assertRaises(ssl.SSLCertVerificationError):
                ssl.create_default_context().wrap_socket(sock, server_hostname=HOST)

    def close_inside(self, proxy):
        """Sends a ClientHello and goes away with the first byte of the answer."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=HOST)
        with self.assertRaises(ssl.SSLWantReadError):
            client.do_handshake()
        with socket.create_connection(proxy.address("https"), harness.DEADLINE_SECONDS) as sock:
            sock.sendall(outgoing.read())
            sock.recv(1)

    def failed(self, proxy, wanted):
        """What the status says, once it has counted `wanted` handshakes."""
        for _ in range(harness.DEADLINE_SECONDS * 100):
            with urllib.request.urlopen(f"http://{proxy.ready['admin']}/status") as answered:
                counts = json.load(answered)["tls_handshakes_failed"]
            if sum(counts["alerts"].values()) + counts["closed"] + counts["other"] >= wanted:
                break
        return counts

    def check(self, mode):
        proxy = self.started(mode)
        self.assertEqual(self.curl(proxy, "--cacert", proxy.ca_file), 0)
        self.assertEqual(self.curl(proxy), 60)
        self.python_refuses(proxy)
        self.assertEqual(self.curl(proxy, "--cacert", proxy.ca_file), 0)
        self.close_inside(proxy)
        expected = {"alerts": {"unknown_ca": 2}, "closed": 1, "malformed": 0, "other": 0}
        self.assertEqual(self.failed(proxy, 3), expected)
        self.assertEqual(proxy.stop(), 0, proxy.log())
        log = proxy.log()
        self.assertEqual(log.count("refused the certificate"), 1, log)
        for remedy in ("reprise ca install", "reprise ca path", "{chromium-flags}", HOST):
            self.assertIn(remedy, log)
        self.assertIn("2 by the client's alert unknown_ca, 1 closed by the client", log)
        return expected

    def test_record_says_so(self):
        self.check("record")

    def test_replay_says_so_in_its_report_too(self):
        expected = self.check("replay")
        self.assertEqual(json.loads(self.report.read_text())["tls_handshakes_failed"], expected)

    def test_connections_that_were_only_dropped_are_no_failures(self):
        proxy = self.started("replay")
        self.assertEqual(self.curl(proxy, "--cacert", proxy.ca_file), 0)
        self.close_inside(proxy)
        self.failed(proxy, 1)
        self.assertEqual(proxy.stop(), 0, proxy.log())
        self.assertIn("did not finish: 1 (usual for browsers", proxy.log())
        self.assertNotIn("failed", proxy.log())

    def test_nothing_is_said_where_all_is_well(self):
        proxy = self.started("replay")
        self.assertEqual(self.curl(proxy, "--cacert", proxy.ca_file), 0)
        # It does not have the recorded version, TLS 1.3.
        self.assertEqual(self.curl(proxy, "--cacert", proxy.ca_file, "--tls-max", "1.2"), 0)
        self.assertEqual(proxy.stop(), 0, proxy.log())
        self.assertNotIn("handshake", proxy.log())
        self.assertEqual(json.loads(self.report.read_text())["tls_handshakes_failed"],
                         {"alerts": {}, "closed": 0, "malformed": 0, "other": 0})


if __name__ == "__main__":
    harness.main()
