/* textDocument/hover: the rule of a finding, or of a name in `kcheck: ignore[...]`, and its page.
 */
#include <string.h>

#include "knowledge/explain.h"
#include "lsp/internal.h"

/* More of a page's section than this is for `kcheck page`. */
enum { MAX_SECTION = 3000 };

/* Rules and pages are read when they are first asked for; what is wrong with them is said once. */
static bool load_knowledge(LspServer *server) {
  KcError error = {0};
  if (!server->rules) server->rules = rules_load(&error);
  if (server->rules && !server->pages) server->pages = pages_load(&error);
  if (server->rules && server->pages) return true;
  g_autofree char *text = kc_error_text(&error);
  lsp_log(server, LSP_LOG_ERROR, "%s", text);
  kc_error_clear(&error);
  return false;
}

static void code_block(GString *out, const char *title, const char *code) {
  if (!code) return;
  g_string_append_printf(out, "\n**%s**\n```cuda\n%s%s```\n", title, code,
                         g_str_has_suffix(code, "\n") ? "" : "\n");
}

/* A page says for which target an example is; an editor knows only languages. */
static void append_section(GString *out, const char *text) {
  for (const char *fence; (fence = strstr(text, "```cuda ")) != NULL;) {
    fence += strlen("```cuda");
    g_string_append_len(out, text, fence - text);
    text = fence + strcspn(fence, "\n");
  }
  g_string_append(out, text);
}

/* The section of the page that the rule points to, cut at a paragraph when it is long. */
static void page_markdown(GString *out, const LspServer *server, const Rule *rule) {
  const Page *page = pages_find(server->pages, rule->page, NULL);
  const PageSection *section = page ? page_section(page, rule->anchor, NULL) : NULL;
  if (!section) return;
  g_string_append_printf(out, "\n---\n**%s**: %s\n\n", page->title, section->title);
  gsize length = strlen(section->text);
  if (length > MAX_SECTION) {
    const char *cut = g_strrstr_len(section->text, MAX_SECTION, "\n\n");
    length = cut ? (gsize)(cut - section->text) : 0;
  }
  g_autofree char *text = g_strndup(section->text, length);
  append_section(out, g_strchomp(text));
  g_string_append_printf(out, "\n\n`kcheck page %s` has it all\n", page->id);
}

static void rule_markdown(GString *out, const LspServer *server, const Rule *rule) {
  g_string_append_printf(out, "%s\n\n**Found when** %s\n\n**Why it is bad** %s\n\n**Do** %s\n",
                         rule->summary, rule->trigger, rule->consequence, rule->help);
  code_block(out, "Bad", rule->bad);
  code_block(out, "Good", rule->good);
  page_markdown(out, server, rule);
  g_string_append_printf(out, "\n`kcheck explain %s`\n", rule->id);
}

static void finding_markdown(GString *out, const LspServer *server, const Finding *f,
                             const Rule *rule) {
  g_string_append_printf(out, "### %s\n%s, %s\n\n", f->rule, severity_name(f->severity),
                         f->confidence);
  g_string_append_printf(out, "%s\n\n", f->message);
  if (f->witness_text) g_string_append_printf(out, "```text\n%s\n```\n", f->witness_text);
  if (rule) rule_markdown(out, server, rule);
  if (f->url && strstr(f->url, "://"))
    g_string_append_printf(out, "\n[documentation](%s)\n", f->url);
}

static void finding_plain(GString *out, const Finding *f, const Rule *rule) {
  g_string_append_printf(out, "%s: %s\n", severity_name(f->severity), f->message);
  if (f->witness_text) g_string_append_printf(out, "%s\n", f->witness_text);
  g_string_append_c(out, '\n');
  if (rule) knowledge_explain(rule, out);
}

static const Rule *rule_called(LspServer *server, const char *name) {
  return load_knowledge(server) ? rules_find(server->rules, name, NULL) : NULL;
}

/* The findings at `offset`; widens *span to what they cover. */
static void findings_at(LspDocument *document, gsize offset, GString *out, LspSpan *span) {
  LspServer *server = document->server;
  for (guint i = 0; document->current && i < document->report->findings->len; i++) {
    const Finding *f = document->report->findings->pdata[i];
    LspSpan own = lsp_finding_span(document, f);
    if (!lsp_is_own(document, f) || offset < own.begin || offset > own.end) continue;
    const Rule *rule = rule_called(server, f->rule);
    if (out->len > 0) g_string_append(out, server->client.markdown ? "\n---\n" : "\n\n");
    if (server->client.markdown)
      finding_markdown(out, server, f, rule);
    else
      finding_plain(out, f, rule);
    *span = own;
  }
}

static bool is_name(char c) {
  return g_ascii_isalnum(c) || c == '-';
}

/* The rule named under the cursor in a `kcheck: ignore[...]`. */
static void directive_at(LspDocument *document, gsize offset, GString *out, LspSpan *span) {
  LspServer *server = document->server;
  LspSpan line = lsp_text_line_span(&document->text, lsp_text_line(&document->text, offset));
  const char *bytes = document->text.bytes->str;
  const char *directive =
      g_strstr_len(bytes + line.begin, (gssize)(line.end - line.begin), "kcheck: ignore");
  if (!directive || bytes + offset < directive) return;
  LspSpan word = {offset, offset};
  while (word.begin > line.begin && is_name(bytes[word.begin - 1]))
    word.begin--;
  while (word.end < line.end && is_name(bytes[word.end]))
    word.end++;
  g_autofree char *name = g_strndup(bytes + word.begin, word.end - word.begin);
  const Rule *rule = *name ? rule_called(server, name) : NULL;
  if (!rule) return;
  *span = word;
  if (server->client.markdown) {
    g_string_append_printf(out, "### %s\n", rule->id);
    rule_markdown(out, server, rule);
  } else {
    knowledge_explain(rule, out);
  }
}

void lsp_hover(LspServer *server, const json_t *id, const json_t *params) {
  LspDocument *document = lsp_document(server, params);
  const json_t *position = json_object_get(params, "position");
  LspSpan at;
  json_t *range = json_pack("{sO? sO?}", "start", position, "end", position);
  bool placed = document && lsp_text_span(&document->text, range, server->client.encoding, &at);
  json_decref(range);
  if (!placed) {
    lsp_refuse(server, id, LSP_INVALID_PARAMS,
               document ? "textDocument/hover without a position"
                        : "textDocument/hover in a document that is not open");
    return;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  LspSpan span = at;
  findings_at(document, at.begin, text, &span);
  if (text->len == 0) directive_at(document, at.begin, text, &span);
  if (text->len == 0) {
    lsp_reply(server, id, json_null());
    return;
  }
  lsp_reply(server, id,
            json_pack("{s{ss ss} so}", "contents", "kind",
                      server->client.markdown ? "markdown" : "plaintext", "value", text->str,
                      "range", lsp_text_range(&document->text, span, server->client.encoding)));
}
