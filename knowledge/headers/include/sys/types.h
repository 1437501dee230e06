#pragma once
#include <cuda_runtime.h>
typedef int pid_t;
typedef long off_t, ssize_t;
typedef unsigned mode_t, uid_t, gid_t;
