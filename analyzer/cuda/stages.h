/* --stages [NAME=]N: the constant that sizes an array of mbarriers, set to N in the text. */
#ifndef KC_CUDA_STAGES_H
#define KC_CUDA_STAGES_H

#include "cuda/parse.h"

typedef KC_VEC(const char *) StageNames;

/* Lists the constants that size an array of mbarriers in `names`, and applies options->stages to
 * the parsed unit: patches the constants in the text and parses again. Fails, listing the
 * constants, when a bare N could mean several of them, and when NAME sizes no array of mbarriers.
 */
bool stages_apply(CudaUnit *unit, CudaParse *parse, const char *path, StageNames *names,
                  bool *changed, KcError *error);

#endif
