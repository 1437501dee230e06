#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef struct {
  long long kcheck_long __attribute__((aligned(8)));
  long double kcheck_double __attribute__((aligned(16)));
} max_align_t;
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
