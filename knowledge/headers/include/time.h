#pragma once
#include <cuda_runtime.h>
typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
extern "C" time_t time(time_t *out);
