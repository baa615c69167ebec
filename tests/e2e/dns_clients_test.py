#!/usr/bin/env python3
"""Programs of the world resolve all names of an archive through a replay's stub: dig, kdig, delv,
getaddrinfo, Node, Chromium and Firefox, by a resolv.conf that names it. The archive is a recording
with addresses and HTTPS records of its own, and an import of as many hosts as real pages have; with
REPRISE_CORPUS each recording of PAGES in that folder, too.

Needs root or unprivileged user namespaces.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import dns_names
import harness
from wire import DEADLINE_SECONDS, Certificate, response

NAMES = [f"n{number}.example.test" for number in range(12)]
ORIGINS = {name: f"127.0.1.{number}" for number, name in enumerate(NAMES, 1)}
WITH_HTTPS = NAMES[::2]
RECORDS = "\n".join([f"{name}. 60 IN A {at}" for name, at in ORIGINS.items()] +
                    [f"{name}. 60 IN HTTPS 1 . alpn=h2,h3" for name in WITH_HTTPS])
IMPORTED = [f"host{number}.cdn{number % 7}.test" for number in range(75)]
# Of the corpus, those with the most hosts of each kind.
PAGES = {"JD--rec-20180405000106248848-userland.warc.gz": "rec-warc-servo",
         "embed-test.warc": "rec-warc-replayweb", "triwest.wacz": "rec-wacz-warcbench",
         "custom.wprgo": "rec-wprgo-arcanum"}
# A page of nobody's, which wants something of each host.
FETCHES = """<!doctype html><title>names</title><body><script>
const names = {names};
Promise.allSettled(names.map(name => fetch("https://" + name + "/", {{mode: "no-cors"}})))
  .then(all => document.body.textContent =
        "got " + names.filter((_, i) => all[i].status == "fulfilled").join(" ") + ".");
</script>
"""
TAG = '<script src="https://{name}/"></script>\n'
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


class Clients:
    """Of an archive at `self.archive`; `self.with_https` are the names that have HTTPS records."""

    with_https = ()
    alpn = "h2"

    @classmethod
    def setUpClass(cls):
        dns_names.raise_loopback()

    def setUp(self):
        super().setUp()
        self.archive = self.folder / "names.reprise"
        self.make_archive()
        self.report = self.folder / "report.json"
        self.replayed = self.replay(self.archive, "--http", "127.0.0.1:80", "--https",
                                    "127.0.0.1:443", "--dns", f"127.0.0.1:{dns_names.NAMES_PORT}",
                                    "--report", str(self.report))
        # Chromium's rules are made of the same plan.
        rules = [flag for flag in self.replayed.ready["chromium_flags"] if "rules=" in flag][0]
        self.stand_ins = dict(re.findall(r"MAP ([\w.-]*[A-Za-z][\w.-]*) ([\d.]+)", rules))
        self.names = list(self.stand_ins)
        self.check_plan()
        dns_names.use_resolver(self, "127.0.0.1")

    def page(self, text):
        path = self.folder / "page.html"
        path.write_text(text)
        return path.as_uri()

    def asked(self):
        """How many queries of each type there were."""
        self.assertEqual(self.replayed.stop(), 0, self.replayed.log())
        counts = json.loads(self.report.read_text())["dns"]
        self.assertEqual([name for name in counts["missing_names"] if name in self.names], [])
        return counts["by_type"]

    def answers(self, command, kind):
        """Name to data, of a program that prints as dig does. All must exist."""
        told = run(*command)
        self.assertEqual(re.findall(r"status: (\w+)", told), ["NOERROR"] * len(self.names), told)
        return self.records(told, kind)

    def records(self, told, kind):
        lines = [line.split(None, 4) for line in told.splitlines()
                 if re.match(r"\S+\.\s+\d+\s+IN\s+(?!SOA)", line)]
        self.assertTrue(all(line[3] == kind for line in lines), told)
        return {line[0].rstrip("."): line[4] for line in lines}

    def check(self, ask):
        """`ask(kind)` gives name to data for all names at once."""
        self.assertEqual(ask("A"), self.stand_ins)
        self.assertEqual(ask("AAAA"), {})
        https = ask("HTTPS")
        self.assertEqual(sorted(https), sorted(self.with_https))
        for data in https.values():
            self.assertRegex(data, rf'^1 \. alpn="?{self.alpn}"?$')

    def test_dig(self):
        tool = program(self, "dig")
        self.check(lambda kind: self.answers(
            [tool, *(part for name in self.names
                     for part in ("+noall", "+comments", "+answer", name, kind))], kind))

    def test_kdig(self):
        tool = program(self, "kdig")
        self.check(lambda kind: self.answers(
            [tool, *(part for name in self.names
                     for part in ("+noall", "+header", "+answer", name, kind))], kind))

    def test_delv(self):
        tool = program(self, "delv")

        def ask(kind):
            found = {}
            for name in self.names:
                # One delv in some thousands does not end; it must have told its answer by then.
                done = subprocess.run(
                    ["stdbuf", "-oL", "timeout", "10", tool, "-i", "@127.0.0.1", name, kind],
                    capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
                self.assertIn(done.returncode, (0, 124), done.stderr)
                records = self.records(done.stdout, kind)
                self.assertTrue(records or "negative response" in done.stdout, done.stderr)
                found |= records
            return found
        self.check(ask)

    def test_getaddrinfo(self):
        self.assertEqual(dns_names.getaddrinfo(*self.names),
                         [[at] for at in self.stand_ins.values()])
        self.assertEqual(set(self.asked()), {"A", "AAAA"})

    def test_node(self):
        told = json.loads(run(program(self, "node"), "-e", NODE, *self.names))
        self.assertEqual(told, [[name, [at], "ENODATA", at] for name, at in self.stand_ins.items()])

    def test_chromium(self):
        """Its own resolver: getaddrinfo(3) never asks for HTTPS records. It asks for none of a name
        without a dot."""
        flags = [flag for flag in self.replayed.ready["chromium_flags"] if "rules" not in flag]
        page = run(program(self, "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={self.folder / 'profile'}", *flags, "--dump-dom",
                   "--virtual-time-budget=20000",
                   self.page(FETCHES.format(names=json.dumps(self.names))))
        self.assertIn(f"got {' '.join(self.names)}.", page)
        asked = self.asked()
        self.assertGreaterEqual(asked["HTTPS"], sum("." in name for name in self.names))
        self.assertGreaterEqual(asked["A"], len(self.names))

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
        page = self.page("<!doctype html><title>names</title>" +
                         "".join(TAG.format(name=name) for name in self.names))
        run(tool, "--headless", "--profile", str(profile), "--screenshot",
            str(self.folder / "page.png"), page, env={**os.environ, "HOME": str(self.folder)})
        asked = self.asked()
        self.assertGreaterEqual(asked["HTTPS"], len(self.names))
        self.assertGreaterEqual(asked["A"], len(self.names))
        told = json.loads(self.report.read_text())
        self.assertGreaterEqual(told["hits"] + told["misses"], len(self.names))


class Recorded(Clients, harness.TestCase):
    """Each name at an address of its own; one origin has them all."""

    with_https = WITH_HTTPS
    alpn = "h2,h3"  # the recorded names offered HTTP/3, which is served as recorded

    def make_archive(self):
        certificate = Certificate(self.folder / "tls", NAMES)
        origin = self.origin(lambda _: response(b"//"), names=NAMES, tls=certificate,
                             address="0.0.0.0")
        server = dns_names.NameServer(RECORDS)
        self.addCleanup(server.close)
        recorder = self.record(self.archive, "--dns-server", server.at, "--origin-ca",
                               str(certificate.ca_file), "--connect-to", f":443::{origin.port}")
        for name in NAMES:
            with recorder.connect("https", host=name) as client:
                self.assertEqual(client.get("/", host=name).status, 200)
        self.assertEqual(recorder.stop(), 0, recorder.log())

    def check_plan(self):
        self.assertEqual(self.stand_ins, {name: f"127.18.0.{number}"
                                          for number, name in enumerate(NAMES, 1)})


class Imported(Clients, harness.TestCase):
    """Of some hosts the address is known, of others not: then they have one of their own."""

    def make_archive(self):
        entries = [{"startedDateTime": "2020-01-01T00:00:00Z",
                    **({} if i % 3 else {"serverIPAddress": f"192.0.2.{i}"}),
                    "request": {"method": "GET", "url": f"https://{name}/", "httpVersion": "h2",
                                "headers": []},
                    "response": {"status": 200, "statusText": "", "httpVersion": "h2",
                                 "headers": [], "content": {"text": "//"}}}
                   for i, name in enumerate(IMPORTED)]
        har = self.folder / "page.har"
        har.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
        self.import_recording(har)

    def import_recording(self, path):
        done = harness.run("archive", "import", str(path), "-o", str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def check_plan(self):
        self.assertEqual(sorted(self.names), sorted(IMPORTED))
        self.assertEqual(len(set(self.stand_ins.values())), len(IMPORTED))


def corpus_case(name, folder):
    """The test case of a real recording of somebody else's."""
    path = pathlib.Path(os.environ.get("REPRISE_CORPUS", "")) / folder / name

    class Corpus(Imported):
        def make_archive(self):
            self.import_recording(path)

        def check_plan(self):
            listed = self.archive_json("ls", str(self.archive))
            hosts = {re.match(r"https?://([^:/]+)", entry["url"])[1] for entry in listed}
            self.assertEqual(set(self.names), hosts)

    Corpus.__qualname__ = Corpus.__name__ = "Corpus_" + re.sub(r"\W", "_", name)
    return Corpus


if "REPRISE_CORPUS" in os.environ:
    globals().update({case.__name__: case
                      for case in (corpus_case(*each) for each in PAGES.items())})


if __name__ == "__main__":
    harness.main_in_namespace("-nm")
