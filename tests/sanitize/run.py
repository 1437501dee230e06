#!/usr/bin/env python3
"""Builds with AddressSanitizer, UBSan and LeakSanitizer (the debug preset, in build/debug) and runs that.

usage: run.py --kcheck BINARY [--all]

Without --all only the program is built; it reads broken texts and every n-th fixture until SHORT_S
are over, and fails when a sanitizer says anything. With --all the unit, command-line, server and
fixture suites run on it: a worker that leaks or trips ends with a status that its parent reports.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "debug")
SHORT_S, EVERY = 60, 12
SIGNS = re.compile(r"runtime error:|Sanitizer|checker (?:crashed|stopped)")
KERNEL = "__global__ void k(int *x) {\n  %s\n}\n"
BROKEN = {
    "error.cu": "#error no\n" + KERNEL % "x[0] = 1;",
    "header.cu": '#include "no_such.h"\n' + KERNEL % "x[0] = 1;",
    "unknown.cu": KERNEL % "x[0] = f(y) + z->a[3];",
    "open.cu": "__global__ void k(int *x) { if (x) { ",
    "asm.cu": KERNEL % 'asm volatile("mbarrier.init.b64 [%0], %9; bogus.b32 %1, {;" :: "l"(x), "r"(1));',
    "sum.cu": KERNEL % ("x[0] = x[1]" + " + x[2]" * 2000 + ";"),
    "bytes.cu": "// \xff\xfe\x00".encode("latin-1") + b"\n" + (KERNEL % "x[0] = 1;").encode(),
    "directive.cu": "// kcheck: launch(k, grid = )\n// kcheck: ignore[\n" + KERNEL % "x[0] = 1;",
    "bad.ptx": ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { mov.u32 %r1 4; ld.shared.v4.f32 {%f1; }\n",
    "empty.ptx": "",
}


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


def sample(folder):
    """Broken texts, then every n-th fixture."""
    for name, text in BROKEN.items():
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        yield path
    fixtures = sorted(glob.glob(os.path.join(ROOT, "fixtures", "rules", "*", "*.cu")))
    yield from fixtures[::EVERY]
    yield from sorted(glob.glob(os.path.join(ROOT, "fixtures", "**", "*.ptx"), recursive=True))


def try_one(kcheck, path):
    """What a sanitizer said about one file, or None."""
    env = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    done = subprocess.run([kcheck, "--verbose", path], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    return done.stdout if SIGNS.search(done.stdout) or done.returncode not in (0, 1, 2) else None


def run_sample(kcheck):
    """(passed, failed) over the sample, for SHORT_S at most."""
    passed = failed = left = 0
    deadline = time.monotonic() + SHORT_S
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        def guarded(path):
            return "late" if time.monotonic() > deadline else try_one(kcheck, path)
        paths = list(sample(folder))
        for path, said in zip(paths, pool.map(guarded, paths)):
            left += said == "late"
            passed += said is None
            if said and said != "late":
                failed += 1
                print("%s:\n%s" % (path, "\n".join(said.splitlines()[:40])))
    if left:
        print("%d files were left out for lack of time" % left)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description="Run the suites under the sanitizers.")
    parser.add_argument("--kcheck", required=True, help="not used: this suite builds its own")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    target = () if options.all else ("--target", "kcheck")
    if run("cmake", "--preset", "debug", quiet=True)[0] or run("cmake", "--build", BUILD, *target, quiet=True)[0]:
        print("0 passed, 1 failed")
        return 1
    kcheck = os.path.join(BUILD, "kcheck")
    if not options.all:
        passed, failed = run_sample(kcheck)
        print("%d passed, %d failed" % (passed, failed))
        return 1 if failed or not passed else 0
    suites = [
        ("ctest", "--test-dir", BUILD, "-j", str(os.cpu_count() or 2), "--output-on-failure"),
        (sys.executable, os.path.join(ROOT, "tests", "cli", "run.py"), "--kcheck", kcheck),
        (sys.executable, os.path.join(ROOT, "tests", "lsp", "run.py"), "--kcheck", kcheck),
        (sys.executable, os.path.join(ROOT, "tests", "fixtures", "run.py"), "--kcheck", kcheck),
    ]
    results = [counts(run(*suite, quiet=True)[1]) for suite in suites]
    passed, failed = sum(p for p, _ in results), sum(f for _, f in results)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
