#include "cli/lsp_settings.h"

#include <stdlib.h>
#include <string.h>

#include "cli/config.h"
#include "cli/strv.h"

void lsp_settings_copy(CliOptions *to, const CliOptions *from) {
  *to = (CliOptions){.timeout_s = from->timeout_s,
                     .memory_mb = from->memory_mb,
                     .jobs = from->jobs,
                     .config = g_strdup(from->config)};
  settings_overlay(&to->settings, &from->settings);
  strv_add_all(&to->launch_files, from->launch_files);
}

/* "cudaPath" -> "cuda-path", as .kcheck.yaml has it. */
static char *plain_key(const char *key) {
  GString *plain = g_string_new(NULL);
  for (; *key; key++) {
    if (g_ascii_isupper(*key)) g_string_append_c(plain, '-');
    g_string_append_c(plain, g_ascii_tolower(*key));
  }
  return g_string_free(plain, FALSE);
}

static bool wrong(const char *key, const char *expected, KcError *error) {
  return kc_fail(error, NULL, 0, 0, "%s: expected %s", key, expected);
}

static bool add_flags(const json_t *value, CliOptions *options, KcError *error) {
  size_t i;
  json_t *flag;
  if (!json_is_array(value)) return wrong("flags", "a list of flags for clang", error);
  json_array_foreach(value, i, flag) if (!json_is_string(flag)) return wrong(
      "flags", "a list of flags for clang", error);
  json_array_foreach(value, i, flag) strv_add(&options->settings.flags, json_string_value(flag));
  return true;
}

/* The keys that .kcheck.yaml also has: read as one would be that holds nothing else. */
static bool add_setting(const char *key, const json_t *value, CliOptions *options, KcError *error) {
  g_auto(Settings) own = {0};
  KcError reason = {0};
  json_t *one = json_pack("{sO}", key, value);
  char *text = json_dumps(one, JSON_COMPACT);
  bool read = text && config_read_text(text, &own, &reason);
  if (read) settings_overlay(&options->settings, &own);
  if (!read) {
    kc_fail(error, NULL, 0, 0, "%s", reason.message ? reason.message : "not readable");
    if (reason.hint) kc_hint(error, "%s", reason.hint);
  }
  kc_error_clear(&reason);
  free(text);
  json_decref(one);
  return read;
}

static bool add_key(const char *key, const json_t *value, CliOptions *options, KcError *error) {
  if (strcmp(key, "flags") == 0) return add_flags(value, options, error);
  if (strcmp(key, "timeout") == 0) {
    if (!json_is_number(value) || json_number_value(value) <= 0)
      return wrong(key, "a number of seconds", error);
    options->timeout_s = json_number_value(value);
    return true;
  }
  if (strcmp(key, "config") == 0) {
    if (!json_is_string(value)) return wrong(key, "the path of a file", error);
    g_free(options->config);
    options->config = g_strdup(json_string_value(value));
    return true;
  }
  return add_setting(key, value, options, error);
}

bool lsp_settings_read(const json_t *section, CliOptions *options, KcError *error) {
  bool good = true;
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)section, key, value) {
    g_autofree char *plain = plain_key(key);
    bool read = json_is_null(value) || add_key(plain, value, options, good ? error : NULL);
    good = good && read;
  }
  return good;
}
