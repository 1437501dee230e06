#pragma once
#include <cuda_runtime.h>
#include <kcheck/warp_functions.h>
