#pragma once
#include <cuda_runtime.h>
extern "C" {
KCHECK_HD size_t strlen(const char *text);
KCHECK_HD int strcmp(const char *a, const char *b);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t count);
int strncmp(const char *a, const char *b, size_t count);
char *strcpy(char *target, const char *source);
char *strncpy(char *target, const char *source, size_t count);
char *strcat(char *target, const char *source);
char *strncat(char *target, const char *source, size_t count);
char *strdup(const char *text);
char *strtok(char *text, const char *separators);
char *strerror(int number);
size_t strspn(const char *text, const char *set);
size_t strcspn(const char *text, const char *set);
size_t strnlen(const char *text, size_t most);
void *memmove(void *target, const void *source, size_t count);
}
// C++ gives these for constant and for changeable text.
const char *strstr(const char *text, const char *part);
char *strstr(char *text, const char *part);
const char *strchr(const char *text, int c);
char *strchr(char *text, int c);
const char *strrchr(const char *text, int c);
char *strrchr(char *text, int c);
const char *strpbrk(const char *text, const char *set);
char *strpbrk(char *text, const char *set);
const void *memchr(const void *data, int c, size_t count);
void *memchr(void *data, int c, size_t count);
