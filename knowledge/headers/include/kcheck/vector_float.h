#pragma once
#include "vector.h"
KCHECK_VECTOR(float, float, 4, 8, 4, 16)
