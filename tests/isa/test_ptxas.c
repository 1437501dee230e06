/* Differential test of the instruction table against ptxas: forms made from the table and from
 * examples.txt, and single edits of them (about half are illegal), are assembled for four targets,
 * one kernel a form, and the verdicts compared. Both kinds of disagreement are printed apart.
 *
 * The fast share runs always; KCHECK_ALL=1 (./test --all) runs the whole. KCHECK_SHOW=N prints up
 * to N disagreements of each kind. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "isa/isa.h"
#include "ptx/ptx.h"

typedef struct Text { /* an instruction in parts, so that it can be edited */
  char *opcode;
  GPtrArray *modifiers, *operands;
} Text;

typedef struct Sample {
  char *text;
  bool edited;
} Sample;

static const char *const targets[] = {"sm_90a",  "sm_100a", "sm_103a",
                                      "sm_120a", "sm_100f", "sm_110a"};

static const char declarations[] = ".reg .pred p<8>; .reg .b8 b<8>; .reg .b16 h<24>; .reg .b32 "
                                   "r<300>; .reg .b64 l<40>; .reg .b128 q<8>; "
                                   ".reg .f32 f<300>; .reg .f64 d<40>;";

/* A generator of its own, so that runs are the same everywhere; started again for every form, so
 * that a form more or less in the table leaves the samples of the others what they were. */
static uint64_t seed_state = 88172645463325252u;
static void seed_for(const char *text, int turn) {
  seed_state = 88172645463325252u ^ g_str_hash(text) ^ (uint64_t)turn << 32;
}
static int random_below(int n) {
  seed_state ^= seed_state << 13;
  seed_state ^= seed_state >> 7;
  seed_state ^= seed_state << 17;
  return n > 0 ? (int)(seed_state % (uint64_t)n) : 0;
}

static Text *text_new(const char *opcode) {
  Text *text = g_new0(Text, 1);
  text->opcode = g_strdup(opcode);
  text->modifiers = g_ptr_array_new_with_free_func(g_free);
  text->operands = g_ptr_array_new_with_free_func(g_free);
  return text;
}

static void text_free(Text *text) {
  g_free(text->opcode);
  g_ptr_array_free(text->modifiers, TRUE);
  g_ptr_array_free(text->operands, TRUE);
  g_free(text);
}

static Text *text_copy(const Text *from) {
  Text *text = text_new(from->opcode);
  for (guint i = 0; i < from->modifiers->len; i++)
    g_ptr_array_add(text->modifiers, g_strdup(from->modifiers->pdata[i]));
  for (guint i = 0; i < from->operands->len; i++)
    g_ptr_array_add(text->operands, g_strdup(from->operands->pdata[i]));
  return text;
}

static char *text_string(const Text *text) {
  GString *out = g_string_new(text->opcode);
  for (guint i = 0; i < text->modifiers->len; i++)
    g_string_append_printf(out, ".%s", (const char *)text->modifiers->pdata[i]);
  for (guint i = 0; i < text->operands->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : " ", (const char *)text->operands->pdata[i]);
  g_string_append_c(out, ';');
  return g_string_free(out, FALSE);
}

/* ---- instances of a form ---- */

/* A value of "8..256/8|3"; `which` 0: the first, 1: the last, else anything. */
static int64_t value_in(const char *range, int which) {
  gchar **parts = g_strsplit_set(range, "|,", -1);
  int n = (int)g_strv_length(parts);
  char *end;
  const char *part = parts[which == 0 ? 0 : which == 1 ? n - 1 : random_below(n)];
  int64_t low = g_ascii_strtoll(part, &end, 0), high = low, step = 1;
  if (strstr(part, "size")) { /* bounded by an earlier operand, which is at least 4 */
    int64_t bounded = strstr(part, "..size") ? 4 : 1 << 21;
    g_strfreev(parts);
    return bounded;
  }
  if (strncmp(end, "..", 2) == 0) high = g_ascii_strtoll(end + 2, &end, 0);
  if (*end == '/') step = g_ascii_strtoll(end + 1, &end, 0);
  int64_t steps = (high - low) / (step > 0 ? step : 1);
  int64_t value = which == 0   ? low
                  : which == 1 ? low + steps * step
                               : low + random_below((int)MIN(steps + 1, 1 << 20)) * step;
  g_strfreev(parts);
  return value;
}

static char *choice_text(const char *choice) {
  const char *brace = strchr(choice, '{');
  if (!brace) return g_strdup(choice);
  const char *close = strchr(brace, '}');
  g_autofree char *range = g_strndup(brace + 1, (gsize)(close - brace - 1));
  return g_strdup_printf("%.*s%" G_GINT64_FORMAT "%s", (int)(brace - choice), choice,
                         value_in(range, random_below(4)), close + 1);
}

static const char *register_of(int bits, char cls) {
  static char name[8][16];
  static int slot;
  char *out = name[slot++ & 7];
  const char *letter = cls == 'f'    ? (bits == 64 ? "d" : "f")
                       : bits == 16  ? "h"
                       : bits == 64  ? "l"
                       : bits == 8   ? "b"
                       : bits == 128 ? "q"
                                     : "r";
  g_snprintf(out, 16, "%s%d", letter, random_below(bits == 128 || bits == 8 ? 8 : 20));
  return out;
}

static int width_of(const IsaOperand *operand) {
  int widths[5], n = 0;
  for (int bits = 8; bits <= 128; bits *= 2)
    if (operand->widths & bits) widths[n++] = bits;
  return n ? widths[random_below(n)] : 32;
}

static char *plain_text(const IsaOperand *operand) {
  int kinds[6], n = 0;
  for (int bit = 1; bit <= ISA_ACCEPT_FLOAT; bit *= 2)
    if ((operand->accepts & bit) && bit != ISA_ACCEPT_NEGATION) kinds[n++] = bit;
  switch (n ? kinds[random_below(n)] : ISA_ACCEPT_REGISTER) {
  case ISA_ACCEPT_IMMEDIATE:
    return g_strdup_printf("%" G_GINT64_FORMAT,
                           operand->range ? value_in(operand->range, random_below(4)) : 1);
  case ISA_ACCEPT_PREDICATE:
    return g_strdup_printf(
        "%sp%d", (operand->accepts & ISA_ACCEPT_NEGATION) && random_below(4) == 0 ? "!" : "",
        random_below(8));
  case ISA_ACCEPT_SINK: return g_strdup("_");
  case ISA_ACCEPT_FLOAT:
    return g_strdup(operand->widths == 64 ? "0d3FF0000000000000" : "0f3F800000");
  default:
    return g_strdup(
        register_of(width_of(operand), operand->any_class && random_below(2) ? 'f' : 'b'));
  }
}

static int variable_of(const Text *text, const char *name) {
  for (guint i = 0; i < text->modifiers->len; i++) {
    const char *m = text->modifiers->pdata[i];
    if (strcmp(name, "dim") == 0 && isdigit((unsigned char)m[0]) && strcmp(m + 1, "d") == 0)
      return m[0] - '0';
    if (strcmp(name, "num") == 0 && m[0] == 'x' && isdigit((unsigned char)m[1])) return atoi(m + 1);
    if (strcmp(name, "vec") == 0 && m[0] == 'v' && isdigit((unsigned char)m[1])) return atoi(m + 1);
    if (strcmp(name, "n") == 0 && m[0] == 'm' && strchr(m, 'n')) return atoi(strchr(m, 'n') + 1);
  }
  return 1;
}

static int count_of(const Text *text, const char *expression) {
  int value = 0;
  char op = '+';
  for (const char *at = expression; at && *at;) {
    char name[16] = "";
    int n = 0, right;
    while (isalnum((unsigned char)*at) && n < 15)
      name[n++] = *at++;
    right = isdigit((unsigned char)name[0]) ? atoi(name) : variable_of(text, name);
    value = op == '+'   ? value + right
            : op == '-' ? value - right
            : op == '*' ? value * right
                        : value / right;
    if (*at) op = *at++;
  }
  return value;
}

static char *operand_text(const Text *text, const IsaOperand *operand);

static char *vector_text(const Text *text, const IsaOperand *operand) {
  int count = operand->list ? operand->nlist : operand->count ? count_of(text, operand->count) : 1;
  GString *out = g_string_new("{");
  bool immediates = random_below(3) == 0;
  for (int i = 0; i < count; i++) {
    IsaOperand element = operand->list ? operand->list[i] : *operand;
    element.kind = ISA_PLAIN;
    if (!immediates && (element.accepts & ISA_ACCEPT_REGISTER))
      element.accepts = ISA_ACCEPT_REGISTER;
    g_autofree char *one = plain_text(&element);
    g_string_append_printf(out, "%s%s", i ? "," : "", one);
  }
  g_string_append_c(out, '}');
  return g_string_free(out, FALSE);
}

static char *operand_text(const Text *text, const IsaOperand *operand) {
  if (operand->kind == ISA_PLAIN) return plain_text(operand);
  if (operand->kind == ISA_VECTOR) return vector_text(text, operand);
  if (operand->kind == ISA_PAIR) {
    g_autofree char *a = operand_text(text, &operand->list[0]);
    g_autofree char *b = operand_text(text, &operand->list[1]);
    return g_strdup_printf("%s|%s", a, b);
  }
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "[%s%s",
                         register_of(operand->widths == 32 || random_below(2) ? 32 : 64, 'b'),
                         random_below(4) ? "" : "+16");
  for (int i = 0; i < operand->nlist; i++) {
    g_autofree char *inner = operand_text(text, &operand->list[i]);
    g_string_append_printf(out, ", %s", inner);
  }
  g_string_append_c(out, ']');
  return g_string_free(out, FALSE);
}

static bool has(const Text *text, const char *modifier) {
  for (guint i = 0; i < text->modifiers->len; i++)
    if (strcmp(text->modifiers->pdata[i], modifier) == 0) return true;
  return false;
}

/* Instance number `turn`: choices go round, optional groups and operands come and go. */
static Text *instance(const IsaForm *form, int turn) {
  Text *text = text_new(form->name[0]);
  for (int i = 1; i < form->nname; i++)
    g_ptr_array_add(text->modifiers, g_strdup(form->name[i]));
  int group = 0;
  bool taken = false;
  for (int i = 0; i < form->nslots; i++) {
    const IsaSlot *slot = &form->slots[i];
    if (slot->group && slot->group != group) taken = turn == 0 ? false : random_below(2);
    group = slot->group;
    if (slot->group && !taken) continue;
    int pick = slot->nchoices > 1 ? (turn + random_below(2)) % slot->nchoices : 0;
    g_ptr_array_add(text->modifiers, choice_text(slot->choices[pick]));
  }
  for (int i = 0; i < form->noperands; i++) {
    const IsaOperand *operand = &form->operands[i];
    if (operand->when && !has(text, operand->when)) continue;
    if (operand->optional && !(turn > 0 && random_below(2))) continue;
    g_ptr_array_add(text->operands, operand_text(text, operand));
  }
  return text;
}

/* ---- single edits ---- */

static const char *any_modifier(const IsaFamily *family, char **owned) {
  const IsaForm *form = &family->forms[random_below(family->nforms)];
  if (form->nslots == 0) return "aligned";
  const IsaSlot *slot = &form->slots[random_below(form->nslots)];
  *owned = choice_text(slot->choices[random_below(slot->nchoices)]);
  return *owned;
}

static void edit_modifier(Text *text, const IsaFamily *family) {
  g_autofree char *owned = NULL;
  const char *other = any_modifier(family, &owned);
  guint n = text->modifiers->len;
  guint at = n ? (guint)random_below((int)n) : 0;
  if (has(text, other)) return; /* ptxas lets some stand twice; nobody writes that */
  switch (random_below(4)) {
  case 0:
    if (n) g_ptr_array_remove_index(text->modifiers, at);
    break;
  case 1: g_ptr_array_insert(text->modifiers, (gint)n, g_strdup(other)); break;
  case 2:
    if (n > 1) {
      guint to = (guint)random_below((int)n);
      gpointer moved = text->modifiers->pdata[at];
      text->modifiers->pdata[at] = text->modifiers->pdata[to];
      text->modifiers->pdata[to] = moved;
    }
    break;
  default:
    if (n) {
      g_free(text->modifiers->pdata[at]);
      text->modifiers->pdata[at] = g_strdup(other);
    }
    break;
  }
}

static char *edited_vector(const char *old) {
  g_autofree char *inner = g_strndup(old + 1, strlen(old) - 2);
  char *comma = strrchr(inner, ',');
  switch (random_below(3)) {
  case 0: return g_strdup_printf("{%s,r19}", inner);
  case 1:
    if (!comma) return g_strdup(inner);
    *comma = '\0';
    return g_strdup_printf("{%s}", inner);
  default: return g_strdup_printf("{%s%sl3}", comma ? inner : "", comma ? "," : "");
  }
}

static char *edited_operand(const char *old) {
  static const char *const others[] = {"r7",   "l7",      "h7", "f7",  "p3",  "1",
                                       "0",    "2",       "24", "-1",  "33",  "_",
                                       "[r8]", "{r1,r2}", "q1", "!p2", "512", "0f3F800000"};
  if (old[0] == '[') {
    int way = random_below(4);
    char *comma = strchr(old, ',');
    if (way == 0 || !comma) return g_strndup(old + 1, strlen(old) - 2);
    if (way == 1) return g_strdup_printf("%.*s]", (int)(comma - old), old);
    return g_strdup_printf("%.*s, r3]", (int)strlen(old) - 1, old);
  }
  if (old[0] == '{') return edited_vector(old);
  if (strchr(old, '|') && random_below(2)) return g_strndup(old, strcspn(old, "|"));
  if (random_below(6) == 0) return g_strdup_printf("[%s]", old);
  return g_strdup(others[random_below(G_N_ELEMENTS(others))]);
}

static void edit_operand(Text *text) {
  guint n = text->operands->len;
  guint at = n ? (guint)random_below((int)n) : 0;
  switch (random_below(6)) {
  case 0:
    if (n) g_ptr_array_remove_index(text->operands, at);
    break;
  case 1: g_ptr_array_add(text->operands, g_strdup(random_below(2) ? "r9" : "1")); break;
  case 2:
    if (n > 1) {
      guint to = (guint)random_below((int)n);
      gpointer moved = text->operands->pdata[at];
      text->operands->pdata[at] = text->operands->pdata[to];
      text->operands->pdata[to] = moved;
    }
    break;
  default:
    if (n) {
      char *changed = edited_operand(text->operands->pdata[at]);
      g_free(text->operands->pdata[at]);
      text->operands->pdata[at] = changed;
    }
    break;
  }
}

/* ---- making the samples ---- */

typedef struct Pool {
  GPtrArray *samples;
  GHashTable *seen;
  int instances, edits;
} Pool;

static void add(Pool *pool, char *text, bool edited) {
  if (g_hash_table_contains(pool->seen, text)) {
    g_free(text);
    return;
  }
  g_hash_table_add(pool->seen, text);
  Sample *sample = g_new0(Sample, 1);
  sample->text = text;
  sample->edited = edited;
  g_ptr_array_add(pool->samples, sample);
}

/* Operands that the form leaves to others: what to put there is not known. */
static bool has_free_operand(const IsaForm *form) {
  for (int i = 0; i < form->noperands; i++)
    if (form->operands[i].any) return true;
  return false;
}

static void visit_family(const IsaFamily *family, void *user) {
  Pool *pool = user;
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    if (!form->complete || has_free_operand(form)) continue;
    for (int turn = 0; turn < pool->instances; turn++) {
      seed_for(form->text, turn);
      Text *text = instance(form, turn);
      add(pool, text_string(text), false);
      for (int edit = 0; edit < pool->edits; edit++) {
        Text *changed = text_copy(text);
        if (family->complete && !form->claims[0] && random_below(5) < 2)
          edit_modifier(changed, family);
        else
          edit_operand(changed);
        add(pool, text_string(changed), true);
        text_free(changed);
      }
      text_free(text);
    }
  }
}

static void add_examples(Pool *pool) {
  g_autofree char *all = NULL;
  ck_assert(g_file_get_contents(KCHECK_SOURCE_DIR "/tests/isa/examples.txt", &all, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
  for (int i = 0; lines[i]; i++) {
    char *line = g_strstrip(lines[i]);
    if (*line && *line != '#') add(pool, g_strdup(line), true);
  }
}

/* ---- the two verdicts ---- */

/* Where the table asks for more than ptxas, and means it, and where it gives advice on what is
 * legal. */
static bool is_stricter(const char *kind, const char *text, const char *why) {
  if (g_str_has_prefix(kind, "perf-")) return true;
  /* a negative number of groups waits for all, which nobody means */
  if (strcmp(kind, "async-copy-wait-count-range") == 0 && strstr(why, " is -")) return true;
  /* the ISA has no form without the mbarrier: nobody would be told of the store */
  bool async = g_str_has_prefix(text, "st.async.") || g_str_has_prefix(text, "red.async.");
  return async && !strchr(text, '{') && strstr(why, "needs operand 3");
}

static bool our_verdict(const char *text, const char *target, char **why) {
  KcArena *arena = kc_arena_new();
  IrProgram *program = ir_program_new(arena, "form.ptx", target);
  IrKernel *kernel = ir_kernel_new(program, "k", false);
  IrBuilder b;
  ir_builder_init(&b, program, kernel);
  IrViolations violations = {.arena = arena};
  PtxAsm statement = {.text = kc_printf(arena, "{ %s %s }", declarations, text),
                      .is_volatile = true};
  ptx_lower_asm(&b, &statement, &violations);
  ir_finish(&b);
  bool good = violations.list.count == 0;
  *why = g_strdup(good ? "" : violations.list.items[0]->message);
  if (!good && is_stricter(violations.list.items[0]->kind, text, *why)) good = true;
  kc_arena_free(arena);
  return good;
}

typedef enum Verdict { UNJUDGED, LEGAL, ILLEGAL, CRASHED } Verdict;

typedef struct Run {
  const char *ptxas, *target;
  const char *path; /* scratch file */
  GPtrArray *samples;
  Verdict *verdicts;
  char **why;
} Run;

static char *module_text(const Run *run, int from, int to) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, ".version 9.0\n.target %s\n.address_size 64\n", run->target);
  for (int i = from; i < to; i++) {
    const Sample *sample = run->samples->pdata[i];
    g_string_append_printf(out, ".entry k%d() { %s\n%s\nret; }\n", i, declarations, sample->text);
  }
  /* a last error keeps ptxas from compiling what it has only to judge */
  g_string_append(out, ".entry last() { nosuch.instruction; }\n");
  return g_string_free(out, FALSE);
}

/* Line of sample `i` in the module that starts with sample `from`. */
static int sample_at(int from, int line) {
  return from + (line - 4) / 3;
}

static void judge(Run *run, int sample, Verdict verdict, const char *why) {
  run->verdicts[sample] = verdict;
  g_free(run->why[sample]);
  run->why[sample] = g_strdup(why);
}

/* Fills the verdicts of [from, to). ptxas stops at what its parser can't read (the rest is
 * assembled again) and crashes on some illegal operands (found by halving). */
static void assemble(Run *run, int from, int to) {
  if (from >= to) return;
  g_autofree char *text = module_text(run, from, to);
  ck_assert(g_file_set_contents(run->path, text, -1, NULL));
  const char *argv[] = {run->ptxas, "-arch", run->target, "-o", "/dev/null", run->path, NULL};
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
                         &status, NULL));
  if (WIFSIGNALED(status)) {
    if (to - from == 1) {
      judge(run, from, CRASHED, "ptxas crashes");
      return;
    }
    assemble(run, from, (from + to) / 2);
    assemble(run, (from + to) / 2, to);
    return;
  }
  for (int i = from; i < to; i++)
    judge(run, i, LEGAL, "");
  g_autofree char *both = g_strconcat(out, err, NULL);
  g_auto(GStrv) messages = g_strsplit(both, "\n", -1);
  for (int i = 0; messages[i]; i++) {
    const char *at = strstr(messages[i], ", line ");
    if (!at || !(strstr(at, "; error") || strstr(at, "; fatal"))) continue;
    int sample = sample_at(from, atoi(at + 7));
    if (sample >= to) continue;
    judge(run, sample, ILLEGAL, strchr(at, ';') + 2);
    if (!strstr(at, "; fatal")) continue;
    assemble(run, sample + 1, to);
    return;
  }
}

/* Whether ptxas compiles a sample alone: some illegal operands it finds only then. */
static bool compiles(const Run *run, const char *sample) {
  g_autofree char *text =
      g_strdup_printf(".version 9.0\n.target %s\n.address_size 64\n.entry k() { %s\n%s\nret; }\n",
                      run->target, declarations, sample);
  ck_assert(g_file_set_contents(run->path, text, -1, NULL));
  const char *argv[] = {run->ptxas, "-arch", run->target, "-o", "/dev/null", run->path, NULL};
  g_autofree char *out = NULL, *err = NULL;
  int status = 0;
  ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err,
                         &status, NULL));
  return status == 0;
}

typedef struct Tally {
  int total, legal, false_accepts, false_rejects;
} Tally;

static void compare(const char *ptxas, GPtrArray *samples, const char *target, Tally *tally) {
  int show = g_getenv("KCHECK_SHOW") ? atoi(g_getenv("KCHECK_SHOW")) : 5;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("isa-XXXXXX.ptx", &path, NULL);
  ck_assert_int_ge(fd, 0);
  close(fd);
  Run run = {.ptxas = ptxas,
             .target = target,
             .path = path,
             .samples = samples,
             .verdicts = g_new0(Verdict, samples->len),
             .why = g_new0(char *, samples->len + 1)};
  for (int from = 0; from < (int)samples->len; from += 400)
    assemble(&run, from, MIN(from + 400, (int)samples->len));
  int shown[2] = {0, 0};
  for (guint i = 0; i < samples->len; i++) {
    const Sample *sample = samples->pdata[i];
    if (run.verdicts[i] == CRASHED) continue;
    g_autofree char *reason = NULL;
    bool ours = our_verdict(sample->text, target, &reason), theirs = run.verdicts[i] == LEGAL;
    if (!ours && theirs) theirs = compiles(&run, sample->text);
    tally->total++;
    tally->legal += theirs;
    tally->false_accepts += ours && !theirs;
    tally->false_rejects += !ours && theirs;
    if (ours != theirs && shown[ours]++ < show)
      printf("%s on %s: %s\n    %s\n", ours ? "false accept" : "false reject", target, sample->text,
             ours ? run.why[i] : reason);
  }
  g_unlink(path);
  for (guint i = 0; i < samples->len; i++)
    g_free(run.why[i]);
  g_free(run.why);
  g_free(run.verdicts);
}

/* The assembler, or NULL; caller frees. */
static char *find_ptxas(void) {
  char *found = g_find_program_in_path("ptxas");
  static const char usual[] = "/usr/local/cuda/bin/ptxas";
  return found ? found : g_file_test(usual, G_FILE_TEST_IS_EXECUTABLE) ? g_strdup(usual) : NULL;
}

START_TEST(table_agrees_with_ptxas) {
  g_autofree char *ptxas = find_ptxas();
  bool everything = g_getenv("KCHECK_ALL") != NULL;
  Pool pool = {.samples = g_ptr_array_new(),
               .seen = g_hash_table_new(g_str_hash, g_str_equal),
               .instances = everything ? 8 : 2,
               .edits = everything ? 3 : 1};
  add_examples(&pool);
  isa_each(visit_family, &pool);
  Tally tally = {0};
  for (size_t i = 0; i < G_N_ELEMENTS(targets); i++)
    compare(ptxas, pool.samples, targets[i], &tally);
  double accepts = 100.0 * tally.false_accepts / tally.total;
  double rejects = 100.0 * tally.false_rejects / tally.total;
  printf(
      "%u forms x %zu targets = %d verdicts, %d legal: false accepts %d (%.2f %%), false rejects "
      "%d (%.2f %%)\n",
      pool.samples->len, G_N_ELEMENTS(targets), tally.total, tally.legal, tally.false_accepts,
      accepts, tally.false_rejects, rejects);
  ck_assert_msg(accepts <= 1.0, "too many false accepts");
  ck_assert_msg(rejects <= 0.5, "too many false rejects");
}
END_TEST

static Suite *differential_suite(void) {
  Suite *suite = suite_create("isa: ptxas agrees");
  TCase *tcase = tcase_create("differential");
  tcase_set_timeout(tcase, 900);
  tcase_add_test(tcase, table_agrees_with_ptxas);
  suite_add_tcase(suite, tcase);
  return suite;
}

int main(void) {
  g_autofree char *ptxas = find_ptxas();
  if (!ptxas) {
    puts("skip: ptxas is not installed");
    return 77;
  }
  SRunner *runner = srunner_create(differential_suite());
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
