#include "ir/site.h"

#include <glib.h>

/* The body of one inlined call, identified by the stack of its call site. */
typedef struct Body {
  uint32_t first, last; /* lines */
  uint32_t event_line;  /* the one line that an event passes through; 0: none */
  uint32_t event_end;   /* last line of the statement that begins there */
  bool many_event_lines;
} Body;

struct IrSites {
  const IrProgram *program;
  GHashTable *bodies; /* stack id of the call site -> Body* */
};

enum {
  WRAPPER_LINES = 12,     /* what a wrapper has around its one asm statement, at most */
  PLAIN_WRAPPER_LINES = 3 /* of one without any event: an accessor, a cast */
};

static const SourceMap *map_of(const IrSites *sites) {
  return &sites->program->sources;
}

static const SourceStack *stack_at(const IrSites *sites, uint32_t id) {
  const SourceMap *map = map_of(sites);
  return &map->stacks.items[id < (uint32_t)map->stacks.count ? id : 0];
}

static bool is_user(const IrSites *sites, uint32_t id) {
  const SourceMap *map = map_of(sites);
  uint32_t file = stack_at(sites, id)->range.file;
  return file > 0 && file < (uint32_t)map->files.count && map->files.items[file].user;
}

static Body *body_of(const IrSites *sites, uint32_t call) {
  Body *body = g_hash_table_lookup(sites->bodies, GUINT_TO_POINTER(call));
  if (body) return body;
  body = g_new0(Body, 1);
  g_hash_table_insert(sites->bodies, GUINT_TO_POINTER(call), body);
  return body;
}

static void note_lines(const IrSites *sites) {
  const SourceMap *map = map_of(sites);
  for (uint32_t id = 1; id < (uint32_t)map->stacks.count; id++) {
    const SourceStack *stack = &map->stacks.items[id];
    if (!stack->outer || !stack->range.line) continue;
    Body *body = body_of(sites, stack->outer);
    if (!body->first || stack->range.line < body->first) body->first = stack->range.line;
    if (stack->range.line > body->last) body->last = stack->range.line;
  }
}

static void note_events(const IrSites *sites, const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event) continue;
    for (uint32_t id = insn->where; id; id = stack_at(sites, id)->outer) {
      const SourceStack *stack = stack_at(sites, id);
      if (!stack->outer) break;
      Body *body = body_of(sites, stack->outer);
      if (body->event_line && body->event_line != stack->range.line) body->many_event_lines = true;
      body->event_line = stack->range.line;
      body->event_end = MAX(body->event_end, MAX(stack->range.end_line, stack->range.line));
    }
  }
}

IrSites *ir_sites_new(const IrProgram *program) {
  IrSites *sites = g_new0(IrSites, 1);
  sites->program = program;
  sites->bodies = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  note_lines(sites);
  for (int i = 0; i < program->kernels.count; i++)
    note_events(sites, program->kernels.items[i]);
  return sites;
}

void ir_sites_free(IrSites *sites) {
  if (!sites) return;
  g_hash_table_destroy(sites->bodies);
  g_free(sites);
}

static bool in_wrapper(const IrSites *sites, uint32_t id, bool plain) {
  uint32_t call = stack_at(sites, id)->outer;
  const Body *body = call ? g_hash_table_lookup(sites->bodies, GUINT_TO_POINTER(call)) : NULL;
  if (!body || body->many_event_lines) return false;
  if (!body->event_line) return plain && body->last - body->first < PLAIN_WRAPPER_LINES;
  uint32_t before = body->event_line > body->first ? body->event_line - body->first : 0;
  uint32_t behind = body->last > body->event_end ? body->last - body->event_end : 0;
  return before + behind < WRAPPER_LINES;
}

uint32_t ir_site_caller(const IrSites *sites, uint32_t id) {
  for (id = stack_at(sites, id)->outer; id; id = stack_at(sites, id)->outer)
    if (is_user(sites, id)) return id;
  return 0;
}

static uint32_t climb(const IrSites *sites, uint32_t id, bool plain) {
  id = source_user_frame(map_of(sites), id);
  for (uint32_t caller; in_wrapper(sites, id, plain) && (caller = ir_site_caller(sites, id)) != 0;)
    id = caller;
  return id;
}

uint32_t ir_site(const IrSites *sites, uint32_t stack) {
  return climb(sites, stack, true);
}

uint32_t ir_event_site(const IrSites *sites, uint32_t stack) {
  return climb(sites, stack, false);
}
