#!/usr/bin/env python3
"""What callers of `wpr` wait for: the time from its start to both lines for a .wprgo of 100 MB, and
from the exit command to the end of a recording of 100 MB, when the .wprgo is whole: crossbench
kills it after a second. Medians of RUNS, on an idle machine."""

import os
import pathlib
import random
import statistics
import tempfile
import time

import figure
import harness
import wire
import wpr_case
from test_seed import TEST_SEED

RUNS = int(os.environ.get("FIGURE_RUNS", "5"))
EXCHANGES = 1000
BODY_BYTES = 100_000


def url_of(number):
    return f"https://host{number % 20}.test/{number}"


def body_of(number):
    return random.Random(TEST_SEED + number).randbytes(BODY_BYTES)


def archive_of_100_mb(folder):
    """Bodies as most are in recordings: compressed already."""
    path = wpr_case.write_wprgo(folder / "large.wprgo", [
        (url_of(i), wpr_case.entry(url_of(i), body_of(i), type="image/webp"))
        for i in range(EXCHANGES)])
    assert path.stat().st_size > EXCHANGES * BODY_BYTES
    return path


def seconds_to_start(folder, archive):
    began = time.monotonic()
    wpr = wpr_case.Wpr.started(folder, "replay", "--http_port=0", "--https_port=0",
                               "--inject_scripts=", str(archive))
    took = time.monotonic() - began
    assert wpr.get(url_of(7)).status == 200
    wpr.kill()
    return took


def seconds_to_end(folder, archive, site):
    wpr = wpr_case.Wpr.started(folder, "record", "--http_port=0", "--https_port=0",
                               "--inject_scripts=", str(archive))
    for number in range(EXCHANGES):
        assert wpr.get(f"{site}/{number}").status == 200
    began = time.monotonic()
    wpr.command("web-page-replay-command-exit")
    assert wpr.wait() == 0
    took = time.monotonic() - began
    assert len(wpr_case.read_wprgo(archive)) == EXCHANGES
    return took


def main(folder):
    archive = archive_of_100_mb(folder)
    starts = [seconds_to_start(folder, archive) for _ in range(RUNS)]
    figure.report("wpr_replay_ready_100_mb", round(statistics.median(starts), 2), "s", "< 2")
    origin = wire.Origin(lambda request: wire.response(body_of(int(request.target[1:]))))
    ends = [seconds_to_end(folder, archive, f"http://localhost:{origin.port}")
            for _ in range(RUNS)]
    origin.close()
    figure.report("wpr_record_whole_100_mb", round(statistics.median(ends), 2), "s", "< 1")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="reprise-figure.") as made:
        main(pathlib.Path(made))
