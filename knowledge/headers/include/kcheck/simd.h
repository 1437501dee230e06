// Functions on packed integers.
#pragma once
#include "base.h"

#define KCHECK_SIMD(name)                                                                          \
  KCHECK_D unsigned name##2(unsigned a, unsigned b);                                               \
  KCHECK_D unsigned name##4(unsigned a, unsigned b);
KCHECK_SIMD(__vadd)
KCHECK_SIMD(__vsub)
KCHECK_SIMD(__vmaxs) KCHECK_SIMD(__vmaxu) KCHECK_SIMD(__vmins) KCHECK_SIMD(__vminu)
    KCHECK_SIMD(__vcmpeq) KCHECK_SIMD(__vcmpne) KCHECK_SIMD(__vcmpgts) KCHECK_SIMD(__vcmplts)
        KCHECK_SIMD(__vcmpgtu) KCHECK_SIMD(__vcmpltu) KCHECK_SIMD(__vsetgts) KCHECK_SIMD(__vavgs)
            KCHECK_SIMD(__vavgu) KCHECK_SIMD(__vabsdiffs) KCHECK_SIMD(__vaddss)
                KCHECK_SIMD(__vsubss) KCHECK_SIMD(__vaddus) KCHECK_SIMD(__vsubus)
#undef KCHECK_SIMD
                    KCHECK_D int __vimax_s32_relu(int a, int b);
KCHECK_D int __vimax3_s32(int a, int b, int c);
KCHECK_D int __vimin3_s32(int a, int b, int c);
KCHECK_D unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c);
KCHECK_D unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c);
