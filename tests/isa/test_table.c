/* The table itself: every file loads, the notation, targets, verdicts. */
#include <check.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "ir/ir.h"
#include "isa/internal.h"
#include "isa/isa.h"

Suite *test_suite(void);

static bool is_event(const char *name) {
  for (int i = 1; i < IR_EVENT_COUNT; i++)
    if (strcmp(ir_event_name((IrEvent)i), name) == 0) return true;
  return false;
}

static bool is_flag(const char *name) {
  static const char *const names[] = {
#define FLAG(flag) #flag,
#include "ir/flags.def"
#undef FLAG
      NULL};
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static bool is_role(const char *name) {
  if (strcmp(name, "-") == 0) return true;
  if (name[0] == '+') return is_flag(name + 1);
  for (int i = 1; i < IR_ROLE_COUNT; i++)
    if (strcmp(ir_role_name((IrRole)i), name) == 0) return true;
  return false;
}

static void check_operand(const IsaForm *form, const IsaOperand *operand) {
  ck_assert_msg(is_role(operand->role), "%s: role %s", form->text, operand->role);
  for (int i = 0; i < operand->nlist; i++)
    check_operand(form, &operand->list[i]);
}

static void check_family(const IsaFamily *family, void *user) {
  int *forms = user;
  *forms += family->nforms;
  ck_assert(family->nforms > 0 || family->instead);
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    ck_assert_msg(strcmp(form->name[0], family->opcode) == 0, "%s in the file of %s", form->text,
                  family->opcode);
    ck_assert_msg(!form->event || is_event(form->event), "%s: event %s", form->text, form->event);
    ck_assert_msg(form->violation != NULL, "%s: no violation", form->text);
    for (int j = 0; form->flags[j]; j++)
      ck_assert_msg(is_flag(form->flags[j]), "%s: flag %s", form->text, form->flags[j]);
    for (int j = 0; j < form->noperands; j++)
      check_operand(form, &form->operands[j]);
  }
}

START_TEST(every_form_names_what_exists) {
  int forms = 0;
  isa_each(check_family, &forms);
  ck_assert_int_gt(forms, 200);
}
END_TEST

START_TEST(loading_is_fast) {
  /* the files that a tensor-core kernel needs; well below the parse of any kernel; processor time,
   * so that a busy machine does not count, and room for a sanitizer */
  static const char *const opcodes[] = {"mbarrier", "cp",    "fence",      "tcgen05", "wgmma",
                                        "bar",      "elect", "setmaxnreg", NULL};
  clock_t start = clock();
  for (int i = 0; opcodes[i]; i++)
    ck_assert_ptr_nonnull(isa_family(opcodes[i]));
  ck_assert_int_lt((clock() - start) * 1000 / CLOCKS_PER_SEC, 200);
  ck_assert_ptr_null(isa_family("nosuchopcode"));
  ck_assert(isa_is_data("fma"));
  ck_assert(!isa_is_data("mbarrier"));
  ck_assert_str_eq(isa_modifier_flag("noComplete"), "no_complete");
}
END_TEST

START_TEST(notation_of_forms) {
  KcArena *arena = kc_arena_new();
  IsaForm form = {0};
  const char *problem = NULL;
  ck_assert(isa_parse_form(arena,
                           "a.b {x|y z} m64n{8..256/8}k16 s32; dst:r32_|pred:p, [map, "
                           "{coords:ri32*dim}], count:ri32(0..15)?, mask:r16?(x)",
                           &form, &problem));
  ck_assert_int_eq(form.nname, 2);
  ck_assert_int_eq(form.nslots, 4);
  ck_assert_int_eq(form.slots[0].group, form.slots[1].group);
  ck_assert_int_eq(form.slots[2].group, 0);
  ck_assert_int_eq(form.slots[3].order, 't');
  ck_assert_int_eq(form.noperands, 4);
  ck_assert_int_eq(form.operands[0].kind, ISA_PAIR);
  ck_assert_int_eq(form.operands[1].kind, ISA_ADDRESS);
  ck_assert_str_eq(form.operands[1].list[0].count, "dim");
  ck_assert(form.operands[2].optional);
  ck_assert_str_eq(form.operands[3].when, "x");
  static const char *const wrong[] = {"a {b", "a; x", "a; x:q", "a; [x", "a; {x:r32", "a; x:r32 y"};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    IsaForm bad = {0};
    ck_assert_msg(!isa_parse_form(arena, wrong[i], &bad, &problem), "%s", wrong[i]);
  }
  kc_arena_free(arena);
}
END_TEST

START_TEST(patterns_and_ranges) {
  ck_assert(isa_choice_fits("m64n{8..256/8}k16", "m64n128k16"));
  ck_assert(!isa_choice_fits("m64n{8..256/8}k16", "m64n20k16"));
  ck_assert(!isa_choice_fits("m64n{8..256/8}k16", "m64n8k32"));
  ck_assert(isa_choice_fits("m64n{8,16,48..256/16}k32", "m64n16k32"));
  ck_assert(!isa_choice_fits("m64n{8,16,48..256/16}k32", "m64n40k32"));
  ck_assert(isa_in_range("4|8|16", 8));
  ck_assert(!isa_in_range("4|8|16", 12));
  ck_assert(isa_in_range("-1|1", -1));
  ck_assert(!isa_in_range("24..256/8", 23));
}
END_TEST

/* PTX ISA 11.1.2: base, family-specific and architecture-specific targets */
START_TEST(targets) {
  static const char *const base[] = {"90+", NULL}, *const arch[] = {"90a", NULL},
                           *const family[] = {"100f", NULL}, *const later[] = {"103f", NULL};
  bool suffix;
  ck_assert(isa_target_allows(base, "sm_90", &suffix));
  ck_assert(isa_target_allows(base, "sm_120", &suffix));
  ck_assert(!isa_target_allows(base, "sm_80", &suffix) && !suffix);
  ck_assert(isa_target_allows(arch, "sm_90a", &suffix));
  ck_assert(!isa_target_allows(arch, "sm_90", &suffix) && suffix);
  ck_assert(!isa_target_allows(arch, "sm_100a", &suffix) && !suffix);
  ck_assert(isa_target_allows(family, "sm_100a", &suffix));
  ck_assert(isa_target_allows(family, "sm_100f", &suffix));
  ck_assert(isa_target_allows(family, "sm_103a", &suffix));
  ck_assert(isa_target_allows(family, "sm_103f", &suffix));
  ck_assert(!isa_target_allows(family, "sm_103", &suffix) && suffix);
  ck_assert(!isa_target_allows(family, "sm_110a", &suffix) && !suffix);
  ck_assert(!isa_target_allows(later, "sm_100f", &suffix) && !suffix);
  ck_assert(isa_target_allows(family, NULL, &suffix));
}
END_TEST

START_TEST(verdicts_point_at_the_fault) {
  const char *modifiers[] = {"arrive", "release", "gpu", "shared::cta", "b64"};
  IsaArg base = {.kind = ISA_ARG_REGISTER, .bits = 32};
  IsaArg args[] = {{.kind = ISA_ARG_SINK}, {.kind = ISA_ARG_ADDRESS, .list = &base, .count = 1}};
  IsaCall call = {modifiers, 5, args, 2};
  IsaVerdict verdict = isa_judge(isa_family("mbarrier"), &call, "sm_90a");
  ck_assert_int_eq(verdict.fault, ISA_UNKNOWN_MODIFIER);
  ck_assert_int_eq(verdict.modifier, 2);
  modifiers[2] = "cluster";
  verdict = isa_judge(isa_family("mbarrier"), &call, "sm_90a");
  ck_assert_int_eq(verdict.fault, ISA_FITS);
  char text[256];
  isa_print_form(verdict.form, text, sizeof text);
  ck_assert_str_eq(text,
                   "mbarrier.arrive{.release|.relaxed.cta|.cluster}{.shared|.shared::cta}.b64 "
                   "dst, [addr]");
  /* a modifier that holds an unknown immediate fits everywhere */
  modifiers[2] = "%3";
  verdict = isa_judge(isa_family("mbarrier"), &call, "sm_90a");
  ck_assert_int_eq(verdict.fault, ISA_FITS);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("isa: table");
  TCase *tcase = tcase_create("table");
  tcase_add_test(tcase, every_form_names_what_exists);
  tcase_add_test(tcase, loading_is_fast);
  tcase_add_test(tcase, notation_of_forms);
  tcase_add_test(tcase, patterns_and_ranges);
  tcase_add_test(tcase, targets);
  tcase_add_test(tcase, verdicts_point_at_the_fault);
  suite_add_tcase(suite, tcase);
  return suite;
}
