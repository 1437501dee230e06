#pragma once
#include <cuda_runtime.h>
#include <kcheck/pipeline_primitives.h>
