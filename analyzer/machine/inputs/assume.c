/* Assumptions: C-like integer expressions over the names of parameters and dimensions, read by
 * recursive descent with C's precedence. */
#include "machine/inputs/sample.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *at;
  bool (*value_of)(const char *name, void *user, int64_t *out);
  void *user;
  bool failed;
  int depth;
} Reader;

static int64_t conditional(Reader *r);

static void skip_space(Reader *r) {
  while (isspace((unsigned char)*r->at))
    r->at++;
}

static bool take(Reader *r, const char *token) {
  skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  r->at += length;
  return true;
}

/* An operator that is not the start of a longer one. */
static bool take_operator(Reader *r, const char *token, const char *not_before) {
  skip_space(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  if (r->at[length] && strchr(not_before, r->at[length])) return false;
  r->at += length;
  return true;
}

static size_t name_length(const char *at) {
  size_t length = 0;
  if (!isalpha((unsigned char)*at) && *at != '_') return 0;
  while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
    length++;
  return length;
}

static int64_t primary(Reader *r) {
  if (++r->depth > 200) r->failed = true;
  int64_t value = 0;
  skip_space(r);
  if (r->failed) return 0;
  if (take(r, "(")) {
    value = conditional(r);
    if (!take(r, ")")) r->failed = true;
  } else if (isdigit((unsigned char)*r->at)) {
    char *end;
    value = (int64_t)strtoull(r->at, &end, 0);
    while (strchr("uUlL", *end) && *end)
      end++;
    r->at = end;
  } else {
    size_t length = name_length(r->at);
    char name[128];
    if (length == 0 || length >= sizeof name) {
      r->failed = true;
      return 0;
    }
    memcpy(name, r->at, length);
    name[length] = 0;
    r->at += length;
    if (strcmp(name, "true") == 0) return 1;
    if (strcmp(name, "false") == 0) return 0;
    if (!r->value_of(name, r->user, &value)) r->failed = true;
  }
  r->depth--;
  return value;
}

static int64_t prefix(Reader *r) {
  if (++r->depth > 200) {
    r->failed = true;
    return 0;
  }
  int64_t value;
  if (take_operator(r, "!", "="))
    value = !prefix(r);
  else if (take(r, "-"))
    value = (int64_t)(0 - (uint64_t)prefix(r));
  else if (take(r, "~"))
    value = ~prefix(r);
  else if (take(r, "+"))
    value = prefix(r);
  else
    value = primary(r);
  r->depth--;
  return value;
}

static int64_t product(Reader *r) {
  int64_t value = prefix(r);
  for (;;) {
    if (take_operator(r, "*", "=")) {
      value = (int64_t)((uint64_t)value * (uint64_t)prefix(r));
      continue;
    }
    bool divide = take_operator(r, "/", "=");
    if (!divide && !take_operator(r, "%", "=")) return value;
    int64_t by = prefix(r);
    if (by == 0 || by == -1) {
      r->failed |= by == 0;
      value = divide ? (int64_t)(0 - (uint64_t)value) : 0;
    } else {
      value = divide ? value / by : value % by;
    }
  }
}

static int64_t sum(Reader *r) {
  int64_t value = product(r);
  for (;;) {
    if (take_operator(r, "+", "=+"))
      value = (int64_t)((uint64_t)value + (uint64_t)product(r));
    else if (take_operator(r, "-", "=-"))
      value = (int64_t)((uint64_t)value - (uint64_t)product(r));
    else
      return value;
  }
}

static int64_t shifted(Reader *r) {
  int64_t value = sum(r);
  for (;;) {
    if (take(r, "<<"))
      value = (int64_t)((uint64_t)value << (sum(r) & 63));
    else if (take(r, ">>"))
      value >>= sum(r) & 63;
    else
      return value;
  }
}

static int64_t relation(Reader *r) {
  int64_t value = shifted(r);
  for (;;) {
    if (take(r, "<="))
      value = value <= shifted(r);
    else if (take(r, ">="))
      value = value >= shifted(r);
    else if (take_operator(r, "<", "<"))
      value = value < shifted(r);
    else if (take_operator(r, ">", ">"))
      value = value > shifted(r);
    else
      return value;
  }
}

static int64_t equality(Reader *r) {
  int64_t value = relation(r);
  for (;;) {
    if (take(r, "=="))
      value = value == relation(r);
    else if (take(r, "!="))
      value = value != relation(r);
    else
      return value;
  }
}

static int64_t bits(Reader *r) {
  int64_t value = equality(r);
  for (;;) {
    if (take_operator(r, "&", "&="))
      value &= equality(r);
    else if (take_operator(r, "^", "="))
      value ^= equality(r);
    else if (take_operator(r, "|", "|="))
      value |= equality(r);
    else
      return value;
  }
}

static int64_t both(Reader *r) {
  int64_t value = bits(r);
  while (take(r, "&&")) {
    int64_t other = bits(r);
    value = value && other;
  }
  return value;
}

static int64_t conditional(Reader *r) {
  int64_t value = both(r);
  while (take(r, "||")) {
    int64_t other = both(r);
    value = value || other;
  }
  return value;
}

bool assume_evaluate(const char *expression,
                     bool (*value_of)(const char *name, void *user, int64_t *out), void *user,
                     bool *ok) {
  Reader reader = {.at = expression, .value_of = value_of, .user = user};
  int64_t value = conditional(&reader);
  skip_space(&reader);
  if (reader.failed || *reader.at) return false;
  *ok = value != 0;
  return true;
}

void assume_each_name(const char *expression, void (*visit)(const char *name, void *user),
                      void *user) {
  for (const char *at = expression; *at;) {
    size_t length = name_length(at);
    if (length == 0) {
      /* A number may end in letters (0x1f, 16u): pass over it whole. */
      if (isdigit((unsigned char)*at))
        while (isalnum((unsigned char)*at))
          at++;
      else
        at++;
      continue;
    }
    char name[128];
    if (length < sizeof name) {
      memcpy(name, at, length);
      name[length] = 0;
      if (strcmp(name, "true") != 0 && strcmp(name, "false") != 0) visit(name, user);
    }
    at += length;
  }
}

/* ---- names that nothing has ---- */

typedef struct Names {
  const IrProgram *program;
  const char *unknown; /* the first that no kernel has */
  char text[128];
} Names;

static bool ends_in(const char *name, const char *part) {
  if (!name) return false;
  if (strcmp(name, part) == 0) return true;
  const char *dot = strrchr(name, '.');
  return dot && strcmp(dot + 1, part) == 0;
}

static bool kernel_has(const IrKernel *kernel, const char *name) {
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    if (ends_in(param->name, name)) return true;
    for (int j = 0; j < param->leaves.count; j++)
      if (ends_in(param->leaves.items[j].name, name)) return true;
  }
  return false;
}

static void look_up(const char *name, void *user) {
  Names *names = user;
  static const char *const dims[] = {"blockDim.", "gridDim.", "clusterDim."};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
    if (strncmp(name, dims[i], strlen(dims[i])) == 0) return;
  for (int i = 0; i < names->program->kernels.count; i++)
    if (kernel_has(names->program->kernels.items[i], name)) return;
  if (names->unknown) return;
  strcpy(names->text, name); /* names are shorter: assume_each_name */
  names->unknown = names->text;
}

static void check_expression(const IrProgram *program, const char *expression,
                             const SourceRange *range, IrViolations *violations) {
  Names names = {.program = program};
  assume_each_name(expression, look_up, &names);
  if (!names.unknown) return;
  const IrKernel *first = program->kernels.items[0];
  IrViolation *v = ir_violation(violations, "kcheck-assume", NULL, range ? 0 : first->where,
                                "the assumption names '%s', which is no parameter of a kernel here",
                                names.unknown);
  if (range) v->caret = *range;
}

void assume_check_names(const IrProgram *program, const MachineOptions *options,
                        IrViolations *violations) {
  if (program->kernels.count == 0) return;
  const IrDirectives *directives = program->directives;
  for (int i = 0; directives && i < directives->assumes.count; i++)
    check_expression(program, directives->assumes.items[i].expression,
                     &directives->assumes.items[i].range, violations);
  for (const char *const *e = options ? options->assumes : NULL; e && *e; e++)
    check_expression(program, *e, NULL, violations);
}
