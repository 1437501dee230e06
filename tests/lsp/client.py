"""A client of the language server for tests: sends messages, keeps what comes back."""
import json
import os
import queue
import subprocess
import threading
import time


class Failure(Exception):
    pass


def check(condition, message, *values):
    if not condition:
        raise Failure(message + "".join("\n    %r" % (v,) for v in values))


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def read_messages(stream, put):
    """Hands on every message until the stream ends, then None; a frame that is none is a text."""
    while True:
        length = None
        while True:
            try:
                line = stream.readline()
            except ValueError:  # closed by kill()
                line = b""
            if not line:
                put(None)
                return
            if line in (b"\r\n", b"\n"):
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = stream.read(length) if length is not None else b""
        try:
            put(json.loads(body.decode("utf-8")))
        except ValueError:
            put("not a message: %r" % body[:200])


class Client:
    """One server process. `settings` is what it gets for workspace/configuration."""

    def __init__(self, command, cwd, env=None):
        environment = dict(os.environ, **(env or {}))
        self.process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.folder = cwd
        self.settings = {}
        self.incoming = queue.Queue()
        self.seen = []  # notifications and requests of the server, in order
        self.answers = {}
        self.next_id = 0
        self.errors = b""
        self.reader = threading.Thread(target=read_messages, args=(self.process.stdout, self.incoming.put), daemon=True)
        self.reader.start()
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        for chunk in iter(lambda: self.process.stderr.read(4096), b""):
            self.errors += chunk

    # ---- sending ----

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **message):
        self.write(frame(dict({"jsonrpc": "2.0"}, **message)))

    def notify(self, method, params=None):
        self.send(method=method, **({} if params is None else {"params": params}))

    def ask(self, method, params=None):
        self.next_id += 1
        self.send(id=self.next_id, method=method, **({} if params is None else {"params": params}))
        return self.next_id

    def uri(self, name):
        return "file://" + os.path.join(self.folder, name) if "://" not in name and ":" not in name else name

    def open(self, name, text, language="cuda", version=1):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": self.uri(name), "languageId": language,
                                                              "version": version, "text": text}})

    def change(self, name, version, *changes):
        changes = [c if isinstance(c, dict) else {"text": c} for c in changes]
        self.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(name), "version": version},
                                               "contentChanges": changes})

    def close(self, name):
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    # ---- receiving ----

    def take(self, deadline):
        """The next message; answers what the server asks."""
        try:
            message = self.incoming.get(timeout=max(deadline - time.monotonic(), 0.001))
        except queue.Empty:
            return False
        if message is None:
            self.incoming.put(None)
            raise Failure("the server has ended", self.errors[-2000:].decode("utf-8", "replace"))
        if isinstance(message, str):
            raise Failure(message)
        if "method" in message:
            self.seen.append(message)
            if "id" in message:
                result = [self.settings] if message["method"] == "workspace/configuration" else None
                self.send(id=message["id"], result=result)
        else:
            self.answers[message["id"]] = message
        return True

    def until(self, condition, what, limit=60):
        deadline = time.monotonic() + limit
        while not condition():
            if not self.take(deadline) and time.monotonic() > deadline:
                raise Failure("waited %g s for %s" % (limit, what), self.seen[-3:],
                              self.errors[-2000:].decode("utf-8", "replace"))

    def answer(self, number, limit=60):
        self.until(lambda: number in self.answers, "the answer to request %r" % number, limit)
        return self.answers.pop(number)

    def request(self, method, params=None, limit=60):
        message = self.answer(self.ask(method, params), limit)
        check("result" in message, "%s was refused" % method, message)
        return message["result"]

    def refusal(self, method, params=None, limit=60):
        message = self.answer(self.ask(method, params), limit)
        check("error" in message, "%s was not refused" % method, message)
        return message["error"]

    def pushed(self, name, since=0):
        """The publishDiagnostics of a file, from place `since` in self.seen on."""
        uri = self.uri(name)
        return [m["params"] for m in self.seen[since:]
                if m["method"] == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri]

    def diagnostics(self, name, version=None, since=0, limit=60):
        """Waits for the diagnostics of a file (of that version)."""
        def there():
            return [p for p in self.pushed(name, since) if version is None or p.get("version") == version]
        self.until(there, "diagnostics of %s, version %r" % (name, version), limit)
        return there()[-1]["diagnostics"]

    def quiet(self, seconds):
        """Takes what comes in that time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.take(deadline)

    def logged(self):
        return [m["params"]["message"] for m in self.seen if m["method"] == "window/logMessage"]

    # ---- the session ----

    def initialize(self, capabilities=None, encodings=None, **more):
        capabilities = dict(capabilities or {})
        if encodings is not None:
            capabilities["general"] = {"positionEncodings": encodings}
        params = dict({"processId": os.getpid(), "rootUri": self.uri(""), "capabilities": capabilities}, **more)
        result = self.request("initialize", params)
        self.notify("initialized", {})
        return result

    def workers(self):
        """Process ids below the server's."""
        children = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open("/proc/%s/stat" % name) as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(name))
        below, ask = [], [self.process.pid]
        while ask:
            found = children.get(ask.pop(), [])
            below += found
            ask += found
        return below

    def end(self, limit=30):
        """shutdown and exit; returns the exit status."""
        self.request("shutdown", limit=limit)
        self.notify("exit")
        return self.process.wait(timeout=limit)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass
