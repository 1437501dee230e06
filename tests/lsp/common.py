"""What several files of cases use."""
PULLS = {"textDocument": {"diagnostic": {"relatedDocumentSupport": True}},
         "workspace": {"diagnostics": {"refreshSupport": True}}}
CONFIGURES = {"workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True},
                            "didChangeWatchedFiles": {"dynamicRegistration": True}}}


def codes(diagnostics):
    return sorted(d["code"] for d in diagnostics)


def place(line, character):
    return {"line": line, "character": character}


def at(diagnostic):
    start = diagnostic["range"]["start"]
    return start["line"], start["character"]
