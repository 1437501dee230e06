#include "cli/settings.h"

#include <stddef.h>

#include "cli/strv.h"

typedef enum {
  FIELD_TEXT,   /* the overlay's value replaces */
  FIELD_LIST,   /* the overlay's words are appended */
  FIELD_CHOICE, /* a list that the overlay's replaces */
  FIELD_FLAG
} FieldKind;

static const struct {
  const char *key;
  FieldKind kind;
  size_t offset;
} fields[] = {
    {"archs", FIELD_CHOICE, offsetof(Settings, archs)},
    {"targets", FIELD_CHOICE, offsetof(Settings, targets)},
    {"flags", FIELD_LIST, offsetof(Settings, flags)},
    {"std", FIELD_TEXT, offsetof(Settings, std)},
    {"cuda_path", FIELD_TEXT, offsetof(Settings, cuda_path)},
    {"compile_commands", FIELD_TEXT, offsetof(Settings, compile_commands)},
    {"kernels", FIELD_LIST, offsetof(Settings, kernels)},
    {"instantiate", FIELD_LIST, offsetof(Settings, instantiate)},
    {"stages", FIELD_LIST, offsetof(Settings, stages)},
    {"assumes", FIELD_LIST, offsetof(Settings, assumes)},
    {"dialects", FIELD_LIST, offsetof(Settings, dialects)},
    {"select", FIELD_CHOICE, offsetof(Settings, select)},
    {"ignore", FIELD_LIST, offsetof(Settings, ignore)},
    {"severity", FIELD_LIST, offsetof(Settings, severity)},
    {"docs_base", FIELD_TEXT, offsetof(Settings, docs_base)},
    {"baseline", FIELD_TEXT, offsetof(Settings, baseline)},
    {"fail_on", FIELD_TEXT, offsetof(Settings, fail_on)},
    {"ptx", FIELD_FLAG, offsetof(Settings, ptx)},
};

#define TEXT_FIELD(settings, i) (*(char **)((char *)(settings) + fields[i].offset))
#define LIST_FIELD(settings, i) (*(char ***)((char *)(settings) + fields[i].offset))
#define FLAG_FIELD(settings, i) (*(bool *)((char *)(settings) + fields[i].offset))

static void directive_free(gpointer data) {
  SettingsDirective *directive = data;
  g_free(directive->path);
  g_free(directive->text);
  g_free(directive);
}

void settings_add_directive(Settings *settings, const char *path, int line, const char *text) {
  if (!settings->directives) settings->directives = g_ptr_array_new_with_free_func(directive_free);
  SettingsDirective *directive = g_new0(SettingsDirective, 1);
  *directive = (SettingsDirective){.path = g_strdup(path), .line = line, .text = g_strdup(text)};
  g_ptr_array_add(settings->directives, directive);
}

void settings_clear(Settings *settings) {
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
    if (fields[i].kind == FIELD_TEXT) g_free(TEXT_FIELD(settings, i));
    if (fields[i].kind == FIELD_LIST || fields[i].kind == FIELD_CHOICE)
      g_strfreev(LIST_FIELD(settings, i));
  }
  if (settings->directives) g_ptr_array_unref(settings->directives);
  *settings = (Settings){0};
}

static void overlay_field(Settings *settings, const Settings *over, size_t i) {
  switch (fields[i].kind) {
  case FIELD_TEXT:
    if (!TEXT_FIELD(over, i)) return;
    g_free(TEXT_FIELD(settings, i));
    TEXT_FIELD(settings, i) = g_strdup(TEXT_FIELD(over, i));
    return;
  case FIELD_CHOICE:
    if (!LIST_FIELD(over, i)) return;
    g_clear_pointer(&LIST_FIELD(settings, i), g_strfreev);
    strv_add_all(&LIST_FIELD(settings, i), LIST_FIELD(over, i));
    return;
  case FIELD_LIST: strv_add_all(&LIST_FIELD(settings, i), LIST_FIELD(over, i)); return;
  case FIELD_FLAG: FLAG_FIELD(settings, i) |= FLAG_FIELD(over, i); return;
  }
}

void settings_overlay(Settings *settings, const Settings *over) {
  /* --arch and --target name the same thing: either replaces both. */
  if (over->archs || over->targets) {
    g_clear_pointer(&settings->archs, g_strfreev);
    g_clear_pointer(&settings->targets, g_strfreev);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
    overlay_field(settings, over, i);
  for (guint i = 0; over->directives && i < over->directives->len; i++) {
    const SettingsDirective *directive = over->directives->pdata[i];
    settings_add_directive(settings, directive->path, directive->line, directive->text);
  }
}

static json_t *list_to_json(char *const *list) {
  json_t *array = json_array();
  for (; list && *list; list++)
    json_array_append_new(array, json_string(*list));
  return array;
}

json_t *settings_to_json(const Settings *settings) {
  json_t *json = json_object();
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
    json_t *value = NULL;
    switch (fields[i].kind) {
    case FIELD_TEXT:
      if (TEXT_FIELD(settings, i)) value = json_string(TEXT_FIELD(settings, i));
      break;
    case FIELD_CHOICE:
    case FIELD_LIST:
      if (LIST_FIELD(settings, i)) value = list_to_json(LIST_FIELD(settings, i));
      break;
    case FIELD_FLAG: value = json_boolean(FLAG_FIELD(settings, i)); break;
    }
    if (value) json_object_set_new(json, fields[i].key, value);
  }
  json_t *directives = json_array();
  for (guint i = 0; settings->directives && i < settings->directives->len; i++) {
    const SettingsDirective *d = settings->directives->pdata[i];
    json_array_append_new(directives, json_pack("[sis]", d->path, d->line, d->text));
  }
  json_object_set_new(json, "directives", directives);
  return json;
}

static void list_from_json(char ***list, const json_t *json) {
  size_t i;
  json_t *item;
  json_array_foreach(json, i, item) strv_add(list, json_string_value(item));
}

void settings_from_json(Settings *settings, const json_t *json) {
  *settings = (Settings){0};
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
    const json_t *value = json_object_get(json, fields[i].key);
    switch (fields[i].kind) {
    case FIELD_TEXT: TEXT_FIELD(settings, i) = g_strdup(json_string_value(value)); break;
    case FIELD_CHOICE:
    case FIELD_LIST: list_from_json(&LIST_FIELD(settings, i), value); break;
    case FIELD_FLAG: FLAG_FIELD(settings, i) = json_is_true(value); break;
    }
  }
  size_t i;
  json_t *item;
  json_array_foreach(json_object_get(json, "directives"), i, item) settings_add_directive(
      settings, json_string_value(json_array_get(item, 0)),
      (int)json_integer_value(json_array_get(item, 1)), json_string_value(json_array_get(item, 2)));
}
