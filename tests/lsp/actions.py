"""Hover and code actions."""
import os
import subprocess

from client import check
from common import at, codes, place
from texts import BAD, FIXABLE, GOOD, RULE, write


def hover_at(server, name, line, character):
    return server.request("textDocument/hover", {"textDocument": {"uri": server.uri(name)}, "position": place(line, character)})


def test_hover(serve, folder):
    for formats, kind in ((["markdown", "plaintext"], "markdown"), (["plaintext"], "plaintext"), (None, "plaintext")):
        server = serve()
        server.initialize({"textDocument": {"hover": {"contentFormat": formats}}} if formats else {})
        server.open("k.cu", BAD)
        d = server.diagnostics("k.cu")[0]
        line, character = at(d)
        hover = hover_at(server, "k.cu", line, character + 2)
        value = hover["contents"]["value"]
        check(hover["contents"]["kind"] == kind and hover["range"] == d["range"], "the hover", hover)
        check(RULE in value and "kcheck" in value and d["data"]["page"] in value, "its text", value)
        check(kind == "plaintext" or ("```cuda" in value and "### " + RULE in value), "its Markdown", value)
        check(hover_at(server, "k.cu", 0, 0) is None, "a hover over nothing")
        check("position" in server.refusal("textDocument/hover", {"textDocument": {"uri": server.uri("k.cu")}})["message"],
              "no position")
        server.change("k.cu", 2, "// kcheck: ignore[smem-race, %s] because\n%s" % (RULE, GOOD))
        server.diagnostics("k.cu", version=2)
        check(RULE in hover_at(server, "k.cu", 0, 35)["contents"]["value"], "a rule in a directive")


def actions(server, name, diagnostic, **context):
    return server.request("textDocument/codeAction", {
        "textDocument": {"uri": server.uri(name)}, "range": diagnostic["range"],
        "context": dict({"diagnostics": [diagnostic]}, **context)})


def apply(text, edits):
    """Edits of ASCII text, from the end to the start."""
    lines = text.split("\n")

    def offset(p):
        return sum(len(l) + 1 for l in lines[:p["line"]]) + p["character"]
    for e in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        text = text[:offset(e["range"]["start"])] + e["newText"] + text[offset(e["range"]["end"]):]
    return text


def test_fix(serve, folder):
    write(folder, "fix.cu", FIXABLE)
    server = serve()
    server.initialize({"workspace": {"workspaceEdit": {"documentChanges": True}}})
    server.open("fix.cu", FIXABLE, version=7)
    d = next(d for d in server.diagnostics("fix.cu", version=7) if d["code"] == "mbarrier-asm-memory-clobber")
    found = actions(server, "fix.cu", d)
    fix = found[0]
    check(fix["kind"] == "quickfix" and "Fix" in fix["title"] and fix["diagnostics"][0]["code"] == d["code"], "the fix", found)
    change = fix["edit"]["documentChanges"][0]
    check(change["textDocument"] == {"uri": server.uri("fix.cu"), "version": 7}, "what it changes", change)
    check(fix.get("isPreferred", False) == d["data"]["fix"]["safe"], "preferred when safe", fix)
    mended = apply(FIXABLE, change["edits"])
    subprocess.run([server.process.args[0], "--fix", "--unsafe-fixes", "-q", "fix.cu"], cwd=folder, capture_output=True)
    with open(os.path.join(folder, "fix.cu")) as file:
        check(file.read() == mended, "not what --fix makes", mended)
    server.change("fix.cu", 8, mended)
    check("mbarrier-asm-memory-clobber" not in codes(server.diagnostics("fix.cu", version=8)), "it is still there")
    check(server.end() == 0, "exit status")


def test_fix_all(serve, folder):
    text = FIXABLE + FIXABLE.partition("// second")[2].replace("hand_over", "hand_over_2")
    server = serve()
    server.initialize()
    server.open("fix.cu", text)
    wanted = [d for d in server.diagnostics("fix.cu") if (d["data"].get("fix") or {}).get("safe")]
    check(len(wanted) == 2, "two safe fixes", wanted)
    found = actions(server, "fix.cu", wanted[0], only=["source.fixAll"])
    check([a["kind"] for a in found] == ["source.fixAll.kcheck"], "the action", found)
    server.change("fix.cu", 2, apply(text, found[0]["edit"]["changes"][server.uri("fix.cu")]))
    left = server.diagnostics("fix.cu", version=2)
    check("mbarrier-asm-memory-clobber" not in codes(left), "all are mended", left)
    check(actions(server, "fix.cu", wanted[0], only=["refactor"]) == [], "another kind")


def test_suppress(serve, folder):
    server = serve()
    server.initialize()
    text = BAD.replace("\n", "\r\n")
    for number, (source, title) in enumerate(((BAD, "here"), (BAD, "in this file"), (text, "here"))):
        name = "k%d.cu" % number
        server.open(name, source)
        d = server.diagnostics(name)[0]
        suppress = next(a for a in actions(server, name, d) if "Suppress" in a["title"] and title in a["title"])
        changed = apply(source, suppress["edit"]["changes"][server.uri(name)])
        added = [l for l in changed.split("\n") if l not in source.split("\n")]
        check(len(added) == 1 and RULE in added[0] and added[0].endswith("\r") == ("\r" in source), "the directive", added)
        check(title != "here" or added[0].startswith("  // kcheck: ignore["), "its place", added)
        server.change(name, 2, changed)
        check(server.diagnostics(name, version=2) == [], "suppressed", server.pushed(name)[-1])
    macro = BAD.replace("  wait(bar, 0);", "#define GO \\\n  wait(bar, 0);\n  GO")
    server.open("macro.cu", macro)
    for d in server.diagnostics("macro.cu"):
        for a in actions(server, "macro.cu", d):
            changed = apply(macro, a["edit"]["changes"][server.uri("macro.cu")])
            check("\\\n  // kcheck" not in changed, "a comment inside a macro", a)
    unused = GOOD.replace("\n", "\n// kcheck: ignore[smem-race] because\n", 1)
    server.open("unused.cu", unused)
    d = server.diagnostics("unused.cu")[0]
    found = actions(server, "unused.cu", d)
    check(d["code"] == "kcheck-unused-ignore" and not any("Suppress" in a["title"] for a in found), "an unused one", found)
    check(server.end() == 0, "exit status")
