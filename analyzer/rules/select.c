#include "rules/select.h"

#include <string.h>

bool select_names(const Rule *rule, const char *name) {
  if (strcmp(rule->id, name) == 0 || strcmp(rule->family, name) == 0) return true;
  return g_strv_contains((const char *const *)rule->aliases, name);
}

static bool named(const Rule *rule, const char *const *names) {
  for (; names && *names; names++)
    if (select_names(rule, *names)) return true;
  return false;
}

static bool named_itself(const Rule *rule, const char *const *names) {
  for (; names && *names; names++)
    if (strcmp(rule->family, *names) != 0 && select_names(rule, *names)) return true;
  return false;
}

/* "RULE=level" or "FAMILY=level"; a rule's own name beats its family's, then the last wins. */
static Severity overridden(const Rule *rule, const char *const *settings, Severity severity) {
  bool by_itself = false;
  for (; settings && *settings; settings++) {
    const char *equals = strchr(*settings, '=');
    if (!equals) continue;
    g_autofree char *name = g_strndup(*settings, (gsize)(equals - *settings));
    bool family = strcmp(name, rule->family) == 0;
    if (!select_names(rule, name) || (family && by_itself)) continue;
    if (severity_from_name(equals + 1, &severity) && !family) by_itself = true;
  }
  return severity;
}

static Severity most_for(IrConfidence confidence) {
  switch (confidence) {
  case IR_PROVED_FORCED:
  case IR_PROVED_CHOSEN: return SEVERITY_ERROR;
  case IR_INFERRED: return SEVERITY_WARNING;
  case IR_PROVED_DEGENERATE:
  case IR_FALLBACK: return SEVERITY_ADVICE;
  }
  return SEVERITY_ADVICE;
}

Severity select_severity(const Rule *rule, IrConfidence confidence, const RulesOptions *options) {
  if (options->select && !named(rule, options->select)) return SEVERITY_OFF;
  if (named(rule, options->ignore)) return SEVERITY_OFF;
  Severity severity = rule->severity;
  /* A rule that is off by default runs when it is asked for by name. */
  if (severity == SEVERITY_OFF && named_itself(rule, options->select)) severity = SEVERITY_ADVICE;
  severity = overridden(rule, options->severity, severity);
  return MIN(severity, most_for(confidence));
}

static bool known_name(const Rules *rules, const char *name, const char *option, KcError *error) {
  if (rules_is_family(rules, name) || rules_find(rules, name, error)) return true;
  if (!error) return false;
  g_autofree char *what = g_strdup(error->message);
  g_autofree char *hint = g_strdup(error->hint);
  kc_fail(error, NULL, 0, 0, "%s: %s", option, what);
  return hint ? kc_hint(error, "%s", hint) : false;
}

bool rules_check_options(const Rules *rules, const RulesOptions *options, KcError *error) {
  for (const char *const *name = options->select; name && *name; name++)
    if (!known_name(rules, *name, "select", error)) return false;
  for (const char *const *name = options->ignore; name && *name; name++)
    if (!known_name(rules, *name, "ignore", error)) return false;
  for (const char *const *setting = options->severity; setting && *setting; setting++) {
    const char *equals = strchr(*setting, '=');
    Severity severity;
    if (!equals || !severity_from_name(equals + 1, &severity)) {
      kc_fail(error, NULL, 0, 0, "severity: '%s' is not RULE=LEVEL", *setting);
      return kc_hint(error, "levels are error, warning, advice and off");
    }
    g_autofree char *name = g_strndup(*setting, (gsize)(equals - *setting));
    if (!known_name(rules, name, "severity", error)) return false;
  }
  return true;
}
