// Functions over the lanes of a warp.
#pragma once
#include "base.h"

template <class T> KCHECK_D T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T>
KCHECK_D T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T>
KCHECK_D T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> KCHECK_D T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
KCHECK_D unsigned __ballot_sync(unsigned mask, int predicate);
KCHECK_D int __any_sync(unsigned mask, int predicate);
KCHECK_D int __all_sync(unsigned mask, int predicate);
KCHECK_D int __uni_sync(unsigned mask, int predicate);
KCHECK_D unsigned __activemask();
template <class T> KCHECK_D unsigned __match_any_sync(unsigned mask, T value);
template <class T> KCHECK_D unsigned __match_all_sync(unsigned mask, T value, int *predicate);
KCHECK_D unsigned __reduce_add_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_min_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_max_sync(unsigned mask, unsigned value);
KCHECK_D int __reduce_add_sync(unsigned mask, int value);
KCHECK_D int __reduce_min_sync(unsigned mask, int value);
KCHECK_D int __reduce_max_sync(unsigned mask, int value);
KCHECK_D unsigned __reduce_and_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_or_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_xor_sync(unsigned mask, unsigned value);
