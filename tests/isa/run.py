#!/usr/bin/env python3
"""The whole differential test of the instruction table against ptxas, for ./test --all.

The fast share of it runs with the unit suites; without --all there is nothing to do here.
"""
import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not options.all:
        print("skip: the fast share runs with the unit suites; --all runs the whole")
        return 77
    program = os.path.join(os.path.dirname(options.kcheck), "tests", "test_isa_ptxas")
    status = subprocess.run([program], env=dict(os.environ, KCHECK_ALL="1")).returncode
    if status == 77:
        print("needs: ptxas")
        return 77
    print("%d passed, %d failed" % (status == 0, status != 0))
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main())
