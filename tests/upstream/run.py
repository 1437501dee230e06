#!/usr/bin/env python3
"""Checks the kernels that fixtures/upstream.yaml pins: run.py --kcheck BINARY [--all] [NAME...].

Downloads each package once into the cache (nothing of it is installed or run), unpacks it,
compares SHA-256 of every pinned file, runs kcheck and compares status and findings. Without --all only
kernels marked quick; with names, those whose path holds one of them. Prints a line a kernel and last
'N passed, N failed, N skipped'. A package that can't be had is a skip with its reason.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.parse
import urllib.request
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPSTREAM = os.path.join(ROOT, 'fixtures', 'upstream')
LIMIT_S = 400
DOWNLOAD_LIMIT_S = 120
RANK = {'failed': 0, 'partial': 1, 'checked': 2}


def unpack(archive, folder):
    if archive.endswith(('.whl', '.zip')):
        zipfile.ZipFile(archive).extractall(folder)
    else:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter='data') if hasattr(tarfile, 'data_filter') else tar.extractall(folder)


def index_url():
    """The package index that pip is set up to use."""
    done = subprocess.run([sys.executable, '-m', 'pip', 'config', 'get', 'global.index-url'], capture_output=True, text=True)
    named = os.environ.get('PIP_INDEX_URL') or done.stdout.strip()
    if named:
        return named
    from pip._internal.models.index import PyPI
    return PyPI.simple_url


def download_source(package, version, download):
    """An archive of sources into `download`; why not. pip itself would run the package's setup for it."""
    page = index_url().rstrip('/') + '/%s/' % package
    try:
        with urllib.request.urlopen(page, timeout=15) as answer:
            links = re.findall(r'href="([^"#]+-%s\.tar\.gz)' % re.escape(version), answer.read().decode())
        if not links:
            return 'the index has no archive of sources'
        os.makedirs(download, exist_ok=True)
        with urllib.request.urlopen(urllib.parse.urljoin(page, links[0]), timeout=DOWNLOAD_LIMIT_S) as answer:
            with open(os.path.join(download, os.path.basename(links[0])), 'wb') as f:
                shutil.copyfileobj(answer, f)
    except OSError as error:
        return str(error)
    return None


def download_package(package, version, download):
    """pip's choice for this machine into `download`; why not."""
    words = [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--disable-pip-version-check',
             '--retries', '1', '--timeout', '15', '--dest', download, '%s==%s' % (package, version)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=DOWNLOAD_LIMIT_S)
    except subprocess.TimeoutExpired:
        return 'no download within %d s' % DOWNLOAD_LIMIT_S
    if done.returncode:
        return (done.stderr.strip().splitlines() or ['pip failed'])[-1][:160]
    return None


def fetch(package, version, cache, source=False):
    """Folder with the unpacked package (an archive of sources with `source`), or None and why not."""
    folder = os.path.join(cache, '%s-%s%s' % (package, version, '-source' if source else ''))
    if os.path.isdir(folder):
        return folder, None
    download = folder + '.download'
    why = (download_source if source else download_package)(package, version, download)
    if why:
        return None, why
    archive = os.path.join(download, sorted(os.listdir(download))[0])
    unpack(archive, folder + '.part')
    os.rename(folder + '.part', folder)
    return folder, None


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


def includes(folder, group, kernel, cache):
    """Include folders: of the package, then of the packages that it needs; None and why not."""
    folders = [os.path.join(folder, i) for i in kernel.get('include', group.get('include', []))]
    for need in group.get('needs', []):
        other, why = fetch(need['package'], need['version'], cache)
        if not other:
            return None, '%s %s: %s' % (need['package'], need['version'], why)
        folders += [os.path.join(other, i) for i in need['include']]
    return folders, None


def command(kcheck, folder, folders, kernel):
    source = os.path.join(UPSTREAM, kernel['harness']) if 'harness' in kernel else os.path.join(folder, kernel['file'])
    words = [kcheck, source, '--arch', kernel['arch'], '--format', 'json', '--timeout', str(LIMIT_S - 10)]
    if 'std' in kernel:
        words += ['-std', kernel['std']]
    for include in folders:
        words += ['-I', include]
    return words + kernel.get('flags', [])


def place(finding):
    return '%s:%d' % (os.path.basename(finding['path']), finding['line'])


def check(kcheck, folder, folders, kernel):
    """'' when all is as pinned, else what is not."""
    pinned = os.path.join(folder, kernel['file'])
    if not os.path.exists(pinned):
        return 'the package has no such file'
    if digest(pinned) != kernel['sha256']:
        return 'SHA-256 is %s' % digest(pinned)
    try:
        done = subprocess.run(command(kcheck, folder, folders, kernel), capture_output=True, text=True, timeout=LIMIT_S)
        report = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return 'no end within %d s' % LIMIT_S
    except ValueError:
        return 'no report: %s' % done.stderr.strip()[:200]
    status = report['files'][0]['status']
    problems = []
    if RANK[status] < RANK[kernel['status']]:
        problems.append('status is %s: %s' % (status, done.stderr.strip()[:200]))
    # a finding is expected at 'file.cuh:12'; one without a place may come anywhere
    expected = {(e['rule'], e.get('at')) for e in kernel.get('findings', [])}
    found = {(f['rule'], place(f)): f for f in report['findings'] if f['severity'] in ('error', 'warning')}
    anywhere = {rule for rule, at in expected if not at}
    for key in sorted(set(found) - expected):
        if key[0] not in anywhere:
            problems.append('%s: %s [%s]' % (key[1], found[key]['message'][:120], key[0]))
    for rule, at in sorted(expected, key=str):
        if (rule, at) not in found and (at or rule not in {key[0] for key in found}):
            problems.append('%s: no %s' % (at or 'anywhere', rule))
    return '; '.join(problems)


def chosen(kernel, options):
    if options.names:
        return any(name in kernel.get('harness', '') + ' ' + kernel['file'] for name in options.names)
    return options.all or kernel.get('quick', False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kcheck', required=True)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--cache', default=os.path.join(os.environ.get('XDG_CACHE_HOME') or
                                                        os.path.expanduser('~/.cache'), 'kcheck-upstream'))
    parser.add_argument('names', nargs='*', metavar='NAME')
    options = parser.parse_args()
    try:
        import yaml
    except ImportError:
        print('skip: PyYAML is not installed')
        print('0 passed, 0 failed, 1 skipped')
        return 77
    with open(UPSTREAM + '.yaml') as f:
        groups = yaml.safe_load(f)['packages']
    os.makedirs(options.cache, exist_ok=True)
    passed = failed = skipped = 0
    for group in groups:
        kernels = [k for k in group['kernels'] if chosen(k, options)]
        if not kernels:
            continue
        folder, why = fetch(group['package'], group['version'], options.cache, group.get('source', False))
        if not folder:
            print('skip: %s %s: %s' % (group['package'], group['version'], why))
            skipped += len(kernels)
            continue
        for kernel in kernels:
            folders, why = includes(folder, group, kernel, options.cache)
            if folders is None:
                print('skip: %s' % why)
                skipped += 1
                continue
            start = time.time()
            problem = check(os.path.abspath(options.kcheck), folder, folders, kernel)
            name = kernel.get('harness', kernel['file'])
            print('%s %-60s %5.1f s%s' % ('FAIL' if problem else 'pass', name[-60:], time.time() - start,
                                         '  ' + problem if problem else ''), flush=True)
            passed, failed = passed + (not problem), failed + bool(problem)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 77 if not passed else 0


sys.exit(main())
