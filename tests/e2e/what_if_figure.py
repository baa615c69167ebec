#!/usr/bin/env python3
"""Measured what-ifs.

null: ten that have no effect on the load event, over three pages: none may be called different,
with a chance of 5 % that one of the thirty is. Names of pages are arguments.
real: eight on each of three imported real pages, with the savings and their intervals.
looks: whether these pages look as they did. REPRISE_CORPUS names the folder of the recordings."""

import json
import os
import pathlib
import sys
import tempfile

import figure
import gate_sites
import harness
import page_archives
import screenshots
from gate_sites import HOST, URL
from wire import Certificate, Origin

TIMEOUT_SECONDS = 1200
ATTEMPTS = 4  # of one that the machine disturbs
RUNS = ("--skip-noise-check", "--json", "--seed", "1", "--quiet", "1000", "--settle", "200")
LATE = (b"<script>addEventListener('load', () => setTimeout(() => fetch('/late.json'), 300))"
        b"</script>")


def pages():
    """Three pages; each asks for something more after it has loaded."""
    style = (b"text/css", b"p { color: green }" + b"/* " + gate_sites.words(1, 20_000) + b" */")
    script = (b"text/javascript", b"document.title += 's' //" + gate_sites.words(2, 60_000))
    late = {"/late.json": (b"application/json", b"{}")}
    head = b"<!doctype html><title>t</title><link rel=icon href=data:,>"
    pictures = {f"/p{i}.svg": gate_sites.picture(i, 15_000) for i in range(12)}
    yield "pictures", {"/": (b"text/html", head + LATE + b"".join(
        b"<img src=/p%d.svg>" % i for i in range(12))), **pictures, **late}
    yield "blocking", {"/": (b"text/html", head + b"<link rel=stylesheet href=/s.css>"
                             b"<script src=/a.js></script><p>words" + LATE),
                       "/s.css": style, "/a.js": script, **late}
    yield "chain", {"/": (b"text/html", head + b"<p>words<script src=/c.js></script>" + LATE),
                    "/c.js": (b"text/javascript", b"document.body.append(Object.assign("
                              b"new Image(), {src: '/p1.svg'}))"),
                    "/p1.svg": gate_sites.picture(1, 90_000), **late}


def record(folder, name, files):
    tls = Certificate(folder / f"tls-{name}", (HOST,))
    origin = Origin(gate_sites.Site(files).answer, names=(HOST,), tls=tls)
    archive = folder / f"{name}.reprise"
    try:
        done = harness.run("record", "-o", str(archive), "--inject", "none",
                           *origin.connect_arguments(), URL, folder=folder, timeout=120)
    finally:
        origin.close()
    assert done.returncode == 0, done.stderr.decode()
    return archive


def whatif(folder, archive, url, texts, *arguments):
    """The report, or why there is none."""
    what_ifs = [each for text in texts for each in ("--what-if", text)]
    for _ in range(ATTEMPTS):
        done = harness.run("whatif", str(archive), url, *what_ifs, *RUNS, *arguments,
                           folder=folder, timeout=TIMEOUT_SECONDS)
        lines = done.stderr.decode().strip().splitlines()
        report = json.loads(done.stdout) if done.stdout else None
        if report and any(page["metrics"] for page in report["pages"]):
            return report
        print(*texts, *lines[-2:], sep="\n", file=sys.stderr, flush=True)
        if report is None or not any("disturb" in line for line in lines):
            break
    return report or lines[-1]


def null(folder, names=("pictures", "blocking", "chain")):
    """Over HTTP/2: a cold cache has no use for cache=."""
    verdicts, rows = [], []
    for name, files in pages():
        if name not in names:
            continue
        archive = record(folder, name, files)
        comment, other = folder / f"{name}.html", folder / "other.json"
        comment.write_bytes(files["/"][1] + b"<!-- a comment -->")
        other.write_bytes(b'{"other": 1}')
        for text in (f"path=/: body={comment}", "path=/late.json: think=+300ms", "*: cache=1y",
                     "path=/late.json: status=404", f"path=/late.json: body={other}",
                     "path=/late.json: drop", "*: think=+0.001ms", "*: rtt=+0.001ms",
                     "path=/late.json: preconnect", "*: dns=+0.001ms"):
            report = whatif(folder, archive, URL, [text], "--link", "20mbit/20mbit/60",
                            "--protocol", "h2", "--metric", "load", "--inject", "none",
                            "--max-runs", "8", "--look-every", "8", "--alpha", str(.05 / 30))
            if isinstance(report, str):
                sys.exit(f"{name}, {text}: {report}")
            metrics = [metric for page in report["pages"] for metric in page["metrics"]]
            verdicts += [metric["verdict"] for metric in metrics] or ["undecided"]
            for metric in metrics:
                rows.append((name, text.replace(str(folder), ""), metric["verdict"],
                             f"{metric['shift']:+.1f} ({metric['low']:+.1f} to "
                             f"{metric['high']:+.1f})", metric["loads_a"]))
            print(*rows[-1:], file=sys.stderr, flush=True)
    figure.table(("page", "what if", "verdict", "load event, ms", "loads a side"), rows)
    figure.report("what_if_null_different", verdicts.count("different"),
                  f"of {len(verdicts)}", "== 0")
    figure.report("what_if_null_same", verdicts.count("same"), f"of {len(verdicts)}", None)


REAL = {
    "VK": ("type=script: async", "type=script: preload", "type=script,style: compress=off",
           "type=html: think=+200ms", "type=style: inline", "*: rtt=+50ms", "*: protocol=h1",
           "type=font,style: preload"),
    "Wikipedia": ("type=script: async", "type=image: lazy", "type=html: compress=off",
                  "type=html: think=+200ms", "type=image: think=+100ms", "*: rtt=+50ms",
                  "*: protocol=h1", "type=image: preload"),
    "gatech": ("type=script: defer", "type=image: lazy", "type=script,style: compress=br",
               "type=html: think=+200ms", "!host=.gatech.edu: drop", "*: rtt=+50ms",
               "*: protocol=h1", "type=style: preload"),
}


def recordings(folder, names):
    """The real pages as archives. Nothing where the recordings are not there."""
    if not os.environ.get("REPRISE_CORPUS"):
        figure.report("what_if_real_not_there", 1, "", None)
        return
    yield from page_archives.imported(folder, names)


def real(folder, names=tuple(REAL)):
    rows = []
    for name, archive, url in recordings(folder, names):
        for text in REAL[name]:
            report = whatif(folder, archive, url, [text], "--link", "wpt:cable", "--budget", "4m",
                            "--max-runs", "8", "--look-every", "8", "--metric", "load")
            if isinstance(report, str):
                rows.append((name, text, report[:60], "", "", ""))
                continue
            metrics = [metric for page in report["pages"] for metric in page["metrics"]]
            requests = report["requests"]
            rows.append((name, text, metrics[0]["verdict"] if metrics else "no verdict",
                         f"{metrics[0]['shift']:+.0f} ({metrics[0]['low']:+.0f} to "
                         f"{metrics[0]['high']:+.0f})" if metrics else "",
                         metrics[0]["loads_a"] if metrics else 0,
                         f"{len(requests['came'])}, {len(requests['went'])}, "
                         f"{len(requests['moved'])}"))
            print(*rows[-1:], file=sys.stderr, flush=True)
    figure.table(("page", "what if", "verdict", "load event, ms", "loads a side",
                  "came, went, moved"), rows)
    figure.report("what_if_real_measured", sum(row[2] != "no verdict" for row in rows), "of 24",
                  None)


def screenshot(folder, archive, url, texts, name):
    """The picture of a load, or none where the what-if is refused, which is told."""
    shots = folder / name
    what_ifs = [each for text in texts for each in ("--what-if", text)]
    done = harness.run("load", str(archive), url, *what_ifs, "--link", "wpt:cable",
                       "--screenshot", str(shots), folder=folder, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        print(done.stderr.decode().strip().splitlines()[-1:], file=sys.stderr, flush=True)
    return next(shots.glob("*.png"), None)


def looks(folder, names=tuple(REAL)):
    """What-ifs that change no byte of the page must not change its looks, but for the random
    order in which a page's own scripts answer: a second load of the unchanged page says how far."""
    rows = []
    for name, archive, url in recordings(folder, names):
        before = screenshot(folder, archive, url, (), f"{name}-before")
        for number, text in enumerate(("", *REAL[name])):
            after = screenshot(folder, archive, url, (text,) if text else (), f"{name}-{number}")
            share = screenshots.changed(before, after) if after else None
            rows.append((name, text or "(nothing)",
                         "refused" if share is None else f"{share:.3%}"))
            print(*rows[-1:], file=sys.stderr, flush=True)
    figure.table(("page", "what if", "pixels that differ"), rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        {"null": null, "real": real, "looks": looks}[sys.argv[1]](pathlib.Path(made), *(
            [tuple(sys.argv[2:])] if sys.argv[2:] else []))
