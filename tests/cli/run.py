#!/usr/bin/env python3
"""The command line as scripts and hooks see it: bad input, configuration, baseline, determinism.

usage: run.py --kcheck BINARY [--all] [-k WORD] [--write-readme]

Every bad input must give one clear line that names the place, exit status 2, and leave the other
files checked. Each test_ function is one case; it gets a scratch folder of its own.
"""
import argparse
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

KCHECK = None
GOOD = "__global__ void scale(float *x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] *= 2.0f;\n}\n"
# A consumer that waits on a barrier that nothing ever completes: an error whatever the inputs.
BAD = """#include <cuda_runtime.h>
#include <cstdint>
__device__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }"
               ::"r"(bar), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(128) stuck() {
  __shared__ uint64_t full;
  uint32_t bar = (uint32_t)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) init(bar, 1);
  __syncthreads();
  wait(bar, 0);
}
"""


class Failure(Exception):
    pass


def check(condition, message, *values):
    if not condition:
        raise Failure(message + "".join("\n    %r" % (v,) for v in values))


def run(*args, cwd=None, stdin=None, env=None, timeout=120):
    """Exit status, stdout, stderr of one kcheck."""
    environment = dict(os.environ, NO_COLOR="1", **(env or {}))
    done = subprocess.run([KCHECK, *args], cwd=cwd, input=stdin, env=environment, capture_output=True, timeout=timeout)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def report(*args, **kwargs):
    """Exit status and parsed JSON."""
    status, out, err = run(*args, "--format", "json", **kwargs)
    try:
        return status, json.loads(out), err
    except ValueError:
        raise Failure("no JSON: %r %r" % (out[:300], err[:300]))


def status_of(document, name):
    return next((f["status"] for f in document["files"] if f["path"].endswith(name)), None)


def expect_refused(folder, args, *needles, good="good.cu"):
    """One line on stderr with all needles, status 2, and good.cu checked beside it."""
    write(folder, good, GOOD)
    status, document, err = report(*args, good, cwd=folder)
    lines = err.strip().splitlines()
    check(status == 2, "exit status %d, not 2" % status, err)
    check(len(lines) == 1, "not one line", err)
    for needle in needles:
        check(needle in lines[0], "no %r in the line" % needle, lines[0])
    check(status_of(document, good) == "checked", "the other file was not checked", document["files"])


def expect_usage(args, *needles, cwd=None):
    """Bad usage: one line on stderr, nothing on stdout, status 2."""
    status, out, err = run(*args, cwd=cwd)
    check(status == 2, "exit status %d, not 2" % status, out, err)
    check(len(err.strip().splitlines()) == 1 and not out, "not one line", out, err)
    for needle in needles:
        check(needle in err, "no %r" % needle, err)


# ---- bad input ----

def test_missing_file(folder):
    expect_refused(folder, ["nope.cu"], "nope.cu: error: no such file")


def test_folder_without_kernels(folder):
    os.makedirs(os.path.join(folder, "empty"))
    write(folder, "empty/readme.txt", "nothing")
    expect_refused(folder, ["empty"], "empty: error: no .cu, .cuh or .ptx file")


def test_binary_file(folder):
    write(folder, "object.cu", b"\x7fELF\x02\x01\x01\x00\x00")
    expect_refused(folder, ["object.cu"], "object.cu:1:8: error:", "NUL byte")


def test_unreadable_file(folder):
    if os.geteuid() == 0:
        os.mkfifo(os.path.join(folder, "x")), os.unlink(os.path.join(folder, "x"))
        return  # root reads everything
    os.chmod(write(folder, "secret.cu", GOOD), 0)
    expect_refused(folder, ["secret.cu"], "secret.cu: error: cannot be read")


def test_unbalanced_brace(folder):
    write(folder, "open.cu", "__global__ void k(int *x) {\n  if (x) {\n    x[0] = 1;\n}\n")
    expect_refused(folder, ["open.cu"], "open.cu:", "error:", "}")


def test_syntax_error_has_its_place(folder):
    write(folder, "typo.cu", "__global__ void k(int *x) {\n  x[0] = 1\n}\n")
    expect_refused(folder, ["typo.cu"], "typo.cu:2:11: error:")


def test_endless_include(folder):
    write(folder, "a.cuh", '#include "b.cuh"\n')
    write(folder, "b.cuh", '#include "a.cuh"\n')
    write(folder, "cycle.cu", '#include "a.cuh"\n' + GOOD)
    expect_refused(folder, ["cycle.cu"], ".cuh:1:10: error: #include nested too deeply")


def test_active_error_directive(folder):
    write(folder, "e.cu", "#ifndef TILE\n#error set TILE\n#endif\n" + GOOD)
    expect_refused(folder, ["e.cu"], "e.cu:2:2: error: set TILE")


def test_endless_template(folder):
    write(folder, "t.cu", "template <int n> struct R {\n  static constexpr int v = R<n + 1>::v;\n};\n"
          "constexpr int x = R<0>::v;\n" + GOOD)
    expect_refused(folder, ["t.cu"], "t.cu:2:", "error: recursive template instantiation exceeded")


def test_kernels_in_a_missing_header(folder):
    write(folder, "m.cu", '#include "kernels.cuh"\nint main() { return 0; }\n')
    expect_refused(folder, ["m.cu"], "m.cu:1:10: error:", "kernels.cuh was not found", "-I")


def expect_partial(folder, text, reason):
    """Nothing found, but the file is not said to be clean: the kernel's reason names what and where."""
    write(folder, "p.cu", text)
    status, document, err = report("p.cu", cwd=folder)
    kernel = document["files"][0]["kernels"][0]
    check(status == 0 and status_of(document, "p.cu") == "partial", "not partial", status, document, err)
    check(kernel["status"] == "partial" and any(reason in r for r in kernel["not_checked"]), "no reason", kernel)
    check("clean" not in run("p.cu", cwd=folder)[1], "said to be clean")


def test_missing_header(folder):
    expect_partial(folder, '#include "no_such.h"\n' + GOOD, "the header no_such.h was not found (line 1)")
    # what the header would have declared may be why clang can't parse a statement of the host
    expect_partial(folder, '#include "no_such.h"\n' + GOOD + "void f(Tensor t) { auto p = (half *)(t.data<ns::Half>()); }\n",
                   "the header no_such.h was not found (line 1)")
    # ... and such a statement may take a kernel with it, which is not passed over
    expect_partial(folder, '#include "no_such.h"\n' + GOOD + "DECLARE_IT(void, f)\n__global__ void lost(int *x) { x[0] = 1; }\n",
                   "1 of 2 kernels in the text were not read")


def test_unknown_macro_in_a_kernel(folder):
    expect_partial(folder, "__global__ void k(int *x) {\n  x[0] = CEIL_DIV(4, 3);\n}\n", "'CEIL_DIV' (line 2)")


def test_error_outside_of_kernels(folder):
    expect_partial(folder, "Unknown q;\n" + GOOD, "unknown type name 'Unknown' (line 1)")
    expect_partial(folder, 'static_assert(sizeof(int) == 8, "no");\n' + GOOD, "static assertion failed")


def test_error_in_host_code_alone(folder):
    write(folder, "h.cu", GOOD + "int main() {\n  return nothing_of_that_name(1);\n}\n")
    status, document, err = report("h.cu", "--cuda-path", "none", "-v", cwd=folder)
    check(status == 0 and status_of(document, "h.cu") == "checked", "not checked", status, document)
    check("h.cu:6:10: clang:" in err and "nothing_of_that_name" in err, "--verbose does not say it", err)


def test_event_table_that_is_a_list(folder):
    write(folder, "table.yaml", "- calls: a\n")
    write(folder, ".kcheck.yaml", "dialects: [table.yaml]\n")
    write(folder, "good.cu", GOOD)
    status, _, err = report("good.cu", cwd=folder)
    check(status == 2, "exit status %d, not 2" % status, err)
    check("table.yaml:1:1: error: expected" in err, "no place of the mistake", err)


def test_bad_ptx(folder):
    write(folder, "bad.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n  mov.u32 %r1 4;\n}\n")
    expect_refused(folder, ["bad.ptx"], "bad.ptx:5:", "error:")


def test_nested_parentheses(folder):
    write(folder, "deep.cu", "__global__ void k(int *x) {\n  x[0] = " + "(" * 100000 + "1" + ")" * 100000 + ";\n}\n")
    expect_refused(folder, ["deep.cu"], "deep.cu", "error:")


def test_crash_names_the_line(folder):
    write(folder, "unary.cu", "__global__ void k(int *x) {\n  x[0] = " + "- " * 400000 + "x[1];\n}\n")
    expect_refused(folder, ["unary.cu"], "unary.cu:2: error: not checked", "tokens")


def test_parsing_is_bounded(folder):
    write(folder, "slow.cu", "__global__ void k(int *x) {\n  int *p = x;\n  x[0] = " + "*&" * 60000 + "*p;\n}\n")
    start = time.monotonic()
    expect_refused(folder, ["slow.cu"], "slow.cu:3: error: not checked", "tokens")
    print("  a statement that clang can't cope with: %.1f s" % (time.monotonic() - start))


def test_long_condition(folder):
    write(folder, "cond.cu", "__global__ void k(int *x) {\n  if (x[0] == 1" + " && x[1] == 2" * 10000 + ") x[2] = 1;\n}\n")
    status, document, err = report("cond.cu", cwd=folder)
    check(status == 0 and status_of(document, "cond.cu") == "checked", "not checked", status, document, err)


def test_long_sum(folder):
    write(folder, "sum.cu", "__global__ void k(int *x) {\n  x[0] = 1" + " + 1" * 200000 + ";\n}\n")
    write(folder, "good.cu", GOOD)
    status, document, err = report("sum.cu", "good.cu", "--timeout", "10", cwd=folder)
    check(status in (0, 2), "exit status %d" % status, err)
    check(status == 0 or len(err.strip().splitlines()) == 1, "not one line", err)
    check(status_of(document, "good.cu") == "checked", "the other file was not checked")


def test_50_mb(folder):
    write(folder, "big.cu", GOOD + "".join("__device__ int v%d = %d;\n" % (i, i) for i in range(1750000)))
    check(os.path.getsize(os.path.join(folder, "big.cu")) > 50e6, "the file is not large enough")
    write(folder, "good.cu", GOOD)
    start = time.monotonic()
    status, document, err = report("big.cu", "good.cu", cwd=folder)
    seconds = time.monotonic() - start
    check(seconds < 10.5, "took %.1f s" % seconds)
    check(status in (0, 2), "exit status %d" % status, err)
    check(status == 0 or (len(err.strip().splitlines()) == 1 and "big.cu: error:" in err), "not one line", err)
    check(status_of(document, "good.cu") == "checked", "the other file was not checked")


def test_not_utf8(folder):
    write(folder, "latin.cu", b"// caf\xe9\n" + GOOD.encode())
    status, document, err = report("latin.cu", cwd=folder)
    check(status == 0 and status_of(document, "latin.cu") == "checked", "not checked", status, err)


def test_no_kernel_is_clean(folder):
    write(folder, "host.cu", "int f() { return 1; }\n")
    status, document, err = report("host.cu", cwd=folder)
    check(status == 0 and document["files"][0]["kernels"] == [], "not clean", status, document, err)


def test_kernels_that_a_library_launches(folder):
    write(folder, "lib/lib.h", "#pragma once\ntemplate <class T> __global__ void fill(T *p) { p[threadIdx.x] = 0; }\n"
          "template <class T> struct Adapter {\n  static void launch(T *p) { fill<T><<<1, 32>>>(p); }\n"
          "  static void run(T *p) { launch(p); }\n  static int size() { return sizeof(T); }\n};\n")
    flags = ("-I", os.path.join(folder, "lib"))
    write(folder, "src/plain.cu", "#include <lib.h>\nint size() { return Adapter<float>::size(); }\n")
    status, document, err = report("src/plain.cu", "--arch", "sm_90a", *flags, cwd=folder)
    check(status == 0 and status_of(document, "plain.cu") == "checked", "not clean", status, document, err)
    for own in ("", GOOD):
        write(folder, "src/runs.cu", own + "#include <lib.h>\nvoid go(float *p) { Adapter<float>::run(p); }\n")
        status, document, err = report("src/runs.cu", "--arch", "sm_90a", *flags, cwd=folder)
        check(status == 0 and status_of(document, "runs.cu") == "partial", "not partial", status, document, err)
        reasons = document["files"][0]["kernels"][-1]["not_checked"]
        check(any("leads to fill)" in r for r in reasons), "no reason", reasons)
    write(folder, "src/runs.cu", "#include <lib.h>\n// kcheck: launch(fill<float>, grid=1, block=32)\n"
          "void go(float *p) { Adapter<float>::run(p); }\n")
    status, document, err = report("src/runs.cu", "--arch", "sm_90a", *flags, cwd=folder)
    check(status == 0 and status_of(document, "runs.cu") == "checked", "not checked once named", status, document, err)


def test_library_too_large_to_follow(folder):
    count = 50010
    write(folder, "lib/huge.h", "#pragma once\n" + "".join("inline void f%d() {}\n" % i for i in range(count)) +
          "inline void all() {\n" + "".join("f%d();" % i for i in range(count)) + "}\n")
    write(folder, "src/all.cu", GOOD + "#include <huge.h>\nvoid go() { all(); }\n")
    _, document, err = report("src/all.cu", "--arch", "sm_90a", "-I", os.path.join(folder, "lib"), cwd=folder)
    check(status_of(document, "all.cu") == "partial", "a walk that was cut is called complete", document["files"], err)
    reasons = document["files"][0]["kernels"][-1]["not_checked"]
    check(any("too many to follow" in r for r in reasons), "no reason", reasons)


def test_empty_file(folder):
    write(folder, "empty.cu", "")
    status, _, err = report("empty.cu", cwd=folder)
    check(status == 0, "exit status %d" % status, err)


# ---- usage ----

def test_unknown_arch(folder):
    write(folder, "good.cu", GOOD)
    expect_usage(["good.cu", "--arch", "sm_901"], "sm_901", "did you mean", cwd=folder)


def test_unknown_option(folder):
    write(folder, "good.cu", GOOD)
    expect_usage(["good.cu", "--fromat", "json"], "unknown option --fromat", "did you mean --format?", cwd=folder)


def test_unknown_rule(folder):
    write(folder, "good.cu", GOOD)
    expect_usage(["good.cu", "--select", "mbarrier-init-mising"], "mbarrier-init-mising", "did you mean", cwd=folder)


def test_unknown_format(folder):
    write(folder, "good.cu", GOOD)
    expect_usage(["good.cu", "--format", "jsn"], "jsn", "json", cwd=folder)


def test_unknown_command(folder):
    expect_usage(["explian", "x"], "kcheck explain", cwd=folder)


def test_nothing_given(folder):
    status, _, _ = run(cwd=folder)
    check(status == 2, "exit status %d, not 2" % status)


def test_unknown_kernel(folder):
    write(folder, "good.cu", GOOD)
    expect_usage(["good.cu", "--kernel", "scal", "--dump", "ir"], "scal", "kernels: scale", cwd=folder)


# ---- configuration ----

def test_misspelt_key(folder):
    write(folder, "sub/.kcheck.yaml", "arch: sm_90a\nselct: [mbarrier]\n")
    write(folder, "sub/a.cu", GOOD)
    expect_refused(folder, ["sub/a.cu"], "sub/.kcheck.yaml:2:1: error:", "'selct'", "'select'")


def test_misspelt_rule_in_config(folder):
    write(folder, "sub/.kcheck.yaml", "severity:\n  mbarrier-init-mising: off\n")
    write(folder, "sub/a.cu", GOOD)
    expect_refused(folder, ["sub/a.cu"], "sub/.kcheck.yaml:2:", "mbarrier-init-mising", "did you mean")


def test_config_is_found_upward(folder):
    write(folder, ".kcheck.yaml", "arch: sm_100\n")
    write(folder, "a/b/k.cu", GOOD)
    _, document, _ = report("k.cu", cwd=os.path.join(folder, "a", "b"))
    check(document["files"][0]["arch"] == ["sm_100a"], "wrong target", document["files"])


def test_per_file(folder):
    write(folder, ".kcheck.yaml", "fail-on: warning\nper-file:\n  'old/*': {fail-on: never}\n")
    write(folder, "old/k.cu", BAD)
    write(folder, "new/k.cu", BAD)
    check(run("old/k.cu", cwd=folder)[0] == 0, "per-file was not applied")
    check(run("new/k.cu", cwd=folder)[0] == 1, "per-file was applied where it does not match")


def test_severity(folder):
    write(folder, "k.cu", BAD)
    status, document, _ = report("k.cu", cwd=folder)
    check(status == 1 and document["findings"], "no finding", status, document)
    rules = sorted({f["rule"] for f in document["findings"]})
    off = ["--severity", ",".join("%s=off" % r for r in rules)]
    check(run("k.cu", *off, cwd=folder)[0] == 0, "off does not switch it off")
    check(run("k.cu", "--fail-on", "never", cwd=folder)[0] == 0, "--fail-on never fails")


def test_compile_commands(folder):
    write(folder, "k.cu", GOOD.replace("2.0f", "WIDTH"))
    entry = {"directory": folder, "file": "k.cu",
             "command": "nvcc -gencode arch=compute_100a,code=[sm_100a,compute_100a] -DWIDTH=4 -Xcompiler -Wall -c k.cu -o k.o"}
    write(folder, "build/compile_commands.json", json.dumps([entry]))
    check(status_of(report("k.cu", cwd=folder)[1], "k.cu") == "partial", "the file needs WIDTH")
    status, document, err = report("k.cu", "-p", "build", cwd=folder)
    check(status == 0 and status_of(document, "k.cu") == "checked", "macros were not used", document, err)
    check(document["files"][0]["arch"] == ["sm_100a"], "the target was not used", document)


# ---- standard input, baseline, several targets ----

def test_stdin(folder):
    status, document, err = report("-", "--stdin-filename", "src/k.cu", cwd=folder, stdin=BAD.encode())
    check(status == 1 and document["findings"][0]["path"] == "src/k.cu", "wrong", status, document, err)


def test_baseline(folder):
    write(folder, "k.cu", BAD)
    check(run("k.cu", "--baseline", "base.json", "--write-baseline", cwd=folder)[0] == 0, "accepting fails")
    check(run("k.cu", "--baseline", "base.json", cwd=folder)[0] == 0, "an accepted finding fails")
    write(folder, "k.cu", "// a line above\n" + BAD)
    check(run("k.cu", "--baseline", "base.json", cwd=folder)[0] == 0, "a moved finding is new")
    write(folder, "k.cu", BAD + BAD.split("\n", 9)[-1].replace("stuck", "again"))
    check(run("k.cu", "--baseline", "base.json", cwd=folder)[0] == 1, "a new finding is accepted")
    write(folder, "k.cu", GOOD)
    err = run("k.cu", "--baseline", "base.json", "--prune-baseline", cwd=folder)[2]
    check("dropped" in err, "nothing was pruned", err)
    with open(os.path.join(folder, "base.json")) as file:
        check(json.load(file)["findings"] == [], "entries are left")


def test_baseline_missing(folder):
    write(folder, "k.cu", GOOD)
    status, _, err = run("k.cu", "--baseline", "none.json", cwd=folder)
    check(status == 2 and "none.json: error:" in err, "exit status %d" % status, err)


def test_several_targets(folder):
    write(folder, "k.cu", BAD)
    _, document, _ = report("k.cu", "--arch", "sm_90", "--arch", "sm_100", cwd=folder)
    check(document["files"][0]["arch"] == ["sm_90a", "sm_100a"], "wrong targets", document["files"])
    places = [(f["rule"], f["line"]) for f in document["findings"]]
    check(len(places) == len(set(places)), "a finding is reported twice", places)


def test_target_is_guessed(folder):
    wait = '__device__ void ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }\n'
    kernel = "__global__ void __launch_bounds__(128) k() { if (threadIdx.x < 32) ld(); }\n"
    write(folder, "own.cu", wait + kernel)
    write(folder, "ld.cuh", wait)
    write(folder, "headers.cu", '#include "ld.cuh"\n' + kernel)
    write(folder, "hopper.cu", "// not tcgen05\n__global__ void k() {}\n")
    _, out, _ = run("own.cu", "headers.cu", "hopper.cu", cwd=folder)
    check("own.cu: 0 errors" in out and "sm_100a, guessed from tcgen05" in out, "no target of its own instructions", out)
    check("sm_100a, guessed from its headers" in out, "no target of the headers' instructions", out)
    check("hopper.cu: clean (sm_90a by default" in out, "a comment is no instruction", out)
    status, out, _ = run("own.cu", "--arch", "sm_90", cwd=folder)
    check(status == 1 and "arch-feature-absent" in out, "a named target counts", out)


def test_output_file(folder):
    write(folder, "k.cu", GOOD)
    status, out, _ = run("k.cu", "--format", "json", "-o", "out.json", cwd=folder)
    check(status == 0 and not out, "printed", out)
    with open(os.path.join(folder, "out.json")) as file:
        check(json.load(file)["version"] == 1, "no document")
    status, _, err = run("k.cu", "-o", "no/such/folder.json", cwd=folder)
    check(status == 2 and "folder.json: error:" in err, "exit status %d" % status, err)


def test_every_format(folder):
    write(folder, "k.cu", BAD)
    for name in ("text", "gcc", "json", "sarif", "lsp", "github", "gitlab", "junit", "agent"):
        status, out, err = run("k.cu", "--format", name, cwd=folder)
        check(status == 1 and out, "%s: exit status %d" % (name, status), out, err)


def test_lsp_command(folder):
    """The server's own suite is tests/lsp; here its command line."""
    status, out, _ = run("lsp", "--help")
    check(status == 0 and "kcheck lsp" in out and "--arch" in out and "--format" not in out, "lsp --help", out)
    _, out, _ = run("--help")
    check(re.search(r"^  kcheck lsp .*language server", out, re.M), "no line in --help", out)
    for args, word in ((["k.cu"], "takes no files"), (["--archh", "sm_90"], "did you mean --arch?"),
                       (["--arch", "sm_1"], "sm_1"), (["--select", "no-such-rule"], "no-such-rule"),
                       (["--format", "json"], "--format")):
        status, out, err = run("lsp", *args, cwd=folder)
        check(status == 2 and word in err and len(err.strip().splitlines()) == 1, "lsp %s" % args, out, err)
    status, out, err = run("lsp", "--stdio", stdin=b"")
    check(status == 1 and not out and not err, "no client", out, err)


def test_memory_limit(folder):
    write(folder, "k.cu", GOOD)
    status, _, err = run("k.cu", "--memory-limit", "8", cwd=folder)
    check(status == 2 and "memory" in err and len(err.strip().splitlines()) == 1, "exit status %d" % status, err)


def test_time_limit(folder):
    write(folder, "k.cu", GOOD + "".join("__device__ int v%d = %d;\n" % (i, i) for i in range(200000)))
    status, _, err = run("k.cu", "--timeout", "0.2", cwd=folder)
    check(status == 2 and "longer than 0.2 s" in err, "exit status %d" % status, err)


# ---- the front door on a machine that lacks everything ----

BASIC_TOOLS = ("sh", "dirname", "realpath", "sed", "sort", "awk", "head", "tail", "tr", "find", "id", "mkdir", "cat",
               "touch", "env", "grep", "ls")
PACKAGES = {
    "apt-get": ["cmake", "ninja-build", "pkg-config", "libglib2.0-dev", "libyaml-dev", "libpcre2-dev", "libjansson-dev", "gcc"],
    "dnf": ["cmake", "ninja-build", "pkgconf-pkg-config", "glib2-devel", "libyaml-devel", "pcre2-devel", "jansson-devel", "gcc"],
    "brew": ["cmake", "ninja", "pkg-config", "glib", "libyaml", "pcre2", "jansson"],
}


def front_door(folder, manager):
    """The script's stderr where only `manager` exists, with what the manager was told."""
    tools, tree = os.path.join(folder, manager, "bin"), os.path.join(folder, manager, "tree")
    os.makedirs(tools)
    os.makedirs(tree)
    for name in BASIC_TOOLS:
        if shutil.which(name):
            os.symlink(shutil.which(name), os.path.join(tools, name))
    log = os.path.join(folder, manager, "log")
    os.chmod(write(tools, manager, "#!/bin/sh\necho \"$@\" >>%s\n" % log), 0o755)
    os.chmod(write(tools, "sudo", "#!/bin/sh\nexec \"$@\"\n"), 0o755)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    shutil.copy(os.path.join(root, "kcheck"), tree)
    done = subprocess.run(["/bin/sh", os.path.join(tree, "kcheck"), "k.cu"], env={"PATH": tools, "HOME": folder},
                          capture_output=True, text=True, timeout=60)
    with open(log) as file:
        return done.returncode, done.stderr, file.read()


def test_front_door_installs_what_is_missing(folder):
    for manager, packages in PACKAGES.items():
        status, said, told = front_door(folder, manager)
        check(status == 2, "%s: exit status %d" % (manager, status), said)
        check("installing: %s install" % manager in said, "%s: does not say it" % manager, said)
        for package in packages:
            check(package in told.split(), "%s: %s is not installed" % (manager, package), told)


# ---- the README says what is true ----

README = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "README.md")
EXAMPLE = re.compile(r"(```console\n\$ ./kcheck (.*)\n)((?:.*\n)*?)```")


def example_output(words):
    _, out, err = run(*words.split(), cwd=os.path.dirname(README))
    return (out + err).strip() + "\n"


def test_readme(folder):
    with open(README, encoding="utf-8") as file:
        examples = EXAMPLE.findall(file.read())
    check(len(examples) >= 2, "no examples in the README")
    for _, words, shown in examples:
        said, meant = (re.sub(r"\d+ ms", "N ms", t) for t in (example_output(words), shown))
        check(said == meant, "`kcheck %s` prints something else (run.py --write-readme takes it over)" % words, said, meant)


def write_readme():
    with open(README, encoding="utf-8") as file:
        text = file.read()
    with open(README, "w", encoding="utf-8") as file:
        file.write(EXAMPLE.sub(lambda m: m.group(1) + example_output(m.group(2)) + "```", text))


# ---- determinism ----

def test_trace_of_a_line(folder):
    path = write(folder, "bad.cu", BAD)
    line = 1 + [n for n, text in enumerate(BAD.splitlines()) if "  wait(bar, 0)" in text][0]
    status, out, err = run("trace", "%s:%d" % (path, line))
    check(status == 0 and "waits" in out and "[" in out.splitlines()[0], "the finding is not drawn", status, out, err)
    status, out, err = run("trace", "%s:3" % path)
    check(status == 2 and not out, "a line without a finding", status, out)
    check("no finding of a kernel at this line" in err and "there are some at %d" % line in err, "not clear", err)


def test_lines_that_cannot_be(folder):
    path = write(folder, "bad.cu", BAD)
    for command in ("trace", "repro"):
        for line in ("0", "99999999999999999999"):
            status, out, err = run(command, "%s:%s" % (path, line))
            check(status == 2 and not out and "there is no line %s" % line in err, "not clear", command, status, err)


def test_trace_keeps_a_picture_that_is_there(folder):
    path, picture = write(folder, "bad.cu", BAD), write(folder, "t.svg", "mine")
    status, _, err = run("trace", path + ":3", "--svg", picture)
    check(status == 2 and open(picture).read() == "mine", "written over", status, err)


def test_trace_of_a_clean_file(folder):
    status, out, err = run("trace", write(folder, "good.cu", GOOD))
    check(status == 0 and "no fault" in out and not err, "not said", status, out, err)


def test_trace_of_several_kernels(folder):
    path = write(folder, "two.cu", GOOD + GOOD.replace("scale", "other"))
    status, _, err = run("trace", path)
    check(status == 2 and "2 kernels here" in err and "--kernel" in err, "not clear", status, err)
    status, out, err = run("trace", path, "--kernel", "other")
    check(status == 0 and "other" in out, "not drawn", status, out, err)


def test_protocol_as_json(folder):
    path = os.path.join(os.path.dirname(README), "fixtures", "reference", "gemm_multicast.cu")
    status, out, err = run("protocol", path, "--format", "json")
    check(status == 0 and not err, "fails", status, err)
    barriers = {b["name"]: b for b in json.loads(out)["kernels"][0]["barriers"]}
    full, empty = barriers["s.full"], barriers["s.empty"]
    check(full["kind"] == "mbarrier" and full["arrivals"] == full["init"] == 1, "full", full)
    check(full["bytes"] == sum(p["bytes"] for p in full["bytes_of"]) == 32768, "bytes", full)
    check(full["first_parity"] == 0 and empty["first_parity"] == 1, "parity", full, empty)
    check(empty["arrivals"] == empty["init"], "arrivals", empty)
    check(any(b["kind"] == "cluster" for b in barriers.values()), "no cluster barrier", list(barriers))


def test_same_bytes(folder):
    for i in range(6):
        write(folder, "k%d.cu" % i, BAD if i % 2 else GOOD)
    outputs = set()
    for jobs in ("1", "2", "5", "2"):
        outputs.add(run("k0.cu", "k1.cu", "k2.cu", "k3.cu", "k4.cu", "k5.cu", "--format", "json", "-j", jobs, cwd=folder)[1])
    check(len(outputs) == 1, "%d different outputs" % len(outputs))


def test_start_is_quick(folder):
    write(folder, "k.cu", GOOD)
    run("k.cu", cwd=folder)
    best = 9.0
    for _ in range(5):
        start = time.monotonic()
        run("k.cu", cwd=folder)
        best = min(best, time.monotonic() - start)
    print("  a small file, start to exit: %.0f ms" % (1000 * best))
    check(best < 1.5, "took %.0f ms" % (1000 * best))


# ---- a real pre-commit run ----

def test_pre_commit(folder):
    tool = shutil.which("pre-commit")
    if not tool:
        venv = os.path.join(folder, "venv")
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, timeout=120)
        installed = made.returncode == 0 and subprocess.run(
            [os.path.join(venv, "bin", "pip"), "install", "-q", "pre-commit"], capture_output=True, timeout=300)
        if not installed or installed.returncode != 0:
            return "skip: pre-commit cannot be installed here"
        tool = os.path.join(venv, "bin", "pre-commit")
    repo = os.path.join(folder, "repo")
    write(repo, "k.cu", GOOD)
    write(repo, ".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - id: kcheck\n    name: kcheck\n"
          "    language: system\n    entry: %s --quiet\n    files: \\.(cu|cuh|ptx)$\n" % KCHECK)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    home = dict(os.environ, PRE_COMMIT_HOME=os.path.join(folder, "cache"))
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(git + command, cwd=repo, check=True, capture_output=True)
    subprocess.run([tool, "install"], cwd=repo, check=True, capture_output=True, env=home)
    clean = subprocess.run(git + ["commit", "-q", "-m", "good"], cwd=repo, capture_output=True, text=True, env=home)
    check(clean.returncode == 0, "the hook refuses a clean kernel", clean.stdout + clean.stderr)
    write(repo, "k.cu", BAD)
    subprocess.run(git + ["add", "."], cwd=repo, check=True, capture_output=True)
    bad = subprocess.run(git + ["commit", "-q", "-m", "bad"], cwd=repo, capture_output=True, text=True, env=home)
    check(bad.returncode != 0 and "k.cu:" in bad.stdout + bad.stderr, "the hook lets a hang through",
          bad.stdout + bad.stderr)


def run_one(name, test):
    folder = tempfile.mkdtemp(prefix="kcheck-")
    try:
        said = test(os.path.realpath(folder))
        if said:
            print("%s: %s" % (name, said))
        return True
    except (Failure, subprocess.SubprocessError, OSError, KeyError, IndexError) as problem:
        print("%s: %s: %s" % (name, type(problem).__name__, problem))
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    global KCHECK
    parser = argparse.ArgumentParser(description="Test the command line.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-k", default="", help="only tests whose name holds this word")
    parser.add_argument("--write-readme", action="store_true", help="put today's output into the README's examples")
    options = parser.parse_args()
    KCHECK = os.path.abspath(options.kcheck)
    if options.write_readme:
        write_readme()
        return 0
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_") and inspect.isfunction(f) and options.k in n]
    results = [run_one(name, test) for name, test in tests]
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
