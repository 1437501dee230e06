/* Flags, header sets and the parse-repair loop. */
#include "cuda/parse.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/faults.h"
#include "cuda/includes.h"
#include "cuda/kept.h"
#include "cuda/repair.h"
#include "cuda/scan.h"
#include "cuda/wants.h"
#include "support/data.h"

#define DATA_INCLUDE "knowledge/headers/include/"
#define DATA_TOOLKIT "knowledge/headers/toolkit/"
#define VIRTUAL_INCLUDE CUDA_VIRTUAL_ROOT "include"
#define VIRTUAL_TOOLKIT CUDA_VIRTUAL_ROOT "toolkit"
#define DATA_BYTES DATA_INCLUDE "kcheck/bytes.h"
#define VIRTUAL_BYTES CUDA_VIRTUAL_ROOT "bytes.h"
#define MAX_REPAIR_ROUNDS 6
#define MAX_PREFIX_CHAIN 4096 /* clang's time grows with the square: 0.3 s here, 6 s at 20000 */

/* ---- flags ---- */

static void add_flag(void *flags, const char *flag) {
  g_ptr_array_add(flags, g_strdup(flag));
}

static bool is_toolkit_include(const char *folder) {
  g_autofree char *header = g_build_filename(folder, "cuda_runtime.h", NULL);
  g_autofree char *cccl = g_build_filename(folder, "cuda", "std", "version", NULL);
  return g_file_test(header, G_FILE_TEST_EXISTS) || g_file_test(cccl, G_FILE_TEST_EXISTS);
}

/* The user's flags; an include folder of a toolkit is left out where the embedded headers are used:
 * the two are never mixed. */
static void add_user_flags(GPtrArray *flags, const CudaOptions *options, bool toolkit) {
  for (const char *const *flag = options->flags; flag && *flag; flag++) {
    static const char *const INCLUDES[] = {"-I", "-isystem", "-iquote"};
    bool drop = false, pair = false;
    for (size_t i = 0; !toolkit && i < G_N_ELEMENTS(INCLUDES); i++) {
      size_t size = strlen(INCLUDES[i]);
      if (!g_str_has_prefix(*flag, INCLUDES[i])) continue;
      const char *folder = (*flag)[size] ? *flag + size : flag[1];
      pair = !(*flag)[size];
      drop = folder && is_toolkit_include(*folder == '=' ? folder + 1 : folder);
      break;
    }
    if (!drop)
      add_flag(flags, *flag);
    else if (pair)
      flag++;
  }
}

/* CUDA_VERSION of a toolkit (13000), from its cuda.h; 0 when unknown. */
static int toolkit_version(const char *toolkit) {
  g_autofree char *header = g_build_filename(toolkit, "include", "cuda.h", NULL);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(header, &text, NULL, NULL)) return 0;
  const char *line = strstr(text, "#define CUDA_VERSION ");
  return line ? atoi(line + strlen("#define CUDA_VERSION ")) : 0;
}

/* Flags that choose the real headers, with the overlay that gives clang what nvcc has. */
static void add_toolkit_flags(GPtrArray *flags, const CudaParse *parse) {
  const char *toolkit = parse->toolkit_path;
  int version = toolkit_version(toolkit);
  g_autofree char *resources = clang_resource_dir(parse->clang);
  if (resources) {
    add_flag(flags, "-resource-dir");
    add_flag(flags, resources);
  }
  g_ptr_array_add(flags, g_strconcat("--cuda-path=", toolkit, NULL));
  g_ptr_array_add(flags,
                  g_strdup_printf("-D__CUDACC_VER_MAJOR__=%d", version ? version / 1000 : 13));
  g_ptr_array_add(flags, g_strdup_printf("-D__CUDACC_VER_MINOR__=%d", version % 1000 / 10));
  add_flag(flags, "-D__CUDACC_VER_BUILD__=0");
  add_flag(flags, "-D_CG_CLUSTER_INTRINSICS_AVAILABLE=1");
  /* CUTLASS marks the parameters of its kernels only under compilers that it knows */
  add_flag(flags, "-DCUTLASS_GRID_CONSTANT_SUPPORTED=1");
  add_flag(flags, "-DCUTE_GRID_CONSTANT_SUPPORTED=1");
  add_flag(flags, "-include");
  add_flag(flags, VIRTUAL_TOOLKIT "/overlay.h");
  add_flag(flags, "-idirafter");
  add_flag(flags, VIRTUAL_TOOLKIT);
  if (parse->target.number >= 100 && parse->target.suffix) {
    /* CUTLASS turns its Blackwell code off under clang; a kernel would be parsed empty */
    add_flag(flags, "-DCUTLASS_ARCH_MMA_SM100_SUPPORTED=1");
    add_flag(flags, "-DCUTLASS_ARCH_MMA_SM100A_ENABLED=1");
    add_flag(flags, "-DCUTE_ARCH_TCGEN05_TMEM_ENABLED");
    add_flag(flags, "-DCUTE_ARCH_TMA_SM90_ENABLED");
    add_flag(flags, "-DCUTE_ARCH_TCGEN05_MXF8F6F4_MMA_ENABLED");
  }
}

static void add_macro(void *flags, const char *macro) {
  g_ptr_array_add(flags, g_strconcat("-D", macro, NULL));
}

/* Asks for the parts of the runtime header that the text as patched may use. */
static void add_wants(GPtrArray *flags, const CudaParse *parse, const char *path,
                      const CudaOptions *options) {
  const EditedFile *file = edit_find((EditSet *)&parse->edits, path);
  if (parse->everything || !file)
    wants_each_macro(add_macro, flags);
  else
    wants_find(path, file->text, file->text_length, options->flags, add_macro, flags);
}

static void add_embedded_flags(GPtrArray *flags) {
  static const char *const FLAGS[] = {"--cuda-path=/nonexistent",
                                      "-nocudainc",
                                      "-nocudalib",
                                      "-nostdinc",
                                      "-nostdinc++",
                                      "-U__clang__",
                                      "-D__NVCC__=1",
                                      "-I" VIRTUAL_INCLUDE,
                                      "-include",
                                      "cuda_runtime.h"};
  for (size_t i = 0; i < G_N_ELEMENTS(FLAGS); i++)
    add_flag(flags, FLAGS[i]);
}

static GPtrArray *build_flags(const CudaParse *parse, const char *path, const CudaOptions *options,
                              bool toolkit) {
  GPtrArray *flags = g_ptr_array_new_with_free_func(g_free);
  static const char *const COMMON[] = {"-x",
                                       "cuda",
                                       "--cuda-device-only",
                                       "-fsyntax-only",
                                       "-fgnu-keywords", /* typeof, which nvcc knows as well */
                                       "-w",
                                       "-Wno-c++11-narrowing", /* an error, unlike in nvcc */
                                       "-ferror-limit=0",
                                       "-fno-spell-checking",
                                       "-fbracket-depth=1024",
                                       "-DKCHECK_NUMBERED(a,b)=KCHECK_JOINED(a,b)",
                                       "-DKCHECK_JOINED(a,b)=a##b"};
  for (size_t i = 0; i < G_N_ELEMENTS(COMMON); i++)
    add_flag(flags, COMMON[i]);
  g_ptr_array_add(flags, g_strconcat("-std=", options->std ? options->std : "c++17", NULL));
  g_ptr_array_add(flags, g_strconcat("--cuda-gpu-arch=", parse->target.cpu, NULL));
  target_macros(&parse->target, add_flag, flags);
  if (toolkit)
    add_toolkit_flags(flags, parse);
  else
    add_embedded_flags(flags), add_wants(flags, parse, path, options);
  if (parse->edits.counts_bytes) {
    add_flag(flags, "-include");
    add_flag(flags, VIRTUAL_BYTES);
  }
  add_user_flags(flags, options, toolkit);
  for (int i = 0; i < parse->extra_flags.count; i++)
    add_flag(flags, parse->extra_flags.items[i]);
  if (toolkit) { /* last: a library's own, newer CCCL comes first */
    g_autofree char *cccl = g_build_filename(parse->toolkit_path, "include", "cccl", NULL);
    add_flag(flags, "-isystem");
    add_flag(flags, cccl);
  }
  return flags;
}

/* ---- virtual files ---- */

typedef struct VirtualFiles {
  GArray *files;    /* struct CXUnsavedFile */
  GPtrArray *names; /* owns the paths */
  const char *strip;
  const char *folder;
} VirtualFiles;

static void add_virtual(VirtualFiles *set, char *name, const char *text, size_t length) {
  struct CXUnsavedFile file = {name, text, (unsigned long)length};
  g_ptr_array_add(set->names, name);
  g_array_append_val(set->files, file);
}

static void add_data_file(const char *path, const char *text, size_t length, void *user) {
  VirtualFiles *set = user;
  add_virtual(set, g_strconcat(set->folder, "/", path + strlen(set->strip), NULL), text, length);
}

static void collect_files(VirtualFiles *set, const CudaParse *parse, bool toolkit) {
  set->files = g_array_new(FALSE, FALSE, sizeof(struct CXUnsavedFile));
  set->names = g_ptr_array_new_with_free_func(g_free);
  set->strip = toolkit ? DATA_TOOLKIT : DATA_INCLUDE;
  set->folder = toolkit ? VIRTUAL_TOOLKIT : VIRTUAL_INCLUDE;
  kc_data_each(set->strip, add_data_file, set);
  g_autofree char *resources = toolkit ? clang_resource_dir(parse->clang) : NULL;
  size_t length = 0;
  const char *builtins = kc_data_get(DATA_TOOLKIT "builtin_vars.h", &length);
  if (resources && builtins)
    add_virtual(set, g_build_filename(resources, "include", "__clang_cuda_builtin_vars.h", NULL),
                builtins, length);
  const char *bytes = kc_data_get(DATA_BYTES, &length);
  if (parse->edits.counts_bytes && bytes) add_virtual(set, g_strdup(VIRTUAL_BYTES), bytes, length);
  for (int i = 0; i < parse->edits.files.count; i++) {
    const EditedFile *file = parse->edits.files.items[i];
    add_virtual(set, g_strdup(file->path), file->text, file->text_length);
  }
}

/* ---- one parse ---- */

static CXTranslationUnit parse_once(const CudaParse *parse, const char *path,
                                    const CudaOptions *options, bool toolkit) {
  g_autoptr(GPtrArray) flags = build_flags(parse, path, options, toolkit);
  VirtualFiles set = {0};
  collect_files(&set, parse, toolkit);
  struct CXUnsavedFile *files = (struct CXUnsavedFile *)(void *)set.files->data;
  const unsigned how = CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord;
  CXTranslationUnit tu = NULL;
  if (parse->kept) {
    g_ptr_array_add(flags, NULL);
    tu = kept_parse(parse->kept, parse->clang, path, (const char *const *)flags->pdata, files,
                    set.files->len, how);
    g_ptr_array_remove_index(flags, flags->len - 1);
  }
  if (!tu)
    parse->clang->parseTranslationUnit2(parse->index, path, (const char *const *)flags->pdata,
                                        (int)flags->len, files, set.files->len, how, &tu);
  g_array_free(set.files, TRUE);
  g_ptr_array_free(set.names, TRUE);
  return tu;
}

/* Lets go of a unit, unless it is kept. */
static void drop(const CudaParse *parse, CXTranslationUnit tu) {
  if (tu && !(parse->kept && kept_has(parse->kept, tu))) parse->clang->disposeTranslationUnit(tu);
}

/* Counts the errors of parse->tu that matter and lists the headers it did not find. */
static void take_stock(CudaParse *parse) {
  const Clang *clang = parse->clang;
  g_autofree bool *beside = faults_beside_kernels(clang, parse->tu);
  parse->errors = parse->problems = 0;
  parse->missing.count = 0;
  unsigned count = clang->getNumDiagnostics(parse->tu); /* each call lists them anew */
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang->getDiagnostic(parse->tu, i);
    if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      CXString spelling = clang->getDiagnosticSpelling(diagnostic);
      const char *message = clang->getCString(spelling);
      parse->problems += !fault_is_harmless(message);
      g_autofree char *header = fault_missing_header(message);
      if (header)
        KC_PUSH(parse->edits.arena, parse->missing, kc_strdup(parse->edits.arena, header));
      else if (!beside[i])
        parse->errors++;
      clang->disposeString(spelling);
    }
    clang->disposeDiagnostic(diagnostic);
  }
}

/* Parses and repairs until nothing is left to repair. */
static bool parse_and_repair(CudaParse *parse, const char *path, const CudaOptions *options,
                             bool toolkit, KcError *error) {
  parse->toolkit = toolkit;
  if (toolkit && options->progress) options->progress("parse with the toolkit", NULL);
  for (int round = 0; round < MAX_REPAIR_ROUNDS; round++) {
    drop(parse, parse->tu);
    parse->tu = parse_once(parse, path, options, toolkit);
    if (!parse->tu) {
      kc_fail(error, path, 0, 0, "libclang %d could not parse this file", parse->clang->version);
      return kc_hint(error, "the compiler front end gave up; check that the file compiles");
    }
    if (repair_errors(parse->clang, parse->tu, &parse->edits) == 0) break;
  }
  take_stock(parse);
  return true;
}

/* With the parts of the embedded headers that the file names; with all of them when that leaves an
 * error. */
static bool parse_embedded(CudaParse *parse, const char *path, const CudaOptions *options,
                           KcError *error) {
  if (!parse_and_repair(parse, path, options, false, error)) return false;
  if (parse->problems == 0 || parse->everything) return true;
  parse->everything = true;
  return parse_and_repair(parse, path, options, false, error);
}

/* ---- which headers ---- */

static bool is_toolkit(const char *path) {
  g_autofree char *header = g_build_filename(path, "include", "cuda_runtime.h", NULL);
  return g_file_test(header, G_FILE_TEST_EXISTS);
}

static const char *find_toolkit(KcArena *arena) {
  const char *const places[] = {g_getenv("CUDA_PATH"), g_getenv("CUDA_HOME"), "/usr/local/cuda",
                                "/opt/cuda"};
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    if (places[i] && *places[i] && is_toolkit(places[i])) return kc_strdup(arena, places[i]);
  return NULL;
}

/* Whether the toolkit (or the host's C++ library, which comes with it) could have a header that the
 * embedded set lacks, or the errors could come from the embedded set. */
static bool toolkit_may_help(const CudaParse *parse) {
  if (parse->errors > 0) return true;
  static const char *const PLACES[] = {"include", "include/cccl"};
  for (int i = 0; i < parse->missing.count; i++) {
    const char *header = parse->missing.items[i];
    for (size_t j = 0; j < G_N_ELEMENTS(PLACES); j++) {
      g_autofree char *path = g_build_filename(parse->toolkit_path, PLACES[j], header, NULL);
      if (g_file_test(path, G_FILE_TEST_EXISTS)) return true;
    }
    g_autofree char *host = g_build_filename("/usr/include", header, NULL);
    if (!strpbrk(header, "./") || g_file_test(host, G_FILE_TEST_EXISTS)) return true;
  }
  return false;
}

/* Parses again with the toolkit; keeps the embedded parse when the toolkit does no better. */
static bool try_toolkit(CudaParse *parse, const char *path, const CudaOptions *options,
                        KcError *error) {
  CudaParse other = *parse;
  other.edits = edit_copy(&parse->edits);
  other.tu = NULL;
  other.missing = (__typeof__(other.missing)){0};
  if (!parse_and_repair(&other, path, options, true, error)) return false;
  bool better = other.missing.count < parse->missing.count ||
                (other.missing.count == parse->missing.count && other.errors < parse->errors);
  CudaParse *loser = better ? parse : &other;
  KcArena *arena = parse->edits.arena;
  const char *reason = parse->missing.count
                           ? kc_printf(arena, "%s was not found", parse->missing.items[0])
                           : kc_printf(arena, "%d errors were left", parse->errors);
  drop(parse, loser->tu);
  if (better) *parse = other;
  parse->toolkit_reason = kc_printf(arena, "with the embedded headers %s: %s was tried and %s",
                                    reason, parse->toolkit_path, better ? "is used" : "left again");
  return true;
}

/* The real headers are read through clang's own wrappers of them, which come in another package
 * than libclang. */
static bool has_wrappers(const CudaParse *parse) {
  g_autofree char *resources = clang_resource_dir(parse->clang);
  return resources != NULL;
}

static bool parse_with_given_toolkit(CudaParse *parse, const char *path, const CudaOptions *options,
                                     KcError *error) {
  if (!is_toolkit(options->cuda_path)) {
    kc_fail(error, options->cuda_path, 0, 0,
            "no CUDA toolkit here: include/cuda_runtime.h is missing");
    return kc_hint(error, "--cuda-path names the folder that holds include/ and bin/, such as "
                          "/usr/local/cuda");
  }
  if (!has_wrappers(parse)) {
    kc_fail(error, NULL, 0, 0,
            "the headers of clang %d, which the toolkit's headers need, are not installed",
            parse->clang->version);
    return kc_hint(error,
                   "install them (Debian, Ubuntu: libclang-common-%d-dev), or leave "
                   "--cuda-path out to use the embedded headers",
                   parse->clang->version);
  }
  parse->toolkit_path = kc_strdup(parse->edits.arena, options->cuda_path);
  return parse_and_repair(parse, path, options, true, error);
}

/* Brackets have clang's own limit (1024); `*&*&p` has none. */
static bool check_depth(const CudaParse *parse, const char *path, KcError *error) {
  const EditedFile *file = edit_find((EditSet *)&parse->edits, path);
  if (!file) return true;
  size_t at = scan_prefix_chain(file->original, file->length, MAX_PREFIX_CHAIN);
  if (at == file->length) return true;
  int line = 1;
  for (size_t i = 0; i < at; i++)
    line += file->original[i] == '\n';
  kc_fail(error, path, line, 0, "not checked: more than %d tokens `*` and `&` in a row",
          MAX_PREFIX_CHAIN);
  return kc_hint(error, "the time that clang takes for them grows with their square");
}

bool parse_file(CudaParse *parse, const char *path, const CudaOptions *options, KcError *error) {
  if (!target_parse(options->arch, &parse->target)) {
    kc_fail(error, NULL, 0, 0, "%s is not a GPU target", options->arch);
    return kc_hint(error, "targets look like sm_90a, sm_100a, sm_100f");
  }
  parse->kept = options->kept && kept_index(options->kept) ? options->kept : NULL;
  parse->index = parse->kept ? kept_index(parse->kept) : parse->clang->createIndex(0, 0);
  if (!target_choose_cpu(parse->clang, parse->index, &parse->target))
    return kc_fail(error, NULL, 0, 0, "libclang %d (%s) accepts no GPU target near %s",
                   parse->clang->version, parse->clang->path, options->arch);
  if (!check_depth(parse, path, error)) return false;
  bool none = g_strcmp0(options->cuda_path, CUDA_PATH_NONE) == 0;
  IncludesFound includes = includes_read(&parse->edits, path, options->flags);
  if (options->cuda_path && !none) return parse_with_given_toolkit(parse, path, options, error);
  if (!none && has_wrappers(parse)) parse->toolkit_path = find_toolkit(parse->edits.arena);
  /* Libraries that are written against the whole of the toolkit: parsing them with the embedded
   * headers first would be time lost. */
  if (parse->toolkit_path && includes.toolkit_library)
    return parse_and_repair(parse, path, options, true, error);
  if (!parse_embedded(parse, path, options, error)) return false;
  if (parse->missing.count == 0 && parse->errors == 0) return true;
  return !parse->toolkit_path || !toolkit_may_help(parse) ||
         try_toolkit(parse, path, options, error);
}

bool parse_again(CudaParse *parse, const char *path, const CudaOptions *options, KcError *error) {
  return parse->toolkit ? parse_and_repair(parse, path, options, true, error)
                        : parse_embedded(parse, path, options, error);
}

void parse_dispose(CudaParse *parse) {
  drop(parse, parse->tu);
  if (parse->index && !parse->kept) parse->clang->disposeIndex(parse->index);
  parse->tu = NULL;
  parse->index = NULL;
}
