/* Places: .file, .debug_str and .loc (PTX ISA 11.5). The compiler emits the chain of an inlined
 * call outermost first, so the stack of `inlined_at` is the one that was current there last. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/module.h"

/* Headers of the toolkit and of libraries below it; findings are not placed there. */
static bool is_user_path(const char *path) {
  return strncmp(path, "/usr/", 5) != 0 && strstr(path, "/targets/x86_64-linux/") == NULL &&
         strstr(path, "/include/cccl/") == NULL && strstr(path, "/cuda/include/") == NULL;
}

static void read_file(PtxModule *module, const char *at) {
  char *end;
  long number = strtol(at, &end, 10);
  const char *open = strchr(end, '"');
  const char *newline = strchr(end, '\n');
  if (!open || (newline && open > newline)) return;
  const char *close = strchr(open + 1, '"');
  if (!close) return;
  const char *path = kc_strndup(module->arena, open + 1, (size_t)(close - open - 1));
  uint32_t id = source_file(&module->program->sources, path, is_user_path(path));
  g_hash_table_insert(module->files, GINT_TO_POINTER((int)number), GINT_TO_POINTER((int)id + 1));
}

/* `$L__info_string0:` and its `.b8 95,90,...` lines; *at is left behind them. */
static void read_string(PtxModule *module, const char **at) {
  const char *colon = strchr(*at, ':');
  if (!colon) {
    *at += strlen(*at);
    return;
  }
  char *label = kc_strndup(module->arena, *at, (size_t)(colon - *at));
  g_autoptr(GString) text = g_string_new(NULL);
  const char *line = colon + 1;
  for (;;) {
    while (isspace((unsigned char)*line))
      line++;
    if (strncmp(line, ".b8", 3) != 0) break;
    for (line += 3; *line && *line != '\n';) {
      if (isdigit((unsigned char)*line)) {
        char *end;
        long byte = strtol(line, &end, 10);
        if (byte > 0 && byte < 256) g_string_append_c(text, (char)byte);
        line = end;
      } else {
        line++;
      }
    }
  }
  g_hash_table_insert(module->strings, label, kc_strndup(module->arena, text->str, text->len));
  *at = line;
}

void ptx_read_debug(PtxModule *module) {
  const char *text = module->text;
  for (const char *at = text; (at = strstr(at, ".file")) != NULL;) {
    bool starts_line = at == text || at[-1] == '\n' || at[-1] == '\t' || at[-1] == ' ';
    at += 5;
    if (starts_line && isspace((unsigned char)*at)) read_file(module, at);
  }
  const char *section = strstr(text, ".debug_str");
  for (const char *at = section; at && (at = strstr(at, "$L__info_string")) != NULL;)
    read_string(module, &at);
}

/* Statements come in order, so the line is counted on from the last one. */
SourceRange ptx_text_place(PtxModule *module, uint32_t begin, uint32_t end) {
  if (begin < module->line_offset) {
    module->line_offset = 0;
    module->line = 1;
  }
  const char *text = module->text;
  for (;;) {
    const char *newline =
        memchr(text + module->line_offset, '\n', module->length - module->line_offset);
    if (!newline || (size_t)(newline - text) >= begin) break;
    module->line_offset = (size_t)(newline - text) + 1;
    module->line++;
  }
  uint32_t column = begin - (uint32_t)module->line_offset + 1;
  const char *newline = memchr(text + begin, '\n', module->length - begin);
  uint32_t last = newline ? (uint32_t)(newline - text) : (uint32_t)module->length;
  if (end > last) end = last;
  return (SourceRange){module->file, module->line, column, module->line,
                       column + (end > begin ? end - begin : 1)};
}

SourceRange ptx_module_caret(const PtxLowering *lowering, uint32_t begin, uint32_t end) {
  /* the place is in the source then, and the caret must be in the same file */
  if (lowering->module->has_locations) return (SourceRange){0};
  return ptx_text_place(lowering->module, begin, end);
}

static char *key_of(const PtxModule *module, int file, int line, int column) {
  return kc_printf(module->arena, "%d:%d:%d", file, line, column);
}

static uint32_t stack_of(PtxModule *module, const PtxLocation *location) {
  int file = GPOINTER_TO_INT(g_hash_table_lookup(module->files, GINT_TO_POINTER(location->file)));
  if (file == 0 || location->line == 0) return 0;
  uint32_t outer = 0;
  if (location->at_line > 0) {
    g_autofree char *key =
        g_strdup_printf("%d:%d:%d", location->at_file, location->at_line, location->at_column);
    outer = GPOINTER_TO_UINT(g_hash_table_lookup(module->stacks, key));
  }
  const char *mangled =
      location->function ? g_hash_table_lookup(module->strings, location->function) : NULL;
  SourceRange range = {(uint32_t)file - 1, (uint32_t)location->line, (uint32_t)location->column,
                       (uint32_t)location->line, (uint32_t)location->column + 1};
  uint32_t stack = source_stack(&module->program->sources, range, outer,
                                mangled ? ptx_demangle(module->arena, mangled) : NULL);
  g_hash_table_insert(module->stacks,
                      key_of(module, location->file, location->line, location->column),
                      GUINT_TO_POINTER(stack));
  return stack;
}

void ptx_module_place(PtxLowering *lowering, const PtxStatement *statement) {
  PtxModule *module = lowering->module;
  if (statement->kind == PTX_STATEMENT_LOCATION) {
    uint32_t stack = stack_of(module, &statement->location);
    if (stack) {
      module->has_locations = true;
      lowering->b->where = stack;
    }
  } else if (!module->has_locations && statement->kind == PTX_STATEMENT_INSN) {
    SourceRange range = ptx_text_place(module, statement->insn.begin, statement->insn.end);
    lowering->b->where = source_stack(&module->program->sources, range, 0, NULL);
  }
}
