"""Sessions of a scripted client: their life, diagnostics, cancellation."""
import glob
import json
import os
import signal
import subprocess
import time

from client import check
from common import PULLS, at, codes, place
from texts import BAD, GOOD, RULE, SLOW, fixed, waits_at, write


# ---- the life of a session ----

def test_initialize(serve, folder):
    server = serve()
    result = server.initialize()
    c = result["capabilities"]
    check(result["serverInfo"]["name"] == "kcheck" and result["serverInfo"]["version"], "no server info", result)
    check(c["positionEncoding"] == "utf-16", "encoding without a wish", c)
    check(c["textDocumentSync"]["change"] == 2 and c["textDocumentSync"]["openClose"], "sync", c)
    check(c["hoverProvider"] and c["diagnosticProvider"]["identifier"] == "kcheck", "providers", c)
    check("quickfix" in c["codeActionProvider"]["codeActionKinds"], "code actions", c)
    check(server.refusal("initialize", {"capabilities": {}})["code"] == -32600, "a second initialize")
    check(server.end() == 0, "exit status")


def test_encodings(serve, folder):
    for offered, chosen in ((["utf-8", "utf-16"], "utf-8"), (["utf-32", "utf-8"], "utf-32"), (["utf-7"], "utf-16"),
                            (["utf-16"], "utf-16"), ([], "utf-16")):
        server = serve()
        result = server.initialize(encodings=offered)
        check(result["capabilities"]["positionEncoding"] == chosen, "offered %r" % offered, result)
        check(server.end() == 0, "exit status")


def test_before_initialize(serve, folder):
    server = serve()
    check(server.refusal("textDocument/hover", {})["code"] == -32002, "a request before initialize")
    server.open("k.cu", BAD)  # dropped
    server.initialize()
    server.quiet(0.6)
    check(not server.pushed("k.cu"), "a document that was opened before initialize", server.seen)
    check(server.end() == 0, "exit status")


def test_after_shutdown(serve, folder):
    server = serve()
    server.initialize()
    server.request("shutdown")
    check(server.refusal("textDocument/hover", {})["code"] == -32600, "a request after shutdown")
    server.notify("exit")
    check(server.process.wait(timeout=20) == 0, "exit status")


def test_exit_without_shutdown(serve, folder):
    server = serve()
    server.initialize()
    server.notify("exit")
    check(server.process.wait(timeout=20) == 1, "exit status")


def test_exit_before_initialize(serve, folder):
    server = serve()
    server.notify("exit")
    check(server.process.wait(timeout=20) == 1, "exit status")


def test_end_of_input(serve, folder):
    server = serve()
    server.initialize()
    server.open("slow.cu", SLOW)
    server.quiet(0.5)
    workers = server.workers()
    server.process.stdin.close()
    check(server.process.wait(timeout=20) == 1, "exit status")
    deadline = time.monotonic() + 10
    while any(os.path.exists("/proc/%d" % pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    check(not any(os.path.exists("/proc/%d" % pid) for pid in workers), "workers outlive the server", workers)


def test_end_while_parsing(serve, folder):
    """Neither a parse that is given up nor a check that waits for it holds up the end."""
    server = serve()
    server.initialize()
    server.open("k.cu", SLOW + SLOW.replace(" v", " w").replace("scale", "other") * 4)
    server.quiet(0.5)
    server.change("k.cu", 2, BAD)
    server.quiet(0.5)
    check(not server.pushed("k.cu"), "the slow text is not slow")
    started = time.monotonic()
    check(server.end() == 0, "exit status")
    check(time.monotonic() - started < 2, "the end took long", time.monotonic() - started)


def test_client_that_died(serve, folder):
    client = subprocess.Popen(["true"])
    client.wait()
    server = serve()
    server.request("initialize", {"processId": client.pid, "capabilities": {}})
    check(server.process.wait(timeout=20) == 1, "exit status")


def test_unknown_methods(serve, folder):
    server = serve()
    server.initialize()
    error = server.refusal("textDocument/inlayHint", {})
    check(error["code"] == -32601 and "textDocument/inlayHint" in error["message"], "an unknown request", error)
    server.notify("$/setTrace", {"value": "off"})
    server.notify("some/notification", {})
    for method in ("textDocument/hover", "textDocument/codeAction", "textDocument/diagnostic"):
        error = server.refusal(method, {"textDocument": {"uri": server.uri("other.cu")}})
        check(error["code"] == -32602 and "not open" in error["message"], method, error)
        check(server.refusal(method)["code"] == -32602, "%s without params" % method)
    server.change("other.cu", 2, GOOD)
    server.notify("textDocument/didOpen", {})
    server.close("other.cu")
    check(server.end() == 0, "exit status")
    check(len(server.logged()) == 2, "no line for a change of what is not open, and an open of nothing", server.logged())


# ---- diagnostics ----

def test_push(serve, folder):
    server = serve()
    server.initialize()
    server.open("k.cu", BAD)
    found = server.diagnostics("k.cu", version=1)
    check(codes(found) == [RULE], "diagnostics", found)
    d = found[0]
    line, character = waits_at(BAD)
    check(at(d) == (line, character) and d["severity"] == 1 and d["source"] == "kcheck", "the diagnostic", d)
    check(d["data"]["rule"] == RULE and d["data"]["page"], "its data", d)
    check("codeDescription" not in d, "an address that is none", d)
    check(all(r["location"]["uri"] == server.uri("k.cu") for r in d["relatedInformation"]), "related places", d)
    server.change("k.cu", 2, fixed(BAD))
    check(server.diagnostics("k.cu", version=2) == [], "the text is mended")
    server.change("k.cu", 3, BAD)
    check(codes(server.diagnostics("k.cu", version=3)) == [RULE], "the text is broken again")
    before = len(server.seen)
    server.close("k.cu")
    check(server.diagnostics("k.cu", since=before) == [], "the document is closed")
    check(server.end() == 0, "exit status")
    check(not server.errors, "something on stderr", server.errors)


def test_docs_base(serve, folder):
    write(folder, ".kcheck.yaml", "docs-base: https://docs.example/kcheck\n")
    server = serve()
    server.initialize()
    server.open("k.cu", BAD)
    d = server.diagnostics("k.cu")[0]
    check(d["codeDescription"]["href"].startswith("https://docs.example/kcheck/"), "address of the rule", d)


def test_not_on_disk(serve, folder):
    """Nothing is read from disk but the document's headers: the text is the client's."""
    write(folder, "k.cu", GOOD)
    server = serve()
    server.initialize()
    server.open("k.cu", BAD)
    check(codes(server.diagnostics("k.cu")) == [RULE], "the text on disk was checked")
    server.open("untitled:Untitled-1", BAD)
    found = server.diagnostics("untitled:Untitled-1")
    check(codes(found) == [RULE], "a document without a file", found)
    check(found[0]["relatedInformation"][0]["location"]["uri"] == "untitled:Untitled-1", "its related places", found)
    server.open("new%20folder/k%2B.cu", BAD)
    check(codes(server.diagnostics("new%20folder/k%2B.cu")) == [RULE], "a URI with escapes")


def test_incremental_sync(serve, folder):
    """Random edits in each encoding, against a text that is kept here; the end is checked by its findings."""
    edits = [(0, 0, 0, 0, "// \u00e9\u00df \U0001f600 x\n"), (0, 3, 0, 4, "\u4e16\u754c"), (0, 5, 0, 8, "\U0001f680"),
             (1, 0, 1, 0, "// \u00e9\r\n"), (1, 3, 1, 4, ""), (2, 0, 2, 0, "/* \U0001f600\U0001f600 */ "), (2, 3, 2, 5, "ab"), (10000, 0, 10000, 9, "\n// end")]
    for encoding, unit in (("utf-8", lambda c: len(c.encode())), ("utf-16", lambda c: len(c.encode("utf-16-le")) // 2),
                           ("utf-32", lambda c: 1)):
        lines = BAD.split("\n")
        server = serve()
        server.initialize(encodings=[encoding])
        server.open("k.cu", BAD)
        text, changes = BAD, []
        for line1, column1, line2, column2, new in edits:
            text, change = edit(text, (line1, column1), (line2, column2), new, unit)
            changes.append(change)
        server.change("k.cu", 2, *changes)
        found = server.diagnostics("k.cu", version=2)
        line, character = waits_at(text, unit)
        check(codes(found) == [RULE] and at(found[0]) == (line, character), "%s: the place after edits" % encoding, found,
              (line, character))
        check(lines[0] != text.split("\n")[0], "nothing was edited")
        check(server.end() == 0, "exit status")


def edit(text, start, end, new, unit):
    """The text after an edit, and the change that says it; places count characters."""
    def offset(place):
        lines = text.replace("\r\n", " \n").split("\n")
        if place[0] >= len(lines):
            return len(text)
        return sum(len(l) + 1 for l in lines[:place[0]]) + min(place[1], len(lines[place[0]]))

    def encoded(place):
        a = offset(place)
        begin = text.rfind("\n", 0, a) + 1
        if place[0] >= text.count("\n") + 1:
            return {"line": place[0], "character": place[1]}
        return {"line": place[0], "character": sum(unit(c) for c in text[begin:a])}

    change = {"range": {"start": encoded(start), "end": encoded(end)}, "text": new}
    return text[:offset(start)] + new + text[offset(end):], change


def test_columns(serve, folder):
    """Text beyond ASCII and beyond the BMP in front of the finding."""
    text = BAD.replace("  wait(bar, 0);", "  /* \u00e4 \u4e16 \U0001f600 */ wait(bar, 0);")
    for encoding, unit in (("utf-8", lambda c: len(c.encode())), ("utf-16", lambda c: len(c.encode("utf-16-le")) // 2)):
        server = serve()
        server.initialize(encodings=[encoding])
        server.open("k.cu", text)
        d = server.diagnostics("k.cu")[0]
        check(at(d) == waits_at(text, unit), "%s: the place" % encoding, d, waits_at(text, unit))
        check(d["range"]["end"]["character"] == at(d)[1] + len("wait(bar, 0)"), "%s: the end" % encoding, d)
        hover = server.request("textDocument/hover", {"textDocument": {"uri": server.uri("k.cu")}, "position":
                                                      place(*at(d))})
        check(hover and hover["range"] == d["range"], "%s: hover" % encoding, hover)
        check(server.end() == 0, "exit status")


def test_pull(serve, folder):
    server = serve()
    server.initialize(PULLS)
    server.open("k.cu", BAD)
    ask = {"textDocument": {"uri": server.uri("k.cu")}}
    report = server.request("textDocument/diagnostic", ask)
    check(report["kind"] == "full" and codes(report["items"]) == [RULE], "the report", report)
    again = server.request("textDocument/diagnostic", dict(ask, previousResultId=report["resultId"]))
    check(again["kind"] == "unchanged" and again["resultId"] == report["resultId"], "asked again", again)
    server.change("k.cu", 2, fixed(BAD))
    report = server.request("textDocument/diagnostic", dict(ask, previousResultId=report["resultId"]))
    check(report["kind"] == "full" and report["items"] == [], "after an edit", report)
    check(not server.pushed("k.cu"), "pushed to a client that pulls")
    number = server.ask("textDocument/diagnostic", ask)
    server.answer(number)
    server.change("k.cu", 3, SLOW)
    number = server.ask("textDocument/diagnostic", ask)
    server.change("k.cu", 4, BAD)
    error = server.answer(number)["error"]
    check(error["code"] == -32802 and error["data"]["retriggerRequest"], "pulled, then edited", error)
    check(codes(server.request("textDocument/diagnostic", ask)["items"]) == [RULE], "the last text")
    check(server.end() == 0, "exit status")


def test_header_findings(serve, folder):
    """A finding in a header is shown there, once, and goes when the documents that have it are closed."""
    write(folder, "kernel.cuh", "#pragma once\n" + BAD)
    text = '#include "kernel.cuh"\n' + GOOD
    for capabilities in ({}, {"textDocument": {"diagnostic": {}}}):
        server = serve()
        server.initialize(capabilities)
        server.open("a.cu", text)
        server.open("b.cu", text)
        found = server.diagnostics("kernel.cuh")
        check(codes(found) == [RULE] and at(found[0]) == (waits_at(BAD)[0] + 1, 2), "the header's findings", found)
        if not capabilities:
            check(server.diagnostics("a.cu") == [] and server.diagnostics("b.cu") == [], "the documents themselves")
        server.quiet(0.5)
        before = len(server.seen)
        server.close("a.cu")
        server.quiet(0.3)
        check(all(codes(p["diagnostics"]) == [RULE] for p in server.pushed("kernel.cuh")), "the other document has it",
              server.pushed("kernel.cuh"))
        server.close("b.cu")
        server.until(lambda: [p for p in server.pushed("kernel.cuh", before) if not p["diagnostics"]], "a clean header")
        check(server.end() == 0, "exit status")
    server = serve()
    server.initialize(PULLS)
    server.open("a.cu", text)
    report = server.request("textDocument/diagnostic", {"textDocument": {"uri": server.uri("a.cu")}})
    related = report["relatedDocuments"][server.uri("kernel.cuh")]
    check(codes(related["items"]) == [RULE] and not server.pushed("kernel.cuh"), "a related document", report)


def test_failures(serve, folder):
    server = serve()
    server.initialize()
    server.open("k.cu", "#include <cstdint>\n__global__ void k(int *x) {\n  x[0] = ;\n}\n")
    found = server.diagnostics("k.cu")
    check(codes(found) == ["not-checked"] and at(found[0])[0] == 2, "a syntax error", found)
    server.change("k.cu", 2, "__global__ void k(int *x) { asm volatile(\"no.such.thing %0;\" :: \"l\"(x)); }\n")
    found = server.diagnostics("k.cu", version=2)
    check(all(d["code"] == "not-checked" or d["source"] == "kcheck" for d in found), "an unknown instruction", found)
    server.change("k.cu", 3, "a\0b")
    found = server.diagnostics("k.cu", version=3)
    check(codes(found) == ["not-checked"] and "NUL" in found[0]["message"], "no text", found)
    server.change("k.cu", 4, "")
    check(server.diagnostics("k.cu", version=4) == [], "an empty document")
    server.open("m.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n", language="ptx")
    check(server.diagnostics("m.ptx") == [], "PTX")
    check(server.end() == 0, "exit status")


def test_partly_checked(serve, folder):
    server = serve()
    server.initialize()
    text = "extern __device__ void elsewhere(int *);\n// kernel\n__global__ void partly(int *x) {\n  __shared__ int s[4];\n" \
           "  elsewhere(s);\n  __syncthreads();\n  x[0] = s[0];\n}\n"
    server.open("k.cu", text)
    found = server.diagnostics("k.cu")
    status = json.loads(subprocess.run([server.process.args[0], "-", "--stdin-filename", "k.cu", "--format", "json"], input=text,
                                       capture_output=True, text=True).stdout)
    reasons = status["files"][0]["kernels"][0]["not_checked"]
    said = [d for d in found if d["code"] == "not-checked"]
    check(bool(reasons) == bool(said), "what was not checked", found, reasons)
    for d in said:
        check(at(d)[0] == 2 and d["severity"] in (2, 3) and reasons[0] in d["message"], "the reason", d)


# ---- timing and cancellation ----

def test_debounce(serve, folder):
    """Thirty edits in a row are checked once or twice, not thirty times."""
    server = serve()
    server.initialize()
    server.open("k.cu", GOOD)
    server.diagnostics("k.cu", version=1)
    for version in range(2, 32):
        server.change("k.cu", version, BAD if version == 31 else GOOD + "// %d\n" % version)
        time.sleep(0.01)
    check(codes(server.diagnostics("k.cu", version=31)) == [RULE], "the last text")
    check(len(server.pushed("k.cu")) <= 4, "each edit was checked", len(server.pushed("k.cu")))


def test_edit_cancels_a_check(serve, folder):
    server = serve()
    server.initialize()
    server.open("k.cu", SLOW)
    server.quiet(0.7)
    check(not server.pushed("k.cu"), "the slow text is not slow")
    started = time.monotonic()
    server.change("k.cu", 2, BAD)
    check(codes(server.diagnostics("k.cu", version=2)) == [RULE], "the new text")
    check(time.monotonic() - started < 10, "the check of the old text was waited for", time.monotonic() - started)
    check(not [p for p in server.pushed("k.cu") if p.get("version") == 1], "the old text's result came")
    check(server.end() == 0, "exit status")


def test_cancel_request(serve, folder):
    server = serve()
    server.initialize(PULLS)
    server.open("k.cu", SLOW)
    ask = {"textDocument": {"uri": server.uri("k.cu")}}
    number = server.ask("textDocument/diagnostic", ask)
    other = server.ask("textDocument/codeAction", dict(ask, range={"start": place(0, 0), "end": place(0, 0)},
                                                       context={"diagnostics": []}))
    server.notify("$/cancelRequest", {"id": number})
    error = server.answer(number, 10)["error"]
    check(error["code"] == -32800, "cancelled", error)
    server.notify("$/cancelRequest", {"id": 4711})
    server.notify("$/cancelRequest", {"id": other})
    check(server.answer(other, 10)["error"]["code"] == -32800, "cancelled")
    server.change("k.cu", 2, BAD)
    check(codes(server.request("textDocument/diagnostic", ask)["items"]) == [RULE], "the server goes on")
    number = server.ask("textDocument/diagnostic", ask)
    server.notify("$/cancelRequest", {"id": number})
    check("result" in server.answer(number), "an answer that was given")
    check(server.end() == 0, "exit status")


def test_progress(serve, folder):
    """A check of more than a second is shown, and its end is said."""
    server = serve()
    server.initialize({"window": {"workDoneProgress": True}})
    server.open("k.cu", BAD)
    server.diagnostics("k.cu")
    server.change("k.cu", 2, SLOW)
    server.until(lambda: progress(server, "begin"), "progress")
    begun = progress(server, "begin")[0]
    created = [m["params"]["token"] for m in server.seen if m["method"] == "window/workDoneProgress/create"]
    check(created == [begun["token"]] and begun["value"]["message"] == "k.cu", "its beginning", begun)
    server.change("k.cu", 3, BAD)
    server.until(lambda: progress(server, "end"), "its end")
    check(progress(server, "end")[0]["token"] == begun["token"], "another end")
    server.diagnostics("k.cu", version=3)
    check(len(progress(server, "begin")) == len(progress(server, "end")), "one is open", server.seen)


def progress(server, kind):
    return [m["params"] for m in server.seen if m["method"] == "$/progress" and m["params"]["value"]["kind"] == kind]


def test_close_while_checking(serve, folder):
    server = serve()
    server.initialize(PULLS)
    server.open("k.cu", SLOW)
    number = server.ask("textDocument/diagnostic", {"textDocument": {"uri": server.uri("k.cu")}})
    server.quiet(0.4)
    server.close("k.cu")
    error = server.answer(number, 10)["error"]
    check(error["code"] == -32802 and not error["data"]["retriggerRequest"], "closed", error)
    check(server.end(10) == 0, "exit status")


def test_several_documents(serve, folder):
    server = serve()
    server.initialize()
    for i in range(6):
        server.open("k%d.cu" % i, BAD if i % 2 else GOOD)
    for i in range(6):
        check(codes(server.diagnostics("k%d.cu" % i)) == ([RULE] if i % 2 else []), "document %d" % i)
    server.change("k0.cu", 2, BAD)
    check(codes(server.diagnostics("k0.cu", version=2)) == [RULE], "one of them changed")
    check(server.end() == 0, "exit status")


def test_killed_worker(serve, folder):
    """The worker dies in the middle of a check: a diagnostic says so, the next edit is checked."""
    server = serve()
    server.initialize()
    server.open("k.cu", SLOW)
    deadline = time.monotonic() + 10
    while not server.workers() and time.monotonic() < deadline:
        server.quiet(0.05)
    server.quiet(0.7)
    workers = server.workers()
    check(workers, "no worker")
    for pid in workers:
        os.kill(pid, signal.SIGABRT)  # a sanitizer takes SIGSEGV for itself
    found = server.diagnostics("k.cu", version=1)
    check(codes(found) == ["not-checked"] and "crashed" in found[0]["message"], "the crash", found)
    server.until(server.logged, "a line in the log")
    for version in (2, 3):
        server.change("k.cu", version, BAD if version == 2 else fixed(BAD))
        check(codes(server.diagnostics("k.cu", version=version)) == ([RULE] if version == 2 else []), "after the crash")
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)  # idle ones
    server.change("k.cu", 4, BAD)
    check(codes(server.diagnostics("k.cu", version=4)) == [RULE], "after idle workers died")
    check(server.end() == 0, "exit status")


def test_same_as_check(serve, folder):
    """The second check of a document, from the unit that its worker keeps, says what kcheck says."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = sorted(glob.glob(os.path.join(root, "fixtures", "rules", "*", "*.cu")))[5::60]
    server = serve(cwd=root)
    server.initialize(encodings=["utf-8"])
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        server.open("file://" + path, text + "\n// edited\n")
        server.diagnostics("file://" + path, version=1)
        server.change("file://" + path, 2, text)
        found = server.diagnostics("file://" + path, version=2)
        done = subprocess.run([server.process.args[0], path, "--format", "json"], capture_output=True, text=True, cwd=root)
        report = json.loads(done.stdout)
        wanted = [(f["rule"], f["line"] - 1, f["column"] - 1) for f in report["findings"] if f["path"] == path]
        check(sorted((d["code"], *at(d)) for d in found if d["code"] != "not-checked") == sorted(wanted), path, found, wanted)
        reasons = ["not checked in %s: %s" % (k["instantiation"], "; ".join(k["not_checked"]))
                   for f in report["files"] for k in f["kernels"] if k["not_checked"]]
        check(sorted(d["message"] for d in found if d["code"] == "not-checked") == sorted(reasons), path, found, reasons)
        server.close("file://" + path)
    check(server.end() == 0, "exit status")
