#!/usr/bin/env python3
"""Compiles and checks the code blocks of the pages, and looks at what their statements rest on;
knowledge/pages/README.md says how both are marked.

usage: run.py [--kcheck BINARY] [--no-nvcc] [--all] [--jobs N] [PAGE...]

A block is compiled with nvcc where there is one, and checked with kcheck: a right one must come out
clean, a wrong one with findings of the rules that its fence names and of no other; one marked toolkit
includes a library of the toolkit, and is left out without it. A page that is not about
working habits bears at least three tags of evidence, and no bracket that is none; pages and sections
that the text names exist. Pages with mistakes in their front matter must not load. The last line is
"N passed, N failed".
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDES = os.path.join(ROOT, "fixtures", "reference")
LIMIT_S = 120
EVIDENCE = ("isa ", "ptxas", "nvcc", "h200", "header ", "driver api", "guide", "source ", "issue ", "reported",
            "arithmetic", "inferred")
LEAST_EVIDENCE = 3
BRACKET = re.compile(r"(?<!\w)\[([a-z][^\[\]\n]*)\](?!\()")  # not an index, nor a shape or an interval
NAMED = re.compile(r"\b((?:hw|technique|pattern|kernel|skill|lang|migration)-[a-z0-9]+(?:-[a-z0-9]+)*)(?:#([a-z0-9-]+))?")
FENCE = re.compile(r"^```cuda +(?P<info>.*)$")


class Block:
    def __init__(self, path, line, info, text):
        self.page, self.line, self.text = os.path.basename(path)[:-3], line, text
        words = info.split()
        values = dict(w.split("=", 1) for w in words if "=" in w)
        self.arch = values.get("arch")
        self.wrong = [r for r in values.get("wrong", "").split(",") if r]
        self.refused, self.fragment, self.toolkit = "refused" in words, "fragment" in words, "toolkit" in words
        self.args = values.get("args", "").split(",") if "args" in values else []
        self.unknown = [w for w in words if w.split("=")[0] not in ("arch", "wrong", "refused", "fragment", "toolkit", "args")]

    def name(self):
        return "%s:%d" % (self.page, self.line)


def blocks_of(path):
    found, start, info, lines = [], 0, None, []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if info is None:
                match = FENCE.match(line)
                if match:
                    start, info, lines = number, match.group("info"), []
                elif line.startswith("```cuda"):
                    found.append(Block(path, number, "", ""))
            elif line.startswith("```"):
                found.append(Block(path, start, info, "".join(lines)))
                info = None
            else:
                lines.append(line)
    return found


def prose_of(path):
    """What stands outside of code."""
    with open(path, encoding="utf-8") as file:
        body = file.read().split("\n---\n", 1)[1]
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", body, flags=re.M | re.S))


def anchors_of(path):
    titles = re.findall(r"^#+ (.*)$", prose_of(path), flags=re.M)
    return {re.sub(r"[^a-z0-9 -]", "", t.lower()).replace(" ", "-") for t in titles}


def dead_links(path, pages):
    """None, or the pages and sections that the text names and that are not there."""
    dead = []
    for page, anchor in NAMED.findall(prose_of(path)):
        if page not in pages or (anchor and anchor not in anchors_of(pages[page])):
            dead.append(page + ("#" + anchor if anchor else ""))
    return "names what is not there: " + ", ".join(dead) if dead else None


def unfounded(path):
    """None, or what is wrong with the evidence of a page."""
    prose = prose_of(path)
    tags = BRACKET.findall(prose)
    strange = [t for t in tags if not t.startswith(EVIDENCE)]
    if strange:
        return "no evidence that the README knows: [%s]" % "], [".join(strange)
    habits = os.path.basename(os.path.dirname(path)) == "skill" and not os.path.basename(path).startswith("skill-wgmma")
    if len(tags) < LEAST_EVIDENCE and not habits:
        return "only %d statements say what they rest on" % len(tags)
    return None


# What is written into hw-tma's front matter instead of what stands there, and what kcheck says.
MISTAKES = [
    ("tags: [tma,", "tags: [tmaa,", "tag 'tmaa' is not in knowledge/vocabulary.yaml"),
    (', evidence: "measured: NVIDIA H200, CUDA 13.0"}', "}", "lacks 'evidence'"),
    ("rule: tma-size-multiple-16, ", "", "needs a rule, or the reason why none can check it"),
    ("type: hardware", "type: technique", "belongs into knowledge/pages/technique/hw-tma.md"),
    ("reproducibility:", "reproducible:", "reproducible"),
    ("---\nid: hw-tma", "id: hw-tma", "starts with front matter"),
]


def loaded_all_the_same(kcheck, before, after, expected):
    """None when kcheck refuses a copy of the pages with that mistake, naming it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("rules", "fixtures"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        shutil.copytree(os.path.join(ROOT, "knowledge"), os.path.join(folder, "knowledge"))
        path = os.path.join(folder, "knowledge", "pages", "hardware", "hw-tma.md")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if before not in text:
            return "the page has no %r" % before
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after, 1))
        result = subprocess.run([kcheck, "page", "--list"], capture_output=True, text=True, timeout=LIMIT_S,
                                env=dict(os.environ, KCHECK_DATA=folder, NO_COLOR="1"))
        if result.returncode != 2 or expected not in result.stderr or "hw-tma.md" not in result.stderr:
            return "exit %d: %s" % (result.returncode, result.stderr[:300])
    return None


def compiled(block, source, nvcc):
    """None, or what is wrong with how nvcc takes the block; only the assembler's refusal counts as one."""
    # -arch=sm_90a would also build PTX for compute_90, which has none of the 'a' instructions.
    target = "arch=%s,code=%s" % (block.arch.replace("sm_", "compute_"), block.arch)
    command = [nvcc, "-gencode", target, "-std=c++17", "-I", INCLUDES, "-c", source, "-o", source + ".o"]
    if "__global__" not in block.text:
        command.append("-rdc=true")  # else a function that no kernel calls is dropped before it is assembled
    result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    if result.returncode == 0:
        return "nvcc takes it, the fence says that it is refused" if block.refused else None
    if block.refused and "ptxas" in result.stderr:
        return None
    return "nvcc: " + (result.stderr or result.stdout)[:600]


def checked(block, source, kcheck):
    """None, or what is wrong with what kcheck finds."""
    command = [kcheck, source, "--arch", block.arch, "--format", "json", "-I", INCLUDES] + block.args
    result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    try:
        document = json.loads(result.stdout)
        findings, summary = document["findings"], document["summary"]
    except (ValueError, KeyError):
        return "kcheck: exit %d: %s" % (result.returncode, (result.stderr or result.stdout)[:400])
    found = sorted((f["rule"], f["severity"]) for f in findings)
    extra = [f for f in found if f[0] not in block.wrong]
    if extra or (block.wrong and not found):
        return "kcheck: found %s, not %s" % (found, ", ".join(block.wrong) or "nothing")
    if not block.wrong and "__global__" in block.text and not summary["kernels_checked"]:
        return "kcheck: no kernel was checked"
    if not block.wrong and summary["kernels_partial"] + summary["kernels_skipped"] > 0:
        return "kcheck: not all was checked: %s" % json.dumps(document["files"])[:400]
    return None


def problem(block, kcheck, nvcc):
    if block.unknown:
        return "unknown words on the fence: " + " ".join(block.unknown)
    if block.fragment:
        return None if not block.arch else "a fragment has no target"
    if block.toolkit and not nvcc:
        return None  # its headers come with nvcc
    if not block.arch:
        return "the fence says neither a target nor that it is a fragment"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, block.page + ".cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(block.text)
        try:
            return checked(block, source, kcheck) or (compiled(block, source, nvcc) if nvcc else None)
        except subprocess.TimeoutExpired:
            return "over %d s" % LIMIT_S


def main():
    parser = argparse.ArgumentParser(description="Compile and check the code blocks of the pages.")
    parser.add_argument("--kcheck", default=os.path.join(ROOT, "build", "release", "kcheck"))
    parser.add_argument("--all", action="store_true", help="as every suite; changes nothing here")
    parser.add_argument("--no-nvcc", action="store_true", help="only check, compile nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("pages", nargs="*", help="ids; all when none is named")
    options = parser.parse_args()
    nvcc = None if options.no_nvcc else shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc and not options.no_nvcc:
        print("nvcc is not here: blocks are checked, not compiled")
    paths = sorted(glob.glob(os.path.join(ROOT, "knowledge", "pages", "*", "*.md")))
    blocks = [b for p in paths for b in blocks_of(p) if not options.pages or b.page in options.pages]
    paths = [p for p in paths if not options.pages or os.path.basename(p)[:-3] in options.pages]
    failed = 0
    every = {os.path.basename(p)[:-3]: p for p in glob.glob(os.path.join(ROOT, "knowledge", "pages", "*", "*.md"))}
    for path in paths:
        wrong = unfounded(path) or dead_links(path, every)
        if wrong:
            failed += 1
            print("FAIL %s: %s" % (os.path.relpath(path, ROOT), wrong))
    mistakes = [] if options.pages else MISTAKES
    for before, after, expected in mistakes:
        wrong = loaded_all_the_same(options.kcheck, before, after, expected)
        if wrong:
            failed += 1
            print("FAIL %r: %s" % (after, wrong))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for block, wrong in zip(blocks, pool.map(lambda b: problem(b, options.kcheck, nvcc), blocks)):
            if wrong:
                failed += 1
                print("FAIL %s: %s" % (block.name(), wrong))
    print("%d passed, %d failed" % (len(blocks) + len(paths) + len(mistakes) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
