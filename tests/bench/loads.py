"""The loads: h2load for requests on connections that last, over HTTP/3 gtlsclient; our own client
for new connections."""

import collections
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import time

from servers import OBJECTS, fresh_prefix, harness

BUILD_FOLDER = pathlib.Path(harness.REPRISE).parent
TIMEOUT_SECONDS = 300
# The same cipher for every server, and that which browsers prefer. Without it the servers differ.
CIPHER = ["--tls13-ciphers", "TLS_AES_128_GCM_SHA256"]
H1_CONNECTIONS = 50
H2_CONNECTIONS = 10
H2_STREAMS = 100
# The same for GnuTLS.
QUIC_CIPHER = "--ciphers=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM"
QUIC_CLIENT = "/usr/bin/gtlsclient"
NEW_CONNECTIONS_IN_FLIGHT = 4
fresh_sets = collections.defaultdict(itertools.count)  # by port: how many were used


def quantile(ascending, share):
    return ascending[int(share * (len(ascending) - 1))] if ascending else 0.0


def run(bench, case, server, requests, steady=False):
    """Asks `server` for `requests` objects; `steady` is for counting, and slow: one connection that
    keeps step with the server. Returns failed, seconds and, not over HTTP/3, p50_ms and p99_ms."""
    load = connect if case.connections else ask_over_quic if case.protocol == "h3" else ask
    wrapper = bench.behind_the_server() if steady else bench.on_load_core()
    return load(bench, case, server.ports[case.protocol], requests, steady, wrapper)


def ask(bench, case, port, requests, steady, wrapper):
    h2 = case.protocol == "h2"
    connections = 1 if steady else H2_CONNECTIONS if h2 else H1_CONNECTIONS
    how = ["-m", str(H2_STREAMS)] if h2 else ["--h1"]
    times = bench.folder / "times"
    times.unlink(missing_ok=True)
    done = subprocess.run(
        [*wrapper, "h2load", *how, *CIPHER, "-n", str(requests), "-c",
         str(min(connections, requests)), "--connect-to", f"127.0.0.1:{port}", "--log-file", times,
         case.url], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True)
    succeeded = int(re.search(r"status codes: (\d+) 2xx", done.stdout)[1])
    body_bytes = int(re.search(r"\((\d+)\) data", done.stdout)[1])
    if body_bytes != succeeded * OBJECTS[case.name_of_object]:
        raise AssertionError(f"{case.name}: {body_bytes} bytes came as the body of {succeeded}"
                             f" responses from port {port}:\n{done.stdout}")
    rows = [line.split("\t") for line in times.read_text().splitlines()]
    starts_us = [int(row[0]) for row in rows]
    latencies_us = sorted(int(row[2]) for row in rows)
    ends_us = max((int(row[0]) + int(row[2]) for row in rows), default=0)
    return {"failed": requests - succeeded,
            "seconds": (ends_us - min(starts_us, default=0)) / 1e6,
            "p50_ms": quantile(latencies_us, 0.5) / 1e3,
            "p99_ms": quantile(latencies_us, 0.99) / 1e3}


def ask_over_quic(_, case, port, requests, steady, wrapper, options=()):
    """On one connection. gtlsclient does not tell how an object came: see verify()."""
    del steady  # it always is
    before = time.monotonic()
    done = subprocess.run(
        [*wrapper, QUIC_CLIENT, "-q", "--exit-on-all-streams-close", "--disable-early-data",
         "--timeout=300s", QUIC_CIPHER, *options, "-n", str(requests), case.host,
         str(port), case.url],
        capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    return {"failed": requests if done.returncode else 0, "seconds": time.monotonic() - before}


def verify(bench, case, server):
    """That the object comes as it is, over HTTP/3: other loads see that themselves."""
    if case.protocol != "h3":
        return
    saved = bench.folder / "saved"
    saved.mkdir(exist_ok=True)
    ask_over_quic(bench, case, server.ports["h3"], 1, False, (), [f"--download={saved}"])
    if ((saved / case.name_of_object).read_bytes()
            != (bench.objects / case.name_of_object).read_bytes()):
        raise AssertionError(f"{case.name}: {server.name} sent other bytes: {server.log()}")
    shutil.rmtree(saved)


def connect(_, case, port, requests, steady, wrapper):
    program = BUILD_FOLDER / "tls_connect_load"
    in_flight = 1 if steady else NEW_CONNECTIONS_IN_FLIGHT
    prefix = [fresh_prefix(next(fresh_sets[port]))] if case.fresh_names else []
    done = subprocess.run(
        [*wrapper, program, str(port), str(requests), str(in_flight), case.host,
         f"/{case.name_of_object}", str(OBJECTS[case.name_of_object]), *prefix],
        stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_SECONDS, check=False)
    figures = json.loads(done.stdout)
    return {"failed": figures["failed"], "seconds": figures["seconds"],
            "p50_ms": figures["p50_us"] / 1e3, "p99_ms": figures["p99_us"] / 1e3}
