/* Numbers: conversions, arithmetic, operators, bytes of a word. Each test compares what a kernel
 * writes with what the same code computes when it runs natively. */
#include "run.h"

#include "../cuda/load.h"

Suite *test_suite(void);

/* conversions extend by the source, truncate to the target */
START_TEST(integers_of_all_widths) {
  EXPECT("",
         "signed char c = (signed char)(n * 100);\n"
         "unsigned char u = (unsigned char)(n * 100); short s = (short)(n * 30000);\n"
         "unsigned short us = (unsigned short)(n * 30000); long long w = c;\n"
         "unsigned long long x = u; out[0] = c; out[1] = u; out[2] = s; out[3] = us;\n"
         "out[4] = (int)w; out[5] = (int)x; out[6] = (int)((long long)(unsigned)-n >> 4);\n"
         "out[7] = (-n) >> 1; out[8] = (int)((unsigned)-n >> 28); out[9] = c + u;\n"
         "out[10] = (unsigned char)(u + 200); out[11] = (bool)(n * 4) + (bool)0;\n",
         3, 44, 44, 24464, 24464, 44, 44, 268435455, -2, 15, 88, 244, 1);
}
END_TEST

/* signed division truncates */
START_TEST(division_and_remainder) {
  EXPECT("",
         "int m = -7 * n; unsigned q = 0u - 7u * (unsigned)n; out[0] = m / 4;\n"
         "out[1] = m % 4; out[2] = (int)(q / 4); out[3] = (int)(q % 5); out[4] = m / -5;\n"
         "out[5] = (int)((long long)m * 1000000000LL / 7);\n",
         3, -5, -1, 1073741818, 0, 4, 1294967296);
}
END_TEST

/* narrow types compute in int */
START_TEST(compound_assignment) {
  EXPECT("",
         "unsigned char u = 250; u += n * 3; out[0] = u; short h = 100; h *= 1000;\n"
         "out[1] = h; int a = 5; a <<= n; out[2] = a; a -= 1; a ^= 3; a |= 64; a &= 0x5f;\n"
         "out[3] = a; a %= 7; out[4] = a; a /= 2; out[5] = a; a >>= 1; out[6] = a;\n"
         "unsigned long long w = 1; w <<= 40; w += n; out[7] = (int)(w >> 38);\n"
         "out[8] = (int)w; int i = 5; unsigned b = 3; i -= b; out[9] = i; char c = 7;\n"
         "c = c++ + ++c; out[10] = (out[10] = 4) + (a += 2);\n",
         3, 3, -31072, 40, 68, 5, 2, 1, 4, 3, 2, 7);
}
END_TEST

/* postfix gives the old value */
START_TEST(increments) {
  EXPECT("",
         "int i = n, j; j = i++; out[0] = i; out[1] = j; j = --i; out[2] = i; out[3] = j;\n"
         "int a[4] = {1, 2, 3, 4}; int *p = a; out[4] = *p++; out[5] = *p; out[6] = *++p;\n"
         "out[7] = (*p)--; out[8] = a[2]; out[9] = (int)(p - a); p += 1; out[10] = *p;\n"
         "p -= 2; out[11] = p[1]; out[12] = 1 [p];\n",
         3, 4, 3, 3, 3, 1, 2, 3, 3, 2, 2, 4, 2, 2);
}
END_TEST

/* wraps, compares and shifts as unsigned */
START_TEST(unsigned_arithmetic) {
  EXPECT("",
         "unsigned a = 2, b = 5; out[0] = (a - b) > 100u; out[1] = (int)a - (int)b < 0;\n"
         "out[2] = (int)((a - b) / 2); unsigned long long w = a - b;\n"
         "out[3] = (int)(w >> 32); w = (unsigned long long)a - b; out[4] = (int)(w >> 60);\n"
         "unsigned char c = 255; c++; out[5] = c; out[6] = (unsigned char)~c; short s = -1;\n"
         "out[7] = (unsigned short)s >> 4; out[8] = s >> 4; out[9] = -1 < (int)a;\n"
         "out[10] = (unsigned)-1 < a; int m = -17; out[11] = m % 5; out[12] = m / 5;\n"
         "out[13] = (int)((unsigned)m % 5u); bool f = a & 2; out[14] = f + f;\n"
         "out[15] = (char)200; long long q = 1LL << 40;\n"
         "out[16] = (int)(q >> 38) + (int)(q != 0); unsigned sh = 33;\n"
         "out[17] = (int)((q >> sh)); out[18] = 'a' + true;\n",
         3, 1, 1, 2147483646, 0, 15, 0, 255, 4095, -1, 1, 0, -2, -3, 4, 2, -56, 5, 128, 98);
}
END_TEST

/* shifts, masks, descriptors */
START_TEST(bit_tricks) {
  EXPECT("",
         "unsigned addr = 0x12340u + (unsigned)n * 16; unsigned long long d = 0;\n"
         "d |= (unsigned long long)((addr & 0x3FFFF) >> 4);\n"
         "d |= (unsigned long long)(1024 >> 4) << 32; d |= 1ull << 62; out[0] = (int)d;\n"
         "out[1] = (int)(d >> 32); unsigned x = 0xF0F0u; out[2] = (int)(x & -x);\n"
         "out[3] = (int)(~x >> 16); out[4] = (int)(((x >> 4) ^ (x << 3)) & 0xff);\n"
         "out[5] = (int)((x & 0xff00) ? 1 : 2); long long m = -1;\n"
         "out[6] = (int)(m << 20 >> 40); out[7] = (1 << n) - 1;\n"
         "out[8] = (int)((addr + 1023) & ~1023u);\n",
         3, 4663, 1073741888, 16, 65535, 143, 1, -1, 7, 74752);
}
END_TEST

/* a local read at another width */
START_TEST(bytes_of_a_word) {
  EXPECT("",
         "unsigned w = 0x01020304u + (unsigned)n; unsigned char *p = (unsigned char *)&w;\n"
         "out[0] = p[0]; out[1] = p[3]; p[1] = 0xff; out[2] = (int)w;\n"
         "unsigned char raw[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
         "out[3] = (int)*(unsigned *)(raw + 4); *(unsigned short *)&raw[2] = 0x1122;\n"
         "out[4] = raw[2]; out[5] = raw[3]; unsigned long long q; ((unsigned *)&q)[0] = 7;\n"
         "((unsigned *)&q)[1] = 1; out[6] = (int)(q >> 31);\n"
         "unsigned &lo = reinterpret_cast<unsigned &>(q); lo = 9; out[7] = (int)q;\n",
         3, 7, 1, 16973575, 134678021, 34, 17, 2, 9);
}
END_TEST

/* packed, signed ones extend */
START_TEST(bit_fields) {
  EXPECT("struct D {\n"
         "  unsigned a : 5; unsigned b : 7; int c : 4; unsigned long long d : 20;\n"
         "  unsigned e : 1;\n"
         "};\n",
         "D d = {}; d.a = 33 + n; d.b = 100; d.c = -3; d.d = 0xfffff; d.e = 1;\n"
         "out[0] = (int)d.a; out[1] = (int)d.b; out[2] = d.c; out[3] = (int)d.d; d.b++;\n"
         "out[4] = (int)d.b; d.a += 30; out[5] = (int)d.a; D e = d; e.c = 7; out[6] = e.c;\n"
         "out[7] = d.c; out[8] = (int)(e.e + d.e); D f = {1, 2, 3, 4, 0};\n"
         "out[9] = (int)(f.a + f.b + f.c + f.d + f.e);\n",
         3, 4, 100, -3, 1048575, 101, 2, 7, -3, 2, 10);
}
END_TEST

/* members share their bytes */
START_TEST(unions) {
  EXPECT("union U {\n"
         "  unsigned w; unsigned char b[4];\n"
         "  struct {\n"
         "    unsigned short lo, hi;\n"
         "  } h;\n"
         "};\n"
         "struct T {\n"
         "  int k;\n"
         "  union {\n"
         "    int i; unsigned u;\n"
         "  };\n"
         "};\n",
         "U u; u.w = 0x11223344u; out[0] = u.b[1]; u.h.hi = 0xaabb;\n"
         "out[1] = (int)(u.w >> 24); U v = u; v.b[0] = 0; out[2] = (int)(v.w & 0xffff);\n"
         "out[3] = u.b[0]; T t; t.k = n; t.i = -1; out[4] = (int)(t.u >> 28); T t2{4, {5}};\n"
         "out[5] = t2.i + t2.k;\n",
         3, 51, 170, 13056, 68, 15, 9);
}
END_TEST

/* and comma, sizeof, casts between pointers */
START_TEST(statement_expressions) {
  EXPECT("",
         "int v = ({\n"
         "  int t = n * 2; t + 1;\n"
         "}); out[0] = v; out[1] = (v++, v * 2); long long big = 0x123456789LL * n;\n"
         "out[2] = (int)(big >> 32); out[3] = (int)(unsigned char)big; char c = 'z';\n"
         "out[4] = c - 'a'; out[5] = (int)sizeof(v + big); void *p = &v;\n"
         "out[6] = *static_cast<int *>(p); const int *cp = &v; *const_cast<int *>(cp) = 5;\n"
         "out[7] = v; out[8] = (p == &v) + (p != nullptr); double d = 2.5;\n"
         "out[9] = (int)sizeof(d);\n",
         3, 7, 16, 3, 155, 25, 8, 8, 5, 2, 8);
}
END_TEST

/* memcpy, memset, std::move and forward */
START_TEST(memory_functions) {
  EXPECT("#include <string.h>\n"
         "#include <utility>\n"
         "struct P {\n"
         "  int a, b[3];\n"
         "};\n"
         "template <class T> __device__ int pass(T &&x) { return std::forward<T>(x) + 1; }\n",
         "P p{1, {2, 3, n}}, q; memcpy(&q, &p, sizeof p); out[0] = q.b[2];\n"
         "memset(&p, 0, sizeof p); out[1] = p.a + p.b[1]; unsigned bits; float f = 1.0f;\n"
         "int i = 7; memcpy(&bits, &i, 4); out[2] = (int)bits; P r = std::move(q);\n"
         "out[3] = r.b[0]; out[4] = pass(n) + pass(4); int a[4] = {1, 2, 3, 4}, b[4];\n"
         "memcpy(b, a, 8); memcpy(b + 2, a, 8); out[5] = b[2]; out[6] = b[1];\n"
         "memset(b, 0xff, 4); out[7] = b[0]; (void)f;\n",
         3, 3, 0, 7, 2, 9, 1, 2, -1);
}
END_TEST

/* builtins on numbers */
START_TEST(assert_and_min) {
  EXPECT("#include <stdint.h>\n"
         "#ifndef __CUDACC__\n"
         "#include <algorithm>\n"
         "#include <stdlib.h>\n"
         "using std::max; using std::min;\n"
         "static int __popc(unsigned x) { return __builtin_popcount(x); }\n"
         "static int __ffs(int x) { return __builtin_ffs(x); }\n"
         "static int __clz(int x) { return __builtin_clz(x); }\n"
         "#endif\n",
         "out[0] = min(n, 2) + max(n, 10); out[1] = __popc(0xff0fu); out[2] = __ffs(n * 4);\n"
         "out[3] = __clz(n); out[4] = abs(-n); uint64_t a = 5, b = 7;\n"
         "out[5] = (int)max(a, b); int8_t s = -3; out[6] = s * 2; out[7] = (int)(uint8_t)s;\n"
         "uint16_t h = (uint16_t)(n * 40000); out[8] = h; out[9] = (int)UINT32_MAX;\n",
         3, 12, 12, 3, 30, 3, 7, -6, 253, 54464, -1);
}
END_TEST

/* references and records chosen by a condition */
START_TEST(conditional_objects) {
  EXPECT("struct P {\n"
         "  int x, y;\n"
         "};\n",
         "int a = 1, b = 2; (n > 2 ? a : b) = 50; out[0] = a; out[1] = b;\n"
         "P p{1, 2}, q{3, 4}; P r = n > 5 ? p : q; out[2] = r.x; (n > 5 ? p : q).y = 9;\n"
         "out[3] = q.y; out[4] = (n & 1 ? p : q).x; unsigned u = n > 2 ? 3u : 4u;\n"
         "out[5] = (int)u; out[6] = n ?: 8; int z = 0; out[7] = z ?: 8;\n"
         "bool f = n > 1 ? n > 2 : n < 0; out[8] = f;\n",
         3, 50, 2, 3, 9, 1, 3, 3, 8, 1);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/numbers");
  TCase *tests = tcase_create("numbers");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, integers_of_all_widths);
  tcase_add_test(tests, division_and_remainder);
  tcase_add_test(tests, compound_assignment);
  tcase_add_test(tests, increments);
  tcase_add_test(tests, unsigned_arithmetic);
  tcase_add_test(tests, bit_tricks);
  tcase_add_test(tests, bytes_of_a_word);
  tcase_add_test(tests, bit_fields);
  tcase_add_test(tests, unions);
  tcase_add_test(tests, statement_expressions);
  tcase_add_test(tests, memory_functions);
  tcase_add_test(tests, assert_and_min);
  tcase_add_test(tests, conditional_objects);
  suite_add_tcase(suite, tests);
  return suite;
}
