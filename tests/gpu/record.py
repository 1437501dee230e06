#!/usr/bin/env python3
"""Takes what tests/gpu/run.sh printed into fixtures/reference/runs.yaml and docs/hardware.md.

usage: record.py LOG | record.py --check
LOG holds the output of one run.sh that built and ran, or of its two halves. A kernel that failed, or
that runs.yaml says nothing of, is an error: add an entry with `file` and `against` first. --check
writes nothing: every kernel has an entry, its text is the one that was built, and the table of
docs/hardware.md is the one that the entries make. (No YAML package is needed: the file has one form.)
"""
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REFERENCE = os.path.join(ROOT, 'fixtures', 'reference')
RUNS = os.path.join(REFERENCE, 'runs.yaml')
HARDWARE = os.path.join(ROOT, 'docs', 'hardware.md')
HEAD = '''# What became of each reference kernel; `kcheck page ID --include-code` prints it. Written by
# tests/gpu/record.py from what tests/gpu/run.sh printed, but for `against` and reasons in `not_run`.
# sha256 is that of the file as it was built: who changes a kernel builds and runs it again.
kernels:
'''
KEYS = ('file', 'target', 'built', 'ran', 'not_run', 'against', 'error', 'allowed', 'sha256')
BEGIN, END = '<!-- runs: written by tests/gpu/record.py -->\n', '<!-- end of runs -->\n'


def read_runs():
    """Entries of runs.yaml: maps of scalars, `- key: "value"`."""
    entries = []
    with open(RUNS, encoding='utf-8') as file:
        for line in file:
            m = re.match(r'(- |  )(\w+): (?:"(.*)"|(.*))$', line.rstrip('\n'))
            if m and m.group(1) == '- ':
                entries.append({})
            if m:
                entries[-1][m.group(2)] = m.group(3) if m.group(3) is not None else m.group(4)
    return entries


def write_runs(entries):
    with open(RUNS, 'w', encoding='utf-8') as file:
        file.write(HEAD)
        for entry in sorted(entries, key=lambda e: e['file']):
            lines = ['%s: "%s"' % (k, entry[k]) for k in KEYS if entry.get(k)]
            file.write('- ' + '\n  '.join(lines) + '\n')


def digest(name):
    with open(os.path.join(REFERENCE, name), 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def allowed(name):
    """The tolerance, the last argument of the kernel's verdict."""
    with open(os.path.join(REFERENCE, name), encoding='utf-8') as file:
        found = re.findall(r'return verdict\((?:[^;]*),\s*([\w.-]+)\);', file.read())
    return found[-1] if found else ''


def kernels():
    return sorted(n for n in os.listdir(REFERENCE) if n.endswith('.cu'))


def read_log(path):
    """card, nvcc, {file: {target: error}}, {file: targets that were only built}."""
    card = nvcc = None
    ran, built = {}, {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            if line.startswith('FAIL'):
                sys.exit('not recorded: ' + line.strip())
            if m := re.match(r'card: (.*), (\S+)$', line):
                card = '%s, driver %s' % m.groups()
            if m := re.match(r'nvcc: V(\S+)', line):
                nvcc = 'nvcc ' + m.group(1)
            if m := re.match(r'PASS (\w+): largest error (\S+) \((\w+)\)', line):
                ran.setdefault(m.group(1) + '.cu', {})[m.group(3)] = m.group(2)
            if m := re.match(r'built (\w+) \((\w+)\)', line):
                built.setdefault(m.group(1) + '.cu', []).append(m.group(2))
    return card, nvcc, ran, built


def target_text(targets):
    """A target without a suffix was built as PTX."""
    return ', '.join(t if t[-1] in 'af' else 'compute_' + t[3:] for t in targets)


def record(path):
    card, nvcc, ran, built = read_log(path)
    entries = read_runs()
    named = {e['file']: e for e in entries}
    for name in kernels():
        if name not in named or not named[name].get('against'):
            sys.exit('fixtures/reference/runs.yaml does not say what %s is compared with' % name)
        entry = named[name]
        if name in ran:
            errors = ran[name]
            entry.update(target=target_text(errors), built=nvcc, ran=card, allowed=allowed(name),
                         error=max(errors.values(), key=float), not_run='')
        elif name in built:
            entry.update(target=target_text(built[name]), built=nvcc, ran='', error='', allowed='')
            entry['not_run'] = entry.get('not_run') or 'no such card was at hand'
        else:
            sys.exit('the log says nothing of %s' % name)
        entry['sha256'] = digest(name)
    write_runs([e for e in entries if e['file'] in kernels()])
    with open(HARDWARE, encoding='utf-8') as file:
        text = file.read()
    head, rest = text.split(BEGIN, 1)
    with open(HARDWARE, 'w', encoding='utf-8') as file:
        file.write(head + BEGIN + table(read_runs()) + END + rest.split(END, 1)[1])


def table(entries):
    rows = ['| kernel | for | on the card | against | largest error (allowed) |', '|---|---|---|---|---|']
    for e in entries:
        result = '%s (%s)' % (e['error'], e['allowed']) if e.get('ran') else ''
        against = e['against'] if e.get('ran') else ''
        rows.append('| `%s` | %s | %s | %s | %s |' % (
            e['file'][:-3], e['target'], e.get('ran') or 'not run: ' + e['not_run'], against, result))
    return '\n'.join(rows) + '\n'


def complaints():
    entries = read_runs()
    named = {e['file']: e for e in entries}
    out = ['%s: runs.yaml says nothing of it' % n for n in kernels() if n not in named]
    out += ['%s: in runs.yaml, but not there' % n for n in sorted(set(named) - set(kernels()))]
    out += ['%s: changed since it was built; run tests/gpu/run.sh, then record.py' % n for n in kernels()
            if n in named and named[n].get('sha256') != digest(n)]
    with open(HARDWARE, encoding='utf-8') as file:
        text = file.read()
    if BEGIN + table(entries) + END not in text:
        out.append('docs/hardware.md has not the table that runs.yaml makes')
    return out


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] != '--check':
        record(sys.argv[1])
    elif failures := complaints():
        sys.exit('\n'.join(failures))
