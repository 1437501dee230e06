#include "cli/nvcc.h"

#include <glib/gstdio.h>
#include <string.h>

#include "cli/strv.h"

static char *find_nvcc(const Job *job) {
  const char *toolkit = job->settings.cuda_path;
  if (!toolkit) return g_find_program_in_path("nvcc");
  char *path = g_build_filename(toolkit, "bin", "nvcc", NULL);
  if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE)) return path;
  g_free(path);
  return g_find_program_in_path("nvcc");
}

/* Macros and include folders; what else stands behind `--` is for clang alone. */
static void add_flags(char ***words, char *const *flags) {
  static const char *const shared[] = {"-I", "-D", "-U", "-include", "-isystem", NULL};
  for (; flags && flags[0] && flags[1]; flags++) {
    if (!g_strv_contains(shared, flags[0])) continue;
    strv_add(words, flags[0]);
    strv_add(words, flags[1]);
    flags++;
  }
}

static char *first_message(const char *said) {
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
  for (char **line = lines; *line; line++)
    if (strstr(*line, "error") || strstr(*line, "fatal")) return g_strdup(*line);
  return g_strdup(lines[0] ? lines[0] : "no message");
}

static bool compile(const Job *job, char **words, KcError *error) {
  g_autofree char *said = NULL;
  g_autoptr(GError) failure = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said, &status,
                    &failure))
    return kc_fail(error, job->path, 0, 0, "--ptx: cannot start nvcc: %s", failure->message);
  if (g_spawn_check_wait_status(status, NULL)) return true;
  g_autofree char *message = first_message(said);
  return kc_fail(error, job->path, 0, 0, "--ptx: nvcc refuses the file: %s", message);
}

char *nvcc_ptx(const Job *job, const char *arch, KcError *error) {
  g_autofree char *nvcc = find_nvcc(job);
  if (!nvcc) {
    kc_fail(error, job->path, 0, 0, "--ptx: there is no nvcc");
    kc_hint(error, "put it on the PATH or name the toolkit with --cuda-path");
    return NULL;
  }
  g_autoptr(GError) failure = NULL;
  g_autofree char *folder = g_dir_make_tmp(NULL, &failure);
  if (!folder) {
    kc_fail(error, NULL, 0, 0, "--ptx: no temporary folder: %s", failure->message);
    return NULL;
  }
  g_autofree char *output = g_build_filename(folder, "kernel.ptx", NULL);
  g_autofree char *arch_flag = g_strconcat("-arch=", arch, NULL);
  g_auto(GStrv) words = NULL;
  const char *const fixed[] = {nvcc, "-ptx", "-lineinfo", "-x", "cu", arch_flag, "-o", output};
  for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
    strv_add(&words, fixed[i]);
  if (job->settings.std) {
    g_autofree char *std = g_strconcat("-std=", job->settings.std, NULL);
    strv_add(&words, std);
  }
  add_flags(&words, job->settings.flags);
  strv_add(&words, job->path);
  char *text = NULL;
  if (compile(job, words, error) && !g_file_get_contents(output, &text, NULL, &failure))
    kc_fail(error, job->path, 0, 0, "--ptx: nvcc wrote nothing: %s", failure->message);
  g_unlink(output);
  g_rmdir(folder);
  return text;
}
