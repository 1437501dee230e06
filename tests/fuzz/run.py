#!/usr/bin/env python3
"""Fuzzes what reads text from outside: PTX, directives, YAML and JSON settings, workers' answers, editors.

usage: run.py --kcheck BINARY [--all] [--seconds N] [TARGET...]

The libFuzzer programs (tests/fuzz/fuzz_*.c) are built by the fuzz preset into build/fuzz and start
from files of this repository. Each runs a few seconds, with --all five minutes. An input that breaks
a target stays in build/fuzz/found; its stack is printed.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "fuzz")
SHORT_S, LONG_S = 5, 300
LIMITS = ("-rss_limit_mb=2048", "-timeout=10", "-max_len=16384")


def texts(*patterns):
    """Contents of the repository's files that match."""
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8") as file:
                yield file.read()


def asm_strings():
    """The template of each asm statement in the fixtures."""
    for text in texts("fixtures/reference/*.h", "fixtures/rules/**/*.cu"):
        for body in re.findall(r"\basm\b[^(]*\(([^;]*?)(?::|\);)", text, re.S):
            template = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', body))
            yield template.replace("\\n", "\n").replace("\\t", "\t").replace("%%", "%")


def ptx_seeds(_):
    yield from asm_strings()
    for text in texts("tests/ptx/test_module.c"):
        yield "\n".join(part.encode().decode("unicode_escape") for part in re.findall(r'"((?:[^"\\]|\\.)*)"', text)
                        if part.isascii())
    if shutil.which("nvcc"):
        source = os.path.join(ROOT, "fixtures", "reference", "pipeline_ptx.cu")
        done = subprocess.run(["nvcc", "-ptx", "-arch=sm_90a", "-o", "-", source], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        yield done.stdout


def directive_seeds(_):
    for text in texts("fixtures/**/*.cu"):
        lines = [line for line in text.splitlines(True) if "kcheck:" in line]
        if lines:
            yield "".join(lines)


def yaml_seeds(_):
    yield from texts("rules/smem/*.yaml", "knowledge/dialects/*.yaml", "fixtures/upstream.yaml")
    yield ("arch: [sm_90a]\nfail-on: warning\nselect: [smem]\nseverity:\n  smem-race: error\n"
           "launches:\n  - gemm, grid = 132, block = 384\nassume:\n  - K % 64 == 0\n"
           "per-file:\n  - files: src/*.cu\n    ignore: [smem-race]\n")
    yield '[{"directory": "/src", "file": "src/gemm.cu", "command": "nvcc -arch=sm_90a -Iinclude -c src/gemm.cu"}]'


def report_seeds(kcheck):
    """What a worker sends is close to what --format json prints; its own fields come from the source."""
    sample = sorted(glob.glob(os.path.join(ROOT, "fixtures", "rules", "*", "*bad*.cu")))[:2]
    for path in sample:
        done = subprocess.run([kcheck, "--format", "json", path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        yield done.stdout
    text = next(texts("analyzer/report/transfer.c"))
    values = {"s": "text", "i": 1, "b": True, "l": 1, "a": ["text"]}
    tables = re.findall(r"static const Field (\w+)\[\] = \{(.*?)\};", text, re.S)
    fields = {name: {field: values[kind] for field, kind in re.findall(r"FIELD\(\w+, (\w+), '(\w)'\)", body)}
              for name, body in tables}
    yield fields_as_answer(fields)


def fields_as_answer(fields):
    file = dict(fields.get("FILE_FIELDS", {}), kernels=[fields.get("KERNEL", {})], timing={"parse": 1})
    finding = dict(fields.get("FINDING", {}), related=[fields.get("RELATED", {})], severity="error")
    return json.dumps({"files": [file], "findings": [finding]})


def lsp_seeds(_):
    """Positions of an edit, one byte each, the new text, then a stream of messages."""
    for body in ('{"jsonrpc":"2.0","id":1,"method":"shutdown"}', "{}", ""):
        yield "\x00\x01\x00\x02\x00a\u00e4\U0001f600\r\nb\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    yield "\x01\x01\x02\x02\x01Content-Type: x; charset=utf-8\r\ncontent-length:2\r\n\r\n{}X\r\n\r\n\rContent-Length: 9"


SEEDS = {"fuzz_ptx": ptx_seeds, "fuzz_directive": directive_seeds, "fuzz_yaml": yaml_seeds,
         "fuzz_report": report_seeds, "fuzz_lsp": lsp_seeds}


def has_libfuzzer():
    probe = subprocess.run(["clang", "-x", "c", "-fsanitize=fuzzer,address", "-o", os.devnull, "-"],
                           input="int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d || !n; }",
                           text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return probe.returncode == 0


def build(targets):
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", BUILD, "--target", *targets]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print("\n".join(done.stdout.splitlines()[-20:]))
            return False
    return True


def fuzz(folder, target, kcheck, seconds):
    """Whether the target survived."""
    corpus, found = os.path.join(folder, "corpus", target), os.path.join(folder, "found", target + "-")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(os.path.dirname(found), exist_ok=True)
    for number, seed in enumerate(SEEDS[target](kcheck)):
        with open(os.path.join(corpus, "seed%04d" % number), "w", encoding="utf-8") as file:
            file.write(seed)
    env = dict(os.environ, UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    done = subprocess.run([os.path.join(folder, "tests", target), corpus, "-max_total_time=%d" % seconds,
                           "-artifact_prefix=" + found, "-print_final_stats=1", *LIMITS],
                          env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = done.stdout.splitlines()
    runs = re.search(r"number_of_executed_units: (\d+)", done.stdout)
    print("%s: %s, %s inputs" % (target, "ok" if done.returncode == 0 else "FAILED", runs.group(1) if runs else "?"),
          flush=True)
    if done.returncode != 0:
        print("\n".join(lines[-40:]), flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description="Fuzz what reads text from outside.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true", help="five minutes a target")
    parser.add_argument("--seconds", type=int, help="for each target")
    parser.add_argument("--build", help="folder of programs that are built already")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    targets = options.targets or sorted(SEEDS)
    if not shutil.which("clang") or not has_libfuzzer():
        print("skip: clang with libFuzzer is not installed")
        print("needs: clang")
        return 77
    if not options.build and not build(targets):
        print("0 passed, 1 failed")
        return 1
    seconds = options.seconds or (LONG_S if options.all else SHORT_S)
    passed = sum(fuzz(options.build or BUILD, target, options.kcheck, seconds) for target in targets)
    print("%d passed, %d failed" % (passed, len(targets) - passed))
    return 0 if passed == len(targets) else 1


if __name__ == "__main__":
    sys.exit(main())
