/* The target of a source for which nobody named one. */
#ifndef KC_CLI_GUESS_H
#define KC_CLI_GUESS_H

#include <glib.h>

#define GUESS_DEFAULT "sm_90a"
#define GUESS_NEWER "sm_100a"

/* Targets that the instructions written in `text` (length bytes of CUDA C++, comments aside) ask
 * for, oldest first: tcgen05 and clusterlaunchcontrol for sm_100a, mma with scale factors for
 * sm_120a, wgmma for sm_90a; GUESS_DEFAULT alone when nothing tells. `out` is a list of static
 * strings; `because` becomes the word that tells (static), or NULL.
 * Source: the "Target ISA Notes" of those instructions in the PTX ISA (9.7.14 to 9.7.17). */
void guess_archs(const char *text, gsize length, GPtrArray *out, const char **because);

#endif
