/* Judges an instruction against the forms of its family. Every form is tried; of those that do not
 * fit, the one that came furthest says what is wrong. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/internal.h"

enum { MAX_MODIFIERS = 24, MAX_ARGS = 24 };

typedef struct Match {
  const IsaForm *form;
  const IsaCall *call;
  int score;
  bool any_range; /* constants out of range are let pass */
  bool quiet;     /* only whether it fits is asked, not why not */
  char name[96];  /* of the form, once it is needed */
  int rank;       /* of the verdict: how far the operands were bound, and how telling it is */
  IsaVerdict verdict;
  const IsaOperand *bound[MAX_ARGS];
} Match;

static void say(Match *match, IsaFault fault, int modifier, int operand, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void say(Match *match, IsaFault fault, int modifier, int operand, const char *format, ...) {
  match->verdict.fault = fault;
  if (match->quiet) return;
  match->verdict.modifier = modifier;
  match->verdict.operand = operand;
  va_list args;
  va_start(args, format);
  vsnprintf(match->verdict.message, sizeof match->verdict.message, format, args);
  va_end(args);
}

static const char *name_of(Match *match) {
  if (!match->name[0]) isa_form_name(match->form, match->name, sizeof match->name);
  return match->name;
}

/* ---- modifiers ---- */

static bool slot_takes(const IsaSlot *slot, const char *modifier) {
  if (strchr(modifier, '%')) return true; /* an immediate that is not known here */
  for (int i = 0; i < slot->nchoices; i++)
    if (isa_choice_fits(slot->choices[i], modifier)) return true;
  return false;
}

static bool fill_slots(Match *match) {
  const IsaForm *form = match->form;
  const IsaCall *call = match->call;
  bool filled[MAX_MODIFIERS] = {false};
  int last[3] = {-1, -1, -1}; /* spaces, types, layouts: the slot filled last */
  bool good = true;
  for (int i = form->nname - 1; i < call->nmodifiers; i++) {
    const char *modifier = call->modifiers[i];
    char order = isa_order_of(modifier);
    int *floor = order == 's' ? &last[0] : order == 't' ? &last[1] : order == 'l' ? &last[2] : NULL;
    int found = -1;
    for (int j = 0; j < form->nslots && j < MAX_MODIFIERS && found < 0; j++)
      if (!filled[j] && (!floor || j > *floor) && slot_takes(&form->slots[j], modifier)) found = j;
    if (found >= 0) {
      filled[found] = true;
      if (floor) *floor = found;
      match->score += 10;
    } else if (good) {
      say(match, ISA_UNKNOWN_MODIFIER, i, -1, "%s does not take .%s here", name_of(match),
          modifier);
      good = false;
    }
    if (found < 0 && match->quiet) return false;
    if (found < 0) match->score -= 12;
  }
  for (int j = 0; j < form->nslots && j < MAX_MODIFIERS; j++) {
    if (filled[j]) continue;
    bool wanted = form->slots[j].group == 0;
    for (int k = 0; k < form->nslots && k < MAX_MODIFIERS && !wanted; k++)
      wanted = filled[k] && form->slots[k].group == form->slots[j].group;
    if (!wanted) continue;
    match->score -= 11;
    if (good)
      say(match, ISA_MISSING_MODIFIER, -1, -1, "%s needs .%s%s", name_of(match),
          form->slots[j].choices[0], form->slots[j].nchoices > 1 ? " or an alternative" : "");
    good = false;
  }
  return good;
}

/* ---- operands ---- */

/* n of m64n128k16, dim of 2d, num of x8, vec of v4 */
static bool variable(const IsaCall *call, const char *name, int64_t *value) {
  for (int i = 0; i < call->nmodifiers; i++) {
    const char *modifier = call->modifiers[i];
    char *end;
    if (strcmp(name, "dim") == 0 && isdigit((unsigned char)modifier[0]) && modifier[1] == 'd' &&
        modifier[2] == '\0') {
      *value = modifier[0] - '0';
      return true;
    }
    char first = strcmp(name, "num") == 0 ? 'x' : strcmp(name, "vec") == 0 ? 'v' : 0;
    if (first && modifier[0] == first && isdigit((unsigned char)modifier[1])) {
      *value = strtol(modifier + 1, &end, 10);
      if (*end == '\0') return true;
    }
    if (strcmp(name, "n") == 0 && modifier[0] == 'm' && isdigit((unsigned char)modifier[1])) {
      strtol(modifier + 1, &end, 10);
      if (*end == 'n') {
        *value = strtol(end + 1, &end, 10);
        return true;
      }
    }
  }
  return false;
}

static bool term(const IsaCall *call, const char **at, int64_t *value) {
  if (isdigit((unsigned char)**at)) {
    *value = strtol(*at, (char **)at, 10);
    return true;
  }
  char name[16];
  size_t length = 0;
  while (isalpha((unsigned char)**at) && length + 1 < sizeof name)
    name[length++] = *(*at)++;
  name[length] = '\0';
  return length > 0 && variable(call, name, value);
}

/* "num*4", "n/2", "dim-2": from left to right; false when a variable is unknown. */
static bool evaluate(const IsaCall *call, const char *expression, int64_t *value) {
  const char *at = expression;
  if (!term(call, &at, value)) return false;
  while (*at) {
    char op = *at++;
    int64_t right;
    if (!term(call, &at, &right)) return false;
    *value = op == '*'   ? *value * right
             : op == '/' ? (right ? *value / right : 0)
             : op == '-' ? *value - right
                         : *value + right;
  }
  return true;
}

static bool wrong_kind(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  if (match->quiet) {
    match->verdict.fault = ISA_OPERAND_KIND;
    return false;
  }
  char have[64], want[160];
  isa_operand_text(operand, want, sizeof want);
  say(match, ISA_OPERAND_KIND, -1, index, "operand %d of %s is %s, not %s", index + 1,
      name_of(match), isa_arg_text(arg, have, sizeof have), want);
  return false;
}

static bool accepts_register(Match *match, const IsaOperand *operand, const IsaArg *arg,
                             int index) {
  if (!(operand->accepts & ISA_ACCEPT_REGISTER) || arg->negated)
    return wrong_kind(match, operand, arg, index);
  bool width = !arg->bits || !operand->widths || (operand->widths & arg->bits);
  bool cls = arg->cls != 'f' || operand->any_class;
  if (width && cls) return true;
  wrong_kind(match, operand, arg, index);
  match->verdict.fault = ISA_OPERAND_WIDTH;
  return false;
}

/* Puts the value of the operand that a range names in its place ("0..size", "size..9"); false when
 * that is not known. */
static bool resolve_range(const Match *match, const char *range, char *out, size_t size) {
  static const char alphabet[] = "abcdefghijklmnopqrstuvwyz_";
  size_t letters = strcspn(range, alphabet), end = letters + strspn(range + letters, alphabet);
  if (end == letters || strstr(range, "0x")) {
    snprintf(out, size, "%s", range);
    return true;
  }
  for (int i = 0; i < match->call->nargs && i < MAX_ARGS; i++) {
    const IsaOperand *bound = match->bound[i];
    if (!bound || strlen(bound->role) != end - letters ||
        strncmp(bound->role, range + letters, end - letters) != 0)
      continue;
    if (match->call->args[i].kind != ISA_ARG_IMMEDIATE) return false;
    snprintf(out, size, "%.*s%lld%s", (int)letters, range, (long long)match->call->args[i].value,
             range + end);
    return true;
  }
  return false;
}

static bool accepts_float(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  if (!(operand->accepts & ISA_ACCEPT_FLOAT)) return wrong_kind(match, operand, arg, index);
  const char *dots = operand->range ? strstr(operand->range, "..") : NULL;
  if (!dots || match->any_range) return true;
  double low = strtod(operand->range, NULL), high = strtod(dots + 2, NULL);
  if (arg->real > low && arg->real <= high) return true;
  say(match, ISA_OPERAND_RANGE, -1, index,
      "operand %d of %s is %g; it must be above %g and at most %g", index + 1, name_of(match),
      arg->real, low, high);
  return false;
}

static bool accepts_plain(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  switch (arg->kind) {
  case ISA_ARG_UNKNOWN: return true;
  case ISA_ARG_REGISTER: return accepts_register(match, operand, arg, index);
  case ISA_ARG_PREDICATE:
    if (!(operand->accepts & ISA_ACCEPT_PREDICATE) ||
        (arg->negated && !(operand->accepts & ISA_ACCEPT_NEGATION)))
      return wrong_kind(match, operand, arg, index);
    return true;
  case ISA_ARG_IMMEDIATE: {
    if (!(operand->accepts & ISA_ACCEPT_IMMEDIATE)) return wrong_kind(match, operand, arg, index);
    if (!operand->range || match->any_range) return true;
    char range[96], bounds[96];
    if (!resolve_range(match, operand->range, bounds, sizeof bounds) ||
        isa_in_range(bounds, arg->value))
      return true;
    say(match, ISA_OPERAND_RANGE, -1, index, "operand %d of %s is %lld; it must be %s", index + 1,
        name_of(match), (long long)arg->value, isa_range_text(bounds, range, sizeof range));
    return false;
  }
  case ISA_ARG_FLOAT: return accepts_float(match, operand, arg, index);
  case ISA_ARG_SINK:
    return (operand->accepts & ISA_ACCEPT_SINK) || wrong_kind(match, operand, arg, index);
  case ISA_ARG_SPECIAL: /* only mov takes one */
  case ISA_ARG_SYMBOL:
  case ISA_ARG_ADDRESS:
  case ISA_ARG_VECTOR:
  case ISA_ARG_PAIR: return wrong_kind(match, operand, arg, index);
  }
  return true;
}

static bool accepts(Match *match, const IsaOperand *operand, const IsaArg *arg, int index);

/* The elements of a vector have one type; registers of bits fit any, constants do not. */
static bool one_kind_of_constants(const IsaArg *arg) {
  bool integer = false, real = false;
  for (int i = 0; i < arg->count; i++) {
    integer = integer || arg->list[i].kind == ISA_ARG_IMMEDIATE;
    real = real || arg->list[i].kind == ISA_ARG_FLOAT;
  }
  return !(integer && real);
}

static bool accepts_vector(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  if (arg->kind != ISA_ARG_VECTOR) return wrong_kind(match, operand, arg, index);
  int64_t count;
  if (operand->count && evaluate(match->call, operand->count, &count) && count != arg->count) {
    say(match, ISA_VECTOR_LENGTH, -1, index, "operand %d of %s has %d elements, it takes %lld",
        index + 1, name_of(match), arg->count, (long long)count);
    return false;
  }
  if (operand->list && operand->nlist != arg->count) {
    say(match, ISA_VECTOR_LENGTH, -1, index, "operand %d of %s has %d elements, it takes %d",
        index + 1, name_of(match), arg->count, operand->nlist);
    return false;
  }
  for (int i = 0; i < arg->count; i++) {
    const IsaOperand *element = operand->list ? &operand->list[i] : operand;
    if (!accepts_plain(match, element, &arg->list[i], index)) return false;
  }
  if (!one_kind_of_constants(arg)) {
    say(match, ISA_OPERAND_KIND, -1, index,
        "operand %d of %s has integer and float constants side by side", index + 1, name_of(match));
    return false;
  }
  return true;
}

static bool accepts_address(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  if (operand->bare && arg->kind == ISA_ARG_REGISTER && arg->cls != 'f' && !arg->negated &&
      (!operand->bare_widths || !arg->bits || operand->bare_widths == arg->bits))
    return true;
  if (arg->kind != ISA_ARG_ADDRESS) return wrong_kind(match, operand, arg, index);
  const IsaArg *base = &arg->list[0]; /* any width will do; ptxas takes even 16 bits */
  bool no_address = base->kind == ISA_ARG_PREDICATE || base->kind == ISA_ARG_IMMEDIATE ||
                    base->kind == ISA_ARG_FLOAT || base->kind == ISA_ARG_SPECIAL ||
                    (base->kind == ISA_ARG_REGISTER && (base->cls == 'f' || base->bits == 128));
  bool narrow = base->kind == ISA_ARG_REGISTER && base->bits && operand->widths &&
                !(operand->widths & base->bits);
  if (no_address || narrow) {
    IsaOperand wanted = {.accepts = ISA_ACCEPT_REGISTER,
                         .widths = operand->widths ? operand->widths : 32 | 64};
    return wrong_kind(match, &wanted, base, index);
  }
  if (arg->value != 0 && operand->nlist > 0) {
    say(match, ISA_OPERAND_KIND, -1, index, "the address of operand %d of %s takes no offset",
        index + 1, name_of(match));
    return false;
  }
  if (arg->count - 1 != operand->nlist) {
    say(match, ISA_OPERAND_COUNT, -1, index, "the address of operand %d of %s %s", index + 1,
        name_of(match), operand->nlist ? "needs coordinates" : "takes no coordinates");
    return false;
  }
  for (int i = 0; i < operand->nlist; i++)
    if (!accepts(match, &operand->list[i], &arg->list[i + 1], index)) return false;
  return true;
}

static bool accepts(Match *match, const IsaOperand *operand, const IsaArg *arg, int index) {
  if (arg->kind == ISA_ARG_UNKNOWN || operand->any) return true;
  switch (operand->kind) {
  case ISA_PLAIN: return accepts_plain(match, operand, arg, index);
  case ISA_ADDRESS: return accepts_address(match, operand, arg, index);
  case ISA_VECTOR: return accepts_vector(match, operand, arg, index);
  case ISA_PAIR:
    if (arg->kind != ISA_ARG_PAIR) return wrong_kind(match, operand, arg, index);
    return accepts(match, &operand->list[0], &arg->list[0], index) &&
           accepts(match, &operand->list[1], &arg->list[1], index);
  }
  return false;
}

static bool has_modifier(const IsaCall *call, const char *name, bool *unknown) {
  for (int i = 0; i < call->nmodifiers; i++) {
    if (strchr(call->modifiers[i], '%')) *unknown = true;
    if (strcmp(call->modifiers[i], name) == 0) return true;
  }
  return false;
}

/* Keeps the most telling mismatch: the one furthest right; there, a constant out of range before a
 * wrong kind of a required operand before that of one that may be absent before a surplus one. */
static void keep(Match *match, const IsaVerdict *before, int position, int weight) {
  int rank = position * 4 + weight;
  if (rank > match->rank)
    match->rank = rank;
  else
    match->verdict = *before;
}

/* Binds args[from..] to operands[next..]; optional operands are tried both ways. */
static bool bind(Match *match, int next, int from) {
  const IsaForm *form = match->form;
  const IsaCall *call = match->call;
  IsaVerdict before = match->verdict;
  if (next == form->noperands) {
    if (from == call->nargs) return true;
    say(match, ISA_OPERAND_COUNT, -1, from, "%s takes no operand %d here", name_of(match),
        from + 1);
    keep(match, &before, from, 0);
    return false;
  }
  const IsaOperand *operand = &form->operands[next];
  bool unknown = false;
  if (operand->when && !has_modifier(call, operand->when, &unknown) && !unknown)
    return bind(match, next + 1, from);
  bool may_skip = operand->optional || unknown;
  if (from < call->nargs && from < MAX_ARGS) {
    if (accepts(match, operand, &call->args[from], from)) {
      match->bound[from] = operand;
      if (bind(match, next + 1, from + 1)) return true;
    } else {
      keep(match, &before, from, match->verdict.fault == ISA_OPERAND_RANGE ? 3 : may_skip ? 1 : 2);
    }
  } else if (!may_skip) {
    say(match, ISA_OPERAND_COUNT, -1, -1, "%s needs operand %d%s%s", name_of(match), from + 1,
        operand->when ? " because of ." : "", operand->when ? operand->when : "");
    keep(match, &before, from, 2);
  }
  return may_skip && bind(match, next + 1, from);
}

/* ---- the whole ---- */

static bool name_fits(const IsaForm *form, const IsaCall *call) {
  if (call->nmodifiers < form->nname - 1) return false;
  for (int i = 1; i < form->nname; i++)
    if (strcmp(form->name[i], call->modifiers[i - 1]) != 0) return false;
  return true;
}

static bool try_form(Match *match, const IsaForm *form, const IsaCall *call, bool any_range,
                     bool quiet) {
  IsaVerdict fits = {.form = form, .modifier = -1, .operand = -1};
  *match = (Match){.form = form,
                   .call = call,
                   .score = form->nname * 30,
                   .any_range = any_range,
                   .quiet = quiet,
                   .rank = -1,
                   .verdict = fits};
  bool modifiers = fill_slots(match);
  if (quiet && !modifiers) return false;
  IsaVerdict saved = match->verdict;
  match->verdict = fits;
  bool operands = bind(match, 0, 0);
  match->score += operands ? 9 : match->rank > 0 ? match->rank / 4 : 0;
  if (!modifiers) match->verdict = saved;
  if (modifiers && operands) match->verdict = fits;
  return modifiers && operands;
}

/* "sm_90a", "sm_100f, sm_110f": the targets that have it, or those of this very GPU. */
static void needed_targets(const IsaForm *form, const char *target, bool suffix, char *out,
                           size_t size) {
  bool ignored;
  if (suffix) {
    char plain[16], family[17];
    snprintf(plain, sizeof plain, "%s", target);
    size_t length = strlen(plain);
    if (length > 0 && strchr("af", plain[length - 1])) plain[length - 1] = '\0';
    snprintf(family, sizeof family, "%sf", plain);
    if (isa_target_allows(form->targets, family, &ignored))
      snprintf(out, size, "%s or %sa", family, plain);
    else
      snprintf(out, size, "%sa", plain);
    return;
  }
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; form->targets[i] && used < size; i++) {
    const char *text = form->targets[i];
    int digits = (int)strspn(text, "0123456789");
    used += (size_t)snprintf(out + used, size - used, "%ssm_%.*s%s", i ? ", " : "", digits, text,
                             text[digits] == '+' ? " or later" : text + digits);
  }
}

static void judge_target(IsaVerdict *verdict, const IsaCall *call, const char *target) {
  const IsaForm *form = verdict->form;
  bool suffix = false;
  if (isa_target_allows(form->targets, target, &suffix)) return;
  verdict->fault = suffix ? ISA_TARGET_SUFFIX : ISA_TARGET;
  char name[160], list[160];
  size_t used = (size_t)snprintf(name, sizeof name, "%s", form->name[0]);
  for (int i = 0; i < call->nmodifiers && used < sizeof name; i++)
    used += (size_t)snprintf(name + used, sizeof name - used, ".%s", call->modifiers[i]);
  needed_targets(form, target, suffix, list, sizeof list);
  snprintf(verdict->message, sizeof verdict->message, "%s does not exist on %.16s; it needs %.110s",
           name, target, list);
}

/* The form that fits, for the target if there is one; verdict->form is NULL when none does. */
static void find_fitting(const IsaFamily *family, const IsaCall *call, const char *target,
                         IsaVerdict *verdict) {
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    Match match;
    if (!name_fits(form, call) || !try_form(&match, form, call, false, true)) continue;
    judge_target(&match.verdict, call, target);
    if (!verdict->form || match.verdict.fault == ISA_FITS) *verdict = match.verdict;
    if (verdict->fault == ISA_FITS) return;
  }
}

static void find_nearest(const IsaFamily *family, const IsaCall *call, IsaVerdict *verdict) {
  int score = -1000000;
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    Match match;
    if (!name_fits(form, call)) continue;
    try_form(&match, form, call, false, false);
    if (match.score <= score) continue;
    score = match.score;
    *verdict = match.verdict;
  }
}

IsaVerdict isa_judge(const IsaFamily *family, const IsaCall *call, const char *target) {
  IsaVerdict verdict = {.fault = ISA_NO_SUCH_NAME, .modifier = -1, .operand = -1};
  find_fitting(family, call, target, &verdict);
  if (!verdict.form) find_nearest(family, call, &verdict);
  if (verdict.form) return verdict;
  size_t used = (size_t)snprintf(verdict.message, sizeof verdict.message, "%s", family->opcode);
  for (int i = 0; i < call->nmodifiers && used < sizeof verdict.message; i++)
    used += (size_t)snprintf(verdict.message + used, sizeof verdict.message - used, ".%s",
                             call->modifiers[i]);
  if (used < sizeof verdict.message)
    snprintf(verdict.message + used, sizeof verdict.message - used, " is no PTX instruction");
  return verdict;
}

bool isa_concerns(const IsaFamily *family, const IsaCall *call) {
  const char *const *seen = NULL;
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    if (form->nname > 1 && call->nmodifiers > 0 && strcmp(form->name[1], call->modifiers[0]) == 0)
      return true;
    if (form->nname > 1 || form->claims == seen) continue;
    if (!form->claims[0] || isa_claims(form, call)) return true;
    seen = form->claims; /* the forms of a group share the list */
  }
  return family->complete;
}

bool isa_claims(const IsaForm *form, const IsaCall *call) {
  if (!form || !form->complete) return false;
  bool unknown = false;
  for (int i = 0; form->claims[i]; i++)
    if (has_modifier(call, form->claims[i], &unknown)) return true;
  return form->claims[0] == NULL;
}

bool isa_bind(const IsaForm *form, const IsaCall *call, const IsaOperand **operands) {
  Match match;
  if (call->nargs > MAX_ARGS || !try_form(&match, form, call, true, true)) return false;
  for (int i = 0; i < call->nargs; i++)
    operands[i] = match.bound[i];
  return true;
}
