#pragma once
#include <cuda_runtime.h>
typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000
#define TIME_UTC 1
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_MONOTONIC_RAW 4
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
extern "C" {
time_t time(time_t *out);
double difftime(time_t end, time_t start);
time_t mktime(struct tm *fields);
struct tm *localtime(const time_t *at);
struct tm *gmtime(const time_t *at);
char *ctime(const time_t *at);
char *asctime(const struct tm *fields);
size_t strftime(char *text, size_t size, const char *format, const struct tm *fields);
int clock_gettime(int clock, struct timespec *out);
int timespec_get(struct timespec *out, int base);
int nanosleep(const struct timespec *wanted, struct timespec *left);
}
