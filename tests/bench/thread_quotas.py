"""A quota of processor time for each serving thread of a server: the servers are then what bounds
the requests a second, not the client beside them. By the cpu controller of cgroup v1, which takes
threads one by one; needs root."""

import contextlib
import os
import pathlib

CONTROLLER = pathlib.Path("/sys/fs/cgroup/cpu")
PERIOD_US = 10_000


def is_here():
    return (CONTROLLER / "tasks").exists() and os.geteuid() == 0


def seconds_by_thread(pid):
    """Processor time of each thread of `pid` and of its children, by thread."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
            for child in (task / "children").read_text().split():
                found |= seconds_by_thread(child)
    return found


@contextlib.contextmanager
def given(threads, share):
    """Each of `threads` may use `share` of a processor until the end."""
    groups = []
    try:
        for thread in threads:
            group = CONTROLLER / f"reprise-bench-{thread}"
            group.mkdir()
            groups.append((group, thread))
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(round(PERIOD_US * share)))
            (group / "tasks").write_text(thread)
        yield
    finally:
        for group, thread in groups:
            with contextlib.suppress(ProcessLookupError):
                (CONTROLLER / "tasks").write_text(thread)
            group.rmdir()
