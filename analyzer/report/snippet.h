/* One source line with what it says underlined: the middle part of a text finding. */
#ifndef KC_REPORT_SNIPPET_H
#define KC_REPORT_SNIPPET_H

#include <glib.h>
#include <stdbool.h>

typedef enum Ink { INK_PLAIN, INK_BOLD, INK_RED, INK_MAGENTA, INK_CYAN, INK_GREEN, INK_BLUE } Ink;

/* Appends `text` in a colour, or plainly when `color` is false. */
void snippet_ink(GString *out, bool color, Ink ink, const char *text);

typedef struct Snippet {
  const char *source; /* the line, valid UTF-8; control characters are shown as '?' */
  int line;
  int column, end_column; /* 1-based byte columns; end 0: to the end of the line */
  const char *label;      /* behind the underline, or NULL */
  int width;              /* of the line-number gutter */
  bool color;
  Ink ink;     /* of the underline */
  int columns; /* of the screen; 0: not known */
} Snippet;

/* "131 |   wait(...);\n    |   ^~~~ label\n". A line too long for the screen is cut on both sides
 * of the underline. */
void snippet_append(GString *out, const Snippet *snippet);
/* "    |\n" */
void snippet_gutter(GString *out, int width, bool color);

#endif
