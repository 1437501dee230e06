/* Names of the embedded runtime header, and of cuda::ptx, by the part that declares them. */
#include "cuda/wants.h"

#include <glib.h>
#include <string.h>

/* Includes that are followed, and bytes read, before everything is wanted. */
enum { MAX_FILES = 64, MAX_BYTES = 4 << 20 };

/* A part of a header: the macro that asks for it, and the names that do (`x*`: all that begin
 * with x; `*x`: all that end with it). Those of namespace std count only where the word std stands
 * too. tests/cuda/test_wants.c compares the names with the declarations. */
static const struct {
  const char *macro;
  bool in_std;
  const char *names;
} PARTS[] = {
    {"KCHECK_WANTS_HOST", false, "cuda* CUDA_R_* CUDART_VERSION"},
    {"KCHECK_WANTS_TEXTURES", false,
     "cudaArray* cudaTex* cudaSurf* tex1D* tex2D* tex3D* texCubemap* surf1D* surf2D* surf3D* "
     "cudaChannel* cudaCreate* cudaResource* cudaMemcpy3D* cudaExtent cudaPos cudaPitchedPtr "
     "make_cuda* cudaMalloc3D* cudaMallocArray cudaMallocMipmapped* cudaMipmapped* "
     "cudaGetMipmapped* cudaFree* cudaMemcpyToArray cudaMemcpy2D* cudaDestroy* cudaAddressMode* "
     "cudaFilter* cudaReadMode* cudaBoundary*"},
    {"KCHECK_WANTS_INTEGERS", false,
     "__popc* __clz* __ffs* __brev* __byte_perm __fns __funnelshift* __mulhi __umulhi __mul64hi "
     "__umul64hi __mul24 __umul24 __sad __usad __hadd __rhadd __uhadd __urhadd __dp4a __dp2a* "
     "__float_as* __int_as* __uint_as* __double_as* __longlong_as* __double2hiint __double2loint "
     "__hiloint2double"},
    {"KCHECK_WANTS_SIMD", false, "__v*"},
    {"KCHECK_WANTS_FLOATS", false,
     "__float2* __int2* __uint2* __ll2* __ull2* __double2* __fadd* __fsub* __fmul* __fdiv* "
     "__dadd* __dmul* __ddiv* __dsub* __dsqrt* __drcp* __frcp* __fsqrt* __frsqrt* __fma* __ffma* "
     "__exp* __log* __pow* __sin* __cos* __tan* __saturatef"},
    {"KCHECK_WANTS_MIN_MAX", false, "min max umin umax llmin llmax ullmin ullmax"},
    {"KCHECK_WANTS_VECTOR_FLOAT", false, "float1 float2 float3 float4 make_float*"},
    {"KCHECK_WANTS_VECTOR_INT", false, "int1 int2 int3 int4 make_int*"},
    {"KCHECK_WANTS_VECTOR_OTHERS", false,
     "char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 "
     "ushort2 ushort3 ushort4 long1 long2 long3 long4 ulong1 ulong2 ulong3 ulong4 longlong1 "
     "longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4 double1 double2 "
     "double3 double4 make_char* make_uchar* make_short* make_ushort* make_long* make_ulong* "
     "make_longlong* make_ulonglong* make_double* double4_* long4_* ulong4_* longlong4_* "
     "ulonglong4_*"},
    {"KCHECK_WANTS_WARP", false,
     "__shfl* __ballot* __any* __all* __uni* __activemask __match* __reduce*"},
    {"KCHECK_WANTS_CACHE", false, "__ld* __st* __nv_associate*"},
    {"KCHECK_WANTS_PIPELINE", false, "__pipeline*"},
    {"KCHECK_WANTS_ATOMICS", false, "atomic* __nv_atomic* __NV_ATOMIC* __NV_THREAD*"},
    {"KCHECK_WANTS_MATH", false,
     "HUGE_VAL HUGE_VALF INFINITY NAN abs ceil ceilf cos cosf exp exp2 exp2f expf fabs fabsf "
     "floor floorf fma fmaf fmax fmaxf fmin fminf isfinite isinf isnan ldexp ldexpf log log2 "
     "log2f logf pow powf round roundf rsqrt rsqrtf sin sinf sqrt sqrtf tanh tanhf trunc "
     "truncf M_*"},
    {"KCHECK_WANTS_MATH_MORE", false,
     "acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf "
     "cbrt cbrtf copysign copysignf cosh coshf cospi cospif erf erfc erfcf erfcinv erfcinvf "
     "erfcx erfcxf erff erfinv erfinvf exp10 exp10f expm1 expm1f fdim fdimf fdividef fmod "
     "fmodf frexp frexpf hypot hypotf ilogb ilogbf j0 j0f j1 j1f labs lgamma lgammaf llabs "
     "llrint llrintf llround llroundf log10 log10f log1p log1pf logb logbf lrint lrintf "
     "lround lroundf modf modff nearbyint nearbyintf nextafter nextafterf normcdf normcdff "
     "normcdfinv normcdfinvf rcbrt rcbrtf remainder remainderf rint rintf scalbn scalbnf "
     "signbit sincos sincosf sincospi sincospif sinh sinhf sinpi sinpif tan tanf tgamma "
     "tgammaf y0 y0f y1 y1f"},
    {"KCHECK_WANTS_NEW", false,
     "new delete align_val_t nothrow* bad_alloc launder destroying_delete*"},
    {"KCHECK_WANTS_CLIB", false,
     "BUFSIZ EOF EXIT_FAILURE EXIT_SUCCESS FILE RAND_MAX SEEK_CUR SEEK_END SEEK_SET _Exit _IOFBF "
     "_IOLBF _IONBF abort aligned_alloc at_quick_exit atexit atof atoi atol atoll bsearch calloc "
     "clearerr div div_t drand48 exit fclose fdopen feof ferror fflush fgetc fgets fileno fopen "
     "fprintf fputc fputs fread freopen fscanf fseek ftell fwrite getc getchar getenv ldiv "
     "ldiv_t memchr memmove pclose perror popen posix_memalign putc putchar puts qsort "
     "quick_exit rand rand_r random realloc remove rename rewind scanf setbuf setenv setvbuf "
     "snprintf sprintf srand srand48 srandom sscanf stderr stdin stdout strcasecmp strcat strchr "
     "strcmp strcpy strcspn strdup strerror strlen strncasecmp strncat strncmp strncpy strnlen "
     "strpbrk strrchr strspn strstr strtod strtof strtok strtol strtoll strtoul strtoull system "
     "tmpfile ungetc va_arg va_end va_list va_start vfprintf vprintf vsnprintf vsprintf"},
    {"KCHECK_WANTS_LIMITS", false, "numeric_limits CHAR_BIT *_MIN *_MAX FLT_* DBL_* LDBL_*"},
    {"KCHECK_WANTS_UTILITY", true,
     "move forward as_const swap exchange to_underlying pair make_pair integer_sequence "
     "index_sequence* make_i* in_place* piecewise_construct* tuple* get declval enable_if* "
     "conditional* remove_* add_* decay* is_* common_type* integral_constant bool_constant "
     "true_type false_type void_t type_identity* make_unsigned* make_signed* underlying_type* "
     "conjunction* disjunction* negation* alignment_of* rank* extent* aligned_* invoke* "
     "result_of* has_* unwrap_* nullptr_t initializer_list"},
    {"KCHECK_WANTS_TUPLE", true,
     "tuple* make_tuple tie get forward_as_tuple apply ignore tuple_cat"},
    {"KCHECK_WANTS_ALGORITHM", true,
     "min max clamp fill* copy* generate* for_each* sort* reverse unique find* all_of any_of "
     "none_of count* max_element min_element minmax* transform shuffle equal* accumulate* "
     "lower_bound upper_bound swap_ranges rotate partition* stable_* nth_element "
     "initializer_list mismatch search* remove* replace* merge* iter_swap is_sorted* "
     "binary_search"},
    /* cuda::ptx */
    {"KCHECK_WANTS_PTX_MBARRIER", false, "mbarrier_*"},
    {"KCHECK_WANTS_PTX_HALF", false, "__half* half* __nv_bfloat* nv_bfloat*"},
    {"KCHECK_WANTS_PTX_BULK", false,
     "cp_async_bulk cp_async_bulk_c* cp_async_bulk_w* cp_async_mbarrier_*"},
    {"KCHECK_WANTS_PTX_TENSOR", false, "cp_async_bulk_tensor* cp_reduce_async_bulk_tensor"},
    {"KCHECK_WANTS_PTX_REDUCE", false, "cp_reduce_async_bulk"},
    {"KCHECK_WANTS_PTX_ASYNC", false, "st_async st_bulk red_async"},
    {"KCHECK_WANTS_PTX_TENSORMAP", false, "tensormap_*"},
    {"KCHECK_WANTS_PTX_LAUNCH", false, "clusterlaunchcontrol_*"},
    {"KCHECK_WANTS_PTX_SPECIAL", false, "get_sreg_*"},
    {"KCHECK_WANTS_PTX_TCGEN05", false, "tcgen05_*"},
    {"KCHECK_WANTS_PTX_MMA", false,
     "tcgen05_mma tcgen05_mma_collector_* tcgen05_mma_tmem_a tcgen05_mma_tmem_a_collector_*"},
    {"KCHECK_WANTS_PTX_MMA_SCALED", false, "tcgen05_mma_block_scale*"},
    {"KCHECK_WANTS_PTX_MMA_WS", false, "tcgen05_mma_ws_*"},
    {"KCHECK_WANTS_PTX_TMEM_32X32B", false, "tcgen05_ld_32x32b* tcgen05_st_32x32b*"},
    {"KCHECK_WANTS_PTX_TMEM_16X64B", false, "tcgen05_ld_16x64b* tcgen05_st_16x64b*"},
    {"KCHECK_WANTS_PTX_TMEM_16X128B", false, "tcgen05_ld_16x128b* tcgen05_st_16x128b*"},
    {"KCHECK_WANTS_PTX_TMEM_16X256B", false, "tcgen05_ld_16x256b* tcgen05_st_16x256b*"},
};

bool wants_is_name(const char *word, const char *macro) {
  for (size_t p = 0; p < G_N_ELEMENTS(PARTS); p++) {
    if (strcmp(PARTS[p].macro, macro) != 0) continue;
    g_auto(GStrv) names = g_strsplit(PARTS[p].names, " ", -1);
    for (char **name = names; *name; name++) {
      size_t size = strlen(*name);
      if (**name == '*'                          ? g_str_has_suffix(word, *name + 1)
          : size > 0 && (*name)[size - 1] == '*' ? strncmp(word, *name, size - 1) == 0
                                                 : strcmp(word, *name) == 0)
        return true;
    }
  }
  return false;
}

void wants_each_macro(void (*visit)(void *user, const char *macro), void *user) {
  for (size_t p = 0; p < G_N_ELEMENTS(PARTS); p++)
    visit(user, PARTS[p].macro);
}

/* ---- the words of the file and of what it includes ---- */

typedef struct Reading {
  GHashTable *words; /* set */
  GHashTable *seen;  /* set of paths */
  GPtrArray *folders;
  size_t bytes;
  bool everything; /* something could not be followed */
} Reading;

static bool is_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

/* End of the comment or of the literal that starts at `at`; `at` when none does. */
static const char *skip_text(const char *at, const char *end) {
  if (*at == '/' && at + 1 < end && at[1] == '/') {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    return line ? line : end;
  }
  if (*at == '/' && at + 1 < end && at[1] == '*') {
    const char *close = g_strstr_len(at + 2, end - at - 2, "*/");
    return close ? close + 2 : end;
  }
  if (*at != '"') return at;
  for (at++; at < end && *at != '"' && *at != '\n'; at++)
    if (*at == '\\' && at + 1 < end) at++;
  return at < end ? at + 1 : end;
}

static void read_file(Reading *reading, const char *path);

static bool try_folder(Reading *reading, const char *folder, const char *name) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) return false;
  read_file(reading, path);
  return true;
}

/* Follows `#include <x>` or "x" as clang would; what is in no folder is embedded, or missing. */
static void follow(Reading *reading, const char *folder, const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  const char *close =
      at < end ? memchr(at + 1, *at == '<' ? '>' : '"', (size_t)(end - at - 1)) : NULL;
  if (!close || (*at != '<' && *at != '"')) {
    reading->everything = true;
    return;
  }
  g_autofree char *name = g_strndup(at + 1, (size_t)(close - at - 1));
  if (*at == '"' && try_folder(reading, folder, name)) return;
  for (guint i = 0; i < reading->folders->len; i++)
    if (try_folder(reading, reading->folders->pdata[i], name)) return;
}

static void read_text(Reading *reading, const char *folder, const char *text, size_t length) {
  const char *end = text + length;
  bool directive = false; /* behind a # */
  for (const char *at = text; at < end && !reading->everything;) {
    const char *next = skip_text(at, end);
    if (next == at && is_word(*at)) {
      while (next < end && is_word(*next))
        next++;
      char *word = g_strndup(at, (size_t)(next - at));
      if (directive && strcmp(word, "include") == 0) {
        const char *line = memchr(next, '\n', (size_t)(end - next));
        follow(reading, folder, next, line ? line : end);
        next = line ? line : end;
      }
      directive = false;
      g_hash_table_add(reading->words, word);
    } else if (next == at) {
      directive = *at == '#' || (directive && (*at == ' ' || *at == '\t'));
      next++;
    }
    at = next;
  }
}

static void read_file(Reading *reading, const char *path) {
  if (!g_hash_table_add(reading->seen, g_strdup(path))) return;
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!g_file_get_contents(path, &text, &length, NULL)) return;
  reading->bytes += length;
  if (reading->bytes > MAX_BYTES || g_hash_table_size(reading->seen) > MAX_FILES) {
    reading->everything = true;
    return;
  }
  g_autofree char *folder = g_path_get_dirname(path);
  read_text(reading, folder, text, length);
}

static void read_flags(Reading *reading, const char *const *flags) {
  for (const char *const *flag = flags; flag && *flag; flag++) {
    static const char *const INCLUDES[] = {"-I", "-isystem", "-iquote"};
    bool folder = false;
    for (size_t i = 0; i < G_N_ELEMENTS(INCLUDES) && !folder; i++) {
      if (!g_str_has_prefix(*flag, INCLUDES[i])) continue;
      folder = true;
      const char *name = *flag + strlen(INCLUDES[i]);
      if (!*name) name = flag[1];
      if (name) g_ptr_array_add(reading->folders, (gpointer)name);
    }
    if (g_str_has_prefix(*flag, "-D")) {
      const char *value = (*flag)[2] || !flag[1] ? *flag + 2 : flag[1];
      read_text(reading, ".", value, strlen(value));
    }
    /* what else may bring text in */
    if (!folder && !g_str_has_prefix(*flag, "-D") && !g_str_has_prefix(*flag, "-U") &&
        !g_str_has_prefix(*flag, "-std") && **flag == '-')
      reading->everything = true;
  }
}

static bool is_wanted(Reading *reading, size_t part) {
  if (reading->everything) return true;
  if (PARTS[part].in_std && !g_hash_table_contains(reading->words, "std")) return false;
  g_auto(GStrv) names = g_strsplit(PARTS[part].names, " ", -1);
  for (char **name = names; *name; name++) {
    size_t size = strlen(*name);
    if (size == 0) continue;
    bool starts = (*name)[size - 1] == '*', ends = **name == '*';
    if (!starts && !ends) {
      if (g_hash_table_contains(reading->words, *name)) return true;
      continue;
    }
    GHashTableIter iter;
    gpointer word;
    g_hash_table_iter_init(&iter, reading->words);
    while (g_hash_table_iter_next(&iter, &word, NULL))
      if (ends ? g_str_has_suffix(word, *name + 1) : strncmp(word, *name, size - 1) == 0)
        return true;
  }
  return false;
}

void wants_find(const char *path, const char *text, size_t length, const char *const *flags,
                void (*add)(void *user, const char *macro), void *user) {
  Reading reading = {.words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .folders = g_ptr_array_new()};
  g_autofree char *folder = g_path_get_dirname(path);
  read_flags(&reading, flags);
  read_text(&reading, folder, text, length);
  for (size_t part = 0; part < G_N_ELEMENTS(PARTS); part++)
    if (is_wanted(&reading, part)) add(user, PARTS[part].macro);
  g_hash_table_destroy(reading.words);
  g_hash_table_destroy(reading.seen);
  g_ptr_array_free(reading.folders, TRUE);
}
