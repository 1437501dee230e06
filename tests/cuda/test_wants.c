/* The parts of the embedded runtime header: each name that it declares asks for a part that has it,
 * and a file that names nothing of a part does not read it. */
#include <glib.h>
#include <string.h>

#include "cuda/parse.h"
#include "cuda/wants.h"
#include "load.h"
#include "support/data.h"

#define ROOT "knowledge/headers/include/"
#define PATH "/nowhere/probe.cu"

typedef struct Names {
  const Clang *clang;
  GHashTable *set;
} Names;

static CXChildVisitResult add_name(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Names *names = data;
  CXString spelling = names->clang->getCursorSpelling(cursor);
  const char *name = names->clang->getCString(spelling);
  bool inside = cursor.kind == CXCursor_Namespace || cursor.kind == CXCursor_LinkageSpec ||
                cursor.kind == CXCursor_EnumDecl;
  /* deduction guides and what the headers keep for themselves (tags of handles too) have no name
   * that a file uses */
  if (*name && !strchr(name, '<') && !strstr(name, "operator") && !strchr(name, ' ') &&
      g_ascii_strncasecmp(name, "kcheck", 6) != 0 && cursor.kind != CXCursor_Namespace &&
      cursor.kind != CXCursor_InclusionDirective && !g_str_has_suffix(name, "_st"))
    g_hash_table_add(names->set, g_strdup(name));
  names->clang->disposeString(spelling);
  return inside ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

/* Names that a file sees that consists of `text` and is parsed with `flag`. */
static GHashTable *declared(const char *text, const char *flag) {
  Clang clang;
  KcError error = {0};
  ck_assert(clang_open(&clang, &error));
  KcArena *arena = kc_arena_new();
  const char *flags[] = {flag, NULL};
  CudaOptions options = {.arch = "sm_90a", .cuda_path = CUDA_PATH_NONE, .flags = flags};
  CudaParse parse = {.clang = &clang, .edits.arena = arena};
  edit_file(&parse.edits, PATH, text, strlen(text));
  ck_assert(parse_file(&parse, PATH, &options, &error));
  ck_assert_int_eq(parse.problems, 0);
  ck_assert_msg(!parse.everything, "%s", text); /* parsed twice */
  Names names = {&clang, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  clang.visitChildren(clang.getTranslationUnitCursor(parse.tu), add_name, &names);
  parse_dispose(&parse);
  kc_arena_free(arena);
  return names.set;
}

typedef struct Parts {
  const char *text;
  GHashTable *sets; /* macro -> names */
} Parts;

static void add_part(void *user, const char *macro) {
  Parts *parts = user;
  g_autofree char *flag = g_strconcat("-D", macro, NULL);
  g_hash_table_insert(parts->sets, g_strdup(macro), declared(parts->text, flag));
}

/* The names that a file sees which consists of `text`: more of them when everything is wanted. */
static void check_names(const char *text) {
  GHashTable *parts = g_hash_table_new(g_str_hash, g_str_equal);
  wants_each_macro(add_part, &(Parts){text, parts});
  g_autofree char *all_text = g_strconcat("#if 0\n#include WHATEVER\n#endif\n", text, NULL);
  GHashTable *all = declared(all_text, NULL);
  GHashTable *base = declared(text, NULL);
  ck_assert_uint_gt(g_hash_table_size(all), 3 * g_hash_table_size(base) / 2);
  GHashTableIter names;
  gpointer name, macro, set;
  g_autoptr(GString) lost = g_string_new(NULL);
  g_hash_table_iter_init(&names, all);
  while (g_hash_table_iter_next(&names, &name, NULL)) {
    bool found = g_hash_table_contains(base, name);
    GHashTableIter each;
    g_hash_table_iter_init(&each, parts);
    while (!found && g_hash_table_iter_next(&each, &macro, &set))
      found = wants_is_name(name, macro) && g_hash_table_contains(set, name);
    if (!found) g_string_append_printf(lost, " %s", (char *)name);
  }
  ck_assert_msg(lost->len == 0, "no part is asked for by%s", lost->str);
}

START_TEST(each_name_asks_for_its_part) {
  check_names("\n");
}
END_TEST

START_TEST(each_name_of_ptx_asks_for_its_part) {
  check_names("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda/ptx>\n");
}
END_TEST

static void include_one(const char *path, const char *text, size_t length, void *user) {
  (void)text;
  (void)length;
  (void)user;
  const char *name = path + strlen(ROOT);
  if (g_str_has_prefix(name, "kcheck/")) return;
  g_autofree char *source = g_strdup_printf("#include <%s>\n", name);
  g_hash_table_destroy(declared(source, NULL));
}

/* A header that names what it does not bring along has the file parsed twice. */
START_TEST(no_header_needs_everything) {
  kc_data_each(ROOT, include_one, NULL);
}
END_TEST

static void collect(void *user, const char *macro) {
  g_string_append_printf(user, "%s ", macro + strlen("KCHECK_WANTS_"));
}

static void check_wants(const char *text, const char *expected) {
  g_autoptr(GString) found = g_string_new(NULL);
  wants_find(PATH, text, strlen(text), NULL, collect, found);
  ck_assert_str_eq(found->str, expected);
}

START_TEST(only_what_is_named_is_read) {
  check_wants("__global__ void k(int *p) { p[threadIdx.x] = 1; }\n", "");
  check_wants("__global__ void k(float4 *p) { p[0].x = sinf(__int2float_rn(min(1, 2))); }\n",
              "FLOATS MIN_MAX VECTOR_FLOAT MATH ");
  check_wants("// round, sin: words of a comment\nconst char *s = \"exp\"; /* cudaMalloc */\n", "");
  check_wants("#define CALL sqrtf\n", "MATH ");
  check_wants("int tie, get, move;\n", ""); /* of std, and std is not named */
  check_wants("auto t = std::tie(a, b);\n", "TUPLE ");
  check_wants("ptx::tcgen05_mma(k, g, d, a, b, i, e); ptx::cp_async_bulk_wait_group(n);\n",
              "PTX_BULK PTX_TCGEN05 PTX_MMA ");
}
END_TEST

START_TEST(what_can_not_be_followed_wants_all) {
  g_autoptr(GString) found = g_string_new(NULL), all = g_string_new(NULL);
  wants_each_macro(collect, all);
  wants_find(PATH, "#include HEADER\n", strlen("#include HEADER\n"), NULL, collect, found);
  ck_assert_str_eq(found->str, all->str);
  g_string_truncate(found, 0);
  const char *flags[] = {"-include", "x.h", NULL};
  wants_find(PATH, "\n", 1, flags, collect, found);
  ck_assert_str_eq(found->str, all->str);
}
END_TEST

/* A name pasted together asks for nothing: the error that is left brings everything in. */
START_TEST(an_error_reads_everything) {
  Loaded l = load_with("#define ROUND(mode) __int2##float_##mode\n"
                       "__global__ void k(float *p) { p[0] = ROUND(rn)(3); }\n",
                       (CudaOptions){.arch = "sm_90a", .cuda_path = CUDA_PATH_NONE});
  ck_assert_ptr_nonnull(l.program);
  ck_assert_ptr_null(first_error(&l));
  unload(&l);
}
END_TEST

Suite *test_suite(void);

Suite *test_suite(void) {
  Suite *suite = suite_create("cuda/wants");
  TCase *tcase = tcase_create("wants");
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, each_name_asks_for_its_part);
  tcase_add_test(tcase, each_name_of_ptx_asks_for_its_part);
  tcase_add_test(tcase, no_header_needs_everything);
  tcase_add_test(tcase, only_what_is_named_is_read);
  tcase_add_test(tcase, what_can_not_be_followed_wants_all);
  tcase_add_test(tcase, an_error_reads_everything);
  suite_add_tcase(suite, tcase);
  return suite;
}
