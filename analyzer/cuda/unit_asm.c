/* The parts of asm statements: template, operands, clobbers, and where each byte of the template
 * stands in the source. libclang shows them from version 21 on; before, they are read from clang's
 * own print of the enclosing function, matched in order. */
#include "cuda/unit.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* ---- template spelling ---- */

/* clang gives the template in LLVM's spelling ($0, $$, ${1:x}, ${:uid}, a bare % for %%); back to
 * the one of the source, with symbolic operand names already numbers. */
static char *template_from_llvm(const char *text) {
  GString *out = g_string_new(NULL);
  for (const char *at = text; *at; at++) {
    if (*at == '%') {
      g_string_append(out, "%%");
    } else if (*at != '$') {
      g_string_append_c(out, *at);
    } else if (at[1] == '$') {
      g_string_append_c(out, '$');
      at++;
    } else if (at[1] == '(' || at[1] == ')' || at[1] == '|') { /* host passes: braces */
      g_string_append_c(out, at[1] == '(' ? '{' : at[1] == ')' ? '}' : '|');
      at++;
    } else if (at[1] == '{' && strchr(at, '}')) {
      const char *end = strchr(at, '}');
      if (g_str_has_prefix(at, "${:uid}")) {
        g_string_append(out, "%=");
      } else {
        g_string_append_c(out, '%');
        for (const char *digit = at + 2; g_ascii_isdigit(*digit); digit++)
          g_string_append_c(out, *digit);
      }
      at = end;
    } else {
      g_string_append_c(out, '%');
    }
  }
  return g_string_free(out, FALSE);
}

/* ---- string literals of the source ---- */

typedef struct DecodedByte {
  char byte;
  uint32_t line, column; /* where it stands, 1-based */
} DecodedByte;

/* Value of the escape sequence at `text` (after the backslash), and how many characters it takes.
 */
static char escape_value(const char *text, size_t length, size_t *used) {
  static const char NAMES[] = "ntrabfv0\\\"'?";
  static const char VALUES[] = "\n\t\r\a\b\f\v\0\\\"'?";
  *used = 1;
  if (*text == 'x') {
    char digits[3] = {0};
    size_t count = 0;
    while (count < 2 && 1 + count < length && g_ascii_isxdigit(text[1 + count])) {
      digits[count] = text[1 + count];
      count++;
    }
    *used = 1 + count;
    return (char)strtol(digits, NULL, 16);
  }
  const char *name = strchr(NAMES, *text);
  return name && *text ? VALUES[name - NAMES] : *text;
}

/* Appends the bytes of one literal token ("..." or R"x(...)x") to `out`. */
static bool decode_literal(GArray *out, const char *token, uint32_t line, uint32_t column) {
  size_t length = strlen(token);
  const char *quote = strchr(token, '"');
  if (!quote || length < 2) return false;
  bool raw = quote > token && quote[-1] == 'R';
  const char *from = quote + 1, *to = token + length - 1;
  if (raw) {
    const char *open = strchr(quote, '(');
    if (!open) return false;
    from = open + 1;
    to = token + length - 1 - (open - quote - 1) - 1;
  }
  uint32_t at_line = line, at_column = column;
  for (const char *at = token; at < to;) {
    DecodedByte byte = {*at, at_line, at_column};
    size_t used = 1;
    if (!raw && *at == '\\' && at + 1 < to && at >= from) {
      if (at[1] == '\n') { /* spliced line */
        at += 2, at_line++, at_column = 1;
        continue;
      }
      byte.byte = escape_value(at + 1, (size_t)(to - at - 1), &used);
      used++;
    }
    if (at >= from) g_array_append_val(out, byte);
    for (size_t i = 0; i < used; i++, at++) {
      at_column++;
      if (*at == '\n') at_line++, at_column = 1;
    }
  }
  return true;
}

/* Bytes of the template's literals, in order, until the first `:` or the closing parenthesis. A
 * piece made by a macro leaves a byte 0 behind: its text is unknown here. */
static GArray *literal_bytes(CudaUnit *unit, CXCursor statement, uint32_t *file) {
  const Clang *clang = unit->clang;
  CXToken *tokens = NULL;
  unsigned count = 0;
  GArray *out = g_array_new(FALSE, FALSE, sizeof(DecodedByte));
  clang->tokenize(unit->tu, clang->getCursorExtent(statement), &tokens, &count);
  bool open = false;
  for (unsigned i = 0; i < count; i++) {
    CXString spelling = clang->getTokenSpelling(unit->tu, tokens[i]);
    const char *text = clang->getCString(spelling);
    bool end = false;
    if (!open) {
      open = strcmp(text, "(") == 0;
    } else if (clang->getTokenKind(tokens[i]) == CXToken_Literal) {
      CXSourceLocation location = clang->getTokenLocation(unit->tu, tokens[i]);
      unsigned line = 0, column = 0; /* in the parsed text: each byte is mapped back below */
      clang->getFileLocation(location, NULL, &line, &column, NULL);
      *file = unit_location(unit, location).file;
      end = !decode_literal(out, text, line, column);
    } else if (clang->getTokenKind(tokens[i]) != CXToken_Comment) {
      end = clang->getTokenKind(tokens[i]) == CXToken_Punctuation &&
            (*text == ':' || strcmp(text, ")") == 0);
      DecodedByte gap = {0};
      if (!end) g_array_append_val(out, gap);
    }
    clang->disposeString(spelling);
    if (end) break;
  }
  if (tokens) clang->disposeTokens(unit->tu, tokens, count);
  for (guint i = 0; i < out->len; i++) {
    DecodedByte *byte = &g_array_index(out, DecodedByte, i);
    if (byte->line) byte->column = unit_user_column(unit, *file, byte->line, byte->column);
  }
  return out;
}

/* ---- the map from template offsets to the source ---- */

typedef struct MapBuilder {
  CudaUnit *unit;
  KC_VEC(uint32_t) offsets;
  KC_VEC(SourceRange) starts;
  uint32_t file, line, column; /* where the next byte would stand if the run went on */
  bool running;
} MapBuilder;

static void map_byte(MapBuilder *map, uint32_t offset, const DecodedByte *byte) {
  if (!map->running || byte->line != map->line || byte->column != map->column) {
    SourceRange start = {map->file, byte->line, byte->column, byte->line, byte->column + 1};
    KC_PUSH(map->unit->arena, map->offsets, offset);
    KC_PUSH(map->unit->arena, map->starts, start);
  }
  map->running = true;
  map->line = byte->line;
  map->column = byte->column + 1;
}

/* Length of `%[name]`, `%x[name]`, `%x3` at `bytes[i]`, where the template has `%N`; 0: neither. */
static guint operand_length(const GArray *bytes, guint i) {
  guint at = i + 1;
  if (at < bytes->len && g_ascii_isalpha(g_array_index(bytes, DecodedByte, at).byte)) at++;
  if (at >= bytes->len) return 0;
  if (g_array_index(bytes, DecodedByte, at).byte == '[') {
    while (at < bytes->len && g_array_index(bytes, DecodedByte, at).byte != ']')
      at++;
    return at < bytes->len ? at + 1 - i : 0;
  }
  guint digits = at;
  while (at < bytes->len && g_ascii_isdigit(g_array_index(bytes, DecodedByte, at).byte))
    at++;
  return at > digits ? at - i : 0;
}

static PtxTextMap build_map(CudaUnit *unit, CXCursor statement, const char *text) {
  MapBuilder map = {.unit = unit};
  if (!unit_can_tokenize(unit, statement)) return (PtxTextMap){0};
  g_autoptr(GArray) bytes = literal_bytes(unit, statement, &map.file);
  const char *at = text;
  for (guint i = 0; i < bytes->len && *at;) {
    const DecodedByte *byte = &g_array_index(bytes, DecodedByte, i);
    guint operand = byte->byte == '%' && g_ascii_isdigit(at[1]) ? operand_length(bytes, i) : 0;
    if (byte->byte == 0) { /* a macro's text: find the next literal's beginning again */
      g_autoptr(GString) next = g_string_new(NULL);
      while (i < bytes->len && g_array_index(bytes, DecodedByte, i).byte == 0)
        i++;
      for (guint j = i; j < bytes->len && j < i + 24; j++) {
        char c = g_array_index(bytes, DecodedByte, j).byte;
        if (c == 0 || (c == '%' && j > i)) break;
        g_string_append_c(next, c);
      }
      const char *found = next->len ? strstr(at, next->str) : NULL;
      if (!found) break;
      at = found;
      map.running = false;
    } else if (*at == '%' && operand) {
      map_byte(&map, (uint32_t)(at - text), byte);
      for (at++; g_ascii_isdigit(*at);)
        at++;
      i += operand;
      map.running = false;
    } else if (*at == '%' && at[1] == '%' && byte->byte == '%' &&
               !(i + 1 < bytes->len && g_array_index(bytes, DecodedByte, i + 1).byte == '%')) {
      map_byte(&map, (uint32_t)(at - text), byte); /* a basic asm statement: one % is one % */
      at += 2;
      i++;
      map.running = false;
    } else if (*at == byte->byte) {
      map_byte(&map, (uint32_t)(at++ - text), byte);
      i++;
    } else {
      break; /* not the text that clang parsed: what was mapped so far stands */
    }
  }
  return (PtxTextMap){map.offsets.items, map.starts.items, map.offsets.count};
}

/* ---- libclang 21 and later ---- */

static void push_operand(CudaUnit *unit, CudaAsm *out, const char *constraint,
                         CXCursor expression) {
  CudaAsmOperand operand = {constraint, expression};
  KC_PUSH(unit->arena, out->operands, operand);
}

static bool asm_from_api(CudaUnit *unit, CXCursor statement, CudaAsm *out, const char **why) {
  const Clang *clang = unit->clang;
  const char *llvm = unit_string(unit, clang->Cursor_getGCCAssemblyTemplate(statement));
  g_autofree char *text = template_from_llvm(llvm);
  out->text = kc_strdup(unit->arena, text);
  out->noutputs = (int)clang->Cursor_getGCCAssemblyNumOutputs(statement);
  int inputs = (int)clang->Cursor_getGCCAssemblyNumInputs(statement);
  for (int i = 0; i < out->noutputs + inputs; i++) {
    CXString constraint = {0};
    CXCursor expression = clang->getNullCursor();
    unsigned found =
        i < out->noutputs
            ? clang->Cursor_getGCCAssemblyOutput(statement, (unsigned)i, &constraint, &expression)
            : clang->Cursor_getGCCAssemblyInput(statement, (unsigned)(i - out->noutputs),
                                                &constraint, &expression);
    if (!found) {
      *why = "an asm operand that libclang does not show";
      return false;
    }
    push_operand(unit, out, unit_string(unit, constraint), expression);
  }
  unsigned clobbers = clang->Cursor_getGCCAssemblyNumClobbers(statement);
  for (unsigned i = 0; i < clobbers; i++)
    KC_PUSH(unit->arena, out->clobbers,
            unit_string(unit, clang->Cursor_getGCCAssemblyClobber(statement, i)));
  out->is_volatile = clang->Cursor_isGCCAssemblyVolatile(statement);
  return true;
}

/* ---- before libclang 21: the printed function ---- */

/* The asm statements of one function in order, and the printed text of each. libclang forgets the
 * function of a statement that is reached step by step: statements are found by their address in
 * the AST (data[1] of the cursor). */
typedef struct PrintedFunction {
  CXCursor function;
  KC_VEC(const void *) statements;
  KC_VEC(const char *) texts; /* behind the word asm */
  struct PrintedFunction *next;
} PrintedFunction;

typedef struct FindAsm {
  CudaUnit *unit;
  PrintedFunction *printed;
  CursorList *queue; /* functions that the body refers to */
} FindAsm;

static CXChildVisitResult find_asm(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  FindAsm *find = data;
  const Clang *clang = find->unit->clang;
  if (cursor.kind == CXCursor_GCCAsmStmt)
    KC_PUSH(find->unit->arena, find->printed->statements, cursor.data[1]);
  if (cursor.kind == CXCursor_DeclRefExpr || cursor.kind == CXCursor_MemberRefExpr ||
      cursor.kind == CXCursor_CallExpr) {
    CXCursor callee = clang->getCursorDefinition(clang->getCursorReferenced(cursor));
    if (callee.kind == CXCursor_FunctionDecl || callee.kind == CXCursor_CXXMethod ||
        callee.kind == CXCursor_Constructor || callee.kind == CXCursor_Destructor ||
        callee.kind == CXCursor_ConversionFunction)
      KC_PUSH(find->unit->arena, *find->queue, callee);
  }
  return CXChildVisit_Recurse;
}

/* Skips a quoted literal; `at` stands on the quote. Returns the character after it. */
static const char *skip_literal(const char *at) {
  char quote = *at++;
  while (*at && *at != quote)
    at += *at == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

/* Finds where the asm statements of the printed function begin. */
static void read_printed(CudaUnit *unit, PrintedFunction *printed) {
  const Clang *clang = unit->clang;
  CXPrintingPolicy policy = clang->getCursorPrintingPolicy(printed->function);
  const char *text = unit_string(unit, clang->getCursorPrettyPrinted(printed->function, policy));
  clang->PrintingPolicy_dispose(policy);
  for (const char *at = text; *at;) {
    bool word = (at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_')) &&
                g_str_has_prefix(at, "asm") && !(g_ascii_isalnum(at[3]) || at[3] == '_');
    if (word) KC_PUSH(unit->arena, printed->texts, at + 3);
    at = *at == '"' || *at == '\'' ? skip_literal(at) : at + 1;
  }
}

static bool is_prepared(CudaUnit *unit, CXCursor function) {
  for (PrintedFunction *p = unit->printed; p; p = p->next)
    if (unit->clang->equalCursors(p->function, function)) return true;
  return false;
}

void unit_asm_prepare(CudaUnit *unit, CXCursor function) {
  if (unit->clang->Cursor_getGCCAssemblyTemplate) return;
  CursorList queue = {0};
  KC_PUSH(unit->arena, queue, function);
  for (int i = 0; i < queue.count; i++) {
    if (is_prepared(unit, queue.items[i])) continue;
    PrintedFunction *printed = KC_NEW(unit->arena, PrintedFunction);
    printed->function = queue.items[i];
    printed->next = unit->printed;
    unit->printed = printed;
    FindAsm find = {unit, printed, &queue};
    unit->clang->visitChildren(printed->function, find_asm, &find);
    if (printed->statements.count) read_printed(unit, printed);
  }
}

/* Appends the decoded literals at `*at` (adjacent ones are one string); moves `*at` behind them. */
static char *read_strings(const char **at) {
  g_autoptr(GArray) bytes = g_array_new(FALSE, FALSE, sizeof(DecodedByte));
  while (**at == '"') {
    const char *end = skip_literal(*at);
    g_autofree char *token = g_strndup(*at, (gsize)(end - *at));
    decode_literal(bytes, token, 1, 1);
    for (*at = end; g_ascii_isspace(**at);)
      (*at)++;
  }
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < bytes->len; i++)
    g_string_append_c(out, g_array_index(bytes, DecodedByte, i).byte);
  return g_string_free(out, FALSE);
}

static void skip_blanks(const char **at) {
  while (g_ascii_isspace(**at))
    (*at)++;
}

/* Skips a parenthesised expression; `*at` stands on the opening parenthesis. */
static void skip_parentheses(const char **at) {
  int depth = 0;
  while (**at) {
    if (**at == '"' || **at == '\'') {
      *at = skip_literal(*at);
      continue;
    }
    depth += (**at == '(') - (**at == ')');
    (*at)++;
    if (depth == 0) return;
  }
}

/* Turns `%[name]` of the printed text into `%N`. */
static char *number_names(const char *text, GPtrArray *names) {
  GString *out = g_string_new(NULL);
  for (const char *at = text; *at; at++) {
    const char *open = *at == '%' ? at + 1 + (g_ascii_isalpha(at[1]) && at[2] == '[') : NULL;
    const char *close = open && *open == '[' ? strchr(open, ']') : NULL;
    if (*at == '%' && at[1] == '%') {
      g_string_append(out, "%%");
      at++;
      continue;
    }
    if (!close) {
      g_string_append_c(out, *at);
      continue;
    }
    for (guint i = 0; i < names->len; i++) {
      const char *name = g_ptr_array_index(names, i);
      if (name && strlen(name) == (size_t)(close - open - 1) &&
          strncmp(name, open + 1, strlen(name)) == 0)
        g_string_append_printf(out, "%%%u", i);
    }
    at = close;
  }
  return g_string_free(out, FALSE);
}

/* Reads one section of operands (`[name] "=r" (x), ...`) up to `:` or `)`. */
static void read_operands(CudaUnit *unit, const char **at, CudaAsm *out, GPtrArray *names,
                          const CursorList *expressions) {
  for (skip_blanks(at); **at && **at != ':' && **at != ')'; skip_blanks(at)) {
    char *name = NULL;
    if (**at == '[') {
      const char *close = strchr(*at, ']');
      if (!close) return;
      name = g_strndup(*at + 1, (gsize)(close - *at - 1));
      *at = close + 1;
      skip_blanks(at);
    }
    g_ptr_array_add(names, name);
    g_autofree char *constraint = read_strings(at);
    skip_blanks(at);
    if (**at == '(') skip_parentheses(at);
    int index = out->operands.count;
    push_operand(unit, out, kc_strdup(unit->arena, constraint),
                 index < expressions->count ? expressions->items[index]
                                            : unit->clang->getNullCursor());
    skip_blanks(at);
    if (**at == ',')
      (*at)++;
    else if (**at != ':' && **at != ')')
      return;
  }
}

static bool parse_printed(CudaUnit *unit, CXCursor statement, const char *text, CudaAsm *out) {
  const char *at = text;
  for (; *at && *at != '('; at++)
    if (g_str_has_prefix(at, "volatile")) out->is_volatile = true;
  if (*at != '(') return false;
  at++;
  skip_blanks(&at);
  g_autofree char *template_text = read_strings(&at);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  CursorList children = unit_children(unit, statement), expressions = {0};
  for (int i = 0; i < children.count; i++)
    if (children.items[i].kind >= CXCursor_FirstExpr && children.items[i].kind <= CXCursor_LastExpr)
      KC_PUSH(unit->arena, expressions, children.items[i]);
  for (int section = 0; section < 2; section++) {
    skip_blanks(&at);
    if (*at != ':') break;
    at++;
    read_operands(unit, &at, out, names, &expressions);
    if (section == 0) out->noutputs = out->operands.count;
  }
  skip_blanks(&at);
  while (*at == ':' || *at == ',') {
    at++;
    skip_blanks(&at);
    if (*at != '"') break;
    g_autofree char *clobber = read_strings(&at);
    KC_PUSH(unit->arena, out->clobbers, kc_strdup(unit->arena, clobber));
    skip_blanks(&at);
  }
  g_autofree char *numbered = number_names(template_text, names);
  if (out->operands.count == 0) { /* a basic asm statement: % stands for itself */
    g_auto(GStrv) parts = g_strsplit(template_text, "%", -1);
    g_autofree char *doubled = g_strjoinv("%%", parts);
    out->text = kc_strdup(unit->arena, strstr(template_text, "%%") ? template_text : doubled);
  } else {
    out->text = kc_strdup(unit->arena, numbered);
  }
  return true;
}

static bool asm_from_print(CudaUnit *unit, CXCursor statement, CudaAsm *out, const char **why) {
  *why = "an asm statement that libclang before 21 does not show";
  for (PrintedFunction *printed = unit->printed; printed; printed = printed->next)
    for (int i = 0; i < printed->statements.count; i++)
      if (printed->statements.items[i] == statement.data[1])
        return printed->texts.count == printed->statements.count &&
               parse_printed(unit, statement, printed->texts.items[i], out);
  return false;
}

bool unit_asm(CudaUnit *unit, CXCursor statement, CudaAsm *out, const char **why) {
  *out = (CudaAsm){0};
  *why = NULL;
  bool found = unit->clang->Cursor_getGCCAssemblyTemplate
                   ? asm_from_api(unit, statement, out, why)
                   : asm_from_print(unit, statement, out, why);
  if (found) out->map = build_map(unit, statement, out->text);
  return found;
}
