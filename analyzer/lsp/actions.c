/* textDocument/codeAction: the fixes that findings carry, all safe ones at once, and directives
 * that suppress a finding. */
#include <string.h>

#include "lsp/internal.h"

#define QUICK_FIX "quickfix"
#define FIX_ALL "source.fixAll.kcheck"
/* A directive needs a reason, which only a person knows. */
#define REASON "say here why this is right"

typedef struct {
  LspServer *server;
  const LspDocument *document;
  const json_t *only; /* kinds that are wanted, or NULL: quick fixes */
  LspSpan at;
  json_t *actions;
} Ask;

/* Whether a kind is asked for, by its name or by one that it is a part of ("source.fixAll"). */
static bool wants(const Ask *ask, const char *kind) {
  size_t i;
  json_t *item;
  if (!json_is_array(ask->only)) return strcmp(kind, QUICK_FIX) == 0;
  json_array_foreach(ask->only, i, item) {
    const char *name = json_string_value(item);
    gsize size = name ? strlen(name) : 0;
    if (name && strncmp(kind, name, size) == 0 && (!kind[size] || kind[size] == '.' || !size))
      return true;
  }
  return false;
}

static json_t *edit_json(const Ask *ask, LspSpan span, const char *text) {
  json_t *range = lsp_text_range(&ask->document->text, span, ask->server->client.encoding);
  return json_pack("{so ss}", "range", range, "newText", text);
}

/* Adds the action that makes `edits` (taken over). `of`: the finding that it deals with, or NULL.
 */
static void add_action(const Ask *ask, const char *kind, const char *title, bool preferred,
                       json_t *edits, const Finding *of) {
  const LspDocument *document = ask->document;
  json_t *change = ask->server->client.document_changes
                       ? json_pack("{s[{s{ss sI} so}]}", "documentChanges", "textDocument", "uri",
                                   document->uri, "version", document->version, "edits", edits)
                       : json_pack("{s{so}}", "changes", document->uri, edits);
  json_t *action = json_pack("{ss ss so}", "title", title, "kind", kind, "edit", change);
  if (preferred) json_object_set_new(action, "isPreferred", json_true());
  if (of)
    json_object_set_new(action, "diagnostics", json_pack("[o]", lsp_finding_json(document, of)));
  json_array_append_new(ask->actions, action);
}

static LspSpan fix_span(const LspDocument *document, const Finding *f) {
  LspSpan span = {lsp_text_offset(&document->text, f->fix_line, f->fix_column),
                  lsp_text_offset(&document->text, f->fix_end_line, f->fix_end_column)};
  return (LspSpan){span.begin, MAX(span.begin, span.end)};
}

static void add_fix(const Ask *ask, const Finding *f) {
  if (!f->fix_text) return;
  g_autofree char *title =
      g_strdup_printf("Fix %s%s", f->rule, f->fix_safe ? "" : " (may change what the kernel does)");
  json_t *edit = edit_json(ask, fix_span(ask->document, f), f->fix_text);
  add_action(ask, QUICK_FIX, title, f->fix_safe, json_pack("[o]", edit), f);
}

static void add_suppression(const Ask *ask, const Finding *f, const char *directive, guint line,
                            const char *title) {
  const LspText *text = &ask->document->text;
  LspSpan span = lsp_text_line_span(text, line);
  gsize indent = span.begin;
  while (indent < span.end && (text->bytes->str[indent] == ' ' || text->bytes->str[indent] == '\t'))
    indent++;
  g_autofree char *blanks = g_strndup(text->bytes->str + span.begin, indent - span.begin);
  g_autofree char *comment =
      g_strdup_printf("%s// kcheck: %s[%s] " REASON "%s", blanks, directive, f->rule,
                      text->bytes->str[span.end] == '\r' ? "\r\n" : "\n");
  json_t *edit = edit_json(ask, (LspSpan){span.begin, span.begin}, comment);
  add_action(ask, QUICK_FIX, title, false, json_pack("[o]", edit), f);
}

/* A comment between the lines of a macro would end it. */
static bool continues(const LspText *text, guint line) {
  if (line == 0) return false;
  LspSpan before = lsp_text_line_span(text, line - 1);
  return before.end > before.begin && text->bytes->str[before.end - 1] == '\\';
}

static void add_suppressions(const Ask *ask, const Finding *f) {
  /* What kcheck says about directives themselves is mended, not hidden. */
  if (g_str_has_prefix(f->rule, "kcheck-")) return;
  const LspText *text = &ask->document->text;
  guint line = lsp_text_line(text, lsp_finding_span(ask->document, f).begin);
  g_autofree char *here = g_strdup_printf("Suppress %s here, with a reason", f->rule);
  g_autofree char *file = g_strdup_printf("Suppress %s in this file, with a reason", f->rule);
  if (!continues(text, line)) add_suppression(ask, f, "ignore", line, here);
  add_suppression(ask, f, "ignore-file", 0, file);
}

/* Whether an earlier finding of the same rule stands on the same line: one directive hides both. */
static bool repeats(const GPtrArray *findings, guint index) {
  const Finding *f = findings->pdata[index];
  for (guint i = 0; i < index; i++) {
    const Finding *other = findings->pdata[i];
    if (other->line == f->line && strcmp(other->rule, f->rule) == 0 &&
        strcmp(other->path, f->path) == 0)
      return true;
  }
  return false;
}

static void add_quick_fixes(const Ask *ask) {
  const GPtrArray *findings = ask->document->report->findings;
  for (int fixes = 1; fixes >= 0; fixes--)
    for (guint i = 0; i < findings->len; i++) {
      const Finding *f = findings->pdata[i];
      LspSpan span = lsp_finding_span(ask->document, f);
      if (!lsp_is_own(ask->document, f) || span.begin > ask->at.end || span.end < ask->at.begin)
        continue;
      if (fixes)
        add_fix(ask, f);
      else if (!repeats(findings, i))
        add_suppressions(ask, f);
    }
}

static gint by_begin(gconstpointer a, gconstpointer b, gpointer data) {
  const LspDocument *document = data;
  LspSpan x = fix_span(document, *(Finding *const *)a),
          y = fix_span(document, *(Finding *const *)b);
  return (x.begin > y.begin) - (x.begin < y.begin);
}

/* All safe fixes; of two that overlap the first: the other comes up again. */
static void add_fix_all(const Ask *ask) {
  const GPtrArray *findings = ask->document->report->findings;
  g_autoptr(GPtrArray) fixes = g_ptr_array_new();
  for (guint i = 0; i < findings->len; i++) {
    Finding *f = findings->pdata[i];
    if (f->fix_text && f->fix_safe && lsp_is_own(ask->document, f)) g_ptr_array_add(fixes, f);
  }
  if (fixes->len == 0) return;
  g_ptr_array_sort_with_data(fixes, by_begin, (gpointer)ask->document);
  json_t *edits = json_array();
  gsize end = 0;
  for (guint i = 0; i < fixes->len; i++) {
    LspSpan span = fix_span(ask->document, fixes->pdata[i]);
    if (i > 0 && span.begin <= end) continue;
    json_array_append_new(edits, edit_json(ask, span, ((Finding *)fixes->pdata[i])->fix_text));
    end = span.end;
  }
  add_action(ask, FIX_ALL, "Apply all safe fixes of kcheck", false, edits, NULL);
}

static void answer(LspServer *server, LspDocument *document, json_t *id, const json_t *params) {
  Ask ask = {.server = server,
             .document = document,
             .only = lsp_at(params, "context", "only", NULL),
             .actions = json_array()};
  if (!lsp_text_span(&document->text, json_object_get(params, "range"), server->client.encoding,
                     &ask.at)) {
    json_decref(ask.actions);
    lsp_refuse(server, id, LSP_INVALID_PARAMS, "textDocument/codeAction without a range");
    return;
  }
  if (wants(&ask, QUICK_FIX)) add_quick_fixes(&ask);
  if (wants(&ask, FIX_ALL)) add_fix_all(&ask);
  lsp_reply(server, id, ask.actions);
}

void lsp_code_action(LspServer *server, const json_t *id, const json_t *params) {
  LspDocument *document = lsp_document(server, params);
  if (document)
    lsp_wait(server, document, id, params, answer);
  else
    lsp_refuse(server, id, LSP_INVALID_PARAMS,
               "textDocument/codeAction in a document that is not open");
}
