/* Where the source says what a finding speaks of: the step of a parity, the definition of a name.
 */
#include "machine/causes/symptom.h"

#include <ctype.h>
#include <string.h>

/* The innermost place alone: the statement itself, not the call that leads there. */
static uint32_t statement_itself(SourceMap *map, uint32_t where) {
  const SourceStack *stack = &map->stacks.items[where];
  if (!map->files.items[stack->range.file].user) return where;
  return source_stack(map, stack->range, 0, NULL);
}

void cause_say_parity(Machine *machine, IrViolation *v, const IrInsn *wait) {
  if (!v || wait->op != IR_event) return;
  const IrInsn *step =
      code_steps(machine->kernel, machine->arena, wait, ir_arg(wait, IR_ROLE_parity));
  if (!step) return;
  SourceMap *map = (SourceMap *)&machine->session->program->sources; /* places are only added */
  ir_violation_related(machine->violations, v, statement_itself(map, step->where),
                       "its parity changes here");
}

static size_t name_length(const char *text) {
  size_t n = 0;
  if (!(isalpha((unsigned char)text[0]) || text[0] == '_')) return 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_')
    n++;
  return n;
}

/* Where the line gives the name its value: column of the name, 1-based, or 0. */
static uint32_t defines(const char *line, size_t length, const char *name, size_t n) {
  for (size_t i = 0; i + n <= length; i++) {
    if (strncmp(line + i, name, n) != 0) continue;
    if (i > 0 && (isalnum((unsigned char)line[i - 1]) || strchr("_.>", line[i - 1]))) continue;
    size_t next = i + n;
    while (next < length && line[next] == ' ')
      next++;
    bool given =
        next + 1 < length && (line[next] == '{' || (line[next] == '=' && line[next + 1] != '='));
    if (given) return (uint32_t)i + 1;
  }
  return 0;
}

void cause_say_defined(Machine *machine, IrViolation *v, const IrInsn *insn) {
  enum { LINES = 400 };
  size_t n = v && insn->text ? name_length(insn->text) : 0;
  if (!n) return;
  SourceMap *map = (SourceMap *)&machine->session->program->sources; /* places are only added */
  uint32_t where = insn->where;
  while (map->stacks.items[where].outer)
    where = map->stacks.items[where].outer;
  SourceRange range = map->stacks.items[where].range;
  for (uint32_t line = range.line; line > 0 && line + LINES > range.line; line--) {
    const char *text;
    size_t length;
    if (!source_line(map, range.file, line, &text, &length)) return;
    uint32_t column = line < range.line ? defines(text, length, insn->text, n) : 0;
    if (!column) continue;
    SourceRange at = {range.file, line, column, line, column + (uint32_t)n};
    ir_violation_related(machine->violations, v, source_stack(map, at, 0, NULL),
                         "%.*s is given here", (int)n, insn->text);
    return;
  }
}
