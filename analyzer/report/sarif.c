/* --format sarif: SARIF 2.1.0 (OASIS), as code-scanning services read it. Columns are counted in
 * Unicode code points. */
#include <string.h>

#include "report/common.h"

static const char *level_of(Severity severity) {
  return severity == SEVERITY_ADVICE ? "note" : severity_name(severity);
}

static json_t *text_json(const char *text) {
  return json_pack("{ss}", "text", text);
}

/* An end on another line keeps its byte column, which is the same as long as that line is ASCII. */
static json_t *region_json(const char *source, int line, int column, int end_line, int end_column) {
  bool same = line == end_line;
  return json_pack("{si si si si}", "startLine", line, "startColumn",
                   report_codepoint_offset(source, column) + 1, "endLine", end_line, "endColumn",
                   same ? report_codepoint_offset(source, end_column) + 1 : end_column);
}

static json_t *location_json(const char *path, json_t *region) {
  g_autofree char *uri = report_relative_uri(path);
  return json_pack("{s{s{ss} so}}", "physicalLocation", "artifactLocation", "uri", uri, "region",
                   region);
}

static json_t *related_json(const Finding *f) {
  json_t *list = json_array();
  for (guint i = 0; i < f->related->len; i++) {
    const FindingRelated *r = f->related->pdata[i];
    json_t *location = location_json(
        r->path, region_json(r->source, r->line, r->column, r->end_line, r->end_column));
    json_object_set_new(location, "id", json_integer((json_int_t)i + 1));
    json_object_set_new(location, "message", text_json(r->message));
    json_array_append_new(list, location);
  }
  return list;
}

static json_t *fixes_json(const Finding *f) {
  g_autofree char *uri = report_relative_uri(f->path);
  /* The text of the fix's line is known only where it is the finding's own. */
  json_t *region = region_json(f->fix_line == f->line ? f->source : NULL, f->fix_line,
                               f->fix_column, f->fix_end_line, f->fix_end_column);
  return json_pack("[{s{ss} s[{s{ss} s[{so s{ss}}]}]}]", "description", "text", f->help,
                   "artifactChanges", "artifactLocation", "uri", uri, "replacements",
                   "deletedRegion", region, "insertedContent", "text", f->fix_text);
}

static json_t *properties_json(const Finding *f) {
  json_t *archs = json_array();
  for (guint i = 0; i < f->archs->len; i++)
    json_array_append_new(archs, json_string(f->archs->pdata[i]));
  return json_pack("{ss ss? so ss ss?}", "confidence", f->confidence, "kernel", f->kernel, "arch",
                   archs, "page", f->page, "witness", f->witness_text);
}

static json_t *result_json(const Report *report, guint index, int rule_index) {
  const Finding *f = report->findings->pdata[index];
  g_autofree char *print = report_fingerprint(f, report_occurrence(report, index));
  g_autofree char *message = g_strdup_printf("%s. %s", f->message, f->help);
  json_t *region = region_json(f->source, f->line, f->column, f->end_line, f->end_column);
  json_t *result =
      json_pack("{ss si ss s{ss} s[o] so s{ss} so}", "ruleId", f->rule, "ruleIndex", rule_index,
                "level", level_of(f->severity), "message", "text", message, "locations",
                location_json(f->path, region), "relatedLocations", related_json(f),
                "partialFingerprints", "kcheck/v1", print, "properties", properties_json(f));
  if (f->fix_text) json_object_set_new(result, "fixes", fixes_json(f));
  return result;
}

/* What the rule file says, for the rules that were broken. */
static json_t *rule_json(const Rules *rules, const Finding *f) {
  const Rule *rule = rules ? rules_find(rules, f->rule, NULL) : NULL;
  json_t *json = json_pack("{ss s{ss}}", "id", f->rule, "shortDescription", "text",
                           rule ? rule->summary : f->rule);
  if (rule) {
    json_object_set_new(json, "fullDescription", text_json(rule->trigger));
    json_object_set_new(json, "help", text_json(rule->help));
    Severity severity = rule->severity == SEVERITY_OFF ? SEVERITY_ADVICE : rule->severity;
    json_object_set_new(json, "defaultConfiguration",
                        json_pack("{ss}", "level", level_of(severity)));
    json_object_set_new(json, "properties",
                        json_pack("{s[s] ss}", "tags", rule->family, "page", rule->page));
  }
  /* helpUri must be an absolute URI; without a docs base there is none. */
  if (strstr(f->url, "://")) json_object_set_new(json, "helpUri", json_string(f->url));
  return json;
}

/* The rules of all findings in order of first use; `indices` maps an id to its place. */
static json_t *rules_json(const Report *report, GHashTable *indices) {
  Rules *rules = rules_load(NULL);
  json_t *list = json_array();
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    if (g_hash_table_contains(indices, f->rule)) continue;
    g_hash_table_insert(indices, f->rule, GUINT_TO_POINTER((guint)json_array_size(list)));
    json_array_append_new(list, rule_json(rules, f));
  }
  rules_free(rules);
  return list;
}

static void add_notification(json_t *list, const char *path, const char *level, const char *text) {
  g_autofree char *uri = report_relative_uri(path);
  json_array_append_new(list, json_pack("{ss s{ss} s[{s{s{ss}}}]}", "level", level, "message",
                                        "text", text, "locations", "physicalLocation",
                                        "artifactLocation", "uri", uri));
}

/* What could not be checked stands beside the results, as notifications of the run. */
static json_t *invocation_json(const Report *report) {
  json_t *list = json_array();
  bool failed = false;
  for (guint i = 0; i < report->files->len; i++) {
    const ReportFile *file = report->files->pdata[i];
    for (guint j = 0; j < file->errors->len; j++) {
      add_notification(list, file->path, "error", file->errors->pdata[j]);
      failed = true;
    }
    for (guint k = 0; k < file->kernels->len; k++) {
      const ReportKernel *kernel = file->kernels->pdata[k];
      for (guint j = 0; j < kernel->not_checked->len; j++) {
        g_autofree char *text = g_strdup_printf("not checked in %s: %s", kernel->instantiation,
                                                (const char *)kernel->not_checked->pdata[j]);
        add_notification(list, file->path, "note", text);
      }
    }
  }
  return json_pack("{sb so}", "executionSuccessful", !failed, "toolExecutionNotifications", list);
}

void report_sarif(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  g_autoptr(GHashTable) indices = g_hash_table_new(g_str_hash, g_str_equal);
  json_t *rules = rules_json(report, indices), *results = json_array();
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    int index = (int)GPOINTER_TO_UINT(g_hash_table_lookup(indices, f->rule));
    json_array_append_new(results, result_json(report, i, index));
  }
  report_dump(json_pack("{ss ss s[{s{s{ss ss so}} ss so so}]}", "$schema",
                        "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                        "tool", "driver", "name", "kcheck", "version", KCHECK_VERSION, "rules",
                        rules, "columnKind", "unicodeCodePoints", "results", results, "invocations",
                        json_pack("[o]", invocation_json(report))),
              out);
}
