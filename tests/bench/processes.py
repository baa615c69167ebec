"""What a running server has used: processor time and peak memory, of it and its descendants."""

import ctypes
import os
import pathlib
import time

LIBC = ctypes.CDLL(None)
PROC = pathlib.Path("/proc")
IDLE_CHECK_SECONDS, IDLE_CHECKS_MAX = .25, 240


def tree(pid):
    """`pid` and its descendants, in no order that counts."""
    found = [pid]
    for each in found:
        for children in (PROC / str(each) / "task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def cpu_seconds(pid):
    """Of all threads, those that ended included, by the scheduler's own clock of ns resolution:
    utime and stime of proc(5) come in ticks of 10 ms."""
    total_ns = 0
    for each in tree(pid):
        clock = ctypes.c_int()
        if error := LIBC.clock_getcpuclockid(each, ctypes.byref(clock)):
            raise OSError(error, os.strerror(error), f"process {each}")
        total_ns += time.clock_gettime_ns(clock.value)
    return total_ns / 1e9


def wait_until_idle(pid):
    """Until it uses no processor time."""
    before = None
    for _ in range(IDLE_CHECKS_MAX):
        if (now := cpu_seconds(pid)) == before:
            return
        before = now
        time.sleep(IDLE_CHECK_SECONDS)
    raise AssertionError(f"process {pid} is never idle")


def forget_peak_memory(pid):
    """From now on the peak is that of what comes: proc(5), clear_refs."""
    for each in tree(pid):
        (PROC / str(each) / "clear_refs").write_text("5")


def peak_memory_mb(pid):
    """The sum over the processes: pages that two of them share count twice."""
    total_kb = 0
    for each in tree(pid):
        for line in (PROC / str(each) / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                total_kb += int(line.split()[1])
    return total_kb / 1024
