#pragma once
#include <cuda_runtime.h>
extern "C" unsigned sleep(unsigned seconds);
extern "C" int usleep(unsigned microseconds);
extern "C" int getpid();
