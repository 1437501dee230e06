#pragma once
#include "base.h"

// min, max, abs of the usual types, also mixed as CUDA declares them
KCHECK_HD inline int min(int a, int b) {
  return b < a ? b : a;
}
KCHECK_HD inline int max(int a, int b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned min(unsigned a, unsigned b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned max(unsigned a, unsigned b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned min(int a, unsigned b) {
  return min((unsigned)a, b);
}
KCHECK_HD inline unsigned max(int a, unsigned b) {
  return max((unsigned)a, b);
}
KCHECK_HD inline unsigned min(unsigned a, int b) {
  return min(a, (unsigned)b);
}
KCHECK_HD inline unsigned max(unsigned a, int b) {
  return max(a, (unsigned)b);
}
KCHECK_HD inline long min(long a, long b) {
  return b < a ? b : a;
}
KCHECK_HD inline long max(long a, long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long min(unsigned long a, unsigned long b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned long max(unsigned long a, unsigned long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long min(long a, unsigned long b) {
  return min((unsigned long)a, b);
}
KCHECK_HD inline unsigned long max(long a, unsigned long b) {
  return max((unsigned long)a, b);
}
KCHECK_HD inline unsigned long min(unsigned long a, long b) {
  return min(a, (unsigned long)b);
}
KCHECK_HD inline unsigned long max(unsigned long a, long b) {
  return max(a, (unsigned long)b);
}
KCHECK_HD inline long long min(long long a, long long b) {
  return b < a ? b : a;
}
KCHECK_HD inline long long max(long long a, long long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long long min(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned long long max(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
KCHECK_HD float min(float a, float b);
KCHECK_HD float max(float a, float b);
KCHECK_HD double min(double a, double b);
KCHECK_HD double max(double a, double b);
KCHECK_HD double min(float a, double b);
KCHECK_HD double max(float a, double b);
KCHECK_HD double min(double a, float b);
KCHECK_HD double max(double a, float b);
KCHECK_HD inline unsigned umin(unsigned a, unsigned b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned umax(unsigned a, unsigned b) {
  return a < b ? b : a;
}
