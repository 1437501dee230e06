#include "ir/directive.h"

#include <ctype.h>
#include <string.h>

#include <glib.h>

#include "ir/comment.h"
#include "ir/number.h"
#include "support/suggest.h"

typedef struct Parse {
  KcArena *arena;
  IrDirectives *out;
  IrComment comment;
  const char *text; /* the file */
  size_t length;
  SourceRange range; /* of the directive */
} Parse;

/* One argument between the commas of a directive: `value`, or `key = value`. */
typedef struct Argument {
  const char *key; /* NULL: positional */
  const char *value;
} Argument;

typedef struct Arguments {
  KC_VEC(Argument) list;
} Arguments;

static bool reject(Parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool reject(Parse *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  IrDirectiveError error = {kc_vprintf(p->arena, format, args), p->range};
  va_end(args);
  KC_PUSH(p->arena, p->out->errors, error);
  return false;
}

static char *trimmed(Parse *p, const char *text, size_t length) {
  return g_strstrip(kc_strndup(p->arena, text, length));
}

/* Offset of the first `stop` at depth 0 of (), [], {} and <>; -1 when there is none. In "<=", "<<"
 * and "->" the angle is an operator. */
static long top_level(const char *text, size_t length, char stop) {
  int depth = 0, angles = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i], next = i + 1 < length ? text[i + 1] : '\0';
    if (depth == 0 && angles == 0 && c == stop) return (long)i;
    if (strchr("([{", c)) depth++;
    if (strchr(")]}", c)) depth--;
    if (c == '<' && next != '=' && next != '<') angles++;
    if (c == '>' && angles > 0 && (i == 0 || text[i - 1] != '-')) angles--;
    if (c == '<' && next == '<') i++;
  }
  return -1;
}

/* Splits "name(arguments)" after the directive's name; the text must end with the parenthesis. */
static bool inside_parentheses(Parse *p, const char *name, const char *rest, size_t length,
                               const char **inside, size_t *inside_length) {
  if (length == 0 || rest[0] != '(') return reject(p, "'%s' needs (...)", name);
  int depth = 0;
  for (size_t i = 0; i < length; i++) {
    if (rest[i] == '(') depth++;
    if (rest[i] != ')' || --depth > 0) continue;
    for (size_t j = i + 1; j < length; j++)
      if (!isspace((unsigned char)rest[j]))
        return reject(p, "'%s' after the closing parenthesis of '%s'",
                      trimmed(p, rest + j, length - j), name);
    *inside = rest + 1;
    *inside_length = i - 1;
    return true;
  }
  return reject(p, "the parenthesis of '%s' is not closed on its line", name);
}

static bool is_word(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_') return false;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && !strchr("_-.", *text)) return false;
  return true;
}

/* "K = 64" has a key; "a == b" and "a <= b" have none. */
static Argument one_argument(Parse *p, const char *text, size_t length) {
  Argument argument = {NULL, trimmed(p, text, length)};
  const char *equals = strchr(argument.value, '=');
  if (!equals || equals[1] == '=' || equals == argument.value) return argument;
  char *key = trimmed(p, argument.value, (size_t)(equals - argument.value));
  if (!is_word(key)) return argument;
  argument.key = key;
  argument.value = trimmed(p, equals + 1, strlen(equals + 1));
  return argument;
}

static bool split_arguments(Parse *p, const char *name, const char *text, size_t length,
                            Arguments *arguments) {
  for (;;) {
    long comma = top_level(text, length, ',');
    size_t n = comma < 0 ? length : (size_t)comma;
    Argument argument = one_argument(p, text, n);
    if (!*argument.value) return reject(p, "an argument of '%s' is empty", name);
    KC_PUSH(p->arena, arguments->list, argument);
    if (comma < 0) return true;
    text += n + 1;
    length -= n + 1;
  }
}

static bool key_is_unknown(Parse *p, const char *name, const char *key, const char *const *known) {
  const char *near = kc_suggest(key, known);
  if (near) return reject(p, "'%s' has no '%s'; did you mean '%s'?", name, key, near);
  g_autofree char *all = g_strjoinv(", ", (char **)known);
  return reject(p, "'%s' has no '%s'; it takes %s", name, key, all);
}

/* The name that a directive starts with: its first argument, without a key. */
static const char *leading_name(Parse *p, const char *name, const Arguments *arguments,
                                const char *what) {
  const Argument *first = &arguments->list.items[0];
  if (!first->key) return first->value;
  reject(p, "'%s' starts with the %s, not with '%s ='", name, what, first->key);
  return NULL;
}

/* ---- launch(kern<128, 4>, grid = 132, block = 384, smem = 199680, cluster = 2, K = 576) ---- */

static bool read_extent(Parse *p, const char *key, const char *value, int64_t out[3]) {
  int n = ir_read_extents(value, out, 3);
  if (n <= 0) return reject(p, "'%s = %s' is not a size; write 132, 8x4 or (8, 4, 1)", key, value);
  for (int i = 0; i < 3; i++) {
    if (i >= n) out[i] = 1;
    if (out[i] < 1 || out[i] > INT32_MAX)
      return reject(p, "'%s = %s' is out of range: sizes start at 1", key, value);
  }
  return true;
}

static bool launch_argument(Parse *p, IrLaunchDirective *launch, const Argument *argument) {
  const char *key = argument->key, *value = argument->value;
  if (!key) return reject(p, "'%s' in launch(...) has no key; write 'name = value'", value);
  if (strcmp(key, "grid") == 0) return read_extent(p, key, value, launch->grid);
  if (strcmp(key, "block") == 0) return read_extent(p, key, value, launch->block);
  if (strcmp(key, "cluster") == 0) return read_extent(p, key, value, launch->cluster);
  if (strcmp(key, "smem") == 0) {
    if (ir_read_number(value, &launch->smem) && launch->smem >= 0) return true;
    return reject(p, "'smem = %s' is not a number of bytes", value);
  }
  for (int i = 0; i < launch->arguments.count; i++)
    if (strcmp(launch->arguments.items[i].key, key) == 0)
      return reject(p, "'%s' is given twice", key);
  KC_PUSH(p->arena, launch->arguments, ((IrPair){key, value}));
  return true;
}

static bool parse_launch(Parse *p, const Arguments *arguments) {
  IrLaunchDirective launch = {.smem = -1, .range = p->range};
  launch.kernel = leading_name(p, "launch", arguments, "kernel");
  if (!launch.kernel) return false;
  for (int i = 1; i < arguments->list.count; i++)
    if (!launch_argument(p, &launch, &arguments->list.items[i])) return false;
  KC_PUSH(p->arena, p->out->launches, launch);
  if (strchr(launch.kernel, '<')) KC_PUSH(p->arena, p->out->instantiations, launch.kernel);
  return true;
}

/* ---- tensormap(map_a, box = 64x128, type = bf16, swizzle = 128B) ---- */

static bool read_type(Parse *p, const char *value, int *bits) {
  /* Names of the PTX types, and the short ones that people write. */
  static const struct {
    const char *name;
    int bits;
  } types[] = {
      {"e2m1", 4},  {"fp4", 4},  {"u4", 4},   {"s4", 4},      {"e2m3", 6},  {"e3m2", 6},
      {"fp6", 6},   {"u8", 8},   {"s8", 8},   {"e4m3", 8},    {"e5m2", 8},  {"fp8", 8},
      {"ue8m0", 8}, {"u16", 16}, {"s16", 16}, {"f16", 16},    {"bf16", 16}, {"half", 16},
      {"u32", 32},  {"s32", 32}, {"f32", 32}, {"tf32", 32},   {"int", 32},  {"float", 32},
      {"u64", 64},  {"s64", 64}, {"f64", 64}, {"double", 64},
  };
  const char *names[sizeof types / sizeof *types + 1] = {NULL};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (g_ascii_strcasecmp(types[i].name, value) == 0) {
      *bits = types[i].bits;
      return true;
    }
    names[i] = types[i].name;
  }
  return key_is_unknown(p, "type", value, names);
}

static bool read_swizzle(Parse *p, const char *value, int *bytes) {
  static const char *const names[] = {"none", "32B", "64B", "128B", NULL};
  static const int sizes[] = {0, 32, 64, 128};
  for (int i = 0; names[i]; i++) {
    g_autofree char *bare = g_strdup_printf("%d", sizes[i]);
    if (g_ascii_strcasecmp(names[i], value) != 0 && strcmp(bare, value) != 0) continue;
    *bytes = sizes[i];
    return true;
  }
  return reject(p, "swizzle '%s' is not none, 32B, 64B or 128B", value);
}

static bool map_argument(Parse *p, IrTensorMapDirective *map, const Argument *argument) {
  static const char *const keys[] = {"box", "type", "swizzle", NULL};
  const char *key = argument->key, *value = argument->value;
  if (!key) return reject(p, "'%s' in tensormap(...) has no key; write 'box = 64x128'", value);
  if (strcmp(key, "type") == 0) return read_type(p, value, &map->elem_bits);
  if (strcmp(key, "swizzle") == 0) return read_swizzle(p, value, &map->swizzle_bytes);
  if (strcmp(key, "box") != 0) return key_is_unknown(p, "tensormap", key, keys);
  map->rank = ir_read_extents(value, map->box, 5);
  if (map->rank <= 0) return reject(p, "'box = %s' is not a box of 1 to 5 sizes: 64x128", value);
  for (int i = 0; i < map->rank; i++)
    if (map->box[i] < 1 || map->box[i] > 256)
      return reject(p, "'box = %s': each size is 1 to 256", value);
  return true;
}

static bool parse_tensormap(Parse *p, const Arguments *arguments) {
  IrTensorMapDirective map = {.range = p->range};
  map.map = leading_name(p, "tensormap", arguments, "map");
  if (!map.map) return false;
  for (int i = 1; i < arguments->list.count; i++)
    if (!map_argument(p, &map, &arguments->list.items[i])) return false;
  if (map.rank == 0) return reject(p, "tensormap(%s) gives no box", map.map);
  KC_PUSH(p->arena, p->out->tensor_maps, map);
  return true;
}

/* ---- event(my_wait, mbarrier-wait, barrier = 1, parity = 2) ---- */

/* Names of events and roles as a person writes them: with hyphens. */
static const char *const *hyphenated(Parse *p, const char *(*name)(int), int first, int count) {
  const char **names = KC_NEW_ARRAY(p->arena, const char *, count - first + 2);
  for (int i = first; i < count; i++)
    names[i - first] = g_strdelimit(kc_strdup(p->arena, name(i)), "_", '-');
  return names;
}

static const char *event_name(int event) {
  return ir_event_name((IrEvent)event);
}

static const char *role_name(int role) {
  return ir_role_name((IrRole)role);
}

static bool parse_event(Parse *p, const Arguments *arguments) {
  IrEventDirective event = {.range = p->range};
  event.function = leading_name(p, "event", arguments, "function");
  if (!event.function) return false;
  if (arguments->list.count < 2 || arguments->list.items[1].key)
    return reject(p, "event(%s, ...) does not say which event it is", event.function);
  event.event = arguments->list.items[1].value;
  const char *const *events = hyphenated(p, event_name, 1, IR_EVENT_COUNT);
  if (!g_strv_contains(events, event.event)) {
    const char *near = kc_suggest(event.event, events);
    return reject(p, "there is no event '%s'%s%s%s", event.event, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
  }
  const char *const *roles = hyphenated(p, role_name, 1, IR_ROLE_COUNT);
  for (int i = 2; i < arguments->list.count; i++) {
    const Argument *argument = &arguments->list.items[i];
    if (!argument->key)
      return reject(p, "'%s' in event(...) has no key; write 'barrier = 1'", argument->value);
    /* "barrier" is what a person calls the operand that the table names addr or mbar. */
    if (strcmp(argument->key, "barrier") != 0 && !g_strv_contains(roles, argument->key))
      return key_is_unknown(p, "event", argument->key, roles);
    KC_PUSH(p->arena, event.arguments, ((IrPair){argument->key, argument->value}));
  }
  KC_PUSH(p->arena, p->out->events, event);
  return true;
}

/* ---- ignore[rule, rule] reason ---- */

/* The line that an ignore covers: its own, or, when the comment stands alone, the next that holds
 * more than a comment. */
static uint32_t covered_line(const Parse *p) {
  if (!p->comment.alone) return p->comment.line;
  uint32_t line = p->comment.line;
  const char *at = p->text + p->comment.end, *end = p->text + p->length;
  while ((at = memchr(at, '\n', (size_t)(end - at)))) {
    line++;
    for (at++; at < end && (*at == ' ' || *at == '\t' || *at == '\r');)
      at++;
    bool comment = end - at >= 2 && at[0] == '/' && at[1] == '/';
    if (at < end && *at != '\n' && !comment) return line;
  }
  return p->comment.line + 1;
}

static bool parse_ignore(Parse *p, bool whole_file, const char *rest, size_t length) {
  const char *name = whole_file ? "ignore-file" : "ignore";
  const char *close = length ? memchr(rest, ']', length) : NULL;
  if (length == 0 || rest[0] != '[' || !close)
    return reject(p, "'%s' needs the rule in brackets: %s[rule-id] reason", name, name);
  IrIgnoreDirective ignore = {.whole_file = whole_file, .range = p->range};
  ignore.rules = trimmed(p, rest + 1, (size_t)(close - rest - 1));
  ignore.reason = trimmed(p, close + 1, length - (size_t)(close + 1 - rest));
  ignore.line = covered_line(p);
  if (!*ignore.rules) return reject(p, "'%s[]' names no rule", name);
  if (!*ignore.reason)
    return reject(p, "'%s[%s]' has no reason; say after the bracket why it is all right", name,
                  ignore.rules);
  KC_PUSH(p->arena, p->out->ignores, ignore);
  return true;
}

/* ---- assume(K % 64 == 0 && K >= 64) ---- */

static bool parse_assume(Parse *p, const char *inside, size_t length) {
  IrAssume assume = {trimmed(p, inside, length), p->range};
  if (!*assume.expression) return reject(p, "'assume()' says nothing");
  const char *equals = strchr(assume.expression, '=');
  bool assigns =
      equals && equals[1] != '=' && equals > assume.expression && !strchr("=!<>", equals[-1]);
  if (assigns) return reject(p, "'assume(%s)' assigns; compare with ==", assume.expression);
  KC_PUSH(p->arena, p->out->assumes, assume);
  return true;
}

static bool parse_with_arguments(Parse *p, const char *name, const char *rest, size_t length) {
  const char *inside = NULL;
  size_t inside_length = 0;
  Arguments arguments = {0};
  if (!inside_parentheses(p, name, rest, length, &inside, &inside_length)) return false;
  if (strcmp(name, "assume") == 0) return parse_assume(p, inside, inside_length);
  if (!split_arguments(p, name, inside, inside_length, &arguments)) return false;
  if (strcmp(name, "launch") == 0) return parse_launch(p, &arguments);
  if (strcmp(name, "tensormap") == 0) return parse_tensormap(p, &arguments);
  return parse_event(p, &arguments);
}

/* `text` is what follows "kcheck:". */
static bool parse_directive(Parse *p, const char *text, size_t length) {
  static const char *const names[] = {"ignore",    "ignore-file", "launch", "assume",
                                      "tensormap", "event",       NULL};
  size_t n = 0;
  while (n < length && (isalnum((unsigned char)text[n]) || text[n] == '-' || text[n] == '_'))
    n++;
  const char *name = kc_strndup(p->arena, text, n);
  while (n < length && text[n] == ' ')
    n++;
  bool whole_file = strcmp(name, "ignore-file") == 0;
  if (whole_file || strcmp(name, "ignore") == 0)
    return parse_ignore(p, whole_file, text + n, length - n);
  if (g_strv_contains(names, name)) return parse_with_arguments(p, name, text + n, length - n);
  if (!*name) return reject(p, "'kcheck:' is followed by no directive");
  const char *near = kc_suggest(name, names);
  if (near) return reject(p, "there is no directive '%s'; did you mean '%s'?", name, near);
  return reject(p,
                "there is no directive '%s'; known are ignore, ignore-file, launch, assume, "
                "tensormap and event",
                name);
}

/* The text after "// kcheck:", or NULL when the comment is an ordinary one. */
static const char *after_marker(const char *text, size_t length, size_t *rest) {
  static const char marker[] = "kcheck:";
  size_t at = 0;
  while (at < length && text[at] == '/')
    at++;
  while (at < length && (text[at] == ' ' || text[at] == '\t'))
    at++;
  if (length - at < sizeof marker - 1 || memcmp(text + at, marker, sizeof marker - 1) != 0)
    return NULL;
  at += sizeof marker - 1;
  while (at < length && (text[at] == ' ' || text[at] == '\t'))
    at++;
  *rest = length - at;
  return text + at;
}

IrDirectives *ir_parse_directives(KcArena *arena, uint32_t file, const char *text, size_t length) {
  Parse p = {.arena = arena, .out = KC_NEW(arena, IrDirectives), .text = text, .length = length};
  IrComments scan = {.text = text, .length = length};
  while (ir_next_comment(&scan, &p.comment)) {
    const IrComment *c = &p.comment;
    size_t rest = 0;
    const char *after = after_marker(text + c->begin, c->end - c->begin, &rest);
    if (!after) continue;
    p.range = (SourceRange){.file = file,
                            .line = c->line,
                            .column = c->column,
                            .end_line = c->line,
                            .end_column = c->column + (uint32_t)(c->end - c->begin)};
    parse_directive(&p, after, rest);
  }
  return p.out;
}
