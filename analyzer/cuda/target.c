/* Names of targets and their feature macros. */
#include "cuda/target.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

bool target_parse(const char *arch, CudaTarget *target) {
  *target = (CudaTarget){0};
  const char *digits = strchr(arch, '_');
  if (!digits || !g_ascii_isdigit(digits[1])) return false;
  char *end = NULL;
  target->number = (int)strtol(digits + 1, &end, 10);
  if (*end == 'a' || *end == 'f') target->suffix = *end++;
  return *end == 0 && target->number >= 10 && target->number < 1000;
}

/* Whether libclang takes `cpu` as a GPU: it parses an empty file for it. */
static bool accepts_cpu(const Clang *clang, CXIndex index, const char *cpu) {
  static const char PROBE[] = "/kcheck-builtin/probe.cu";
  g_autofree char *flag = g_strconcat("--cuda-gpu-arch=", cpu, NULL);
  const char *flags[] = {
      "-x",         "cuda", "--cuda-device-only", "--cuda-path=/nonexistent", "-nocudainc",
      "-nocudalib", flag};
  struct CXUnsavedFile file = {PROBE, "\n", 1};
  CXTranslationUnit tu = NULL;
  if (clang->parseTranslationUnit2(index, PROBE, flags, G_N_ELEMENTS(flags), &file, 1, 0, &tu) !=
          CXError_Success ||
      !tu)
    return false;
  bool accepted = true;
  unsigned count = clang->getNumDiagnostics(tu);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang->getDiagnostic(tu, i);
    if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) accepted = false;
    clang->disposeDiagnostic(diagnostic);
  }
  clang->disposeTranslationUnit(tu);
  return accepted;
}

/* Whether the opened libclang is known to take the target: asking it takes as long as parsing a
 * small kernel. sm_90a is what makes CLANG_OLDEST the oldest; the others measured with 22. */
static bool is_known(const Clang *clang, const CudaTarget *target) {
  if (target->number == 90 && (target->suffix == 'a' || !target->suffix)) return true;
  return clang->version == 22 && (target->number == 100 || target->number == 103 ||
                                  target->number == 120 || target->number == 121);
}

bool target_choose_cpu(const Clang *clang, CXIndex index, CudaTarget *target) {
  static const char *const OTHERS[] = {"sm_120a", "sm_100a", "sm_90a", "sm_90", "sm_80"};
  const char suffixes[] = {target->suffix == 'f' ? 'a' : target->suffix, 0};
  g_snprintf(target->cpu, sizeof target->cpu, "sm_%d%s", target->number, suffixes);
  if (is_known(clang, target) || accepts_cpu(clang, index, target->cpu)) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(OTHERS); i++) {
    if (atoi(OTHERS[i] + 3) > target->number && target->number >= 80) continue;
    g_strlcpy(target->cpu, OTHERS[i], sizeof target->cpu);
    if (accepts_cpu(clang, index, target->cpu)) return true;
  }
  return false;
}

static void add_format(void (*add)(void *user, const char *flag), void *user, const char *format,
                       int number) G_GNUC_PRINTF(3, 0);
static void add_format(void (*add)(void *user, const char *flag), void *user, const char *format,
                       int number) {
  char flag[80];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  g_snprintf(flag, sizeof flag, format, number);
#pragma GCC diagnostic pop
  add(user, flag);
}

/* Measured with nvcc 13.0 -E -dM: sm_90a defines FEAT_SM90_ALL, ARCH_SPECIFIC and
 * ARCH_FAMILY_SPECIFIC; sm_100f only ARCH_FAMILY_SPECIFIC; sm_90 none of them. */
void target_macros(const CudaTarget *target, void (*add)(void *user, const char *flag),
                   void *user) {
  int arch = target->number * 10;
  CudaTarget cpu;
  if (target_parse(target->cpu, &cpu) && cpu.suffix)
    add_format(add, user, "-U__CUDA_ARCH_FEAT_SM%d_ALL", cpu.number);
  add(user, "-U__CUDA_ARCH_SPECIFIC__");
  add(user, "-U__CUDA_ARCH_FAMILY_SPECIFIC__");
  add(user, "-U__CUDA_ARCH__");
  add_format(add, user, "-D__CUDA_ARCH__=%d", arch);
  add_format(add, user, "-D__CUDA_ARCH_LIST__=%d", arch);
  if (target->suffix == 'a') {
    add_format(add, user, "-D__CUDA_ARCH_FEAT_SM%d_ALL=1", target->number);
    add_format(add, user, "-D__CUDA_ARCH_SPECIFIC__=%d", arch);
  }
  if (target->suffix) add_format(add, user, "-D__CUDA_ARCH_FAMILY_SPECIFIC__=%d", arch);
}
