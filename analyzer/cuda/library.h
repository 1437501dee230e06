/* Kernels of library headers that the user's host code launches by way of the library's own host
 * functions (a GEMM's adapter, a device-wide sort): they are not lowered, and have to be named. */
#ifndef KC_CUDA_LIBRARY_H
#define KC_CUDA_LIBRARY_H

#include "cuda/unit.h"

typedef struct LibraryCalls LibraryCalls;

LibraryCalls *library_new(CudaUnit *unit);
/* A function that user code at `place` refers to; what is no host function of a library with a body
 * is passed over. */
void library_called(LibraryCalls *calls, CXCursor function, SourceRange place);
/* Walks the bodies of those functions and of what they call, and fills program->library with the
 * kernels found that are not in `lowered`. Frees `calls`. */
void library_close(LibraryCalls *calls, const CursorList *lowered);

#endif
