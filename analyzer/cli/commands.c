#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "support/suggest.h"

const CliCommand cli_commands[] = {
    {"check", "FILE... [--arch sm_100]", "check kernels (the command may be left out)", cmd_check},
    {"explain", "RULE", "what a rule finds, why, examples, evidence", cmd_explain},
    {"rules", "[--format json]", "every rule", cmd_rules},
    {"page", "ID [--include-code]", "a page of the knowledge base; --list", cmd_page},
    {"search", "WORDS", "pages and rules that speak of it", cmd_search},
    {"protocol", "FILE", "the contract of every barrier", cmd_protocol},
    {"trace", "FILE[:LINE] [--html F|--svg F]", "the pipeline as the machine saw it", cmd_trace},
    {"repro", "FILE[:LINE]", "a program that shows the finding on a card", cmd_repro},
    {"budget", "FILE... [--stages [NAME=]2..8]", "shared memory, registers, TMEM, occupancy",
     cmd_budget},
    {"lsp", "[--arch sm_100]", "language server on standard input and output", cmd_lsp},
    {NULL, NULL, NULL, NULL},
};

static const CliCommand *find_command(const char *name) {
  for (const CliCommand *command = cli_commands; command->name; command++)
    if (strcmp(command->name, name) == 0) return command;
  return NULL;
}

static int print_help(void) {
  printf("kcheck %s: finds hangs, races, overflows and illegal instructions in CUDA kernels for\n"
         "Hopper and Blackwell before anything runs.\n\nusage:\n",
         KCHECK_VERSION);
  for (const CliCommand *command = cli_commands; command->name; command++)
    printf("  kcheck %-9s %-34s %s\n", command->name, command->arguments, command->summary);
  puts("\n`kcheck COMMAND --help` lists the options of a command.\n"
       "Exit status: 0 clean, 1 findings, 2 the run could not do its work.");
  return CLI_CLEAN;
}

/* A first word that is neither a command nor a file, but nearly a command. */
static const char *meant_command(const char *word) {
  if (*word == '-' || strchr(word, '/') || strchr(word, '.') ||
      g_file_test(word, G_FILE_TEST_EXISTS))
    return NULL;
  const char *names[32] = {0};
  for (int i = 0; cli_commands[i].name; i++)
    names[i] = cli_commands[i].name;
  return kc_suggest(word, names);
}

int cli_run(int argc, char **argv) {
  if (argc < 2) {
    print_help();
    return CLI_FAILED;
  }
  const char *first = argv[1];
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
    return print_help();
  if (strcmp(first, "--version") == 0) {
    printf("kcheck %s\n", KCHECK_VERSION);
    return CLI_CLEAN;
  }
  const CliCommand *command = find_command(first);
  if (command) return command->run(argc - 1, argv + 1);
  const char *meant = meant_command(first);
  if (meant) {
    KcError error = {0};
    kc_fail(&error, NULL, 0, 0, "no command or file '%s'", first);
    kc_hint(&error, "did you mean 'kcheck %s'?", meant);
    return cli_fail(&error);
  }
  return cmd_check(argc, argv);
}

char *cli_error_line(const KcError *error) {
  GString *line = g_string_new(error->path ? error->path : "kcheck");
  g_string_append_c(line, ':');
  if (error->path && error->line > 0) g_string_append_printf(line, "%d:", error->line);
  if (error->path && error->line > 0 && error->column > 0)
    g_string_append_printf(line, "%d:", error->column);
  g_string_append_printf(line, " error: %s", error->message ? error->message : "unknown error");
  if (error->hint) g_string_append_printf(line, "; %s", error->hint);
  return g_string_free(line, FALSE);
}

int cli_fail(KcError *error) {
  g_autofree char *line = cli_error_line(error);
  fprintf(stderr, "%s\n", line);
  kc_error_clear(error);
  return CLI_FAILED;
}
