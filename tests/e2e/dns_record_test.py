#!/usr/bin/env python3
"""Recording looks names up by itself: while the system's resolver points at the recording's own
stub, without a loop, and so that a replay can say again what DNS said.

Needs root or unprivileged user namespaces.
"""

import socket
import subprocess
import time

import dns_names
import dns_test
import harness
from wire import DEADLINE_SECONDS, response

import dns.message
import dns.query
import dns.rcode
import dns.rdatatype

NAME = "www.example.org"
LOST = "lost.example.org"
CLOCK_SECONDS = 0.01
ORIGIN = "127.0.0.5"  # where the listeners are not
RECORDS = f"""
{NAME}. 77 IN CNAME edge.example.net.
edge.example.net. 33 IN CNAME e1.example.com.
e1.example.com. 55 IN A {ORIGIN}
e1.example.com. 44 IN HTTPS 1 . alpn=h2,h3 ipv4hint={ORIGIN} ech=AAAA
"""


class Recording(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()

    def name_server(self, records, **options):
        server = dns_names.NameServer(records, **options)
        self.addCleanup(server.close)
        return server

    def record_by_name(self, origin, *arguments):
        """A recorder to which the system's resolver leads. It listens on the origin's port, at
        another address: clients need to know nothing but the name."""
        recorder = self.record(self.folder / "a.reprise", "--http", f"127.0.0.1:{origin.port}",
                               "--dns", f"127.0.0.1:{dns_names.NAMES_PORT}", *arguments)
        dns_names.use_resolver(self, "127.0.0.1")
        return recorder

    @staticmethod
    def curl(port, *arguments):
        done = subprocess.run(["curl", "-sS", "-w", " %{http_code} %{remote_ip}", *arguments,
                               f"http://{NAME}:{port}/"], capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS, check=True)
        body, code, address = done.stdout.rsplit(" ", 2)
        return body, int(code), address

    def test_resolves_while_the_system_points_at_its_stub(self):
        server = self.name_server(RECORDS)
        origin = self.origin(lambda _: response(b"from the origin"), address=ORIGIN)
        recorder = self.record_by_name(origin, "--dns-server", server.at)
        self.assertEqual(dns_names.getaddrinfo(NAME), [["127.0.0.1"]])
        self.assertEqual(self.curl(origin.port), ("from the origin", 200, "127.0.0.1"))
        self.assertEqual(recorder.stop(), 0, recorder.log())
        self.assertEqual(sorted(server.asked), [(NAME, kind) for kind in ("A", "AAAA", "HTTPS")])
        self.assert_sound(self.folder / "a.reprise")

    def test_without_another_server_it_says_what_to_do(self):
        origin = self.origin(lambda _: response(b"x"), address=ORIGIN)
        recorder = self.record_by_name(origin)
        body, code, _ = self.curl(origin.port)
        self.assertEqual(code, 502)
        self.assertIn("--dns-server", body)
        self.assertEqual(recorder.stop(), 0)
        self.assertIn(f"cannot look up {NAME}", recorder.log())
        self.assertEqual(origin.requests, [])

    def test_its_own_stub_is_not_asked_even_if_named(self):
        origin = self.origin(lambda _: response(b"x"), address=ORIGIN)
        self.record_by_name(origin, "--dns-server", f"127.0.0.1:{dns_names.NAMES_PORT}")
        self.assertEqual(self.curl(origin.port)[1], 502)

    def test_the_stub_of_another_process_can_be_the_server(self):
        hosts = self.folder / "hosts"
        hosts.write_text(f"{ORIGIN} {NAME}\n")
        server = dns_test.StubProcess(self.folder, str(hosts))
        self.addCleanup(server.kill)
        origin = self.origin(lambda _: response(b"from the origin"), address=ORIGIN)
        self.record_by_name(origin, "--dns-server", server.ready["dns"])
        self.assertEqual(self.curl(origin.port)[0], "from the origin")

    def test_what_is_no_server_is_refused(self):
        for text in ("example.org", "192.0.2.1:", "192.0.2.1:70000", "[2001:db8::1", ""):
            done = harness.run("record", "-o", str(self.folder / "b.reprise"), "--dns-server", text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("--dns-server", done.stderr.decode())

    def test_a_dead_name_holds_nobody_up(self):
        server = self.name_server(RECORDS)
        origin = self.origin(lambda _: response(b"alive"), address=ORIGIN)
        recorder = self.record_by_name(origin, "--dns-server", server.at)
        server.silent_about("dead.example.")
        with recorder.connect("http") as dead:
            dead.send(b"GET / HTTP/1.1\r\nHost: dead.example\r\n\r\n")
            server.wait_for("dead.example")
            self.assertEqual(self.curl(origin.port)[0], "alive")

    def test_a_replay_says_again_what_dns_said(self):
        server = self.name_server(RECORDS)
        origin = self.origin(lambda _: response(b"x"), address=ORIGIN)
        recorder = self.record_by_name(origin, "--dns-server", server.at)
        self.curl(origin.port)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.folder / "a.reprise", "--dns-chains")
        host, port = replay.address("dns")

        def ask(kind):
            query = dns.message.make_query(NAME, kind)
            reply = dns.query.udp(query, host, port=port, timeout=DEADLINE_SECONDS)
            self.assertEqual(reply.rcode(), dns.rcode.NOERROR)
            return [line for rrset in reply.answer for line in rrset.to_text().splitlines()]
        chain = [f"{NAME}. 33 IN CNAME edge.example.net.",
                 "edge.example.net. 33 IN CNAME e1.example.com."]
        self.assertEqual(ask("A"), [*chain, "e1.example.com. 33 IN A 127.18.0.1"])
        self.assertEqual(ask("AAAA"), chain)
        # ECH cannot be honoured, and the hint is the stand-in's.
        self.assertEqual(ask("HTTPS"), [*chain, "e1.example.com. 33 IN HTTPS 1 . alpn=\"h2,h3\" "
                                                "ipv4hint=\"127.18.0.1\""])

    def test_a_replay_takes_as_long_for_each_type_and_for_names_that_fail(self):
        # The second look-up begins after the first query for HTTPS was sent, and takes longer.
        https_seconds, lost_seconds = 0.4, 0.8
        server = self.name_server(RECORDS, delays={(NAME, "HTTPS"): https_seconds,
                                                   LOST: lost_seconds})
        origin = self.origin(lambda _: response(b"x"), address=ORIGIN)
        recorder = self.record_by_name(origin, "--dns-server", server.at)
        self.curl(origin.port)
        with recorder.connect("http") as client:
            client.send(f"GET / HTTP/1.1\r\nHost: {LOST}\r\n\r\n".encode())
            self.assertEqual(client.read_head().status, 502)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        replay = self.replay(self.folder / "a.reprise", "--dns-time", "recorded")
        host, port = replay.address("dns")
        start = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(DEADLINE_SECONDS)
            for kind in ("HTTPS", "A"):
                client.sendto(dns.message.make_query(NAME, kind).to_wire(), (host, int(port)))
            answers = [dns.message.from_wire(client.recv(4096)) for _ in range(2)]
        self.assertGreaterEqual(time.monotonic() - start, https_seconds - CLOCK_SECONDS)
        kinds = [dns.rdatatype.to_text(each.question[0].rdtype) for each in answers]
        self.assertEqual(kinds, ["A", "HTTPS"])
        start = time.monotonic()
        reply = dns.query.udp(dns.message.make_query(LOST, "A"), host, port=port,
                              timeout=DEADLINE_SECONDS)
        self.assertGreaterEqual(time.monotonic() - start, lost_seconds - CLOCK_SECONDS)
        self.assertEqual(reply.rcode(), dns.rcode.NXDOMAIN)


if __name__ == "__main__":
    harness.main_in_namespace("-nm")
