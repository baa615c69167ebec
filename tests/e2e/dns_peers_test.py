#!/usr/bin/env python3
"""The stub answers nobody but this machine and emulated networks, unless --allow-remote is said.

Needs root or unprivileged user namespaces.
"""

import json
import socket
import subprocess

import dns_names
import dns_test
import harness
from wire import DEADLINE_SECONDS

import dns.message
import dns.query

FAR, NEAR = "203.0.113.9", "198.18.0.9"
NAME = "a.example"


class Peers(dns_test.Stub):
    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()
        for address in (FAR, NEAR):
            subprocess.run(["ip", "addr", "replace", f"{address}/32", "dev", "lo"], check=True)

    def ask_from(self, source, over=dns.query.udp):
        query = dns.message.make_query(NAME, "A")
        return self.data(over(query, self.at[0], port=self.at[1], source=source,
                              timeout=DEADLINE_SECONDS))

    def send_from(self, source):
        """One query, whose answer nobody waits for."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind((source, 0))
            sock.sendto(dns.message.make_query(NAME, "A").to_wire(), self.at)

    def test_near_ones_are_answered_and_no_others(self):
        report = self.folder / "report.json"
        stub = self.stub("--report", str(report), self.hosts_file(f"192.0.2.1 {NAME}\n"))
        self.send_from(FAR)
        # Datagrams are served as they come: when this one is answered, the first was passed over.
        self.assertEqual(self.ask_from("127.0.0.1"), ["192.0.2.1"])
        self.assertEqual(self.ask_from(NEAR), ["192.0.2.1"])
        self.assertEqual(self.ask_from(NEAR, dns.query.tcp), ["192.0.2.1"])
        with self.assertRaises((EOFError, ConnectionResetError, BrokenPipeError)):
            self.ask_from(FAR, dns.query.tcp)
        self.assertEqual(stub.stop(), 0)
        self.assertEqual(json.loads(report.read_text())["by_type"], {"A": 3})

    def test_all_are_answered_where_that_is_allowed(self):
        self.stub("--allow-remote", self.hosts_file(f"192.0.2.1 {NAME}\n"))
        self.assertEqual(self.ask_from(FAR), ["192.0.2.1"])
        self.assertEqual(self.ask_from(FAR, dns.query.tcp), ["192.0.2.1"])


if __name__ == "__main__":
    harness.main_in_namespace("--net")
