#!/usr/bin/env python3
"""Mutates the synchronisation of the reference kernels: run.py --kcheck BINARY [--all].

Runs tests/mutation/mutate (built beside the unit tests) on every kernel of fixtures/reference that has
a body; without --all a fixed eighth of the mutants of each. Fails when the score of the mutants that
are on no reviewed list of equivalents falls below the floor, which may only rise, or when the list
holds more than 5 %. (That the kernels are clean to begin with is the fixtures suite's.)
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REFERENCE = os.path.join(ROOT, 'fixtures', 'reference')
FLOOR = 0.99  # measured 1.0, on the share and on all
SHARE = '3/8'
LIMIT_S = 3600


def kernels():
    """(arch, path) of every reference kernel, its target named on one of its first lines."""
    for name in sorted(os.listdir(REFERENCE)):
        if not name.endswith('.cu') or name == 'pipeline_bodiless.cu':
            continue
        path = os.path.join(REFERENCE, name)
        with open(path) as f:
            arch = re.search(r'sm_\d+[af]?', f.read(400))
        yield arch.group(0) if arch else 'sm_90a', path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kcheck', required=True)
    parser.add_argument('--all', action='store_true')
    options = parser.parse_args()
    mutate = os.path.join(os.path.dirname(os.path.abspath(options.kcheck)), 'tests', 'mutate')
    if not os.path.exists(mutate):
        print('skip: %s was not built' % mutate)
        print('0 passed, 0 failed, 1 skipped')
        return 77
    killed = counted = equivalent = total = failed = 0
    for arch, path in kernels():
        words = [mutate, arch, path, '--equivalents', os.path.join(ROOT, 'tests', 'mutation', 'equivalents.tsv')]
        done = subprocess.run(words if options.all else words + ['--share', SHARE],
                              capture_output=True, text=True, timeout=LIMIT_S)
        score = re.search(r'mutation score: (\d+) of (\d+) .*, (\d+) equivalent of (\d+)', done.stdout)
        dirty = re.findall(r'^unmutated .*', done.stdout, re.M)
        survivors = re.findall(r'^survived +(.*)', done.stdout, re.M)
        if not score:
            print('FAIL %s: %s' % (os.path.basename(path), done.stderr.strip()[:300]))
            failed += 1
            continue
        numbers = [int(n) for n in score.groups()]
        killed, counted, equivalent, total = (a + b for a, b in zip((killed, counted, equivalent, total), numbers))
        print('%-26s %4d of %4d killed, %d equivalent' % (os.path.basename(path), *numbers[:3]))
        for line in dirty + ['survived ' + s for s in survivors]:
            print('    ' + line[:200])
    rate = killed / counted if counted else 0.0
    print('mutation score %.1f %% (%d of %d), %d equivalent of %d' % (100 * rate, killed, counted, equivalent, total))
    failed += rate < FLOOR
    failed += equivalent * 20 > total
    print('%d passed, %d failed' % (killed, failed))
    return 1 if failed else 0


sys.exit(main())
