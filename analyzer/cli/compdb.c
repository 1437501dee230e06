#include "cli/compdb.h"

#include <jansson.h>
#include <string.h>

#include "arch/arch.h"
#include "cli/strv.h"

struct Compdb {
  json_t *entries;
};

enum { MAX_RESPONSE_DEPTH = 8 };

/* Flags that take a value, joined ("-Ifoo", "--std=c++17") or as the next word. */
typedef enum {
  TAKE_PATHS,
  TAKE_WORDS,
  TAKE_STD,
  TAKE_ARCH,
  TAKE_GENCODE,
  TAKE_CUDA,
  TAKE_FILE,
  TAKE_SKIP
} FlagKind;

static const struct {
  const char *name;
  FlagKind kind;
  const char *clang; /* what clang calls it */
} flag_table[] = {
    {"-isystem", TAKE_PATHS, "-isystem"},
    {"--system-include", TAKE_PATHS, "-isystem"},
    {"--include-path", TAKE_PATHS, "-I"},
    {"-include", TAKE_PATHS, "-include"},
    {"--pre-include", TAKE_PATHS, "-include"},
    {"--define-macro", TAKE_WORDS, "-D"},
    {"--undefine-macro", TAKE_WORDS, "-U"},
    {"-I", TAKE_PATHS, "-I"},
    {"-D", TAKE_WORDS, "-D"},
    {"-U", TAKE_WORDS, "-U"},
    {"--std", TAKE_STD, NULL},
    {"-std", TAKE_STD, NULL},
    {"--gpu-architecture", TAKE_ARCH, NULL},
    {"-arch", TAKE_ARCH, NULL},
    {"--cuda-gpu-arch", TAKE_ARCH, NULL},
    {"--offload-arch", TAKE_ARCH, NULL},
    {"--generate-code", TAKE_GENCODE, NULL},
    {"-gencode", TAKE_GENCODE, NULL},
    {"--cuda-path", TAKE_CUDA, NULL},
    {"--options-file", TAKE_FILE, NULL},
    {"-optf", TAKE_FILE, NULL},
    {"-Xcompiler", TAKE_SKIP, NULL},
    {"--compiler-options", TAKE_SKIP, NULL},
    {"-Xptxas", TAKE_SKIP, NULL},
    {"-Xcudafe", TAKE_SKIP, NULL},
    {"-ccbin", TAKE_SKIP, NULL},
    {"-o", TAKE_SKIP, NULL},
    {"-x", TAKE_SKIP, NULL},
    {"-MF", TAKE_SKIP, NULL},
    {"-MT", TAKE_SKIP, NULL},
};

typedef struct {
  const char *folder; /* of the entry: relative paths start here */
  Settings *settings;
} Reading;

static void read_words(Reading *r, char **words, int depth);

static char *absolute_path(const Reading *r, const char *path) {
  return g_canonicalize_filename(path, r->folder);
}

static void add_target(Reading *r, const char *name) {
  const char *number = strchr(name, '_');
  g_autofree char *target = g_strconcat("sm_", number ? number + 1 : name, NULL);
  if (!arch_find(target, NULL)) return; /* native, all, or a GPU that the table does not know */
  if (r->settings->targets && g_strv_contains(strv_view(r->settings->targets), target)) return;
  strv_add(&r->settings->targets, target);
}

/* "arch=compute_90a,code=[sm_90a,compute_90a]" */
static void add_gencode(Reading *r, const char *value) {
  g_auto(GStrv) parts = g_strsplit_set(value, ",=[]\"'", -1);
  bool any = false;
  for (char **part = parts; *part; part++)
    if (g_str_has_prefix(*part, "sm_")) {
      add_target(r, *part);
      any = true;
    }
  for (char **part = parts; !any && *part; part++)
    if (g_str_has_prefix(*part, "compute_")) add_target(r, *part);
}

static void add_response_file(Reading *r, const char *value, int depth) {
  g_autofree char *path = absolute_path(r, value);
  g_autofree char *text = NULL;
  g_auto(GStrv) words = NULL;
  if (depth < MAX_RESPONSE_DEPTH && g_file_get_contents(path, &text, NULL, NULL) &&
      g_shell_parse_argv(text, NULL, &words, NULL))
    read_words(r, words, depth + 1);
}

static void add_each(Reading *r, const char *clang, const char *value, bool paths) {
  g_auto(GStrv) parts = g_strsplit(value, ",", paths ? -1 : 1);
  for (char **part = parts; *part; part++) {
    g_autofree char *path = paths ? absolute_path(r, *part) : NULL;
    strv_add(&r->settings->flags, clang);
    strv_add(&r->settings->flags, paths ? path : *part);
  }
}

static void set_text(char **field, const char *value) {
  g_free(*field);
  *field = g_strdup(value);
}

static void take(Reading *r, size_t flag, const char *value, int depth) {
  switch (flag_table[flag].kind) {
  case TAKE_PATHS: add_each(r, flag_table[flag].clang, value, true); return;
  case TAKE_WORDS: add_each(r, flag_table[flag].clang, value, false); return;
  case TAKE_STD: set_text(&r->settings->std, value); return;
  case TAKE_ARCH: add_target(r, value); return;
  case TAKE_GENCODE: add_gencode(r, value); return;
  case TAKE_CUDA: set_text(&r->settings->cuda_path, value); return;
  case TAKE_FILE: add_response_file(r, value, depth); return;
  case TAKE_SKIP: return;
  }
}

/* The index in flag_table of the flag that `word` starts with, with its joined value, or -1. */
static int match_flag(const char *word, const char **joined) {
  for (size_t i = 0; i < G_N_ELEMENTS(flag_table); i++) {
    const char *name = flag_table[i].name;
    if (!g_str_has_prefix(word, name)) continue;
    const char *rest = word + strlen(name);
    bool glued = strlen(name) == 2 && strchr("IDU", name[1]);
    if (*rest && *rest != '=' && !glued) continue;
    *joined = *rest == '=' ? rest + 1 : *rest ? rest : NULL;
    return (int)i;
  }
  return -1;
}

static void read_words(Reading *r, char **words, int depth) {
  for (int i = 0; words[i]; i++) {
    const char *value = NULL;
    if (words[i][0] == '@') {
      add_response_file(r, words[i] + 1, depth);
      continue;
    }
    int flag = match_flag(words[i], &value);
    if (flag < 0) continue;
    if (!value) value = words[i + 1] ? words[++i] : "";
    take(r, (size_t)flag, value, depth);
  }
}

/* nvcc's own toolkit, when it was called by its full path. */
static void add_toolkit(Settings *settings, const char *compiler) {
  if (settings->cuda_path || !g_path_is_absolute(compiler)) return;
  g_autofree char *bin = g_path_get_dirname(compiler);
  g_autofree char *root = g_path_get_dirname(bin);
  g_autofree char *header = g_build_filename(root, "include", "cuda_runtime.h", NULL);
  if (g_file_test(header, G_FILE_TEST_EXISTS)) settings->cuda_path = g_steal_pointer(&root);
}

static char **entry_words(const json_t *entry) {
  char **words = NULL;
  const json_t *arguments = json_object_get(entry, "arguments");
  if (json_is_array(arguments)) {
    size_t i;
    json_t *word;
    json_array_foreach(arguments, i, word) {
      if (json_is_string(word)) strv_add(&words, json_string_value(word));
    }
    return words;
  }
  const char *command = json_string_value(json_object_get(entry, "command"));
  if (command) g_shell_parse_argv(command, NULL, &words, NULL);
  return words;
}

Compdb *compdb_open(const char *path, KcError *error) {
  g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_DIR)
                              ? g_build_filename(path, "compile_commands.json", NULL)
                              : g_strdup(path);
  json_error_t problem;
  json_t *entries = json_load_file(file, 0, &problem);
  if (!entries && problem.line < 0) {
    kc_fail(error, file, 0, 0, "cannot be read as a compile database");
    kc_hint(error, "cmake writes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
    return NULL;
  }
  if (!entries || !json_is_array(entries)) {
    kc_fail(error, file, entries ? 1 : problem.line, entries ? 1 : problem.column,
            "is not a compile database: %s", entries ? "expected a list" : problem.text);
    json_decref(entries);
    return NULL;
  }
  Compdb *compdb = g_new0(Compdb, 1);
  compdb->entries = entries;
  return compdb;
}

void compdb_free(Compdb *compdb) {
  if (!compdb) return;
  json_decref(compdb->entries);
  g_free(compdb);
}

bool compdb_lookup(const Compdb *compdb, const char *file, Settings *settings) {
  g_autofree char *wanted = g_canonicalize_filename(file, NULL);
  size_t i;
  json_t *entry;
  json_array_foreach(compdb->entries, i, entry) {
    const char *name = json_string_value(json_object_get(entry, "file"));
    const char *folder = json_string_value(json_object_get(entry, "directory"));
    if (!name) continue;
    g_autofree char *base = g_canonicalize_filename(folder ? folder : ".", NULL);
    g_autofree char *path = g_canonicalize_filename(name, base);
    if (strcmp(path, wanted) != 0) continue;
    g_auto(GStrv) words = entry_words(entry);
    if (!words) return false;
    Reading reading = {.folder = base, .settings = settings};
    read_words(&reading, words + 1, 0);
    add_toolkit(settings, words[0]);
    return true;
  }
  return false;
}
