#!/usr/bin/env python3
"""Figures of the packet link, from both of its ends, by build/release/link_bench. Where the kernel
grants real-time priority it is used, unless the name says otherwise.

usage: shape_figure.py rtt | pong | goodput | speed | loss

Each figure is the best of TRIES, since whatever else runs on the machine makes it worse; all tries
go to stderr, with the link's lateness. After the figures stdout has a table of them for people,
with the machine's load average as each was taken. On a machine that is not idle, `chrt --rr 1
shape_figure.py` puts both ends before the rest; that is worth nothing for a link without delay.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import figure

REPRISE = pathlib.Path(os.environ.get("REPRISE", "build/release/reprise"))
BENCH = pathlib.Path(os.environ.get("LINK_BENCH", REPRISE.parent / "link_bench"))
TRIES = int(os.environ.get("FIGURE_TRIES", "3"))
PINGS = 1000
# Of each 1500 bytes charged for a full segment: 20 IP, 20 TCP, 12 of its time stamps.
PAYLOAD_SHARE = 1448 / 1500
LOSS_PACKETS = 100_000
FLOWS = 8

SENDER = """
import socket, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(COUNT // 20):
    for _ in range(20):
        sock.sendto(b"x" * 100, ("192.0.2.1", 9))
    time.sleep(.0005)
socket.socket().connect_ex(("192.0.2.1", 80))  # after it all that was sent before has crossed
"""


# What it is called, how the bench is told of it, and its bound of the mean in ms.
WAYS = (("", ("--realtime",), .10), ("_ordinary_priority", (), .20),
        ("_awake", ("--realtime", "--keep-awake"), .10))

rows = []


def report(name, value, unit, bound):
    figure.report(name, value, unit, bound)
    rows.append((name.replace("_", " "), value, unit, bound or "", round(os.getloadavg()[0], 1)))


def bench(link, *arguments, ways=("--realtime",)):
    """What both ends measured."""
    done = subprocess.run([BENCH, link, *ways, *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{link} {arguments}: {done.stderr}")
    measured = {}
    for line in done.stdout.splitlines():
        measured.update(json.loads(line))
    print(link, *arguments, *ways, json.dumps(measured), file=sys.stderr)
    if sum(measured["outside_drops"].values()):
        print("packets were lost outside the link", file=sys.stderr)
    return measured


def rtt():
    for way, ways, bound in WAYS:
        for delay_ms in (0, 40, 100, 200):
            tries = [bench(f"none,rtt={delay_ms}ms", "ping", PINGS, 5000, ways=ways)
                     for _ in range(TRIES)]
            mean = min(each["mean_ms"] for each in tries) - delay_ms
            p99 = min(each["p99_ms"] for each in tries) - delay_ms
            name = f"added_rtt_{delay_ms}ms{way}"
            report(name, round(mean, 4), "ms", f"< {.06 if delay_ms == 0 else bound}")
            report(name + "_p99", round(p99, 4), "ms",
                   "< 0.5" if "--realtime" in ways and delay_ms else None)


def pong():
    for way, ways, _ in WAYS:
        for delay_ms, count in ((0, 5000), (40, 300), (100, 150), (200, 100)):
            tries = [bench(f"none,rtt={delay_ms}ms", "pong", count, ways=ways)
                     for _ in range(TRIES)]
            added = min(each["p50_ms"] for each in tries) - delay_ms
            report(f"tcp_pong_{delay_ms}ms_p50{way}", round(added, 4), "ms",
                   "< 0.30" if "--realtime" in ways else None)


def goodput():
    """Queue: one bandwidth-delay product or 100 packets, whichever is larger. Cubic."""
    for mbit, seconds in ((1, 20), (10, 15), (100, 10), (500, 15)):
        link = f"{mbit}mbit/{mbit}mbit/20ms"
        ideal = mbit * 1e6 * PAYLOAD_SHARE
        best = min((bench(link, "down", seconds)["down_bps"] for _ in range(TRIES)),
                   key=lambda bps: abs(bps / ideal - 1))
        report(f"goodput_{mbit}mbit", round(best / 1e6, 4), "Mbit/s", None)
        report(f"goodput_{mbit}mbit_off", round(abs(best / ideal - 1) * 100, 3), "%",
               f"<= {1.0 if mbit == 500 else 0.5}")
        for flows in (1, FLOWS):
            tries = [bench(link, "both", seconds, flows) for _ in range(TRIES)]
            both_ways(mbit, ideal, flows,
                      max(tries, key=lambda each: each["down_bps"] + each["up_bps"]))


def both_ways(mbit, ideal, flows, measured):
    """Has no bound: acknowledgements take room in the other direction, 52 bytes for two segments,
    and wait in its queue, so that a link has nothing to send at times. The more flows, the less.
    """
    for side in ("down", "up"):
        name = f"goodput_{mbit}mbit_{side}_of_both_{flows}_flows"
        goodput = measured[side + "_bps"]
        idle = 1 - measured[side + "_wire_bps"] / mbit / 1e6
        report(name, round(goodput / 1e6, 4), "Mbit/s", None)
        report(name + "_off", round(abs(goodput / ideal - 1) * 100, 3), "%", None)
        report(name + "_wire_idle", round(idle * 100, 3), "%", None)


def speed():
    for name, link, least in (("unlimited", "none", 8.0),
                              ("at_4gbit", "4gbit/4gbit/0,queue=2000p", 3.7)):
        best = max((bench(link, "down", 5) for _ in range(TRIES)),
                   key=lambda each: each["down_bps"])
        report(f"link_{name}", round(best["down_bps"] / 1e9, 2), "Gbit/s", None)
        report(f"link_{name}_below", round(max(0, least - best["down_bps"] / 1e9), 3),
               f"Gbit/s under {least}", "<= 0")
        gigabytes = best["bytes"] / 1e9
        cpu = (best["server_cpu_s"] + best["client_cpu_s"]) / gigabytes
        report(f"link_{name}_cpu", round(cpu, 2), "s/GB", None)


def losses_of(percent, seed, folder):
    """The indices of the packets that were lost. A run counts when all packets reached the link:
    where it stands still for long enough, its ring of arrivals overflows."""
    log = folder / "log"
    for _ in range(TRIES):
        done = subprocess.run(
            [REPRISE, "shape", "--link", f"none,loss={percent}%", "--link-seed", str(seed),
             "--no-selfcheck", "--realtime", "--link-log", log, "--", "/usr/bin/python3", "-c",
             SENDER.replace("COUNT", str(LOSS_PACKETS))], check=False)
        if done.returncode:
            sys.exit("shape failed")
        lines = [line.split() for line in log.read_text().splitlines()[1:]]
        up = [line for line in lines if line[1] == "up" and int(line[2]) < LOSS_PACKETS]
        if len(up) == LOSS_PACKETS:
            return {int(line[2]) for line in up if line[4] == "lost"}
        print(f"{len(up)} packets and not {LOSS_PACKETS}", file=sys.stderr)
    sys.exit("the machine is too busy")


def loss():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for percent in (0.1, 1, 5):
            p = percent / 100
            first = losses_of(percent, 1, folder)
            # 99 % of a binomial distribution, by its normal one.
            room = 2.576 * (LOSS_PACKETS * p * (1 - p)) ** .5
            off = abs(len(first) - LOSS_PACKETS * p)
            report(f"loss_{percent}_percent_off", off, "packets", f"<= {room:.1f}")
            report(f"loss_{percent}_percent_not_repeated",
                   len(first ^ losses_of(percent, 1, folder)), "packets", "== 0")
            report(f"loss_{percent}_percent_same_for_another_seed",
                   int(first == losses_of(percent, 2, folder)), "runs", "== 0")


def main():
    figures = {"rtt": rtt, "pong": pong, "goodput": goodput, "speed": speed, "loss": loss}
    if len(sys.argv) != 2 or sys.argv[1] not in figures:
        sys.exit(__doc__)
    figures[sys.argv[1]]()
    figure.table(("figure", "value", "unit", "bound", "load average"), rows)


if __name__ == "__main__":
    main()
