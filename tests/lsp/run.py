#!/usr/bin/env python3
"""The language server as an editor sees it: a scripted client, broken frames, real editors.

usage: run.py --kcheck BINARY [--all] [-k WORD]

Each test_ function is one case with a scratch folder and a server of its own. The cases with an
editor (editors.py) are left out, with a line that says so, where the editor is not installed. With
--all, or when named with -k, a session also runs under valgrind where that is installed.
"""
import argparse
import inspect
import os
import shutil
import sys
import tempfile
import time

import actions
import cases
import editors
import frames
import settings
from client import Client, Failure


def all_cases():
    for module in (cases, actions, settings, frames, editors):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == module.__name__:
                yield name[len("test_"):], function


def run_case(function, kcheck):
    """None, or why it failed; a text that begins with "skip: " when it could not run."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="kcheck-lsp-"))
    servers = []

    def serve(*options, prefix=(), env=None, cwd=None):
        servers.append(Client([*prefix, kcheck, "lsp", *options], cwd or folder, env))
        return servers[-1]

    try:
        return function(serve, folder) if len(inspect.signature(function).parameters) == 2 else function(serve, folder, kcheck)
    except Failure as failure:
        return str(failure)
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Test the language server.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true", help="the long cases too")
    parser.add_argument("-k", default="", help="only cases with this word in their name")
    options = parser.parse_args()
    kcheck = os.path.abspath(options.kcheck)
    passed = failed = 0
    for name, function in all_cases():
        if options.k not in name or (getattr(function, "long", False) and not options.all and not options.k):
            continue
        started = time.monotonic()
        why = run_case(function, kcheck)
        if why and why.startswith("skip: "):
            print("skipped %s: %s" % (name, why[6:]))
            continue
        passed, failed = passed + (why is None), failed + (why is not None)
        print("%s %-40s %5.1f s" % ("ok  " if why is None else "FAIL", name, time.monotonic() - started))
        if why:
            print("    " + why)
        sys.stdout.flush()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
