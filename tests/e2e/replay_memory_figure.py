#!/usr/bin/env python3
"""Reports how much memory of its own a replay takes after 10,000 different exact hits.

usage: replay_memory_figure.py [EXCHANGES]
"""

import json
import sys

import figure
import harness
from large_body_test import anonymous_mb

EXCHANGES = 10_000
BODY = "<!doctype html><title>x</title>" + "<p>All of this is text that is kept.</p>" * 250


def entry(number):
    body = f"{BODY}{number}"
    return {"startedDateTime": "2026-11-21T00:00:00Z", "time": 1,
            "request": {"method": "GET", "url": f"http://origin.test/{number}", "headers": [],
                        "httpVersion": "HTTP/1.1"},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1",
                         "headers": [{"name": "Content-Type", "value": "text/html"},
                                     {"name": "Content-Length", "value": str(len(body))},
                                     {"name": "Date", "value": "Sat, 21 Nov 2026 00:00:00 GMT"}],
                         "content": {"mimeType": "text/html", "text": body}},
            "timings": {}}


def measure(case, count):
    har = case.folder / "a.har"
    entries = [entry(number) for number in range(count)]
    har.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    archive = case.folder / "a.reprise"
    harness.run("archive", "import", str(har), "-o", str(archive))
    replay = case.start("replay", str(archive))
    before = anonymous_mb(replay.pid)
    with replay.connect("http") as client:
        for number in range(count):
            assert client.get(f"/{number}").status == 200
    after = anonymous_mb(replay.pid)
    assert replay.stop() == 0, replay.log()
    return before, after


if __name__ == "__main__":
    test = harness.TestCase()
    test.setUp()
    try:
        start_mb, end_mb = measure(test, int(sys.argv[1]) if len(sys.argv) > 1 else EXCHANGES)
    finally:
        test.doCleanups()
    figure.report("replay_memory_at_start", start_mb, "MB", None)
    figure.report("replay_memory", end_mb, "MB", "< 100")
