// Mathematical functions, for host and device. Values of floating point are not followed, so there
// are no bodies.
#pragma once
#include <kcheck/abs.h>
#include <kcheck/base.h>

KCHECK_HD double acos(double x);
KCHECK_HD float acosf(float x);
KCHECK_HD double acosh(double x);
KCHECK_HD float acoshf(float x);
KCHECK_HD double asin(double x);
KCHECK_HD float asinf(float x);
KCHECK_HD double asinh(double x);
KCHECK_HD float asinhf(float x);
KCHECK_HD double atan(double x);
KCHECK_HD float atanf(float x);
KCHECK_HD double atanh(double x);
KCHECK_HD float atanhf(float x);
KCHECK_HD double cbrt(double x);
KCHECK_HD float cbrtf(float x);
KCHECK_HD double ceil(double x);
KCHECK_HD float ceilf(float x);
KCHECK_HD double cos(double x);
KCHECK_HD float cosf(float x);
KCHECK_HD double cosh(double x);
KCHECK_HD float coshf(float x);
KCHECK_HD double cospi(double x);
KCHECK_HD float cospif(float x);
KCHECK_HD double erf(double x);
KCHECK_HD float erff(float x);
KCHECK_HD double erfc(double x);
KCHECK_HD float erfcf(float x);
KCHECK_HD double erfcinv(double x);
KCHECK_HD float erfcinvf(float x);
KCHECK_HD double erfcx(double x);
KCHECK_HD float erfcxf(float x);
KCHECK_HD double erfinv(double x);
KCHECK_HD float erfinvf(float x);
KCHECK_HD double exp(double x);
KCHECK_HD float expf(float x);
KCHECK_HD double exp10(double x);
KCHECK_HD float exp10f(float x);
KCHECK_HD double exp2(double x);
KCHECK_HD float exp2f(float x);
KCHECK_HD double expm1(double x);
KCHECK_HD float expm1f(float x);
KCHECK_HD double fabs(double x);
KCHECK_HD float fabsf(float x);
KCHECK_HD double floor(double x);
KCHECK_HD float floorf(float x);
KCHECK_HD double j0(double x);
KCHECK_HD float j0f(float x);
KCHECK_HD double j1(double x);
KCHECK_HD float j1f(float x);
KCHECK_HD double lgamma(double x);
KCHECK_HD float lgammaf(float x);
KCHECK_HD double log(double x);
KCHECK_HD float logf(float x);
KCHECK_HD double log10(double x);
KCHECK_HD float log10f(float x);
KCHECK_HD double log1p(double x);
KCHECK_HD float log1pf(float x);
KCHECK_HD double log2(double x);
KCHECK_HD float log2f(float x);
KCHECK_HD double logb(double x);
KCHECK_HD float logbf(float x);
KCHECK_HD double nearbyint(double x);
KCHECK_HD float nearbyintf(float x);
KCHECK_HD double normcdf(double x);
KCHECK_HD float normcdff(float x);
KCHECK_HD double normcdfinv(double x);
KCHECK_HD float normcdfinvf(float x);
KCHECK_HD double rcbrt(double x);
KCHECK_HD float rcbrtf(float x);
KCHECK_HD double rint(double x);
KCHECK_HD float rintf(float x);
KCHECK_HD double round(double x);
KCHECK_HD float roundf(float x);
KCHECK_HD double rsqrt(double x);
KCHECK_HD float rsqrtf(float x);
KCHECK_HD double sin(double x);
KCHECK_HD float sinf(float x);
KCHECK_HD double sinh(double x);
KCHECK_HD float sinhf(float x);
KCHECK_HD double sinpi(double x);
KCHECK_HD float sinpif(float x);
KCHECK_HD double sqrt(double x);
KCHECK_HD float sqrtf(float x);
KCHECK_HD double tan(double x);
KCHECK_HD float tanf(float x);
KCHECK_HD double tanh(double x);
KCHECK_HD float tanhf(float x);
KCHECK_HD double tgamma(double x);
KCHECK_HD float tgammaf(float x);
KCHECK_HD double trunc(double x);
KCHECK_HD float truncf(float x);
KCHECK_HD double y0(double x);
KCHECK_HD float y0f(float x);
KCHECK_HD double y1(double x);
KCHECK_HD float y1f(float x);
KCHECK_HD double atan2(double x, double y);
KCHECK_HD float atan2f(float x, float y);
KCHECK_HD double copysign(double x, double y);
KCHECK_HD float copysignf(float x, float y);
KCHECK_HD double fdim(double x, double y);
KCHECK_HD float fdimf(float x, float y);
KCHECK_HD double fmax(double x, double y);
KCHECK_HD float fmaxf(float x, float y);
KCHECK_HD double fmin(double x, double y);
KCHECK_HD float fminf(float x, float y);
KCHECK_HD double fmod(double x, double y);
KCHECK_HD float fmodf(float x, float y);
KCHECK_HD double hypot(double x, double y);
KCHECK_HD float hypotf(float x, float y);
KCHECK_HD double nextafter(double x, double y);
KCHECK_HD float nextafterf(float x, float y);
KCHECK_HD double pow(double x, double y);
KCHECK_HD float powf(float x, float y);
KCHECK_HD double remainder(double x, double y);
KCHECK_HD float remainderf(float x, float y);
KCHECK_HD double fma(double x, double y, double z);
KCHECK_HD float fmaf(float x, float y, float z);
KCHECK_HD double ldexp(double x, int exponent);
KCHECK_HD float ldexpf(float x, int exponent);
KCHECK_HD double scalbn(double x, int exponent);
KCHECK_HD float scalbnf(float x, int exponent);
KCHECK_HD double frexp(double x, int *exponent);
KCHECK_HD float frexpf(float x, int *exponent);
KCHECK_HD double modf(double x, double *whole);
KCHECK_HD float modff(float x, float *whole);
KCHECK_HD int ilogb(double x);
KCHECK_HD int ilogbf(float x);
KCHECK_HD long lrint(double x);
KCHECK_HD long lrintf(float x);
KCHECK_HD long lround(double x);
KCHECK_HD long lroundf(float x);
KCHECK_HD long long llrint(double x);
KCHECK_HD long long llrintf(float x);
KCHECK_HD long long llround(double x);
KCHECK_HD long long llroundf(float x);
KCHECK_HD void sincos(double x, double *sine, double *cosine);
KCHECK_HD void sincosf(float x, float *sine, float *cosine);
KCHECK_HD void sincospi(double x, double *sine, double *cosine);
KCHECK_HD void sincospif(float x, float *sine, float *cosine);
KCHECK_HD float fdividef(float x, float y);
KCHECK_HD bool isnan(float x);
KCHECK_HD bool isnan(double x);
KCHECK_HD bool isinf(float x);
KCHECK_HD bool isinf(double x);
KCHECK_HD bool isfinite(float x);
KCHECK_HD bool isfinite(double x);
KCHECK_HD bool signbit(float x);
KCHECK_HD bool signbit(double x);
KCHECK_HD double abs(double x);
KCHECK_HD float abs(float x);

KCHECK_HD float acos(float x);
KCHECK_HD float acosh(float x);
KCHECK_HD float asin(float x);
KCHECK_HD float asinh(float x);
KCHECK_HD float atan(float x);
KCHECK_HD float atanh(float x);
KCHECK_HD float cbrt(float x);
KCHECK_HD float ceil(float x);
KCHECK_HD float cos(float x);
KCHECK_HD float cosh(float x);
KCHECK_HD float cospi(float x);
KCHECK_HD float erf(float x);
KCHECK_HD float erfc(float x);
KCHECK_HD float erfcinv(float x);
KCHECK_HD float erfcx(float x);
KCHECK_HD float erfinv(float x);
KCHECK_HD float exp(float x);
KCHECK_HD float exp10(float x);
KCHECK_HD float exp2(float x);
KCHECK_HD float expm1(float x);
KCHECK_HD float fabs(float x);
KCHECK_HD float floor(float x);
KCHECK_HD float lgamma(float x);
KCHECK_HD float log(float x);
KCHECK_HD float log10(float x);
KCHECK_HD float log1p(float x);
KCHECK_HD float log2(float x);
KCHECK_HD float logb(float x);
KCHECK_HD float nearbyint(float x);
KCHECK_HD float normcdf(float x);
KCHECK_HD float normcdfinv(float x);
KCHECK_HD float rcbrt(float x);
KCHECK_HD float rint(float x);
KCHECK_HD float round(float x);
KCHECK_HD float rsqrt(float x);
KCHECK_HD float sin(float x);
KCHECK_HD float sinh(float x);
KCHECK_HD float sinpi(float x);
KCHECK_HD float sqrt(float x);
KCHECK_HD float tan(float x);
KCHECK_HD float tanh(float x);
KCHECK_HD float tgamma(float x);
KCHECK_HD float trunc(float x);
KCHECK_HD float atan2(float x, float y);
KCHECK_HD float copysign(float x, float y);
KCHECK_HD float fdim(float x, float y);
KCHECK_HD float fmax(float x, float y);
KCHECK_HD float fmin(float x, float y);
KCHECK_HD float fmod(float x, float y);
KCHECK_HD float hypot(float x, float y);
KCHECK_HD float nextafter(float x, float y);
KCHECK_HD float pow(float x, float y);
KCHECK_HD float remainder(float x, float y);
KCHECK_HD float fma(float x, float y, float z);
KCHECK_HD float ldexp(float x, int exponent);
KCHECK_HD float scalbn(float x, int exponent);
KCHECK_HD long lrint(float x);
KCHECK_HD long lround(float x);
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
