/* Finds the line comments of a C++ or PTX text: what stands in string literals, character literals
 * and block comments is none. */
#ifndef KC_IR_COMMENT_H
#define KC_IR_COMMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct IrComments { /* a scan under way; zero all but text and length */
  const char *text;
  size_t length;
  size_t at;
  uint32_t line; /* lines passed so far */
  size_t line_start;
  bool code_on_line; /* something else than a comment stands on this line already */
} IrComments;

typedef struct IrComment {
  size_t begin, end; /* from the slashes to the end of the line, exclusive */
  uint32_t line, column;
  bool alone; /* nothing but blanks before it on its line */
} IrComment;

/* The next line comment; false when there is none left. */
bool ir_next_comment(IrComments *scan, IrComment *comment);

#endif
