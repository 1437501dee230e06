#!/usr/bin/env python3
"""The founding pipeline in four dialects: run.py --kcheck BINARY.

Each of fixtures/reference/pipeline_*.cu is a 3-stage ring with a producer and a consumer warp. As it
stands it must be clean; with one fault seeded, an error or warning must stand on the line of the
fault (or name it as its first related line), from a rule of the right family.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REFERENCE = os.path.join(ROOT, 'fixtures', 'reference')
DIALECTS = ('ptx', 'cuda_ptx', 'cuda_barrier', 'bodiless')

# What the edited line looks like in each dialect: (text to find, replacement, which occurrence).
EXPECT = {
    'ptx': 'mbarrier_arrive_expect_tx(&full[stage], TILE_BYTES);',
    'bodiless': 'mbarrier_arrive_expect_tx(&full[stage], TILE_BYTES);',
    'cuda_ptx': '&full[stage], uint32_t{TILE_BYTES});',
    'cuda_barrier': 'cuda::device::barrier_arrive_tx(full[stage], 1, TILE_BYTES);',
}
PLAIN = {
    'ptx': 'mbarrier_arrive(&full[stage]);',
    'bodiless': 'mbarrier_arrive(&full[stage]);',
    'cuda_ptx': '&full[stage], uint32_t{0});',
    'cuda_barrier': 'full[stage].arrive();',
}
EMPTY_WAIT = {
    'ptx': 'mbarrier_wait_parity(&empty[stage], phase ^ 1);',
    'bodiless': 'mbarrier_wait_parity(&empty[stage], phase ^ 1);',
    'cuda_ptx': 'wait_parity(&empty[stage], phase ^ 1);',
    'cuda_barrier': 'empty[stage].wait_parity(phase ^ 1);',
}
FULL_WAIT = {
    'ptx': 'mbarrier_wait_parity(&full[stage], phase);',
    'bodiless': 'mbarrier_wait_parity(&full[stage], phase);',
    'cuda_ptx': 'wait_parity(&full[stage], phase);',
    'cuda_barrier': 'full[stage].wait_parity(phase);',
}


def no_expect(text, dialect):
    return text.replace(EXPECT[dialect], PLAIN[dialect]), PLAIN[dialect]


def half_bytes(text, dialect):
    halved = EXPECT[dialect].replace('TILE_BYTES', 'TILE_BYTES / 2')
    return text.replace(EXPECT[dialect], halved), halved


def no_flip(text, dialect):
    at = text.rindex('phase ^= 1;')
    return text[:at] + text[at:].replace('phase ^= 1;', '', 1), FULL_WAIT[dialect]


def first_wait(text, dialect):
    inverted = EMPTY_WAIT[dialect].replace('phase ^ 1', 'phase')
    return text.replace(EMPTY_WAIT[dialect], inverted), inverted


def too_big(text, dialect):
    for old, new in (('STAGES = 3', 'STAGES = 5'), ('ROWS = 32', 'ROWS = 192'), ('COLS = 32', 'COLS = 64')):
        text = text.replace(old, new, 1)
    return text, 'tile[STAGES][ROWS][COLS];'


FAULTS = (  # name, edit, families that may name it, target
    ('dropped expect_tx', no_expect, ('mbarrier', 'tma'), 'sm_90a'),
    ('half the bytes', half_bytes, ('mbarrier',), 'sm_90a'),
    ('forgotten flip', no_flip, ('mbarrier', 'pipeline'), 'sm_90a'),
    ('inverted first empty wait', first_wait, ('mbarrier', 'pipeline'), 'sm_90a'),
    ('5 stages of 48 KB', too_big, ('smem', 'pipeline'), 'sm_100'),
)


def run(kcheck, path, arch):
    done = subprocess.run([kcheck, path, '--arch', arch, '--format', 'json'], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)


def named(report, line, families):
    for f in report['findings']:
        if f['severity'] == 'advice' or not f['rule'].startswith(tuple(x + '-' for x in families)):
            continue
        if line in [f['line']] + [r['line'] for r in f['related'][:1]]:
            return f['rule']
    return None


def lines_of(text, mark):
    """Lines of the statement that holds `mark`."""
    at = text.index(mark)
    begin = max(text.rfind(end, 0, at) for end in ';{}')
    first = begin + 1 + len(text[begin + 1:at]) - len(text[begin + 1:at].lstrip())
    return range(text[:first].count('\n') + 1, text[:at].count('\n') + 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kcheck', required=True)
    parser.add_argument('--all', action='store_true')
    kcheck = os.path.abspath(parser.parse_args().kcheck)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for header in ('reference.h', 'ptx.h'):
            with open(os.path.join(REFERENCE, header)) as f, open(os.path.join(folder, header), 'w') as out:
                out.write(f.read())
        for dialect in DIALECTS:
            with open(os.path.join(REFERENCE, 'pipeline_%s.cu' % dialect)) as f:
                text = f.read()
            path = os.path.join(folder, 'pipeline_%s.cu' % dialect)
            cases = [('as it stands', lambda t, d: (t, None), (), 'sm_90a')] + list(FAULTS)
            for name, edit, families, arch in cases:
                edited, mark = edit(text, dialect)
                with open(path, 'w') as f:
                    f.write(edited)
                report = run(kcheck, path, arch)
                loud = ['%d [%s]' % (f['line'], f['rule']) for f in report['findings'] if f['severity'] != 'advice']
                if mark is None:
                    good = not loud and report['files'][0]['status'] == 'checked'
                else:
                    good = edited != text and any(named(report, line, families) for line in lines_of(edited, mark))
                passed, failed = passed + good, failed + (not good)
                print('%s pipeline_%-13s %-26s %s' % ('pass' if good else 'FAIL', dialect, name, ', '.join(loud)), flush=True)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
