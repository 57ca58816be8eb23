"""What the packages say of the program, and the archives that they are."""
import gzip
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUMMARY = "Application Insights on your own machine: ingestion, KQL, the query API and a portal in one program"
LICENCE = "Apache-2.0"
#: The first version of glibc that reads packed relative relocations (RELR).
RELR = (2, 36)
#: The time of all files in archives: ZIP has none before 1980.
TIME = int(os.environ.get("SOURCE_DATE_EPOCH", 315_532_800))


class Program:
    """The program that is packed: a copy without symbols, its version, and the C library that it needs."""

    def __init__(self, built, folder):
        self.path = folder / "hindsight"
        shutil.copy2(built, self.path)
        if shutil.which("strip"):
            subprocess.check_call(["strip", self.path])
        self.path.chmod(0o755)
        said = subprocess.check_output([self.path, "--version"], text=True)
        self.version = re.fullmatch(r"hindsight (\d+\.\d+\.\d+)\n", said).group(1)
        self.libc = libc_of(self.path.read_bytes())

    @property
    def libc_tag(self):
        """The least version of the C library, as names of wheels have it: `2_35`."""
        return self.libc.removeprefix("glibc ").replace(".", "_")


def libc_of(content):
    """The least version of glibc that a program with these bytes runs with: `glibc 2.35`."""
    needed = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)]
    if b"GLIBC_ABI_DT_RELR" in content:
        needed.append(RELR)
    return "glibc {}.{}".format(*max(needed))


def tar(entries):
    """A tar archive with these entries, `(name, bytes, mode)`; bytes are None for a folder. Everything belongs to root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content, mode in entries:
            info = tarfile.TarInfo(name)
            info.mtime, info.mode = TIME, mode
            info.uname = info.gname = "root"
            if content is None:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def compressed(content):
    return gzip.compress(content, 6, mtime=TIME)


def folders_of(names):
    """The folders above files, each before what is in it."""
    found = {str(parent) for name in names for parent in pathlib.PurePosixPath(name).parents if str(parent) != "."}
    return sorted(found)


def text(path):
    return (ROOT / "packaging" / path).read_bytes()
