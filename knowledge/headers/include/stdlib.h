#pragma once
#include <cuda_runtime.h>
#include <kcheck/abs.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
typedef struct {
  int quot, rem;
} div_t;
typedef struct {
  long quot, rem;
} ldiv_t;
extern "C" {
[[noreturn]] void exit(int status);
[[noreturn]] void _Exit(int status);
[[noreturn]] void quick_exit(int status);
[[noreturn]] KCHECK_HD void abort();
int atexit(void (*call)());
int at_quick_exit(void (*call)());
int system(const char *command);
void *calloc(size_t count, size_t size);
void *realloc(void *pointer, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **pointer, size_t align, size_t size);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
double strtod(const char *text, char **end);
float strtof(const char *text, char **end);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
int rand();
void srand(unsigned seed);
int rand_r(unsigned *seed);
long random();
void srandom(unsigned seed);
double drand48();
void srand48(long seed);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int replace);
void qsort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *data, size_t count, size_t size,
              int (*compare)(const void *, const void *));
}
