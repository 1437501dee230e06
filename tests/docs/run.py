#!/usr/bin/env python3
"""The documentation: run.py --kcheck BINARY [--all].

docs/coverage.md and docs/real-kernels.md are what docs/coverage.py and docs/real_kernels.py write (both need
PyYAML). fixtures/reference/runs.yaml speaks of every reference kernel as it stands, and docs/hardware.md holds its table. The site builds (docs/build.py; needs the
Python package markdown), no link in it leads nowhere, every rule's `url` has a page, and the anchors that
rules name are there.
"""
import argparse
import html.parser
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = os.path.join(ROOT, 'docs')


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get('id'):
            self.anchors.add(values['id'])
        for name in ('href', 'src'):
            if values.get(name):
                self.links.append(values[name])


def read(path):
    parser = Links()
    with open(path, encoding='utf-8') as f:
        parser.feed(f.read())
    return parser


def dead_links(site):
    """'page: link' of every link that leads nowhere in the site."""
    found = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith('.html'):
                path = os.path.join(folder, name)
                found[path] = read(path)
    dead = []
    for path, page in sorted(found.items()):
        for link in page.links:
            if '://' in link or link.startswith('mailto:'):
                continue
            target, _, anchor = link.partition('#')
            to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            there = os.path.exists(to)
            if not there or (anchor and to in found and anchor not in found[to].anchors):
                dead.append('%s: %s' % (os.path.relpath(path, site), link))
    return dead


def check_coverage():
    if not importlib.util.find_spec('yaml'):
        return None
    done = subprocess.run([sys.executable, os.path.join(DOCS, 'coverage.py'), '--check'], capture_output=True, text=True)
    return [done.stdout.strip() or done.stderr.strip()] if done.returncode else []


def check_real_kernels():
    if not importlib.util.find_spec('yaml'):
        return None
    done = subprocess.run([sys.executable, os.path.join(DOCS, 'real_kernels.py'), '--check'], capture_output=True, text=True)
    return (done.stdout.strip() or done.stderr.strip()).splitlines() if done.returncode else []


def check_runs():
    record = os.path.join(ROOT, 'tests', 'gpu', 'record.py')
    done = subprocess.run([sys.executable, record, '--check'], capture_output=True, text=True)
    return (done.stderr.strip() or 'record.py: exit %d' % done.returncode).splitlines() if done.returncode else []


def check_site(kcheck):
    if not importlib.util.find_spec('yaml') or not importlib.util.find_spec('markdown'):
        return None
    with tempfile.TemporaryDirectory() as site:
        done = subprocess.run([sys.executable, os.path.join(DOCS, 'build.py'), site], capture_output=True, text=True)
        if done.returncode:
            return ['docs/build.py: %s' % done.stderr.strip()[-400:]]
        failures = ['dead link: ' + d for d in dead_links(site)]
        rules = json.loads(subprocess.run([kcheck, 'rules', '--format', 'json'], capture_output=True, text=True).stdout)
        for rule in rules['rules']:
            if not os.path.exists(os.path.join(site, 'rules', rule['id'] + '.html')):
                failures.append('no page for the url of %s' % rule['id'])
        return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kcheck', required=True)
    parser.add_argument('--all', action='store_true')
    options = parser.parse_args()
    results = {'coverage': check_coverage(), 'real kernels': check_real_kernels(), 'runs': check_runs(), 'site': check_site(os.path.abspath(options.kcheck))}
    ran = {name: failures for name, failures in results.items() if failures is not None}
    for name in sorted(set(results) - set(ran)):
        print('skip: %s needs the Python package%s' % (name, ' PyYAML' if name in ('coverage', 'real kernels') else 's markdown and PyYAML'))
    for name, failures in ran.items():
        for why in failures[:40]:
            print('FAIL %s: %s' % (name, why))
    failed = sum(map(len, ran.values()))
    print('%d passed, %d failed' % (sum(not f for f in ran.values()), failed))
    return 77 if not ran else 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
