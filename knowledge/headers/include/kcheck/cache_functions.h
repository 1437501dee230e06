// Memory with cache hints.
#pragma once
#include "base.h"
#include "same_type.h"

#define KCHECK_LOAD(name) template <class T> KCHECK_D T name(const T *pointer)
KCHECK_LOAD(__ldg);
KCHECK_LOAD(__ldcg);
KCHECK_LOAD(__ldca);
KCHECK_LOAD(__ldcs);
KCHECK_LOAD(__ldlu);
KCHECK_LOAD(__ldcv);
#undef KCHECK_LOAD
#define KCHECK_STORE(name)                                                                         \
  template <class T> KCHECK_D void name(T *pointer, typename kcheck_same<T>::type value)
KCHECK_STORE(__stwb);
KCHECK_STORE(__stcg);
KCHECK_STORE(__stcs);
KCHECK_STORE(__stwt);
#undef KCHECK_STORE
KCHECK_D size_t __nv_associate_access_property(const void *pointer, unsigned long long property);
