"""Instructions and system calls a request, counted by callgrind and strace: the same again each
time, and so fit to see what a change costs where seconds are too noisy.

A run with N requests and one with 2 N, the difference over N: what starting costs cancels. One
connection, and the load runs on the server's core, only when that waits: so what is read at once is
the same each time. Valgrind hides AVX-512 from OpenSSL; the count
is that of the code for AES-NI.
"""

import collections
import contextlib
import pathlib
import re
import subprocess
from unittest import mock

import loads
import servers
from servers import harness


LIBRARIES = {"libcrypto": "OpenSSL", "libssl": "OpenSSL", "libnghttp2": "nghttp2", "libc": "libc",
             "libngtcp2": "ngtcp2", "libngtcp2_crypto_gnutls": "ngtcp2", "libnghttp3": "nghttp3",
             "libgnutls": "GnuTLS", "libnettle": "GnuTLS", "libhogweed": "GnuTLS"}
OWN = "own"


def callgrind(bench):
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={bench.folder}/callgrind.%p"]


def strace(bench):
    return ["strace", "-f", "-qq", "--interruptible=waiting", "-c", "-U", "calls,name",
            "-o", bench.folder / "strace"]


def readable_by_valgrind(bench):
    """A copy of the binary without clang's DWARF 5, which Debian 12's valgrind cannot read."""
    copy = bench.folder / "reprise"
    if not copy.exists():
        subprocess.run(["objcopy", "--strip-debug", harness.REPRISE, copy], check=True)
    return copy


@contextlib.contextmanager
def counted_replay(bench, archive, over_quic):
    preload = loads.BUILD_FOLDER / "under_valgrind.so"
    wrapper = ["env", f"LD_PRELOAD={preload}", *callgrind(bench)]
    with (mock.patch.object(harness, "REPRISE", str(readable_by_valgrind(bench))),
          servers.replay(bench, archive, wrapper, over_quic=over_quic) as replay):
        yield replay


def library_of(path):
    name = re.match(r"[^.-]*", pathlib.Path(path).name)[0]
    return LIBRARIES.get(name, OWN)


def by_library(profile):
    """The instructions of a file of callgrind, by library."""
    found = collections.Counter()
    names, library, calls = {}, OWN, False
    for line in profile.read_text(errors="replace").splitlines():
        if named := re.match(r"ob=\((\d+)\)(?: (.*))?", line):
            names.setdefault(named[1], named[2])
            library = library_of(names[named[1]])
        elif named := re.match(r"cob=\((\d+)\) (.*)", line):
            names[named[1]] = named[2]
        elif line.startswith("calls="):
            calls = True  # the next line is the callee's
        elif cost := re.fullmatch(r"[+*\d-]\S* (\d+)", line):
            found[library] += 0 if calls else int(cost[1])
            calls = False
    return found


def count(bench, start, case, requests):
    """Instructions, by library, of a whole server, with its children, that answers `requests`, and
    how many failed. `start` makes the server."""
    for old in bench.folder.glob("callgrind.*"):
        old.unlink()
    with start() as server:
        failed = loads.run(bench, case, server, requests, steady=True)["failed"]
    profiles = map(by_library, bench.folder.glob("callgrind.*"))
    return sum(profiles, collections.Counter()), failed


def count_calls(bench, start, case, requests):
    """The same of system calls, which are one group."""
    with start() as server:
        failed = loads.run(bench, case, server, requests, steady=True)["failed"]
    total = re.search(r"^ *(\d+) +total$", (bench.folder / "strace").read_text(), re.M)
    return collections.Counter({OWN: int(total[1])}), failed


def difference(counted, bench, start, case, requests):
    """A Counter of what each request costs, and the failed requests."""
    once, failed_once = counted(bench, start, case, requests)
    twice, failed_twice = counted(bench, start, case, 2 * requests)
    return (collections.Counter({part: (twice[part] - once[part]) / requests for part in twice}),
            failed_once + failed_twice)


def a_request(bench, archive, case, requests):
    """Returns the instructions a request of a replay, by library, and the failed requests."""
    return difference(count, bench, lambda: counted_replay(bench, archive, case.protocol == "h3"),
                      case, requests)


def a_request_of(peer, bench, case, requests):
    """The same of a peer."""
    return difference(count, bench, lambda: peer(bench, wrapper=callgrind(bench)), case, requests)


def calls_a_request(start, bench, case, requests):
    """System calls a request of a server that `start(wrapper)` makes, and the failed requests."""
    calls, failed = difference(count_calls, bench, lambda: start(strace(bench)), case, requests)
    return calls.total(), failed
