#pragma once
#include <time.h>
struct timeval {
  long tv_sec, tv_usec;
};
extern "C" int gettimeofday(struct timeval *time, void *zone);
