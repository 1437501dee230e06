// Stands in for the CUDA runtime header, which nvcc includes by itself.
#pragma once
#include <cmath>
#include <kcheck/base.h>
#include <kcheck/device_functions.h>
#include <kcheck/host_api.h>
#include <kcheck/textures.h>
#include <kcheck/vector_types.h>
#include <new>

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
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
