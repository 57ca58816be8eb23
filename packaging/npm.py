"""npm packages: one with the program for a platform, and `hindsight-server`, whose command runs the one of the platform."""
import json

from about import LICENCE, ROOT, SUMMARY, compressed, tar, text

#: Platforms by the names that npm has for them. Others follow where they are built and tested.
PLATFORM = "linux-x64"
NAME = "hindsight-server"


def make_platform(program, folder):
    about = {
        "name": f"{NAME}-{PLATFORM}", "version": program.version, "description": f"The program of {NAME} for {PLATFORM}", "license": LICENCE,
        "os": ["linux"], "cpu": ["x64"], "libc": ["glibc"], "files": ["bin"], "preferUnplugged": True,
    }
    return packed(about, {"bin/hindsight": (program.path.read_bytes(), 0o755)}, folder)


def make_launcher(program, folder):
    about = {
        "name": NAME, "version": program.version, "description": SUMMARY, "license": LICENCE, "bin": {"hindsight": "launch.js", NAME: "launch.js"},
        "files": ["launch.js"], "engines": {"node": ">=18"}, "optionalDependencies": {f"{NAME}-{PLATFORM}": program.version},
    }
    return packed(about, {"launch.js": (text("npm/launch.js"), 0o755), "README.md": (text("npm/README.md"), 0o644)}, folder)


def packed(about, files, folder):
    entries = [("package/package.json", json.dumps(about, indent=2).encode() + b"\n", 0o644), ("package/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644)]
    entries += [(f"package/{name}", content, mode) for name, (content, mode) in files.items()]
    path = folder / f"{about['name']}-{about['version']}.tgz"
    path.write_bytes(compressed(tar(entries)))
    return path
