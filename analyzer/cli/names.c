#include "cli/names.h"

#include <string.h>

#include "cli/options.h"
#include "rules/rules.h"

static bool is_family(const Rules *rules, const char *name) {
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++)
    if (strcmp(((const Rule *)all->pdata[i])->family, name) == 0) return true;
  return false;
}

static bool check_name(const Rules *rules, const char *name, const char *path, KcError *error) {
  KcError unknown = {0};
  bool known = is_family(rules, name) || rules_find(rules, name, &unknown);
  if (!known) {
    kc_fail(error, path, 0, 0, "%s", unknown.message);
    if (unknown.hint) kc_hint(error, "%s", unknown.hint);
  }
  kc_error_clear(&unknown);
  return known;
}

static bool check_severity(const Rules *rules, const char *pair, const char *path, KcError *error) {
  const char *equals = strchr(pair, '=');
  if (!equals) return kc_fail(error, path, 0, 0, "--severity %s: expected RULE=LEVEL", pair);
  g_autofree char *name = g_strndup(pair, (gsize)(equals - pair));
  return options_check_level(equals + 1, false, error) && check_name(rules, name, path, error);
}

bool names_check(const Settings *settings, const char *path, KcError *error) {
  if (!settings->select && !settings->ignore && !settings->severity) return true;
  Rules *rules = rules_load(error);
  bool good = rules != NULL;
  for (char **name = settings->select; good && name && *name; name++)
    good = check_name(rules, *name, path, error);
  for (char **name = settings->ignore; good && name && *name; name++)
    good = check_name(rules, *name, path, error);
  for (char **pair = settings->severity; good && pair && *pair; pair++)
    good = check_severity(rules, *pair, path, error);
  rules_free(rules);
  return good;
}
