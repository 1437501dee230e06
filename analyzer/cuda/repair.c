/* Finding the asm statement or name at an error and patching it. */
#include "cuda/repair.h"

#include <glib.h>
#include <string.h>

#include "cuda/alignment.h"
#include "cuda/scan.h"

/* Whether the word at `at` is asm, __asm or __asm__. */
static bool is_asm(const char *text, size_t length, size_t at) {
  static const char *const WORDS[] = {"__asm__", "__asm", "asm"};
  if (at > 0 && scan_is_word(text[at - 1])) return false;
  for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++) {
    size_t size = strlen(WORDS[i]);
    if (at + size < length && strncmp(text + at, WORDS[i], size) == 0 &&
        !scan_is_word(text[at + size]))
      return true;
  }
  return false;
}

typedef struct AsmText {
  size_t open, close; /* the parentheses */
} AsmText;

/* The asm statement that holds `offset`: the last `asm` before it whose parentheses enclose it. */
static bool find_asm_text(const char *text, size_t length, size_t offset, AsmText *out) {
  size_t earliest = offset > 65536 ? offset - 65536 : 0;
  for (size_t at = offset < length ? offset : length - 1; at + 1 > earliest + 1; at--) {
    if (!is_asm(text, length, at)) continue;
    size_t open = at;
    while (open < length && text[open] != '(' && text[open] != ';')
      open++;
    if (open >= length || text[open] != '(') return false;
    int depth = 0;
    for (size_t i = open; i < length;) {
      size_t next = scan_skip(text, length, i);
      if (next != i) {
        i = next;
        continue;
      }
      depth += (text[i] == '(') - (text[i] == ')');
      if (depth == 0) {
        *out = (AsmText){open, i};
        return offset <= i + 1;
      }
      i++;
    }
    return false;
  }
  return false;
}

/* ---- asm repairs ---- */

/* Sections of an asm statement: 0 the template, 1 outputs, 2 inputs, 3 clobbers. */
typedef struct AsmScan {
  int section;
  int depth;    /* of parentheses inside the statement */
  int operands; /* seen so far */
  size_t last;  /* offset after the last `)` that closed an operand, or after a clobber; 0 none */
} AsmScan;

/* Number of operands of the statement. */
static int count_operands(const char *text, AsmText statement) {
  AsmScan scan = {0};
  for (size_t i = statement.open + 1; i < statement.close;) {
    size_t next = scan_skip(text, statement.close, i);
    if (next != i) {
      if (text[i] == '"' && scan.depth == 0 && (scan.section == 1 || scan.section == 2)) {
        size_t after = next;
        while (after < statement.close && (g_ascii_isspace(text[after]) || text[after] == '\\'))
          after++;
        scan.operands += text[after] == '(';
      }
      i = next;
      continue;
    }
    scan.depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ':' && scan.depth == 0) {
      scan.section += text[i + 1] == ':' ? 2 : 1;
      i += text[i + 1] == ':';
    }
    i++;
  }
  return scan.operands;
}

/* Whether the `%` at `text[i]` of a template is one that clang refuses: not %%, %N, %[name], %xN,
 * %=, or a number of an operand that does not exist. */
static bool refused_percent(const char *text, size_t i, size_t end, int operands) {
  size_t at = i + 1;
  if (at >= end || strchr("%=[{}|", text[at])) return false;
  if (g_ascii_isalpha(text[at]) && at + 1 < end &&
      (g_ascii_isdigit(text[at + 1]) || text[at + 1] == '['))
    at++;
  if (text[at] == '[') return false;
  if (!g_ascii_isdigit(text[at])) return true;
  int number = 0;
  for (; at < end && g_ascii_isdigit(text[at]); at++)
    number = number * 10 + (text[at] - '0');
  return number >= operands;
}

static int double_percents(EditSet *set, EditedFile *file, AsmText statement) {
  const char *text = file->original;
  int operands = count_operands(text, statement), added = 0;
  for (size_t i = statement.open + 1; i < statement.close;) {
    size_t next = scan_skip(text, statement.close, i);
    if (next == i) {
      if (text[i] == ':') break;
      i++;
      continue;
    }
    for (size_t at = i + 1; text[i] == '"' && at + 1 < next; at++) {
      if (text[at] != '%') continue;
      if (text[at + 1] == '%')
        at++;
      else if (refused_percent(text, at, next - 1, operands))
        added += edit_add(set, file, at, 0, "%");
    }
    i = next;
  }
  return added;
}

/* Inserts the comma that is missing between `"r"(a)` and `"l"(b)`. */
static int insert_commas(EditSet *set, EditedFile *file, AsmText statement) {
  const char *text = file->original;
  AsmScan scan = {0};
  int added = 0;
  for (size_t i = statement.open + 1; i < statement.close;) {
    size_t next = scan_skip(text, statement.close, i);
    bool starts = (text[i] == '"' || text[i] == '[') && scan.depth == 0 && scan.section > 0;
    if (starts && scan.last) added += edit_add(set, file, scan.last, 0, ",");
    if (starts) scan.last = 0;
    if (next != i) {
      i = next;
      continue;
    }
    scan.depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ')' && scan.depth == 0 && scan.section > 0)
      scan.last = i + 1;
    else if (scan.depth == 0 && (text[i] == ',' || text[i] == ':'))
      scan.last = 0;
    scan.section += text[i] == ':' && scan.depth == 0;
    i++;
  }
  return added;
}

/* libclang before 19 places an error of a macro's body at the macro's use: look into the definition
 * of the name that stands at `offset`, when it is in the same file. */
static bool find_asm_of_macro(const EditedFile *file, size_t offset, AsmText *out) {
  size_t end = offset;
  while (end < file->length && scan_is_word(file->original[end]))
    end++;
  if (end == offset) return false;
  g_autofree char *pattern = g_strdup_printf("^[ \\t]*#[ \\t]*define[ \\t]+%.*s\\b",
                                             (int)(end - offset), file->original + offset);
  g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  gint from = 0, to = 0;
  if (!regex ||
      !g_regex_match_full(regex, file->original, (gssize)file->length, 0, 0, &match, NULL) ||
      !g_match_info_fetch_pos(match, 0, &from, &to))
    return false;
  for (size_t at = (size_t)to; at < file->length; at++) {
    if (file->original[at] == '\n' && file->original[at - 1] != '\\') return false;
    if (is_asm(file->original, file->length, at))
      return find_asm_text(file->original, file->length, at + 3, out);
  }
  return false;
}

static int repair_asm(EditSet *set, EditedFile *file, size_t offset) {
  AsmText statement;
  if (!find_asm_text(file->original, file->length, offset, &statement) &&
      !find_asm_of_macro(file, offset, &statement))
    return 0;
  return double_percents(set, file, statement) + insert_commas(set, file, statement);
}

/* ---- keywords that nvcc does without ---- */

static int insert_keyword(EditSet *set, EditedFile *file, size_t offset, const char *keyword) {
  const char *text = file->original;
  if (offset >= file->length || !(scan_is_word(text[offset]) || text[offset] == ':')) return 0;
  size_t size = strlen(keyword);
  if (offset >= size && strncmp(text + offset - size, keyword, size) == 0) return 0;
  return edit_add(set, file, offset, 0, keyword);
}

/* `object.member<N>(...)` where `object` is of a dependent type: clang reads `<` as less-than. The
 * name has to stand right behind `.` or `->` and before `<`. */
static int insert_template(EditSet *set, EditedFile *file, size_t offset) {
  const char *text = file->original;
  size_t before = offset, after = offset;
  while (before > 0 && g_ascii_isspace(text[before - 1]))
    before--;
  bool member = before > 1 &&
                (text[before - 1] == '.' || (text[before - 1] == '>' && text[before - 2] == '-'));
  while (after < file->length && scan_is_word(text[after]))
    after++;
  while (after < file->length && g_ascii_isspace(text[after]))
    after++;
  if (!member || after >= file->length || text[after] != '<') return 0;
  return insert_keyword(set, file, offset, "template ");
}

/* ---- arithmetic on pointers to void ---- */

static bool operand_ends(const Clang *clang, CXDiagnostic error, CXFile *file, unsigned *start,
                         unsigned *end) {
  if (clang->getDiagnosticNumRanges(error) == 0) return false;
  CXSourceRange range = clang->getDiagnosticRange(error, 0);
  CXFile other = NULL;
  clang->getSpellingLocation(clang->getRangeStart(range), file, NULL, NULL, start);
  clang->getSpellingLocation(clang->getRangeEnd(range), &other, NULL, NULL, end);
  return *file && *file == other && *end > *start;
}

/* nvcc counts in bytes there, as gcc does: the pointer goes through a function of the headers that
 * gives a pointer that clang can count with. */
static int count_bytes(const Clang *clang, EditSet *set, EditedFile *file, CXDiagnostic error,
                       size_t operator_at) {
  CXFile place = NULL;
  unsigned start = 0, end = 0;
  if (!operand_ends(clang, error, &place, &start, &end)) return 0;
  size_t from = edit_original_offset(file, start), to = edit_original_offset(file, end);
  const char *at = file->original + operator_at;
  if (to > file->length || operator_at + 1 >= file->length) return 0;
  bool assigns = at[1] == '=';
  if ((at[0] != '+' && at[0] != '-') || at[1] == at[0]) return 0;
  if (!edit_add(set, file, from, 0, assigns ? "__kcheck_bytes_at(" : "__kcheck_bytes(")) return 0;
  set->counts_bytes = true;
  return 1 + edit_add(set, file, to, 0, ")");
}

/* ---- errors ---- */

/* The text that `file` was parsed with, as an entry of `edits`. */
static EditedFile *entry_of(const Clang *clang, CXTranslationUnit tu, EditSet *edits, CXFile file) {
  CXString name = clang->getFileName(file);
  const char *path = clang->getCString(name);
  EditedFile *entry = edit_find(edits, path);
  if (!entry) {
    size_t length = 0;
    const char *text = clang->getFileContents(tu, file, &length);
    char *copy = text ? kc_strndup(edits->arena, text, length) : NULL;
    entry = copy ? edit_file(edits, path, copy, length) : NULL;
  }
  clang->disposeString(name);
  return entry;
}

static int repair_one(const Clang *clang, CXTranslationUnit tu, EditSet *edits,
                      CXDiagnostic error) {
  CXString spelling = clang->getDiagnosticSpelling(error);
  const char *message = clang->getCString(spelling);
  bool in_asm =
      strstr(message, "in inline assembly string") || strstr(message, "in inline asm string");
  bool comma = strcmp(message, "expected ')'") == 0;
  bool no_template = g_str_has_prefix(message, "missing 'template' keyword") ||
                     g_str_has_prefix(message, "use 'template' keyword");
  bool no_typename = g_str_has_prefix(message, "missing 'typename'");
  bool misplaced = g_str_has_prefix(message, "'alignas' attribute cannot be applied to types") ||
                   strcmp(message, "an attribute list cannot appear here") == 0;
  bool bytes = g_str_has_prefix(message, "arithmetic on a pointer to void") ||
               g_str_has_prefix(message, "arithmetic on pointers to void");
  bool member = strcmp(message, "reference to non-static member function must be called") == 0;
  clang->disposeString(spelling);
  if (!in_asm && !comma && !no_template && !no_typename && !misplaced && !member && !bytes)
    return 0;
  CXFile file = NULL;
  unsigned offset = 0;
  clang->getSpellingLocation(clang->getDiagnosticLocation(error), &file, NULL, NULL, &offset);
  EditedFile *entry = file ? entry_of(clang, tu, edits, file) : NULL;
  if (!entry) return 0;
  size_t place = edit_original_offset(entry, offset);
  int added = misplaced ? alignment_repair(edits, entry, place)
              : member  ? insert_template(edits, entry, place)
              : bytes   ? count_bytes(clang, edits, entry, error, place)
              : in_asm || comma
                  ? repair_asm(edits, entry, place)
                  : insert_keyword(edits, entry, place, no_template ? "template " : "typename ");
  if (added) edit_apply(edits, entry);
  return added;
}

int repair_errors(const Clang *clang, CXTranslationUnit tu, EditSet *edits) {
  int added = 0;
  unsigned count = clang->getNumDiagnostics(tu);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang->getDiagnostic(tu, i);
    if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
      added += repair_one(clang, tu, edits, diagnostic);
    clang->disposeDiagnostic(diagnostic);
  }
  return added;
}

/* ---- before the first parse ---- */

/* Whether the statement has operands or clobbers: without them `%` means nothing to clang. */
static bool is_extended(const char *text, AsmText statement) {
  int depth = 0;
  for (size_t i = statement.open + 1; i < statement.close;) {
    size_t next = scan_skip(text, statement.close, i);
    if (next == i) {
      depth += (text[i] == '(') - (text[i] == ')');
      if (text[i] == ':' && depth == 0) return true;
      next++;
    }
    i = next;
  }
  return false;
}

int repair_ahead(EditSet *edits, const char *path, const char *text, size_t length) {
  EditedFile probe = {.path = path, .original = text, .length = length};
  for (size_t at = 0; at < length;) {
    size_t next = scan_skip(text, length, at);
    AsmText statement;
    if (next == at && (text[at] == 'a' || text[at] == '_') && is_asm(text, length, at) &&
        find_asm_text(text, length, at + 2, &statement)) {
      if (is_extended(text, statement)) {
        double_percents(edits, &probe, statement);
        insert_commas(edits, &probe, statement);
      }
      next = statement.close;
    }
    at = next > at ? next : at + 1;
  }
  if (probe.patches.count == 0 || edit_find(edits, path)) return 0;
  EditedFile *file = edit_file(edits, kc_strdup(edits->arena, path),
                               kc_strndup(edits->arena, text, length), length);
  file->patches.items = probe.patches.items;
  file->patches.count = probe.patches.count;
  file->patches.capacity = probe.patches.capacity;
  edit_apply(edits, file);
  return file->patches.count;
}
