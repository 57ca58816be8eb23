#!/usr/bin/env python3
"""Makes the packages, installs each on a clean root, and starts the program from it.

usage: run.py [unittest arguments]

The program is that of HINDSIGHT_PROGRAM, or the one that the integration tests were built with. What a machine lacks is skipped with the
reason; a clean root needs the rights of root.
"""
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sdk")]

if __name__ == "__main__":
    os.chdir(HERE)
    unittest.main(module=None, argv=[sys.argv[0], *(sys.argv[1:] or ["discover", "-v", "-s", str(HERE)])])
