/* One asm statement: immediates are substituted, the text parsed, its statements lowered. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

typedef KC_VEC(PtxShift) Shifts;

static void shift(KcArena *arena, Shifts *shifts, size_t offset, size_t original,
                  bool substituted) {
  PtxShift run = {(uint32_t)offset, (uint32_t)original, substituted};
  KC_PUSH(arena, *shifts, run);
}

/* Replaces every %N that is bound to a known immediate ("n", "i") by its digits, and every %= (a
 * number of the statement's instance) by `instance`. */
static char *substitute(KcArena *arena, const PtxAsm *statement, int instance, Shifts *shifts) {
  GString *out = g_string_new(NULL);
  const char *text = statement->text;
  size_t length = strlen(text);
  shift(arena, shifts, 0, 0, false);
  for (size_t at = 0; at < length;) {
    if (text[at] == '%' && text[at + 1] == '%') { /* a PTX name: %%r1 */
      g_string_append_len(out, text + at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '%' && text[at + 1] == '=') {
      shift(arena, shifts, out->len, at, true);
      g_string_append_printf(out, "%d", instance);
      at += 2;
      shift(arena, shifts, out->len, at, false);
      continue;
    }
    if (text[at] != '%' || !isdigit((unsigned char)text[at + 1])) {
      g_string_append_c(out, text[at++]);
      continue;
    }
    char *end;
    long number = strtol(text + at + 1, &end, 10);
    size_t next = (size_t)(end - text);
    const PtxAsmOperand *operand =
        number >= 0 && number < statement->noperands ? &statement->operands[number] : NULL;
    bool immediate = operand && operand->dst < 0 && operand->value.kind == IR_OPD_IMM &&
                     strpbrk(operand->constraint, "ni") != NULL;
    if (immediate) {
      shift(arena, shifts, out->len, at, true);
      g_string_append_printf(out, "%lld", (long long)operand->value.value);
      shift(arena, shifts, out->len, next, false);
    } else {
      g_string_append_len(out, text + at, (gssize)(next - at));
    }
    at = next;
  }
  char *result = kc_strndup(arena, out->str, out->len);
  g_string_free(out, TRUE);
  return result;
}

static uint32_t to_template(const PtxLowering *lowering, uint32_t offset) {
  const PtxShift *run = NULL;
  for (int i = 0; i < lowering->nshifts && lowering->shifts[i].offset <= offset; i++)
    run = &lowering->shifts[i];
  if (!run) return offset;
  return run->substituted ? run->original : run->original + (offset - run->offset);
}

/* Line and column of a template byte: each run of the map is one piece of a string literal. */
static bool place(const PtxTextMap *map, uint32_t offset, SourceRange *out) {
  int run = -1;
  for (int i = 0; i < map->count && map->offsets[i] <= offset; i++)
    run = i;
  if (run < 0 || map->starts[run].line == 0) return false;
  *out = map->starts[run];
  out->column += offset - map->offsets[run];
  return true;
}

SourceRange ptx_caret(const PtxLowering *lowering, uint32_t begin, uint32_t end) {
  SourceRange first = {0}, last = {0};
  if (begin >= end) return first;
  if (lowering->module) return ptx_module_caret(lowering, begin, end);
  if (!lowering->statement) return first;
  const PtxTextMap *map = &lowering->statement->map;
  if (!place(map, to_template(lowering, begin), &first) ||
      !place(map, to_template(lowering, end - 1), &last))
    return (SourceRange){0};
  if (last.file == first.file && last.line == first.line && last.column >= first.column) {
    first.end_line = last.line;
    first.end_column = last.column + 1;
  } else {
    first.end_line = first.line;
    first.end_column = first.column + 1;
  }
  return first;
}

static bool clobbers_memory(const PtxAsm *statement) {
  for (int i = 0; i < statement->nclobbers; i++)
    if (strcmp(statement->clobbers[i], "memory") == 0) return true;
  return false;
}

static void record(IrBuilder *b, const PtxAsm *statement, const char *text,
                   const PtxStatements *statements) {
  IrAsm record = {.text = text,
                  .where = b->where,
                  .is_volatile = statement->is_volatile,
                  .memory_clobber = clobbers_memory(statement),
                  .nconstraints = statement->noperands};
  const char **constraints = KC_NEW_ARRAY(b->arena, const char *, statement->noperands);
  IrType *types = KC_NEW_ARRAY(b->arena, IrType, statement->noperands);
  for (int i = 0; i < statement->noperands; i++) {
    constraints[i] = statement->operands[i].constraint;
    types[i] = statement->operands[i].type;
  }
  record.constraints = constraints;
  record.operand_types = types;
  if (statements) {
    KC_VEC(PtxInsn) insns = {0};
    for (int i = 0; i < statements->count; i++)
      if (statements->items[i].kind == PTX_STATEMENT_INSN)
        KC_PUSH(b->arena, insns, statements->items[i].insn);
    record.insns = insns.items ? insns.items : KC_NEW(b->arena, PtxInsn);
    record.ninsns = insns.count;
  }
  KC_PUSH(b->arena, b->kernel->asms, record);
}

/* Outputs of a statement that could not be lowered hold something unknown afterwards. */
static void havoc_outputs(IrBuilder *b, const PtxAsm *statement, const char *reason) {
  PtxArgs outputs = {0};
  for (int i = 0; i < statement->noperands; i++)
    if (statement->operands[i].dst >= 0)
      KC_PUSH(b->arena, outputs, ir_use(statement->operands[i].dst));
  IrInsn *emitted = ir_emit(b, IR_havoc, IR_TYPE_NONE, outputs.items, outputs.count);
  emitted->text = reason;
}

bool ptx_lower_asm(IrBuilder *b, const PtxAsm *statement, IrViolations *violations) {
  Shifts shifts = {0};
  char *text = substitute(b->arena, statement, b->kernel->reachable_asm, &shifts);
  PtxStatements statements = {0};
  PtxParser parser = {.arena = b->arena,
                      .text = text,
                      .length = strlen(text),
                      .is_asm = true,
                      .statements = &statements};
  b->kernel->reachable_asm++;
  PtxLowering lowering;
  ptx_lowering_init(&lowering, b, violations);
  lowering.statement = statement;
  lowering.shifts = shifts.items;
  lowering.nshifts = shifts.count;
  bool parsed = ptx_parse_statements(&parser, 0);
  record(b, statement, text, parsed ? &statements : NULL);
  if (parsed) {
    uint64_t flags = b->extra_flags;
    b->extra_flags |= IR_FLAG(from_asm);
    if (clobbers_memory(statement)) b->extra_flags |= IR_FLAG(memory_clobber);
    ptx_lower_statements(&lowering, statements.items, statements.count);
    b->extra_flags = flags;
    if (!lowering.unsupported) b->kernel->lowered_asm++;
  } else {
    ir_note(b, true, "asm text can't be parsed: %s", parser.error.message);
    havoc_outputs(b, statement, "asm text that can't be parsed");
    IrViolation *v = ir_violation(violations, "arch-unknown-instruction", b->kernel, b->where,
                                  "asm text is no PTX: %s", parser.error.message);
    v->caret = ptx_caret(&lowering, parser.error.offset, parser.error.offset + 1);
  }
  ptx_lowering_clear(&lowering);
  return parsed;
}
