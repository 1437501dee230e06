#!/usr/bin/env python3
"""What is fully checked, what is assumed for it and what is said about the rest.

usage: run.py --kcheck BINARY [-k WORD]

Each test_ function is one kind of code that real files hold: what decides about who runs, or how the
file can be read at all, is missing or unusual. A kernel must be checked with what can be known, what
was assumed must be said, and a fault must still be found: "clean" is worth nothing else.
"""
import argparse
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile

KCHECK = None


class Failure(Exception):
    pass


def check(condition, message, *values):
    if not condition:
        raise Failure(message + "".join("\n    %r" % (v,) for v in values))


class Outcome:
    def __init__(self, document, err):
        self.file = document["files"][0] if document["files"] else {"status": "none", "kernels": []}
        self.status = self.file["status"]
        self.rules = sorted(f["rule"] for f in document["findings"] if f["severity"] != "advice")
        self.reasons = [r for k in self.file["kernels"] for r in k["not_checked"]]
        self.kernels = {k["name"]: k for k in self.file["kernels"]}
        self.err = err

    def expect(self, status, rules=(), says=None, silent=None):
        check(self.status == status, "status %s" % self.status, self.reasons, self.err)
        check(self.rules == sorted(rules), "findings", self.rules, self.reasons)
        check(says is None or any(says in r for r in self.reasons), "does not say %r" % says, self.reasons)
        check(silent is None or not any(silent in r for r in self.reasons), "says %r" % silent, self.reasons)


def run(folder, text, *args, name="k.cu", **others):
    for path, content in [(name, text), *others.items()]:
        with open(os.path.join(folder, path.replace("__", ".")), "w", encoding="utf-8") as file:
            file.write(content)
    command = [KCHECK, name, "--arch", "sm_90a", "--format", "json", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    try:
        return Outcome(json.loads(done.stdout), done.stderr)
    except ValueError:
        raise Failure("no JSON: " + done.stderr)


# ---- the shape of the block ----

TILE = """
__global__ void turn(const float *in, float *out, int n) {
  __shared__ float tile[8][32 + 1];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
  %s
  out[threadIdx.x * n + threadIdx.y] = tile[(threadIdx.y + 1) %% 8][threadIdx.x];
}
"""
GOOD_TILE, BAD_TILE = TILE % "__syncthreads();", TILE % ""
MODES = """
%s
void launch(const float *in, float *out, int n, int mode) {
  switch (mode) {
  case 0: return;
  case 7: {
    dim3 threads(%s, %s);
    turn<<<1, threads>>>(in, out, n);
  }
  }
}
"""


def test_shape_nobody_tells(folder):
    """A usual shape, from the rows of the shared array, and it is said."""
    run(folder, GOOD_TILE).expect("checked", says="32x8 threads were assumed")


def test_fault_under_an_assumed_shape(folder):
    """May be none with another shape: no alarm, but not clean either."""
    run(folder, BAD_TILE).expect("partial", says="with the shape of the block that was assumed")


def test_shape_of_a_directive(folder):
    text = "// kcheck: launch(turn, block = 32x8)\n"
    run(folder, text + GOOD_TILE).expect("checked", silent="who runs")
    run(folder, text + BAD_TILE).expect("checked", ["smem-race"], silent="who runs")


def test_shape_of_a_launch_that_no_run_reaches(folder):
    run(folder, GOOD_TILE + MODES % ("", 32, 8)).expect("checked", silent="who runs")
    run(folder, BAD_TILE + MODES % ("", 32, 8)).expect("checked", ["smem-race"], silent="who runs")


def test_shape_in_variables_of_the_host(folder):
    """They have no const, but nothing changes them; one that is changed is no constant."""
    named = "int width = 32, rows = 8;"
    run(folder, BAD_TILE + MODES % (named, "width", "rows")).expect("checked", ["smem-race"], silent="who runs")
    changed = named + "void choose(int w) { width = w; rows = 256 / w; }"
    run(folder, GOOD_TILE + MODES % (changed, "width", "rows")).expect("checked", says="were assumed")


def test_rows_known_and_width_not(folder):
    """dim3(threads, 1, 1): there is one row, whatever its length."""
    text = """
__global__ void __launch_bounds__(128) sum(const float *in, float *out) {
  __shared__ float part[128];
  part[threadIdx.x] = in[threadIdx.x + threadIdx.y];
  __syncthreads();
  out[threadIdx.x] = part[(threadIdx.x + 1) % blockDim.x];
}
void launch(const float *in, float *out, int threads) {
  sum<<<1, dim3(threads, 1, 1)>>>(in, out);
}
"""
    run(folder, text).expect("checked", silent="who runs")


# ---- barriers of the grid ----

GRID = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(128) passes(float *x) {
  __shared__ float part[128];
  cg::grid_group grid = cg::this_grid();
  part[threadIdx.x] = x[grid.thread_rank()];
  %s
  x[threadIdx.x] = part[threadIdx.x ^ 64];
}
"""


def test_grid_barrier(folder):
    """It holds the threads of the block back, too; a half of it alone does not."""
    for headers in ("none", "/usr/local/cuda") if os.path.isdir("/usr/local/cuda/include") else ("none",):
        args = ("--cuda-path", headers)
        run(folder, GRID % "if (grid.is_valid()) grid.sync();", *args).expect("checked")
        run(folder, GRID % "auto t = grid.barrier_arrive(); grid.barrier_wait(static_cast<decltype(t) &&>(t));",
            *args).expect("checked")
        run(folder, GRID % "auto t = grid.barrier_arrive();", *args).expect("checked", ["smem-race"])


# ---- what nvcc takes and clang does not ----

BYTES = """
struct Part { void *base; };
template <class T> __device__ void move(Part part, const void *from, int n) {
  __shared__ float row[64];
  void *at = part.base;
  row[threadIdx.x] = *(const float *)(from + sizeof(T) * threadIdx.x);
  %s
  at += 4 * n;
  *static_cast<float *>(at - 4 * threadIdx.x) = row[threadIdx.x ^ 32];
}
__global__ void __launch_bounds__(64) bytes(void *to, const void *from, int n) {
  move<float>(Part{to + n * 4}, from, n);
}
"""


def test_arithmetic_on_pointers_to_void(folder):
    """It counts bytes; the statement is not lost."""
    for headers in ("none", "/usr/local/cuda") if os.path.isdir("/usr/local/cuda/include") else ("none",):
        args = ("--cuda-path", headers)
        run(folder, BYTES % "__syncthreads();", *args).expect("checked")
        run(folder, BYTES % "", *args).expect("checked", ["smem-race"])


PLAIN = """
__global__ void __launch_bounds__(64) plain(float *x) {
  x[threadIdx.x] = __nv_logf(x[threadIdx.x]);
}
"""


def test_functions_of_the_device_library(folder):
    """Declared by hand, without a body: they compute."""
    run(folder, 'extern "C" __device__ float __nv_logf(float);' + PLAIN).expect("checked")
    run(folder, 'extern "C" __device__ float my_logf(float);' + PLAIN.replace("__nv_", "my_")).expect("partial")


def test_own_typedef_of_a_width(folder):
    text = "#include <cuda_runtime.h>\ntypedef unsigned long long uint64_t;\ntypedef long long int64_t;"
    run(folder, text + PLAIN.replace("__nv_", "")).expect("checked")


def test_header_of_a_host_library(folder):
    text = PLAIN.replace("__nv_", "")
    run(folder, "#include <GL/glew.h>\n#include <sys/utsname.h>" + text, "--cuda-path", "none").expect("checked")
    run(folder, "#include <mylib/kernel_config.h>" + text, "--cuda-path", "none").expect(
        "partial", says="mylib/kernel_config.h was not found")


# ---- what arguments decide, and what nobody can decide ----


def test_recursion_that_arguments_end(folder):
    """The side that is not taken is not followed into itself."""
    text = """
__device__ unsigned left(unsigned x, int by);
__device__ unsigned right(unsigned x, int by) {
  return by == 0 ? x : by > 0 ? (x >> by) | (x << (32 - by)) : left(x, -by);
}
__device__ unsigned left(unsigned x, int by) {
  return by == 0 ? x : by > 0 ? (x << by) | (x >> (32 - by)) : right(x, -by);
}
__global__ void __launch_bounds__(64) turn(unsigned *x) {
  x[threadIdx.x] = right(x[threadIdx.x], 4) + left(x[threadIdx.x], 0);
}
"""
    run(folder, text).expect("checked", silent="recursion")


def test_assertions_on_data(folder):
    """They hold: the runs in which they fail would prove nothing."""
    text = """
__global__ void __launch_bounds__(64) rows(const float *in, float *x) {
  __shared__ float part[64];
  for (int i = 0; i < 9; ++i) {
    if (in[64 * i + threadIdx.x] < 0.0f) __trap();
    part[threadIdx.x] = x[threadIdx.x];
    %s
    x[threadIdx.x] = part[threadIdx.x ^ 32];
    __syncthreads();
  }
}
"""
    run(folder, text % "__syncthreads();").expect("checked", silent="condition on data")
    check("smem-race" in run(folder, text % "").rules, "a race behind an assertion is not found")


# ---- main ----


RING = """#include <cuda/ptx>
namespace ptx = cuda::ptx;
__device__ void load(float *to, const float *from, uint64_t *full, int parts) {
  if (parts == 1) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, 4096, full);
  } else {
    for (int i = 0; i < parts; ++i)
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to + i * 256, from + i * 256, 1024, full);
  }
}
__global__ void __launch_bounds__(64) k(const float *in, float *out, const int *pages) {
  __shared__ alignas(128) float tile[1024];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, 1);
  __syncthreads();
  float sum = 0;
  for (int page = 0; page < %s; ++page) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 4096);
      load(tile, in + page * 1024, &full, 1);
    }
    while (!ptx::mbarrier_try_wait_parity(&full, page & 1)) {
    }
    sum += tile[threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
"""


def test_tag_of_a_variable_template(folder):
    """A specialisation that holds no data is as good as any other object of its type."""
    text = """template <class T, T N> struct constant { static constexpr T value = N; };
template <int N> constexpr constant<int, N> constant_v{};
template <int N> __device__ int pick(const int *x, constant<int, N>) { return x[N]; }
__global__ void __launch_bounds__(64) k(int *x) {
  __shared__ int part[64];
  part[threadIdx.x] = x[threadIdx.x];
  %s
  x[threadIdx.x] = pick(part, constant_v<5>);
}
"""
    run(folder, text % "__syncthreads();").expect("checked", silent="not lowered")
    run(folder, text % "").expect("checked", ["smem-race"])


def test_loop_that_no_input_enters(folder):
    """Nothing is known of the work of a loop whose count is negative whatever the table holds."""
    run(folder, RING % "(pages[0] & 1) - 1").expect("partial", says="enters the loop")


def test_loop_that_arguments_leave_out(folder):
    """A helper that does the same in two ways has been seen when one of them ran."""
    run(folder, RING % "4").expect("checked", silent="enters the loop")


def run_one(name, test):
    folder = tempfile.mkdtemp(prefix="kcheck-coverage-")
    try:
        test(folder)
        return True
    except (Failure, subprocess.SubprocessError, OSError, KeyError, IndexError) as problem:
        print("%s: %s: %s" % (name, type(problem).__name__, problem))
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    global KCHECK
    parser = argparse.ArgumentParser(description="Test what is fully checked.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-k", default="", help="only tests whose name holds this word")
    options = parser.parse_args()
    KCHECK = os.path.abspath(options.kcheck)
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_") and inspect.isfunction(f) and options.k in n]
    results = [run_one(name, test) for name, test in tests]
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
