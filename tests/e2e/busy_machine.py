"""What a machine does beside loads and gates, for busy_figure.py: busy loops or a build; the user
without rights; how late any program can be there (cyclictest); and what mahimahi's link costs."""

import contextlib
import math
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import harness

LOOPS = 4
NOBODY = 65534
MINUTES = float(os.environ.get("BUSY_MINUTES", "inf"))
# Other jobs end by themselves, whatever becomes of the figure.
JOB_SECONDS = math.ceil(60 * min(MINUTES + 10, 6 * 60))
ENDING_SECONDS = 60
CYCLIC_SECONDS = 20
MTU_BYTES = 1500  # what one line of a mahimahi trace delivers

BUILD = """
cmake -S {source} -B {folder} -G Ninja -DREPRISE_TESTS=OFF -DCMAKE_CXX_COMPILER=clang++-19 \
    -DCMAKE_C_COMPILER=clang-19 -DREPRISE_COROUTINES_SOUND=TRUE &&
while :; do ninja -C {folder} -j2 -k0; ninja -C {folder} clean; done
"""

DOWNLOAD = """
import os, resource, socket, sys, time
sock = socket.create_connection((os.environ["MAHIMAHI_BASE"], int(sys.argv[1])), 30)
end, received = time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < end:
    received += len(sock.recv(1 << 18)) or sys.exit("the connection ended")
used = resource.getrusage(resource.RUSAGE_SELF)
print(received, used.ru_utime + used.ru_stime)
"""


@contextlib.contextmanager
def jobs(*scripts):
    """Runs shell scripts, each in a session of its own, as other jobs of the machine would be.
    They end before this does."""
    ended, held = os.pipe()  # readable once none of their processes holds the other end
    running = []
    try:
        for script in scripts:
            running.append(subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(JOB_SECONDS), "sh",
                 "-c", script],
                start_new_session=True, pass_fds=(held,), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "CCACHE_DISABLE": "1"}))
        yield running
        if any(each.poll() is not None for each in running):
            sys.exit("the other jobs ended before what was measured beside them")
    finally:
        os.close(held)
        for each in running:
            if each.poll() is None:
                # Not SIGKILL: ninja ends its compilers, which have process groups of their own.
                os.killpg(each.pid, signal.SIGTERM)
                each.wait()
        select.select([ended], [], [], ENDING_SECONDS)
        os.close(ended)


def busy_loops():
    return jobs(*["while :; do :; done"] * LOOPS)


@contextlib.contextmanager
def build():
    """Compiles this project on two processors, from the beginning, again and again."""
    with tempfile.TemporaryDirectory(prefix="reprise-build.", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        with jobs(BUILD.format(source=harness.REPOSITORY, folder=folder)) as (compiling,):
            for _ in harness.watch_folder(folder, compiling.pid):
                # Ninja writes it when the first command ends.
                if (folder / ".ninja_log").exists() or compiling.poll() is not None:
                    break
            yield


BESIDE = {"idle": contextlib.nullcontext, "loops": busy_loops, "build": build}
# Another user than root has the rights that it has.
RIGHTS = ("rights", "none") if os.geteuid() == 0 else ("none",)


def user(rights):
    """Options of subprocess for a process with or without rights."""
    if rights == "rights" or os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def environment(folder):
    """With all that reprise keeps for its user in `folder`, also the noise of known pages."""
    return {**harness.environment(folder), "XDG_CACHE_HOME": str(folder / "cache")}


def copy_for(folder, archive, rights):
    """A copy of the archive in a home folder of the user with or without rights."""
    home = folder / rights
    home.mkdir(exist_ok=True)
    copy = home / archive.name
    if not copy.exists():
        shutil.copy(archive, copy)
    if user(rights):
        for each in (home, copy):
            os.chown(each, NOBODY, NOBODY)
    return copy


def worst_wake_up_ms():
    """By how much a bare real-time thread that sleeps for 1 ms is late at most, within 20 s. None
    where cyclictest is not installed or not permitted."""
    if not shutil.which("cyclictest"):
        return None
    done = subprocess.run(
        ["cyclictest", "-m", "-q", "-p", "90", "-i", "1000", "-l", str(1000 * CYCLIC_SECONDS)],
        capture_output=True, text=True, timeout=10 * CYCLIC_SECONDS, check=False)
    worst = re.findall(r"Max:\s*(\d+)", done.stdout)
    if done.returncode or not worst:
        print(f"cyclictest: exit {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return max(map(int, worst)) / 1000


def send_for_ever(listener):
    """To one connection, until its other end is closed."""
    with contextlib.suppress(OSError):
        connection, _ = listener.accept()
        with connection:
            while True:
                connection.sendall(bytes(1 << 18))


def processor_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mahimahi(mbit, rtt_ms, seconds):
    """The processor time in seconds of mm-delay and mm-link together, and the goodput in Mbit/s,
    of a download that takes so long. None where they are not installed or do not run."""
    if not shutil.which("mm-delay") or not shutil.which("mm-link"):
        print("mahimahi is not installed", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as name, \
         socket.create_server(("0.0.0.0", 0)) as listener:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        trace = folder / "trace"
        # A line for each packet: the ms in which it may leave.
        packets = round(mbit * 1e6 / 8 / MTU_BYTES)
        trace.write_text("".join(f"{math.ceil((i + 1) * 1000 / packets)}\n"
                                 for i in range(packets)))
        queue = f"packets={math.ceil(packets * rtt_ms / 1000)}"
        listener.settimeout(ENDING_SECONDS)
        sender = threading.Thread(target=send_for_ever, args=(listener,), daemon=True)
        sender.start()
        before = processor_seconds_of_children()
        done = subprocess.run(
            ["mm-delay", str(rtt_ms // 2), "mm-link", trace, trace, "--uplink-queue=droptail",
             f"--uplink-queue-args={queue}", "--downlink-queue=droptail",
             f"--downlink-queue-args={queue}", "--", sys.executable, "-c", DOWNLOAD,
             str(listener.getsockname()[1]), str(seconds)],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, check=False,
            timeout=seconds + 2 * ENDING_SECONDS, **user("none"))  # it refuses to serve root
        used = processor_seconds_of_children() - before
    if done.returncode:
        print(f"mahimahi does not run here: {done.stderr.strip()}", file=sys.stderr)
        return None
    received, of_client = map(float, done.stdout.split())
    return {"seconds": used - of_client, "mbit": received * 8 / seconds / 1e6}
