/* Blanks, names, literals and operands (PTX ISA 4.4, 4.5, 6). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parse.h"

bool ptx_syntax_error(PtxParser *parser, const char *message) {
  if (!parser->error.message) {
    parser->error.message = message;
    parser->error.offset = (uint32_t)parser->position;
  }
  return false;
}

static char peek(const PtxParser *parser, size_t ahead) {
  size_t at = parser->position + ahead;
  return at < parser->length ? parser->text[at] : '\0';
}

void ptx_skip_blank(PtxParser *parser) {
  for (;;) {
    char c = peek(parser, 0);
    if (c != '\0' && isspace((unsigned char)c)) {
      parser->position++;
    } else if (c == '/' && peek(parser, 1) == '/') {
      while (parser->position < parser->length && peek(parser, 0) != '\n')
        parser->position++;
    } else if (c == '/' && peek(parser, 1) == '*') {
      parser->position += 2;
      while (parser->position < parser->length &&
             !(peek(parser, 0) == '*' && peek(parser, 1) == '/'))
        parser->position++;
      parser->position =
          parser->position + 2 < parser->length ? parser->position + 2 : parser->length;
    } else {
      return;
    }
  }
}

static bool accept(PtxParser *parser, char c) {
  ptx_skip_blank(parser);
  if (peek(parser, 0) != c) return false;
  parser->position++;
  return true;
}

static bool is_name_start(char c) {
  return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_name_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

const char *ptx_parse_name(PtxParser *parser) {
  if (parser->is_asm && peek(parser, 0) == '%' && peek(parser, 1) == '%') parser->position++;
  size_t begin = parser->position, at = begin;
  if (at >= parser->length || !is_name_start(parser->text[at])) return NULL;
  at++;
  while (at < parser->length && is_name_char(parser->text[at]))
    at++;
  /* %tid.x and the elements of vector registers */
  if (parser->text[begin] == '%')
    while (at + 1 < parser->length && parser->text[at] == '.' &&
           isalpha((unsigned char)parser->text[at + 1])) {
      at++;
      while (at < parser->length && is_name_char(parser->text[at]))
        at++;
    }
  parser->position = at;
  return kc_strndup(parser->arena, parser->text + begin, at - begin);
}

bool ptx_parse_integer(PtxParser *parser, int64_t *value) {
  const char *text = parser->text + parser->position;
  size_t left = parser->length - parser->position, used = 0;
  bool negative = false;
  while (used < left &&
         (text[used] == '-' || text[used] == '+' || isspace((unsigned char)text[used]))) {
    if (text[used] == '-') negative = !negative;
    used++;
  }
  if (used >= left || !isdigit((unsigned char)text[used])) return false;
  unsigned base = 10;
  if (text[used] == '0' && used + 1 < left) {
    char c = text[used + 1];
    base = c == 'x' || c == 'X' ? 16 : c == 'b' || c == 'B' ? 2 : 8;
    if (base != 8) used += 2;
  }
  uint64_t number = 0;
  size_t digits = 0;
  for (; used < left && isxdigit((unsigned char)text[used]); used++, digits++) {
    char c = (char)tolower((unsigned char)text[used]);
    unsigned digit = (unsigned)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    if (digit >= base) break;
    number = number * base + digit;
  }
  if (digits == 0) return false;
  if (used < left && (text[used] == 'U' || text[used] == 'u')) used++;
  if (used < left &&
      (is_name_char(text[used]) || (text[used] == '.' && (base == 10 || base == 8) &&
                                    used + 1 < left && isdigit((unsigned char)text[used + 1]))))
    return false;
  parser->position += used;
  *value = (int64_t)(negative ? 0 - number : number);
  return true;
}

/* 0f3F800000, 0d3FF0000000000000, 1.5, 1e-3 */
static bool parse_float(PtxParser *parser) {
  size_t at = parser->position;
  const char *text = parser->text;
  if (at < parser->length && (text[at] == '-' || text[at] == '+')) at++;
  if (at >= parser->length || !(isdigit((unsigned char)text[at]) || text[at] == '.')) return false;
  while (at < parser->length &&
         (isalnum((unsigned char)text[at]) || text[at] == '.' ||
          ((text[at] == '-' || text[at] == '+') && tolower((unsigned char)text[at - 1]) == 'e')))
    at++;
  if (at == parser->position) return false;
  parser->position = at;
  return true;
}

static bool parse_atom(PtxParser *parser, PtxOperand *operand);

static bool parse_list(PtxParser *parser, char close, PtxOperand *operand) {
  KC_VEC(PtxOperand) list = {0};
  operand->kind = PTX_VECTOR;
  if (!accept(parser, close)) {
    for (;;) {
      PtxOperand element = {0};
      if (!ptx_parse_operand(parser, &element)) return false;
      KC_PUSH(parser->arena, list, element);
      if (accept(parser, close)) break;
      if (!accept(parser, ','))
        return ptx_syntax_error(parser, "expected ',' in a list of operands");
    }
  }
  operand->list = list.items;
  operand->count = list.count;
  return true;
}

static bool parse_offset(PtxParser *parser, int64_t *offset) {
  for (;;) {
    ptx_skip_blank(parser);
    char c = peek(parser, 0);
    if (c != '+' && c != '-') return true;
    size_t start = parser->position;
    int64_t value = 0;
    if (!ptx_parse_integer(parser, &value)) {
      parser->position = start;
      return ptx_syntax_error(parser, "an address is a register or symbol plus a constant");
    }
    *offset = (int64_t)((uint64_t)*offset + (uint64_t)value);
  }
}

static bool parse_address(PtxParser *parser, PtxOperand *operand) {
  operand->kind = PTX_ADDRESS;
  KC_VEC(PtxOperand) list = {0};
  for (;;) {
    PtxOperand element = {0};
    if (!ptx_parse_operand(parser, &element)) return false;
    if (list.count == 0) {
      if (!parse_offset(parser, &operand->value)) return false;
      /* symbol + constant was already read as one operand */
      operand->value += element.kind == PTX_REG ? element.value : 0;
    }
    KC_PUSH(parser->arena, list, element);
    if (accept(parser, ']')) break;
    if (!accept(parser, ',')) return ptx_syntax_error(parser, "expected ']' after an address");
  }
  operand->list = list.items;
  operand->count = list.count;
  return true;
}

/* %N of an asm statement; a second register may follow as a pair. */
static bool parse_asm_operand(PtxParser *parser, PtxOperand *operand) {
  if (!parser->is_asm || peek(parser, 0) != '%' || !isdigit((unsigned char)peek(parser, 1)))
    return false;
  size_t at = parser->position + 1;
  int64_t number = 0;
  while (at < parser->length && isdigit((unsigned char)parser->text[at]) && number < 100000)
    number = number * 10 + (parser->text[at++] - '0');
  operand->kind = PTX_ASM;
  operand->value = number;
  operand->text = kc_strndup(parser->arena, parser->text + parser->position, at - parser->position);
  parser->position = at;
  return true;
}

static bool parse_inner(PtxParser *parser, PtxOperand *operand) {
  char c = peek(parser, 0);
  if (c == '[' || c == '{' || c == '(') {
    parser->position++;
    return c == '[' ? parse_address(parser, operand)
                    : parse_list(parser, c == '{' ? '}' : ')', operand);
  }
  if (parse_asm_operand(parser, operand)) return true;
  size_t start = parser->position;
  if (ptx_parse_integer(parser, &operand->value)) {
    operand->kind = PTX_IMM;
    operand->text = kc_strndup(parser->arena, parser->text + start, parser->position - start);
    return true;
  }
  if (parse_float(parser)) {
    operand->kind = PTX_FLOAT;
    operand->text = kc_strndup(parser->arena, parser->text + start, parser->position - start);
    return true;
  }
  if (c == '!' || c == '-' || c == '~') {
    parser->position++;
    ptx_skip_blank(parser);
    if (!parse_atom(parser, operand)) return false;
    operand->negated = !operand->negated;
    return true;
  }
  const char *name = ptx_parse_name(parser);
  if (!name) return ptx_syntax_error(parser, "expected an operand");
  operand->text = name;
  operand->kind = strcmp(name, "_") == 0               ? PTX_SINK
                  : ptx_special(name) != IR_SREG_COUNT ? PTX_SREG
                                                       : PTX_REG;
  if (operand->kind == PTX_REG && name[0] != '%') return parse_offset(parser, &operand->value);
  return true;
}

static bool parse_atom(PtxParser *parser, PtxOperand *operand) {
  if (parser->depth >= PTX_MAX_NESTING) return ptx_syntax_error(parser, "nested too deeply");
  parser->depth++;
  bool good = parse_inner(parser, operand);
  parser->depth--;
  return good;
}

bool ptx_parse_operand(PtxParser *parser, PtxOperand *operand) {
  ptx_skip_blank(parser);
  uint32_t begin = (uint32_t)parser->position;
  if (!parse_atom(parser, operand)) return false;
  operand->begin = begin;
  operand->end = (uint32_t)parser->position;
  if (!accept(parser, '|')) return true;
  PtxOperand *both = KC_NEW_ARRAY(parser->arena, PtxOperand, 2);
  both[0] = *operand;
  ptx_skip_blank(parser);
  both[1].begin = (uint32_t)parser->position;
  if (!parse_atom(parser, &both[1])) return false;
  both[1].end = (uint32_t)parser->position;
  *operand = (PtxOperand){.kind = PTX_PAIR,
                          .list = both,
                          .count = 2,
                          .begin = begin,
                          .end = (uint32_t)parser->position};
  return true;
}
