#include "cli/options.h"

#include <string.h>

#include "arch/arch.h"
#include "cli/parse.h"
#include "cli/strv.h"
#include "report/report.h"
#include "support/suggest.h"

static gboolean add_flag(const char *name, const char *value, gpointer data, GError **error) {
  (void)error;
  Settings *settings = &((CliOptions *)data)->settings;
  /* "--include" and "-include" both reach clang as "-include". */
  const char *flag = g_str_has_prefix(name, "--") ? name + 1 : name;
  strv_add(&settings->flags, flag);
  strv_add(&settings->flags, value);
  return TRUE;
}

static gboolean add_words(const char *name, const char *value, gpointer data, GError **error) {
  (void)error;
  Settings *settings = &((CliOptions *)data)->settings;
  if (strcmp(name, "--select") == 0) strv_add_words(&settings->select, value);
  if (strcmp(name, "--ignore") == 0) strv_add_words(&settings->ignore, value);
  if (strcmp(name, "--severity") == 0) strv_add_words(&settings->severity, value);
  if (strcmp(name, "--arch") == 0) strv_add_words(&settings->archs, value);
  if (strcmp(name, "--target") == 0) strv_add_words(&settings->targets, value);
  return TRUE;
}

#define WORDS(name, argument, text)                                                                \
  { name, 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)(GOptionArgFunc)add_words, text, argument }
#define FLAG(name, short_name, argument, text)                                                     \
  { name, short_name, 0, G_OPTION_ARG_CALLBACK, (gpointer)(GOptionArgFunc)add_flag, text, argument }
#define TEXT(name, short_name, field, argument, text)                                              \
  { name, short_name, 0, G_OPTION_ARG_STRING, &o->field, text, argument }
#define TEXTS(name, field, argument, text)                                                         \
  { name, 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->field, text, argument }
#define SWITCH(name, short_name, field, text)                                                      \
  { name, short_name, 0, G_OPTION_ARG_NONE, &s->field, text, NULL }

/* GLib wants gboolean where CliOptions has bool. */
typedef struct {
  gboolean ptx, quiet, verbose, statistics, timing, strict, write_baseline, prune_baseline, fix,
      diff, unsafe_fixes, no_cache, all_events, stdio;
} Switches;

static void add_target_options(GOptionContext *context) {
  const GOptionEntry entries[] = {
      WORDS("arch", "sm_100",
            "GPU with its full feature set (repeatable; guessed from its instructions)"),
      WORDS("target", "sm_100", "exactly what nvcc is given (repeatable)"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_parse_options(GOptionContext *context, CliOptions *o, Switches *s) {
  const GOptionEntry entries[] = {
      FLAG("include-path", 'I', "DIR", "add an include folder"),
      FLAG("define", 'D', "NAME[=VALUE]", "define a macro"),
      FLAG("undefine", 'U', "NAME", "undefine a macro"),
      FLAG("isystem", 0, "DIR", "add a system include folder"),
      FLAG("include", 0, "FILE", "include a file first"),
      TEXT("std", 0, settings.std, "c++17", "language standard"),
      TEXT("compile-commands", 'p', settings.compile_commands, "DIR",
           "folder of compile_commands.json"),
      TEXT("cuda-path", 0, settings.cuda_path, "DIR",
           "use the headers of this CUDA toolkit (none: only the embedded ones)"),
      SWITCH("ptx", 0, ptx, "also compile with nvcc and check the PTX"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_run_options(GOptionContext *context, CliOptions *o) {
  const GOptionEntry entries[] = {
      TEXTS("kernel", settings.kernels, "NAME", "only this kernel (repeatable)"),
      TEXTS("instantiate", settings.instantiate, "'KERN<128,4>'", "instantiate a kernel template"),
      TEXTS("stages", settings.stages, "[NAME=]N", "set the constant that sizes the pipeline"),
      TEXTS("assume", settings.assumes, "'K % 64 == 0'", "what the caller guarantees"),
      TEXTS("launch", launch_files, "FILE", "launch description (YAML)"),
      WORDS("select", "RULE|FAMILY", "only these rules"),
      WORDS("ignore", "RULE|FAMILY", "not these rules"),
      WORDS("severity", "RULE=LEVEL", "error, warning, advice or off"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_status_options(GOptionContext *context, CliOptions *o, Switches *s) {
  const GOptionEntry entries[] = {
      TEXT("fail-on", 0, settings.fail_on, "LEVEL", "error, warning (default), advice or never"),
      SWITCH("strict", 0, strict, "exit with 2 when a kernel was not fully checked"),
      TEXT("stdin-filename", 0, stdin_filename, "NAME", "name of the file read from `-`"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_output_options(GOptionContext *context, CliOptions *o, Switches *s) {
  const GOptionEntry entries[] = {
      TEXT("format", 0, format, "FORMAT",
           "text, gcc, json, sarif, lsp, github, gitlab, junit or agent"),
      TEXT("output", 'o', output, "FILE", "write there instead of standard output"),
      TEXT("color", 0, color, "WHEN", "auto, always or never"),
      SWITCH("quiet", 'q', quiet, "findings only"),
      SWITCH("verbose", 'v', verbose, "more about what was and was not checked"),
      SWITCH("statistics", 0, statistics, "count findings a rule"),
      SWITCH("timing", 0, timing, "time of each stage"),
      TEXT("dump", 0, dump, "WHAT", "ir, events or model: print a stage's result and stop"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_limit_options(GOptionContext *context, CliOptions *o) {
  const GOptionEntry entries[] = {
      TEXT("config", 0, config, "FILE", "configuration instead of .kcheck.yaml"),
      TEXT("baseline", 0, settings.baseline, "FILE", "leave out findings that are known"),
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &o->jobs, "files at a time", "N"},
      {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &o->timeout_s, "time limit of a file", "SECONDS"},
      {"memory-limit", 0, 0, G_OPTION_ARG_INT, &o->memory_mb, "memory limit of a file", "MB"},
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_life_options(GOptionContext *context, Switches *s) {
  const GOptionEntry entries[] = {
      SWITCH("write-baseline", 0, write_baseline, "accept all findings of this run"),
      SWITCH("prune-baseline", 0, prune_baseline, "drop accepted findings that are gone"),
      SWITCH("fix", 0, fix, "apply safe fixes"),
      SWITCH("diff", 0, diff, "print fixes as a diff, change nothing"),
      SWITCH("unsafe-fixes", 0, unsafe_fixes, "with --fix or --diff: the others too"),
      SWITCH("no-cache", 0, no_cache, "accepted; nothing is cached on disk"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_server_options(GOptionContext *context, Switches *s) {
  const GOptionEntry entries[] = {
      SWITCH("stdio", 0, stdio, "accepted, as editors give it; there is no other way"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

static void add_trace_options(GOptionContext *context, CliOptions *o, Switches *s) {
  const GOptionEntry entries[] = {
      TEXT("html", 0, html, "FILE", "write the trace as a page"),
      TEXT("svg", 0, svg, "FILE", "write the trace as a picture"),
      SWITCH("all", 0, all_events,
             "draw all of the run as the source has it, not its smallest part"),
      G_OPTION_ENTRY_NULL,
  };
  parse_add_entries(context, entries);
}

/* Names of all long options, for suggestions. */
static const char *const option_names[] = {"--arch",
                                           "--target",
                                           "--include-path",
                                           "--define",
                                           "--undefine",
                                           "--isystem",
                                           "--include",
                                           "--std",
                                           "--compile-commands",
                                           "--cuda-path",
                                           "--ptx",
                                           "--kernel",
                                           "--instantiate",
                                           "--stages",
                                           "--assume",
                                           "--launch",
                                           "--select",
                                           "--ignore",
                                           "--severity",
                                           "--fail-on",
                                           "--strict",
                                           "--format",
                                           "--output",
                                           "--color",
                                           "--quiet",
                                           "--verbose",
                                           "--statistics",
                                           "--timing",
                                           "--dump",
                                           "--config",
                                           "--baseline",
                                           "--write-baseline",
                                           "--prune-baseline",
                                           "--fix",
                                           "--diff",
                                           "--unsafe-fixes",
                                           "--jobs",
                                           "--no-cache",
                                           "--timeout",
                                           "--memory-limit",
                                           "--stdin-filename",
                                           "--html",
                                           "--svg",
                                           "--all",
                                           "--stdio",
                                           "--help",
                                           NULL};

/* Spellings that compilers allow and GLib does not: -Idir, -DNAME, -std=c++17, -include FILE,
 * -isystem DIR, and a lone "-". What follows `--` goes to clang. */
static void normalise(CliOptions *options, char ***out, char ***for_clang, int argc, char **argv) {
  strv_add(out, argv[0]);
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--") == 0) {
      strv_add_all(for_clang, argv + i + 1);
      return;
    }
    if (strcmp(word, "-") == 0) {
      strv_add(&options->paths, "-");
    } else if (word[0] == '-' && word[1] && strchr("IDUpoj", word[1]) && word[2]) {
      char flag[] = {'-', word[1], 0};
      strv_add(out, flag);
      strv_add(out, word + 2);
    } else if (g_str_has_prefix(word, "-std") || strcmp(word, "-include") == 0 ||
               strcmp(word, "-isystem") == 0) {
      g_autofree char *lengthened = g_strconcat("-", word, NULL);
      strv_add(out, lengthened);
    } else {
      strv_add(out, word);
    }
  }
}

/* "-fmt=json" is read by GLib as a cluster of short options; only whole known spellings pass. */
static bool check_dashes(char **words, KcError *error) {
  for (char **word = words + 1; *word; word++) {
    if ((*word)[0] != '-' || (*word)[1] == '-' || strlen(*word) <= 2) continue;
    if (strspn(*word + 1, "qv") == strlen(*word + 1)) continue;
    kc_fail(error, NULL, 0, 0, "unknown option %s", *word);
    g_autofree char *longer = g_strconcat("-", *word, NULL);
    longer[strcspn(longer, "=")] = 0;
    const char *near = kc_suggest(longer, option_names);
    return near ? kc_hint(error, "did you mean %s?", near)
                : kc_hint(error, "flags for clang go after `--`");
  }
  return true;
}

bool options_check_level(const char *level, bool for_fail_on, KcError *error) {
  static const char *const thresholds[] = {"error", "warning", "advice", "never", NULL};
  static const char *const levels[] = {"error", "warning", "advice", "off", NULL};
  return for_fail_on ? parse_one_of("fail-on", level, thresholds, error)
                     : parse_one_of("severity", level, levels, error);
}

static bool check_values(const CliOptions *o, KcError *error) {
  static const char *const colors[] = {"auto", "always", "never", NULL};
  static const char *const dumps[] = {"ir", "events", "model", NULL};
  if (!parse_one_of("--format", o->format, report_formats(), error) ||
      !parse_one_of("--color", o->color, colors, error) ||
      !parse_one_of("--dump", o->dump, dumps, error) ||
      !options_check_level(o->settings.fail_on, true, error))
    return false;
  char **const names[] = {o->settings.archs, o->settings.targets};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    for (char **name = names[i]; name && *name; name++)
      if (!arch_find(*name, error)) return false;
  if (o->jobs < 0) return kc_fail(error, NULL, 0, 0, "--jobs must be 1 or more");
  if (o->timeout_s < 0) return kc_fail(error, NULL, 0, 0, "--timeout must not be negative");
  if (o->memory_mb < 0) return kc_fail(error, NULL, 0, 0, "--memory-limit must not be negative");
  return true;
}

static bool check_paths(const CliOptions *o, bool server, KcError *error) {
  if (server && o->paths)
    return kc_fail(error, NULL, 0, 0, "lsp takes no files: the editor names them");
  if (!server && !o->paths) {
    kc_fail(error, NULL, 0, 0, "no file given");
    return kc_hint(error, "kcheck FILE... [--arch sm_100]");
  }
  return true;
}

static void take_switches(CliOptions *o, const Switches *s) {
  o->settings.ptx = s->ptx;
  o->quiet = s->quiet;
  o->verbose = s->verbose;
  o->statistics = s->statistics;
  o->timing = s->timing;
  o->strict = s->strict;
  o->write_baseline = s->write_baseline;
  o->prune_baseline = s->prune_baseline;
  o->fix = s->fix;
  o->diff = s->diff;
  o->unsafe_fixes = s->unsafe_fixes;
  o->no_cache = s->no_cache;
  o->all_events = s->all_events;
}

bool options_parse(CliOptions *options, const char *command, int argc, char **argv,
                   KcError *error) {
  *options = (CliOptions){0};
  Switches switches = {0};
  bool server = strcmp(command, "lsp") == 0;
  const char *arguments = server ? "[-- CLANG FLAGS]" : "FILE... [-- CLANG FLAGS]";
  g_autoptr(GOptionContext) context = parse_context(command, arguments, options);
  add_target_options(context);
  add_parse_options(context, options, &switches);
  add_run_options(context, options);
  if (!server) add_status_options(context, options, &switches);
  if (!server) add_output_options(context, options, &switches);
  add_limit_options(context, options);
  if (!server) add_life_options(context, &switches);
  if (server) add_server_options(context, &switches);
  if (strcmp(command, "trace") == 0) add_trace_options(context, options, &switches);
  g_auto(GStrv) words = NULL, for_clang = NULL;
  normalise(options, &words, &for_clang, argc, argv);
  if (!check_dashes(words, error) || !parse_run(context, &words, option_names, error)) return false;
  take_switches(options, &switches);
  strv_add_all(&options->settings.flags, for_clang);
  strv_add_all(&options->paths, words + 1);
  return check_values(options, error) && check_paths(options, server, error);
}

void options_clear(CliOptions *options) {
  settings_clear(&options->settings);
  g_strfreev(options->paths);
  g_strfreev(options->launch_files);
  char *texts[] = {options->stdin_filename, options->config, options->format, options->output,
                   options->color,          options->dump,   options->html,   options->svg};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  *options = (CliOptions){0};
}
