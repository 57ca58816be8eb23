#!/usr/bin/env python3
"""Makes the packages of a program that is built: `make packages`.

usage: build.py [--at-most MEGABYTES] PROGRAM [FOLDER]

With `--at-most` a program that is larger is refused. FOLDER (`target/packages`) gets a wheel, npm packages, a Debian package, a Helm chart, and
the context of a container image. Each holds the program as it is, without its symbols. The same program gives the same bytes: files are in
order, and their time is that of SOURCE_DATE_EPOCH, or 1980.
"""
import argparse
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "target" / "packages")
    parser.add_argument("--at-most", type=float, metavar="MEGABYTES")
    args = parser.parse_args()
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        sys.exit("packages are made on Linux with x86_64 only: no other platform is tested")
    folder = args.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = Program(args.program.resolve(), folder)
    size = program.path.stat().st_size / 1e6
    if args.at_most is not None and size >= args.at_most:
        sys.exit(f"the program has {size:.1f} MB without symbols, and {args.at_most:g} MB are the limit (packaging/README.md, \"Size\")")
    made = [make(program, folder) for make in PACKAGES]
    context = folder / "container"
    shutil.copytree(ROOT / "packaging" / "container", context)
    shutil.copy2(program.path, context / "hindsight")
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path.name}")
    print(f"the context of the container image is {context}: docker build -t hindsight {context}")
    print(f"{size:7.1f} MB  the program without symbols, for {program.libc} and later")


if __name__ == "__main__":
    main()
