#pragma once
#include "vector.h"
KCHECK_VECTOR(int, int, 4, 8, 4, 16)
