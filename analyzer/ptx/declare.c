/* The top level of a module: .version, .target, variables, functions (PTX ISA 5.4, 11.1 to 11.4).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/module.h"

typedef struct Reader {
  PtxModule *module;
  PtxParser parser;
} Reader;

static char peek(const Reader *reader) {
  return reader->parser.position < reader->parser.length
             ? reader->parser.text[reader->parser.position]
             : '\0';
}

static bool accept(Reader *reader, char c) {
  ptx_skip_blank(&reader->parser);
  if (peek(reader) != c) return false;
  reader->parser.position++;
  return true;
}

/* ".word" at the position; left where it is when there is none. */
static const char *dotted(Reader *reader) {
  ptx_skip_blank(&reader->parser);
  if (peek(reader) != '.') return NULL;
  size_t begin = ++reader->parser.position;
  while (isalnum((unsigned char)peek(reader)) || peek(reader) == '_' || peek(reader) == ':')
    reader->parser.position++;
  return kc_strndup(reader->module->arena, reader->parser.text + begin,
                    reader->parser.position - begin);
}

static void skip_to(Reader *reader, char stop) {
  while (peek(reader) && peek(reader) != stop)
    reader->parser.position++;
  if (peek(reader)) reader->parser.position++;
}

static void skip_braces(Reader *reader) {
  skip_to(reader, '{');
  for (int depth = 1; depth > 0 && peek(reader); reader->parser.position++)
    depth += (peek(reader) == '{') - (peek(reader) == '}');
}

static char *rest_of_line(Reader *reader) {
  size_t begin = reader->parser.position;
  while (peek(reader) && peek(reader) != '\n')
    reader->parser.position++;
  return kc_strndup(reader->module->arena, reader->parser.text + begin,
                    reader->parser.position - begin);
}

/* "sm_90a, debug" -> "sm_90a" */
static void read_target(Reader *reader) {
  char *line = rest_of_line(reader);
  char *at = strstr(line, "sm_");
  if (!at) return;
  size_t length = 3;
  while (isalnum((unsigned char)at[length]))
    length++;
  reader->module->target = kc_strndup(reader->module->arena, at, length);
}

static void read_version(Reader *reader) {
  char *end;
  const char *line = rest_of_line(reader);
  long major = strtol(line, &end, 10);
  if (major < 0 || major > 99) return;
  reader->module->version = (int)major * 10 + (*end == '.' ? atoi(end + 1) : 0);
}

static int read_numbers(Reader *reader, int *out, int most) {
  int count = 0;
  do {
    int64_t value;
    ptx_skip_blank(&reader->parser);
    if (!ptx_parse_integer(&reader->parser, &value)) break;
    if (count < most) out[count++] = (int)value;
  } while (accept(reader, ','));
  return count;
}

/* `.param {.align n} .type {.ptr {.space} {.align n}} name{[n]}` */
static bool read_param(Reader *reader, PtxParam *param) {
  uint32_t align = 0;
  for (;;) {
    const char *word = dotted(reader);
    if (!word) break;
    if (strcmp(word, "align") == 0) {
      int value = 0;
      read_numbers(reader, &value, 1);
      if (!param->pointer) align = (uint32_t)value;
    } else if (strcmp(word, "ptr") == 0) {
      param->pointer = true;
    } else {
      ptx_type(word, &param->type);
    }
  }
  param->name = ptx_parse_name(&reader->parser);
  if (!param->name) return ptx_syntax_error(&reader->parser, "expected the name of a parameter");
  param->bytes = param->type.bytes ? param->type.bytes : 1;
  param->align = align ? align : (uint32_t)param->bytes;
  if (accept(reader, '[')) {
    int count = 1;
    read_numbers(reader, &count, 1);
    accept(reader, ']');
    param->bytes *= (uint64_t)count;
    param->type = IR_TYPE_NONE;
  }
  return true;
}

static bool read_params(Reader *reader, PtxParams *params) {
  uint64_t offset = 0;
  if (!accept(reader, '(')) return true;
  while (!accept(reader, ')')) {
    PtxParam param = {0};
    if (!read_param(reader, &param)) return false;
    offset = (offset + param.align - 1) / param.align * param.align;
    param.offset = offset;
    offset += param.bytes;
    KC_PUSH(reader->module->arena, *params, param);
    accept(reader, ',');
    if (!peek(reader)) return ptx_syntax_error(&reader->parser, "missing ')'");
  }
  return true;
}

/* Performance-tuning and cluster directives between the parameters and the body. */
static void read_directives(Reader *reader, PtxFunction *function) {
  for (const char *word = dotted(reader); word; word = dotted(reader)) {
    if (strcmp(word, "maxntid") == 0) {
      function->has_maxntid = read_numbers(reader, function->maxntid, 3) > 0;
    } else if (strcmp(word, "reqntid") == 0) {
      read_numbers(reader, function->reqntid, 3);
    } else if (strcmp(word, "reqnctapercluster") == 0) {
      read_numbers(reader, function->cluster, 3);
    } else if (strcmp(word, "minnctapersm") == 0) {
      read_numbers(reader, &function->minnctapersm, 1);
    } else if (strcmp(word, "maxnreg") == 0) {
      read_numbers(reader, &function->maxnreg, 1);
    } else if (strcmp(word, "maxclusterrank") == 0) {
      read_numbers(reader, &function->maxclusterrank, 1);
    } else if (strcmp(word, "pragma") == 0) {
      skip_to(reader, ';');
    } else {
      int ignored;
      read_numbers(reader, &ignored, 1);
    }
  }
}

static bool read_function(Reader *reader, bool entry) {
  PtxModule *module = reader->module;
  PtxFunction *function = KC_NEW(module->arena, PtxFunction);
  function->entry = entry;
  ptx_skip_blank(&reader->parser);
  if (!entry && peek(reader) == '(' && !read_params(reader, &function->results)) return false;
  ptx_skip_blank(&reader->parser);
  uint32_t begin = (uint32_t)reader->parser.position;
  function->name = ptx_parse_name(&reader->parser);
  if (!function->name) return ptx_syntax_error(&reader->parser, "expected the name of a function");
  SourceRange place = ptx_text_place(module, begin, (uint32_t)reader->parser.position);
  function->where = source_stack(&module->program->sources, place, 0, NULL);
  if (!read_params(reader, &function->params)) return false;
  read_directives(reader, function);
  if (accept(reader, '{')) {
    function->has_body = true;
    reader->parser.statements = &function->body;
    if (!ptx_parse_statements(&reader->parser, 1)) return false;
  } else {
    accept(reader, ';');
  }
  PtxFunction *known = g_hash_table_lookup(module->functions, function->name);
  if (!known || function->has_body)
    g_hash_table_insert(module->functions, (gpointer)function->name, function);
  return true;
}

static bool read_variable(Reader *reader, IrSpace space, bool external) {
  PtxModule *module = reader->module;
  PtxVariable *variable = KC_NEW(module->arena, PtxVariable);
  variable->statement.vector = 1;
  variable->statement.begin = (uint32_t)reader->parser.position;
  if (!ptx_parse_variable(&reader->parser, space, external, &variable->statement)) return false;
  variable->read_only = space == IR_SPACE_CONST;
  if (space != IR_SPACE_SHARED) {
    uint64_t align = MAX(variable->statement.align, 256);
    module->global_top = (module->global_top + align - 1) / align * align;
    variable->address = IR_GLOBAL_BASE + module->global_top;
    module->global_top += variable->statement.bytes ? variable->statement.bytes : align;
  }
  g_hash_table_insert(module->variables, (gpointer)variable->statement.name, variable);
  skip_to(reader, ';');
  return true;
}

static bool read_declaration(Reader *reader, const char *word) {
  bool external = false;
  while (word && (strcmp(word, "visible") == 0 || strcmp(word, "weak") == 0 ||
                  strcmp(word, "extern") == 0 || strcmp(word, "common") == 0)) {
    external = external || strcmp(word, "extern") == 0;
    word = dotted(reader);
  }
  if (!word) return ptx_syntax_error(&reader->parser, "expected a declaration");
  if (strcmp(word, "entry") == 0) return read_function(reader, true);
  if (strcmp(word, "func") == 0) return read_function(reader, false);
  if (strcmp(word, "version") == 0) {
    ptx_skip_blank(&reader->parser);
    read_version(reader);
  } else if (strcmp(word, "target") == 0) {
    read_target(reader);
  } else if (strcmp(word, "address_size") == 0 || strcmp(word, "file") == 0) {
    rest_of_line(reader);
  } else if (strcmp(word, "section") == 0) {
    skip_braces(reader);
  } else if (ptx_space(word) != IR_SPACE_NONE) {
    return read_variable(reader, ptx_space(word), external);
  } else {
    skip_to(reader, ';');
  }
  return true;
}

bool ptx_read_module(PtxModule *module, KcError *error) {
  Reader reader = {
      .module = module,
      .parser = {.arena = module->arena, .text = module->text, .length = module->length}};
  for (;;) {
    ptx_skip_blank(&reader.parser);
    if (!peek(&reader)) return true;
    const char *word = dotted(&reader);
    bool good = word ? read_declaration(&reader, word)
                     : ptx_syntax_error(&reader.parser, "expected a directive");
    if (good) continue;
    SourceRange place =
        ptx_text_place(module, reader.parser.error.offset, reader.parser.error.offset + 1);
    return kc_fail(error, module->program->path, (int)place.line, (int)place.column, "%s",
                   reader.parser.error.message);
  }
}

const char *ptx_demangle(KcArena *arena, const char *name) {
  if (strncmp(name, "_Z", 2) != 0) return name;
  const char *at = name + 2, *last = NULL;
  bool nested = name[2] == 'N';
  size_t length = 0;
  while (*at && !isdigit((unsigned char)*at) && strchr("NLSZt_KrV", *at))
    at++;
  /* N: a run of names, the last one before template arguments is meant */
  while (isdigit((unsigned char)*at)) {
    char *end;
    unsigned long count = strtoul(at, &end, 10);
    if (count == 0 || count > strlen(end)) break;
    last = end;
    length = count;
    at = end + count;
    if (!nested) break; /* parameter types follow */
  }
  /* a local entity names its function first: _ZZ4gemmvE4smem */
  for (const char *local = name[2] == 'Z' ? strchr(name, 'E') : NULL; local;
       local = strchr(local + 1, 'E')) {
    char *end;
    unsigned long count = isdigit((unsigned char)local[1]) ? strtoul(local + 1, &end, 10) : 0;
    if (count > 0 && count <= strlen(end) &&
        end[count + strspn(end + count, "_0123456789")] == '\0')
      return kc_strndup(arena, end, count);
  }
  return last ? kc_strndup(arena, last, length) : name;
}
