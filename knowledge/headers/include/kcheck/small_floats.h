// What half and bfloat16 have in common: a 16-bit number, a pair of them, arithmetic and the named
// functions of the headers. The values are not followed, so nearly nothing has a body.
#pragma once
#include <cuda_runtime.h>

#define KCHECK_BINARY(type, op)                                                                    \
  KCHECK_HD type operator op(const type &a, const type &b);                                        \
  KCHECK_HD type &operator op##=(type &a, const type &b);
#define KCHECK_COMPARE(type, op) KCHECK_HD bool operator op(const type &a, const type &b);
#define KCHECK_ARITHMETIC(type)                                                                    \
  KCHECK_BINARY(type, +)                                                                           \
  KCHECK_BINARY(type, -) KCHECK_BINARY(type, *) KCHECK_BINARY(type, /) KCHECK_COMPARE(type, ==)    \
      KCHECK_COMPARE(type, !=) KCHECK_COMPARE(type, <) KCHECK_COMPARE(type, >)                     \
          KCHECK_COMPARE(type, <=) KCHECK_COMPARE(type, >=) KCHECK_HD type                         \
          operator-(const type &a);                                                                \
  KCHECK_HD type operator+(const type &a);                                                         \
  KCHECK_HD type &operator++(type &a);                                                             \
  KCHECK_HD type &operator--(type &a);

// One 16-bit type and its pair.
#define KCHECK_SMALL_FLOAT(one, pair, raw, raw_pair)                                               \
  struct __attribute__((aligned(2))) raw {                                                         \
    unsigned short x;                                                                              \
  };                                                                                               \
  struct __attribute__((aligned(4))) raw_pair {                                                    \
    unsigned short x, y;                                                                           \
  };                                                                                               \
  struct __attribute__((aligned(2))) one {                                                         \
    unsigned short __x;                                                                            \
    one() = default;                                                                               \
    KCHECK_HD constexpr one(const raw &r) : __x(r.x) {}                                            \
    KCHECK_HD one(float value);                                                                    \
    KCHECK_HD one(double value);                                                                   \
    KCHECK_HD one(int value);                                                                      \
    KCHECK_HD one(unsigned value);                                                                 \
    KCHECK_HD one(long value);                                                                     \
    KCHECK_HD one(unsigned long value);                                                            \
    KCHECK_HD one(long long value);                                                                \
    KCHECK_HD one(unsigned long long value);                                                       \
    KCHECK_HD one(short value);                                                                    \
    KCHECK_HD one(unsigned short value);                                                           \
    KCHECK_HD operator float() const;                                                              \
    KCHECK_HD constexpr operator raw() const {                                                     \
      return raw{__x};                                                                             \
    }                                                                                              \
    KCHECK_HD explicit operator int() const;                                                       \
    KCHECK_HD explicit operator unsigned() const;                                                  \
    KCHECK_HD explicit operator short() const;                                                     \
    KCHECK_HD explicit operator unsigned short() const;                                            \
    KCHECK_HD explicit operator long long() const;                                                 \
    KCHECK_HD explicit operator bool() const;                                                      \
    KCHECK_HD one &operator=(float value);                                                         \
    KCHECK_HD one &operator=(double value);                                                        \
    KCHECK_HD one &operator=(int value);                                                           \
  };                                                                                               \
  struct __attribute__((aligned(4))) pair {                                                        \
    one x, y;                                                                                      \
    pair() = default;                                                                              \
    KCHECK_HD constexpr pair(const one &a, const one &b) : x(a), y(b) {}                           \
    KCHECK_HD pair(const raw_pair &r);                                                             \
    KCHECK_HD operator raw_pair() const;                                                           \
  };                                                                                               \
  KCHECK_ARITHMETIC(one)                                                                           \
  KCHECK_ARITHMETIC(pair)

#define KCHECK_SAME2(type, name) KCHECK_HD type name(type a, type b);
#define KCHECK_SAME1(type, name) KCHECK_HD type name(type a);
#define KCHECK_PREDICATE(type, name) KCHECK_HD bool name(type a, type b);
#define KCHECK_NAMED(one, pair)                                                                    \
  KCHECK_SAME2(one, __hadd)                                                                        \
  KCHECK_SAME2(one, __hsub) KCHECK_SAME2(one, __hmul) KCHECK_SAME2(one, __hdiv) KCHECK_SAME2(      \
      one, __hmax) KCHECK_SAME2(one, __hmin) KCHECK_SAME2(one, __hmax_nan)                         \
      KCHECK_SAME2(one, __hmin_nan) KCHECK_SAME2(one, __hadd_rn) KCHECK_SAME2(one, __hsub_rn)      \
          KCHECK_SAME2(one, __hmul_rn) KCHECK_SAME2(one, __hadd_sat) KCHECK_SAME2(one, __hmul_sat) \
              KCHECK_SAME1(one, __hneg) KCHECK_SAME1(one, __habs) KCHECK_SAME1(one, hexp)          \
                  KCHECK_SAME1(one, hexp2) KCHECK_SAME1(one, hlog) KCHECK_SAME1(one, hlog2)        \
                      KCHECK_SAME1(one, hsqrt) KCHECK_SAME1(one, hrsqrt) KCHECK_SAME1(one, hrcp)   \
                          KCHECK_SAME1(one, hsin) KCHECK_SAME1(one, hcos) KCHECK_SAME1(one, htanh) \
                              KCHECK_SAME1(one, hfloor) KCHECK_SAME1(one, hceil)                   \
                                  KCHECK_SAME1(one, hrint) KCHECK_SAME1(one, htrunc)               \
                                      KCHECK_PREDICATE(one, __heq) KCHECK_PREDICATE(one, __hne)    \
                                          KCHECK_PREDICATE(one, __hlt)                             \
                                              KCHECK_PREDICATE(one, __hgt)                         \
                                                  KCHECK_PREDICATE(one, __hle)                     \
                                                      KCHECK_PREDICATE(one, __hge) KCHECK_HD one   \
                                                      __hfma(one a, one b, one c);                 \
  KCHECK_HD one __hfma_relu(one a, one b, one c);                                                  \
  KCHECK_HD one __hfma_sat(one a, one b, one c);                                                   \
  KCHECK_HD bool __hisnan(one a);                                                                  \
  KCHECK_HD int __hisinf(one a);                                                                   \
  KCHECK_SAME2(pair, __hadd2)                                                                      \
  KCHECK_SAME2(pair, __hsub2) KCHECK_SAME2(pair, __hmul2) KCHECK_SAME2(pair, __h2div)              \
      KCHECK_SAME2(pair, __hmax2) KCHECK_SAME2(pair, __hmin2) KCHECK_SAME2(pair, __hmax2_nan)      \
          KCHECK_SAME2(pair, __hmin2_nan) KCHECK_SAME2(pair, __hadd2_rn)                           \
              KCHECK_SAME2(pair, __hmul2_rn) KCHECK_SAME2(pair, __hadd2_sat)                       \
                  KCHECK_SAME2(pair, __heq2) KCHECK_SAME2(pair, __hlt2) KCHECK_SAME2(pair, __hgt2) \
                      KCHECK_SAME2(pair, __hge2) KCHECK_SAME2(pair, __hle2)                        \
                          KCHECK_SAME2(pair, __hne2) KCHECK_SAME1(pair, __hneg2)                   \
                              KCHECK_SAME1(pair, __habs2) KCHECK_SAME1(pair, h2exp)                \
                                  KCHECK_SAME1(pair, h2exp2) KCHECK_SAME1(pair, h2log)             \
                                      KCHECK_SAME1(pair, h2sqrt) KCHECK_SAME1(pair, h2rsqrt)       \
                                          KCHECK_SAME1(pair, h2rcp) KCHECK_SAME1(pair, h2tanh)     \
                                              KCHECK_HD pair                                       \
                                              __hfma2(pair a, pair b, pair c);                     \
  KCHECK_HD pair __hfma2_relu(pair a, pair b, pair c);                                             \
  KCHECK_HD bool __hbeq2(pair a, pair b);
