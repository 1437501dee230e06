/* Conversions of two values at once: `cvt.rn.bf16x2.f32 d, a, b` puts a into the upper half of d
 * and b into the lower one (PTX ISA 9.7.9.21; of four values the first is the uppermost, too).
 * Memory is little-endian: the lower half is the element that comes first. An asm statement that
 * names element i before element i + 1 of one array therefore stores every pair swapped, unless the
 * format asks for that, and so this is advice. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "source/internal.h"

enum { MOST_OPERANDS = 32 };

typedef struct Expression { /* of an operand, without its constraint */
  size_t begin, end;
} Expression;

static bool packs(const PtxInsn *insn) {
  static const char *const types[] = {"f16x2",  "bf16x2", "e4m3x2", "e5m2x2", "e2m1x2",
                                      "e2m3x2", "e3m2x2", "e4m3x4", "e2m1x4", NULL};
  if (strcmp(insn->opcode, "cvt") != 0 || insn->nmodifiers < 2 ||
      strcmp(insn->modifiers[insn->nmodifiers - 1], "f32") != 0)
    return false;
  for (const char *const *type = types; *type; type++)
    if (strcmp(insn->modifiers[insn->nmodifiers - 2], *type) == 0) return true;
  return false;
}

/* Reads the constraints and expressions behind the template of an asm statement. */
static int read_operands(SourceText text, size_t at, size_t end, Expression *list) {
  int count = 0;
  bool in_operands = false;
  while (at < end && text.text[at] != '(')
    at++;
  for (at++; at < end; at++) {
    char c = text.text[at];
    if (c == '"') {
      for (at++; at < end && text.text[at] != '"'; at++)
        if (text.text[at] == '\\') at++;
    } else if (c == ':') {
      in_operands = true;
    } else if (c == '(' && in_operands && count < MOST_OPERANDS) {
      size_t close = source_skip_brackets(text, at, '(', ')');
      list[count++] = (Expression){at + 1, close - 1};
      at = close - 1;
    } else if (c == ';') {
      break;
    }
  }
  return count;
}

/* `name[7]`, `name.x`, `name->y`: the length of what stands before the number, and the number. */
static bool element(SourceText text, const Expression *e, size_t *stem, int *number) {
  static const char axes[] = "xyzw";
  size_t begin = e->begin, end = e->end;
  while (end > begin && isspace((unsigned char)text.text[end - 1]))
    end--;
  if (end < begin + 3) return false;
  const char *last = text.text + end - 1;
  if (*last == ']') {
    size_t at = end - 1;
    while (at > begin && isdigit((unsigned char)text.text[at - 1]))
      at--;
    if (at == end - 1 || text.text[at - 1] != '[') return false;
    *number = atoi(text.text + at);
    *stem = at - begin;
    return true;
  }
  const char *axis = strchr(axes, *last);
  if (!axis || !*last || (last[-1] != '.' && last[-1] != '>')) return false;
  *number = (int)(axis - axes);
  *stem = end - 1 - begin;
  return true;
}

static bool ascends(SourceText text, const Expression *a, const Expression *b) {
  size_t first, second;
  int low, high;
  return element(text, a, &first, &low) && element(text, b, &second, &high) && first == second &&
         memcmp(text.text + a->begin, text.text + b->begin, first) == 0 && high == low + 1;
}

static const PtxOperand *source_operand(const PtxInsn *insn, int which) {
  if (insn->noperands > 1 && insn->operands[1].kind == PTX_VECTOR)
    return which < insn->operands[1].count ? &insn->operands[1].list[which] : NULL;
  return which + 1 < insn->noperands ? &insn->operands[which + 1] : NULL;
}

static bool swaps(SourceText text, const PtxInsn *insn, const Expression *list, int count) {
  const PtxOperand *a = source_operand(insn, 0), *b = source_operand(insn, 1);
  if (!packs(insn) || !a || !b || a->kind != PTX_ASM || b->kind != PTX_ASM) return false;
  return a->value >= 0 && b->value >= 0 && a->value < count && b->value < count &&
         ascends(text, &list[a->value], &list[b->value]);
}

void source_check_packing(SourceCheck *check, const IrKernel *kernel) {
  const SourceMap *map = &check->program->sources;
  for (int i = 0; i < kernel->asms.count; i++) {
    const IrAsm *statement = &kernel->asms.items[i];
    const SourceRange *range = &map->stacks.items[statement->where].range;
    if (!map->files.items[range->file].user) continue;
    const PtxInsn *found = NULL;
    Expression list[MOST_OPERANDS];
    for (int n = 0; n < statement->ninsns && !found; n++) {
      if (!packs(&statement->insns[n])) continue;
      SourceText text = source_text(check->program, range->file);
      if (!text.length) break;
      int count = read_operands(text, source_offset(text, range->line, range->column),
                                source_offset(text, range->end_line, range->end_column), list);
      if (count != statement->nconstraints) break;
      if (swaps(text, &statement->insns[n], list, count)) found = &statement->insns[n];
    }
    if (!found) continue;
    IrViolation *v = source_once(
        check, "numerics-packed-order", kernel, statement->where,
        "%s puts its first source into the upper half: the element with the lower index is given "
        "first, and so every pair lies swapped in memory",
        found->text);
    if (v) v->confidence = IR_FALLBACK;
  }
}
