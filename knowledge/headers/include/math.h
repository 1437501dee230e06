// Mathematical functions, for host and device. Values of floating point are not followed, so there
// are no bodies.
#pragma once
#include <kcheck/abs.h>
#include <kcheck/base.h>
#ifdef KCHECK_WANTS_MATH_MORE
#include <kcheck/math_more.h>
#endif

KCHECK_HD double ceil(double x);
KCHECK_HD float ceilf(float x);
KCHECK_HD double cos(double x);
KCHECK_HD float cosf(float x);
KCHECK_HD double exp(double x);
KCHECK_HD float expf(float x);
KCHECK_HD double exp2(double x);
KCHECK_HD float exp2f(float x);
KCHECK_HD double fabs(double x);
KCHECK_HD float fabsf(float x);
KCHECK_HD double floor(double x);
KCHECK_HD float floorf(float x);
KCHECK_HD double log(double x);
KCHECK_HD float logf(float x);
KCHECK_HD double log2(double x);
KCHECK_HD float log2f(float x);
KCHECK_HD double round(double x);
KCHECK_HD float roundf(float x);
KCHECK_HD double rsqrt(double x);
KCHECK_HD float rsqrtf(float x);
KCHECK_HD double sin(double x);
KCHECK_HD float sinf(float x);
KCHECK_HD double sqrt(double x);
KCHECK_HD float sqrtf(float x);
KCHECK_HD double tanh(double x);
KCHECK_HD float tanhf(float x);
KCHECK_HD double trunc(double x);
KCHECK_HD float truncf(float x);
KCHECK_HD double fmax(double x, double y);
KCHECK_HD float fmaxf(float x, float y);
KCHECK_HD double fmin(double x, double y);
KCHECK_HD float fminf(float x, float y);
KCHECK_HD double pow(double x, double y);
KCHECK_HD float powf(float x, float y);
KCHECK_HD double fma(double x, double y, double z);
KCHECK_HD float fmaf(float x, float y, float z);
KCHECK_HD double ldexp(double x, int exponent);
KCHECK_HD float ldexpf(float x, int exponent);
KCHECK_HD bool isnan(float x);
KCHECK_HD bool isnan(double x);
KCHECK_HD bool isinf(float x);
KCHECK_HD bool isinf(double x);
KCHECK_HD bool isfinite(float x);
KCHECK_HD bool isfinite(double x);
KCHECK_HD double abs(double x);
KCHECK_HD float abs(float x);

KCHECK_HD float ceil(float x);
KCHECK_HD float cos(float x);
KCHECK_HD float exp(float x);
KCHECK_HD float exp2(float x);
KCHECK_HD float fabs(float x);
KCHECK_HD float floor(float x);
KCHECK_HD float log(float x);
KCHECK_HD float log2(float x);
KCHECK_HD float round(float x);
KCHECK_HD float rsqrt(float x);
KCHECK_HD float sin(float x);
KCHECK_HD float sqrt(float x);
KCHECK_HD float tanh(float x);
KCHECK_HD float trunc(float x);
KCHECK_HD float fmax(float x, float y);
KCHECK_HD float fmin(float x, float y);
KCHECK_HD float pow(float x, float y);
KCHECK_HD float fma(float x, float y, float z);
KCHECK_HD float ldexp(float x, int exponent);
KCHECK_HD double pow(double x, int y);
KCHECK_HD float pow(float x, int y);
KCHECK_HD double pow(int x, int y);
#define KCHECK_INTEGRAL(name) KCHECK_HD inline double name(int x) { return name((double)x); }
KCHECK_INTEGRAL(sqrt) KCHECK_INTEGRAL(ceil) KCHECK_INTEGRAL(floor) KCHECK_INTEGRAL(exp)
KCHECK_INTEGRAL(log) KCHECK_INTEGRAL(log2) KCHECK_INTEGRAL(sin) KCHECK_INTEGRAL(cos)
#undef KCHECK_INTEGRAL
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
