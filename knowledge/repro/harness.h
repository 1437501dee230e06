// What every program written by `kcheck repro` has in common: memory with contents that tell stale
// tiles from fresh ones, tensor maps, a launch that can't take longer than its limit, and the same
// launch again and again between which only leftovers in shared memory and the company on the
// device differ.
#include <cuda.h>
#include <cuda_runtime.h>

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kcheck_repro {

constexpr int LIMIT_S = 8;                 // of one launch
constexpr int RUNS = 24;                   // that have to end alike
constexpr size_t BUFFER_BYTES = 32u << 20; // behind every pointer
enum Exit { SHOWN = 0, NOT_SHOWN = 1, CANNOT = 2 };

// The one line that the program prints. A kernel that hangs would block an ordinary exit.
[[noreturn]] inline void outcome(Exit status, const char *format, ...) {
  va_list words;
  va_start(words, format);
  std::vprintf(format, words);
  std::printf("\n");
  std::fflush(stdout);
  _exit(status);
}

inline void must(cudaError_t status, const char *what) {
  if (status != cudaSuccess)
    outcome(CANNOT, "cannot: %s: %s (%d)", what, cudaGetErrorString(status), int(status));
}

inline void need_device(int major, int minor, bool exact) {
  int device = 0, has_major = 0, has_minor = 0;
  must(cudaGetDevice(&device), "no device");
  cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, device);
  if (has_major != major || (exact ? has_minor != minor : has_minor < minor))
    outcome(CANNOT, "cannot: this needs compute capability %d.%d, the device has %d.%d", major,
            minor, has_major, has_minor);
}

// ---- memory ----

enum Contents { REALS, INTEGERS, POINTERS, ZEROS };

struct Buffer {
  const char *name;
  size_t size;
  unsigned char *live, *pristine, *first; // as the kernel sees it, before, and after the first run
};

inline std::vector<Buffer> &buffers() {
  static std::vector<Buffer> all;
  return all;
}

// Small numbers that are ordinary as bf16, fp16, fp32 and fp8, and differ from tile to tile.
inline uint64_t mixed(uint64_t x) {
  x = x * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
  return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull >> 32;
}

inline void *memory(const char *name, Contents contents, int width,
                    const std::vector<int64_t> &list) {
  std::vector<unsigned char> bytes(BUFFER_BYTES, 0);
  for (size_t i = 0; contents == REALS && i < BUFFER_BYTES / 4; ++i) {
    const float value = float(int(mixed(i) % 9) - 4) * 0.25f;
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (width < 4) bits = (bits & 0xffff0000u) | bits >> 16; // two bf16 of the same value
    std::memcpy(&bytes[4 * i], &bits, 4);
  }
  for (size_t i = 0; contents == INTEGERS && !list.empty() && i < BUFFER_BYTES / width; ++i)
    std::memcpy(&bytes[width * i], &list[i % list.size()], width); // little endian
  Buffer b = {name, BUFFER_BYTES, nullptr, nullptr, nullptr};
  must(cudaMalloc(&b.live, BUFFER_BYTES), "memory");
  must(cudaMalloc(&b.pristine, BUFFER_BYTES), "memory");
  must(cudaMalloc(&b.first, BUFFER_BYTES), "memory");
  if (contents == POINTERS) { // each leads to memory of its own kind
    void *target = memory(name, REALS, 4, {});
    for (size_t i = 0; i < 256; ++i)
      std::memcpy(&bytes[8 * i], &target, 8);
  }
  must(cudaMemcpy(b.pristine, bytes.data(), BUFFER_BYTES, cudaMemcpyHostToDevice), "memory");
  must(cudaMemcpy(b.live, b.pristine, BUFFER_BYTES, cudaMemcpyDeviceToDevice), "memory");
  buffers().push_back(b);
  return b.live;
}

// A variable in device memory: every run finds it as the first one did.
template <class T> inline void variable(const char *name, const T &symbol) {
  Buffer b = {name, 0, nullptr, nullptr, nullptr};
  void *address = nullptr;
  must(cudaGetSymbolAddress(&address, symbol), name);
  must(cudaGetSymbolSize(&b.size, symbol), name);
  b.live = static_cast<unsigned char *>(address);
  must(cudaMalloc(&b.pristine, b.size), "memory");
  must(cudaMalloc(&b.first, b.size), "memory");
  must(cudaMemcpy(b.pristine, b.live, b.size, cudaMemcpyDeviceToDevice), name);
  buffers().push_back(b);
}

template <class T> inline void put(unsigned char *parameter, size_t offset, T value) {
  std::memcpy(parameter + offset, &value, sizeof value);
}

// ---- tensor maps ----

inline void put_map(unsigned char *parameter, size_t offset, const char *name, int type,
                    int element_bytes, const std::vector<cuuint64_t> &dims,
                    const std::vector<cuuint64_t> &strides, const std::vector<cuuint32_t> &box,
                    int interleave, int swizzle) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                        &found),
       "cuTensorMapEncodeTiled");
#else
  must(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found),
       "cuTensorMapEncodeTiled");
#endif
  if (found != cudaDriverEntryPointSuccess) outcome(CANNOT, "cannot: no cuTensorMapEncodeTiled");
  const std::vector<cuuint32_t> steps(box.size(), 1);
  void *base = memory(name, REALS, element_bytes, {});
  alignas(64) CUtensorMap map;
  const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CUtensorMapDataType(type), cuuint32_t(box.size()), base, dims.data(), strides.data(),
      box.data(), steps.data(), CUtensorMapInterleave(interleave), CUtensorMapSwizzle(swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    outcome(CANNOT, "cannot: cuTensorMapEncodeTiled refuses the map %s (%d)", name, int(status));
  std::memcpy(parameter + offset, &map, sizeof map);
}

// ---- runs ----

// Shared memory as a kernel before would have left it: one value everywhere.
__global__ void scrub(unsigned value, unsigned words) {
  extern __shared__ unsigned kcheck_repro_words[];
  volatile unsigned *all = kcheck_repro_words;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    all[i] = value;
  __syncthreads();
  const long long start = clock64();
  while (clock64() - start < 20000) {
  }
}

// Other work on the device for `ticks`: it takes issue slots and bandwidth, so that asynchronous
// copies and warps come in another order than on an idle device.
__global__ void press(const unsigned *data, unsigned words, long long ticks, unsigned *sink) {
  const long long start = clock64();
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; clock64() - start < ticks;
       i = (i + 8191 * 97) % words)
    sum += __ldcg(data + i);
  if (sum == 0x12345678u) *sink = sum;
}

// What a preceding grid does that lets its dependents start early: the contents come late.
struct Late {
  unsigned *live[16];
  const unsigned *pristine[16];
  size_t words[16];
  int count;
};

__global__ void produce(Late late) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  const long long start = clock64();
  while (clock64() - start < 400000) {
  }
  for (int b = 0; b < late.count; ++b)
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < late.words[b];
         i += size_t(gridDim.x) * blockDim.x)
      late.live[b][i] = late.pristine[b][i];
}

__global__ void compare(const unsigned *a, const unsigned *b, unsigned words, unsigned *first) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    if (a[i] != b[i]) atomicMin(first, i);
}

struct Launch {
  const void *kernel;
  dim3 grid, block, cluster;
  size_t shared_bytes;
  bool opt_in; // ask for more dynamic shared memory than 48 KB
  bool early;  // from the second run on: as the dependent of a grid that writes its inputs late
  void **arguments;
};

template <class... Parameters> inline const void *address_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void *>(kernel);
}

// The inputs are rubbish until the grid before has written them.
inline void late_inputs(cudaStream_t stream) {
  Late late = {};
  for (const Buffer &b : buffers()) {
    if (late.count == 16) break;
    must(cudaMemsetAsync(b.live, 0x3c, b.size, stream), "rubbish");
    late.live[late.count] = reinterpret_cast<unsigned *>(b.live);
    late.pristine[late.count] = reinterpret_cast<const unsigned *>(b.pristine);
    late.words[late.count++] = b.size / 4;
  }
  produce<<<16, 256, 0, stream>>>(late);
}

inline void start(const Launch &launch, cudaStream_t stream, int run) {
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (launch.cluster.x * launch.cluster.y * launch.cluster.z > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = launch.cluster.x;
    attributes[count].val.clusterDim.y = launch.cluster.y;
    attributes[count++].val.clusterDim.z = launch.cluster.z;
  }
  if (launch.early && run > 0) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = launch.grid;
  config.blockDim = launch.block;
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  cudaError_t status = cudaSuccess;
  if (launch.opt_in && launch.shared_bytes > 48 * 1024)
    status = cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(launch.shared_bytes));
  if (status == cudaSuccess && launch.cluster.x * launch.cluster.y * launch.cluster.z > 8)
    status = cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (status == cudaSuccess && launch.early && run > 0) late_inputs(stream);
  if (status == cudaSuccess) status = cudaLaunchKernelExC(&config, launch.kernel, launch.arguments);
  if (status == cudaSuccess) status = cudaGetLastError();
  if (status != cudaSuccess)
    outcome(SHOWN, "launch refused: %s (%d)%s", cudaGetErrorString(status), int(status),
            run ? ", not in the first run" : "");
}

inline void wait(cudaStream_t stream, int run) {
  const auto began = std::chrono::steady_clock::now();
  cudaError_t status;
  while ((status = cudaStreamQuery(stream)) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() - began > std::chrono::seconds(LIMIT_S))
      outcome(SHOWN, "hang: no end within %d s (run %d)", LIMIT_S, run + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (status != cudaSuccess)
    outcome(SHOWN, "error: %s (%d), run %d", cudaGetErrorString(status), int(status), run + 1);
}

inline void prepare(int run, cudaStream_t stream) {
  int device = 0, most = 0, sms = 0;
  must(cudaGetDevice(&device), "device");
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  must(cudaFuncSetAttribute(scrub, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "scrub");
  static const unsigned leftovers[] = {0, 0xffffffffu, 0x3f803f80u, 0xc040c040u};
  scrub<<<2 * sms, 256, most, stream>>>(leftovers[run % 4], unsigned(most / 4));
  for (const Buffer &b : buffers())
    must(cudaMemcpyAsync(b.live, b.pristine, b.size, cudaMemcpyDeviceToDevice, stream), "memory");
  must(cudaStreamSynchronize(stream), "preparing a run");
}

inline void check(int run, cudaStream_t stream, unsigned *first) {
  for (const Buffer &b : buffers()) {
    if (run == 0) {
      must(cudaMemcpy(b.first, b.live, b.size, cudaMemcpyDeviceToDevice), "memory");
      continue;
    }
    *first = 0xffffffffu;
    compare<<<256, 256, 0, stream>>>(reinterpret_cast<unsigned *>(b.live),
                                     reinterpret_cast<unsigned *>(b.first), unsigned(b.size / 4),
                                     first);
    must(cudaStreamSynchronize(stream), "comparing");
    if (*first != 0xffffffffu)
      outcome(SHOWN, "wrong: run %d leaves other results than run 1 in %s, first at byte %llu",
              run + 1, b.name, 4ull * *first);
  }
}

// Every third run has company.
inline void pressure(int run, cudaStream_t beside, unsigned *sink) {
  int device = 0, sms = 0;
  if (run % 3 != 1 || buffers().empty()) return;
  must(cudaGetDevice(&device), "device");
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const Buffer &b = buffers().front();
  press<<<sms, 128, 0, beside>>>(reinterpret_cast<unsigned *>(b.pristine), unsigned(b.size / 4),
                                 2000000, sink);
}

// Runs the kernel until something shows.
inline int run(const Launch &launch) {
  cudaStream_t stream, beside;
  unsigned *first;
  must(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "stream");
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  must(cudaMallocManaged(&first, sizeof *first), "memory");
  for (int i = 0; i < RUNS; ++i) {
    prepare(i, stream);
    pressure(i, beside, first);
    start(launch, stream, i);
    wait(stream, i);
    check(i, stream, first);
  }
  outcome(
      NOT_SHOWN,
      "nothing seen: %d runs end alike (on this device it passes by luck, or needs other sizes)",
      RUNS);
}

} // namespace kcheck_repro
