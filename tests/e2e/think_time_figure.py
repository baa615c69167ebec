#!/usr/bin/env python3
"""How far the time to first byte of a replay with recorded think times is from the recording's.

An origin thinks a random time before each answer, and is recorded; then every exchange is asked for
again, and its time to first byte held against the recorded one. The figure is the 95th percentile
of what is over 2 ms or 2 % of the recorded time, whichever is more: it holds at 0.
REPRISE_TEST_SEED chooses the times: see tests/test_seed.py.
"""

import random
import threading
import time

import figure
import harness
from test_seed import TEST_SEED
from wire import HOST, Certificate, response

EXCHANGES = 200
THINK_SECONDS_MAX = 0.2
TOLERANCE_SECONDS, TOLERANCE = 0.002, 0.02


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def first_byte_seconds(client, path):
    start = time.perf_counter()
    client.send(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    first = client.read_some(1)
    elapsed = time.perf_counter() - start
    client.held = first + client.held
    if client.read_response().status != 200:
        raise AssertionError(f"{path} was not answered")
    return elapsed


def recorded_seconds(case, archive):
    """Of each path, the time to first byte that the archive holds."""
    seconds = {}
    for each in case.archive_json("ls", str(archive)):
        shown = case.archive_json("show", str(archive), str(each["number"]))
        timings = shown["timings"]
        seconds[shown["request"]["target"]] = (
            timings["first_byte_ns"] - timings["request_sent_ns"]) / 1e9
    return seconds


def measure(case):
    chance = random.Random(TEST_SEED)
    think = {f"/{i}": chance.uniform(0, THINK_SECONDS_MAX) for i in range(EXCHANGES)}
    pace = threading.Event()

    def answer(request):
        pace.wait(think[request.target])
        return response(b"x" * 1000)

    archive = case.folder / "a.reprise"
    origin = case.origin(answer, tls=Certificate(case.folder / "tls"))
    recorder = case.record(archive, origins=(origin,))
    with recorder.connect("https") as client:
        for path in think:
            first_byte_seconds(client, path)
    recorder.stop()
    origin.close()
    recorded = recorded_seconds(case, archive)
    replay = case.replay(archive, "--think-time", "recorded")
    with replay.connect("https") as client:
        off = [first_byte_seconds(client, path) - recorded[path] for path in think]
    replay.stop()
    over = [max(0, abs(by) - max(TOLERANCE_SECONDS, TOLERANCE * recorded[path]))
            for by, path in zip(off, think)]
    return off, over


def main():
    case = harness.TestCase()
    case.setUp()
    try:
        off, over = measure(case)
    finally:
        case.doCleanups()
    figure.table(("seed", "exchanges", "off by, median ms", "p95 ms", "most ms"),
                 [(TEST_SEED, EXCHANGES, *(round(at * 1000, 3) for at in (
                     percentile(off, 50), percentile(map(abs, off), 95), max(map(abs, off)))))])
    figure.report("think_time_error_p95", round(percentile(map(abs, off), 95) * 1000, 3), "ms",
                  None)
    figure.report("think_time_over_tolerance_p95", round(percentile(over, 95) * 1000, 3), "ms",
                  "<= 0")


if __name__ == "__main__":
    main()
