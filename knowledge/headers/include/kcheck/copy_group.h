// Asynchronous copies of one thread or of a group, in pieces as large as the alignment that the
// types promise: cp.async from 4 bytes on, ordinary copies below (libcu++, memcpy_async).
#pragma once
#include <cuda_runtime.h>
template <class> struct kcheck_void { typedef void type; };
template <class T> struct kcheck_type_align { static constexpr unsigned long value = alignof(T); };
template <> struct kcheck_type_align<void> { static constexpr unsigned long value = 1; };
template <class Size, class = void> struct kcheck_size_align {
  static constexpr unsigned long value = 1;
};
template <class Size>
struct kcheck_size_align<Size, typename kcheck_void<decltype(Size::align)>::type> {
  static constexpr unsigned long value = Size::align;
};
// What the type of the elements and an aligned_size_t promise of both addresses and the size.
template <class T, class Size> constexpr unsigned long kcheck_promised() {
  return kcheck_type_align<T>::value < kcheck_size_align<Size>::value
             ? kcheck_size_align<Size>::value
             : kcheck_type_align<T>::value;
}
template <unsigned long align>
KCHECK_D inline void kcheck_copy(void *dst, const void *src, unsigned long size, unsigned long rank,
                                 unsigned long threads) {
  char *to = static_cast<char *>(dst);
  const char *from = static_cast<const char *>(src);
  if constexpr (align >= 16) {
    for (unsigned long at = rank * 16; at < size; at += threads * 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       (unsigned)__cvta_generic_to_shared(to + at)),
                   "l"(from + at)
                   : "memory");
  } else if constexpr (align >= 8) {
    for (unsigned long at = rank * 8; at < size; at += threads * 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                       (unsigned)__cvta_generic_to_shared(to + at)),
                   "l"(from + at)
                   : "memory");
  } else if constexpr (align >= 4) {
    for (unsigned long at = rank * 4; at < size; at += threads * 4)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                       (unsigned)__cvta_generic_to_shared(to + at)),
                   "l"(from + at)
                   : "memory");
  } else {
    for (unsigned long at = rank; at < size; at += threads)
      to[at] = from[at];
  }
}
