#!/usr/bin/env python3
"""Measures how fast a replay serves, beside nginx, h2o and nghttpd: tools/bench is its command, and
README.md says how it measures and what the JSON holds.

A repetition goes through all cases, and within a case through all servers, another one first each
time: what drifts hits all alike.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import servers  # first: it makes the modules of tests/e2e known
import figure
import instructions
import loads
import processes
import report
from cases import CASES

WARM_UP_REQUESTS = 500
QUICK_REQUESTS, QUICK_CONNECTIONS = 400, 60
QUICK_FRESH = 1, QUICK_CONNECTIONS  # sets of fresh names, and names of each
COUNTED_REQUESTS, COUNTED_CONNECTIONS = {"1k": 2000, "10k": 1000, "100k": 200}, 100
GATE_FAILED = 5
START = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - START:4.0f} s] {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--cases", metavar="NAME,...", default=",".join(c.name for c in CASES),
                        help="only these of %(default)s")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N",
                        help="medians are of this many (%(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help="one repetition of few requests: whether it works, not how fast")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures here")
    parser.add_argument("--figures", action="store_true",
                        help="print a line of JSON a figure, too, for tools/test --full")
    parser.add_argument("--count-peers", action="store_true",
                        help="count the peers' instructions and all system calls, too (8 minutes"
                             " more)")
    parser.add_argument("--strict", action="store_true", help="exit 5 when a target is missed")
    parser.add_argument("--cores", metavar="SERVER,LOAD",
                        help="where the servers and the load run (the first two there are)")
    options = parser.parse_args()
    names = options.cases.split(",")
    if unknown := set(names) - {case.name for case in CASES}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options.cases = [case for case in CASES if case.name in names]
    if options.quick and options.strict:
        parser.error("--quick measures nothing that --strict could judge")
    if options.repetitions < 1:
        parser.error("--repetitions is at least 1")
    available = sorted(os.sched_getaffinity(0))
    if options.cores:
        options.cores = [int(core) for core in options.cores.split(",")]
    else:
        options.cores = [available[0], available[-1]]
        if len(available) == 1:
            say("only one core: servers and load share it, and requests a second mean nothing")
    return options


def peers_here():
    for name, peer in servers.PEERS.items():
        if pathlib.Path(peer.program).exists():
            yield peer
        else:
            say(f"{name} is not installed ({peer.program}; tools/setup installs it): skipped")


def measure(bench, case, server, requests):
    """One repetition on one server."""
    loads.verify(bench, case, server)
    if not case.fresh_names:
        loads.run(bench, case, server, min(WARM_UP_REQUESTS, requests // 10))
    processes.forget_peak_memory(server.pid)
    before = processes.cpu_seconds(server.pid)
    run = loads.run(bench, case, server, requests)
    cpu_seconds = processes.cpu_seconds(server.pid) - before
    run["cpu_seconds_per_10000"] = cpu_seconds / requests * 10_000
    run["requests_per_second"] = requests / run["seconds"] if run["seconds"] else 0
    run["peak_memory_mb"] = processes.peak_memory_mb(server.pid)
    return run


def measure_all(bench, options, running):
    """The repetitions by case and server."""
    runs = {case.name: {server.name: [] for server in running if case.protocol in server.ports}
            for case in options.cases}
    for repetition in range(options.repetitions):
        first = repetition % len(running)
        for case in options.cases:
            for server in running[first:] + running[:first]:
                if case.protocol not in server.ports:
                    continue
                run = measure(bench, case, server, case.requests)
                runs[case.name][server.name].append(run)
                say(f"{repetition + 1}/{options.repetitions} {case.name:14} {server.name:8}"
                    f" {run['cpu_seconds_per_10000']:.4f} CPU s / 10,000,"
                    f" {run['requests_per_second']:,.0f} a second, {run['failed']} failed")
    return runs


def count_instructions(bench, options, archive, fresh, results):
    """Adds them to `results`; a quick run shows with one that it works. `fresh` is `archive` with
    the fresh names, for the cases that ask for them: under valgrind their certificates take
    long."""
    if not shutil.which("valgrind"):
        say("valgrind is not installed (tools/setup installs it): instructions are not counted")
        return
    for case, result in zip(options.cases, results):
        requests = (COUNTED_CONNECTIONS if case.connections
                    else COUNTED_REQUESTS[case.name_of_object])
        if options.quick:
            requests //= 10
        replayed = fresh if case.fresh_names else archive
        each, result["instructions_failed"] = instructions.a_request(bench, replayed, case,
                                                                     requests)
        result["instructions"] = each.total()
        say(f"{case.name:18} {result['instructions']:,.0f} instructions each")
        if options.count_peers:
            count_beside_peers(bench, replayed, case, requests, result, each)
        if options.quick:
            return


def count_beside_peers(bench, archive, case, requests, result, own):
    """Instructions by library and system calls, of the peers and of the replay, whose instructions
    are `own`."""
    result["counts"] = {"reprise": {"instructions": dict(own)}}
    starts = {"reprise": lambda wrapper: servers.replay(bench, archive, wrapper,
                                                        over_quic=case.protocol == "h3")}
    for name in result["ratios"]:
        peer = servers.PEERS[name]
        if not peer.runs_in_valgrind:
            continue
        starts[name] = lambda wrapper, peer=peer: peer(bench, wrapper=wrapper)
        each, failed = instructions.a_request_of(peer, bench, case, requests)
        result["counts"][name] = {"instructions": dict(each)}
        result["instructions_failed"] += failed
    for name, start in starts.items():
        calls, failed = instructions.calls_a_request(start, bench, case, requests)
        result["counts"][name]["system_calls"] = calls
        result["instructions_failed"] += failed
        say(f"{case.name:18} {name:8} {report.counts_text(result['counts'][name])}")


def print_figures(results):
    for result in results:
        if result["target"]:
            figure.report(f"{result['case']}_cpu_ratio", round(result["target"]["ratio"], 3),
                          f"x {result['target']['to']}", f"<= {result['target']['limit']}")
        if "instructions" in result:
            figure.report(f"{result['case']}_instructions", round(result["instructions"]), "each",
                          None)


def run(options, folder):
    bench = servers.Bench(folder, *options.cores, quick=options.quick)
    say("recording the objects from nginx")
    archive = servers.record(bench)
    fresh = servers.with_fresh_names(bench, archive, *QUICK_FRESH if options.quick else ())
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(servers.replay(bench, fresh, over_quic=over_quic))
                   for over_quic in sorted({case.protocol == "h3" for case in options.cases})]
        for peer in peers_here():
            running.append(stack.enter_context(peer(bench)))
        runs = measure_all(bench, options, running)
    results = [report.summary(case, runs[case.name]) for case in options.cases]
    count_instructions(bench, options, archive, fresh, results)
    return results


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # with its servers
    if options.quick:
        options.repetitions = 1
        options.cases = [
            dataclasses.replace(case, requests=QUICK_CONNECTIONS if case.connections
                                else QUICK_REQUESTS) for case in options.cases]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-bench."))
    folder.chmod(0o755)  # a peer may serve as another user
    try:
        results = run(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.quick:
        print("A quick run: it shows that all works, and its figures mean nothing.\n")
    print(report.table(results), flush=True)
    if options.json:
        everything = {"version": 1, "quick": options.quick, "repetitions": options.repetitions,
                      "cases": results}
        options.json.write_text(json.dumps(everything, indent=2) + "\n")
    if options.figures:
        print_figures(results)
    faults = [fault for result in results for fault in report.faults(result)]
    for fault in faults:
        say(f"FAILED: {fault}")
    if faults:
        return 1
    missed = [each for each in results if each["target"] and not each["target"]["met"]]
    return GATE_FAILED if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
