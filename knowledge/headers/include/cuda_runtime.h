// Stands in for the CUDA runtime header, which nvcc includes by itself. Most of it is read only
// when the file uses a name of it (KCHECK_WANTS_*, see analyzer/cuda/wants.c): declarations are
// what a small kernel's time goes to.
#pragma once
#include <cassert>
#include <kcheck/base.h>
#include <kcheck/device_functions.h>
#include <kcheck/launch.h>
#include <kcheck/vector_types.h>

extern "C" {
KCHECK_HD int printf(const char *format, ...);
KCHECK_HD void *malloc(size_t size);
KCHECK_HD void free(void *pointer);
KCHECK_HD void *memcpy(void *target, const void *source, size_t count);
KCHECK_HD void *memset(void *target, int value, size_t count);
KCHECK_HD int memcmp(const void *a, const void *b, size_t count);
[[noreturn]] KCHECK_D void __assertfail(const char *message, const char *file, unsigned line,
                                        const char *function, size_t character_size = 1);
KCHECK_HD void __assert_fail(const char *message, const char *file, unsigned line,
                             const char *function);
}
namespace std {
using ::free;
using ::malloc;
using ::memcmp;
using ::memcpy;
using ::memset;
using ::printf;
} // namespace std

// The real header brings these in, and kernels rely on it.
#ifdef KCHECK_WANTS_HOST
#include <kcheck/host_api.h>
#endif
#ifdef KCHECK_WANTS_TEXTURES
#include <kcheck/textures.h>
#endif
#ifdef KCHECK_WANTS_INTEGERS
#include <kcheck/integers.h>
#endif
#ifdef KCHECK_WANTS_SIMD
#include <kcheck/simd.h>
#endif
#ifdef KCHECK_WANTS_FLOATS
#include <kcheck/floats.h>
#endif
#ifdef KCHECK_WANTS_MIN_MAX
#include <kcheck/min_max.h>
#endif
#ifdef KCHECK_WANTS_VECTOR_FLOAT
#include <kcheck/vector_float.h>
#endif
#ifdef KCHECK_WANTS_VECTOR_INT
#include <kcheck/vector_int.h>
#endif
#ifdef KCHECK_WANTS_VECTOR_OTHERS
#include <kcheck/vector_others.h>
#endif
#ifdef KCHECK_WANTS_WARP
#include <kcheck/warp_functions.h>
#endif
#ifdef KCHECK_WANTS_CACHE
#include <kcheck/cache_functions.h>
#endif
#ifdef KCHECK_WANTS_PIPELINE
#include <kcheck/pipeline_primitives.h>
#endif
#ifdef KCHECK_WANTS_ATOMICS
#include <kcheck/atomic_functions.h>
#endif
#if defined(KCHECK_WANTS_MATH) || defined(KCHECK_WANTS_MATH_MORE)
#include <cmath>
#endif
#ifdef KCHECK_WANTS_NEW
#include <new>
#endif
#ifdef KCHECK_WANTS_CLIB
#include <cstdio>
#include <cstdlib>
#include <cstring>
#endif
#ifdef KCHECK_WANTS_LIMITS
#include <limits>
#endif
#ifdef KCHECK_WANTS_UTILITY
#include <utility>
#endif
#ifdef KCHECK_WANTS_TUPLE
#include <tuple>
#endif
#ifdef KCHECK_WANTS_ALGORITHM
#include <algorithm>
#endif
