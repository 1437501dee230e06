/* Violations to findings: which rule, how severe, in which words, at which place, and whether the
 * source says to leave it. */
#include <string.h>

#include "rules/finding.h"
#include "rules/mend.h"
#include "rules/message.h"
#include "rules/place.h"
#include "rules/rules.h"
#include "rules/select.h"
#include "rules/suppress.h"

typedef struct Apply {
  const Rules *rules;
  const IrProgram *program;
  const RulesOptions *options;
  Places *places;
  Suppressions *suppressions;
  GPtrArray *findings;
  GPtrArray *hidden; /* by a suppression: what mirrors one of them is hidden with it */
} Apply;

static char *joined_witness(const IrViolation *v) {
  GString *text = g_string_new(NULL);
  for (int i = 0; i < v->witness.count; i++)
    g_string_append_printf(text, "%s%s", i ? "\n" : "", v->witness.items[i]);
  if (v->assumed) g_string_append_printf(text, "%sassumes %s", text->len ? "\n" : "", v->assumed);
  bool empty = text->len == 0;
  return g_string_free(text, empty);
}

static void copy_inputs(const IrViolation *v, Finding *finding) {
  for (int i = 0; i < v->inputs.count; i++) {
    g_ptr_array_add(finding->witness_names, g_strdup(v->inputs.items[i].name));
    g_ptr_array_add(finding->witness_values, g_strdup(v->inputs.items[i].value));
  }
}

/* A fix applies to the file of the finding; one elsewhere is left out. */
static void copy_fix(const Apply *apply, const IrViolation *v, Finding *finding) {
  g_autofree char *path = v->fix_text ? place_path(apply->places, v->fix_range) : NULL;
  if (!path || strcmp(path, finding->path) != 0) return;
  finding->fix_text = g_strdup(v->fix_text);
  finding->fix_line = (int)v->fix_range.line;
  finding->fix_column = (int)v->fix_range.column;
  finding->fix_end_line = (int)v->fix_range.end_line;
  finding->fix_end_column = (int)v->fix_range.end_column;
  finding->fix_safe = v->fix_safe;
}

static char *url_of(const Apply *apply, const Rule *rule) {
  const char *base = apply->options->docs_base;
  const char *slash = base && !g_str_has_suffix(base, "/") ? "/" : "";
  return g_strdup_printf("%s%srules/%s.html", base ? base : "", slash, rule->id);
}

/* A message and a help are one line each, whatever an engine wrote. */
static char *one_line(const char *text) {
  return g_strdelimit(g_strdup(text), "\n\r\t", ' ');
}

static Finding *start(const Apply *apply, const Rule *rule, Severity severity) {
  Finding *finding = finding_new();
  finding->rule = g_strdup(rule->id);
  finding->severity = severity;
  finding->file = g_strdup(apply->program->path);
  finding->confidence = g_strdup("proved");
  finding->help = g_strdup(rule->help);
  finding->page = g_strdup(rule->page);
  finding->anchor = g_strdup(rule->anchor);
  finding->url = url_of(apply, rule);
  if (apply->options->arch) g_ptr_array_add(finding->archs, g_strdup(apply->options->arch));
  return finding;
}

/* Keeps `finding` for the report, or with those that the source says to leave. */
static void finish(Apply *apply, const Rule *rule, Finding *finding) {
  mend_suggest(apply->program, finding);
  bool hide = suppress(apply->suppressions, rule, finding->path, finding->line, finding->end_line);
  g_ptr_array_add(hide ? apply->hidden : apply->findings, finding);
}

static void apply_violation(Apply *apply, const IrViolation *v) {
  const Rule *rule = rules_detecting(apply->rules, v->kind);
  bool known = rule != NULL;
  if (!known) rule = rules_detecting(apply->rules, "kcheck-unknown-kind");
  if (!rule) return;
  Severity severity = select_severity(rule, v->confidence, apply->options);
  if (severity == SEVERITY_OFF) return;
  Finding *finding = start(apply, rule, severity);
  if (v->confidence != IR_PROVED_FORCED && v->confidence != IR_PROVED_CHOSEN) {
    g_free(finding->confidence);
    finding->confidence = g_strdup("inferred");
  }
  if (v->kernel) finding->kernel = g_strdup(v->kernel->instantiation);
  if (known && rule->message) finding->message = message_fill(rule->message, v);
  if (!known) finding->message = g_strdup_printf("%s: %s", v->kind, v->message);
  if (!finding->message) finding->message = one_line(v->message);
  if (v->help) {
    g_free(finding->help);
    finding->help = one_line(v->help);
  }
  copy_inputs(v, finding);
  finding->witness_text = joined_witness(v);
  place_finding(apply->places, v, finding);
  copy_fix(apply, v, finding);
  finish(apply, rule, finding);
}

/* A finding about a directive itself. */
static void report_directive(Apply *apply, const char *id, SourceRange range, char *message) {
  const Rule *rule = rules_find(apply->rules, id, NULL);
  Severity severity = rule ? select_severity(rule, IR_PROVED_FORCED, apply->options) : SEVERITY_OFF;
  if (severity != SEVERITY_OFF) {
    Finding *finding = start(apply, rule, severity);
    finding->message = g_strdup(message);
    place_finding_at(apply->places, range, finding);
    finish(apply, rule, finding);
  }
  g_free(message);
}

static void check_ignored_names(Apply *apply, const IrIgnoreDirective *ignore) {
  g_auto(GStrv) names = suppress_names(ignore);
  for (char **name = names; *name; name++) {
    KcError error = {0};
    if (rules_is_family(apply->rules, *name) || rules_find(apply->rules, *name, &error)) continue;
    report_directive(apply, "kcheck-directive", ignore->range,
                     g_strdup_printf("%s; %s", error.message, error.hint));
    kc_error_clear(&error);
  }
}

static void check_directives(Apply *apply) {
  const IrDirectives *directives = apply->program->directives;
  if (!directives) return;
  for (int i = 0; i < directives->errors.count; i++)
    report_directive(apply, "kcheck-directive", directives->errors.items[i].range,
                     g_strdup(directives->errors.items[i].message));
  for (int i = 0; i < directives->ignores.count; i++)
    check_ignored_names(apply, &directives->ignores.items[i]);
}

static void report_unused(const IrIgnoreDirective *ignore, const char *name, void *user) {
  report_directive(
      user, "kcheck-unused-ignore", ignore->range,
      g_strdup_printf("nothing here is reported as '%s'; the suppression is unused", name));
}

static void drop_mirrors_of_hidden(GPtrArray *findings, const GPtrArray *hidden) {
  for (guint i = 0; i < hidden->len; i++)
    for (guint j = findings->len; j-- > 0;)
      if (finding_is_mirror(hidden->pdata[i], findings->pdata[j]))
        g_ptr_array_remove_index(findings, j);
}

/* Of two findings that mirror each other the later one goes, and leaves its severity. */
static void drop_mirrors(GPtrArray *findings) {
  for (guint i = 0; i < findings->len; i++) {
    Finding *kept = findings->pdata[i];
    for (guint j = findings->len; j-- > i + 1;) {
      const Finding *other = findings->pdata[j];
      if (!finding_is_mirror(kept, other)) continue;
      kept->severity = MAX(kept->severity, other->severity);
      g_ptr_array_remove_index(findings, j);
    }
  }
}

GPtrArray *rules_apply(const Rules *rules, const IrProgram *program, const IrViolations *violations,
                       const RulesOptions *options) {
  Apply apply = {.rules = rules, .program = program, .options = options};
  apply.places = places_new(program);
  apply.suppressions = suppressions_new(rules, program, options);
  apply.findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  apply.hidden = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  for (int i = 0; i < violations->list.count; i++)
    apply_violation(&apply, violations->list.items[i]);
  check_directives(&apply);
  if (!options->incomplete) suppressions_unused(apply.suppressions, report_unused, &apply);
  suppressions_free(apply.suppressions);
  places_free(apply.places);
  GPtrArray *findings = rules_merge(apply.findings);
  drop_mirrors_of_hidden(findings, apply.hidden);
  drop_mirrors(findings);
  g_ptr_array_unref(apply.hidden);
  return findings;
}
