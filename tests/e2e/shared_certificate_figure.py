#!/usr/bin/env python3
"""A page of 100 objects on two hosts, where one certificate covers both and the browser coalesces
them, and where each has its own: the recorded site live behind a link, and its replay behind the
same link. Prints the medians of the load event and how far the replay is off; the bar is 2 %.

Both are reached in the same way, by `reprise shape`; `replay --link` has no relay on the way, and
would be compared with something else.

usage: shared_certificate_figure.py [LOADS]    (default 9; the first of each is dropped)
"""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

import figure
import harness
from coalescing_test import BROWSER, CONFIG, NGINX
from wire import Certificate, DEADLINE_SECONDS

LINK = "10mbit/10mbit/100"
HOSTS = ("one.test", "two.test")
OBJECTS = 100
BAR_PERCENT = 2
NGINX_SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl http2; server_name {name};
    ssl_certificate {leaf}; ssl_certificate_key {key};
    root {folder}/www; index page.html; types {{ text/html html; image/png png; }}
  }}"""
H2O = "/usr/bin/h2o"
H2O_CONFIG = """
num-threads: 1
pid-file: {folder}/pid
error-log: {folder}/error.log
{user}
hosts:{servers}
"""
H2O_SERVER = """
  "{name}:{port}":
    listen: {{host: 127.0.0.1, port: {port}, ssl: {{certificate-file: {leaf}, key-file: {key}}}}}
    paths: {{"/": {{file.dir: {folder}/www, file.index: [page.html]}}}}"""


class Site:
    """Both hosts on one port, so that only the certificates decide about coalescing."""

    def __init__(self, folder, program, shared):
        self.folder = folder / "nginx"
        (self.folder / "www").mkdir(parents=True)
        images = [f"https://{HOSTS[i % 2]}/{i}.png" for i in range(OBJECTS)]
        for i in range(OBJECTS):
            content = hashlib.sha256(str(i).encode()).digest() * (60 + 7 * i)
            (self.folder / f"www/{i}.png").write_bytes(content)
        (self.folder / "www/page.html").write_text(
            "<!doctype html><link rel=icon href=data:,><title>p</title>" +
            "".join(f"<img src={url} width=9 height=9>" for url in images))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        if shared:
            both = Certificate(self.folder / "tls", HOSTS)
            self.leaves = {host: both.leaf_file for host in HOSTS}
        else:
            self.leaves = {host: Certificate(self.folder / f"tls.{host}", (host,)).leaf_file
                           for host in HOSTS}
        one, whole, user = ((H2O_SERVER, H2O_CONFIG, "user: root") if program == H2O else
                            (NGINX_SERVER, CONFIG, "user root;"))
        servers = "".join(one.format(port=self.port, name=host, folder=self.folder, leaf=leaf,
                                     key=leaf.with_suffix(".key"))
                          for host, leaf in self.leaves.items())
        config = self.folder / "config"
        config.write_text(whole.format(folder=self.folder, servers=servers,
                                       user=user if os.geteuid() == 0 else ""))
        command = ([H2O, "-c", config] if program == H2O else
                   [NGINX, "-e", self.folder / "error.log", "-c", config])
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in harness.watch_folder(self.folder, self.process.pid):
            if (self.folder / "pid").exists() or self.process.poll() is not None:
                break

    def key_digests(self):
        """What makes Chromium trust the leaves, by their public keys."""
        for leaf in set(self.leaves.values()):
            key = subprocess.run(["openssl", "x509", "-in", leaf, "-noout", "-pubkey"], check=True,
                                 capture_output=True).stdout
            der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=key,
                                 check=True, capture_output=True).stdout
            yield base64.b64encode(hashlib.sha256(der).digest()).decode()

    def close(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)


def rules(target):
    """A name costs no look-up in either case."""
    return "--host-resolver-rules=" + ",".join(f"MAP {host} {target}" for host in HOSTS)


def run(folder, *arguments):
    done = subprocess.run([harness.REPRISE, *map(str, arguments)], capture_output=True, text=True,
                          env=harness.environment(folder), timeout=900, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: exit {done.returncode}\n{done.stderr}")


def browse(result, loads, *flags):
    return (harness.REPRISE, "load", "--live", "--browser", BROWSER, "--no-bodies", "--runs",
            str(loads), "-o", str(result), f"https://{HOSTS[0]}/", "--", *flags)


def load_times(result):
    loads = json.loads(result.read_text())["loads"]
    assert all(each["outcome"] == "loaded" for each in loads), loads
    return [each["load_event_ms"] for each in loads[1:]]


def measure(folder, program, shared, loads):
    """Load times of the site itself and of its replay."""
    site = Site(folder, program, shared)
    archive = folder / "a.reprise"
    live, replayed = folder / "live.json", folder / "replayed.json"
    try:
        connects = (part for host in HOSTS
                    for part in ("--connect-to", f"{host}:443:127.0.0.1:{site.port}"))
        run(folder, "record", "-o", archive, *connects, "--insecure-origin", "--",
            *browse(folder / "recorded.json", 1, "{chromium-flags}"))
        run(folder, "shape", "--link", LINK, "--", *browse(
            live, loads, rules(f"192.0.2.1:{site.port}"),
            "--ignore-certificate-errors-spki-list=" + ",".join(site.key_digests())))
    finally:
        site.close()
    replay = harness.Reprise(folder, "replay", "--inject", "none", "--dates", "recorded",
                             str(archive))
    try:
        port = replay.ready["https"].rpartition(":")[2]
        trust = "--ignore-certificate-errors-spki-list=" + replay.ready["ca_spki_sha256"]
        run(folder, "shape", "--link", LINK, "--",
            *browse(replayed, loads, rules(f"192.0.2.1:{port}"), trust))
    finally:
        replay.stop()
    return load_times(live), load_times(replayed)


def main():
    loads = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(f"link {LINK}, {OBJECTS} objects, {loads - 1} loads each\n")
    print("| site | certificates | site ms | replay ms | off |\n|---|---|---|---|---|")
    figures = []
    for program in (H2O, NGINX):
        for shared in (True, False):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-figure."))
            try:
                live, replayed = (statistics.median(times)
                                  for times in measure(folder, program, shared, loads))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            server, name = pathlib.Path(program).name, "one for both" if shared else "one each"
            off = 100 * (replayed - live) / live
            print(f"| {server} | {name} | {live:.0f} | {replayed:.0f} | {off:+.2f} % |", flush=True)
            figures.append((f"load time of a replay of {server}, certificates: {name}",
                            round(abs(off), 2)))
    print()
    for name, off in figures:
        figure.report(name, off, "%", f"<= {BAR_PERCENT}")
    return 1 if any(off > BAR_PERCENT for _, off in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
