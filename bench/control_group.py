"""A control group that limits the memory of a program.

The group is made in the file system of version 2 or 1, where this user may, and by `systemd-run --scope` otherwise.
"""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

# Where version 2 and version 1 are mounted, and the names of their files.
VERSIONS = [
    (pathlib.Path("/sys/fs/cgroup"), {"limit": "memory.max", "peak": "memory.peak", "killed": "memory.events"}),
    (pathlib.Path("/sys/fs/cgroup/memory"),
     {"limit": "memory.limit_in_bytes", "peak": "memory.max_usage_in_bytes", "killed": "memory.oom_control"}),
]


class ControlGroup:
    """A control group of its own for one program; `program` is what to run in its place."""

    def __init__(self, folder, files, program):
        self.folder, self.files = folder, files
        self.program = script(f"echo $$ > {folder}/cgroup.procs\nexec {program} \"$@\"")

    def peak(self):
        """The most memory that the group has held, in MiB, files that are kept in memory included; None if unknown."""
        return int(self._read("peak")) / (1 << 20) if self.folder and (self.folder / self.files["peak"]).exists() else None

    def killed(self):
        """Processes that the system has ended because the group was full; None if unknown."""
        if not self.folder:
            return None
        counts = dict(line.split() for line in self._read("killed").splitlines())
        return int(counts["oom_kill"])

    def close(self):
        """Removes the group, which is empty."""
        if self.folder:
            self.folder.rmdir()

    def _read(self, name):
        return (self.folder / self.files[name]).read_text()


class Scope(ControlGroup):
    """As [ControlGroup], made by systemd."""

    def __init__(self, command, program):
        self.folder = None
        self.program = script(f"exec {' '.join(command)} {program} \"$@\"")


def script(text):
    """The path of an executable shell script."""
    path = pathlib.Path(tempfile.mkdtemp()) / "hindsight"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def make(program, mebibytes):
    """A control group with this much memory and no swap for a program, or None where none can be made."""
    for root, files in VERSIONS:
        folder = root / f"hindsight-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        # A group has the file from its beginning, if the memory of groups is limited there.
        limit = folder / files["limit"]
        try:
            if limit.exists():
                limit.write_text(str(mebibytes << 20))
                return ControlGroup(folder, files, program)
        except OSError:
            pass
        folder.rmdir()
    command = ["systemd-run", "--scope", "--quiet", "-p", f"MemoryMax={mebibytes}M", "-p", "MemorySwapMax=0"]
    if shutil.which("systemd-run") and subprocess.call([*command, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
        return Scope(command, program)
    return None
