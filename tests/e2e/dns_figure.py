#!/usr/bin/env python3
"""Figures of the stub resolver beside Debian's dnsmasq and unbound: queries a second on one core,
and processor time a query, under dnsperf on another core. One query each for A, AAAA and HTTPS of
200 names that all three have in memory.

usage: dns_figure.py [SECONDS]

The servers take turns for ROUNDS rounds of SECONDS (3) each. What else runs on the machine makes
every figure worse, so the best round of each server counts; all go to stderr.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import dns.exception
import dns.message
import dns.query

import figure
import harness

REPRISE = os.environ.get("REPRISE", "build/release/reprise")
ROUNDS = int(os.environ.get("FIGURE_TRIES", "5"))
SERVER_CORE, LOAD_CORE = "0", "1"
ENOUGH_PER_SECOND = 100_000
NAMES = {f"n{number}.example.test": f"127.18.0.{number}" for number in range(1, 201)}
UNBOUND = """
server:
  interface: 127.0.0.1
  port: {port}
  chroot: ""
  username: ""
  pidfile: ""
  logfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  module-config: "iterator"
  local-zone: "example.test." static
"""


def find(program):
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        sys.exit(f"{program} is not installed")
    return found


class Server:
    """One that answers at `port`, on a core of its own."""

    def __init__(self, name, make_command):
        self.name = name
        [self.port] = harness.free_ports(harness.LOOPBACK)
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *make_command(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.rates = []
        self.costs = []
        self._wait_until_ready()

    def _wait_until_ready(self):
        query = dns.message.make_query(next(iter(NAMES)), "A")
        for _ in range(100):
            try:
                return dns.query.udp(query, "127.0.0.1", port=self.port, timeout=0.1)
            except (dns.exception.Timeout, OSError):
                if self.process.poll() is not None:
                    break
        return sys.exit(f"{self.name} does not answer")

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def measure(self, queries, seconds):
        before = self.processor_seconds()
        done = subprocess.run(
            ["taskset", "-c", LOAD_CORE, find("dnsperf"), "-s", "127.0.0.1", "-p", str(self.port),
             "-d", str(queries), "-l", str(seconds), "-c", "20", "-q", "200", "-W"],
            capture_output=True, text=True, check=True)
        spent = self.processor_seconds() - before
        completed = int(re.search(r"Queries completed:\s+(\d+)", done.stdout)[1])
        rate = float(re.search(r"Queries per second:\s+([\d.]+)", done.stdout)[1])
        codes = re.search(r"Response codes:\s+(.*)", done.stdout)[1]
        if not codes.startswith("NOERROR") or "," in codes:
            sys.exit(f"{self.name}: not all answers are as they should be: {codes}")
        self.rates.append(rate)
        self.costs.append(spent / completed * 1e6)
        print(f"{self.name:8} {rate:9.0f} queries/s {self.costs[-1]:6.2f} us a query, load average "
              f"{os.getloadavg()[0]:.1f}", file=sys.stderr)


def start_all(folder):
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{at} {name}\n" for name, at in NAMES.items()))
    config = folder / "unbound.conf"
    data = "".join(f'  local-data: "{name}. 60 IN A {at}"\n' for name, at in NAMES.items())

    def unbound(port):
        config.write_text(UNBOUND.format(port=port) + data)
        return [find("unbound"), "-d", "-c", str(config)]
    return [
        Server("reprise", lambda port: [REPRISE, "dns", "--listen", f"127.0.0.1:{port}",
                                        str(hosts)]),
        Server("dnsmasq", lambda port: [
            find("dnsmasq"), "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
            "--no-hosts", f"--addn-hosts={hosts}", "--local=/example.test/", f"--port={port}",
            "--listen-address=127.0.0.1", "--bind-interfaces", "--user=", "--pid-file",
            "--local-ttl=60"]),
        Server("unbound", unbound)]


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="reprise-dns-figure.") as name:
        folder = pathlib.Path(name)
        queries = folder / "queries"
        queries.write_text("".join(f"{name} {kind}\n" for name in NAMES
                                   for kind in ("A", "AAAA", "HTTPS")))
        servers = start_all(folder)
        try:
            for _ in range(ROUNDS):
                for server in servers:
                    server.measure(queries, seconds)
        finally:
            for server in servers:
                server.process.terminate()
                server.process.wait()
    rates = {server.name: max(server.rates) for server in servers}
    costs = {server.name: min(server.costs) for server in servers}
    for server in servers:
        print(f"{server.name:8} best: {rates[server.name]:.0f} queries/s, "
              f"{costs[server.name]:.2f} us of processor time a query")
    bar = min(ENOUGH_PER_SECOND, max(rates["dnsmasq"], rates["unbound"]))
    figure.report("dns_time_per_query", round(1e6 / rates["reprise"], 2), "us",
                  f"<= {1e6 / bar:.2f}")
    figure.report("dns_processor_time_per_query", round(costs["reprise"], 2), "us",
                  f"<= {costs['dnsmasq']:.2f}")


if __name__ == "__main__":
    main()
