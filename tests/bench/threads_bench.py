#!/usr/bin/env python3
"""Measures what a second thread gains: requests a second of a replay, of nginx and of h2o with two
threads over those with one, on two cores that also carry the load; and how evenly a replay's two
threads share the work. `tools/bench --two-threads` is its command.

Each repetition runs every server with one and with two threads, each time newly started. The client
fills what the server leaves of two cores; with --quota, each serving thread may use only a part of
a core, so that the servers are the bound.
"""

import argparse
import contextlib
import json
import pathlib
import shutil
import statistics
import sys
import tempfile

import servers  # first: it makes the modules of tests/e2e known
import figure
import loads
import thread_quotas
from cases import CASES

MEASURED = {"h1": ("h1-tls-1k", 200_000), "h2": ("h2-tls-1k", 500_000)}
THREADS = (1, 2)
WARM_UP_REQUESTS = 5_000
GAIN_OF_H2_MIN = 1.14
GAIN_WITH_QUOTA_MIN = 1.6
SHARE_APART_MAX = 0.20
WORKER_MIN_SHARE = 0.02  # of the processor time; threads with less do not serve


def seconds_of_serving(before, after):
    """Processor time of the threads that served, by thread."""
    spent = {thread: after[thread] - before.get(thread, 0) for thread in after}
    least = WORKER_MIN_SHARE * sum(spent.values())
    return {thread: seconds for thread, seconds in spent.items() if seconds > least}


def shares_apart(serving):
    """How far the least busy serving thread is below the busiest, as a share of that."""
    return 1 - min(serving.values()) / max(serving.values()) if len(serving) > 1 else 1.0


def one_run(bench, server, case, requests, quota):
    """Requests a second, and how far the threads' shares are apart."""
    start = thread_quotas.seconds_by_thread(server.pid)
    loads.run(bench, case, server, WARM_UP_REQUESTS)
    before = thread_quotas.seconds_by_thread(server.pid)
    serving = seconds_of_serving(start, before)
    with thread_quotas.given(serving, quota) if quota else contextlib.nullcontext():
        done = loads.run(bench, case, server, int(requests * (quota or 1)))
    if done["failed"]:
        sys.exit(f"{case.name}: {done['failed']} requests to {server.name} failed")
    after = thread_quotas.seconds_by_thread(server.pid)
    return (int(requests * (quota or 1)) / done["seconds"],
            shares_apart(seconds_of_serving(before, after)))


def measure(bench, archive, repetitions, quota):
    """{protocol: {server: {threads: [requests a second]}}}, and the shares of two threads."""
    starts = {"reprise": lambda threads: servers.replay(bench, archive, threads=threads)}
    for name in ("nginx", "h2o"):
        peer = servers.PEERS[name]
        if pathlib.Path(peer.program).exists():
            starts[name] = lambda threads, peer=peer: peer(bench, threads=threads)
    rates = {protocol: {name: {threads: [] for threads in THREADS} for name in starts}
             for protocol in MEASURED}
    apart = {protocol: [] for protocol in MEASURED}
    cases = {case.name: case for case in CASES}
    for repetition in range(repetitions):
        for name, start in starts.items():
            for threads in THREADS:
                with start(threads) as server:
                    for protocol, (case, requests) in MEASURED.items():
                        rate, difference = one_run(bench, server, cases[case], requests,
                                                   quota)
                        rates[protocol][name][threads].append(rate)
                        if name == "reprise" and threads == 2:
                            apart[protocol].append(difference)
                        print(f"{repetition + 1}/{repetitions} {protocol} {name:8} {threads}"
                              f" threads: {rate:,.0f} a second", file=sys.stderr, flush=True)
    return rates, apart


def report(rates, apart, options):
    rows, gains = [], {}
    for protocol, by_server in rates.items():
        for name, by_threads in by_server.items():
            one, two = (statistics.median(by_threads[threads]) for threads in THREADS)
            gains[protocol, name] = two / one
            rows.append((protocol, name, f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}"))
    figure.table(("protocol", "server", "1 thread, a second", "2 threads", "gain"), rows)
    if not options.figures:
        return
    for protocol in rates:
        least = GAIN_WITH_QUOTA_MIN if options.quota else GAIN_OF_H2_MIN
        figure.report(f"{protocol}_two_threads_gain", round(gains[protocol, "reprise"], 3), "x",
                      f">= {least}" if protocol == "h2" else None)
        figure.report(f"{protocol}_threads_apart",
                      round(statistics.median(apart[protocol]), 3), "of the busier one's time",
                      f"<= {SHARE_APART_MAX}")


def main():
    parser = argparse.ArgumentParser(prog="tools/bench --two-threads",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--repetitions", type=int, default=5, metavar="N",
                        help="medians are of this many (%(default)s)")
    parser.add_argument("--figures", action="store_true",
                        help="print a line of JSON a figure, too, for tools/test --full")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all rates here")
    parser.add_argument("--quota", type=float, metavar="SHARE",
                        help="of a core that each serving thread may use, such as 0.25")
    options = parser.parse_args()
    if options.quota and not thread_quotas.is_here():
        parser.error("--quota needs the cpu controller of cgroup v1, and root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-bench."))
    folder.chmod(0o755)  # a peer may serve as another user
    try:
        bench = servers.Bench(folder, None, None)
        rates, apart = measure(bench, servers.record(bench), options.repetitions,
                              options.quota)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(rates, apart, options)
    if options.json:
        options.json.write_text(json.dumps({"rates": rates, "apart": apart}, indent=2) + "\n")


if __name__ == "__main__":
    main()
