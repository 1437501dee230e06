/* What an editor's settings say, on top of the command line of `kcheck lsp`. */
#ifndef KC_CLI_LSP_SETTINGS_H
#define KC_CLI_LSP_SETTINGS_H

#include <jansson.h>

#include "cli/options.h"

/* Adds the editor's section "kcheck" to `options`: the keys of .kcheck.yaml ("cuda-path" or
 * "cudaPath"), and flags (for clang), config (a file in place of .kcheck.yaml), timeout (seconds).
 * False with the first mistake in `error`; the other keys count all the same. */
bool lsp_settings_read(const json_t *section, CliOptions *options, KcError *error);

/* A copy of the parts that say how a file is checked. */
void lsp_settings_copy(CliOptions *to, const CliOptions *from);

#endif
