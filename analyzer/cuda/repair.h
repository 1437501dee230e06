/* Repair of what nvcc accepts and clang does not: asm statements (a single % before a register
 * name, operand numbers out of range, a missing comma between operands), missing `template` and
 * `typename` keywords, and arithmetic on pointers to void. Without it the statement, or the whole
 * instantiated body, is not in the AST.
 */
#ifndef KC_CUDA_REPAIR_H
#define KC_CUDA_REPAIR_H

#include "cuda/edit.h"

/* Looks at the errors of `tu` and patches the files they stand in. `text_of` gives the text that a
 * file was parsed with. Returns how many patches were added; 0: nothing left to repair. */
int repair_errors(const Clang *clang, CXTranslationUnit tu, EditSet *edits);

/* Patches the asm statements of a header that clang would refuse, before it is parsed. `text` may
 * go away afterwards. Returns how many patches the header got; none when it has an entry already.
 */
int repair_ahead(EditSet *edits, const char *path, const char *text, size_t length);

#endif
