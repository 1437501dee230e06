/* Control flow, and code that is inlined. Each test compares what a kernel
 * writes with what the same code computes when it runs natively. */
#include "run.h"

#include "../cuda/load.h"

Suite *test_suite(void);

/* the right side runs only when it decides */
START_TEST(short_circuit) {
  EXPECT("__device__ int calls;\n"
         "__device__ bool hit(int &c, bool r) {\n"
         "  c++; return r;\n"
         "}\n",
         "int c = 0; bool a = n > 5 && hit(c, true); out[0] = a; out[1] = c;\n"
         "a = n > 1 && hit(c, false); out[2] = a; out[3] = c; a = n > 1 || hit(c, true);\n"
         "out[4] = a; out[5] = c;\n"
         "if (n > 9 || (hit(c, true) && !hit(c, false)))\n"
         "  out[6] = c;\n"
         "else\n"
         "  out[6] = -c;\n"
         "out[7] = (n == 3 ? hit(c, true), c : -1); out[8] = !n; out[9] = !!n;\n",
         3, 0, 0, 0, 1, 1, 1, 3, 4, 0, 1);
}
END_TEST

/* for, while, do; break and continue reach the right place */
START_TEST(loops) {
  EXPECT("",
         "int t = 0;\n"
         "for (int i = 0; i < 10; i++) {\n"
         "  if (i == 2) continue;\n"
         "  if (i == 7) break;\n"
         "  t += i;\n"
         "}\n"
         "out[0] = t; int i = 0;\n"
         "while (i < 10) {\n"
         "  i++;\n"
         "  if (i & 1) continue;\n"
         "  t += i;\n"
         "}\n"
         "out[1] = t;\n"
         "do {\n"
         "  t--;\n"
         "  if (t < 40) break;\n"
         "} while (t > 0); out[2] = t;\n"
         "for (;;) {\n"
         "  if (++i > 20) break;\n"
         "}\n"
         "out[3] = i;\n"
         "for (int j = 0, k = 10; j < k; j++, k--) t += j * k;\n"
         "out[4] = t;\n"
         "for (; i > 15;) i -= 2;\n"
         "out[5] = i; int z = 0;\n"
         "for (int j = 0; j < 0; j++) z = 1;\n"
         "out[6] = z;\n"
         "while (int y = i - 12) {\n"
         "  z += y; i--;\n"
         "}\n"
         "out[7] = z;\n",
         3, 19, 49, 39, 21, 109, 15, 0, 6);
}
END_TEST

/* fall through, default in the middle, nested case */
START_TEST(switch_statement) {
  EXPECT("",
         "for (int i = 0; i < 8; i++) {\n"
         "  int t = 0;\n"
         "  switch (i) {\n"
         "  case 0: t = 1; break;\n"
         "  case 1:\n"
         "  case 2: t += 10;\n"
         "  default: t += 100; break;\n"
         "  case 3: t = 7;\n"
         "  case 4: {\n"
         "    t++;\n"
         "  case 5: t += 2;\n"
         "  } break;\n"
         "  case 6 ... 7: t = -i;\n"
         "  }\n"
         "  out[i] = t;\n"
         "}\n"
         "switch (n) {\n"
         "case 1: out[8] = 1;\n"
         "}\n"
         "switch (int q = n * 2; q) {\n"
         "case 6: out[9] = q; break;\n"
         "default: out[9] = -1;\n"
         "}\n",
         3, 1, 110, 110, 10, 3, 2, -6, -7, 0, 6);
}
END_TEST

/* jumps forward and back */
START_TEST(goto_and_labels) {
  EXPECT("",
         "int i = 0;\n"
         "again:\n"
         "i++;\n"
         "if (i < n) goto again;\n"
         "out[0] = i;\n"
         "if (n > 100) goto skip;\n"
         "out[1] = 5;\n"
         "skip:\n"
         "out[2] = 6; goto end; out[3] = 1;\n"
         "end:\n"
         "out[4] = 8;\n",
         3, 3, 5, 6, 0, 8);
}
END_TEST

/* over arrays, by value and reference, over a wrapped array */
START_TEST(range_for) {
  EXPECT("struct Arr {\n"
         "  int v[3];\n"
         "  __device__ int *begin() { return v; }\n"
         "  __device__ int *end() { return v + 3; }\n"
         "};\n",
         "int a[4] = {1, 2, 3, n}; int t = 0;\n"
         "for (int x : a) t += x;\n"
         "out[0] = t;\n"
         "for (auto &x : a) x *= 2;\n"
         "out[1] = a[3];\n"
         "for (const auto &x : a) {\n"
         "  if (x == 4) continue;\n"
         "  if (x == 6) break;\n"
         "  t += x;\n"
         "}\n"
         "out[2] = t; Arr w{{4, 5, 6}};\n"
         "for (int x : w.v) t += x;\n"
         "out[3] = t;\n"
         "for (int &x : w) x++;\n"
         "out[4] = w.v[2];\n",
         3, 9, 6, 11, 26, 7);
}
END_TEST

/* returns in nested loops and switches, early exits */
START_TEST(control_in_inlined_code) {
  EXPECT("__device__ int scan(const int *a, int n) {\n"
         "  int t = 0;\n"
         "  for (int i = 0; i < n; i++) {\n"
         "    switch (a[i]) {\n"
         "    case 0: continue;\n"
         "    case 9: return t;\n"
         "    case 5:\n"
         "      for (int j = 0; j < 3; j++) {\n"
         "        if (j == 2) break;\n"
         "        t += j;\n"
         "      }\n"
         "      break;\n"
         "    default:\n"
         "      if (a[i] > 20) return -t;\n"
         "      t += a[i];\n"
         "    }\n"
         "    t++;\n"
         "  }\n"
         "  return t * 100;\n"
         "}\n"
         "__device__ void none(int *p, int k) {\n"
         "  if (k < 0) return;\n"
         "  while (true) {\n"
         "    if (k-- == 0) return;\n"
         "    do {\n"
         "      if (k & 1) break;\n"
         "      (*p)++;\n"
         "    } while (false);\n"
         "  }\n"
         "}\n"
         "#define TWICE(x)                                                                   \\\n"
         "  do {                                                                             \\\n"
         "    (x) *= 2;                                                                      \\\n"
         "    if ((x) > 100) break;                                                          \\\n"
         "    (x)++;                                                                         \\\n"
         "  } while (0)\n",
         "int a[6] = {1, 0, 5, 3, 9, 4}; out[0] = scan(a, 4); out[1] = scan(a, 6);\n"
         "a[4] = 25; out[2] = scan(a, 6); int c = 0; none(&c, 5); out[3] = c; none(&c, -1);\n"
         "out[4] = c; int x = n; TWICE(x); TWICE(x); out[5] = x;\n"
         "for (int i = 0, j = 10;; ++i, --j)\n"
         "  if (i >= j) {\n"
         "    out[6] = i; break;\n"
         "  }\n"
         "int k = 0;\n"
         "outer:\n"
         "for (int i = 0; i < 3; i++)\n"
         "  for (int j = 0; j < 3; j++) {\n"
         "    k++;\n"
         "    if (i == 1 && j == 1 && k < 12) goto outer;\n"
         "  }\n"
         "out[7] = k;\n",
         3, 800, 8, -8, 3, 3, 15, 5, 19);
}
END_TEST

/* calls nest, returns come from the middle */
START_TEST(recursion_in_templates) {
  EXPECT("__device__ int find(const int *a, int n, int v) {\n"
         "  for (int i = 0; i < n; i++)\n"
         "    if (a[i] == v) return i;\n"
         "  return -1;\n"
         "}\n"
         "__device__ int sign(int x) {\n"
         "  if (x < 0)\n"
         "    return -1;\n"
         "  else if (x > 0)\n"
         "    return 1;\n"
         "  return 0;\n"
         "}\n"
         "__device__ int clamp(int x, int lo, int hi) {\n"
         "  return x < lo ? lo : x > hi ? hi : x;\n"
         "}\n",
         "int a[5] = {4, 8, 15, 16, 23}; out[0] = find(a, 5, 15); out[1] = find(a, 5, 1);\n"
         "out[2] = sign(-n) * 10 + sign(n) + sign(0); out[3] = clamp(n, 5, 9);\n"
         "out[4] = clamp(100, sign(1), find(a, 5, 23));\n"
         "out[5] = find(a, find(a, 5, 15), 8);\n",
         3, 2, -1, -9, 5, 4, 1);
}
END_TEST

/* consumer and producer indices wrap together */
START_TEST(loops_with_state) {
  EXPECT("struct Ring {\n"
         "  int stage = 0; unsigned phase = 0;\n"
         "  __device__ void next(int n) {\n"
         "    if (++stage == n) {\n"
         "      stage = 0; phase ^= 1u;\n"
         "    }\n"
         "  }\n"
         "};\n",
         "Ring c, p; p.phase = 1; int log = 0;\n"
         "for (int k = 0; k < 7; k++) {\n"
         "  c.next(n);\n"
         "  if (k % 2 == 0) p.next(n);\n"
         "  log = log * 3 + c.stage;\n"
         "}\n"
         "out[0] = c.stage; out[1] = (int)c.phase; out[2] = p.stage; out[3] = (int)p.phase;\n"
         "out[4] = log; int it = 0;\n"
         "for (int tile = n; tile < 40; tile += 7, ++it) {\n"
         "  int s = it % 4; unsigned ph = (it / 4) & 1; out[5] = s; out[6] = (int)ph;\n"
         "}\n"
         "out[7] = it; unsigned bits = 0;\n"
         "for (int i = 0; i < 5; i++) bits ^= 1u << (i % 3);\n"
         "out[8] = (int)bits; int acc[2][2] = {};\n"
         "for (int i = 0; i < 8; i++) acc[i & 1][i >> 2] += i;\n"
         "out[9] = acc[1][0] * 100 + acc[0][1];\n",
         3, 1, 0, 1, 0, 1261, 1, 1, 6, 4, 410);
}
END_TEST

/* the ring of a TMA pipeline */
START_TEST(pipeline_state) {
  EXPECT("template <int STAGES> struct PipelineState {\n"
         "  int index_ = 0; unsigned phase_ = 0, count_ = 0;\n"
         "  __device__ int index() const { return index_; }\n"
         "  __device__ unsigned phase() const { return phase_; }\n"
         "  __device__ void operator++() {\n"
         "    if constexpr (STAGES > 0) {\n"
         "      ++index_; ++count_;\n"
         "      if (index_ == STAGES) {\n"
         "        index_ = 0; phase_ ^= 1;\n"
         "      }\n"
         "    }\n"
         "  }\n"
         "  __device__ PipelineState &advance(unsigned k) {\n"
         "    for (unsigned i = 0; i < k; i++) ++(*this);\n"
         "    return *this;\n"
         "  }\n"
         "};\n"
         "template <class P> __device__ P start() {\n"
         "  P p; p.phase_ = 1; return p;\n"
         "}\n",
         "PipelineState<3> st;\n"
         "for (int i = 0; i < n + 1; i++) ++st;\n"
         "out[0] = st.index(); out[1] = (int)st.phase();\n"
         "auto pr = start<PipelineState<3>>(); pr.advance(2); out[2] = pr.index();\n"
         "out[3] = (int)pr.phase(); PipelineState<3> copy = pr; ++copy;\n"
         "out[4] = copy.index() * 10 + pr.index(); out[5] = (int)(st.count_ + copy.count_);\n",
         3, 1, 1, 2, 1, 2, 7);
}
END_TEST

/* run at the end of the scope, on every way out */
START_TEST(destructors) {
  EXPECT("struct G {\n"
         "  int *p, v;\n"
         "  __device__ G(int *q, int x) : p(q), v(x) {}\n"
         "  __device__ ~G() { *p = *p * 10 + v; }\n"
         "};\n"
         "__device__ int early(int *p, int n) {\n"
         "  G a(p, 1);\n"
         "  if (n > 2) {\n"
         "    G b(p, 2); return *p;\n"
         "  }\n"
         "  G c(p, 3); return -1;\n"
         "}\n",
         "int t = 0;\n"
         "{\n"
         "  G a(&t, 1); G b(&t, 2); t = 5;\n"
         "}\n"
         "out[0] = t; t = 0; out[1] = early(&t, n); out[2] = t; t = 0;\n"
         "for (int i = 0; i < 4; i++) {\n"
         "  G g(&t, i);\n"
         "  if (i == 1) continue;\n"
         "  if (i == 2) break;\n"
         "}\n"
         "out[3] = t; t = 0; out[4] = early(&t, 0); out[5] = t;\n",
         3, 521, 0, 21, 12, -1, 31);
}
END_TEST

/* constant ones are followed */
START_TEST(function_pointers) {
  EXPECT("__device__ int add(int a, int b) { return a + b; }\n"
         "__device__ int mul(int a, int b) { return a * b; }\n"
         "__device__ int use(int (*f)(int, int), int x) { return f(x, 4); }\n"
         "template <int (*F)(int, int)> __device__ int fixed(int x) { return F(x, x); }\n",
         "out[0] = use(add, n); out[1] = use(&mul, n); out[2] = fixed<mul>(n);\n"
         "auto *p = add; out[3] = p(1, 2); int (&r)(int, int) = mul; out[4] = r(3, 4);\n",
         3, 7, 12, 9, 3, 12);
}
END_TEST

/* of functions, methods and templates */
START_TEST(default_arguments) {
  EXPECT("__device__ int f(int a, int b = 7, int c = 2) { return a + b * c; }\n"
         "struct M {\n"
         "  int k = 3;\n"
         "  __device__ int g(int x = 4) const { return x * k; }\n"
         "};\n"
         "template <class T> __device__ T h(T a, T b = T(9)) { return a - b; }\n",
         "out[0] = f(1); out[1] = f(1, 2); out[2] = f(1, 2, n); M m; out[3] = m.g();\n"
         "out[4] = m.g(n); out[5] = h(20); out[6] = h(20, 1);\n",
         3, 15, 5, 7, 12, 9, 11, 19);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/flow");
  TCase *tests = tcase_create("flow");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, short_circuit);
  tcase_add_test(tests, loops);
  tcase_add_test(tests, switch_statement);
  tcase_add_test(tests, goto_and_labels);
  tcase_add_test(tests, range_for);
  tcase_add_test(tests, control_in_inlined_code);
  tcase_add_test(tests, recursion_in_templates);
  tcase_add_test(tests, loops_with_state);
  tcase_add_test(tests, pipeline_state);
  tcase_add_test(tests, destructors);
  tcase_add_test(tests, function_pointers);
  tcase_add_test(tests, default_arguments);
  suite_add_tcase(suite, tests);
  return suite;
}
