/* asm statements: what the compiler may do to them, and the address operands that they get. */
#include <ctype.h>
#include <string.h>

#include "ptx/ptx.h"
#include "source/internal.h"

static bool has_modifier(const PtxInsn *insn, const char *modifier) {
  for (int i = 0; i < insn->nmodifiers; i++)
    if (strcmp(insn->modifiers[i], modifier) == 0) return true;
  return false;
}

static bool is_insn(const PtxInsn *insn, const char *opcode, const char *modifier) {
  return strcmp(insn->opcode, opcode) == 0 && (!modifier || has_modifier(insn, modifier));
}

/* An asm without outputs is as good as volatile. */
static bool is_volatile(const IrAsm *statement) {
  for (int i = 0; i < statement->nconstraints; i++)
    if (strchr("=+", statement->constraints[i][0])) return statement->is_volatile;
  return true;
}

/* Whether the text is the user's: what stands in a library's header is not for them to change. */
static bool is_own(const SourceCheck *check, const IrAsm *statement) {
  const SourceMap *map = &check->program->sources;
  return map->files.items[map->stacks.items[statement->where].range.file].user;
}

/* ---- clobbers ---- */

typedef enum Side { SIDE_NONE, SIDE_BEFORE, SIDE_AFTER } Side;

/* On which side of the instruction ordinary accesses must stay: a wait holds back what follows, an
 * arrive or fence what went before. */
static Side ordering_side(const PtxInsn *insn) {
  if (is_insn(insn, "mbarrier", "try_wait") || is_insn(insn, "mbarrier", "test_wait"))
    return SIDE_AFTER;
  if (is_insn(insn, "mbarrier", "arrive") || is_insn(insn, "mbarrier", "arrive_drop"))
    return SIDE_BEFORE;
  if (is_insn(insn, "cp", "wait_group") || is_insn(insn, "cp", "wait_all")) return SIDE_AFTER;
  if (is_insn(insn, "fence", "proxy")) return SIDE_BEFORE;
  if (is_insn(insn, "fence", NULL) && insn->nmodifiers > 0 &&
      g_str_has_prefix(insn->modifiers[0], "proxy"))
    return SIDE_BEFORE;
  return SIDE_NONE;
}

static const IrObject *shared_object(const IrKernel *kernel, int before, const IrOperand *address,
                                     bool *converted) {
  int id = source_object_of(kernel, before, address, converted);
  const IrObject *object = id >= 0 ? &kernel->objects.items[id] : NULL;
  return object && object->space == IR_SPACE_SHARED ? object : NULL;
}

/* Of ordinary code: asm statements are volatile as a rule, and those keep their order. */
static bool is_plain_shared(const IrKernel *kernel, int index) {
  const IrInsn *insn = &kernel->insns.items[index];
  if (insn->flags & IR_FLAG(from_asm)) return false;
  if ((insn->op != IR_load && insn->op != IR_store) || insn->nargs == 0) return false;
  const IrOperand *address = &insn->args[insn->op == IR_load ? insn->nargs - 1 : 0];
  return insn->space == IR_SPACE_SHARED || shared_object(kernel, index, address, NULL);
}

/* Whether an ordinary access to shared memory stands between the instruction and the next (or
 * previous) event that the compiler respects. */
static bool touches_shared(const IrKernel *kernel, int event, Side side) {
  int step = side == SIDE_AFTER ? 1 : -1;
  for (int i = event + step; i >= 0 && i < kernel->insns.count; i += step) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && (insn->flags & IR_FLAG(memory_clobber))) return false;
    if (insn->op == IR_event && !(insn->flags & IR_FLAG(from_asm))) return false;
    if (is_plain_shared(kernel, i)) return true;
  }
  return false;
}

static bool asm_guards_accesses(const IrKernel *kernel, const IrAsm *statement, Side side) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->where == statement->where && touches_shared(kernel, i, side))
      return true;
  }
  return false;
}

/* Whether anything behind the statement reads or writes global memory, or hands it to a copy. */
static bool touches_global_after(const IrKernel *kernel, const IrAsm *statement) {
  bool behind = false;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->where == statement->where) {
      behind = true;
      continue;
    }
    if (!behind) continue;
    bool access = insn->op == IR_load || insn->op == IR_store || insn->op == IR_atom;
    bool local = insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_LOCAL ||
                 insn->space == IR_SPACE_PARAM;
    if (access && !local && !is_plain_shared(kernel, i)) return true;
    if (insn->op == IR_event && (ir_arg(insn, IR_ROLE_src_addr) || ir_arg(insn, IR_ROLE_dst_addr) ||
                                 ir_arg(insn, IR_ROLE_map)))
      return true;
    if (insn->op == IR_havoc) return true;
  }
  return false;
}

/* Where the asm is written: the front end places what a macro expands to at the use of the macro,
 * but its definition is what must change. */
static uint32_t written_at(const SourceCheck *check, const IrAsm *statement) {
  SourceMap *map = (SourceMap *)&check->program->sources;
  SourceRange range = map->stacks.items[statement->where].range;
  SourceText text = source_text(check->program, range.file);
  size_t at = source_offset(text, range.line, range.column), begin = at, end = at;
  if (!source_next_word(text, text.length, &end, &begin) || begin != at) return statement->where;
  g_autofree char *word = g_strndup(text.text + begin, end - begin);
  if (!source_find_define(text, word, &at)) return statement->where;
  range.line = range.end_line = source_line_of(text, at);
  range.column = (uint32_t)(at - source_offset(text, range.line, 1)) + 1;
  range.end_column = range.column + (uint32_t)strlen(word);
  return source_stack(map, range, 0, NULL);
}

static void check_clobber(SourceCheck *check, const IrKernel *kernel, const IrAsm *statement) {
  if (statement->memory_clobber) return; /* this alone keeps accesses on their side */
  const char *lacks = is_volatile(statement) ? "has no \"memory\" clobber"
                                             : "is not volatile and has no \"memory\" clobber";
  for (int i = 0; i < statement->ninsns; i++) {
    const PtxInsn *insn = &statement->insns[i];
    if (is_insn(insn, "griddepcontrol", "wait")) {
      if (!touches_global_after(kernel, statement)) return;
      source_once(check, "pdl-asm-memory-clobber", kernel, written_at(check, statement),
                  "the asm of griddepcontrol.wait %s: loads may move above it", lacks);
      return;
    }
    Side side = ordering_side(insn);
    if (side == SIDE_NONE || !asm_guards_accesses(kernel, statement, side)) continue;
    source_once(check, "mbarrier-asm-memory-clobber", kernel, written_at(check, statement),
                "the asm of %s %s: accesses to shared memory %s may move across it", insn->text,
                lacks, side == SIDE_AFTER ? "after it" : "before it");
    return;
  }
}

/* ---- labels ---- */

/* The first label that is defined outside every { } of the text and is not made unique by %=. */
static char *bare_label(const char *text) {
  int depth = 0;
  for (const char *p = text; *p; p++) {
    depth += (*p == '{') - (*p == '}');
    bool starts = p == text || strchr(";{}\n\r\t ", p[-1]);
    if (depth > 0 || !starts || (!isalpha((unsigned char)*p) && !strchr("_$", *p))) continue;
    size_t length = 1;
    while (isalnum((unsigned char)p[length]) || (p[length] && strchr("_$%=", p[length])))
      length++;
    if (p[length] == ':' && p[length + 1] != ':' && !memchr(p, '%', length))
      return g_strndup(p, length);
    p += length - 1;
    if (!p[1]) break;
  }
  return NULL;
}

static void check_label(SourceCheck *check, const IrKernel *kernel, int index) {
  const IrAsm *statement = &kernel->asms.items[index];
  g_autofree char *label = bare_label(statement->text);
  if (!label) return;
  for (int i = 0; i < index; i++) {
    const IrAsm *other = &kernel->asms.items[i];
    g_autofree char *other_label = bare_label(other->text);
    if (!other_label || strcmp(label, other_label) != 0) continue;
    IrViolation *v = source_once(check, "mbarrier-asm-memory-clobber", kernel, statement->where,
                                 "the label %s stands twice in %s: ptxas refuses the second one",
                                 label, kernel->name);
    if (!v) return;
    v->help = "put the loop in { } or name the label with %=";
    ir_violation_related(check->violations, v, other->where, "the other one");
    return;
  }
}

/* ---- address operands ---- */

static bool names_space(const PtxInsn *insn) {
  for (int i = 0; i < insn->nmodifiers; i++)
    if (g_str_has_prefix(insn->modifiers[i], "shared") || !strcmp(insn->modifiers[i], "global"))
      return true;
  return false;
}

/* Instructions whose address is generic when no state space is written. */
static bool takes_generic(const PtxInsn *insn) {
  return is_insn(insn, "tcgen05", "commit") || is_insn(insn, "tcgen05", "alloc") ||
         is_insn(insn, "clusterlaunchcontrol", "try_cancel") || is_insn(insn, "ldmatrix", NULL) ||
         is_insn(insn, "stmatrix", NULL);
}

static void check_space(SourceCheck *check, const IrKernel *kernel, const IrAsm *statement) {
  for (int i = 0; i < statement->ninsns; i++) {
    const PtxInsn *insn = &statement->insns[i];
    if (!takes_generic(insn) || names_space(insn)) continue;
    for (int o = 0; o < insn->noperands; o++) {
      const PtxOperand *operand = &insn->operands[o];
      if (operand->kind != PTX_ADDRESS || operand->count == 0 || operand->list[0].kind != PTX_ASM)
        continue;
      int64_t index = operand->list[0].value;
      if (index < 0 || index >= statement->nconstraints ||
          !strchr(statement->constraints[index], 'r'))
        continue;
      source_once(check, "smem-implicit-generic-space", kernel, statement->where,
                  "%s names no state space, so its 32-bit address is read as a generic one",
                  insn->text);
      return;
    }
  }
}

static bool is_shared_space(uint8_t space) {
  return space == IR_SPACE_SHARED || space == IR_SPACE_SHARED_CLUSTER;
}

/* A pointer that never went through cvta names nothing in the shared window (PTX ISA 6.4.1). */
static void check_pointer(SourceCheck *check, const IrKernel *kernel, int index) {
  const IrInsn *insn = &kernel->insns.items[index];
  if (insn->op != IR_event || !(insn->flags & IR_FLAG(from_asm)) || !is_shared_space(insn->space))
    return;
  for (int a = 0; a < insn->nargs; a++) {
    const IrOperand *operand = &insn->args[a];
    if (operand->role != IR_ROLE_addr && operand->role != IR_ROLE_dst_addr &&
        operand->role != IR_ROLE_mbar)
      continue;
    bool converted = false;
    const IrObject *object = shared_object(kernel, index, operand, &converted);
    if (!object || converted) continue;
    source_once(check, "smem-generic-pointer-in-shared-asm", kernel, insn->where,
                "%s gets the generic address of %s where it wants one in shared memory",
                ir_event_mnemonic((IrEvent)insn->event), object->name);
    return;
  }
}

void source_check_asms(SourceCheck *check, const IrKernel *kernel) {
  for (int i = 0; i < kernel->asms.count; i++) {
    const IrAsm *statement = &kernel->asms.items[i];
    if (!is_own(check, statement)) continue;
    check_clobber(check, kernel, statement);
    check_label(check, kernel, i);
    check_space(check, kernel, statement);
  }
  for (int i = 0; i < kernel->insns.count; i++)
    check_pointer(check, kernel, i);
}
