#include "cli/names.h"

#include "cli/strv.h"
#include "rules/rules.h"

bool names_check(const Settings *settings, const char *path, int line, KcError *error) {
  if (!settings->select && !settings->ignore && !settings->severity) return true;
  Rules *rules = rules_load(error);
  if (!rules) return false;
  RulesOptions options = {.select = strv_view(settings->select),
                          .ignore = strv_view(settings->ignore),
                          .severity = strv_view(settings->severity)};
  KcError reason = {0};
  bool good = rules_check_options(rules, &options, &reason);
  if (!good) {
    kc_fail(error, path, line, path ? 1 : 0, "%s", reason.message);
    if (reason.hint) kc_hint(error, "%s", reason.hint);
  }
  kc_error_clear(&reason);
  rules_free(rules);
  return good;
}
