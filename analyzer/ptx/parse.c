/* Statements (PTX ISA 4.3, 5.4, 11.5): instructions, labels, declarations, scopes. */
#include <ctype.h>
#include <string.h>

#include "ptx/parse.h"

static char peek(const PtxParser *parser, size_t ahead) {
  size_t at = parser->position + ahead;
  return at < parser->length ? parser->text[at] : '\0';
}

static bool accept(PtxParser *parser, char c) {
  ptx_skip_blank(parser);
  if (peek(parser, 0) != c) return false;
  parser->position++;
  return true;
}

static PtxStatement *push(PtxParser *parser, PtxStatementKind kind, uint32_t begin) {
  PtxStatement statement = {.kind = kind, .begin = begin, .vector = 1, .count = -1};
  KC_PUSH(parser->arena, *parser->statements, statement);
  return &parser->statements->items[parser->statements->count - 1];
}

/* ".name" with `::`, and %N where an immediate of the asm statement could not be substituted. */
static const char *parse_dotted(PtxParser *parser) {
  if (peek(parser, 0) != '.') return NULL;
  size_t at = parser->position + 1, begin = at;
  while (at < parser->length) {
    char c = parser->text[at];
    bool part = isalnum((unsigned char)c) || c == '_' || (parser->is_asm && c == '%');
    if (c == ':' && at + 1 < parser->length && parser->text[at + 1] == ':') {
      at += 2;
      continue;
    }
    if (!part) break;
    at++;
  }
  if (at == begin) return NULL;
  parser->position = at;
  return kc_strndup(parser->arena, parser->text + begin, at - begin);
}

static void skip_statement(PtxParser *parser) {
  while (parser->position < parser->length && peek(parser, 0) != ';')
    parser->position++;
  if (parser->position < parser->length) parser->position++;
}

static void skip_line(PtxParser *parser) {
  while (parser->position < parser->length && peek(parser, 0) != '\n')
    parser->position++;
}

/* `.reg .type name{<n>}, ...;` behind `.reg` */
static bool parse_registers(PtxParser *parser, uint32_t begin) {
  IrType type = IR_TYPE_NONE;
  int vector = 1;
  for (;;) {
    ptx_skip_blank(parser);
    const char *modifier = parse_dotted(parser);
    if (!modifier) break;
    if (strcmp(modifier, "v2") == 0 || strcmp(modifier, "v4") == 0)
      vector = modifier[1] - '0';
    else if (!ptx_type(modifier, &type))
      return ptx_syntax_error(parser, "unknown type in a .reg declaration");
  }
  if (type.cls == IR_CLASS_NONE) return ptx_syntax_error(parser, "expected a type after .reg");
  do {
    ptx_skip_blank(parser);
    const char *name = ptx_parse_name(parser);
    if (!name) return ptx_syntax_error(parser, "expected a register name");
    int64_t count = -1;
    if (accept(parser, '<')) {
      ptx_skip_blank(parser);
      if (!ptx_parse_integer(parser, &count) || count < 0 || count > PTX_MAX_REGISTERS ||
          !accept(parser, '>'))
        return ptx_syntax_error(parser, "expected '<count>' after a register name");
    }
    PtxStatement *statement = push(parser, PTX_STATEMENT_REGISTER, begin);
    statement->name = name;
    statement->type = type;
    statement->vector = vector;
    statement->count = (int)count;
  } while (accept(parser, ','));
  return accept(parser, ';') || ptx_syntax_error(parser, "expected ';' after a .reg declaration");
}

static bool parse_dimensions(PtxParser *parser, PtxStatement *out) {
  while (accept(parser, '[')) {
    int64_t count = 0;
    ptx_skip_blank(parser);
    if (peek(parser, 0) != ']' && !ptx_parse_integer(parser, &count))
      return ptx_syntax_error(parser, "expected an array size");
    if (!accept(parser, ']')) return ptx_syntax_error(parser, "expected ']'");
    out->bytes *= (uint64_t)count;
  }
  return true;
}

bool ptx_parse_variable(PtxParser *parser, IrSpace space, bool external, PtxStatement *out) {
  out->space = space;
  out->external = external;
  for (;;) {
    ptx_skip_blank(parser);
    const char *modifier = parse_dotted(parser);
    if (!modifier) break;
    int64_t value = 0;
    if (strcmp(modifier, "align") == 0) {
      ptx_skip_blank(parser);
      if (!ptx_parse_integer(parser, &value)) return ptx_syntax_error(parser, "expected a number");
      out->align = (uint32_t)value;
    } else if (strcmp(modifier, "attribute") == 0) {
      while (parser->position < parser->length && peek(parser, 0) != ')')
        parser->position++;
      accept(parser, ')');
    } else if (modifier[0] == 'v' && isdigit((unsigned char)modifier[1])) {
      out->vector = modifier[1] - '0';
    } else {
      ptx_type(modifier, &out->type);
    }
  }
  out->name = ptx_parse_name(parser);
  if (!out->name) return ptx_syntax_error(parser, "expected a variable name");
  out->bytes = (uint64_t)(out->type.bytes ? out->type.bytes : 1) * (unsigned)out->vector;
  if (out->align == 0) out->align = (uint32_t)out->bytes;
  return parse_dimensions(parser, out);
}

static bool parse_location(PtxParser *parser, uint32_t begin) {
  size_t end = parser->position;
  while (end < parser->length && parser->text[end] != '\n')
    end++;
  int64_t numbers[6] = {0};
  int n = 0;
  const char *function = NULL;
  while (parser->position < end) {
    char c = peek(parser, 0);
    if (isdigit((unsigned char)c) && n < 6) {
      if (!ptx_parse_integer(parser, &numbers[n++])) break;
    } else if (strncmp(parser->text + parser->position, "function_name", 13) == 0) {
      parser->position += 13;
      ptx_skip_blank(parser);
      function = ptx_parse_name(parser);
      ptx_skip_blank(parser);
      if (accept(parser, '+')) { /* offset inside .debug_str: names are per label */
        int64_t ignored;
        ptx_skip_blank(parser);
        if (!ptx_parse_integer(parser, &ignored)) break;
      }
    } else if (isalpha((unsigned char)c)) {
      ptx_parse_name(parser);
    } else {
      parser->position++;
    }
  }
  parser->position = end;
  PtxStatement *statement = push(parser, PTX_STATEMENT_LOCATION, begin);
  statement->location = (PtxLocation){(int)numbers[0], (int)numbers[1], (int)numbers[2], function,
                                      (int)numbers[3], (int)numbers[4], (int)numbers[5]};
  return true;
}

static bool parse_directive(PtxParser *parser, uint32_t begin) {
  const char *name = parse_dotted(parser);
  if (!name) return ptx_syntax_error(parser, "expected a directive");
  if (strcmp(name, "reg") == 0) return parse_registers(parser, begin);
  if (strcmp(name, "loc") == 0) return parse_location(parser, begin);
  IrSpace space = ptx_space(name);
  if (space != IR_SPACE_NONE) {
    PtxStatement variable = {.kind = PTX_STATEMENT_VARIABLE, .begin = begin, .vector = 1};
    if (!ptx_parse_variable(parser, space, false, &variable)) return false;
    KC_PUSH(parser->arena, *parser->statements, variable);
    skip_statement(parser);
    return true;
  }
  if (strcmp(name, "section") == 0 || strcmp(name, "file") == 0)
    skip_line(parser);
  else
    skip_statement(parser);
  return true;
}

/* `name: .branchtargets a, b;` and `name: .callprototype ...;` */
static bool parse_label_directive(PtxParser *parser, const char *label, uint32_t begin) {
  const char *name = parse_dotted(parser);
  if (!name || strcmp(name, "branchtargets") != 0) {
    skip_statement(parser);
    return true;
  }
  KC_VEC(const char *) targets = {0};
  do {
    ptx_skip_blank(parser);
    const char *target = ptx_parse_name(parser);
    if (!target) return ptx_syntax_error(parser, "expected a label");
    KC_PUSH(parser->arena, targets, target);
  } while (accept(parser, ','));
  PtxStatement *statement = push(parser, PTX_STATEMENT_TARGETS, begin);
  statement->name = label;
  statement->targets = targets.items;
  statement->ntargets = targets.count;
  skip_statement(parser);
  return true;
}

static const char *collapse(KcArena *arena, const char *text, size_t length) {
  char *out = kc_alloc(arena, length + 1);
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    bool blank = isspace((unsigned char)text[i]);
    if (!blank)
      out[n++] = text[i];
    else if (n > 0 && out[n - 1] != ' ')
      out[n++] = ' ';
  }
  while (n > 0 && out[n - 1] == ' ')
    n--;
  out[n] = '\0';
  return out;
}

static bool parse_operands(PtxParser *parser, PtxInsn *insn) {
  KC_VEC(PtxOperand) operands = {0};
  ptx_skip_blank(parser);
  char c = peek(parser, 0);
  while (c != ';' && c != '\0' && c != '}') {
    PtxOperand operand = {0};
    if (!ptx_parse_operand(parser, &operand)) return false;
    KC_PUSH(parser->arena, operands, operand);
    if (!accept(parser, ',')) break;
    ptx_skip_blank(parser);
    c = peek(parser, 0);
  }
  insn->operands = operands.items;
  insn->noperands = operands.count;
  insn->end = (uint32_t)parser->position;
  ptx_skip_blank(parser);
  if (accept(parser, ';')) return true;
  /* nvcc ends the statement with a newline and ptxas wants the semicolon, except before `}` */
  if (parser->position >= parser->length && parser->is_asm) return true;
  return ptx_syntax_error(parser, "expected ';' after an instruction");
}

static bool parse_guard(PtxParser *parser, PtxInsn *insn) {
  insn->guard_negated = accept(parser, '!');
  ptx_skip_blank(parser);
  PtxOperand predicate = {0};
  if (!ptx_parse_operand(parser, &predicate) || !predicate.text)
    return ptx_syntax_error(parser, "expected a predicate after '@'");
  insn->guard = predicate.text;
  ptx_skip_blank(parser);
  return true;
}

static bool parse_instruction(PtxParser *parser, uint32_t begin) {
  PtxInsn insn = {.begin = begin};
  if (accept(parser, '@') && !parse_guard(parser, &insn)) return false;
  size_t start = parser->position;
  insn.opcode = ptx_parse_name(parser);
  if (!insn.opcode) return ptx_syntax_error(parser, "expected an instruction");
  KC_VEC(const char *) modifiers = {0};
  for (const char *modifier = parse_dotted(parser); modifier; modifier = parse_dotted(parser))
    KC_PUSH(parser->arena, modifiers, modifier);
  insn.modifiers = modifiers.items;
  insn.nmodifiers = modifiers.count;
  insn.opcode_end = (uint32_t)parser->position;
  if (!parse_operands(parser, &insn)) return false;
  insn.text = collapse(parser->arena, parser->text + start, insn.end - start);
  push(parser, PTX_STATEMENT_INSN, begin)->insn = insn;
  return true;
}

/* A label if `name :` (not `::`) stands here; *is_label says so. */
static bool parse_label(PtxParser *parser, uint32_t begin, bool *is_label) {
  size_t start = parser->position;
  const char *name = ptx_parse_name(parser);
  ptx_skip_blank(parser);
  *is_label = name && peek(parser, 0) == ':' && peek(parser, 1) != ':';
  if (!*is_label) {
    parser->position = start;
    return true;
  }
  parser->position++;
  ptx_skip_blank(parser);
  if (strncmp(parser->text + parser->position, ".branchtargets", 14) == 0 ||
      strncmp(parser->text + parser->position, ".callprototype", 14) == 0 ||
      strncmp(parser->text + parser->position, ".calltargets", 12) == 0)
    return parse_label_directive(parser, name, begin);
  push(parser, PTX_STATEMENT_LABEL, begin)->name = name;
  return true;
}

bool ptx_parse_statements(PtxParser *parser, int depth) {
  bool nested = depth > 0;
  for (;;) {
    ptx_skip_blank(parser);
    if (parser->position >= parser->length) {
      if (depth > 0) return ptx_syntax_error(parser, "missing '}'");
      return true;
    }
    uint32_t begin = (uint32_t)parser->position;
    char c = peek(parser, 0);
    bool is_label = false;
    if (c == '{') {
      parser->position++;
      if (++depth > PTX_MAX_NESTING) return ptx_syntax_error(parser, "nested too deeply");
      push(parser, PTX_STATEMENT_OPEN, begin);
    } else if (c == '}') {
      parser->position++;
      if (--depth < 0) return ptx_syntax_error(parser, "'}' without '{'");
      if (depth == 0 && nested) return true;
      push(parser, PTX_STATEMENT_CLOSE, begin);
    } else if (c == ';') {
      parser->position++;
    } else if (c == '.') {
      if (!parse_directive(parser, begin)) return false;
    } else if (c == '@') {
      if (!parse_instruction(parser, begin)) return false;
    } else {
      if (!parse_label(parser, begin, &is_label)) return false;
      if (!is_label && !parse_instruction(parser, begin)) return false;
    }
  }
}
