#!/usr/bin/env python3
"""The house rules that a machine can check.

usage: run.py --kcheck BINARY [--all]

Shell scripts pass shellcheck, C files the pinned clang-format, all C files compile without a warning
under clang as well as gcc (which builds them), no file has grown past its room, no word is left that
says something is unfinished. A check whose tool is missing says so and is left out.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINNED_FORMAT = 14
MAX_LINES = 700
UNFINISHED = re.compile(r"\b(%s)\b" % "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "not impl" + "emented"]))
SCRIPTS = ["kcheck", "test", ".ci/run"]


def tracked(*patterns):
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], cwd=ROOT,
                          capture_output=True, text=True)
    names = done.stdout.split("\n") if done.returncode == 0 else []
    return sorted({n for n in names if n and os.path.isfile(os.path.join(ROOT, n))})


def run_tool(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines()[:15]


def check_shell():
    if not shutil.which("shellcheck"):
        return None
    return run_tool(["shellcheck", *SCRIPTS])


def check_format():
    if not shutil.which("clang-format"):
        return None
    said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)", said)
    if not version or int(version.group(1)) != PINNED_FORMAT:
        return None
    return run_tool(["clang-format", "--dry-run", "-Werror", *tracked("analyzer/*.c", "analyzer/*.h", "tests/*.c", "tests/*.h")])


def check_clang(build):
    """Every analyzer file through clang with the flags of the build."""
    database = os.path.join(build, "compile_commands.json")
    if not shutil.which("clang") or not os.path.isfile(database):
        return None
    with open(database) as file:
        entries = [e for e in json.load(file) if e["file"].startswith(os.path.join(ROOT, "analyzer")) and e["file"].endswith(".c")]

    def one(entry):
        command = ["clang", "-fsyntax-only", "-Wno-unknown-warning-option", *meaningful_flags(entry["command"])]
        return run_tool(command + [entry["file"]])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for lines in pool.map(one, entries) for line in lines][:30]


def meaningful_flags(command):
    """The flags of a compile command that change what a file means or warns about."""
    words, out = shlex.split(command), []
    for i, word in enumerate(words):
        if word == "-isystem":
            out += [word, words[i + 1]]
        elif word.startswith(("-I", "-D", "-W", "-std")):
            out.append(word)
    return out


def check_sizes():
    out = []
    for name in tracked("analyzer/*.c", "analyzer/*.h"):
        with open(os.path.join(ROOT, name), errors="replace") as file:
            lines = sum(1 for _ in file)
        if lines > MAX_LINES:
            out.append("%s: %d lines" % (name, lines))
    return out


def check_words():
    out = []
    for name in tracked("analyzer", "rules", "knowledge", "tests", "fixtures"):
        with open(os.path.join(ROOT, name), errors="replace") as file:
            for number, line in enumerate(file, 1):
                if UNFINISHED.search(line):
                    out.append("%s:%d: %s" % (name, number, line.strip()[:80]))
    return out


def main():
    parser = argparse.ArgumentParser(description="Check the house rules.")
    parser.add_argument("--kcheck", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    checks = [("shellcheck", check_shell), ("clang-format %d" % PINNED_FORMAT, check_format),
              ("clang", lambda: check_clang(os.path.dirname(os.path.abspath(options.kcheck)))),
              ("file sizes", check_sizes), ("unfinished words", check_words)]
    passed = failed = 0
    for name, check in checks:
        problems = check()
        if problems is None:
            print("left out: %s is not here" % name)
            continue
        passed, failed = passed + (not problems), failed + bool(problems)
        for problem in problems:
            print("%s: %s" % (name, problem))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
