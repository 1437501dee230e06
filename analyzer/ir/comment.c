#include "ir/comment.h"

#include <ctype.h>
#include <string.h>

static void newline(IrComments *scan) {
  scan->line++;
  scan->line_start = scan->at + 1;
  scan->code_on_line = false;
}

static bool looking_at(const IrComments *scan, const char *word) {
  size_t n = strlen(word);
  return scan->length - scan->at >= n && memcmp(scan->text + scan->at, word, n) == 0;
}

/* Moves to the character after `close`, counting lines. */
static void skip_past(IrComments *scan, const char *close, size_t length) {
  for (; scan->at < scan->length; scan->at++) {
    if (scan->length - scan->at >= length && memcmp(scan->text + scan->at, close, length) == 0) {
      scan->at += length;
      return;
    }
    if (scan->text[scan->at] == '\n') newline(scan);
  }
}

/* "..." or '...' with its escapes; ends at the end of the line when it is not closed. */
static void skip_quoted(IrComments *scan) {
  char quote = scan->text[scan->at++];
  for (; scan->at < scan->length && scan->text[scan->at] != '\n'; scan->at++) {
    if (scan->text[scan->at] == quote) {
      scan->at++;
      return;
    }
    if (scan->text[scan->at] != '\\' || scan->at + 1 >= scan->length) continue;
    scan->at++;
    if (scan->text[scan->at] == '\n') newline(scan);
  }
}

/* R"delimiter( ... )delimiter" */
static void skip_raw_string(IrComments *scan) {
  const char *open = scan->text + scan->at;
  const char *paren = memchr(open, '(', scan->length - scan->at);
  size_t length = paren ? (size_t)(paren - open) : 0;
  char close[20] = ")";
  if (!paren || length < 2 || length - 2 > 16) { /* the standard allows 16 characters */
    scan->at++;
    return;
  }
  memcpy(close + 1, open + 2, length - 2);
  close[length - 1] = '"';
  scan->at += length + 1;
  skip_past(scan, close, length);
}

/* A ' that stands between digits separates them (1'000) and opens nothing. */
static bool is_digit_separator(const IrComments *scan) {
  return scan->at > 0 && scan->at + 1 < scan->length &&
         isxdigit((unsigned char)scan->text[scan->at - 1]) &&
         isxdigit((unsigned char)scan->text[scan->at + 1]) && scan->text[scan->at] == '\'';
}

static void take_comment(IrComments *scan, IrComment *comment) {
  const char *from = scan->text + scan->at;
  const char *stop = memchr(from, '\n', scan->length - scan->at);
  size_t end = stop ? (size_t)(stop - scan->text) : scan->length;
  comment->begin = scan->at;
  comment->line = scan->line + 1;
  comment->column = (uint32_t)(scan->at - scan->line_start) + 1;
  comment->alone = !scan->code_on_line;
  scan->at = end;
  while (end > comment->begin && isspace((unsigned char)scan->text[end - 1]))
    end--;
  comment->end = end;
}

bool ir_next_comment(IrComments *scan, IrComment *comment) {
  while (scan->at < scan->length) {
    char c = scan->text[scan->at];
    if (looking_at(scan, "//")) {
      take_comment(scan, comment);
      return true;
    }
    if (c == '\n') newline(scan);
    if (!isspace((unsigned char)c)) scan->code_on_line = true;
    if (looking_at(scan, "/*")) {
      scan->at += 2;
      skip_past(scan, "*/", 2);
    } else if (looking_at(scan, "R\"")) {
      skip_raw_string(scan);
    } else if (c == '"' || (c == '\'' && !is_digit_separator(scan))) {
      skip_quoted(scan);
    } else {
      scan->at++;
    }
  }
  return false;
}
