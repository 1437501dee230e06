/* Templates, operators and lambdas. Each test compares what a kernel
 * writes with what the same code computes when it runs natively. */
#include "run.h"

#include "../cuda/load.h"

Suite *test_suite(void);

/* overloaded, as members and free; conversions */
START_TEST(operators) {
  EXPECT("struct V {\n"
         "  int x, y;\n"
         "  __device__ V operator+(const V &o) const { return {x + o.x, y + o.y}; }\n"
         "  __device__ V &operator+=(int k) {\n"
         "    x += k; y += k; return *this;\n"
         "  }\n"
         "  __device__ int operator[](int i) const { return i ? y : x; }\n"
         "  __device__ V &operator++() {\n"
         "    ++x; return *this;\n"
         "  }\n"
         "  __device__ V operator++(int) {\n"
         "    V old = *this; ++x; return old;\n"
         "  }\n"
         "  __device__ explicit operator bool() const { return x != 0; }\n"
         "  __device__ operator int() const { return x * 100 + y; }\n"
         "  __device__ int operator()(int a, int b = 5) const { return a * x + b; }\n"
         "};\n"
         "__device__ V operator*(V a, int k) {\n"
         "  a.x *= k; a.y *= k; return a;\n"
         "}\n"
         "__device__ bool operator==(const V &a, const V &b) {\n"
         "  return a.x == b.x && a.y == b.y;\n"
         "}\n",
         "V a{1, 2}, b{n, 4}; V c = a + b; out[0] = c.x; out[1] = c[1]; (c += 3) += 4;\n"
         "out[2] = c; out[3] = (a * 3).y; out[4] = a == V{1, 2}; out[5] = (++a).x;\n"
         "V o = a++; out[6] = o.x; out[7] = a.x;\n"
         "if (a) out[8] = 1;\n"
         "out[9] = a(4); out[10] = a(4, 1); int z = b; out[11] = z; a = b; a.x++;\n"
         "out[12] = a.x - b.x;\n",
         3, 4, 6, 1113, 6, 1, 2, 2, 3, 1, 17, 13, 304, 1);
}
END_TEST

/* instantiated bodies; values, types, packs */
START_TEST(templates) {
  EXPECT("template <int N, class T> struct Buf {\n"
         "  T v[N]; static constexpr int size = N * 2;\n"
         "  __device__ T sum() const {\n"
         "    T t = 0;\n"
         "    for (int i = 0; i < N; i++) t += v[i];\n"
         "    return t;\n"
         "  }\n"
         "  template <int K> __device__ T at() const { return v[K % N]; }\n"
         "};\n"
         "template <class... A> __device__ int total(A... a) { return (0 + ... + a); }\n"
         "template <int I> __device__ constexpr int fact() {\n"
         "  if constexpr (I <= 1)\n"
         "    return 1;\n"
         "  else\n"
         "    return I * fact<I - 1>();\n"
         "}\n"
         "template <class F> __device__ int apply(F f, int x) { return f(x) + f(x + 1); }\n"
         "template <class T> __device__ T biggest(T a, T b) { return a < b ? b : a; }\n"
         "template <bool B> __device__ int branch() {\n"
         "  if constexpr (B) return 1;\n"
         "  return 2;\n"
         "}\n",
         "Buf<3, int> b = {1, 2, n}; out[0] = b.sum(); out[1] = b.size; out[2] = b.at<5>();\n"
         "out[3] = total(1, n, 3L); out[4] = fact<5>();\n"
         "out[5] = apply([=](int x) { return x * n; }, 2); out[6] = biggest(n, 2);\n"
         "out[7] = branch<true>() * 10 + branch<false>(); Buf<2, short> s = {{-1, -2}};\n"
         "out[8] = s.sum(); out[9] = (int)sizeof(s);\n",
         3, 6, 6, 3, 7, 120, 15, 3, 12, -3, 4);
}
END_TEST

/* partial ones, recursion over packs, member templates */
START_TEST(template_specialisations) {
  EXPECT("template <class T> struct Tr { static constexpr int v = 1; };\n"
         "template <class T> struct Tr<T *> { static constexpr int v = 10 + Tr<T>::v; };\n"
         "template <> struct Tr<char> { static constexpr int v = 5; };\n"
         "template <int... I> struct Seq {\n"
         "  template <class F> __device__ static void each(F f) { (f(I), ...); }\n"
         "};\n"
         "template <class T, class... R> __device__ int weigh(int k, T t, R... r) {\n"
         "  if constexpr (sizeof...(R) == 0)\n"
         "    return t * k;\n"
         "  else\n"
         "    return t * k + weigh(k + 1, r...);\n"
         "}\n"
         "template <int N> struct Int {\n"
         "  static constexpr int value = N;\n"
         "  __device__ constexpr operator int() const { return N; }\n"
         "};\n"
         "template <int A, int B> __device__ constexpr auto operator+(Int<A>, Int<B>) {\n"
         "  return Int<A + B>{};\n"
         "}\n"
         "template <class T, int N> struct Arr {\n"
         "  T v[N];\n"
         "  __device__ T &operator[](int i) { return v[i]; }\n"
         "  __device__ constexpr int size() const { return N; }\n"
         "};\n"
         "template <template <class, int> class C, int N>\n"
         "__device__ int fill(C<int, N> &c, int x) {\n"
         "  for (int i = 0; i < c.size(); i++) c[i] = x + i;\n"
         "  return c[N - 1];\n"
         "}\n",
         "out[0] = Tr<char **>::v; int t = 0;\n"
         "Seq<1, 2, 3>::each([&](int i) { t = t * 10 + i; }); out[1] = t;\n"
         "out[2] = weigh(1, n, 2, (short)3); auto s = Int<3>{} + Int<4>{}; out[3] = s;\n"
         "out[4] = s.value; Arr<int, 5> a; out[5] = fill(a, n); out[6] = a[1];\n"
         "Arr<Arr<int, 2>, 3> m; m[1][1] = 8; out[7] = m[n - 2][1];\n"
         "constexpr int c = Int<2>{} + Int<1>{}; int z[c] = {1, 2, 3}; out[8] = z[c - 1];\n",
         3, 25, 123, 16, 7, 7, 7, 4, 8, 3);
}
END_TEST

/* static dispatch through a base, virtual calls on known types */
START_TEST(crtp_and_virtual) {
  EXPECT("template <class D> struct Base {\n"
         "  int v = 2;\n"
         "  __device__ int run(int x) { return static_cast<D *>(this)->step(x) + v; }\n"
         "};\n"
         "struct Der : Base<Der> {\n"
         "  int w = 5;\n"
         "  __device__ int step(int x) {\n"
         "    v++; return x * w;\n"
         "  }\n"
         "};\n"
         "struct I {\n"
         "  __device__ virtual int f(int x) { return x; }\n"
         "  int base = 1;\n"
         "};\n"
         "struct J : I {\n"
         "  int own = 7;\n"
         "  __device__ int g(int x) { return I::f(x) + own + base; }\n"
         "};\n",
         "Der d; out[0] = d.run(n); out[1] = d.v; J j; out[2] = j.g(n); out[3] = j.own;\n"
         "j.base = 4; out[4] = j.g(0);\n",
         3, 18, 3, 11, 7, 11);
}
END_TEST

/* captures by reference see changes, copies do not */
START_TEST(lambdas) {
  EXPECT("template <class F> __device__ void each(int k, F &&f) {\n"
         "  for (int i = 0; i < k; i++) f(i);\n"
         "}\n"
         "template <class F> struct Hold {\n"
         "  F f;\n"
         "  __device__ int go(int x) { return f(x); }\n"
         "};\n"
         "__device__ auto adder(int k) {\n"
         "  return [k](int x) { return x + k; };\n"
         "}\n",
         "int t = 0, m = n;\n"
         "auto by_ref = [&](int x) {\n"
         "  t += x; return t;\n"
         "}; out[0] = by_ref(2); out[1] = t; auto by_copy = [=] { return m * 2; }; m = 100;\n"
         "out[2] = by_copy(); auto count = [i = 5]() mutable { return i++; };\n"
         "out[3] = count(); out[4] = count(); each(4, [&](auto i) { t += i; }); out[5] = t;\n"
         "auto a3 = adder(3), a5 = adder(5); out[6] = a3(1); out[7] = a5(1);\n"
         "Hold<decltype(by_ref)> h{by_ref}; out[8] = h.go(7);\n"
         "auto nested = [&](int x) {\n"
         "  auto inner = [&](int y) { return x + y + m; }; return inner(1) + inner(2);\n"
         "}; out[9] = nested(n);\n"
         "auto mixed = [&, m](int x) {\n"
         "  t = x; return m + x;\n"
         "}; m = 0; out[10] = mixed(4); out[11] = t; auto copy = by_ref; out[12] = copy(1);\n",
         3, 2, 2, 6, 5, 6, 8, 4, 6, 15, 209, 104, 4, 5);
}
END_TEST

/* members through a captured this */
START_TEST(lambda_this) {
  EXPECT("struct C {\n"
         "  int v = 5;\n"
         "  __device__ int f(int k) {\n"
         "    auto g = [this, k](int x) {\n"
         "      v += x; return v * k;\n"
         "    }; g(1); return g(2);\n"
         "  }\n"
         "};\n",
         "C c; out[0] = c.f(n); out[1] = c.v;\n", 3, 24, 8);
}
END_TEST

/* lambdas that copy records, arrays and other lambdas */
START_TEST(captured_structs) {
  EXPECT("struct St {\n"
         "  int a[3]; int k;\n"
         "};\n"
         "template <class F, class G> __device__ auto compose(F f, G g) {\n"
         "  return [=](int x) { return f(g(x)); };\n"
         "}\n"
         "template <class F> __device__ int thrice(const F &f) {\n"
         "  int t = 0;\n"
         "  for (int i = 0; i < 3; i++) t += f(i);\n"
         "  return t;\n"
         "}\n",
         "St s{{1, 2, 3}, n}; auto f = [s](int i) { return s.a[i] * s.k; }; s.k = 100;\n"
         "s.a[1] = 50; out[0] = f(1); out[1] = thrice(f);\n"
         "auto g = [&s](int i) -> int & { return s.a[i]; }; g(2) = 7; out[2] = s.a[2];\n"
         "auto h = compose([](int x) { return x + 1; }, [n](int x) { return x * n; });\n"
         "out[3] = h(4); int arr[2] = {5, 6};\n"
         "auto k = [arr, &arr2 = arr](int i) { return arr[i] * 100 + arr2[i]; };\n"
         "arr[1] = 9; out[4] = k(1);\n"
         "auto rec = [](auto self, int x) -> int {\n"
         "  return x <= 1 ? 1 : x * self(self, x - 1);\n"
         "}; out[5] = rec(rec, 3);\n"
         "const auto pick = [&](bool b) -> auto & { return b ? s.k : s.a[0]; };\n"
         "pick(false) = 12; out[6] = s.a[0];\n"
         "out[7] = thrice([&, m = n * 2](int i) { return i * m + s.a[0]; });\n",
         3, 6, 18, 7, 13, 609, 6, 12, 54);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/generic");
  TCase *tests = tcase_create("generic");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, operators);
  tcase_add_test(tests, templates);
  tcase_add_test(tests, template_specialisations);
  tcase_add_test(tests, crtp_and_virtual);
  tcase_add_test(tests, lambdas);
  tcase_add_test(tests, lambda_this);
  tcase_add_test(tests, captured_structs);
  suite_add_tcase(suite, tests);
  return suite;
}
