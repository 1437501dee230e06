#!/usr/bin/env python3
"""Writes docs/real-kernels.md from docs/real-kernels.yaml: real_kernels.py [--check]. Needs PyYAML.

With --check nothing is written; exit status 1 when the page is stale or an entry is incomplete.
"""
import os
import sys

import yaml

DOCS = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(DOCS, 'real-kernels.yaml')
OUT = os.path.join(DOCS, 'real-kernels.md')
RULES = os.path.join(os.path.dirname(DOCS), 'rules')
STATUS = ('checked', 'partial', 'failed')
HEAD = '''# Real kernels from repositories

Written by `docs/real_kernels.py` from `docs/real-kernels.yaml`. What kcheck says of kernels that nobody here wrote, at
pinned commits. Each finding at error or warning level was read in the source and stands with its proof; one that
proved false was mended in the analyzer, with a fixture, and is not here. Kernels that come with a package are pinned in
`fixtures/upstream.yaml` instead (DeepGEMM's and flashinfer's among them), and the tests check those. **The ones below come from no package**: no test takes them,
and the page tells of the day it was written.

*checked*: every kernel ran with all inputs that were tried. *partial*: the reason stands beside it. The count is of
kernels checked, of all that the file leads to, instances of a template each for itself; 0 of 0 is a file without a
kernel of its own, of which nothing is said.

To repeat a line, fetch the repository, take the commit, and run kcheck with the options of its heading beside the
checkout (CUTLASS beside it where they name it):

```
git clone https://github.com/REPOSITORY && git -C NAME checkout COMMIT
kcheck NAME/PATH --arch TARGET --std=c++17 OPTIONS
```
'''


def rules():
    return {name[:-5] for _, _, files in os.walk(RULES) for name in files if name.endswith('.yaml')}


def problems(repositories):
    known, out = rules(), []
    for repository in repositories:
        if len(repository['commit']) != 40:
            out.append('%s: a commit has 40 digits' % repository['repository'])
        for kernel in repository['kernels']:
            if kernel['status'] not in STATUS:
                out.append('%s: status %s' % (kernel['path'], kernel['status']))
            if kernel['status'] != 'checked' and not kernel.get('why'):
                out.append('%s: %s, and no reason' % (kernel['path'], kernel['status']))
            for finding in kernel.get('findings', []):
                if finding['rule'] not in known:
                    out.append('%s: no rule %s' % (kernel['path'], finding['rule']))
                if not finding.get('because'):
                    out.append('%s: %s without a proof' % (kernel['path'], finding['rule']))
    return out


def section(repository):
    lines = ['## %s' % repository['repository'], '', 'Commit `%s`. Options: %s.' % (repository['commit'], repository['how']), '',
             '| file | target | status | kernels |', '|---|---|---|---|']
    for kernel in repository['kernels']:
        why = kernel.get('why')
        lines.append('| `%s` | %s | %s | %s |' % (kernel['path'], kernel['arch'], kernel['status'] + (': ' + why if why else ''), kernel['checked']))
    found = [(kernel, finding) for kernel in repository['kernels'] for finding in kernel.get('findings', [])]
    if found:
        lines += ['', '| finding | where | level | proof |', '|---|---|---|---|']
    for kernel, finding in found:
        line = str(finding['line'])
        file = os.path.basename(kernel['path'].split(', ')[0].split(' to ')[0])
        lines.append('| `%s` | %s | %s | %s |' % (finding['rule'], line if ':' in line else '%s: %s' % (file, line), finding['severity'], finding['because']))
    return lines + ['']


def seeds(entries):
    total = sum(e['seeds'] for e in entries)
    silent = [reason for e in entries for reason in e['silent']]
    lines = ['## Faults seeded', '',
             'One fault each in a copy of a kernel written by hand: a wait, barrier, fence, commit or arrival dropped, a count or a '
             'wait raised by one, announced bytes halved, a phase not flipped. %d faults; all but those named here bring a finding '
             'at error or warning level that the kernel as it stands does not have, on the line that uses what the fault left '
             'open or on the line of the fault.' % total, '', '| kernel | seeded | silent |', '|---|---|---|']
    lines += ['| %s | %d | %s |' % (e['kernel'], e['seeds'], '; '.join(e['silent']) or 'none') for e in entries]
    return lines + (['', '%d kinds of silence, each with its reason.' % len(silent)] if silent else [])


def write(repositories, seeded):
    kernels = [kernel for repository in repositories for kernel in repository['kernels']]
    findings = [finding for kernel in kernels for finding in kernel.get('findings', [])]
    counts = ', '.join('%d %s' % (sum(k['status'] == s for k in kernels), s) for s in STATUS)
    lines = [HEAD, '%d lines of files in %d repositories: %s. %d findings, at %s.' % (
        len(kernels), len(repositories), counts, len(findings),
        ' and '.join('%d %s' % (sum(f['severity'] == s for f in findings), s) for s in ('error', 'warning'))), '']
    for repository in repositories:
        lines += section(repository)
    return '\n'.join(lines + seeds(seeded)).rstrip() + '\n'


def main():
    with open(DATA, encoding='utf-8') as f:
        data = yaml.safe_load(f)
    repositories = data['repositories']
    wrong = problems(repositories)
    for line in wrong:
        print(line)
    text = write(repositories, data['seeded'])
    if '--check' in sys.argv[1:]:
        with open(OUT, encoding='utf-8') as f:
            stale = f.read() != text
        if stale:
            print('docs/real-kernels.md is stale: run docs/real_kernels.py')
        return 1 if stale or wrong else 0
    with open(OUT, 'w', encoding='utf-8') as f:
        f.write(text)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
