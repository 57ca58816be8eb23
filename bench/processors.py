"""Which processors a process runs on, and for which part of the time."""
import contextlib
import os
import pathlib

# Short, so that a process does not stand still for much of a query.
PERIOD = 10_000


@contextlib.contextmanager
def on_processors(numbers):
    """What is started inside runs on these processors alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, numbers)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Quota:
    """A group of processes that together get `share` of a processor, by the controller `cpu` of cgroups (either version). `with quota.entered():` starts
    processes in it. It is removed once they have ended."""

    def __init__(self, name, share):
        version_1 = pathlib.Path("/sys/fs/cgroup/cpu")
        root = version_1 if version_1.exists() else pathlib.Path("/sys/fs/cgroup")
        mounted = next(line.split(":")[2].strip() for line in open("/proc/self/cgroup")
                       if line.split(":")[1] == ("cpu" if version_1.exists() else ""))
        self.before = root / mounted.lstrip("/")
        self.folder = root / f"{name}-{os.getpid()}"
        self.folder.mkdir()
        quota = int(PERIOD * share)
        if version_1.exists():
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (self.folder / "cpu.max").write_text(f"{quota} {PERIOD}")

    @contextlib.contextmanager
    def entered(self):
        self.move(self.folder)
        try:
            yield
        finally:
            self.move(self.before)

    def move(self, folder):
        (folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        self.folder.rmdir()
