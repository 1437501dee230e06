#pragma once
#include <cuda_runtime.h>
typedef struct kcheck_file FILE;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
extern "C" {
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *text, const char *format, ...);
int snprintf(char *text, size_t size, const char *format, ...);
int puts(const char *text);
int putchar(int c);
int fputs(const char *text, FILE *file);
int fflush(FILE *file);
FILE *fopen(const char *path, const char *mode);
int fclose(FILE *file);
size_t fread(void *data, size_t size, size_t count, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
char *fgets(char *text, int size, FILE *file);
int feof(FILE *file);
int fseek(FILE *file, long offset, int from);
long ftell(FILE *file);
int scanf(const char *format, ...);
int sscanf(const char *text, const char *format, ...);
void perror(const char *text);
}
