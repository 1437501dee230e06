#!/usr/bin/env python3
"""What a run costs, as ratios measured in one go on one machine.

usage: run.py --kcheck BINARY [--all] [FILE...]

For each file: kcheck from start to exit against a bare libclang parse of the same file with the same
headers, and against clang-tidy's default checks on it (where clang-tidy is installed); the share of
each stage; peak memory. Times are the best of N runs. It fails when kcheck takes more than
LIMIT times the bare parse plus a second: a guard against accidents, not a target.
"""
import argparse
import ctypes
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNS, LIMIT = 3, 25
HEADERS = os.path.join(ROOT, "knowledge", "headers", "include")
FLAGS = ["-x", "cuda", "--cuda-device-only", "-fsyntax-only", "-w", "-std=c++17", "--cuda-gpu-arch=sm_90a",
         "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "-D__NVCC__=1",
         "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-I" + HEADERS, "-include", "cuda_runtime.h"]
PARSE = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.clang_createIndex.restype = ctypes.c_void_p
lib.clang_parseTranslationUnit.restype = ctypes.c_void_p
flags = [f.encode() for f in sys.argv[3:]]
array = (ctypes.c_char_p * len(flags))(*flags)
index = lib.clang_createIndex(0, 0)
unit = lib.clang_parseTranslationUnit(ctypes.c_void_p(index), sys.argv[2].encode(), array, len(flags), None, 0, 0x201)
sys.exit(0 if unit else 1)
"""


def find_libclang():
    names = glob.glob("/usr/lib/llvm-*/lib/libclang.so.1") + glob.glob("/usr/lib*/libclang.so.*")
    names = [os.environ["KCHECK_LIBCLANG"]] if "KCHECK_LIBCLANG" in os.environ else names

    def version(name):
        digits = [int(w) for w in name.replace("/", "-").split("-") if w.isdigit()]
        return digits[-1] if digits else 0
    return max(names, key=version) if names else None


def best(command, runs=RUNS):
    """Best wall time of a command in seconds, and its peak memory in MB."""
    seconds, memory = float("inf"), 0
    for _ in range(runs):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = os.wait4(process.pid, 0)[2]
        seconds = min(seconds, time.monotonic() - start)
        memory = max(memory, usage.ru_maxrss / 1024)
    return seconds, memory


def stages(kcheck, path):
    done = subprocess.run([kcheck, path, "--timing", "--format", "json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["files"][0].get("timing") or {}
    except (ValueError, KeyError, IndexError):
        return {}


def measure(kcheck, libclang, path):
    whole, _ = best([kcheck, path, "--fail-on", "never"])
    python, _ = best([sys.executable, "-c", "import ctypes, sys"])
    parse, _ = best([sys.executable, "-c", PARSE, libclang, path, *FLAGS])
    parse = max(parse - python, 1e-3)
    line = "%-34s kcheck %6.0f ms  = %4.1f x bare parse (%4.0f ms)" % (
        os.path.basename(path), 1000 * whole, whole / parse, 1000 * parse)
    if shutil.which("clang-tidy"):
        tidy, _ = best(["clang-tidy", path, "--quiet", "--", *FLAGS], 1)
        line += "  = %4.2f x clang-tidy (%5.0f ms)" % (whole / tidy, 1000 * tidy)
    print(line)
    parts = stages(kcheck, path)
    if parts:
        print("  " + "  ".join("%s %.1f ms" % (k, v / 1000) for k, v in sorted(parts.items(), key=lambda kv: -kv[1])))
    return whole, parse


def main():
    parser = argparse.ArgumentParser(description="Measure time and memory.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true", help="every reference kernel")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    libclang = find_libclang()
    if not libclang:
        print("skip: no libclang to compare with")
        return 77
    kernels = sorted(glob.glob(os.path.join(ROOT, "fixtures", "reference", "*.cu")))
    files = options.files or (kernels if options.all else kernels[:4])
    passed = failed = 0
    for path in files:
        whole, parse = measure(os.path.abspath(options.kcheck), libclang, path)
        good = whole < LIMIT * parse + 1
        passed, failed = passed + good, failed + (not good)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("peak memory of any process: %.0f MB" % memory)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
