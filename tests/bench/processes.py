"""What a running server has used: processor time and peak memory, of it and its descendants."""

import contextlib
import ctypes
import os
import pathlib
import time

LIBC = ctypes.CDLL(None)
PROC = pathlib.Path("/proc")
IDLE_CHECK_SECONDS, BUSY_SECONDS_MAX = .25, 60


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


def is_runnable(pid):
    """Whether one of its threads runs, or waits for a processor."""
    for stat in (stat for each in tree(pid) for stat in PROC.glob(f"{each}/task/*/stat")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            if stat.read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def wait_until_idle(pid):
    """Until it uses no processor time, and wants none."""
    before = None
    began = cpu_seconds(pid)
    while (now := cpu_seconds(pid)) != before or is_runnable(pid):
        if now - began > BUSY_SECONDS_MAX:
            raise AssertionError(f"process {pid} has used {BUSY_SECONDS_MAX} s of processor time")
        before = now
        time.sleep(IDLE_CHECK_SECONDS)


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
