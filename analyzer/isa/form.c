/* The notation of a form: "name.parts slot {optional} {group of slots}; operand, operand".
 * knowledge/isa/README.md describes it for those who add one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "isa/internal.h"

typedef struct Reader {
  KcArena *arena;
  const char *at;
  const char *problem;
} Reader;

static bool fail(Reader *reader, const char *problem) {
  if (!reader->problem) reader->problem = problem;
  return false;
}

static void blanks(Reader *reader) {
  while (*reader->at == ' ')
    reader->at++;
}

static bool take(Reader *reader, char c) {
  blanks(reader);
  if (*reader->at != c) return false;
  reader->at++;
  return true;
}

char isa_order_of(const char *modifier) {
  static const char *const spaces[] = {"shared", "global", "local", "const", "param", NULL};
  for (int i = 0; spaces[i]; i++) {
    size_t length = strlen(spaces[i]);
    if (strncmp(modifier, spaces[i], length) == 0 &&
        (modifier[length] == '\0' || modifier[length] == ':'))
      return 's';
  }
  if (strcmp(modifier, "row") == 0 || strcmp(modifier, "col") == 0) return 'l';
  if (strcmp(modifier, "b1024") == 0) return 0; /* of tensormap.replace: stands anywhere */
  const char *at = modifier;
  if (strncmp(at, "ue", 2) == 0 && isdigit((unsigned char)at[2])) return 't';
  if (*at == 'e' && isdigit((unsigned char)at[1])) return 't';
  if (strncmp(at, "bf", 2) == 0 || strncmp(at, "tf", 2) == 0) at++;
  if (strchr("busf", *at) && isdigit((unsigned char)at[1])) return 't';
  return 0;
}

static const char *word(Reader *reader, const char *stop) {
  const char *begin = reader->at;
  int depth = 0;
  while (*reader->at && (depth > 0 || !strchr(stop, *reader->at))) {
    /* a brace inside a word belongs to a pattern such as m64n{8..256/8}k16 */
    if (*reader->at == '{') depth++;
    if (*reader->at == '}') depth--;
    reader->at++;
  }
  return kc_strndup(reader->arena, begin, (size_t)(reader->at - begin));
}

static const char *const *split(KcArena *arena, const char *text, char separator, int *count) {
  KC_VEC(const char *) parts = {0};
  for (const char *begin = text;; begin = strchr(begin, separator) + 1) {
    const char *end = strchr(begin, separator);
    const char *part = kc_strndup(arena, begin, end ? (size_t)(end - begin) : strlen(begin));
    KC_PUSH(arena, parts, part);
    if (!end) break;
  }
  *count = parts.count;
  return parts.items;
}

static bool parse_mnemonic(Reader *reader, IsaForm *form) {
  blanks(reader);
  form->name = split(reader->arena, word(reader, " ;"), '.', &form->nname);
  KC_VEC(IsaSlot) slots = {0};
  int group = 0;
  bool inside = false;
  for (;;) {
    blanks(reader);
    if (*reader->at == ';' || *reader->at == '\0') break;
    if (!inside && take(reader, '{')) {
      inside = true;
      group++;
      continue;
    }
    if (inside && take(reader, '}')) {
      inside = false;
      continue;
    }
    IsaSlot slot = {.group = inside ? group : 0};
    const char *choices = word(reader, inside ? " ;}" : " ;");
    if (!*choices) return fail(reader, "empty slot");
    slot.choices = split(reader->arena, choices, '|', &slot.nchoices);
    slot.order = isa_order_of(slot.choices[0]);
    KC_PUSH(reader->arena, slots, slot);
  }
  form->slots = slots.items;
  form->nslots = slots.count;
  return inside ? fail(reader, "missing '}' in the mnemonic") : true;
}

/* role:KINDSwidths(range), as in "count:ri32(0..15)" */
static bool parse_plain(Reader *reader, IsaOperand *operand) {
  blanks(reader);
  operand->role = word(reader, ":,]}|?!; ");
  if (!take(reader, ':')) return fail(reader, "expected ':' after the role of an operand");
  if (*reader->at == '*') {
    reader->at++;
    operand->any = true;
  }
  while (isalnum((unsigned char)*reader->at) || *reader->at == '_' || *reader->at == '/') {
    if (isdigit((unsigned char)*reader->at)) {
      operand->widths |= (int)strtol(reader->at, (char **)&reader->at, 10);
      continue;
    }
    switch (*reader->at++) {
    case 'r': operand->accepts |= ISA_ACCEPT_REGISTER; break;
    case 'i': operand->accepts |= ISA_ACCEPT_IMMEDIATE; break;
    case 'p': operand->accepts |= ISA_ACCEPT_PREDICATE; break;
    case 'n': operand->accepts |= ISA_ACCEPT_NEGATION | ISA_ACCEPT_PREDICATE; break;
    case '_': operand->accepts |= ISA_ACCEPT_SINK; break;
    case 'x': operand->accepts |= ISA_ACCEPT_FLOAT; break;
    case '/': break; /* between widths */
    case 'f': operand->any_class = true; break;
    default: return fail(reader, "unknown letter in the kinds of an operand");
    }
  }
  if (*reader->at == '(') {
    reader->at++;
    operand->range = word(reader, ")");
    reader->at++;
  }
  return true;
}

static bool parse_operand(Reader *reader, IsaOperand *operand);

/* What stands up to `close`, behind `first` (or NULL). */
static bool parse_list(Reader *reader, char close, const IsaOperand *first, IsaOperand *operand) {
  KC_VEC(IsaOperand) list = {0};
  if (first) KC_PUSH(reader->arena, list, *first);
  do {
    IsaOperand element = {0};
    if (!parse_operand(reader, &element)) return false;
    KC_PUSH(reader->arena, list, element);
  } while (take(reader, ','));
  operand->list = list.items;
  operand->nlist = list.count;
  return take(reader, close) || fail(reader, "missing end of a list");
}

static bool parse_address(Reader *reader, IsaOperand *operand) {
  operand->kind = ISA_ADDRESS;
  blanks(reader);
  operand->role = word(reader, ":,]");
  if (take(reader, ':')) operand->widths = (int)strtol(reader->at, (char **)&reader->at, 10);
  if (take(reader, ']')) return true;
  return take(reader, ',') && parse_list(reader, ']', NULL, operand);
}

static bool parse_vector(Reader *reader, IsaOperand *operand) {
  if (!parse_plain(reader, operand)) return false;
  operand->kind = ISA_VECTOR;
  if (take(reader, ',')) { /* elements that differ */
    IsaOperand first = *operand;
    first.kind = ISA_PLAIN;
    return parse_list(reader, '}', &first, operand);
  }
  if (take(reader, '*')) operand->count = word(reader, "}");
  return take(reader, '}') || fail(reader, "expected '}'");
}

static bool parse_operand(Reader *reader, IsaOperand *operand) {
  bool good = take(reader, '[')   ? parse_address(reader, operand)
              : take(reader, '{') ? parse_vector(reader, operand)
                                  : parse_plain(reader, operand);
  if (!good) return false;
  if (take(reader, '!')) {
    operand->bare = true;
    operand->bare_widths = (int)strtol(reader->at, (char **)&reader->at, 10);
  }
  if (take(reader, '|')) {
    IsaOperand *both = KC_NEW_ARRAY(reader->arena, IsaOperand, 2);
    both[0] = *operand;
    if (!parse_plain(reader, &both[1])) return false;
    *operand = (IsaOperand){.kind = ISA_PAIR, .role = both[0].role, .list = both, .nlist = 2};
  }
  if (take(reader, '?')) {
    if (take(reader, '(')) {
      operand->when = word(reader, ")");
      reader->at++;
    } else {
      operand->optional = true;
    }
  }
  return true;
}

bool isa_parse_form(KcArena *arena, const char *text, IsaForm *form, const char **problem) {
  Reader reader = {.arena = arena, .at = text};
  form->text = text;
  bool good = parse_mnemonic(&reader, form);
  if (good && take(&reader, ';')) {
    KC_VEC(IsaOperand) operands = {0};
    blanks(&reader);
    if (*reader.at) do {
        IsaOperand operand = {0};
        good = parse_operand(&reader, &operand);
        KC_PUSH(arena, operands, operand);
      } while (good && take(&reader, ','));
    form->operands = operands.items;
    form->noperands = operands.count;
  }
  blanks(&reader);
  if (good && *reader.at) good = fail(&reader, "text left over");
  *problem = reader.problem;
  return good;
}

/* "8..256/8" or "4|8|16" or "2" */
bool isa_in_range(const char *range, int64_t value) {
  for (const char *at = range; at && *at;) {
    char *end;
    int64_t low = strtoll(at, &end, 0), high = low, step = 1;
    if (strncmp(end, "..", 2) == 0) high = strtoll(end + 2, &end, 0);
    if (*end == '/') step = strtoll(end + 1, &end, 0);
    if (value >= low && value <= high && (step <= 1 || (value - low) % step == 0)) return true;
    at = *end == '|' || *end == ',' ? end + 1 : NULL;
  }
  return false;
}

bool isa_choice_fits(const char *choice, const char *modifier) {
  const char *brace = strchr(choice, '{');
  if (!brace) return strcmp(choice, modifier) == 0;
  size_t prefix = (size_t)(brace - choice);
  if (strncmp(choice, modifier, prefix) != 0 || !isdigit((unsigned char)modifier[prefix]))
    return false;
  char *end;
  long value = strtol(modifier + prefix, &end, 10);
  const char *close = strchr(brace, '}');
  if (!close || strcmp(close + 1, end) != 0) return false;
  char range[64];
  size_t length = (size_t)(close - brace - 1);
  if (length >= sizeof range) return false;
  memcpy(range, brace + 1, length);
  range[length] = '\0';
  return isa_in_range(range, value);
}
