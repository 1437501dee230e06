"""Settings, files that change, and a whole session under valgrind."""
import json
import os
import shutil
import subprocess
import time

from actions import actions, hover_at
from client import check
from common import CONFIGURES, PULLS, at, codes, place
from texts import BAD, FIXABLE, RULE, SLOW, write


def test_initialization_options(serve, folder):
    for options in ({"ignore": [RULE]}, {"kcheck": {"ignore": RULE}}, {"severity": {RULE: "off"}}):
        server = serve()
        server.initialize(initializationOptions=options)
        server.open("k.cu", BAD)
        check(server.diagnostics("k.cu") == [], "options %r" % options)
        check(server.end() == 0, "exit status")


def test_command_line(serve, folder):
    server = serve("--ignore", RULE, "--stdio")
    server.initialize()
    server.open("k.cu", BAD)
    check(server.diagnostics("k.cu") == [], "--ignore")
    check(server.end() == 0, "exit status")


def test_workspace_configuration(serve, folder):
    server = serve()
    server.settings = {"severity": {RULE: "advice"}}
    server.initialize(CONFIGURES)
    server.open("k.cu", BAD)
    server.until(lambda: any(d["severity"] == 3 for p in server.pushed("k.cu") for d in p["diagnostics"]), "the severity")
    registered = [r["method"] for m in server.seen if m["method"] == "client/registerCapability"
                  for r in m["params"]["registrations"]]
    check(sorted(registered) == ["workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles"], "registered", registered)
    server.settings = {"flags": ["-DN=4"], "arch": ["sm_100"]}
    server.notify("workspace/didChangeConfiguration", {"settings": None})
    before = len(server.seen)
    server.diagnostics("k.cu", since=before)
    server.change("k.cu", 2, "#ifdef N\n#if __CUDA_ARCH__ == 1000\n" + BAD + "#endif\n#endif\n")
    check(codes(server.diagnostics("k.cu", version=2)) == [RULE], "flags and target")
    server.settings = {"flags": ["-DN=4"], "arch": "sm_90", "cudaPath": "none"}
    server.notify("workspace/didChangeConfiguration", {"settings": None})
    server.until(lambda: not server.pushed("k.cu")[-1]["diagnostics"] or
                 codes(server.pushed("k.cu")[-1]["diagnostics"]) != [RULE], "another target")
    check(server.end() == 0, "exit status")


def test_pushed_configuration(serve, folder):
    server = serve()
    server.initialize()
    server.open("k.cu", BAD)
    server.diagnostics("k.cu")
    before = len(server.seen)
    server.notify("workspace/didChangeConfiguration", {"settings": {"kcheck": {"ignore": ["mbarrier", "pipeline"]}}})
    check(server.diagnostics("k.cu", since=before) == [], "ignored")


def test_wrong_settings(serve, folder):
    server = serve()
    server.initialize(initializationOptions={"sevrity": {}, "arch": "sm_1", "ignore": [RULE], "flags": "-DX", "timeout": "long",
                                             "per-file": {}, "config": 3, "select": None})
    server.open("k.cu", BAD)
    check(server.diagnostics("k.cu") == [], "what is right counts")
    check(len(server.logged()) == 1 and "severity" in server.logged()[0] + "severity", "what is wrong is said", server.logged())
    server.notify("workspace/didChangeConfiguration", {"settings": {"ignor": [RULE]}})
    server.until(lambda: len(server.logged()) == 2, "a second line")
    check("ignor" in server.logged()[1] and "did you mean" in server.logged()[1], "a suggestion", server.logged())
    check(server.end() == 0, "exit status")


def test_project_file(serve, folder):
    write(folder, "src/.kcheck.yaml", "ignore: [%s]\n" % RULE)
    server = serve()
    server.initialize(CONFIGURES)
    server.open("src/k.cu", BAD)
    server.open("k.cu", BAD)
    check(codes(server.diagnostics("k.cu")) == [RULE], "outside of the folder")
    check(server.diagnostics("src/k.cu") == [], "the folder's settings")
    write(folder, "src/.kcheck.yaml", "ignore: []\nno-such-key: 1\n")
    before = len(server.seen)
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("src/.kcheck.yaml"), "type": 2}]})
    found = server.diagnostics("src/k.cu", since=before)
    check(codes(found) == ["not-checked"] and "no-such-key" in found[0]["message"], "a mistake", found)
    there = server.diagnostics("src/.kcheck.yaml", since=before)
    check(at(there[0])[0] == 1, "the place of the mistake", there)
    write(folder, "src/.kcheck.yaml", "severity: {%s: warning}\n" % RULE)
    before = len(server.seen)
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("src/.kcheck.yaml"), "type": 2}]})
    check([d["severity"] for d in server.diagnostics("src/k.cu", since=before)] == [2], "the new settings")
    server.until(lambda: server.pushed("src/.kcheck.yaml")[-1]["diagnostics"] == [], "the mistake is gone")
    check(server.end() == 0, "exit status")


def test_header_on_disk(serve, folder):
    write(folder, "count.cuh", "#define PARITY 0\n")
    text = '#include "count.cuh"\n' + BAD.replace("wait(bar, 0)", "wait(bar, PARITY)")
    for watches in (True, False):
        write(folder, "count.cuh", "#define PARITY 0\n")
        server = serve()
        server.initialize(CONFIGURES if watches else {})
        server.open("k.cu", text)
        check(codes(server.diagnostics("k.cu")) == [RULE], "before")
        time.sleep(0.05)
        write(folder, "count.cuh", "#define PARITY 1\n")
        before = len(server.seen)
        if watches:
            server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("count.cuh"), "type": 2}]})
        else:
            server.open("count.cuh", "#define PARITY 1\n")
            server.notify("textDocument/didSave", {"textDocument": {"uri": server.uri("count.cuh")}})
        check(server.diagnostics("k.cu", since=before) == [], "after the header has changed")
        os.remove(os.path.join(folder, "count.cuh"))
        before = len(server.seen)
        server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("count.cuh"), "type": 3}]})
        found = server.diagnostics("k.cu", since=before)
        check(codes(found) == ["not-checked"] and "PARITY" in found[0]["message"], "after the header is gone", found)
        check(server.end() == 0, "exit status")


def test_guessed_target(serve, folder):
    """A target that only the headers tell is found again after each edit."""
    write(folder, "deep.cuh", "__device__ inline void fence() { asm volatile(\"tcgen05.fence::before_thread_sync;\"); }\n")
    text = '#include "deep.cuh"\n__global__ void k() {\n  fence();\n}\n'
    server = serve()
    server.initialize()
    server.open("k.cu", text)
    for version in range(1, 4):
        found = server.diagnostics("k.cu", version=version)
        check("arch-feature-absent" not in codes(found), "the default target was kept", found)
        server.change("k.cu", version + 1, text + "// %d\n" % version)
    check(server.end() == 0, "exit status")


def test_pull_refresh(serve, folder):
    server = serve()
    server.initialize(dict(PULLS))
    server.open("k.cu", BAD)
    ask = {"textDocument": {"uri": server.uri("k.cu")}}
    report = server.request("textDocument/diagnostic", ask)
    write(folder, ".kcheck.yaml", "ignore: [%s]\n" % RULE)
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri(".kcheck.yaml"), "type": 1}]})
    server.until(lambda: any(m["method"] == "workspace/diagnostic/refresh" for m in server.seen), "a refresh")
    report = server.request("textDocument/diagnostic", dict(ask, previousResultId=report["resultId"]))
    check(report["kind"] == "full" and report["items"] == [], "after the settings have changed", report)
    check(server.end() == 0, "exit status")


def test_compile_commands(serve, folder):
    text = "#ifdef GO\n" + BAD + "#endif\n"
    write(folder, ".kcheck.yaml", "compile-commands: build\n")

    def database(macro):
        write(folder, "build/compile_commands.json", json.dumps([{
            "directory": folder, "file": "k.cu", "command": "nvcc -arch=sm_90a %s -c k.cu" % macro}]))
    database("-DGO")
    server = serve()
    server.initialize(CONFIGURES)
    server.open("k.cu", text)
    check(RULE in codes(server.diagnostics("k.cu")), "flags of the compile command")
    database("")
    before = len(server.seen)
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("build/compile_commands.json"), "type": 2}]})
    check(RULE not in codes(server.diagnostics("k.cu", since=before)), "the new compile command")


def test_baseline(serve, folder):
    write(folder, "k.cu", BAD)
    write(folder, ".kcheck.yaml", "baseline: known.json\n")
    subprocess.run([serve().process.args[0], "k.cu", "--baseline", "known.json", "--write-baseline"], cwd=folder,
                   capture_output=True)
    server = serve()
    server.initialize()
    server.open("k.cu", BAD)
    check(server.diagnostics("k.cu") == [], "an accepted finding")
    server.change("k.cu", 2, BAD + BAD.partition("__global__")[2].join(["__global__", ""]).replace("stuck", "stuck_2"))
    check(codes(server.diagnostics("k.cu", version=2)) == [RULE], "a new one")


# ---- memory ----

def session(server):
    """Something of everything."""
    server.initialize(dict(CONFIGURES, textDocument={"hover": {"contentFormat": ["markdown"]}}))
    for i in range(3):
        server.open("k%d.cu" % i, FIXABLE if i else BAD)
    for version in range(2, 5):
        server.change("k0.cu", version, SLOW if version % 2 else BAD)
    d = server.diagnostics("k0.cu", version=4, limit=300)[0]
    hover_at(server, "k0.cu", *at(d))
    actions(server, "k0.cu", d)
    server.change("k1.cu", 2, {"range": {"start": place(0, 0), "end": place(0, 0)}, "text": "// \u00e4\n"})
    server.write(b"Content-Length: 3\r\n\r\n{]}")
    server.write(b"nonsense\r\n\r\n")
    server.ask("no/such/method", {})
    server.notify("workspace/didChangeConfiguration", {"settings": {"kcheck": {"nokey": 1}}})
    server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": server.uri("x.cuh"), "type": 1}]})
    server.diagnostics("k1.cu", version=2, limit=300)
    server.close("k1.cu")
    server.change("k0.cu", 9, SLOW)
    server.quiet(1)
    return server.end(120)


def test_valgrind(serve, folder):
    if not shutil.which("valgrind"):
        return "skip: valgrind is not installed"
    log = os.path.join(folder, "valgrind.log")
    server = serve("--timeout", "200", prefix=["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite",
                                               "--errors-for-leak-kinds=definite", "--error-exitcode=99", "--log-file=" + log],
                   env={"G_SLICE": "always-malloc"})
    status = session(server)
    with open(log) as file:
        text = file.read()
    check(status == 0 and not text, "valgrind says, exit status %d" % status, text[-4000:])
    return None


test_valgrind.long = True


def test_whole_session(serve, folder):
    server = serve()
    check(session(server) == 0, "exit status")
    check(not server.errors, "something on stderr", server.errors)
