"""The wheel `hindsight-server`: pip puts the program among the environment's commands.

A wheel with a program in its `scripts` is what maturin makes with `bindings = "bin"`. It is made here from the program that is built, so
that the query engine is not compiled a second time.
"""
import base64
import hashlib
import time
import zipfile

from about import LICENCE, ROOT, SUMMARY, TIME, text

NAME = "hindsight_server"


def make(program, folder):
    version = program.version
    tag = f"py3-none-manylinux_{program.libc_tag}_x86_64"
    info = f"{NAME}-{version}.dist-info"
    metadata = "\n".join([
        "Metadata-Version: 2.4", "Name: hindsight-server", f"Version: {version}", f"Summary: {SUMMARY}", f"License-Expression: {LICENCE}",
        "License-File: LICENSE", "Requires-Python: >=3.8", "Description-Content-Type: text/markdown", "", text("wheel/README.md").decode()])
    files = {
        f"{NAME}-{version}.data/scripts/hindsight": program.path.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: hindsight ({version})\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = folder / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_of(TIME))
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def date_of(seconds):
    return time.gmtime(seconds)[:6]
