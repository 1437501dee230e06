// Included where a file counts with pointers to void, as nvcc lets it.
#pragma once
#define KCHECK_BYTES __attribute__((host)) __attribute__((device))
// Arithmetic on pointers to void is put through these: it counts bytes.
template <class Pointer, class Byte> struct __kcheck_counted {
  Pointer at;
  template <class N> KCHECK_BYTES Pointer operator+(N n) const {
    return (Byte *)at + n;
  }
  template <class N> KCHECK_BYTES Pointer operator-(N n) const {
    return (Byte *)at - n;
  }
  KCHECK_BYTES long operator-(void *other) const {
    return (Byte *)at - (Byte *)other;
  }
  KCHECK_BYTES long operator-(const void *other) const {
    return (Byte *)at - (const char *)other;
  }
};
template <class Pointer, class Byte> struct __kcheck_counted_at {
  Pointer &at;
  template <class N> KCHECK_BYTES Pointer &operator+=(N n) {
    return at = (Byte *)at + n;
  }
  template <class N> KCHECK_BYTES Pointer &operator-=(N n) {
    return at = (Byte *)at - n;
  }
};
template <class T> KCHECK_BYTES T &&__kcheck_bytes(T &&value) {
  return static_cast<T &&>(value);
}
KCHECK_BYTES inline __kcheck_counted<void *, char> __kcheck_bytes(void *at) {
  return {at};
}
KCHECK_BYTES inline __kcheck_counted<const void *, const char> __kcheck_bytes(const void *at) {
  return {at};
}
template <class T> KCHECK_BYTES T &__kcheck_bytes_at(T &value) {
  return value;
}
KCHECK_BYTES inline __kcheck_counted_at<void *, char> __kcheck_bytes_at(void *&at) {
  return {at};
}
KCHECK_BYTES inline __kcheck_counted_at<const void *, const char>
__kcheck_bytes_at(const void *&at) {
  return {at};
}
