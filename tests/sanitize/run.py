#!/usr/bin/env python3
"""Builds everything with AddressSanitizer, UBSan and LeakSanitizer and runs the suites on that.

usage: run.py --kcheck BINARY [--all]

The debug preset goes into build/debug. A worker that leaks or trips ends with a status that its parent
reports, so that the command-line and fixture suites fail on it. Also what `--all` changes: the
reference kernels run too, not only the rules' fixtures.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "debug")


def run(*command, quiet=False):
    """Exit status and the last lines of a command."""
    env = dict(os.environ, UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not quiet:
        print("\n".join(lines[-30:]), flush=True)
    return done.returncode, lines


def counts(lines):
    for line in reversed(lines):
        match = re.search(r"(\d+) passed, (\d+) failed", line)
        if match:
            return int(match.group(1)), int(match.group(2))
        match = re.search(r"(\d+) tests failed out of (\d+)", line)
        if match:
            return int(match.group(2)) - int(match.group(1)), int(match.group(1))
    return 0, 1


def main():
    parser = argparse.ArgumentParser(description="Run the suites under the sanitizers.")
    parser.add_argument("--kcheck", required=True, help="not used: this suite builds its own")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if run("cmake", "--preset", "debug", quiet=True)[0] or run("cmake", "--build", BUILD, quiet=True)[0]:
        print("0 passed, 1 failed")
        return 1
    kcheck = os.path.join(BUILD, "kcheck")
    fixtures = [] if options.all else [os.path.join(ROOT, "fixtures", "rules")]
    suites = [
        ("ctest", "--test-dir", BUILD, "-j", str(os.cpu_count() or 2), "--output-on-failure"),
        (sys.executable, os.path.join(ROOT, "tests", "cli", "run.py"), "--kcheck", kcheck),
        (sys.executable, os.path.join(ROOT, "tests", "fixtures", "run.py"), "--kcheck", kcheck, *fixtures),
    ]
    results = [counts(run(*suite, quiet=True)[1]) for suite in suites]
    passed, failed = sum(p for p, _ in results), sum(f for _, f in results)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
