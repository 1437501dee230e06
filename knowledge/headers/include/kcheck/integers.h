// Integer and bit functions of the device, and bit casts.
#pragma once
#include "base.h"

// integers
KCHECK_D int __popc(unsigned x);
KCHECK_D int __popcll(unsigned long long x);
KCHECK_D int __clz(int x);
KCHECK_D int __clzll(long long x);
KCHECK_D int __ffs(int x);
KCHECK_D int __ffsll(long long x);
KCHECK_D unsigned __brev(unsigned x);
KCHECK_D unsigned long long __brevll(unsigned long long x);
KCHECK_D unsigned __byte_perm(unsigned x, unsigned y, unsigned selector);
KCHECK_D unsigned __fns(unsigned mask, unsigned base, int offset);
KCHECK_D unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift);
KCHECK_D int __mulhi(int x, int y);
KCHECK_D unsigned __umulhi(unsigned x, unsigned y);
KCHECK_D long long __mul64hi(long long x, long long y);
KCHECK_D unsigned long long __umul64hi(unsigned long long x, unsigned long long y);
KCHECK_D int __mul24(int x, int y);
KCHECK_D unsigned __umul24(unsigned x, unsigned y);
KCHECK_D unsigned __sad(int x, int y, unsigned z);
KCHECK_D unsigned __usad(unsigned x, unsigned y, unsigned z);
KCHECK_D int __hadd(int x, int y);
KCHECK_D int __rhadd(int x, int y);
KCHECK_D unsigned __uhadd(unsigned x, unsigned y);
KCHECK_D int __dp4a(int a, int b, int c);
KCHECK_D unsigned __dp4a(unsigned a, unsigned b, unsigned c);
KCHECK_D int __dp2a_lo(int a, int b, int c);
KCHECK_D int __dp2a_hi(int a, int b, int c);

// bit casts
KCHECK_D int __float_as_int(float x);
KCHECK_D unsigned __float_as_uint(float x);
KCHECK_D float __int_as_float(int x);
KCHECK_D float __uint_as_float(unsigned x);
KCHECK_D long long __double_as_longlong(double x);
KCHECK_D double __longlong_as_double(long long x);
KCHECK_D int __double2hiint(double x);
KCHECK_D int __double2loint(double x);
KCHECK_D double __hiloint2double(int high, int low);
