#!/usr/bin/env python3
"""The stub under queries of all forms, at length: it goes on answering and does not grow."""

import pathlib
import random
import re
import select
import socket
import struct

import dns_forms_test
import dns_test
import harness
from test_seed import TEST_SEED
from wire import DEADLINE_SECONDS

import dns.message
import dns.query

NAME = "www.example.org"
ROUNDS, A_ROUND = 300, 100  # datagrams, with an answer awaited after each round
GROWTH_MAX_BYTES = 4 << 20  # 140 bytes a datagram would be over it
STALLED_SECONDS = 0.5  # without reading
# As dns/server.h has them: connections, and what each may hold.
CONNECTIONS_MAX, HELD_MAX_BYTES = 128, (64 + 128) << 10


class Hostile(dns_test.Stub):
    def setUp(self):
        super().setUp()
        self.running = self.stub(self.hosts_file(f"192.0.2.1 {NAME}\n"))

    def memory_bytes(self):
        status = pathlib.Path(f"/proc/{self.running.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10

    def connect(self):
        return socket.create_connection(self.at, DEADLINE_SECONDS)

    def send_rounds(self, sock, dice, rounds):
        """Datagrams of all kinds; each round ends when the stub has answered an honest query."""
        for _ in range(rounds):
            for _ in range(A_ROUND):
                sock.send(dns_forms_test.malformed(dice) if dice.random() < 0.8
                          else dice.randbytes(dice.randrange(1, 1400)))
            honest = dns.message.make_query(NAME, "A")
            sock.send(honest.to_wire())
            while not self.answers(honest, sock.recv(65535)):
                pass

    @staticmethod
    def answers(query, wire):
        """Whether this is the answer to that very query; others have its id by chance."""
        if wire[:2] != struct.pack("!H", query.id) or wire[3] & 0xf:
            return False
        reply = dns.message.from_wire(wire)
        return reply.question == query.question and bool(reply.answer)

    @staticmethod
    def was_closed(sock):
        try:
            return sock.recv(1) == b""
        except ConnectionResetError:
            return True

    def test_datagrams_of_all_forms_leave_nothing_behind(self):
        dice = random.Random(TEST_SEED)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(DEADLINE_SECONDS)
            sock.connect(self.at)
            self.send_rounds(sock, dice, ROUNDS // 10)
            before = self.memory_bytes()
            self.send_rounds(sock, dice, ROUNDS)
        self.assertLess(self.memory_bytes() - before, GROWTH_MAX_BYTES)

    def test_connections_that_never_end_a_query_are_bounded(self):
        before = self.memory_bytes()
        # Each says that 64 KB follow, sends all but one byte of them, and stays.
        unfinished = struct.pack("!H", 65535) + bytes(65534)
        stalled = []
        for _ in range(2 * CONNECTIONS_MAX):
            stalled.append(self.connect())
            self.addCleanup(stalled[-1].close)
            stalled[-1].sendall(unfinished)
        self.assertEqual(self.data(self.ask(NAME, over=dns.query.tcp)), ["192.0.2.1"])
        self.assertLess(self.memory_bytes() - before, CONNECTIONS_MAX * HELD_MAX_BYTES)
        # Those that came first had to go.
        self.assertTrue(self.was_closed(stalled[0]))

    def test_a_client_that_reads_nothing_is_not_written_for_without_end(self):
        before = self.memory_bytes()
        query = dns.message.make_query(NAME, "A").to_wire()
        framed = struct.pack("!H", len(query)) + query
        with self.connect() as sock:
            sock.setblocking(False)
            sent = 0
            while select.select([], [sock], [], STALLED_SECONDS)[1]:
                sent += sock.send(framed * 1000)
                self.assertLess(sent, 1 << 28, "it reads on though nobody takes its answers")
        self.assertLess(self.memory_bytes() - before, GROWTH_MAX_BYTES)
        self.assertEqual(self.data(self.ask(NAME)), ["192.0.2.1"])


if __name__ == "__main__":
    harness.main()
