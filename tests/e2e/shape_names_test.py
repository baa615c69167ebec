#!/usr/bin/env python3
"""`reprise shape` leads the command's look-ups, over UDP and TCP, to the resolvers of this machine.

Needs root or unprivileged user namespaces.
"""

import shutil
import socket
import subprocess
import threading

import dns_names  # ends the test without dnspython
import dns_test
import harness
from wire import DEADLINE_SECONDS

import dns.message
import dns.rcode

MANY = [f"10.0.0.{i}" for i in range(1, 201)]  # more than UDP carries
RTT_MS = 100
CONNECT = """/usr/bin/python3 -c '
import socket, sys
socket.create_connection(("192.0.2.1", int(sys.argv[1]))).recv(1)' """
RESOLVER = "nameserver 192.0.2.1\noptions timeout:1 attempts:5\n"


def refuse_all(server):
    while True:
        query, client = server.recvfrom(4096)
        reply = dns.message.make_response(dns.message.from_wire(query))
        reply.set_rcode(dns.rcode.REFUSED)
        server.sendto(reply.to_wire(), client)


class ShapeNames(dns_test.Stub):
    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()

    def dig_behind_the_link(self, *arguments):
        """What it says, and the ms it took."""
        if not shutil.which("dig"):
            self.skipTest("dig is not installed")
        script = 'date +%s%N; dig "$@"; date +%s%N'
        done = subprocess.run(
            [harness.REPRISE, "shape", "--link", f"none,rtt={RTT_MS}ms", "--no-selfcheck", "--",
             "sh", "-c", script, "sh", "+noall", "+answer", *arguments], capture_output=True,
            text=True, timeout=DEADLINE_SECONDS, stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 4:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        begin, *lines, end = done.stdout.splitlines()
        return lines, (int(end) - int(begin)) / 1e6

    def test_names_are_answered_by_the_resolver_of_this_machine(self):
        hosts = self.hosts_file("192.0.2.7 one.example\n" +
                                "".join(f"{address} many.example\n" for address in MANY))
        self.stub("--listen", f"127.0.0.1:{dns_names.NAMES_PORT}", hosts)
        dns_names.use_resolver(self, "127.0.0.1")
        for arguments, addresses, round_trips in (
                (["one.example"], ["192.0.2.7"], 1), (["+tcp", "one.example"], ["192.0.2.7"], 2),
                (["many.example"], MANY, 3)):
            lines, took_ms = self.dig_behind_the_link(*arguments)
            self.assertEqual(sorted(line.split()[4] for line in lines if line[:1] not in ("", ";")),
                             sorted(addresses))
            self.assertGreaterEqual(took_ms, round_trips * RTT_MS)

    def test_the_next_resolver_is_asked_when_one_does_not_help(self):
        hosts = self.hosts_file("192.0.2.7 one.example\n")
        self.stub("--listen", f"127.0.0.1:{dns_names.NAMES_PORT}", hosts)
        for silent in ("127.0.0.6", "127.0.0.8"):
            self.bind(silent)
        refusing = self.bind("127.0.0.7")
        threading.Thread(target=refuse_all, args=(refusing,), daemon=True).start()
        for others in (["127.0.0.9"], ["127.0.0.9", "127.0.0.8"],
                       ["127.0.0.8", "127.0.0.6"], ["127.0.0.7"]):
            with self.subTest(others):
                first, *more = [*others, "127.0.0.1"]
                dns_names.use_resolver(self, first,
                                       "".join(f"nameserver {each}\n" for each in more))
                for arguments in (["one.example"], ["+tcp", "one.example"]):
                    lines, _ = self.dig_behind_the_link(*arguments)
                    self.assertEqual([line.split()[4] for line in lines
                                      if line[:1] not in ("", ";")], ["192.0.2.7"])

    def test_connections_to_the_address_of_a_resolver_do_not_make_it_the_first(self):
        if not shutil.which("dig"):
            self.skipTest("dig is not installed")
        for resolver, address in (("127.0.0.9", "192.0.2.7"), ("127.0.0.1", "192.0.2.8")):
            hosts = self.folder / address
            hosts.write_text(f"{address} one.example\n")
            self.stub("--listen", f"{resolver}:{dns_names.NAMES_PORT}", str(hosts))
        dns_names.use_resolver(self, "127.0.0.9", "nameserver 127.0.0.1\n")
        with socket.create_server(("127.0.0.1", 0)) as site:
            threading.Thread(target=lambda: site.accept()[0].close(), daemon=True).start()
            port = str(site.getsockname()[1])
            done = harness.run("shape", "--link", "none,rtt=1ms", "--no-selfcheck", "--ports", port,
                               "--", "sh", "-c", CONNECT + port + " && dig +short one.example")
        if done.returncode == 4:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.stdout, b"192.0.2.7\n", done.stderr.decode())

    def bind(self, address):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(server.close)
        server.bind((address, dns_names.NAMES_PORT))
        return server

    def test_a_lost_answer_costs_a_second(self):
        dns_names.use_resolver(self, "127.0.0.1")
        self.assertEqual(self.settings_behind_the_link(), RESOLVER)

    def test_short_names_stand_for_the_same_as_outside(self):
        lines = "domain example\nsearch one.example two.example\noptions ndots:2\n"
        dns_names.use_resolver(self, "127.0.0.1", "# a comment\n" + lines)
        self.assertEqual(self.settings_behind_the_link(), RESOLVER + lines)

    def settings_behind_the_link(self):
        done = harness.run("shape", "--link", "none,rtt=1ms", "--no-selfcheck", "--", "cat",
                           "/etc/resolv.conf")
        if done.returncode == 4:
            self.skipTest(done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()


if __name__ == "__main__":
    harness.main_in_namespace("-nm")
