"""What the end-to-end tests share: a test case with a folder, and the running reprise process.

Nothing here sleeps: starting waits on the ready file, everything else on sockets with deadlines.
The binary is $REPRISE, or build/release/reprise.
"""

import ctypes
import errno
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from wire import DEADLINE_SECONDS, HOST, Client, Origin

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "tests"))  # test_seed.py
REPRISE = os.environ.get("REPRISE", str(REPOSITORY / "build/release/reprise"))
# For tests to which any Chromium will do: without windows, it takes a third of the processor time
# (and does not connect ahead: preconnect).
BROWSER = "chromium-headless-shell" if shutil.which("chromium-headless-shell") else "chromium"
# Also what takes many page loads and is seldom alone in what it finds (tools/test --full).
THOROUGH = os.environ.get("THOROUGH") == "1"
IN_NAMESPACE = "REPRISE_TEST_IN_NAMESPACE"
SKIPPED = 77
LOOPBACK = "127.0.0.1"
PORTS = range(10_000, 30_000)  # below those that the system gives to whoever asks for port 0
PORT_ORDER = random.Random(os.getpid())  # tests that run together begin at different ones
PORT_TRIES = 1000
START_TRIES = 5


class TestCase(unittest.TestCase):
    """Has a folder of its own at `self.folder`, and ends every process and origin it started."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-e2e."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def short_folder(self):
        """An empty folder for TMPDIR: if that is long, browsers have their folders elsewhere."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="r.", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def origin(self, answer, **options):
        origin = Origin(answer, **options)
        self.addCleanup(origin.close)
        return origin

    def until(self, found):
        """The first result of `found()` that is true."""
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end:
            if result := found():
                return result
        self.fail("it did not happen in time")

    def record(self, archive, *arguments, origins=(), **options):
        """Starts a recorder. Each of `origins` answers for the names that it was made with."""
        for origin in origins:
            arguments += tuple(origin.connect_arguments())
        return self.start("record", "-o", str(archive), *arguments, **options)

    def replay(self, archive, *arguments, **options):
        """Starts a replay that changes nothing in what was recorded."""
        return self.start("replay", "--inject", "none", "--dates", "recorded", *arguments,
                          str(archive), **options)

    def start(self, mode, *arguments, **options):
        process = Reprise(self.folder, mode, *arguments, **options)
        self.addCleanup(process.kill)
        return process

    def archive_json(self, *arguments):
        """The parsed output of `reprise archive ... --json`, which must succeed."""
        done = run("archive", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def assert_sound(self, archive):
        done = run("archive", "verify", str(archive))
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())


def thorough(test):
    """Of a test that only `tools/test --full` runs."""
    return unittest.skipUnless(THOROUGH, "THOROUGH is not 1")(test)


def environment(folder):
    return {**os.environ, "XDG_DATA_HOME": str(folder / "data")}


def run(*arguments, folder=None, timeout=DEADLINE_SECONDS, **options):
    """Runs reprise to its end."""
    env = environment(folder) if folder else None
    return subprocess.run([REPRISE, *arguments], capture_output=True, timeout=timeout, env=env,
                          stdin=subprocess.DEVNULL, **options)


class Reprise:
    """A running `reprise record` or `reprise replay`, ready to be used."""

    def __init__(self, folder, mode, *arguments, wrapper=()):
        self.ready_file = pathlib.Path(tempfile.mktemp(dir=folder, prefix="ready."))
        self.log_file = self.ready_file.with_suffix(".log")
        listeners = []
        for name in ("--http", "--https", "--proxy", "--dns"):
            if name not in arguments:
                listeners += [name, "127.0.0.1:0"]
        command = [*wrapper, REPRISE, mode, *listeners, "--ready-file", str(self.ready_file),
                   *arguments]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment(folder))
        self._wait_until_ready()
        self.ready = json.loads(self.ready_file.read_text())
        self.pid = self.ready["pid"]
        self.ca_file = self.ready["ca_file"]

    def _wait_until_ready(self):
        try:
            for _ in watch_folder(self.ready_file.parent, self.process.pid):
                if self.ready_file.exists():
                    return
                if self.process.poll() is not None:
                    raise AssertionError(
                        f"exit {self.process.returncode}, not ready:\n{self.log()}")
            raise AssertionError(f"not ready within {DEADLINE_SECONDS} s:\n{self.log()}")
        except BaseException:  # also of an interrupted test: nobody else ends it yet
            self.kill()
            raise

    def address(self, listener):
        host, port = self.ready[listener].rsplit(":", 1)
        return host, int(port)

    def log(self):
        return self.log_file.read_text(errors="replace")

    def stop(self, signal_number=signal.SIGTERM):
        """Ends it in order and returns the exit code."""
        os.kill(self.pid, signal_number)
        return self.process.wait(timeout=DEADLINE_SECONDS)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def connect(self, listener, host=HOST, port=None):
        """A client connection to `host` through the listener of that name: "http", "https",
        "proxy" (absolute-form), or "connect" (TLS inside a CONNECT tunnel)."""
        sock = socket.create_connection(
            self.address("proxy" if listener == "connect" else listener), DEADLINE_SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if listener == "connect":
            authority = f"{host}:{port or 443}".encode()
            sock.sendall(b"CONNECT " + authority + b" HTTP/1.1\r\nHost: " + authority + b"\r\n\r\n")
            established = b""
            while not established.endswith(b"\r\n\r\n"):
                byte = sock.recv(1)
                if not byte:
                    raise AssertionError(f"no tunnel: {established!r}")
                established += byte
            if b" 200 " not in established.split(b"\r\n")[0]:
                raise AssertionError(f"no tunnel: {established!r}")
        if listener in ("https", "connect"):
            context = ssl.create_default_context(cafile=self.ca_file)
            sock = context.wrap_socket(sock, server_hostname=host)
        return Client(sock)


MODIFIED, MOVED_OR_CREATED = 0x2, 0x80 | 0x100  # events of inotify(7)


def watch_folder(folder, pid, events=MOVED_OR_CREATED):
    """Yields at once, and then each time a file appears in `folder` (or what `events` name happens
    to one) or process `pid` ends, until the deadline."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    libc.inotify_add_watch(watch, os.fsencode(folder), events)
    process = os.pidfd_open(pid)
    try:
        yield
        while select.select([watch, process], [], [], DEADLINE_SECONDS)[0]:
            if select.select([watch], [], [], 0)[0]:
                os.read(watch, 65536)
            yield
    finally:
        os.close(watch)
        os.close(process)


def free_ports(*addresses):
    """A port of each of `addresses`, all different, that nobody has over TCP or UDP."""
    found = []
    for address in addresses:
        for _ in range(PORT_TRIES):
            port = PORT_ORDER.choice(PORTS)
            if port not in found and is_free(address, port):
                found.append(port)
                break
        else:
            raise AssertionError(f"no free port at {address}")
    return found


def is_free(address, port):
    try:
        with socket.create_server((address, port)), \
             socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.bind((address, port))
            return True
    except OSError:
        return False


def at_free_ports(start, *addresses):
    """(what `start(*ports)` returns, *ports), with free ports of `addresses`. If another program
    has taken one of them since, which `start` tells by an AssertionError with the text of
    EADDRINUSE, it is called again with others."""
    for tries_left in reversed(range(START_TRIES)):
        ports = free_ports(*addresses)
        try:
            return start(*ports), *ports
        except AssertionError as error:
            if not tries_left or os.strerror(errno.EADDRINUSE) not in str(error):
                raise


def catch_interrupts(handler):
    """Leaves a signal alone that this process was told to ignore: its children ignore it, too."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


class Result(unittest.TextTestResult):
    """A SIGINT or SIGTERM ends the test that runs, with all that it started, and no other begins.
    A second one ends this process at once."""

    interrupted = False

    def startTestRun(self):
        super().startTestRun()
        catch_interrupts(self._interrupt)

    def _interrupt(self, number, _):
        catch_interrupts(signal.SIG_DFL)
        self.interrupted = True
        self.failfast = True  # a subtest does not go on to the next
        self.stop()
        # Recorded as an error, with the cleanup behind it, unlike KeyboardInterrupt.
        raise SystemExit(128 + number)

    def wasSuccessful(self):
        return super().wasSuccessful() and not self.interrupted


class Runner(unittest.TextTestRunner):
    resultclass = Result


def main(**options):
    """`options` are those of unittest.main."""
    return unittest.main(verbosity=2, testRunner=Runner, **options)


def main_in_namespace(kind):
    """Runs the tests as root of a namespace of their own; `kind` is an option of unshare(1).
    Where the system allows neither root nor user namespaces, ctest shows the script as skipped."""
    if IN_NAMESPACE in os.environ:
        return main()
    command = ["unshare", kind, *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    if subprocess.run([*command, "true"], check=False).returncode:
        print(f"skipped: {' '.join(command)} is not permitted here")
        sys.exit(SKIPPED)
    os.environ[IN_NAMESPACE] = "yes"
    os.execvp("unshare", [*command, sys.executable, *sys.argv])
