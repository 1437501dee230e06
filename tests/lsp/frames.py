"""Bytes that are no messages, and messages that are cut into pieces."""
import json
import random

from client import check, frame
from texts import BAD, RULE


def refusals(server):
    return [m["error"] for m in server.answers.values() if m["id"] is None]


def expect_refused(server, data, code, word):
    """Sends bytes; one refusal without an id must come."""
    server.answers.pop(None, None)
    server.write(data)
    error = server.answer(None, 20)["error"]
    check(error["code"] == code and word in error["message"], "%r: refused with %r" % (data[:60], error))


def test_broken_frames(serve, folder):
    server = serve()
    server.initialize()
    ping = frame({"jsonrpc": "2.0", "method": "$/nothing"})
    for data, code, word in (
            (b"Content-Length: 2\r\n\r\n{]", -32700, "not JSON"),
            (b"Content-Length: 0\r\n\r\n", -32700, "not JSON"),
            (b"Content-Length: 4\r\n\r\n\xff\xfe{}", -32700, "not JSON"),
            (b"Content-Length: five\r\n\r\n{}", -32700, "not a number"),
            (b"Content-Length: -5\r\n\r\n{}", -32700, "not a number"),
            (b"Content-Length: 99999999999999999999\r\n\r\n{}", -32700, "not a number"),
            (b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}", -32700, "without Content-Length"),
            (b"\r\n\r\n", -32700, "without Content-Length"),
            (b"GET / HTTP/1.1\r\n\r\n", -32700, "Name: value"),
            (b"{\"jsonrpc\": \"2.0\", \"id\": 1}\r\n", -32700, "Name: value"),
            (b"X: " + b"y" * 5000, -32700, "does not end"),
            (b"Content-Length: 2\r\nContent-Type: text/plain; charset=latin-1\r\n\r\n{}", -32700, "UTF-8"),
            (frame(b"[1, 2]"), -32600, "batches"), (frame(b"7"), -32600, "JSON-RPC"), (frame(b"null"), -32600, "JSON-RPC"),
            (frame({"method": "x"}), -32600, "JSON-RPC"), (frame({"jsonrpc": "1.0", "method": "x"}), -32600, "JSON-RPC"),
            (frame({"jsonrpc": "2.0", "method": 5}), -32600, "JSON-RPC"), (frame({"jsonrpc": "2.0"}), -32600, "JSON-RPC"),
            (frame({"jsonrpc": "2.0", "id": {}, "method": "shutdown"}), -32600, "JSON-RPC"),
            (frame(b"[" * 100000), -32700, "not JSON")):
        expect_refused(server, data, code, word)
        server.write(ping)
        check(server.refusal("still/alive")["code"] == -32601, "after %r" % data[:60])
    server.open("k.cu", BAD)
    check([d["code"] for d in server.diagnostics("k.cu")] == [RULE], "the server works on")
    check(server.end() == 0, "exit status")


def test_named_invalid_request(serve, folder):
    server = serve()
    server.initialize()
    server.write(frame({"jsonrpc": "1.0", "id": "abc", "method": "shutdown"}))
    check(server.answer("abc")["error"]["code"] == -32600, "the id is given back")
    server.send(id="text id", method="textDocument/hover", params={})
    check(server.answer("text id")["error"]["code"] == -32602, "an id that is a text")
    server.send(id=4711, result=None)
    server.send(id=4712, error={"code": 1, "message": "no"})
    check(server.end() == 0, "exit status")


def test_too_large(serve, folder):
    server = serve()
    server.initialize()
    size = 300 << 20
    server.answers.pop(None, None)
    server.write(b"Content-Length: %d\r\n\r\n" % size)
    chunk = b" " * (1 << 20)
    for _ in range(size // len(chunk)):
        server.write(chunk)
    check("too large" in server.answer(None, 60)["error"]["message"], "a message of 300 MB")
    with open("/proc/%d/status" % server.process.pid) as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    check(peak < 100 << 10, "it was kept: %d KB" % peak)
    check(server.end() == 0, "exit status")


def test_pieces(serve, folder):
    """Messages byte by byte, several in one write, and headers in another order."""
    server = serve()
    server.initialize()
    opened = json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": server.uri("k.cu"), "languageId": "cuda", "version": 1, "text": BAD + "// \u00e4\U0001f600\n"}}},
        ensure_ascii=False).encode()
    header = b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\ncontent-length:%d\r\n\r\n" % len(opened)
    for byte in header + opened:
        server.write(bytes([byte]))
    check([d["code"] for d in server.diagnostics("k.cu")] == [RULE], "byte by byte")
    server.write(b"".join(frame({"jsonrpc": "2.0", "id": "m%d" % i, "method": "no/%d" % i}) for i in range(200)))
    for i in range(200):
        check(server.answer("m%d" % i)["error"]["code"] == -32601, "message %d of many" % i)
    check(server.end() == 0, "exit status")


def test_reader_that_is_slow(serve, folder):
    """A client that writes a lot before it reads: neither may wait for the other for ever."""
    server = serve()
    server.initialize()
    many = 40000
    server.write(b"".join(frame({"jsonrpc": "2.0", "id": "s%d" % i, "method": "no/such/method/at/all"}) for i in range(many)))
    for i in range(many):
        server.answer("s%d" % i)
    check(server.end() == 0, "exit status")


def mutants(random_source, sessions, count):
    """Streams with bytes changed, cut out, doubled, or of another message."""
    for _ in range(count):
        data = bytearray(random_source.choice(sessions))
        for _ in range(random_source.randint(1, 8)):
            at = random_source.randrange(len(data) or 1)
            kind = random_source.randrange(5)
            if kind == 0 and data:
                data[at] = random_source.randrange(256)
            elif kind == 1:
                del data[at:at + random_source.randint(1, 60)]
            elif kind == 2:
                data[at:at] = data[at:at + random_source.randint(1, 60)]
            elif kind == 3:
                data[at:at] = bytes(random_source.randrange(256) for _ in range(random_source.randint(1, 20)))
            else:
                data[at:at] = random_source.choice([b"Content-Length: 7\r\n\r\n", b"\r\n\r\n", b"\0", b"{", b"-1", b"\"line\":9e9"])
        yield bytes(data)


def test_fuzzed_frames(serve, folder):
    """Broken sessions: the server answers, ends with status 0 or 1, and never otherwise."""
    uri = "file://%s/k.cu" % folder
    document = {"textDocument": {"uri": uri}}
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "version": 1, "text": "int a;\n\u00e4\n"}}},
        {"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 1}}, "text": "\U0001f600"}]}},
        {"id": 2, "method": "textDocument/hover", "params": dict(document, position={"line": 0, "character": 3})},
        {"id": 3, "method": "textDocument/codeAction", "params": dict(document, range={
            "start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 9}}, context={"diagnostics": []})},
        {"id": 4, "method": "textDocument/diagnostic", "params": document},
        {"method": "$/cancelRequest", "params": {"id": 4}},
        {"method": "workspace/didChangeConfiguration", "params": {"settings": {"kcheck": {"arch": "sm_90"}}}},
        {"method": "workspace/didChangeWatchedFiles", "params": {"changes": [{"uri": uri, "type": 2}]}},
        {"method": "textDocument/didClose", "params": document},
    ]
    whole = [frame(dict({"jsonrpc": "2.0"}, **m)) for m in messages]
    start = whole[0] + whole[1]
    sessions = [b"".join(whole), whole[2] + whole[3], whole[3], whole[8] + whole[9], whole[4] + whole[5] + whole[6]]
    random_source = random.Random(17)
    for data in mutants(random_source, sessions, 150):
        server = serve()
        try:
            server.write(start + whole[2] + data)
            server.process.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            pass
        status = server.process.wait(timeout=60)
        check(status in (0, 1), "exit status %d" % status, data, server.errors[-1500:])
        check(not server.errors, "something on stderr", data, server.errors[-1500:])
        server.kill()
