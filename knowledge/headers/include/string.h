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
char *strstr(const char *text, const char *part);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
char *strerror(int number);
void *memmove(void *target, const void *source, size_t count);
}
