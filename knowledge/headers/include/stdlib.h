#pragma once
#include <cuda_runtime.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
extern "C" {
[[noreturn]] void exit(int status);
[[noreturn]] KCHECK_HD void abort();
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **pointer, size_t align, size_t size);
int atoi(const char *text);
long atol(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
double strtod(const char *text, char **end);
int rand();
void srand(unsigned seed);
double drand48();
char *getenv(const char *name);
void qsort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *));
}
