/* Settings of one file: what the command line, .kcheck.yaml and a compile command say about how it
 * is parsed and which checks run. A worker gets them as JSON. */
#ifndef KC_CLI_SETTINGS_H
#define KC_CLI_SETTINGS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* A launch(...), tensormap(...), assume(...) or event(...) that stands outside the source. */
typedef struct SettingsDirective {
  char *path; /* file that says it: .kcheck.yaml, a launch description */
  int line;
  char *text; /* "launch(gemm, grid = 132, block = 384)" */
} SettingsDirective;

typedef struct Settings {
  char **archs;   /* --arch: GPUs, with their full feature set */
  char **targets; /* --target: exactly what nvcc is given */
  char **flags;   /* -I -D -U -include and what follows `--`, in order, as clang takes them */
  char *std;      /* "c++17" */
  char *cuda_path;
  char *compile_commands; /* folder (or file) of compile_commands.json */
  char **kernels;         /* --kernel: names or instantiations; empty: all */
  char **instantiate, **stages, **assumes;
  char **dialects; /* event tables of the project: paths */
  char **select, **ignore;
  char **severity;       /* "RULE=LEVEL", the last one wins */
  char *docs_base;       /* base of the documentation's addresses */
  char *baseline;        /* file of findings that are known and accepted */
  char *fail_on;         /* error | warning | advice | never */
  bool ptx;              /* also compile with nvcc and check the PTX */
  GPtrArray *directives; /* SettingsDirective*, or NULL */
} Settings;

void settings_clear(Settings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Settings, settings_clear)

/* Lays `over` on `settings`: single values, targets and `select` replace, lists are appended. */
void settings_overlay(Settings *settings, const Settings *over);
void settings_add_directive(Settings *settings, const char *path, int line, const char *text);

json_t *settings_to_json(const Settings *settings);
/* `json` must come from settings_to_json. */
void settings_from_json(Settings *settings, const json_t *json);

#endif
