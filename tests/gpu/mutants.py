#!/usr/bin/env python3
"""A sample of mutants of the reference kernels, in the source, for the card: which hang, corrupt or
pass by luck, and what kcheck says of the same source.

usage: mutants.py [--count N] [--kernels A,B] [--make FOLDER --kcheck BINARY] [--build FOLDER] [--run FOLDER]
--make writes the mutants and, with --kcheck, verdicts.tsv beside them (mutant, rules that report an
error or a warning); --build needs nvcc, --run a card. Each run has a time limit. (The IR mutants of
tests/mutation are more, but can't be run.)
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import faults

ROOT, REFERENCE = faults.ROOT, faults.REFERENCE
CALL = re.compile(r'^(?P<head>\s*(?:if \(.*?\) |else )?)(?P<call>(?:ptx::|cuda::ptx::|cg::)?(?P<name>\w+)(?:<(?P<arg>\d+)>)?\((?P<args>.*)\));(?P<tail>.*)$')
DROP = {'mbarrier_arrive', 'mbarrier_arrive_remote', 'mbarrier_arrive_expect_tx', 'mbarrier_wait', 'mbarrier_wait_cluster',
        'bulk_commit', 'bulk_wait_read', 'bulk_wait', 'fence_mbarrier_init', 'fence_proxy_async', 'named_barrier_sync',
        'named_barrier_arrive', 'cluster_arrive', 'cluster_wait', 'setmaxnreg_dec', 'wgmma_fence', 'wgmma_commit',
        'wgmma_wait', '__syncthreads', '__syncwarp', 'mbarrier_init', 'cp_async_commit', 'cp_async_wait'}
DOUBLE = {'mbarrier_arrive', 'mbarrier_arrive_expect_tx', 'named_barrier_arrive', 'tma_load_2d'}


def last(args, change):
    """The last argument of a call, changed."""
    head, comma, tail = args.rpartition(',')
    return '%s%s %s' % (head, comma, change % tail.strip()) if comma else change % args


def mutants_of(line):
    """(what, new line) of every mutation of one line."""
    m = CALL.match(line)
    if not m:
        return
    head, call, name, arg, args, tail = (m.group(g) for g in ('head', 'call', 'name', 'arg', 'args', 'tail'))
    if name in DROP:
        yield 'drop %s' % name, '%s;%s' % (head, tail)
    if name in DOUBLE:
        yield 'double %s' % name, '%s{ %s; %s; }%s' % (head, call, call, tail)
    if arg is not None and ('wait' in name or 'pending' in name):
        yield '%s one deeper' % name, '%s%s;%s' % (head, call.replace('<%s>' % arg, '<%d>' % (int(arg) + 1), 1), tail)
    for at, change, what in (('mbarrier_init', '%s + 1', 'count + 1'), ('mbarrier_init', '%s - 1', 'count - 1'),
                             ('mbarrier_arrive_expect_tx', '%s + 128', 'bytes + 128'),
                             ('mbarrier_arrive_expect_tx', '%s - 128', 'bytes - 128'),
                             ('mbarrier_wait', '(%s) ^ 1', 'parity ^ 1'),
                             ('named_barrier_sync', '%s + 32', 'threads + 32')):
        if name == at:
            yield '%s: %s' % (name, what), '%s%s;%s' % (head, call.replace(args, last(args, change)), tail)


def all_mutants(names):
    """(kernel, line, what, text) over every kernel that the card can run, or those named."""
    found = []
    for kernel in sorted(os.listdir(REFERENCE)):
        if not kernel.endswith('.cu') or kernel == 'pipeline_bodiless.cu' or (names and kernel[:-3] not in names):
            continue
        with open(os.path.join(REFERENCE, kernel)) as f:
            text = f.read()
        if 'sm_100' in text[:400]:
            continue
        lines = text.split('\n')
        for number, line in enumerate(lines):
            for what, new in mutants_of(line):
                found.append((kernel, number + 1, what, '\n'.join(lines[:number] + [new] + lines[number + 1:])))
    return found


def make(folder, count, kcheck, names):
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(REFERENCE):
        if name.endswith('.h'):
            shutil.copy(os.path.join(REFERENCE, name), folder)
    found = all_mutants(names)
    chosen = [found[i * len(found) // count] for i in range(min(count, len(found)))]
    for i, (kernel, line, what, text) in enumerate(chosen):
        with open(os.path.join(folder, '%s.%02d.cu' % (kernel[:-3], i)), 'w') as f:
            f.write('// fault: %s at %d\n%s' % (what, line, text))
    print('%d of %d mutants' % (len(chosen), len(found)))
    if kcheck:
        with open(os.path.join(folder, 'verdicts.tsv'), 'w') as f:
            for name in faults.sources(folder):
                f.write('%s\t%s\n' % (name[:-3], ' '.join(verdict(kcheck, os.path.join(folder, name)))))


def verdict(kcheck, path):
    done = subprocess.run([kcheck, path, '--arch', 'sm_90a', '--format', 'json'], capture_output=True, text=True)
    findings = json.loads(done.stdout)['findings']
    return sorted({f['rule'] for f in findings if f['severity'] != 'advice'}) or ['nothing']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=30)
    parser.add_argument('--kcheck')
    parser.add_argument('--kernels', help='only of these, by commas')
    for step in ('make', 'build', 'run'):
        parser.add_argument('--' + step, metavar='FOLDER')
    options = parser.parse_args()
    if options.make:
        make(options.make, options.count, options.kcheck and os.path.abspath(options.kcheck),
             options.kernels.split(',') if options.kernels else ())
    if options.build:
        faults.build(options.build)
    if options.run:
        faults.run(options.run)
    if not (options.make or options.build or options.run):
        parser.error('nothing to do')
    return 0


if __name__ == '__main__':
    sys.exit(main())
