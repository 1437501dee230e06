#!/usr/bin/env python3
"""What a run costs, as ratios measured in one go on one machine.

usage: run.py --kcheck BINARY [--all] [FILE...]

For each file: kcheck from start to exit against a bare libclang parse of the same file with the same
headers, and against clang-tidy's default checks on it (where clang-tidy is installed); the share of
each stage; peak memory. Times are the best of N runs. A small kernel is also measured with the
embedded headers alone, and the commands that need no file. Then what the machine alone costs, by
tests/bench/machine.c: processor time over all inputs and schedules, steps a second, memory, for the
reference kernels, a GEMM of 384 threads, 4 stages, 9 k-blocks and 3 tiles (gemm384), and a cluster of
8 CTAs with 96 warps (cluster8); the last two are set against their targets. It fails when kcheck takes more than LIMIT
times the bare parse plus a second, or the machine more than its limits: guards against accidents,
not targets.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNS, LIMIT = 3, 8
# The target for a small kernel is 100 ms of wall time on two quiet cores, 30 of them for opening
# libclang. The limit is on the least processor time, which a busy machine at most doubles.
SMALL_RUNS, SMALL_LIMIT_S = 15, 0.2
QUESTION_LIMIT_S = 0.06  # target: 20 ms
MACHINE_LIMIT_MS, CLUSTER_LIMIT_MS, MEMORY_LIMIT_MB = 400, 3000, 200
# What the machine may take on a quiet computer, in ms: all schedules of the two kernels in tests/bench.
TARGETS_MS = {"gemm384.cu": 30, "cluster8.cu": 300}
HEADERS = os.path.join(ROOT, "knowledge", "headers", "include")
COMMON = ["-x", "cuda", "--cuda-device-only", "-fsyntax-only", "-w", "-std=c++17", "--cuda-gpu-arch=sm_90a",
          "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0"]
EMBEDDED = ["--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-nostdinc", "-nostdinc++", "-D__NVCC__=1",
            "-I" + HEADERS, "-include", "cuda_runtime.h"]
with open(os.path.join(ROOT, "analyzer", "cuda", "wants.c"), encoding="utf-8") as source:  # all parts of the headers
    EMBEDDED += ["-D%s=1" % name for name in re.findall(r'"(KCHECK_WANTS_\w+)"', source.read())]
TOOLKIT = os.environ.get("CUDA_HOME", "/usr/local/cuda")
PARSE = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.clang_createIndex.restype = ctypes.c_void_p
lib.clang_parseTranslationUnit.restype = ctypes.c_void_p
flags = [f.encode() for f in sys.argv[3:]]
array = (ctypes.c_char_p * len(flags))(*flags)
index = lib.clang_createIndex(0, 0)
unit = lib.clang_parseTranslationUnit(ctypes.c_void_p(index), sys.argv[2].encode(), array, len(flags), None, 0, 0x201)
lib.clang_getDiagnostic.restype = ctypes.c_void_p
count = lib.clang_getNumDiagnostics(ctypes.c_void_p(unit)) if unit else 0
fatal = [i for i in range(count) if lib.clang_getDiagnosticSeverity(
    ctypes.c_void_p(lib.clang_getDiagnostic(ctypes.c_void_p(unit), i))) == 4]
sys.exit(2 if fatal or not unit else 0)
"""


def find_libclang():
    """The newest libclang that is installed."""
    if "KCHECK_LIBCLANG" in os.environ:
        return os.environ["KCHECK_LIBCLANG"]
    names = [n for p in ("/usr/lib/llvm-*/lib/libclang*.so*", "/usr/lib*/llvm*/lib*/libclang.so*", "/usr/lib*/libclang.so*")
             for n in glob.glob(p) if "cpp" not in n]

    def version(name):
        numbers = re.findall(r"(?:llvm-?|clang-|so\.)(\d+)", name)
        return max(int(n) for n in numbers) if numbers else 0
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


def measure_small(kcheck):
    """A raw-PTX kernel with its headers as on a machine without a toolkit, from start to exit."""
    path = os.path.join(ROOT, "fixtures", "reference", "pipeline_ptx.cu")
    spent, walls = [], []
    for _ in range(SMALL_RUNS):
        start = time.monotonic()
        process = subprocess.Popen([kcheck, "--cuda-path", "none", path], stdout=subprocess.DEVNULL)
        usage = os.wait4(process.pid, 0)[2]
        walls.append(time.monotonic() - start)
        spent.append(usage.ru_utime + usage.ru_stime)
    processor = sorted(spent)[len(spent) // 2]
    print("%-34s without a toolkit, start to exit: %.0f ms of processor time (least %.0f), %.0f ms (least %.0f)" % (
        os.path.basename(path), 1000 * processor, 1000 * min(spent), 1000 * sorted(walls)[len(walls) // 2],
        1000 * min(walls)))
    return min(spent) < SMALL_LIMIT_S


def measure_questions(kcheck):
    """What needs no file: explain, page and search, from start to exit."""
    failed = 0
    for words in (["explain", "mbarrier-phase-not-flipped"], ["page", "hw-mbarrier"], ["search", "phase", "parity"]):
        walls = []
        for _ in range(SMALL_RUNS):
            start = time.monotonic()
            subprocess.run([kcheck] + words, stdout=subprocess.DEVNULL, check=True)
            walls.append(time.monotonic() - start)
        print("%-34s %.0f ms (least %.0f)" % (words[0], 1000 * sorted(walls)[len(walls) // 2], 1000 * min(walls)))
        failed += min(walls) >= QUESTION_LIMIT_S
    return 3 - failed, failed


def look(kcheck, path):
    """Time of each stage, machine steps and their time, and the headers that kcheck chose."""
    done = subprocess.run([kcheck, path, "--timing", "--verbose"], capture_output=True, text=True)
    parts = {m.group(1): float(m.group(2)) for m in re.finditer(r"^  (\w[\w ]*?) +([\d.]+) ms$", done.stdout, re.M)}
    runs = re.findall(r": (\d+) steps in ([\d.]+) ms", done.stderr)
    steps, spent = sum(int(s) for s, _ in runs), sum(float(t) for _, t in runs)
    return parts, steps, spent, "toolkit headers" in done.stdout


def header_flags(libclang, toolkit):
    if not toolkit:
        return EMBEDDED
    resources = sorted(glob.glob(os.path.join(os.path.dirname(libclang), "clang", "*")))
    return ["--cuda-path=" + TOOLKIT, "-isystem", TOOLKIT + "/include/cccl"] + (
        ["-resource-dir", resources[-1]] if resources else [])


def measure(kcheck, libclang, path):
    parts, steps, spent, toolkit = look(kcheck, path)
    flags = COMMON + header_flags(libclang, toolkit)
    whole, _ = best([kcheck, path, "--fail-on", "never"])
    python, _ = best([sys.executable, "-c", "import ctypes, sys"])
    command = [sys.executable, "-c", PARSE, libclang, path, *flags]
    if subprocess.run(command).returncode != 0:
        print("%s: the bare parse stops early: nothing to compare with" % os.path.basename(path))
        return 0, 1
    parse, _ = best(command)
    parse = max(parse - python, 1e-3)
    line = "%-34s kcheck %6.0f ms  = %4.1f x bare parse (%4.0f ms)" % (
        os.path.basename(path), 1000 * whole, whole / parse, 1000 * parse)
    if shutil.which("clang-tidy"):
        tidy, _ = best(["clang-tidy", path, "--quiet", "--", *flags], 1)
        line += "  = %4.2f x clang-tidy (%5.0f ms)" % (whole / tidy, 1000 * tidy)
    print(line + ("  (toolkit headers)" if toolkit else "  (embedded headers)"))
    print("  " + "  ".join("%s %.1f ms" % kv for kv in sorted(parts.items(), key=lambda kv: -kv[1])) +
          ("; %d machine steps, %.2f million a second" % (steps, steps / 1e3 / spent) if spent else ""))
    return whole, parse


def measure_machine(kcheck, files):
    """Passed and failed of the machine's own benchmark."""
    bench = os.path.join(os.path.dirname(kcheck), "tests", "machine_bench")
    if not os.path.exists(bench):
        print("the machine alone: %s was not built" % bench)
        return 0, 0
    command = [bench, "--repeat", str(RUNS)]
    for path in files:
        with open(path) as f:
            arch = re.search(r"sm_\d+[af]?", f.read(400))
        command += [arch.group(0) if arch else "sm_90a", path]
    done = subprocess.run(command, capture_output=True, text=True)
    passed, failed = 0, int(done.returncode != 0)
    for line in done.stdout.splitlines():
        m = re.match(r"(\S+) .* ([\d.]+) ms \(best ([\d.]+)\) .* ([\d.]+) MB", line)
        limit = CLUSTER_LIMIT_MS if m and m.group(1).startswith("cluster8") else MACHINE_LIMIT_MS
        good = bool(m) and float(m.group(3)) < limit and float(m.group(4)) < MEMORY_LIMIT_MB
        target = TARGETS_MS.get(m.group(1)) if m else None
        if target:
            line += "  target %d ms: %s" % (target, "met" if float(m.group(3)) < target else "MISSED")
        print(line + ("" if good else "  OVER THE LIMIT"))
        passed, failed = passed + good, failed + (not good)
    return passed, failed


QUICK = ("clc_persistent", "cluster_reduction", "cp_async_pipeline", "gemm_fp8")


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
    files = options.files or [k for k in kernels if options.all or os.path.basename(k)[:-3] in QUICK]
    passed = failed = 0
    for path in files:
        whole, parse = measure(os.path.abspath(options.kcheck), libclang, path)
        good = whole < LIMIT * parse + 1
        passed, failed = passed + good, failed + (not good)
    small = measure_small(os.path.abspath(options.kcheck))
    passed, failed = passed + small, failed + (not small)
    questions = measure_questions(os.path.abspath(options.kcheck))
    passed, failed = passed + questions[0], failed + questions[1]
    more = measure_machine(os.path.abspath(options.kcheck),
                           files + [os.path.join(ROOT, "tests", "bench", name) for name in TARGETS_MS])
    passed, failed = passed + more[0], failed + more[1]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("peak memory of any process: %.0f MB" % memory)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
