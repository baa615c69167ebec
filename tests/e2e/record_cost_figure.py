#!/usr/bin/env python3
"""What `record` and `--trace` add to a load: the same page of nginx over HTTP/2, behind a link,
loaded directly, directly with a trace, and through a recorder, in turn, by a new browser each time.
The bound is what X-ray (OSDI 2012) adds at most. It is TLS 1.3: a recorder needs a round trip more
for the handshake of an origin of TLS 1.2, since OpenSSL has no False Start (RFC 7918).

A table for people follows the figures. FIGURE_RUNS: rounds, 15 unless told."""

import json
import os
import pathlib
import statistics
import tempfile

import figure
import harness
from gate_sites import noise, words
from nginx_site import Host, NginxSite
from what_if_test import png
from wire import Certificate

RUNS = int(os.environ.get("FIGURE_RUNS", "15"))
SHARE_MAX = 7
LINK = "wpt:4g"
OUTSIDE = "192.0.2.1"  # this machine's loopback, to a command behind a link
NAME = "cost.test"  # a recorder serves an address without a name over HTTP/1.1
METRICS = {"load event": "load_event_ms", "first paint": "first_contentful_paint_ms"}
QUICK = ("--browser", harness.BROWSER, "--quiet", "500", "--settle", "500")


def site(folder):
    """60 requests, 700 kB."""
    page = (b"<!doctype html><title>t</title><link rel=icon href=data:,>"
            b"<link rel=stylesheet href=/style.css><script src=/app.js></script><p>words" +
            b"".join(b"<img src=/%d.png width=63 height=9>" % n for n in range(56)) +
            b"<img src=/large.bin>")
    files = {"/": ("text/html", page, []), "/style.css": ("text/css", b"p { color: green }", []),
             "/app.js": ("text/javascript", b"// " + words(1, 300_000), []),
             "/large.bin": ("image/png", noise(2, 300_000), [])}
    for n in range(56):
        files[f"/{n}.png"] = ("image/png", png(40 + n, 9), [])
    tls = Certificate(folder / "tls", (NAME,))
    return tls, NginxSite(folder / "nginx", {NAME: Host("127.0.0.1", tls, files)})


def loaded(folder, way, port, ca_file):
    """The load of the page in one of the ways."""
    report, url = folder / "report.json", f"https://{NAME}/"
    if way == "recorded":
        archive = folder / "page.reprise"
        arguments = ("record", "-o", str(archive), "--inject", "none", "--origin-ca", str(ca_file),
                     "--connect-to", f"{NAME}:443:{OUTSIDE}:{port}", "--load-report", str(report),
                     *QUICK, url)
    else:
        arguments = ("load", "--live", url, "--ca", str(ca_file), *QUICK, "--runs", "1",
                     "--warm-up", "0", "--no-bodies", "-o", str(report), "--chromium-flag",
                     f"--host-resolver-rules=MAP {NAME} {OUTSIDE}:{port}")
        if way == "traced":
            arguments += ("--trace", str(folder / "traces"))
    done = harness.run("shape", "--link", LINK, "--no-selfcheck", "--ports", str(port), "--",
                       harness.REPRISE, *arguments, folder=folder, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    if way == "recorded":
        archive.unlink()
    load, = json.loads(report.read_text())["loads"]
    assert load["outcome"] == "loaded" and len(load["requests"]) >= 60, load["outcome"]
    assert {each["protocol"] for each in load["requests"]} == {"h2"}
    return load


def main():
    ways = ("direct", "traced", "recorded")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tls, nginx = site(folder)
        port = nginx.ports[NAME]
        try:
            rounds = [{way: loaded(folder, way, port, tls.ca_file) for way in ways}
                      for _ in range(RUNS + 1)][1:]
        finally:
            nginx.close()
    rows = []
    for metric, key in METRICS.items():
        medians = {way: statistics.median(each[way][key] for each in rounds) for way in ways}
        for way in ways[1:]:
            share = 100 * (medians[way] / medians["direct"] - 1)
            figure.report(f"{way}_{metric.replace(' ', '_')}_added", round(share, 1), "%",
                          f"<= {SHARE_MAX}")
            rows.append((metric, way, f"{medians['direct']:.1f}", f"{medians[way]:.1f}",
                         f"{share:+.1f} %"))
    figure.table(("metric", "way", "direct, ms", "so, ms", "added"), rows)


if __name__ == "__main__":
    main()
