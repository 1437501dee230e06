#!/usr/bin/env python3
"""Writes docs/coverage.md: coverage.py [--check]. Needs PyYAML.

For each founding page: what it warns of, the rules that check it (or why nothing can), the fixtures that
show each rule failing, and the reference kernels that do it right and come out clean. With --check
nothing is written; exit status 1 when the file is stale.
"""
import glob
import os
import re
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, 'docs', 'coverage.md')
FOUNDING = ('technique-persistent-kernels', 'technique-ping-pong-scheduling', 'technique-pipeline-stages',
            'technique-register-budgeting', 'skill-wgmma', 'kernel-deepgemm', 'kernel-flash-attention-4')
SHOWN = 2  # fixtures named a rule


def read_page(path):
    with open(path, encoding='utf-8') as f:
        return yaml.safe_load(f.read().split('---\n', 2)[1])


def pages():
    found = [read_page(p) for p in sorted(glob.glob(os.path.join(ROOT, 'knowledge', 'pages', '*', '*.md')))]
    return {p['id']: p for p in found}


def rules():
    return {os.path.basename(p)[:-5]: p for p in glob.glob(os.path.join(ROOT, 'rules', '*', '*.yaml'))}


def failing(rule):
    """Fixtures in which the rule must report."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, 'fixtures', 'rules', '*', '*'))):
        with open(path, encoding='utf-8', errors='replace') as f:
            if re.search(r'//\s*expect(?:-next-line)?:[^\n]*\b%s\b(?!-)' % re.escape(rule), f.read()):
                found.append(os.path.relpath(path, os.path.join(ROOT, 'fixtures', 'rules')))
    own = [p for p in found if p.startswith(rule + '/')]
    return own or found or seeded(rule)


def seeded(rule):
    """Faults seeded into a reference kernel that the rule must report."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, 'fixtures', 'reference', 'faults', '*.yaml'))):
        with open(path, encoding='utf-8') as f:
            faults = yaml.safe_load(f)['faults']
        found += ['../reference/faults: ' + f['fault'] for f in faults if rule in f.get('expect', [])]
    return found


def named(caveat):
    rule = caveat.get('rule') or []
    return [rule] if isinstance(rule, str) else rule


def cell(text):
    return re.sub(r'\s+', ' ', str(text)).replace('|', '\\|')


def row(caveat, cache):
    shown = []
    for rule in named(caveat):
        if rule not in cache:
            cache[rule] = failing(rule)
        shown += ['`%s`' % f for f in cache[rule][:SHOWN]] or ['**none for `%s`**' % rule]
    checked = ', '.join('`%s`' % r for r in named(caveat)) or 'nothing: %s' % cell(caveat.get('not_checkable', ''))
    return '| %s | %s | %s |' % (cell(caveat['text']), checked, ', '.join(shown) or '')


def write():
    all_pages, all_rules, cache = pages(), rules(), {}
    lines = ['# What the founding pages warn of, and what checks it', '',
             'Written by `docs/coverage.py`; a test fails when it is stale. Fixtures are paths under `fixtures/rules`, kernels',
             'under `fixtures/reference`: every one of those comes out clean.', '']
    for page_id in FOUNDING:
        page = all_pages[page_id]
        caveats = page.get('caveats') or []
        checked = sum(bool(named(c)) for c in caveats)
        lines += ['## %s' % page_id, '', '%s. %d caveats, %d checked by a rule.' % (page['title'], len(caveats), checked), '',
                  'Right in: %s.' % (', '.join('`%s`' % c for c in page.get('code') or []) or 'no kernel of its own'), '',
                  '| caveat | checked by | fails in |', '|---|---|---|'] + [row(c, cache) for c in caveats] + ['']
    lines += ['## All pages', '', '| page | caveats | checked by a rule | rules |', '|---|---|---|---|']
    for page_id, page in sorted(all_pages.items()):
        caveats = page.get('caveats') or []
        lines.append('| `%s` | %d | %d | %d |' % (page_id, len(caveats), sum(bool(named(c)) for c in caveats),
                                                len({r for c in caveats for r in named(c)})))
    unshown = sorted(r for r in all_rules if not (cache.get(r) or failing(r)))
    lines += ['', '## Rules without a failing fixture', '', ', '.join('`%s`' % r for r in unshown) + '.' if unshown else 'None.']
    return '\n'.join(lines).rstrip() + '\n'


def main():
    text = write()
    if '--check' in sys.argv[1:]:
        with open(OUT, encoding='utf-8') as f:
            stale = f.read() != text
        if stale:
            print('docs/coverage.md is stale: run docs/coverage.py')
        return 1 if stale else 0
    with open(OUT, 'w', encoding='utf-8') as f:
        f.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
