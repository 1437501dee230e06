#include "ir/number.h"

#include <ctype.h>
#include <string.h>

#include <glib.h>

typedef struct Reader {
  const char *at;
  int depth;
  bool ok;
} Reader;

enum { MAX_DEPTH = 32 };

static int64_t sum(Reader *r);

static void blanks(Reader *r) {
  while (isspace((unsigned char)*r->at))
    r->at++;
}

static bool take(Reader *r, const char *word) {
  blanks(r);
  size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static int64_t fail(Reader *r) {
  r->ok = false;
  return 0;
}

static int64_t literal(Reader *r) {
  bool hex = r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X');
  if (hex) r->at += 2;
  int64_t value = 0;
  int digits = 0, base = hex ? 16 : 10;
  for (;; r->at++) {
    bool separator = *r->at == '\'' && digits > 0;
    int digit = hex ? g_ascii_xdigit_value(*r->at) : g_ascii_digit_value(*r->at);
    if (digit < 0 && !separator) break;
    if (separator) continue;
    if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
        __builtin_add_overflow(value, (int64_t)digit, &value))
      return fail(r);
    digits++;
  }
  while (*r->at && strchr("uUlL", *r->at))
    r->at++;
  return digits ? value : fail(r);
}

static int64_t primary(Reader *r) {
  bool minus = take(r, "-");
  if (minus || take(r, "(")) {
    if (++r->depth > MAX_DEPTH) return fail(r);
    if (minus) return -primary(r);
    int64_t value = sum(r);
    r->depth--;
    return take(r, ")") ? value : fail(r);
  }
  return isdigit((unsigned char)*r->at) ? literal(r) : fail(r);
}

static int64_t product(Reader *r) {
  int64_t value = primary(r);
  while (r->ok) {
    char op = take(r, "*") ? '*' : take(r, "/") ? '/' : take(r, "%") ? '%' : '\0';
    if (!op) break;
    int64_t right = primary(r);
    if (op == '*') {
      if (__builtin_mul_overflow(value, right, &value)) return fail(r);
      continue;
    }
    if (right == 0 || (right == -1 && value == INT64_MIN)) return fail(r);
    value = op == '/' ? value / right : value % right;
  }
  return value;
}

/* Sums, and shifts on one level with them: enough for sizes. */
static int64_t sum(Reader *r) {
  int64_t value = product(r);
  while (r->ok) {
    char op = take(r, "+")    ? '+'
              : take(r, "-")  ? '-'
              : take(r, "<<") ? '<'
              : take(r, ">>") ? '>'
                              : '\0';
    if (!op) break;
    int64_t right = product(r);
    bool wrong = op == '+'   ? __builtin_add_overflow(value, right, &value)
                 : op == '-' ? __builtin_sub_overflow(value, right, &value)
                             : right < 0 || right > 62 || value < 0;
    if (wrong) return fail(r);
    if (op == '<' && value > (INT64_MAX >> right)) return fail(r);
    if (op == '<') value <<= right;
    if (op == '>') value >>= right;
  }
  return value;
}

bool ir_read_number(const char *text, int64_t *value) {
  Reader r = {.at = text, .ok = true};
  int64_t result = sum(&r);
  blanks(&r);
  if (!r.ok || *r.at) return false;
  *value = result;
  return true;
}

int ir_read_extents(const char *text, int64_t *out, int max) {
  Reader r = {.at = text, .ok = true};
  bool tuple = take(&r, "(");
  int n = 0;
  do {
    if (n == max) return 0;
    out[n++] = tuple ? sum(&r) : product(&r);
  } while (r.ok && (tuple ? take(&r, ",") : take(&r, "x")));
  if (tuple && !take(&r, ")")) r.ok = false;
  blanks(&r);
  if (r.ok && !*r.at) return n;
  return ir_read_number(text, out) ? 1 : 0; /* "(3 + 5) * 2" is one number */
}
