#pragma once
#include <cuda_runtime.h>
extern "C" {
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
int getpid();
int getopt(int count, char *const *words, const char *options);
int access(const char *path, int mode);
int close(int descriptor);
int isatty(int descriptor);
[[noreturn]] void _exit(int status);
long sysconf(int name);
extern char *optarg;
extern int optind, opterr, optopt;
}
