#!/usr/bin/env python3
"""Programs that `kcheck repro` writes: run.py --kcheck BINARY [--all] | --write F | --build F | --run F

Writes one for each seeded fault of fixtures/reference/faults and for the fixtures below. As a suite:
each must be written (or refused with a reason where no run can show it), and some, with --all every
one, must compile with nvcc. With a folder: --write puts them there, --build compiles them, --run runs
them on the card one after the other, each under a time limit, and prints one line each.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'gpu'))
RULES = os.path.join(ROOT, 'fixtures', 'rules')
LIMIT_S = 20
QUICK = 4  # programs that are compiled without --all

# One fixture of each kind that a run may show.
SHOWN = '''mbarrier-phase-not-flipped/bad_constant mbarrier-phase-not-flipped/bad_wrap
mbarrier-expect-tx-mismatch/bad_elements_for_bytes mbarrier-initial-parity/bad_producer
mbarrier-arrive-count-mismatch/bad_one_of_two mbarrier-over-arrival/bad_every_lane
mbarrier-init-missing/bad pipeline-stage-race/bad_no_wait smem-race/bad_second_pass
async-copy-wait-missing/bad barrier-thread-count/bad_too_many cluster-exit-without-sync/bad
tma-store-missing-proxy-fence/bad_reduce wgmma-slot-released-early/bad smem-optin-missing/bad
mbarrier-arrive-never-executed/bad tma-address-misaligned/bad pdl-read-before-wait/bad
global-counter-init-race/bad'''.split()
# What no fixture has: maps in constant and in device memory, a variable that a run leaves changed.
OWN = {'map_in_constant_memory': ("""#include "%s/fixtures/reference/ptx.h"
// kcheck: tensormap(maps, box = 32x32, type = f32)
namespace pipeline {
__constant__ CUtensorMap maps[2];
__device__ unsigned runs;

__global__ void __launch_bounds__(128) sum_rows(float *out, int trips) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    atomicAdd(&runs, 1u);
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < trips; ++k) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, sizeof(tile));
      tma_load_2d(tile, &maps[1], &full, 0, k * 32);
    }
    mbarrier_wait(&full, 0);
    sum += tile[threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
} // namespace pipeline
""" % ROOT, ['cudaMemcpyToSymbol(maps', ', 128, 128), "maps"', 'variable("runs", runs);'])}
REFUSED = ['wgmma-shape/bad', 'arch-unknown-instruction/bad', 'mbarrier-asm-memory-clobber/bad']


def fixture(name):
    folder, stem = os.path.split(name)
    found = sorted(n for n in os.listdir(os.path.join(RULES, folder)) if n.startswith(stem) and n.endswith('.cu'))
    return os.path.join(RULES, folder, found[0])


def arch_of(path):
    with open(path) as f:
        named = re.search(r'sm_\d+[af]?', f.read(600))
    return named.group(0) if named else 'sm_90a'


def repro(kcheck, path, out):
    """None, or why there is none."""
    done = subprocess.run([kcheck, 'repro', path, '--arch', arch_of(path), '-o', out], capture_output=True, text=True,
                          timeout=60)
    return None if done.returncode == 0 else done.stderr.strip()


def subjects(folder):
    """(name, path) of every source; the seeded faults are written to `folder`."""
    found = [(name.replace('/', '.'), fixture(name)) for name in SHOWN]
    os.makedirs(folder, exist_ok=True)
    for name, (text, _) in OWN.items():
        path = os.path.join(folder, name + '.own.cu')
        with open(path, 'w') as f:
            f.write(text)
        found.append((name, path))
    try:
        import yaml  # noqa: F401
        import faults
    except ImportError:
        return found, 'PyYAML is missing: the seeded faults are left out'
    faults.make(folder)
    found += [(n[:-3], os.path.join(folder, n)) for n in faults.sources(folder)
              if not n.endswith('.00.cu')]  # those without a fault
    return found, None


def write(kcheck, folder):
    """Names of the programs written to `folder`, and the failures."""
    written, failures = [], []
    os.makedirs(folder, exist_ok=True)
    found, note = subjects(os.path.join(folder, 'faults'))
    if note:
        print(note)
    for name, path in found:
        out = os.path.join(folder, name + '.repro.cu')
        why = repro(kcheck, path, out)
        if why is None:
            written.append(name)
        elif 'no finding of a kernel' not in why or 'gemm_tma_store' not in name:
            failures.append('%s: %s' % (name, why))
    return written, failures


def compile_one(folder, name, program):
    source = os.path.join(folder, name + '.repro.cu')
    target = re.search(r'arch=(compute_\w+),code=(sm_\w+)', open(source).read(4000))
    done = subprocess.run(['nvcc', '-std=c++17', '-O2', '-gencode', target.group(0), source] +
                          (['-o', os.path.join(folder, name)] if program else ['-c', '-o', os.devnull]),
                          capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else '%s does not compile: %s' % (name, (done.stderr + done.stdout).strip()[:400])


def names_in(folder):
    return sorted(n[:-len('.repro.cu')] for n in os.listdir(folder) if n.endswith('.repro.cu'))


def build(folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for why in pool.map(lambda name: compile_one(folder, name, True), names_in(folder)):
            if why:
                print(why)


def run(folder):
    for name in names_in(folder):
        program = os.path.join(folder, name)
        if not os.path.exists(program):
            continue
        try:
            done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_S)
            line = (done.stdout.strip() or 'status %d, no line' % done.returncode).splitlines()[-1]
        except subprocess.TimeoutExpired:
            line = 'no end within %d s' % LIMIT_S
        print('%-58s %s' % (name, line), flush=True)


def suite(kcheck, everything):
    with tempfile.TemporaryDirectory() as folder:
        written, failures = write(kcheck, folder)
        for name, (_, needles) in OWN.items():
            text = open(os.path.join(folder, name + '.repro.cu')).read() if name in written else ''
            failures += ['%s: the program lacks %s' % (name, needle) for needle in needles if needle not in text]
        for name in REFUSED:
            why = repro(kcheck, fixture(name), os.path.join(folder, 'refused.cu'))
            if not why or 'no run shows' not in why:
                failures.append('%s: not refused: %s' % (name, why))
        chosen = written if everything else sorted({*OWN, *written[::max(1, len(written) // QUICK)][:QUICK]} & {*written})
        if shutil.which('nvcc'):
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                failures += [why for why in pool.map(lambda n: compile_one(folder, n, False), chosen) if why]
        else:
            print('nvcc is missing: nothing was compiled')
        for why in failures:
            print('FAIL %s' % why)
        print('%d written, %d compiled' % (len(written), len(chosen) if shutil.which('nvcc') else 0))
        print('%d passed, %d failed' % (len(written) + len(REFUSED) - len(failures), len(failures)))
        return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kcheck')
    parser.add_argument('--all', action='store_true')
    for step in ('write', 'build', 'run'):
        parser.add_argument('--' + step, metavar='FOLDER')
    options = parser.parse_args()
    if options.write:
        for why in write(os.path.abspath(options.kcheck), options.write)[1]:
            print(why)
    if options.build:
        build(options.build)
    if options.run:
        run(options.run)
    if options.write or options.build or options.run:
        return 0
    return suite(os.path.abspath(options.kcheck), options.all)


if __name__ == '__main__':
    sys.exit(main())
