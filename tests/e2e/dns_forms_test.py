#!/usr/bin/env python3
"""The form of the stub's answers against unbound's, with the same names: response code, flags and
sections of some 700 generated queries, malformed ones included, one datagram each."""

import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

import dns_test
import harness
from test_seed import TEST_SEED
from wire import DEADLINE_SECONDS

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode

QUERIES = 500
MALFORMED = 200
ANSWER_SECONDS = 3
LAST_ANSWER_SECONDS = 20  # where answers differ
ASK_AGAIN_SECONDS = 0.05  # of a port that refuses
TRIES = 2
PORTS = 5
RA = 0x80
UNREAD = (dns.rcode.FORMERR, dns.rcode.NOTIMP)
NAMES = {"www.example.org": "127.18.0.1", "cdn.example.net": "127.18.0.2",
         "xn--p1ai": "127.18.0.3", "_a.b.c.example.org": "127.18.0.4"}
CONFIG = """
server:
  interface: 127.0.0.1
  port: {port}
  access-control: 127.0.0.0/8 allow
  chroot: ""
  username: ""
  pidfile: ""
  logfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  edns-buffer-size: 1232
  hide-version: yes
  module-config: "iterator"
  local-zone: "." static
  local-data: ". 60 IN SOA reprise.invalid. nobody.invalid. 1 3600 600 86400 60"
  local-zone: "localhost." nodefault
  local-data: "localhost. 60 IN A 127.0.0.1"
  local-data: "localhost. 60 IN AAAA ::1"
"""


class Unbound:
    """A reference that knows the same names."""

    def __init__(self, folder):
        self.config = folder / "unbound.conf"
        # Another program can take the port before unbound does.
        if not any(self._started() for _ in range(PORTS)):
            raise AssertionError(f"unbound did not start on any of {PORTS} ports")

    def _started(self):
        [self.port] = harness.free_ports(harness.LOOPBACK)
        data = "".join(f'  local-data: "{name}. 60 IN A {at}"\n' for name, at in NAMES.items())
        self.config.write_text(CONFIG.format(port=self.port) + data)
        self.process = subprocess.Popen([shutil.which("unbound") or "/usr/sbin/unbound", "-d", "-c",
                                         str(self.config)], stderr=subprocess.DEVNULL)
        ended = os.pidfd_open(self.process.pid)
        deadline = time.monotonic() + DEADLINE_SECONDS
        try:
            while not self._answers():
                if select.select([ended], [], [], ASK_AGAIN_SECONDS)[0]:
                    self.process.wait()
                    return False
                if time.monotonic() > deadline:
                    raise AssertionError("unbound does not answer")
            return True
        except BaseException:  # also of an interrupted test
            self.stop()
            raise
        finally:
            os.close(ended)

    def _answers(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.connect(("127.0.0.1", self.port))
            sock.settimeout(0.2)
            try:
                sock.send(dns.message.make_query("www.example.org", "A").to_wire())
                return bool(sock.recv(4096))
            except OSError:
                return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


def query(dice):
    name = dice.choice([*NAMES, "nowhere.example", "example.org", "localhost", "WWW.Example.ORG"])
    kind = dice.choice(["A", "A", "AAAA", "HTTPS", "SVCB", "TXT", "MX", "SOA", "NS", "TYPE999"])
    message = dns.message.make_query(name, kind, dice.choice(["IN", "IN", "IN", "IN", "CH"]))
    message.id = dice.randrange(65536)
    if dice.random() < 0.3:
        message.flags &= ~dns.flags.RD
    if dice.random() < 0.2:
        message.flags |= dns.flags.CD
    if dice.random() < 0.5:
        options = [dns.edns.GenericOption(10, b"12345678")] if dice.random() < 0.3 else []
        message.use_edns(dice.choice([0, 0, 0, 0, 1]), dice.choice([0, dns.flags.DO]),
                         dice.choice([512, 1232, 4096, 100]), options=options)
    return message.to_wire()


def malformed(dice):
    wire = bytearray(query(dice))
    way = dice.choice(["cut", "short", "response", "opcode", "counts", "loop", "label", "type"])
    if way == "cut":
        del wire[dice.randrange(12, len(wire)):]
    elif way == "short":
        del wire[dice.randrange(12):]
    elif way == "response":
        wire[2] |= 0x80
    elif way == "opcode":
        wire[2] |= dice.choice([1, 2, 3, 6, 15]) << 3
    elif way == "counts":
        at = dice.choice([4, 6, 8, 10])
        struct.pack_into("!H", wire, at, dice.choice([0, 2, 65535]) if at == 4 else 7)
    elif way == "loop":
        wire[12:14] = b"\xc0\x0c"
    elif way == "label":
        wire[12] = dice.choice([0x40, 0x80, 63])
    elif way == "type":
        wire[-4:-2] = struct.pack("!H", dice.choice([251, 252, 41]))
    return bytes(wire)


def ask_all(wires, port):
    """The answer to each, None for silence. Who is silent is asked again: a server that waits for
    a processor loses what its socket's buffer does not hold, some 270 queries."""
    answers = [None] * len(wires)
    for _ in range(TRIES):
        ask_the_silent(wires, answers, port, ANSWER_SECONDS)
    return answers


def ask_the_silent(wires, answers, port, seconds):
    """All at the same time: silence takes long."""
    sockets = {}
    for index in [index for index, answer in enumerate(answers) if answer is None]:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect(("127.0.0.1", port))
        sockets[sock] = index
        sock.send(wires[index])
        for ready in select.select(list(sockets), [], [], 0)[0]:
            answers[sockets.pop(ready)] = ready.recv(65535)
            ready.close()
    deadline = time.monotonic() + seconds
    while sockets and time.monotonic() < deadline:
        for ready in select.select(list(sockets), [], [], deadline - time.monotonic())[0]:
            answers[sockets.pop(ready)] = ready.recv(65535)
            ready.close()
    for sock in sockets:
        sock.close()


def form(wire):
    """What is compared. What it cannot read unbound either drops, or sends back with a response
    code and now and then RA: there is no more to compare than the other flags and the code."""
    if wire is None:
        return "silence"
    if wire[3] & 0xf in UNREAD:
        return f"{wire[2]:02x} {wire[3] & ~RA & 0xff:02x}"
    message = dns.message.from_wire(wire)
    flags = dns.flags.to_text(message.flags)
    sections = [[(str(rrset.name), int(rrset.rdtype), rrset.ttl if section else None,
                  sorted(str(rdata) for rdata in rrset)) for rrset in section]
                for section in (message.answer, message.authority)]
    return (dns.rcode.to_text(message.rcode()), dns.opcode.to_text(message.opcode()), flags,
            sections, message.edns >= 0, bool(message.ednsflags & dns.flags.DO))


def told_apart(wires, ours, theirs):
    """A text for each query with answers of other forms."""
    different = []
    for wire, our, their in zip(wires, ours, theirs, strict=True):
        dropped = their is None and our is not None and our[3] & 0xf in UNREAD
        if form(our) != form(their) and not dropped:
            different.append(f"{wire.hex()}\n  ours:   {form(our)}\n  theirs: {form(their)}")
    return different


class Forms(dns_test.Stub):
    def test_unbound_answers_alike(self):
        reference = Unbound(self.folder)
        self.addCleanup(reference.stop)
        self.stub(self.hosts_file("".join(f"{at} {name}\n" for name, at in NAMES.items())))
        dice = random.Random(TEST_SEED)
        wires = [query(dice) for _ in range(QUERIES)] + [malformed(dice) for _ in range(MALFORMED)]
        ours, theirs = (ask_all(wires, port) for port in (self.at[1], reference.port))
        if told_apart(wires, ours, theirs):
            for answers, port in ((ours, self.at[1]), (theirs, reference.port)):
                ask_the_silent(wires, answers, port, LAST_ANSWER_SECONDS)
        different = told_apart(wires, ours, theirs)
        self.assertEqual(different, [], f"\n{len(different)} of {len(wires)}:\n" +
                         "\n".join(different[:20]))


if __name__ == "__main__":
    if not (shutil.which("unbound") or shutil.os.path.exists("/usr/sbin/unbound")):
        print("unbound is not installed")
        sys.exit(harness.SKIPPED)
    harness.main()
