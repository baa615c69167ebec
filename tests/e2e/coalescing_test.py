#!/usr/bin/env python3
"""Which hosts share an HTTP/2 connection, shown by a real Chromium's own log: those of one recorded
certificate and address do; a host with a certificate or an address of its own does not, nor one
that was recorded as h1."""

import json
import os
import shutil
import socket
import subprocess
import sys
import unittest

import harness
from wire import Certificate, DEADLINE_SECONDS

NGINX = "/usr/sbin/nginx"
BROWSER = shutil.which(harness.BROWSER)
HOSTS = {"page.test": "/", "static.test": "/s.js", "lone.test": "/l.js", "old.test": "/o.js",
         "far.test": "/f.js"}
SHARED = ("page.test", "static.test", "old.test", "far.test")
ADDRESSES = {host: "127.0.0.2" if host == "far.test" else "127.0.0.1" for host in HOSTS}
PAGE = ('<!doctype html><link rel="icon" href="data:,"><title>p</title>' +
        "".join(f'<script src="https://{host}{path}"></script>'
                for host, path in HOSTS.items() if path != "/"))

SERVER = """
  server {{
    listen {address}:{port} ssl {h2}; server_name {name};
    ssl_certificate {leaf}; ssl_certificate_key {key};
    root {folder}/www; index page.html; types {{ text/html html; text/javascript js; }}
  }}"""
CONFIG = """
daemon off; worker_processes 1; error_log {folder}/error.log; pid {folder}/pid; {user}
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5; {servers}
}}
"""


class Site:
    """The hosts, each on a port of its own: old.test speaks h1, lone.test has a certificate that
    names nobody else."""

    def __init__(self, folder):
        self.folder = folder / "nginx"
        (self.folder / "www").mkdir(parents=True)
        (self.folder / "www/page.html").write_text(PAGE)
        for path in HOSTS.values():
            if path != "/":
                (self.folder / f"www{path}").write_text(f"window.seen = '{path}';")
        shared, lone = (Certificate(self.folder / f"tls{names[0]}", names)
                        for names in (SHARED, ("lone.test",)))
        self.ports = {}
        servers = ""
        for host in HOSTS:
            with socket.create_server((ADDRESSES[host], 0)) as probe:
                self.ports[host] = probe.getsockname()[1]
            leaf = (lone if host == "lone.test" else shared).leaf_file
            servers += SERVER.format(address=ADDRESSES[host], port=self.ports[host], name=host,
                                     folder=self.folder,
                                     h2="" if host == "old.test" else "http2", leaf=leaf,
                                     key=leaf.with_suffix(".key"))
        config = self.folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=self.folder, servers=servers,
                                        user="user root;" if os.geteuid() == 0 else ""))
        self.process = subprocess.Popen([NGINX, "-e", self.folder / "error.log", "-c", config],
                                        stdin=subprocess.DEVNULL)
        for _ in harness.watch_folder(self.folder, self.process.pid):
            if (self.folder / "pid").exists():
                return
            if self.process.poll() is not None:
                break
        raise AssertionError((self.folder / "error.log").read_text())

    def connect_arguments(self):
        for host, port in self.ports.items():
            yield from ("--connect-to", f"{host}:443:{ADDRESSES[host]}:{port}")
        yield "--insecure-origin"

    def close(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)


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
        site = Site(self.folder)
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
    unittest.main(verbosity=2)
