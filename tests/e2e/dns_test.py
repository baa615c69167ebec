#!/usr/bin/env python3
"""`reprise dns` as its users meet it: kdig, dig and dnspython ask it over UDP and TCP, and bad
command lines are told what is wrong with them."""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import harness
from wire import DEADLINE_SECONDS, HOST, response

try:
    import dns.message
    import dns.query
    import dns.rcode
except ImportError:
    print("python3-dnspython is not installed")
    sys.exit(harness.SKIPPED)

HOSTS = """\
# names for a test
192.0.2.1   www.example.org Example.NET
2001:db8::1 www.example.org
127.0.0.9   *.skipped
"""
MANY = "".join(f"10.0.{i // 250}.{i % 250} many.example\n" for i in range(250))


class Stub(harness.TestCase):
    def stub(self, *arguments):
        """A running stub; `self.at` is where."""
        stub = StubProcess(self.folder, *arguments)
        self.addCleanup(stub.kill)
        host, port = stub.ready["dns"].rsplit(":", 1)
        self.at = (host.strip("[]"), int(port))
        return stub

    def hosts_file(self, text):
        path = self.folder / "hosts"
        path.write_text(text)
        return str(path)

    def ask(self, name, kind="A", over=dns.query.udp, **options):
        query = dns.message.make_query(name, kind, **options)
        return over(query, self.at[0], port=self.at[1], timeout=DEADLINE_SECONDS)

    @staticmethod
    def data(reply):
        return sorted(str(rdata) for rrset in reply.answer for rdata in rrset)

    def dig(self, program, *arguments):
        tool = shutil.which(program)
        if tool is None:
            self.skipTest(f"{program} is not installed")
        done = subprocess.run([tool, f"@{self.at[0]}", "-p", str(self.at[1]), "+short", *arguments],
                              capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return sorted(done.stdout.split())


class StubProcess(harness.Reprise):
    """harness.Reprise without the listeners that this subcommand does not have."""

    def __init__(self, folder, *arguments):
        self.ready_file = pathlib.Path(tempfile.mktemp(dir=folder, prefix="ready."))
        self.log_file = self.ready_file.with_suffix(".log")
        if "--listen" not in arguments:
            arguments = ("--listen", "127.0.0.1:0", *arguments)
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                [harness.REPRISE, "dns", "--ready-file", str(self.ready_file), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_until_ready()
        self.ready = json.loads(self.ready_file.read_text())
        self.pid = self.ready["pid"]


class HostsFile(Stub):
    def test_both_transports_answer(self):
        self.stub(self.hosts_file(HOSTS.replace("*.skipped", "last.example")))
        for over in (dns.query.udp, dns.query.tcp):
            self.assertEqual(self.data(self.ask("www.example.org", over=over)), ["192.0.2.1"])
            self.assertEqual(self.data(self.ask("www.example.org", "AAAA", over)), ["2001:db8::1"])
            self.assertEqual(self.data(self.ask("example.net", over=over)), ["192.0.2.1"])
            for kind in ("HTTPS", "TXT"):
                reply = self.ask("www.example.org", kind, over)
                self.assertEqual(reply.rcode(), dns.rcode.NOERROR)
                self.assertEqual((reply.answer, len(reply.authority)), ([], 1))
            self.assertEqual(self.ask("nowhere.example", over=over).rcode(), dns.rcode.NXDOMAIN)

    def test_dig_and_kdig_get_the_same(self):
        self.stub(self.hosts_file(HOSTS.replace("*.skipped", "*") + MANY))
        for program in ("dig", "kdig"):
            for transport in ("+notcp", "+tcp"):
                self.assertEqual(self.dig(program, transport, "www.example.org"), ["192.0.2.1"])
                self.assertEqual(self.dig(program, transport, "else.example"), ["127.0.0.9"])
            # Too much for UDP: each comes again over TCP by itself.
            self.assertEqual(len(self.dig(program, "many.example")), 250)

    def test_ipv6_listener(self):
        stub = self.stub("--listen", "[::1]:0", self.hosts_file("192.0.2.1 a.example\n"))
        self.assertTrue(stub.ready["dns"].startswith("[::1]:"))
        self.assertEqual(self.data(self.ask("a.example")), ["192.0.2.1"])

    def test_ends_in_order_with_a_report(self):
        report = self.folder / "report"
        stub = self.stub("--report", str(report), self.hosts_file("192.0.2.1 a.example\n"))
        self.ask("a.example")
        self.ask("Nowhere.Example", "AAAA")
        self.assertEqual(stub.stop(), 0)
        self.assertIn("2 queries (A 1, AAAA 1), 1 for names that do not exist", stub.log())
        told = json.loads(report.read_text())
        self.assertEqual(told["by_type"], {"A": 1, "AAAA": 1})
        self.assertEqual(told["missing_names"], {"nowhere.example": 1})

    def test_ready_file_has_the_keys_of_replay(self):
        stub = self.stub(self.hosts_file(""))
        self.assertEqual(set(stub.ready),
                         {"mode", "http", "https", "proxy", "dns", "admin", "ca_file",
                          "ca_spki_sha256", "chromium_flags", "firefox_prefs", "script", "pid"})
        self.assertEqual((stub.ready["mode"], stub.ready["http"]), ("dns", None))


class Archive(Stub):
    def test_recorded_hosts_have_stand_ins(self):
        site = self.origin(lambda _: response(b"x"))
        archive = self.folder / "a.reprise"
        recorder = self.record(archive, origins=(site,))
        with recorder.connect("http") as client:
            client.get("/")
        self.assertEqual(recorder.stop(), 0, recorder.log())
        stub = self.stub("--archive", str(archive))
        self.assertEqual(self.data(self.ask(HOST)), ["127.18.0.1"])
        self.assertEqual(self.ask("else.example").rcode(), dns.rcode.NXDOMAIN)
        stub.stop()
        self.stub("--archive", str(archive), "--dns-any")
        self.assertEqual(self.data(self.ask("else.example")), ["127.19.0.1"])

    def test_no_archive(self):
        path = self.folder / "no.reprise"
        path.write_text("nonsense" * 100)
        done = harness.run("dns", "--archive", str(path))
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"not a reprise archive", done.stderr)

    def test_a_recorders_names_lead_to_its_listeners(self):
        def asked(listen, kind, *arguments):
            archive = tempfile.mktemp(dir=self.folder, suffix=".reprise")
            recorder = self.record(archive, "--http", listen, "--https", listen, *arguments)
            host, port = recorder.ready["dns"].rsplit(":", 1)
            self.at = (host.strip("[]"), int(port))
            found = self.data(self.ask("a.example", kind))
            self.assertEqual(recorder.stop(), 0, recorder.log())
            return found

        self.assertEqual(asked("127.0.0.1:0", "A"), ["127.0.0.1"])
        self.assertEqual(asked("0.0.0.0:0", "A", "--allow-remote"), ["127.0.0.1"])
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            return
        self.assertEqual(asked("[::1]:0", "AAAA", "--dns", "[::1]:0"), ["::1"])
        self.assertEqual(asked("[::]:0", "AAAA", "--allow-remote"), ["::1"])


class Mistakes(Stub):
    def refused(self, *arguments):
        done = harness.run("dns", *arguments)
        return done.returncode, done.stderr.decode()

    def test_each_is_told(self):
        hosts = self.hosts_file("192.0.2.1 a.example\n")
        self.assertEqual(self.refused()[0], 2)
        self.assertEqual(self.refused(hosts, "--archive", hosts)[0], 2)
        self.assertEqual(self.refused("--listen", "127.0.0.1", hosts)[0], 2)
        code, told = self.refused("--listen", "0.0.0.0:0", hosts)
        self.assertEqual(code, 2)
        self.assertIn("--allow-remote", told)
        code, told = self.refused(str(self.folder / "missing"))
        self.assertEqual(code, 1)
        self.assertIn("No such file", told)

    def test_bad_line_is_named(self):
        code, told = self.refused(self.hosts_file("127.0.0.1 a\nexample.org 127.0.0.1\n"))
        self.assertEqual(code, 1)
        self.assertIn("hosts:2: 'example.org' is not an IP address", told)

    def test_port_in_use_is_exit_4(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        code, told = self.refused("--listen", at, self.hosts_file(""))
        self.assertEqual(code, 4)
        self.assertIn(at, told)
        self.assertIn("--listen", told)


if __name__ == "__main__":
    harness.main()
