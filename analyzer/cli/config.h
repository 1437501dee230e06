/* .kcheck.yaml: the settings of a project, found upward from each file. */
#ifndef KC_CLI_CONFIG_H
#define KC_CLI_CONFIG_H

#include <glib.h>

#include "cli/settings.h"
#include "support/error.h"

/* Configurations read in this run, each file once. */
typedef struct Configs Configs;

Configs *configs_new(void);
void configs_free(Configs *configs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Configs, configs_free)

/* Lays the settings that hold for the source file `path` on `settings`: those of `explicit_path`
 * (--config) when given, else of the nearest .kcheck.yaml in the folder of `path` or above, with
 * its matching `per-file` entries. No configuration is no error. Returns false with file, line and
 * column of a mistake in it. */
bool configs_apply(Configs *configs, const char *path, const char *explicit_path,
                   Settings *settings, KcError *error);

/* Reads a launch description: YAML with the keys launches, tensormaps, assume and events, as in
 * .kcheck.yaml. */
bool config_read_launches(const char *path, Settings *settings, KcError *error);

/* Reads what an editor says, in the form of a .kcheck.yaml (JSON is YAML too); relative paths mean
 * the working folder. What per-file holds is for files, and is refused here. */
bool config_read_text(const char *text, Settings *settings, KcError *error);

/* Paths of all configurations that were read (char*); owned by `configs`. */
const GPtrArray *configs_paths(const Configs *configs);

#endif
