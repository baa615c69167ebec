"""Instructions a request, counted by callgrind: the same again each time, and so fit to
see what a change costs where seconds are too noisy.

A run with N requests and one with 2 N, the difference over N: what starting costs cancels. One
connection, and the load runs on the server's core, only when that waits: so what is read at once is
the same each time. Valgrind hides AVX-512 from OpenSSL; the count
is that of the code for AES-NI.
"""

import contextlib
import re
import subprocess
from unittest import mock

import loads
import servers
from servers import harness


CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def readable_by_valgrind(bench):
    """A copy of the binary without clang's DWARF 5, which Debian 12's valgrind cannot read."""
    copy = bench.folder / "reprise"
    if not copy.exists():
        subprocess.run(["objcopy", "--strip-debug", harness.REPRISE, copy], check=True)
    return copy


@contextlib.contextmanager
def counted_replay(bench, archive):
    preload = loads.BUILD_FOLDER / "under_valgrind.so"
    with (mock.patch.object(harness, "REPRISE", str(readable_by_valgrind(bench))),
          servers.replay(bench, archive, ["env", f"LD_PRELOAD={preload}", *CALLGRIND]) as replay):
        yield replay


def count(bench, start, case, requests):
    """Instructions of a whole server, with its children, that answers `requests`, and how many
    failed. `start` makes the server."""
    with start() as server:
        failed = loads.run(bench, case, server, requests, steady=True)["failed"]
    return sum(map(int, re.findall(r"Collected : (\d+)", server.log()))), failed


def difference(bench, start, case, requests):
    once, failed_once = count(bench, start, case, requests)
    twice, failed_twice = count(bench, start, case, 2 * requests)
    return (twice - once) / requests, failed_once + failed_twice


def a_request(bench, archive, case, requests):
    """Returns the instructions a request of a replay and the failed requests."""
    return difference(bench, lambda: counted_replay(bench, archive), case, requests)


def a_request_of(peer, bench, case, requests):
    """The same of a peer."""
    return difference(bench, lambda: peer(bench, wrapper=CALLGRIND), case, requests)
