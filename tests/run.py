#!/usr/bin/env python3
"""Runs every suite against the built program and prints each one's time.

usage: ./test [--all] [--kcheck BINARY] [SUITE...]

Suites: `unit` (the Check programs, through ctest), and every tests/<name>/run.py. A suite program is
called with `--kcheck BINARY` (and `--all` for its long form); its last line is "N passed, N failed",
its exit status 0, 1, or 77 when it has to skip, with a line "skip: reason" (and "needs: TOOL" when a
tool is what it lacks). With $CI set, a suite that skipped although the tool it needs is there fails.
The last line of the whole run is "N passed, N failed"; the exit status is 1 when anything failed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONG_LIMIT_S, LIMIT_S = 4 * 3600, 20 * 60
LONG_SUITES = ("fuzz",)  # they build the analyzer again: with --all, or when named


def suite_programs():
    """Name -> path of each tests/<name>/run.py."""
    found = {}
    tests = os.path.join(ROOT, "tests")
    for name in sorted(os.listdir(tests)):
        path = os.path.join(tests, name, "run.py")
        if os.path.isfile(path):
            found[name] = path
    return found


def echo(command, limit_s):
    """Runs a command, passing its output on as it comes; returns its lines and exit status."""
    lines = []
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    deadline = time.monotonic() + limit_s
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line.rstrip("\n"))
        if time.monotonic() > deadline:
            process.kill()
            lines.append("over its time limit of %d s" % limit_s)
            break
    return lines, process.wait()


def run_unit(build):
    """ctest over the Check programs: (passed, failed, skipped reasons)."""
    jobs = str(os.cpu_count() or 2)
    lines, status = echo(["ctest", "--test-dir", build, "-j", jobs, "--output-on-failure", "--no-tests=error"], LIMIT_S)
    text = "\n".join(lines)
    summary = re.search(r"(\d+) tests failed out of (\d+)", text)
    skipped = re.findall(r"Test +#\d+: (\S+) .*\*\*\*Skipped", text)
    if not summary:
        return 0, 1, []
    failed, total = int(summary.group(1)), int(summary.group(2))
    return total - failed - len(skipped), max(failed, int(status != 0 and failed == 0)), ["unit " + s for s in skipped]


def run_program(name, path, kcheck, everything):
    """One tests/<name>/run.py: (passed, failed, skipped reasons)."""
    command = [sys.executable, path, "--kcheck", kcheck] + (["--all"] if everything else [])
    lines, status = echo(command, LONG_LIMIT_S if everything else LIMIT_S)
    if status == 77:
        reason = next((l[5:].strip() for l in lines if l.startswith("skip:")), "no reason given")
        tool = next((l[6:].strip() for l in lines if l.startswith("needs:")), None)
        if os.environ.get("CI") and tool and shutil.which(tool):
            print("%s: skipped although %s is here" % (name, tool))
            return 0, 1, []
        return 0, 0, ["%s: %s" % (name, reason)]
    summary = next((m for m in (re.search(r"(\d+) passed, (\d+) failed", l) for l in reversed(lines)) if m), None)
    passed, failed = (int(summary.group(1)), int(summary.group(2))) if summary else (0, 0)
    if status != 0 and failed == 0:
        failed = 1
    if not summary:
        print("%s: no line \"N passed, N failed\"" % name)
        failed = max(failed, 1)
    return passed, failed, []


def main():
    parser = argparse.ArgumentParser(description="Run the test suites.")
    parser.add_argument("--all", action="store_true", help="the long forms too: full mutation, long fuzzing, upstream")
    parser.add_argument("--kcheck", default=os.path.join(ROOT, "build", "release", "kcheck"), help="program to test")
    parser.add_argument("suites", nargs="*", help="only these (unit, fixtures, cli ...)")
    options = parser.parse_args()
    programs = suite_programs()
    names = options.suites or ["unit"] + [n for n in programs if options.all or n not in LONG_SUITES]
    for name in names:
        if name != "unit" and name not in programs:
            parser.error("no suite %r; there are unit, %s" % (name, ", ".join(programs)))
    passed = failed = 0
    skips, times, started = [], [], time.monotonic()
    for name in names:
        print("== %s" % name, flush=True)
        start = time.monotonic()
        if name == "unit":
            p, f, s = run_unit(os.path.dirname(options.kcheck))
        else:
            p, f, s = run_program(name, programs[name], options.kcheck, options.all)
        passed, failed = passed + p, failed + f
        skips += s
        times.append((name, time.monotonic() - start, p, f))
    print("== summary")
    left_out = [n for n in LONG_SUITES if n in programs and n not in names]
    if left_out and not options.suites:
        print("only with --all: %s" % ", ".join(left_out))
    for name, seconds, p, f in times:
        print("%-12s %7.1f s  %5d passed, %d failed" % (name, seconds, p, f))
    for skip in skips:
        print("skipped %s" % skip)
    print("%-12s %7.1f s" % ("total", time.monotonic() - started))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
