#pragma once
#include "base.h"
KCHECK_HD inline int abs(int x) { return x < 0 ? -x : x; }
KCHECK_HD inline long abs(long x) { return x < 0 ? -x : x; }
KCHECK_HD inline long long abs(long long x) { return x < 0 ? -x : x; }
KCHECK_HD inline long labs(long x) { return x < 0 ? -x : x; }
KCHECK_HD inline long long llabs(long long x) { return x < 0 ? -x : x; }
