// Warp-level matrix functions: fragments and the calls on them. Their bodies stay with the compiler.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
} // namespace precision
enum layout_t { mem_row_major, mem_col_major };
template <class T> struct kcheck_storage {
  typedef T type;
};
template <> struct kcheck_storage<precision::tf32> {
  typedef float type;
};
template <> struct kcheck_storage<precision::u4> {
  typedef unsigned type;
};
template <> struct kcheck_storage<precision::s4> {
  typedef int type;
};
template <> struct kcheck_storage<precision::b1> {
  typedef unsigned type;
};
// elements a thread holds; those of A and B are held by two threads
template <class Use, int m, int n, int k> struct kcheck_elements {
  static constexpr int value = m * n / 32;
};
template <int m, int n, int k> struct kcheck_elements<matrix_a, m, n, k> {
  static constexpr int value = m * k / 16;
};
template <int m, int n, int k> struct kcheck_elements<matrix_b, m, n, k> {
  static constexpr int value = k * n / 16;
};
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
  typedef typename kcheck_storage<T>::type element_type;
  static constexpr int num_elements = kcheck_elements<Use, m, n, k>::value;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};
template <class F, class V> KCHECK_D void fill_fragment(F &fragment, const V &value);
template <class F, class T> KCHECK_D void load_matrix_sync(F &fragment, const T *p, unsigned ld);
template <class F, class T>
KCHECK_D void load_matrix_sync(F &fragment, const T *p, unsigned ld, layout_t layout);
template <class T, class F>
KCHECK_D void store_matrix_sync(T *p, const F &fragment, unsigned ld, layout_t layout);
template <class D, class A, class B, class C>
KCHECK_D void mma_sync(D &d, const A &a, const B &b, const C &c, bool saturate = false);
KCHECK_HD float __float_to_tf32(float value);
} // namespace wmma
} // namespace nvcuda
