/* Tables of library calls: reading them, and matching names against them. */
#include "dialect/dialect.h"

#include <glib.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "support/arena.h"
#include "support/data.h"
#include "support/yaml.h"

#define ANY_ARGUMENTS 255

typedef struct DialectEntry {
  pcre2_code *code;
  int fewest, most; /* arguments of the call */
  DialectMatch match;
} DialectEntry;

struct Dialects {
  KcArena *arena;
  KC_VEC(DialectEntry) project; /* directives and the project's files: before the built-in ones */
  KC_VEC(DialectEntry) builtin;
  pcre2_match_data *scratch;
};

/* ---- names of events, roles, flags ---- */

static bool name_equal(const char *dashed, const char *name) {
  for (; *dashed && *name; dashed++, name++)
    if (*dashed != *name && !(*dashed == '-' && *name == '_')) return false;
  return *dashed == *name;
}

static bool event_by_name(const char *text, IrEvent *event) {
  for (int i = 1; i < IR_EVENT_COUNT; i++)
    if (name_equal(text, ir_event_name((IrEvent)i))) {
      *event = (IrEvent)i;
      return true;
    }
  return false;
}

static bool flag_by_name(const char *text, uint64_t *flag) {
  static const char *const NAMES[] = {
#define FLAG(name) #name,
#include "ir/flags.def"
#undef FLAG
  };
  for (int i = 0; i < IR_FLAG_COUNT; i++)
    if (name_equal(text, NAMES[i])) {
      *flag = UINT64_C(1) << i;
      return true;
    }
  return false;
}

/* Operands that events.def lists for `event`. */
static const char *event_roles(IrEvent event) {
  static const char *const ROLES[] = {
      "",
#define EVENT(name, mnemonic, roles) roles,
#include "ir/events.def"
#undef EVENT
  };
  return ROLES[event];
}

/* Role names as people write them: "barrier" is the address of a barrier instruction and the mbar
 * of a copy. NULL when it is no role. */
static const char *role_name(IrEvent event, const char *text) {
  if (strcmp(text, "barrier") == 0) return strstr(event_roles(event), "mbar") ? "mbar" : "addr";
  if (strcmp(text, "phase") == 0) return "parity";
  for (int i = 1; i < IR_ROLE_COUNT; i++)
    if (name_equal(text, ir_role_name((IrRole)i))) return ir_role_name((IrRole)i);
  return NULL;
}

/* ---- one event ---- */

/* Whether `text` says where an argument comes from: "1", "2+8" (a library's offset), "this",
 * "this.name", "#128", "T0", "sizeof(2)", "*1" (the value that argument 1 points to), "4.." (the
 * arguments from the fourth on: a vector). */
static bool is_source(const char *text) {
  static const char SOURCE[] =
      "^(?:\\*?\\d+(?:\\+\\d+)?|\\*?this(?:\\.\\w+)*|#-?(?:0x[0-9a-fA-F]+|\\d+)|T\\d+|"
      "sizeof\\((?:\\d+|T\\d+)\\)|\\d+\\.\\.)$";
  return g_regex_match_simple(SOURCE, text, 0, 0);
}

static bool add_argument(KcArena *arena, DialectEvent *event, const char *key, const char *value,
                         KcError *error, const char *path, int line) {
  const char *role = role_name(event->event, key);
  if (!role)
    return kc_fail(error, path, line, 0, "%s is no operand of %s", key,
                   ir_event_name(event->event));
  if (!is_source(value)) {
    kc_fail(error, path, line, 0, "%s = %s: not an argument", key, value);
    return kc_hint(error, "write 1 for the first argument, this, this.member, #128 for a constant, "
                          "T0 for a template argument or sizeof(2)");
  }
  IrPair pair = {role, kc_strdup(arena, value)};
  KC_PUSH(arena, event->arguments, pair);
  if (strcmp(role, "parity") == 0) event->flags |= IR_FLAG(parity);
  if (strcmp(role, "bytes") == 0 && event->event == IR_EV_mbarrier_arrive)
    event->flags |= IR_FLAG(expect_tx);
  if (strcmp(role, "mask") == 0 && event->event != IR_EV_warp_sync)
    event->flags |= IR_FLAG(multicast);
  return true;
}

static bool set_shape(IrShape *shape, const KcYaml *map, const char *path, KcError *error) {
  for (int i = 0; i < map->count; i++) {
    int64_t value = 0;
    const char *key = map->keys[i]->text;
    if (!kc_yaml_int(map->items[i], &value))
      return kc_fail(error, path, map->items[i]->line, map->items[i]->column,
                     "shape %s is not a number", key);
    if (strcmp(key, "dim") == 0)
      shape->dim = (uint8_t)value;
    else if (strcmp(key, "bytes") == 0)
      shape->bytes = (uint32_t)value;
    else if (strcmp(key, "m") == 0)
      shape->m = (uint16_t)value;
    else if (strcmp(key, "n") == 0)
      shape->n = (uint16_t)value;
    else if (strcmp(key, "k") == 0)
      shape->k = (uint16_t)value;
    else
      return kc_fail(error, path, map->keys[i]->line, map->keys[i]->column,
                     "unknown shape field %s (dim, bytes, m, n, k)", key);
  }
  return true;
}

static bool read_flags(KcArena *arena, DialectEvent *event, const KcYaml *node, const char *path,
                       KcError *error) {
  const char *const *names = kc_yaml_strings(arena, path, node, error);
  if (!names) return false;
  for (; *names; names++) {
    uint64_t flag = 0;
    if (!flag_by_name(*names, &flag))
      return kc_fail(error, path, node->line, node->column, "unknown flag %s", *names);
    event->flags |= flag;
  }
  return true;
}

/* `{event: mbarrier-init, addr: 1, count: 2, flags: [...], shape: {...}}` */
static bool read_event(KcArena *arena, const KcYaml *map, const char *path, DialectEvent *event,
                       KcError *error) {
  const KcYaml *name = map->kind == KC_YAML_MAP ? kc_yaml_get(map, "event") : NULL;
  if (!name || name->kind != KC_YAML_SCALAR || !event_by_name(name->text, &event->event))
    return kc_fail(error, path, map->line, map->column, "unknown event %s",
                   name && name->text ? name->text : "(missing)");
  event->flags = IR_FLAG(from_dialect);
  for (int i = 0; i < map->count; i++) {
    const char *key = map->keys[i]->text;
    const KcYaml *value = map->items[i];
    bool read = true;
    if (strcmp(key, "event") == 0) continue;
    if (strcmp(key, "flags") == 0)
      read = read_flags(arena, event, value, path, error);
    else if (strcmp(key, "shape") == 0)
      read = set_shape(&event->shape, value, path, error);
    else
      read = value->kind == KC_YAML_SCALAR &&
             add_argument(arena, event, key, value->text, error, path, value->line);
    if (!read)
      return error && error->message ? false
                                     : kc_fail(error, path, value->line, value->column,
                                               "%s is not a single value", key);
  }
  return true;
}

/* ---- one call ---- */

static pcre2_code *compile(const char *pattern, const char *path, int line, KcError *error) {
  int code = 0;
  PCRE2_SIZE offset = 0;
  g_autofree char *whole = g_strdup_printf("\\A(?:%s)\\z", pattern);
  pcre2_code *compiled =
      pcre2_compile((PCRE2_SPTR)whole, PCRE2_ZERO_TERMINATED, PCRE2_EXTENDED, &code, &offset, NULL);
  if (!compiled) {
    PCRE2_UCHAR message[160];
    pcre2_get_error_message(code, message, sizeof message);
    kc_fail(error, path, line, 0, "bad pattern %s: %s", pattern, (const char *)message);
    return NULL;
  }
  /* no JIT: it pays after some thousand names only */
  return compiled;
}

/* "2", "1..3" or "2.." */
static bool read_arity(const KcYaml *node, DialectEntry *entry) {
  entry->fewest = 0;
  entry->most = ANY_ARGUMENTS;
  if (!node) return true;
  if (node->kind != KC_YAML_SCALAR || !g_ascii_isdigit(*node->text)) return false;
  char *end = NULL;
  entry->fewest = entry->most = (int)strtol(node->text, &end, 10);
  if (g_str_has_prefix(end, "..")) {
    entry->most = ANY_ARGUMENTS;
    if (end[2])
      entry->most = (int)strtol(end + 2, &end, 10);
    else
      end += 2;
  }
  return *end == 0;
}

static bool read_call(Dialects *dialects, const char *dialect, const KcYaml *map, const char *path,
                      DialectEntry *entry, KcError *error) {
  static const char *const KEYS[] = {"match", "arguments", "events", "result", "why", NULL};
  if (map->kind != KC_YAML_MAP)
    return kc_fail(error, path, map->line, map->column, "a call must be a map");
  if (!kc_yaml_check_keys(path, map, KEYS, error)) return false;
  const char *pattern = kc_yaml_text(map, "match", NULL);
  if (!pattern) return kc_fail(error, path, map->line, map->column, "a call needs `match`");
  if (!read_arity(kc_yaml_get(map, "arguments"), entry))
    return kc_fail(error, path, map->line, map->column, "`arguments` is not 2, 1..3 or 2..");
  entry->match.dialect = dialect;
  entry->match.pattern = pattern;
  entry->match.result = kc_yaml_text(map, "result", NULL);
  const KcYaml *events = kc_yaml_get(map, "events");
  if (!events || events->kind != KC_YAML_LIST)
    return kc_fail(error, path, map->line, map->column,
                   "a call needs `events` (an empty list: known to be harmless)");
  for (int i = 0; i < events->count; i++) {
    DialectEvent event = {0};
    if (!read_event(dialects->arena, events->items[i], path, &event, error)) return false;
    KC_PUSH(dialects->arena, entry->match.events, event);
  }
  entry->code = compile(pattern, path, map->line, error);
  return entry->code != NULL;
}

/* ---- tables ---- */

static bool add_table(Dialects *dialects, const char *path, const char *text, size_t length,
                      bool builtin, KcError *error) {
  static const char *const KEYS[] = {"dialect", "about", "calls", NULL};
  const KcYaml *root = kc_yaml_parse(dialects->arena, path, text, length, error);
  if (!root || !kc_yaml_check_keys(path, root, KEYS, error)) return false;
  const char *dialect = kc_yaml_text(root, "dialect", "project");
  const KcYaml *calls = kc_yaml_get(root, "calls");
  if (!calls || calls->kind != KC_YAML_LIST)
    return kc_fail(error, path, root->line, root->column, "a dialect needs a list of `calls`");
  for (int i = 0; i < calls->count; i++) {
    DialectEntry entry = {0};
    if (!read_call(dialects, dialect, calls->items[i], path, &entry, error)) return false;
    if (builtin)
      KC_PUSH(dialects->arena, dialects->builtin, entry);
    else
      KC_PUSH(dialects->arena, dialects->project, entry);
  }
  return true;
}

typedef struct LoadAll {
  Dialects *dialects;
  KcError *error;
  bool failed;
} LoadAll;

static void load_one(const char *path, const char *text, size_t length, void *user) {
  LoadAll *load = user;
  if (!load->failed && g_str_has_suffix(path, ".yaml"))
    load->failed = !add_table(load->dialects, path, text, length, true, load->error);
}

Dialects *dialects_load(KcError *error) {
  KcArena *arena = kc_arena_new();
  Dialects *dialects = KC_NEW(arena, Dialects);
  dialects->arena = arena;
  dialects->scratch = pcre2_match_data_create(1, NULL);
  LoadAll load = {dialects, error, false};
  kc_data_each("knowledge/dialects/", load_one, &load);
  if (!load.failed) return dialects;
  dialects_free(dialects);
  return NULL;
}

bool dialects_add_file(Dialects *dialects, const char *path, KcError *error) {
  g_autofree char *text = NULL;
  g_autoptr(GError) failed = NULL;
  gsize length = 0;
  if (!g_file_get_contents(path, &text, &length, &failed))
    return kc_fail(error, path, 0, 0, "can't be read: %s", failed->message);
  const char *copy = kc_strndup(dialects->arena, text, length);
  return add_table(dialects, kc_strdup(dialects->arena, path), copy, length, false, error);
}

bool dialects_add_directive(Dialects *dialects, const IrEventDirective *directive, KcError *error) {
  int line = (int)directive->range.line;
  DialectEvent event = {.flags = IR_FLAG(from_dialect)};
  if (!event_by_name(directive->event, &event.event))
    return kc_fail(error, NULL, line, 0, "unknown event %s", directive->event);
  for (int i = 0; i < directive->arguments.count; i++) {
    const IrPair *pair = &directive->arguments.items[i];
    if (!add_argument(dialects->arena, &event, pair->key, pair->value, error, NULL, line))
      return false;
  }
  g_autofree char *quoted = g_regex_escape_string(directive->function, -1);
  g_autofree char *pattern = g_strconcat("(?:.*::)?", quoted, NULL);
  DialectEntry entry = {.most = ANY_ARGUMENTS};
  entry.match.dialect = "directive";
  entry.match.pattern = kc_strdup(dialects->arena, pattern);
  bool gives_pred =
      event.event == IR_EV_mbarrier_try_wait || event.event == IR_EV_mbarrier_test_wait;
  entry.match.result = gives_pred ? "pred" : NULL;
  KC_PUSH(dialects->arena, entry.match.events, event);
  entry.code = compile(entry.match.pattern, NULL, line, error);
  if (!entry.code) return false;
  KC_PUSH(dialects->arena, dialects->project, entry);
  return true;
}

void dialects_free(Dialects *dialects) {
  for (int i = 0; i < dialects->project.count; i++)
    pcre2_code_free(dialects->project.items[i].code);
  for (int i = 0; i < dialects->builtin.count; i++)
    pcre2_code_free(dialects->builtin.items[i].code);
  pcre2_match_data_free(dialects->scratch);
  kc_arena_free(dialects->arena);
}

static const DialectMatch *match_entries(const Dialects *dialects, const DialectEntry *entries,
                                         int count, const char *name, int nargs) {
  size_t length = strlen(name);
  for (int i = 0; i < count; i++) {
    const DialectEntry *entry = &entries[i];
    if (nargs >= entry->fewest && nargs <= entry->most &&
        pcre2_match(entry->code, (PCRE2_SPTR)name, length, 0, 0, dialects->scratch, NULL) >= 0)
      return &entry->match;
  }
  return NULL;
}

const DialectMatch *dialects_match(const Dialects *dialects, const char *qualified_name,
                                   int nargs) {
  const DialectMatch *found = match_entries(dialects, dialects->project.items,
                                            dialects->project.count, qualified_name, nargs);
  return found ? found
               : match_entries(dialects, dialects->builtin.items, dialects->builtin.count,
                               qualified_name, nargs);
}
