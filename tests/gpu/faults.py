#!/usr/bin/env python3
"""Seeds each fault of fixtures/reference/faults/*.yaml into its kernel, builds it with nvcc and runs
it on the card under a time limit: prints one line a fault (hang, crash, launch error, wrong, passes).

usage: faults.py [--make FOLDER] [--build FOLDER] [--run FOLDER]
Without options all three, in build/gpu-faults. --make writes the sources only (needs PyYAML), so that
they can be built and run on another machine. Exit status 0: every fault was run; 77: nothing could be.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REFERENCE = os.path.join(ROOT, 'fixtures', 'reference')
LIMIT_S = 12


def make(folder):
    import yaml
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(REFERENCE):
        if name.endswith('.h'):
            shutil.copy(os.path.join(REFERENCE, name), folder)
    faults = os.path.join(REFERENCE, 'faults')
    for table in sorted(os.listdir(faults)):
        with open(os.path.join(faults, table)) as f:
            doc = yaml.safe_load(f)
        with open(os.path.join(REFERENCE, doc['kernel'])) as f:
            source = f.read()
        write(folder, doc['kernel'], 0, 'none', source)
        for number, fault in enumerate(doc['faults'], 1):
            write(folder, doc['kernel'], number, fault['fault'], apply(source, fault, table))


def apply(source, fault, table):
    for edit in [fault] + fault.get('also', []):
        times = edit.get('times', 1)
        if source.count(edit['replace']) != times:
            sys.exit('%s: %r stands %d times in the kernel, not %d'
                     % (table, edit['replace'], source.count(edit['replace']), times))
        source = source.replace(edit['replace'], edit['with'])
    return source


def write(folder, kernel, number, name, source):
    stem = '%s.%02d' % (kernel[:-3], number)
    with open(os.path.join(folder, stem + '.cu'), 'w') as f:
        f.write('// fault: %s\n%s' % (name, source))


def sources(folder):
    return sorted(n for n in os.listdir(folder) if re.search(r'\.\d\d\.cu$', n))


def build_one(folder, name):
    out = os.path.join(folder, name[:-3])
    done = subprocess.run(['nvcc', '-std=c++17', '-O2', '-gencode', 'arch=compute_90a,code=sm_90a',
                           os.path.join(folder, name), '-o', out], capture_output=True, text=True)
    if done.returncode:
        print('%s: does not build: %s' % (name, done.stderr.strip()[:300]))


def build(folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: build_one(folder, name), sources(folder)))


def outcome(program):
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return 'hang (no end within %d s)' % LIMIT_S
    text = (done.stdout + done.stderr).strip()
    if done.returncode == 0 and 'PASS' in done.stdout:
        return 'passes'
    last = re.sub(r'^FAIL (\S*/)?', '', (text.splitlines() or ['no output'])[-1])[:110]
    for word, kind in (('still running', 'hang'), ('invalid argument', 'refused'), ('largest error', 'wrong')):
        if word in last:
            return '%s (%s)' % (kind, last)
    return 'crash (%s)' % last


def run(folder):
    for name in sources(folder):
        with open(os.path.join(folder, name)) as f:
            fault = f.readline().strip()[len('// fault: '):]
        program = os.path.join(folder, name[:-3])
        if os.path.exists(program):
            print('%-26s %-52s %s' % (name[:-3], fault, outcome(program)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for step in ('make', 'build', 'run'):
        parser.add_argument('--' + step, metavar='FOLDER')
    options = parser.parse_args()
    chosen = [(step, getattr(options, step.__name__)) for step in (make, build, run) if getattr(options, step.__name__)]
    if not chosen:
        if not shutil.which('nvcc') or not shutil.which('nvidia-smi'):
            print('skip: needs nvcc and a card')
            return 77
        folder = os.path.join(ROOT, 'build', 'gpu-faults')
        chosen = [(make, folder), (build, folder), (run, folder)]
    for step, folder in chosen:
        step(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
