"""What the tests of names share: a network namespace whose system resolver a test sets, and a small
DNS server that says what a test wants."""

import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

import harness
from wire import DEADLINE_SECONDS

try:
    import dns.message
    import dns.rdatatype
    import dns.rrset
except ImportError:
    print("python3-dnspython is not installed")
    sys.exit(harness.SKIPPED)

# Everything here is in a namespace of its own, where each port is free.
NAMES_PORT = 53


def raise_loopback():
    """Loopback, and an address of the world's, without which programs believe to be offline."""
    for command in ("link set lo up", "addr replace 192.0.2.1/32 dev lo"):
        subprocess.run(["ip", *command.split()], check=True)


def use_resolver(case, address, more=""):
    """Has the system ask `address` for names, in this mount namespace, until the test case ends.
    `more` lines of resolv.conf(5) follow."""
    path = pathlib.Path(tempfile.mktemp(dir=case.folder, prefix="resolv."))
    path.write_text(f"nameserver {address}\noptions timeout:2 attempts:2\n{more}")
    subprocess.run(["mount", "--bind", str(path), "/etc/resolv.conf"], check=True)
    case.addCleanup(subprocess.run, ["umount", "/etc/resolv.conf"], check=True)


def getaddrinfo(*names):
    """The addresses that the system's resolver has for each name, asked by a process that has not
    read another resolv.conf."""
    code = ("import socket, sys\n"
            "for name in sys.argv[1:]:\n"
            "    print(*sorted({found[4][0] for found in\n"
            "                   socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)}))\n")
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS, check=True)
    return [line.split() for line in done.stdout.splitlines()]


class NameServer:
    """Answers over UDP from `records`, lines of "NAME. TTL IN TYPE DATA": what has the name and
    type that are asked for, CNAMEs followed. All other names and types have nothing. `asked` lists
    names and types, in order of arrival. `delays`: seconds that the answers about a name, without
    a dot at its end, or about a pair of name and type, take."""

    def __init__(self, records, address="127.0.0.1", delays=None):
        self.delays = delays or {}
        self.records = [line.split(None, 4) for line in records.strip().splitlines()]
        self.asked = []
        self.silent = set()
        self.came = threading.Condition()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.at = f"{address}:{self.socket.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        self.socket.sendto(b"", self.socket.getsockname())  # wakes it: this is the end
        self.thread.join(DEADLINE_SECONDS)
        self.socket.close()

    def silent_about(self, name):
        """From now on it says nothing about `name`, which ends with a dot."""
        self.silent.add(name)

    def wait_for(self, name):
        """Until it has been asked about `name`, without a dot at its end."""
        with self.came:
            if not self.came.wait_for(lambda: name in (each for each, _ in self.asked),
                                      DEADLINE_SECONDS):
                raise AssertionError(f"nobody asked for {name}")

    def _serve(self):
        while True:
            wire, peer = self.socket.recvfrom(4096)
            if not wire:
                return
            query = dns.message.from_wire(wire)
            reply = self._answer(query)
            if reply is None:
                continue
            name = str(query.question[0].name).lower().rstrip(".")
            kind = dns.rdatatype.to_text(query.question[0].rdtype)
            delay = self.delays.get((name, kind), self.delays.get(name))
            if delay is not None:
                threading.Timer(delay, self.socket.sendto, (reply.to_wire(), peer)).start()
            else:
                self.socket.sendto(reply.to_wire(), peer)

    def _answer(self, query):
        question = query.question[0]
        reply = dns.message.make_response(query, recursion_available=True)
        name, kind = str(question.name).lower(), dns.rdatatype.to_text(question.rdtype)
        with self.came:
            self.asked.append((name.rstrip("."), kind))
            self.came.notify_all()
        if name in self.silent:
            return None
        while alias := [record for record in self.records
                        if (record[0], record[3]) == (name, "CNAME")]:
            reply.answer.append(dns.rrset.from_text(*alias[0]))
            name = alias[0][4]
        for record in self.records:
            if (record[0], record[3]) == (name, kind):
                reply.answer.append(dns.rrset.from_text(*record))
        return reply
