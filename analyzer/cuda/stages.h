/* --stages [NAME=]N: the constant that sizes an array of mbarriers, set to N in the text. For a
 * smaller witness, constants that bound loops of the protocol as well. */
#ifndef KC_CUDA_STAGES_H
#define KC_CUDA_STAGES_H

#include "cuda/parse.h"

typedef KC_VEC(const char *) StageNames;

/* Lists the constants that size an array of mbarriers in `names` (and what options->list_constants
 * asks for in the program), and applies options->stages and options->constants to the text of the
 * parsed unit: *changed tells that it has to be parsed again. Fails, listing the constants, when a
 * bare N could mean several of them, and when NAME sizes no array of mbarriers. */
bool stages_apply(CudaUnit *unit, CudaParse *parse, const char *path, StageNames *names,
                  bool *changed, KcError *error);

#endif
