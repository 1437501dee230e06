// May be included again with another NDEBUG.
#include <kcheck/base.h>
extern "C" KCHECK_HD void __assert_fail(const char *message, const char *file, unsigned line,
                                        const char *function);
#undef assert
#ifdef NDEBUG
#define assert(...) (static_cast<void>(0))
#else
#define assert(...)                                                                                \
  ((__VA_ARGS__) ? static_cast<void>(0)                                                            \
                 : __assert_fail(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif
