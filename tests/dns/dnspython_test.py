#!/usr/bin/env python3
"""The codec against dnspython: messages that dnspython writes are read alike, and what the codec
writes is read by dnspython as the same message. Then the same messages damaged: what both accept,
both read alike. $DESCRIBE_MESSAGE is the program that shows what the codec reads."""

import os
import pathlib
import random
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from test_seed import TEST_SEED

try:
    import dns.edns
    import dns.exception
    import dns.flags
    import dns.message
    import dns.name
    import dns.rdata
    import dns.rdataclass
    import dns.rdatatype
    import dns.rrset
except ImportError:
    print("python3-dnspython is not installed")
    sys.exit(77)

MESSAGES = 200
DAMAGED = 1500
HOSTS = ["example.org", "www.example.org", "cdn.example.net", "a.b.c.d.example.org", "xn--p1ai",
         "_dmarc.example.org", "WWW.Example.ORG", "x" * 63 + ".example.org"]
SAMPLES = {
    "A": ["192.0.2.1", "203.0.113.77"],
    "AAAA": ["2001:db8::1", "::"],
    "CNAME": ["www.example.org.", "cdn.example.net."],
    "PTR": ["host.example.org."],
    "NS": ["ns1.example.org."],
    "SOA": ["ns.example.org. hostmaster.example.org. 2026112100 7200 3600 1209600 300"],
    "TXT": ['"v=spf1 -all"', '"a" "" "b"'],
    "MX": ["10 mx.example.org."],
    "SRV": ["0 5 443 www.example.org."],
    "CAA": ['0 issue "letsencrypt.org"'],
    "HTTPS": ["1 . alpn=h2,h3 ipv4hint=192.0.2.1 ipv6hint=2001:db8::1 ech=AAEC",
              "0 www.example.org.", "2 cdn.example.net. port=8443 no-default-alpn alpn=h2",
              "1 . mandatory=alpn,port alpn=h2 port=443 key65333=ex1"],
    "SVCB": ["1 svc.example.org. alpn=bar port=8004"],
}
# Data of other types, and of A in class CH, is bytes for the codec; dnspython reads the names in
# some of them (RP, PX).
KNOWN = {int(dns.rdatatype.from_text(kind)) for kind in (*SAMPLES, "DNAME")}


def random_message(dice):
    message = dns.message.Message(id=dice.randrange(65536))
    message.flags = dice.randrange(65536) & 0x87b0
    message.set_rcode(dice.choice([0, 0, 2, 3, 5]))
    for _ in range(dice.choice([0, 1, 1, 1, 2])):
        message.question.append(dns.rrset.RRset(dns.name.from_text(dice.choice(HOSTS)),
                                                dns.rdataclass.IN, dice.choice([1, 28, 65, 255])))
    for section in (message.answer, message.authority, message.additional):
        for _ in range(dice.choice([0, 0, 1, 3])):
            kind = dice.choice(list(SAMPLES))
            owner = dice.choice(HOSTS) + "."
            section.append(dns.rrset.from_text(owner, dice.randrange(2**31), "IN", kind,
                                               dice.choice(SAMPLES[kind])))
    if dice.random() < 0.5:
        options = [dns.edns.GenericOption(10, b"12345678")] if dice.random() < 0.5 else []
        message.use_edns(0, dns.flags.DO if dice.random() < 0.5 else 0, dice.choice([512, 1232]),
                         options=options)
    return message.to_wire(max_size=65535)


def damage(wire, dice):
    wire = bytearray(wire)
    for _ in range(dice.choice([1, 1, 2, 5])):
        at = dice.randrange(len(wire))
        flipped = wire[at] ^ 1 << dice.randrange(8)
        wire[at] = dice.choice([0, 0xc0, 12, flipped, dice.randrange(256)])
    if dice.random() < 0.2:
        del wire[dice.randrange(len(wire)):]
    return bytes(wire)


def fields_of(message):
    """The same fields as describe_message.cc prints."""
    flags = message.flags
    fields = [message.id] + [flags >> bit & 1 for bit in (15, 10, 9, 8, 7, 5, 4)]
    fields += [flags >> 11 & 15, int(message.rcode())]
    for question in message.question:
        fields += ["Q", question.name.to_wire().hex(), int(question.rdtype), int(question.rdclass)]
    for section in (message.answer, message.authority, message.additional):
        fields.append("S")
        for rrset in section:
            for rdata in rrset:
                fields += [rrset.name.to_wire().hex(), int(rrset.rdtype), int(rrset.rdclass),
                           rrset.ttl, "[" + rdata.to_wire().hex() + "]"]
    if message.edns >= 0:
        fields += ["E", message.payload, message.edns, int(bool(message.ednsflags & dns.flags.DO))]
        for option in message.options:
            fields += [int(option.otype), "[" + option.to_wire().hex() + "]"]
    return " ".join(str(field) for field in fields)


def all_known(message):
    """Whether the codec gives the data of all its records the same meaning."""
    return all(int(rrset.rdtype) in KNOWN
               and (rrset.rdclass, rrset.rdtype) != (dns.rdataclass.CH, dns.rdatatype.A)
               for section in (message.answer, message.authority, message.additional)
               for rrset in section)


def read(wire):
    return dns.message.from_wire(wire, one_rr_per_rrset=True)


def codec(wires):
    """For each message what the codec reads, and what it writes again."""
    done = subprocess.run([os.environ["DESCRIBE_MESSAGE"]], text=True, capture_output=True,
                          input="".join(wire.hex() + "\n" for wire in wires), check=True)
    lines = done.stdout.split("\n")
    return list(zip(lines[0::2], lines[1::2]))[:len(wires)]


class Differential(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(TEST_SEED)
        self.wires = [random_message(self.dice) for _ in range(MESSAGES)]

    def test_reads_what_dnspython_writes(self):
        for wire, (text, _) in zip(self.wires, codec(self.wires)):
            self.assertEqual(text.strip(), fields_of(read(wire)), wire.hex())

    def test_dnspython_reads_what_the_codec_writes(self):
        for wire, (_, again) in zip(self.wires, codec(self.wires)):
            self.assertEqual(fields_of(read(bytes.fromhex(again))), fields_of(read(wire)))

    def test_what_both_accept_of_damaged_messages_is_the_same(self):
        wires = [damage(self.dice.choice(self.wires), self.dice) for _ in range(DAMAGED)]
        accepted = alone = 0
        for wire, (text, _) in zip(wires, codec(wires)):
            try:
                message = read(wire)
                expected = fields_of(message)
            except (dns.exception.DNSException, ValueError, NotImplementedError):
                continue
            if not all_known(message):
                continue
            if text.startswith("error"):
                alone += 1
                continue
            accepted += 1
            self.assertEqual(text.strip(), expected, wire.hex())
        print(f"{accepted} of {DAMAGED} damaged messages read alike, {alone} only by dnspython")
        self.assertGreater(accepted, DAMAGED // 10)
        self.assertLess(alone, DAMAGED // 20)


if __name__ == "__main__":
    unittest.main()
