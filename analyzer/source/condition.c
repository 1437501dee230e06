/* Evaluates preprocessor conditions with three truth values: what depends on a macro that is not
 * known is unknown. Integers only; the operators that guards are written with. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "source/internal.h"

enum { MAX_DEPTH = 32, MAX_NESTING = 4 };

typedef struct {
  const Guards *guards;
  const char *at;
  int cuda_arch;
  int depth;   /* of brackets */
  int nesting; /* of macros */
} Condition;

typedef struct {
  bool known;
  int64_t value;
} Number;

static const Number UNKNOWN = {false, 0};

static Number known(int64_t value) {
  return (Number){true, value};
}

static void skip_blanks(Condition *c) {
  while (isspace((unsigned char)*c->at))
    c->at++;
}

static bool take(Condition *c, const char *token) {
  skip_blanks(c);
  size_t length = strlen(token);
  if (strncmp(c->at, token, length) != 0) return false;
  c->at += length;
  return true;
}

static char *take_word(Condition *c) {
  skip_blanks(c);
  const char *start = c->at;
  while (isalnum((unsigned char)*c->at) || *c->at == '_')
    c->at++;
  return g_strndup(start, (gsize)(c->at - start));
}

/* The definition of a macro that is in force: *found, or NULL when none is. `unknown` when that
 * can't be decided, or when the file does not define it at all. */
static bool find_macro(Condition *c, const char *name, const GuardMacro **found) {
  bool seen = false;
  *found = NULL;
  if (c->guards->defining && strcmp(name, c->guards->defining) == 0) return true;
  Guards inner = *c->guards;
  inner.defining = name;
  for (int i = 0; i < c->guards->macros.count; i++) {
    const GuardMacro *macro = &c->guards->macros.items[i];
    if (strcmp(macro->name, name) != 0) continue;
    seen = true;
    Truth truth = c->nesting >= MAX_NESTING
                      ? TRUTH_UNKNOWN
                      : guards_admit(&inner, macro->guard, c->cuda_arch / 10, c->nesting + 1);
    if (truth == TRUTH_UNKNOWN) return false;
    if (truth == TRUTH_TRUE) *found = macro;
  }
  return seen;
}

static Number is_defined(Condition *c, const char *name) {
  static const char *const always[] = {"__CUDA_ARCH__", "__CUDACC__", "__cplusplus"};
  for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
    if (strcmp(name, always[i]) == 0) return known(1);
  const GuardMacro *macro;
  return find_macro(c, name, &macro) ? known(macro != NULL) : UNKNOWN;
}

static Number value_of(Condition *c, const char *name) {
  const GuardMacro *macro;
  if (!find_macro(c, name, &macro)) return UNKNOWN;
  if (!macro) return known(0); /* an undefined name counts as 0 */
  if (!*macro->value) return UNKNOWN;
  Truth truth = condition_holds(c->guards, macro->value, c->cuda_arch, c->nesting + 1);
  return truth == TRUTH_UNKNOWN ? UNKNOWN : known(truth == TRUTH_TRUE);
}

static Number conditional(Condition *c);

static Number defined_operator(Condition *c) {
  bool bracket = take(c, "(");
  g_autofree char *name = take_word(c);
  if (bracket) take(c, ")");
  return is_defined(c, name);
}

static Number primary(Condition *c) {
  skip_blanks(c);
  if (take(c, "(")) {
    Number value = conditional(c);
    take(c, ")");
    return value;
  }
  if (isdigit((unsigned char)*c->at)) {
    char *end;
    int64_t value = strtoll(c->at, &end, 0);
    while (isalpha((unsigned char)*end))
      end++;
    c->at = end;
    return known(value);
  }
  g_autofree char *word = take_word(c);
  if (!*word) {
    if (*c->at) c->at++;
    return UNKNOWN;
  }
  if (strcmp(word, "defined") == 0) return defined_operator(c);
  if (strcmp(word, "__CUDA_ARCH__") == 0) return known(c->cuda_arch);
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) return known(*word == 't');
  skip_blanks(c);
  if (*c->at == '(') { /* a function-like macro: its arguments are passed over */
    for (int depth = 0; *c->at;) {
      depth += *c->at == '(';
      depth -= *c->at == ')';
      c->at++;
      if (depth == 0) break;
    }
    return UNKNOWN;
  }
  return value_of(c, word);
}

static Number unary(Condition *c) {
  skip_blanks(c);
  if (c->depth >= MAX_DEPTH) return UNKNOWN;
  if (c->at[0] == '!' && c->at[1] != '=') {
    c->at++;
    c->depth++;
    Number value = unary(c);
    c->depth--;
    return value.known ? known(!value.value) : UNKNOWN;
  }
  if (*c->at == '-' || *c->at == '+') {
    bool minus = *c->at++ == '-';
    Number value = primary(c);
    return value.known && minus ? known(-value.value) : value;
  }
  return primary(c);
}

static Number product(Condition *c) {
  Number left = unary(c);
  for (;;) {
    skip_blanks(c);
    char operator= * c->at;
    if (operator!= '*' && operator!= '/' && operator!= '%' && operator!= '+' && operator!= '-')
      return left;
    c->at++;
    Number right = unary(c);
    if (!left.known || !right.known || (strchr("/%", operator) && right.value == 0))
      left = UNKNOWN;
    else if (operator== '*')
      left.value *= right.value;
    else if (operator== '/')
      left.value /= right.value;
    else if (operator== '%')
      left.value %= right.value;
    else
      left.value += operator== '+' ? right.value : - right.value;
  }
}

static Number comparison(Condition *c) {
  static const char *const operators[] = {">=", "<=", "==", "!=", ">", "<"};
  Number left = product(c);
  for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
    if (!take(c, operators[i])) continue;
    Number right = product(c);
    if (!left.known || !right.known) return UNKNOWN;
    int64_t a = left.value, b = right.value;
    const bool results[] = {a >= b, a <= b, a == b, a != b, a > b, a < b};
    return known(results[i]);
  }
  return left;
}

static Number conjunction(Condition *c) {
  Number left = comparison(c);
  while (take(c, "&&") || take(c, "and ")) {
    Number right = comparison(c);
    if ((left.known && !left.value) || (right.known && !right.value))
      left = known(0);
    else
      left = left.known && right.known ? known(1) : UNKNOWN;
  }
  return left;
}

static Number conditional(Condition *c) {
  if (++c->depth >= MAX_DEPTH) return UNKNOWN;
  Number left = conjunction(c);
  while (take(c, "||") || take(c, "or ")) {
    Number right = conjunction(c);
    if ((left.known && left.value) || (right.known && right.value))
      left = known(1);
    else
      left = left.known && right.known ? known(0) : UNKNOWN;
  }
  c->depth--;
  return left;
}

Truth condition_holds(const Guards *guards, const char *condition, int cuda_arch, int nesting) {
  if (!condition) return TRUTH_TRUE;
  Condition c = {guards, condition, cuda_arch, 0, nesting};
  Number value = conditional(&c);
  skip_blanks(&c);
  if (*c.at || !value.known) return TRUTH_UNKNOWN;
  return value.value ? TRUTH_TRUE : TRUTH_FALSE;
}
