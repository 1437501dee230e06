"""Real editors, headless; each case says that it was skipped where the editor is not installed."""
import json
import os
import shutil
import subprocess

from client import Failure, check
from texts import BAD, RULE, waits_at, write

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 150


def session(command, folder, kcheck):
    """Runs an editor's script; what it saw."""
    out, home = os.path.join(folder, "seen.json"), os.path.join(folder, "home")
    os.makedirs(home, exist_ok=True)
    env = dict(os.environ, KCHECK_TEST_BINARY=kcheck, KCHECK_TEST_OUT=out, KCHECK_TEST_FILE=write(folder, "k.cu", BAD),
               HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_STATE_HOME=home, XDG_CACHE_HOME=home)
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=LIMIT_S)
    except subprocess.TimeoutExpired as late:
        raise Failure("the editor did not end", late.stdout, late.stderr)
    check(os.path.exists(out), "the editor wrote nothing", done.stdout[-2000:], done.stderr[-2000:])
    with open(out, encoding="utf-8") as file:
        seen = json.load(file)
    check("failed" not in seen, "the script failed", seen, done.stderr[-2000:])
    return seen


def test_neovim(serve, folder, kcheck):
    if not shutil.which("nvim"):
        return "skip: Neovim is not installed"
    seen = session(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile " + os.path.join(HERE, "neovim.lua")],
                   folder, kcheck)
    line, column = waits_at(BAD)
    for moment in ("opened", "undone"):
        found = seen[moment]
        check([(d["code"], d["line"], d["column"], d["severity"]) for d in found] == [(RULE, line, column, 1)], moment, found)
    check(RULE in seen["hover"] and seen["hover_lines"] > 5, "hover", seen["hover"])
    check(seen["titles"][0].startswith("Suppress " + RULE), "code actions", seen["titles"])
    check(seen["text"][line].startswith("  // kcheck: ignore[%s] " % RULE), "the edit", seen["text"])
    check(not seen["suppressed"] and not seen["fixed"], "it is still there", seen["suppressed"], seen["fixed"])
    check(seen["stopped"] is True, "the server did not stop")
    return None


def has_eglot():
    probe = subprocess.run(["emacs", "--batch", "-q", "--eval", "(progn (package-initialize) (require 'eglot))"],
                           capture_output=True)
    return probe.returncode == 0


def test_emacs(serve, folder, kcheck):
    if not shutil.which("emacs"):
        return "skip: Emacs is not installed"
    if not has_eglot():
        return "skip: Emacs has no eglot"
    seen = session(["emacs", "--batch", "-q", "-l", os.path.join(HERE, "eglot.el")], folder, kcheck)
    check(seen["mode"] == "cuda-mode" and seen["line"] == waits_at(BAD)[0] + 1, "the place", seen)
    for moment in ("opened", "undone"):
        check(len(seen[moment]) == 1 and "waits for ever" in seen[moment][0], moment, seen[moment])
    check(RULE in seen["hover"], "hover", seen["hover"])
    check(seen["titles"][0].startswith("Suppress " + RULE), "code actions", seen["titles"])
    check("\n  // kcheck: ignore[%s] " % RULE in seen["text"], "the edit", seen["text"])
    check(not seen["suppressed"] and not seen["fixed"], "it is still there", seen["suppressed"], seen["fixed"])
    check(seen["stopped"] is True, "the server did not stop")
    return None


def test_vim(serve, folder, kcheck):
    if not shutil.which("vim"):
        return "skip: Vim is not installed"
    if not os.path.isfile("/usr/share/vim-ale/plugin/ale.vim"):
        return "skip: Vim has no ALE (vim-ale)"
    seen = session(["vim", "-u", "NONE", "-N", "-i", "NONE", "-n", "-es", "-S", os.path.join(HERE, "ale.vim"), "-c", "qall!"],
                   folder, kcheck)
    line, column = waits_at(BAD)
    found = seen["opened"]
    check([(d["line"], d["column"]) for d in found] == [(line + 1, column + 1)] and RULE in found[0]["text"], "opened", found)
    check(seen["fixed"] == 0, "it is still there", seen)
    return None
