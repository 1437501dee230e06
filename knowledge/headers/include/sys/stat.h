#pragma once
#include <sys/types.h>
struct stat {
  mode_t st_mode;
  off_t st_size;
};
extern "C" int stat(const char *path, struct stat *out);
extern "C" int mkdir(const char *path, mode_t mode);
