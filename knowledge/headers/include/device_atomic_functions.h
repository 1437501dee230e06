#pragma once
#include <cuda_runtime.h>
#include <kcheck/atomic_functions.h>
