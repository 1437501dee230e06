/* Objects: arrays, records, construction, references, shared memory. Each test compares what a
 * kernel writes with what the same code computes when it runs natively. */
#include "cuda/libclang.h"
#include "run.h"

#include "../cuda/load.h"

Suite *test_suite(void);

/* references follow their object, pointers to locals work */
START_TEST(references_and_pointers) {
  EXPECT("__device__ void set(int &r, int v) { r = v; }\n"
         "__device__ void swap2(int *a, int *b) {\n"
         "  int t = *a; *a = *b; *b = t;\n"
         "}\n"
         "__device__ int &pick(int *a, int i) { return a[i]; }\n",
         "int x = n, y = 2; int &r = x; r += 4; out[0] = x; set(r, 9); out[1] = x;\n"
         "swap2(&x, &y); out[2] = x; out[3] = y; int a[4] = {1, 2, 3, 4}; pick(a, 2) = 30;\n"
         "out[4] = a[2]; pick(a, n)++; out[5] = a[3]; const int &c = x + 1; x = 100;\n"
         "out[6] = c; int *p = &a[1]; int **pp = &p; **pp = 50; out[7] = a[1]; (*pp)++;\n"
         "out[8] = *p; int(&ra)[4] = a; ra[0] = 77; out[9] = a[0];\n"
         "for (int i = 0; i < 4; i++) {\n"
         "  int &e = a[i]; e += i;\n"
         "}\n"
         "out[10] = a[3];\n",
         3, 7, 9, 2, 9, 30, 5, 3, 50, 30, 77, 8);
}
END_TEST

/* more dimensions, partial initialisers, dynamic indices */
START_TEST(arrays) {
  EXPECT("",
         "int a[3][4] = {{1, 2}, {3, 4, 5}}; out[0] = a[0][1]; out[1] = a[1][2];\n"
         "out[2] = a[2][3]; a[n - 1][n] = 9; out[3] = a[2][3]; int s = 0;\n"
         "for (int i = 0; i < 3; i++)\n"
         "  for (int j = 0; j < 4; j++) s += a[i][j] * (i + 1);\n"
         "out[4] = s; int flat[4] = {n, n + 1, n + 2}; out[5] = flat[1] + flat[3];\n"
         "int big[100] = {}; big[n * 20] = 5; s = 0;\n"
         "for (int v : big) s += v;\n"
         "out[6] = s; int b[2][2] = {1, 2, 3, 4}; out[7] = b[1][0]; unsigned char bytes[8];\n"
         "for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(i * n);\n"
         "out[8] = bytes[7];\n"
         "out[9] = (int)sizeof(a) + (int)(sizeof(flat) / sizeof(flat[0]));\n",
         3, 2, 5, 0, 9, 54, 4, 5, 3, 21, 52);
}
END_TEST

/* copies are independent, members keep their offsets */
START_TEST(structs) {
  EXPECT("struct In {\n"
         "  char c; int x; short s;\n"
         "};\n"
         "struct Out {\n"
         "  In a, b[2]; long long q;\n"
         "};\n",
         "Out o = {{1, n, 2}, {{3, 4, 5}, {6, 7, 8}}, 9}; Out p = o; p.b[1].x = 70;\n"
         "p.a.c = 11; out[0] = o.b[1].x; out[1] = p.b[1].x; out[2] = o.a.c + p.a.c;\n"
         "In i = p.b[1]; out[3] = i.x + i.s; p.b[0] = i; out[4] = p.b[0].x; int k = n - 2;\n"
         "o.b[k] = p.a; out[5] = o.b[1].x; out[6] = o.b[1].c; In *q = &p.b[k]; q->s = 99;\n"
         "out[7] = p.b[1].s; Out z{}; out[8] = z.b[1].x + (int)z.q;\n"
         "In des = {.c = 5, .s = 6}; out[9] = des.c + des.x + des.s;\n"
         "out[10] = (int)sizeof(Out); out[11] = ((In){1, 2, 3}).x;\n",
         3, 7, 70, 12, 78, 70, 3, 11, 99, 0, 11, 48, 2);
}
END_TEST

/* member, default and base initialisers in order */
START_TEST(constructors) {
  EXPECT("struct B {\n"
         "  int v;\n"
         "  __device__ B(int x = 4) : v(x * 2) {}\n"
         "};\n"
         "struct M : B {\n"
         "  int a = 7; B b; int c;\n"
         "  __device__ M() : c(a + 1) {}\n"
         "  __device__ M(int x) : B(x), a(x), b(x + 1), c(v) {}\n"
         "  __device__ M(int x, int y) : M(x) { c += y; }\n"
         "};\n"
         "struct Agg {\n"
         "  int x = 3; int y; B b;\n"
         "};\n",
         "M m; out[0] = m.v; out[1] = m.a; out[2] = m.b.v; out[3] = m.c; M k(n);\n"
         "out[4] = k.v; out[5] = k.a; out[6] = k.b.v; out[7] = k.c; M d(n, 10);\n"
         "out[8] = d.c; M arr[2] = {M(1), M(2)}; out[9] = arr[1].b.v; Agg a{};\n"
         "out[10] = a.x + a.y + a.b.v; Agg b{1, 2}; out[11] = b.x + b.y + b.b.v;\n"
         "M copy = k; copy.a = 50; out[12] = k.a + copy.a; M *p = new (&m) M(5);\n"
         "out[13] = p->c + m.a; B three[3]; out[14] = three[2].v;\n"
         "out[15] = B(6).v + B{7}.v;\n",
         3, 8, 7, 8, 8, 6, 3, 8, 6, 16, 6, 11, 11, 53, 15, 8, 26);
}
END_TEST

/* members of later bases lie behind the first */
START_TEST(inheritance) {
  EXPECT("struct A {\n"
         "  int a = 1;\n"
         "  __device__ int get() { return a; }\n"
         "  __device__ void set(int x) { a = x; }\n"
         "};\n"
         "struct B {\n"
         "  int b = 2;\n"
         "  __device__ int twice() const { return 2 * b; }\n"
         "  __device__ B &self() { return *this; }\n"
         "};\n"
         "struct C : A, B {\n"
         "  int c = 3;\n"
         "  __device__ int sum() { return a + b + c; }\n"
         "  __device__ void bump() {\n"
         "    b++; set(get() + 10);\n"
         "  }\n"
         "};\n"
         "__device__ int from_base(const B &x) { return x.b; }\n"
         "__device__ int from_ptr(B *x) { return x->twice(); }\n",
         "C c; out[0] = c.sum(); c.bump(); out[1] = c.sum(); out[2] = from_base(c);\n"
         "out[3] = from_ptr(&c); c.self().b = 20; out[4] = c.b; B *p = &c; p->b = 30;\n"
         "out[5] = static_cast<C *>(p)->c + c.b; C &r = static_cast<C &>(*p); r.c = n;\n"
         "out[6] = c.c; B copy = c; out[7] = copy.b; out[8] = c.twice();\n",
         3, 6, 17, 3, 6, 20, 33, 3, 30, 60);
}
END_TEST

/* records that hold references and pointers */
START_TEST(reference_members) {
  EXPECT("struct View {\n"
         "  int &r; int *p; const int n;\n"
         "  __device__ View(int &x, int *q, int m) : r(x), p(q), n(m) {}\n"
         "  __device__ void bump() {\n"
         "    r += n; p[n]++;\n"
         "  }\n"
         "};\n"
         "struct Wrap {\n"
         "  View v;\n"
         "  __device__ Wrap(int &x, int *q) : v(x, q, 2) {}\n"
         "  __device__ int &get() { return v.r; }\n"
         "};\n"
         "template <class T> struct Ptr {\n"
         "  T *p;\n"
         "  __device__ T &operator*() const { return *p; }\n"
         "  __device__ T *operator->() const { return p; }\n"
         "  __device__ explicit operator bool() const { return p; }\n"
         "};\n"
         "struct Pt {\n"
         "  int x, y;\n"
         "  __device__ int sum() const { return x + y; }\n"
         "};\n",
         "int x = n, a[4] = {0, 1, 2, 3}; View v(x, a, 1); v.bump(); out[0] = x;\n"
         "out[1] = a[1]; Wrap w(x, a); w.v.bump(); out[2] = x; w.get() = 50; out[3] = x;\n"
         "out[4] = a[2]; View c = v; c.r = 9; out[5] = x; Pt pt{3, 4}; Ptr<Pt> p{&pt};\n"
         "p->x = 10; (*p).y++; out[6] = p->sum(); out[7] = p ? 1 : 0; Ptr<const Pt> q{&pt};\n"
         "out[8] = q->x;\n",
         3, 4, 2, 6, 50, 3, 9, 15, 1, 10);
}
END_TEST

/* records by value, returned from the middle, chained */
START_TEST(values_in_and_out) {
  EXPECT("struct R {\n"
         "  int a, b;\n"
         "  __device__ R &add(int k) {\n"
         "    a += k; return *this;\n"
         "  }\n"
         "  __device__ R plus(int k) const {\n"
         "    R r = *this; r.b += k; return r;\n"
         "  }\n"
         "};\n"
         "__device__ R make(int n) {\n"
         "  if (n < 0) return {0, 0};\n"
         "  R r{n, n + 1};\n"
         "  if (n > 5) {\n"
         "    r.a = 100; return r;\n"
         "  }\n"
         "  return r.plus(1);\n"
         "}\n"
         "__device__ int eat(R r) {\n"
         "  r.a = -1; return r.a + r.b;\n"
         "}\n"
         "struct Two {\n"
         "  R x, y;\n"
         "};\n"
         "__device__ Two both(R p, R q) { return {q, p}; }\n",
         "R r = make(n); out[0] = r.a; out[1] = r.b; out[2] = eat(r); out[3] = r.a;\n"
         "r.add(2).add(3); out[4] = r.a; out[5] = make(9).plus(4).b;\n"
         "Two t = both(r, make(-1)); out[6] = t.y.a; out[7] = t.x.b;\n"
         "for (int i = 0; i < 3; i++) {\n"
         "  R q = make(i); q.add(i); out[8 + i] = q.a * 10 + q.b;\n"
         "}\n"
         "R arr[3];\n"
         "for (int i = 0; i < 3; i++) arr[i] = make(i).plus(i);\n"
         "out[11] = arr[2].b; R z; z = make(2); out[12] = (z = r).a + z.b;\n",
         3, 3, 5, 4, 3, 8, 14, 8, 0, 2, 23, 44, 6, 13);
}
END_TEST

/* an initialiser list is shown as written: decay, constructors and conversions are implied */
START_TEST(lists_without_conversions) {
  EXPECT("struct V {\n"
         "  int *p; int n;\n"
         "};\n"
         "struct D {\n"
         "  unsigned x, y, z;\n"
         "  __device__ D(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}\n"
         "};\n"
         "struct Cfg {\n"
         "  D grid, block; long long smem;\n"
         "};\n"
         "struct I {\n"
         "  int v;\n"
         "  __device__ operator int() const { return v * 2; }\n"
         "};\n",
         "int a[3] = {4, 5, 6}; V v{a, 3}; out[0] = v.p[1]; V w = {.p = a + 1, .n = 2};\n"
         "out[1] = *w.p; Cfg c = {5, D(6, 7), 100};\n"
         "out[2] = (int)(c.grid.x + c.grid.y + c.grid.z);\n"
         "out[3] = (int)(c.block.y + c.block.z); Cfg e = {.grid = (unsigned)n, .smem = 9};\n"
         "out[4] = (int)(e.grid.x * 10 + e.block.x); out[5] = (int)e.smem; I i{n};\n"
         "int t[2] = {i, 1}; out[6] = t[0];\n"
         "struct {\n"
         "  unsigned long long dims[2];\n"
         "} q = {{(unsigned long long)i, 8}}; out[7] = (int)q.dims[0];\n"
         "V views[2] = {{a, 1}, {a + 2, 2}}; out[8] = views[1].p[0];\n",
         3, 5, 5, 7, 8, 31, 9, 6, 6, 6);
}
END_TEST

/* unnamed members, nested classes, typedefs */
START_TEST(anonymous_and_nested) {
  EXPECT("struct O {\n"
         "  struct {\n"
         "    int x, y;\n"
         "  };\n"
         "  union {\n"
         "    unsigned w;\n"
         "    struct {\n"
         "      unsigned char b0, b1;\n"
         "    } p;\n"
         "  };\n"
         "  struct Nested {\n"
         "    int z;\n"
         "    __device__ static int make(int k) { return k * 2; }\n"
         "  } nested; typedef Nested Alias; using Int = long long; enum { A = 3 };\n"
         "};\n",
         "O o{}; o.x = 1; o.y = n; o.w = 0x0102u; o.nested.z = O::Nested::make(n);\n"
         "out[0] = o.x + o.y; out[1] = o.p.b1; o.p.b0 = 7; out[2] = (int)o.w;\n"
         "out[3] = o.nested.z; O::Alias al{9}; out[4] = al.z; O::Int big = 1LL << 35;\n"
         "out[5] = (int)(big >> 33); O c = o; c.y = 8; out[6] = o.y;\n"
         "out[7] = c.y + (int)c.w; out[8] = O::A; O *p = &c; p->x = 4;\n"
         "out[9] = p->x + p->p.b0;\n",
         3, 4, 1, 263, 6, 9, 4, 3, 271, 3, 11);
}
END_TEST

/* offsets, casts of aligned storage, arrays of pointers */
START_TEST(pointers_into_records) {
  EXPECT("struct alignas(16) Tile {\n"
         "  int v[4];\n"
         "};\n"
         "struct Stage {\n"
         "  Tile a, b; unsigned long long bar;\n"
         "};\n"
         "struct Smem {\n"
         "  Stage st[3]; int tail;\n"
         "};\n",
         "__shared__ Smem sm; Smem *p = &sm; int *q = &p->st[n - 2].b.v[1]; *q = 5;\n"
         "out[0] = sm.st[1].b.v[1]; q += 2; *q = 6; out[1] = sm.st[1].b.v[3];\n"
         "unsigned long long *bars[3];\n"
         "for (int i = 0; i < 3; i++) {\n"
         "  bars[i] = &sm.st[i].bar; *bars[i] = (unsigned long long)i * 3;\n"
         "}\n"
         "out[2] = (int)sm.st[2].bar; out[3] = (int)((char *)bars[2] - (char *)bars[1]);\n"
         "out[4] = (int)(bars[2] > bars[0]);\n"
         "unsigned char *raw = reinterpret_cast<unsigned char *>(&sm.st[n - 1]);\n"
         "Tile *t = reinterpret_cast<Tile *>(raw + sizeof(Tile)); t->v[0] = 44;\n"
         "out[5] = sm.st[2].b.v[0]; int local[6] = {}; int(*rows)[3] = (int(*)[3])local;\n"
         "rows[1][n - 2] = 8; out[6] = local[4]; void *vp = local;\n"
         "int *ip = (int *)((char *)vp + 8); *ip = 3; out[7] = local[2];\n"
         "const Tile copy = sm.st[2].b; out[8] = copy.v[0];\n"
         "unsigned long long addr = (unsigned long long)&local[3]; *(int *)(addr + 4) = 21;\n"
         "out[9] = local[4];\n",
         3, 5, 6, 6, 48, 1, 44, 8, 3, 44, 21);
}
END_TEST

/* structs, arrays, references, pairs */
START_TEST(structured_bindings) {
  EXPECT("#include <utility>\n"
         "struct P {\n"
         "  int a; short b; char c;\n"
         "};\n"
         "__device__ P make(int n) { return {n, 2, 3}; }\n",
         "auto [a, b, c] = make(n); out[0] = a; out[1] = b + c; int arr[2] = {7, 8};\n"
         "auto [x, y] = arr; x = 70; out[2] = arr[0]; out[3] = x; auto &[rx, ry] = arr;\n"
         "ry = 80; out[4] = arr[1]; std::pair<int, char> pr{n, 'a'}; auto [f, s] = pr;\n"
         "out[5] = f; out[6] = s;\n",
         3, 3, 5, 7, 70, 80, 3, 97);
}
END_TEST

/* The elements of a tuple are bases of an implicit instantiation, which libclang shows from 20 on.
 */
START_TEST(bindings_of_tuples) {
  KcError error = {0};
  Clang clang = {0};
  ck_assert_msg(clang_open(&clang, &error), "%s", error.message);
  if (!clang.visitCXXBaseClasses) return;
  EXPECT("#include <tuple>\n"
         "__device__ std::tuple<int, short, int> three(int n) { return {n, 5, n * n}; }\n",
         "auto [t, u, v] = three(n); out[0] = t; out[1] = u; out[2] = v;\n", 3, 3, 5, 9);
}
END_TEST

/* objects and dynamic indices */
START_TEST(shared_memory) {
  EXPECT("struct S {\n"
         "  int full[4];\n"
         "  struct {\n"
         "    short a, b;\n"
         "  } st[2];\n"
         "};\n"
         "template <int K> struct R {\n"
         "  int v[K]; int head;\n"
         "  __device__ void push(int x) { v[head++ % K] = x; }\n"
         "};\n",
         "__shared__ S s; __shared__ int plain[8]; s.full[n] = 5; s.st[n - 2].b = -6;\n"
         "plain[n + 1] = s.full[3] + s.st[1].b; out[0] = plain[4]; S *p = &s;\n"
         "p->full[1] = 2; out[1] = s.full[1]; int *q = s.full; out[2] = q[n];\n"
         "__shared__ R<4> r; r.head = 0;\n"
         "for (int i = 0; i < 6; i++) r.push(i * i);\n"
         "out[3] = r.v[1]; out[4] = r.head; auto &st = s.st[n - 2]; st.a = 12;\n"
         "out[5] = s.st[1].a; out[6] = (int)((char *)&s.st[1] - (char *)&s);\n",
         3, -1, 2, 5, 25, 6, 12, 20);
}
END_TEST

/* constexpr tables, static members, enumerations */
START_TEST(statics_and_constants) {
  EXPECT("enum Kind { red = 2, green = red + 3 };\n"
         "enum class E : unsigned char { a = 200, b };\n"
         "constexpr int tab[4] = {10, 20, 30, 40};\n"
         "struct S {\n"
         "  static constexpr int k = 6; static constexpr int arr[3] = {1, 2, 3};\n"
         "  enum { inner = 9 };\n"
         "};\n"
         "namespace q {\n"
         "constexpr struct { int a, b; } cfg = {4, 5}; const int late = 3 * S::k;\n"
         "} // namespace q\n",
         "out[0] = green; out[1] = (int)E::b; out[2] = tab[n];\n"
         "out[3] = S::k + S::arr[n - 1]; out[4] = S::inner; out[5] = q::cfg.b;\n"
         "out[6] = q::late; static const int local[3] = {5, 6, 7}; out[7] = local[n - 2];\n"
         "E e = E::a; out[8] = e == E::a; Kind k = (Kind)n; out[9] = k > red;\n"
         "const int c = 5; int z[c]; out[10] = (int)sizeof(z); out[11] = alignof(double);\n",
         3, 5, 201, 40, 9, 9, 5, 18, 6, 1, 1, 20, 8);
}
END_TEST

/* static data, anonymous namespaces, function-local constants */
START_TEST(namespaces_and_statics) {
  EXPECT("namespace {\n"
         "constexpr int hidden = 7;\n"
         "__device__ int twice(int x) { return 2 * x; }\n"
         "} // namespace\n"
         "namespace a {\n"
         "namespace b {\n"
         "struct C {\n"
         "  static constexpr int tab[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
         "  __device__ static int at(int i, int j) { return tab[i][j]; }\n"
         "  static constexpr bool on = true;\n"
         "};\n"
         "} // namespace b\n"
         "using b::C;\n"
         "} // namespace a\n"
         "template <int N> struct K { static constexpr int pow = N * K<N - 1>::pow; };\n"
         "template <> struct K<0> { static constexpr int pow = 1; };\n"
         "struct Cfg {\n"
         "  int m, n;\n"
         "}; constexpr Cfg cfgs[2] = {{1, 2}, {3, 4}};\n"
         "template <const Cfg &C> __device__ int area() { return C.m * C.n; }\n"
         "static constexpr Cfg one = {5, 6};\n",
         "out[0] = hidden + twice(n); out[1] = a::C::at(n - 2, 2); out[2] = K<4>::pow;\n"
         "out[3] = cfgs[n - 2].n; out[4] = area<one>(); constexpr int sq[] = {0, 1, 4, 9};\n"
         "out[5] = sq[n]; out[6] = sizeof(sq) / sizeof(*sq);\n"
         "if constexpr (a::C::on)\n"
         "  out[7] = 1;\n"
         "else\n"
         "  out[7] = 2;\n"
         "constexpr auto f = [](int x) { return x * 3; }; static_assert(f(2) == 6);\n"
         "out[8] = f(n); const char *msg = n > 2 ? \"yes\" : \"no\"; out[9] = msg != nullptr;\n",
         3, 13, 6, 24, 4, 30, 9, 4, 1, 9, 1);
}
END_TEST

/* the member of a union that has an initialiser, unless a list or constructor names another one */
START_TEST(initialised_unions) {
  EXPECT("union Whole {\n"
         "  unsigned all = 7;\n"
         "  struct { unsigned low : 14, : 2; unsigned high : 14; };\n"
         "};\n"
         "union Pair { unsigned all; unsigned short half[2] = {5, 6}; };\n"
         "union Made {\n"
         "  unsigned all = 9; unsigned short half;\n"
         "  __device__ Made() {} __device__ Made(int x) : half(x) {}\n"
         "};\n",
         "Whole a; out[0] = a.all; a.low = n; out[1] = a.all; Pair b; out[2] = b.half[1];\n"
         "Pair c{}; out[3] = c.half[0]; Pair d{3}; out[4] = d.all; Made e; out[5] = e.all;\n"
         "Made f(4); out[6] = f.half;\n",
         3, 7, 3, 6, 5, 3, 9, 4);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/objects");
  TCase *tests = tcase_create("objects");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, references_and_pointers);
  tcase_add_test(tests, arrays);
  tcase_add_test(tests, structs);
  tcase_add_test(tests, constructors);
  tcase_add_test(tests, inheritance);
  tcase_add_test(tests, reference_members);
  tcase_add_test(tests, values_in_and_out);
  tcase_add_test(tests, lists_without_conversions);
  tcase_add_test(tests, anonymous_and_nested);
  tcase_add_test(tests, pointers_into_records);
  tcase_add_test(tests, structured_bindings);
  tcase_add_test(tests, bindings_of_tuples);
  tcase_add_test(tests, shared_memory);
  tcase_add_test(tests, statics_and_constants);
  tcase_add_test(tests, namespaces_and_statics);
  tcase_add_test(tests, initialised_unions);
  suite_add_tcase(suite, tests);
  return suite;
}
