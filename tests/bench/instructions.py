"""Instructions a request of a replay, counted by callgrind: the same again each time, and so fit to
see what a change costs where seconds are too noisy.

A run with N requests and one with 2 N, the difference over N: what starting costs cancels. One
connection, and the load runs on the server's core, only when that waits: so what is read at once is
the same each time. Valgrind hides AVX-512 from OpenSSL; the count
is that of the code for AES-NI.
"""

import re
import subprocess
from unittest import mock

import loads
import servers
from servers import harness


def readable_by_valgrind(bench):
    """A copy of the binary without clang's DWARF 5, which Debian 12's valgrind cannot read."""
    copy = bench.folder / "reprise"
    if not copy.exists():
        subprocess.run(["objcopy", "--strip-debug", harness.REPRISE, copy], check=True)
    return copy


def count(bench, archive, case, requests):
    """Instructions of a whole replay that answers `requests`, and how many failed."""
    preload = loads.BUILD_FOLDER / "under_valgrind.so"
    wrapper = ["env", f"LD_PRELOAD={preload}", "valgrind", "--tool=callgrind",
               "--callgrind-out-file=/dev/null"]
    with (mock.patch.object(harness, "REPRISE", str(readable_by_valgrind(bench))),
          servers.replay(bench, archive, wrapper) as replay):
        failed = loads.run(bench, case, replay, requests, steady=True)["failed"]
    return int(re.search(r"Collected : (\d+)", replay.log())[1]), failed


def a_request(bench, archive, case, requests):
    """Returns the instructions a request and the failed requests."""
    once, failed_once = count(bench, archive, case, requests)
    twice, failed_twice = count(bench, archive, case, 2 * requests)
    return (twice - once) / requests, failed_once + failed_twice
