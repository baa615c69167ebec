#!/usr/bin/env python3
"""A page of 100 objects on two hosts, where one certificate covers both and the browser coalesces
them, and where each has its own: the recorded site live behind a link, and its replay behind the
same link. Prints the medians of the load event and how far the replay is off; the bar is 2 %.

The site is reached by `reprise shape`, and so is the replay, which makes them alike to the last
hop; and the replay by `replay --link`, as its users do it.

usage: shared_certificate_figure.py [LOADS]    (default 16; the first of each is dropped)
"""

import base64
import hashlib
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

import figure
import harness
from coalescing_test import BROWSER
from nginx_site import CONFIG, NGINX
from wire import Certificate, DEADLINE_SECONDS

# The queue takes the whole page, and reno's slow start ends with a loss alone. Where the queue
# overflows, what is lost decides about 5 % of a load's time, and microseconds decide what is lost;
# and where two connections share it, so does the round trip at which cubic's HyStart gives up.
LINK = "10mbit/10mbit/100,queue=1000p"
CONGESTION = "reno"
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


def picture(seed, rows):
    """64 bytes a row and a little more. It must be one: what a browser cannot decode it gives up as
    soon as it sees that, resets the stream, and calls the page loaded the earlier."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    noise = random.Random(seed)
    pixels = b"".join(b"\0" + noise.randbytes(63) for _ in range(rows))
    head = struct.pack(">IIBBBBB", 63, rows, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(pixels, 0)) + chunk(b"IEND", b""))


class Site:
    """Both hosts on one port, so that only the certificates decide about coalescing."""

    def __init__(self, folder, program, shared):
        self.folder = folder / "nginx"
        (self.folder / "www").mkdir(parents=True)
        images = [f"https://{HOSTS[i % 2]}/{i}.png" for i in range(OBJECTS)]
        for i in range(OBJECTS):
            (self.folder / f"www/{i}.png").write_bytes(picture(i, 30 + 7 * i // 2))
        (self.folder / "www/page.html").write_text(
            "<!doctype html><link rel=icon href=data:,><title>p</title>" +
            "".join(f"<img src={url} width=9 height=9>" for url in images))
        [self.port] = harness.free_ports(harness.LOOPBACK)
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


def browse(result, *flags):
    return (harness.REPRISE, "load", "--live", "--browser", BROWSER, "--no-bodies", "-o",
            str(result), f"https://{HOSTS[0]}/", "--", *flags)


def load_time(result):
    (load,) = json.loads(result.read_text())["loads"]
    assert load["outcome"] == "loaded", load
    return load["load_event_ms"]


def measure(folder, program, shared, loads):
    """Load times of the site itself, of its replay reached in the same way, and by replay --link;
    by turns, so that what else the machine does meanwhile is the same for all."""
    site = Site(folder, program, shared)
    archive, result = folder / "a.reprise", folder / "load.json"
    link = ("--link", LINK, "--congestion", CONGESTION, "--realtime", "--no-selfcheck")
    exactly = ("--inject", "none", "--dates", "recorded", str(archive))
    replay = None
    times = [], [], []
    try:
        connects = (part for host in HOSTS
                    for part in ("--connect-to", f"{host}:443:127.0.0.1:{site.port}"))
        run(folder, "record", "-o", archive, *connects, "--insecure-origin", "--",
            *browse(result, "{chromium-flags}"))
        replay = harness.Reprise(folder, "replay", *exactly)
        servers = ((site.port, ",".join(site.key_digests())),
                   (replay.address("https")[1], replay.ready["ca_spki_sha256"]))
        for _ in range(loads):
            for (port, digests), taken in zip(servers, times):
                run(folder, "shape", *link, "--", *browse(
                    result, rules(f"192.0.2.1:{port}"),
                    "--ignore-certificate-errors-spki-list=" + digests))
                taken.append(load_time(result))
            run(folder, "replay", *link, *exactly, "--", *browse(
                result, rules("198.18.0.1"), "{chromium-flags}"))
            times[2].append(load_time(result))
    finally:
        site.close()
        if replay:
            replay.stop()
    return [statistics.median(taken[1:]) for taken in times]


def main():
    loads = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    print(f"link {LINK}, {CONGESTION}, {OBJECTS} objects, {loads - 1} loads each\n")
    rows, figures = [], []
    for program in (H2O, NGINX):
        for shared in (True, False):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-figure."))
            try:
                live, *replayed = measure(folder, program, shared, loads)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            server, name = pathlib.Path(program).name, "one for both" if shared else "one each"
            print(server, name, live, *replayed, file=sys.stderr)
            off = [100 * (each - live) / live for each in replayed]
            rows.append((server, name, round(live), *(f"{each:.0f} ({percent:+.2f} %)"
                                                     for each, percent in zip(replayed, off))))
            figures += [(f"{way} of {server}, certificates: {name}", round(abs(percent), 2))
                        for way, percent in zip(("replay", "replay --link"), off)]
    figure.table(("site", "certificates", "site ms", "replay ms", "replay --link ms"), rows)
    for name, off in figures:
        figure.report("load time of a " + name, off, "%", f"<= {BAR_PERCENT}")
    return 1 if any(off > BAR_PERCENT for _, off in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
