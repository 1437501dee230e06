/* What nvcc takes and clang does not, seen through the parsed unit: asm statements with their text,
 * operands and the place of each byte of the template. */
#include <glib.h>
#include <glib/gstdio.h>

#include "load.h"

#include "cuda/alignment.h"
#include "cuda/includes.h"
#include "cuda/parse.h"
#include "cuda/unit.h"

typedef struct Parsed {
  KcArena *arena;
  Clang clang;
  CudaParse parse;
  CudaUnit unit;
  CursorList asms;
  CudaOptions options;
} Parsed;

static CXChildVisitResult collect_asm(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Parsed *p = data;
  if (parent.kind == CXCursor_TranslationUnit && !unit_is_user(&p->unit, cursor))
    return CXChildVisit_Continue;
  if (cursor.kind == CXCursor_FunctionDecl || cursor.kind == CXCursor_FunctionTemplate)
    unit_asm_prepare(&p->unit, cursor);
  if (cursor.kind == CXCursor_GCCAsmStmt) KC_PUSH(p->arena, p->asms, cursor);
  return CXChildVisit_Recurse;
}

static void parse_text(Parsed *p, const char *text) {
  KcError error = {0};
  *p = (Parsed){.arena = kc_arena_new(), .options = {.arch = "sm_90a"}};
  ck_assert(clang_open(&p->clang, &error));
  p->parse.clang = &p->clang;
  p->parse.edits.arena = p->arena;
  p->unit = (CudaUnit){.clang = &p->clang,
                       .arena = p->arena,
                       .program = ir_program_new(p->arena, "kernel.cu", "sm_90a"),
                       .options = &p->options,
                       .folder = "/nowhere/"};
  uint32_t id = source_file(&p->unit.program->sources, "kernel.cu", true);
  p->unit.program->sources.files.items[id].text = text;
  p->unit.program->sources.files.items[id].length = strlen(text);
  EditedFile *file = edit_file(&p->parse.edits, "kernel.cu", text, strlen(text));
  alignment_annotate(&p->parse.edits, file);
  ck_assert_msg(parse_file(&p->parse, "kernel.cu", &p->options, &error), "%s", error.message);
  ck_assert_int_eq(p->parse.errors, 0);
  p->unit.tu = p->parse.tu;
  edit_publish(&p->parse.edits, &p->unit);
  p->clang.visitChildren(p->clang.getTranslationUnitCursor(p->unit.tu), collect_asm, p);
}

static void finish(Parsed *p) {
  parse_dispose(&p->parse);
  kc_arena_free(p->arena);
}

static CudaAsm statement(Parsed *p, int index) {
  CudaAsm out;
  const char *why = NULL;
  ck_assert_int_gt(p->asms.count, index);
  ck_assert_msg(unit_asm(&p->unit, p->asms.items[index], &out, &why), "%s", why);
  return out;
}

/* The line and column that the map gives to a part of the template. */
static void ck_assert_place(const CudaAsm *s, const char *part, uint32_t line, uint32_t column) {
  const char *found = strstr(s->text, part);
  ck_assert_msg(found != NULL, "%s is not in %s", part, s->text);
  uint32_t offset = (uint32_t)(found - s->text);
  int run = -1;
  for (int i = 0; i < s->map.count && s->map.offsets[i] <= offset; i++)
    run = i;
  ck_assert_int_ge(run, 0);
  ck_assert_uint_eq(s->map.starts[run].line, line);
  ck_assert_uint_eq(s->map.starts[run].column + offset - s->map.offsets[run], column);
}

START_TEST(text_operands_and_places) {
  Parsed p;
  parse_text(&p, "template <int N> __device__ void f(int *p, unsigned long a) {\n"
                 "  asm volatile(\"add.u32 %0, %1, %2;\\n\\t\"\n"
                 "               \"mov.u32 %%r, %[named]; // $x\"\n"
                 "               : \"=r\"(p[0]), \"+r\"(p[1])\n"
                 "               : [named] \"n\"(N * 2), \"l\"(a)\n"
                 "               : \"memory\", \"cc\");\n"
                 "}\n"
                 "__global__ void k(int *p) { f<3>(p, 1); }\n");
  CudaAsm s = statement(&p, 0);
  ck_assert_str_eq(s.text, "add.u32 %0, %1, %2;\n\tmov.u32 %%r, %2; // $x");
  ck_assert_int_eq(s.noutputs, 2);
  ck_assert_int_eq(s.operands.count, 4);
  ck_assert_str_eq(s.operands.items[0].constraint, "=r");
  ck_assert_str_eq(s.operands.items[1].constraint, "+r");
  ck_assert_str_eq(s.operands.items[3].constraint, "l");
  ck_assert_int_eq(s.clobbers.count, 2);
  ck_assert_str_eq(s.clobbers.items[0], "memory");
  ck_assert(s.is_volatile);
  ck_assert_place(&s, "add.u32", 2, 17);
  ck_assert_place(&s, "mov.u32", 3, 17);
  ck_assert_place(&s, "; // $x", 3, 38);
  finish(&p);
}
END_TEST

START_TEST(single_percent_is_doubled) {
  Parsed p;
  parse_text(&p, "__global__ void k(int *p) {\n"
                 "  asm(\"mov.u32 %0, %laneid; // \" : \"=r\"(p[0]));\n"
                 "  asm(\"{ .reg .pred %px; setp.ne.u32 %px, %1, 0; selp.u32 %0, 1, 0, %px; }\"\n"
                 "      : \"=r\"(p[1]) : \"r\"(p[2]));\n"
                 "}\n");
  CudaAsm first = statement(&p, 0), second = statement(&p, 1);
  ck_assert_str_eq(first.text, "mov.u32 %0, %%laneid; // ");
  ck_assert_place(&first, "laneid", 2, 21);
  ck_assert_str_eq(second.text,
                   "{ .reg .pred %%px; setp.ne.u32 %%px, %1, 0; selp.u32 %0, 1, 0, %%px; }");
  ck_assert_place(&second, "selp", 3, 50);
  finish(&p);
}
END_TEST

START_TEST(missing_comma_and_operand_out_of_range) {
  Parsed p;
  parse_text(&p, "__global__ void k(int *p) {\n"
                 "  asm(\"add.u32 %0, %1, %2;\" : \"=r\"(p[0]) : \"r\"(p[1]) \"r\"(p[2]));\n"
                 "  asm(\"add.u32 %0, %1, %7;\" : \"=r\"(p[0]) : \"r\"(p[1]));\n"
                 "}\n");
  ck_assert_int_eq(statement(&p, 0).operands.count, 3);
  CudaAsm out_of_range = statement(&p, 1);
  ck_assert_str_eq(out_of_range.text, "add.u32 %0, %1, %%7;");
  finish(&p);
}
END_TEST

START_TEST(asm_in_a_macro) {
  Parsed p;
  parse_text(&p, "#define RANK(x) \\\n"
                 "  asm volatile(\"mov.u32 %0, %cluster_ctarank;\" : \"=r\"(x))\n"
                 "__global__ void k(int *p) { RANK(p[0]); }\n");
  CudaAsm s = statement(&p, 0);
  ck_assert_str_eq(s.text, "mov.u32 %0, %%cluster_ctarank;");
  SourceRange at = unit_cursor_range(&p.unit, p.asms.items[0]);
  ck_assert_uint_eq(at.line, 3);
  ck_assert_uint_eq(at.column, 29);
  finish(&p);
}
END_TEST

START_TEST(keywords_that_nvcc_does_without) {
  Parsed p;
  parse_text(
      &p, "template <class T> struct W { template <int N> __device__ int get() { return N; }\n"
          "  typedef int type; };\n"
          "template <class T> __device__ int f(W<T> w) { W<T>::type x = w.get<3>(); return x; }\n"
          "__global__ void k(int *p) { W<float> w; p[0] = f(w); }\n");
  finish(&p);
}
END_TEST

/* clang compares where the argument is a name: the error comes with the instantiation. */
START_TEST(template_member_of_dependent_object) {
  Parsed p;
  parse_text(
      &p, "template <class T> struct W { template <bool kHalf> __device__ int get(int a, int b) {\n"
          "  return kHalf ? a : b; } };\n"
          "template <class T> __device__ int f(int n) {\n"
          "  constexpr bool kHalf = sizeof(T) == 2; auto w = W<T>();\n"
          "  W<T> *q = &w; return w.get<kHalf>(n, 2) + q->get<kHalf>(n, 3); }\n"
          "__global__ void k(int *p) { p[0] = f<float>(p[1]); }\n");
  finish(&p);
}
END_TEST

/* A header is patched before it is parsed; one without anything to patch is left alone. */
START_TEST(headers_are_patched_ahead) {
  g_autofree char *folder = g_dir_make_tmp("kcheck-includes-XXXXXX", NULL);
  ck_assert_ptr_nonnull(folder);
  g_autofree char *bad = g_build_filename(folder, "bad.h", NULL);
  g_autofree char *good = g_build_filename(folder, "good.h", NULL);
  g_autofree char *flag = g_strconcat("-I", folder, NULL);
  const char *comma =
      "__device__ void f(int a, long b) { asm(\"x %0 %1;\" :: \"r\"(a) \"l\"(b)); }\n"
      "__device__ int t() { int v; asm(\"mov.u32 %0, %clock;\" : \"=r\"(v)); return v; }\n"
      "// asm(\"%never\" : \"=r\"(v));\n";
  const char *plain =
      "#pragma once\n#include <bad.h>\n#include <cute/tensor.hpp>\n"
      "__device__ void g(int a) { asm(\"y %0;\" :: \"r\"(a)); asm(\"mov %r1, %r2;\"); }\n";
  ck_assert(g_file_set_contents(bad, comma, -1, NULL) &&
            g_file_set_contents(good, plain, -1, NULL));
  const char *text = " #  include \"good.h\"\nint x;\n", *flags[] = {flag, NULL};
  EditSet edits = {.arena = kc_arena_new()};
  edit_file(&edits, "kernel.cu", text, strlen(text));
  ck_assert(includes_read(&edits, "kernel.cu", flags).toolkit_library);
  ck_assert_int_eq(edits.files.count, 2);
  const EditedFile *patched = edit_find(&edits, bad);
  ck_assert_ptr_nonnull(patched);
  ck_assert_int_eq(patched->patches.count, 2);
  ck_assert_ptr_nonnull(strstr(patched->text, "\"r\"(a), \"l\"(b)"));
  ck_assert_ptr_nonnull(strstr(patched->text, "%0, %%clock;"));
  ck_assert_ptr_nonnull(strstr(patched->text, "\"%never\""));
  kc_arena_free(edits.arena);
  g_remove(bad);
  g_remove(good);
  g_rmdir(folder);
}
END_TEST

typedef struct FindVariable {
  Parsed *p;
  const char *name;
  CXCursor found;
} FindVariable;

static CXChildVisitResult find_variable(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  FindVariable *find = data;
  if (cursor.kind == CXCursor_VarDecl && strcmp(unit_name(&find->p->unit, cursor), find->name) == 0)
    find->found = cursor;
  return CXChildVisit_Recurse;
}

START_TEST(alignment_of_shared_variables) {
  Parsed p;
  parse_text(&p, "struct alignas(64) S { char c; };\n"
                 "constexpr int WIDE = 512;\n"
                 "__global__ void k(int *p) {\n"
                 "  __shared__ alignas(128) char a[16];\n"
                 "  alignas(WIDE) __shared__ char b[16];\n"
                 "  extern __shared__ __align__(1024) char c[];\n"
                 "  __shared__ S d;\n"
                 "  __shared__ alignas(S) char e[16];\n"
                 "  alignas(256) __shared__ char f[16];\n"
                 "  p[0] = a[0] + b[0] + c[0] + d.c + e[0] + f[0];\n"
                 "}\n");
  static const struct {
    const char *name;
    uint32_t align;
  } CASES[] = {{"a", 128}, {"b", 512}, {"c", 1024}, {"d", 64}, {"f", 256}};
  for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
    FindVariable find = {&p, CASES[i].name, p.clang.getNullCursor()};
    p.clang.visitChildren(p.clang.getTranslationUnitCursor(p.unit.tu), find_variable, &find);
    ck_assert(!unit_is_null(find.found));
    ck_assert(unit_is_shared(&p.unit, find.found));
    ck_assert_msg(unit_alignment(&p.unit, find.found) == CASES[i].align, "%s: %u", CASES[i].name,
                  unit_alignment(&p.unit, find.found));
  }
  finish(&p);
}
END_TEST

START_TEST(edits_map_back) {
  KcArena *arena = kc_arena_new();
  EditSet set = {.arena = arena};
  static const char TEXT[] = "one two three\nfour five\n";
  EditedFile *file = edit_file(&set, "x", TEXT, strlen(TEXT));
  ck_assert(edit_add(&set, file, 8, 5, "3"));    /* three -> 3 */
  ck_assert(edit_add(&set, file, 4, 0, "and ")); /* before two */
  ck_assert(!edit_add(&set, file, 4, 0, "again"));
  edit_apply(&set, file);
  ck_assert_str_eq(file->text, "one and two 3\nfour five\n");
  ck_assert_uint_eq(edit_original_offset(file, 0), 0);
  ck_assert_uint_eq(edit_original_offset(file, 5), 4);   /* inside "and " */
  ck_assert_uint_eq(edit_original_offset(file, 8), 4);   /* two */
  ck_assert_uint_eq(edit_original_offset(file, 12), 8);  /* 3 */
  ck_assert_uint_eq(edit_original_offset(file, 14), 14); /* four */
  kc_arena_free(arena);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("cuda/repair");
  TCase *t = tcase_create("repair");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, text_operands_and_places);
  tcase_add_test(t, single_percent_is_doubled);
  tcase_add_test(t, missing_comma_and_operand_out_of_range);
  tcase_add_test(t, asm_in_a_macro);
  tcase_add_test(t, keywords_that_nvcc_does_without);
  tcase_add_test(t, template_member_of_dependent_object);
  tcase_add_test(t, headers_are_patched_ahead);
  tcase_add_test(t, alignment_of_shared_variables);
  tcase_add_test(t, edits_map_back);
  suite_add_tcase(suite, t);
  return suite;
}
