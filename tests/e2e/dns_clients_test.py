#!/usr/bin/env python3
"""Programs of the world resolve all names of an archive through a replay's stub: dig, kdig, delv,
getaddrinfo, Node, Chromium and Firefox, by a resolv.conf that names it.

Needs root or unprivileged user namespaces.
"""

import json
import os
import re
import shutil
import subprocess

import dns_names
import harness
from wire import DEADLINE_SECONDS, Certificate, response

NAMES = [f"n{number}.example.test" for number in range(12)]
ORIGINS = {name: f"127.0.1.{number}" for number, name in enumerate(NAMES, 1)}
STAND_INS = {name: f"127.18.0.{number}" for number, name in enumerate(NAMES, 1)}
WITH_HTTPS = NAMES[::2]
RECORDS = "\n".join([f"{name}. 60 IN A {at}" for name, at in ORIGINS.items()] +
                    [f"{name}. 60 IN HTTPS 1 . alpn=h2,h3" for name in WITH_HTTPS])
PAGE = """<!doctype html><title>names</title><body><script>
const names = {names};
Promise.allSettled(names.map(name => fetch("https://" + name + "/of/" + name,
                                           {{mode: "cors"}}).then(answer => answer.text())))
  .then(all => document.body.textContent = "got " + all.map(one => one.value).join(" ") + ".");
</script>
"""
TAGS = "<!doctype html><title>names</title>" + "".join(
    f'<script src="https://{name}/of/{name}"></script>' for name in NAMES)
FIREFOX = {"app.update.enabled": False, "browser.safebrowsing.downloads.enabled": False,
           "datareporting.policy.dataSubmissionEnabled": False, "network.trr.mode": 5,
           "network.captive-portal-service.enabled": False,
           "network.connectivity-service.enabled": False}
NODE = """
const dns = require("dns").promises;
const names = process.argv.slice(1);
const or_code = promise => promise.catch(error => error.code);
Promise.all(names.map(async name => [
  name, await or_code(dns.resolve4(name)), await or_code(dns.resolve6(name)),
  (await dns.lookup(name)).address])).then(all => console.log(JSON.stringify(all)));
"""


def program(case, *names):
    for name in names:
        if found := shutil.which(name):
            return found
    return case.skipTest(f"{names[0]} is not installed")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=True, **options).stdout


class Clients(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()

    def setUp(self):
        super().setUp()
        self.archive = self.folder / "names.reprise"
        self.record_names()
        self.report = self.folder / "report.json"
        self.replayed = self.replay(self.archive, "--http", "127.0.0.1:80", "--https",
                                    "127.0.0.1:443", "--dns", f"127.0.0.1:{dns_names.NAMES_PORT}",
                                    "--report", str(self.report))
        dns_names.use_resolver(self, "127.0.0.1")

    def record_names(self):
        """Each name at an address of its own; one origin has them all."""
        certificate = Certificate(self.folder / "tls", NAMES)
        headers = b"Access-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n"
        pages = {"/": PAGE.format(names=json.dumps(NAMES)).encode(), "/tags": TAGS.encode()}
        origin = self.origin(lambda request: response(
            pages.get(request.target, request.target[4:].encode()), headers=headers),
            names=NAMES, tls=certificate, address="0.0.0.0")
        server = dns_names.NameServer(RECORDS)
        self.addCleanup(server.close)
        recorder = self.record(self.archive, "--dns-server", server.at, "--origin-ca",
                               str(certificate.ca_file), "--connect-to", f":443::{origin.port}")
        for name in NAMES:
            with recorder.connect("https", host=name) as client:
                for path in (*pages, f"/of/{name}"):
                    got = client.get(path, host=name)
                    self.assertEqual(got.status, 200, got.body)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def asked(self):
        """How many queries of each type there were."""
        self.assertEqual(self.replayed.stop(), 0, self.replayed.log())
        counts = json.loads(self.report.read_text())["dns"]
        self.assertEqual([name for name in counts["missing_names"] if name.endswith(".test")], [])
        return counts["by_type"]

    def answers(self, command, kind, statuses=True):
        """Name to data, of a program that prints as dig does. All must exist."""
        told = run(*command)
        if statuses:
            codes = re.findall(r"status: (\w+)", told)
            self.assertEqual(codes, ["NOERROR"] * len(NAMES), told)
        lines = [line.split(None, 4) for line in told.splitlines()
                 if re.match(r"\S+\.\s+\d+\s+IN\s+(?!SOA)", line)]
        self.assertTrue(all(line[3] == kind for line in lines), told)
        return {line[0].rstrip("."): line[4] for line in lines}

    def check(self, ask):
        """`ask(kind)` gives name to data for all names at once."""
        self.assertEqual(ask("A"), STAND_INS)
        self.assertEqual(ask("AAAA"), {})
        https = ask("HTTPS")
        self.assertEqual(sorted(https), sorted(WITH_HTTPS))
        for data in https.values():
            self.assertRegex(data, r'^1 \. alpn="?h2"?$')

    def test_dig(self):
        tool = program(self, "dig")
        self.check(lambda kind: self.answers(
            [tool, *(part for name in NAMES
                     for part in ("+noall", "+comments", "+answer", name, kind))], kind))

    def test_kdig(self):
        tool = program(self, "kdig")
        self.check(lambda kind: self.answers(
            [tool, *(part for name in NAMES
                     for part in ("+noall", "+header", "+answer", name, kind))], kind))

    def test_delv(self):
        tool = program(self, "delv")

        def ask(kind):
            found = {}
            for name in NAMES:
                found |= self.answers([tool, "-i", "@127.0.0.1", name, kind], kind, False)
            return found
        self.check(ask)

    def test_getaddrinfo(self):
        self.assertEqual(dns_names.getaddrinfo(*NAMES), [[at] for at in STAND_INS.values()])
        self.assertEqual(set(self.asked()), {"A", "AAAA"})

    def test_node(self):
        told = json.loads(run(program(self, "node"), "-e", NODE, *NAMES))
        self.assertEqual(told, [[name, [at], "ENODATA", at] for name, at in STAND_INS.items()])

    def test_chromium(self):
        """Its own resolver: getaddrinfo(3) never asks for HTTPS records."""
        flags = [flag for flag in self.replayed.ready["chromium_flags"] if "rules" not in flag]
        page = run(program(self, "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={self.folder / 'profile'}", *flags, "--dump-dom",
                   "--virtual-time-budget=20000", f"https://{NAMES[0]}/")
        self.assertIn(f"got {' '.join(NAMES)}.", page)
        asked = self.asked()
        self.assertGreaterEqual(asked["HTTPS"], len(NAMES))
        self.assertGreaterEqual(asked["A"], len(NAMES))

    def test_firefox(self):
        tool = program(self, "firefox-esr", "firefox")
        profile = self.folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in FIREFOX.items()))
        run(program(self, "certutil"), "-A", "-d", f"sql:{profile}", "-n", "reprise", "-t", "C,,",
            "-i", self.replayed.ca_file)
        # It ends after the page's load event, and so after all of its scripts.
        run(tool, "--headless", "--profile", str(profile), "--screenshot",
            str(self.folder / "page.png"), f"https://{NAMES[0]}/tags",
            env={**os.environ, "HOME": str(self.folder)})
        asked = self.asked()
        self.assertGreaterEqual(asked["HTTPS"], len(NAMES))
        self.assertGreaterEqual(asked["A"], len(NAMES))
        served = json.loads(self.report.read_text())["exchanges_served"]
        self.assertEqual(served, 1 + len(NAMES))


if __name__ == "__main__":
    harness.main_in_namespace("-nm")
