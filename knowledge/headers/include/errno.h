#pragma once
#include <cuda_runtime.h>
extern int errno;
#define ENOENT 2
#define EINTR 4
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define EINVAL 22
