#!/usr/bin/env python3
"""Which hosts share an HTTP/2 connection, shown by a real Chromium's own log: those of one recorded
certificate and address do; a host with a certificate or an address of its own does not, nor one
that was recorded as h1."""

import json
import shutil
import subprocess
import sys

import harness
from nginx_site import Host, NginxSite
from wire import Certificate, DEADLINE_SECONDS

BROWSER = shutil.which(harness.BROWSER)
HOSTS = {"page.test": "/", "static.test": "/s.js", "lone.test": "/l.js", "old.test": "/o.js",
         "far.test": "/f.js"}
SHARED = ("page.test", "static.test", "old.test", "far.test")
ADDRESSES = {host: "127.0.0.2" if host == "far.test" else "127.0.0.1" for host in HOSTS}
PAGE = ('<!doctype html><link rel="icon" href="data:,"><title>p</title>' +
        "".join(f'<script src="https://{host}{path}"></script>'
                for host, path in HOSTS.items() if path != "/"))


def origin(folder):
    """old.test speaks h1, lone.test has a certificate that names nobody else."""
    shared, lone = (Certificate(folder / f"tls-{names[0]}", names)
                    for names in (SHARED, ("lone.test",)))
    return NginxSite(folder / "nginx", {
        host: Host(ADDRESSES[host], lone if host == "lone.test" else shared,
                   {path: ("text/html", PAGE.encode(), []) if path == "/" else
                    ("text/javascript", f"window.seen = '{path}';".encode(), [])},
                   h2=host != "old.test")
        for host, path in HOSTS.items()})


def sessions_of(netlog):
    """The hosts that were asked on each HTTP/2 connection, by the browser's log: an event a line,
    and not ended when the browser was."""
    text = netlog.read_text()
    log = json.loads(text[:text.rindex("},\n{") + 1] + "]}")
    names = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    sessions = {}
    for event in log["events"]:
        if names[event["type"]] == "HTTP2_SESSION_SEND_HEADERS":
            for line in event.get("params", {}).get("headers", []):
                if line.startswith(":authority: "):
                    sessions.setdefault(event["source"]["id"], set()).add(line.split(": ")[1])
    return list(sessions.values())


class Coalescing(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / "a.reprise"
        site = origin(self.folder)
        self.addCleanup(site.close)
        recorder = self.record(self.archive, origins=(site,))
        subprocess.run(["curl", "-sSf", "--http2", "--cacert", recorder.ca_file, "--connect-to",
                        "::" + recorder.ready["https"],
                        *(f"https://{host}{path}" for host, path in HOSTS.items())],
                       check=True, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(recorder.stop(), 0, recorder.log())
        site.close()

    def load(self, *arguments):
        """One load of the page: its requests by host, the connections, the replay's report."""
        netlog, result = self.folder / "netlog.json", self.folder / "result.json"
        done = harness.run("load", str(self.archive), "https://page.test/", "-o", str(result),
                           *arguments, "--browser", BROWSER, "--chromium-flag",
                           f"--log-net-log={netlog}",
                           folder=self.folder, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        loaded = json.loads(result.read_text())
        requests = {each["url"].split("/")[2]: each for each in loaded["loads"][0]["requests"]}
        return requests, sessions_of(netlog), loaded["replays"][0]["report"]

    def test_hosts_share_a_connection_as_recorded(self):
        requests, sessions, report = self.load()
        self.assertEqual({host: (each["status"], each["protocol"])
                          for host, each in requests.items()},
                         {"page.test": (200, "h2"), "static.test": (200, "h2"),
                          "lone.test": (200, "h2"), "old.test": (200, "http/1.1"),
                          "far.test": (200, "h2")})
        self.assertEqual({host: each["remote_address"].split(":")[0]
                          for host, each in requests.items()},
                         {host: "127.18.0.2" if host == "far.test" else "127.18.0.1"
                          for host in HOSTS})
        self.assertIn({"far.test"}, sessions)
        of_page = next(hosts for hosts in sessions if "page.test" in hosts)
        self.assertIn("static.test", of_page)
        self.assertIn({"lone.test"}, sessions)
        self.assertNotIn("lone.test", of_page)
        # The certificate would let it; its 421 sent the browser to a connection of its own.
        self.assertIn("old.test", of_page)
        self.assertEqual((report["misdirected"], report["misses"], report["hits"]), (1, 0, 5))
        self.assertEqual(report["synthesised"]["served_as_h2"], 0)
        self.assertEqual({each["host"]: each["protocol"] for each in report["tls_hosts"]},
                         {"page.test": "h2", "static.test": "h2", "lone.test": "h2",
                          "old.test": "http/1.1", "far.test": "h2"})

    def test_one_address_for_all_when_asked_for(self):
        requests, sessions, _ = self.load("--topology", "single")
        self.assertEqual({each["remote_address"].split(":")[0] for each in requests.values()},
                         {"127.18.0.1"})
        of_page = next(hosts for hosts in sessions if "page.test" in hosts)
        self.assertIn("far.test", of_page)
        self.assertIn({"lone.test"}, sessions)


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: there is no Chromium here")
        sys.exit(harness.SKIPPED)
    harness.main()
