#!/usr/bin/env python3
"""Makes the packages of a program that is built: `make packages`.

usage: build.py PROGRAM [FOLDER]

FOLDER (`target/packages`) gets a wheel, npm packages, a Debian package, a Helm chart, and the context of a container image. Each holds the
program as it is, without its symbols. The same program gives the same bytes: files are in order, and their time is that of
SOURCE_DATE_EPOCH, or 1980.
"""
import pathlib
import platform
import shutil
import sys

import debian
import helm
import npm
import wheel
from about import ROOT, Program

PACKAGES = (wheel.make, npm.make_platform, npm.make_launcher, debian.make, helm.make)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        sys.exit("packages are made on Linux with x86_64 only: no other platform is tested")
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target" / "packages").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = Program(pathlib.Path(sys.argv[1]).resolve(), folder)
    made = [make(program, folder) for make in PACKAGES]
    context = folder / "container"
    shutil.copytree(ROOT / "packaging" / "container", context)
    shutil.copy2(program.path, context / "hindsight")
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path.name}")
    print(f"the context of the container image is {context}: docker build -t hindsight {context}")
    print(f"{program.path.stat().st_size / 1e6:7.1f} MB  the program without symbols, for {program.libc} and later")


if __name__ == "__main__":
    main()
