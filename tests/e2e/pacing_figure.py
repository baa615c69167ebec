#!/usr/bin/env python3
"""What keeping time costs a replay.

usage: pacing_figure.py [memory|processor]

memory      1,000 event streams that wait at once, over HTTP/1.1, TLS and HTTP/2: memory of each
processor   a chatty page again and again, with its pace and think times and without: processor time
"""

import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time

import figure
import harness
from wire import DEADLINE_SECONDS, HOST, Certificate, response

STREAMS = 1000
HELD_SECONDS = 40
KILOBYTES_MAX = 100

RESOURCES = 150
CONNECTIONS = 6
EVENTS = 20
EVENT_GAP_SECONDS = 0.025
THINK_SECONDS = 0.002
LOADS = 40
MORE_PERCENT_MAX = 20


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event_stream(gaps):
    """Events with these gaps in s behind them."""
    pace = threading.Event()
    yield (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n")
    for gap in gaps:
        yield chunk(b"data: something happened\n\n")
        pace.wait(gap)
    yield b"0\r\n\r\n"


def recorded(case, answer, paths):
    archive = case.folder / "a.reprise"
    origin = case.origin(answer, tls=Certificate(case.folder / "tls"),
                         timeout_seconds=3 * HELD_SECONDS)
    recorder = case.record(archive, origins=(origin,))
    with recorder.connect("https") as client:
        client.sock.settimeout(3 * HELD_SECONDS)
        for path in paths:
            client.get(path)
    recorder.stop()
    origin.close()
    return archive


def anonymous_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1.024


def hits(replay):
    with replay.connect("admin") as client:
        return harness.json.loads(client.get("/status", host="localhost").body)["hits"]


def hold_over_h1(replay, listener):
    """That many connections, each with the first event of a stream."""
    clients = []
    for _ in range(STREAMS):
        client = replay.connect(listener)
        client.send(b"GET / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\n\r\n")
        clients.append(client)
    for client in clients:
        if client.read_head().status != 200 or not client.read_line():
            raise AssertionError("no stream")
    return clients


def hold_over_h2(replay):
    process = subprocess.Popen(
        ["h2load", "-n", str(STREAMS), "-c", "4", "-m", "250", "-t", "1", "--connect-to",
         replay.ready["https"], f"https://{HOST}/"],
        stdout=subprocess.DEVNULL)
    pace, deadline = threading.Event(), time.monotonic() + DEADLINE_SECONDS
    while hits(replay) < STREAMS:
        if time.monotonic() > deadline:
            raise AssertionError(f"only {hits(replay)} streams")
        pace.wait(0.1)
    return process


def report_memory(case):
    archive = recorded(case, lambda _: event_stream([HELD_SECONDS]), ["/"])
    ways = {"h1": lambda replay: hold_over_h1(replay, "http"),
            "tls": lambda replay: hold_over_h1(replay, "https"), "h2": hold_over_h2}
    for way, hold in ways.items():
        protocol = "h2" if way == "h2" else "h1"
        replay = case.replay(archive, "--admin", "127.0.0.1:0", "--protocol", protocol)
        before = anonymous_kb(replay.pid)
        held = hold(replay)
        each = (anonymous_kb(replay.pid) - before) / STREAMS
        figure.report(f"slow_stream_memory_{way}", round(each, 1), "kB", f"< {KILOBYTES_MAX}")
        replay.kill()
        if isinstance(held, list):
            for client in held:
                client.close()
        else:
            held.kill()
            held.wait()


def page_answer(request):
    if request.target == "/events":
        return event_stream([EVENT_GAP_SECONDS] * EVENTS)
    threading.Event().wait(THINK_SECONDS)
    return response(b"x" * 5000)


def processor_ms(pid):
    """Of all threads so far."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def load_page(replay):
    """As a browser would: resources over several connections, an event stream beside them."""
    def take(paths):
        with replay.connect("https") as client:
            for path in paths:
                if client.get(path).status != 200:
                    raise AssertionError(f"{path} was not answered")

    resources = [f"/{i}" for i in range(RESOURCES)]
    parts = [resources[i::CONNECTIONS] for i in range(CONNECTIONS)] + [["/events"]]
    threads = [threading.Thread(target=take, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def report_processor(case):
    archive = recorded(case, page_answer, [f"/{i}" for i in range(RESOURCES)] + ["/events"])
    replays = {"none": case.replay(archive, "--pace", "none"),
               "streams": case.replay(archive),
               "think": case.replay(archive, "--think-time", "recorded")}
    spent = {name: [] for name in replays}
    for _ in range(LOADS):
        for name, replay in replays.items():
            before = processor_ms(replay.pid)
            load_page(replay)
            spent[name].append(processor_ms(replay.pid) - before)
    median = {name: statistics.median(each) for name, each in spent.items()}
    figure.table(("timing", "ms of processor a load"),
                 [(name, round(each, 2)) for name, each in median.items()])
    for name, bound in (("streams", f"<= {MORE_PERCENT_MAX}"), ("think", None)):
        more = (median[name] / median["none"] - 1) * 100
        figure.report(f"pacing_processor_{name}", round(more, 1), "% more", bound)
    each = (median["streams"] - median["none"]) / EVENTS * 1000
    figure.report("pacing_processor_event", round(each, 1), "us", None)


def main():
    reports = {"memory": report_memory, "processor": report_processor}
    for name in sys.argv[1:] or reports:
        case = harness.TestCase()
        case.setUp()
        try:
            reports[name](case)
        finally:
            case.doCleanups()


if __name__ == "__main__":
    main()
