// SPDX-License-Identifier: Apache-2.0
//
// A CUDA runtime without a GPU, for tests of what the library does on the host: memory that only
// claims to be a GPU's, and launches that are noted but not run. The linker puts these functions
// before the runtime's own (--wrap, test/CMakeLists.txt). Include it in one file of a program.
#pragma once

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/detail/cuda/base/runtime.cuh>

namespace tilefold::test::fake {

// This runtime has no driver that could be found.
inline const bool driver_is_there = (detail::cuda::driver_was_seen = true);

struct block {
  cudaMemoryType type;
  std::size_t bytes;
};

struct runtime {
  std::map<const char*, block> memory;
  unsigned long long context = 1;
  bool has_context = true;
  unsigned long long capture = 0;  // 0: none
  std::vector<std::string> log;    // launches, questions and memsets, as they come
  int answers_left = -1;           // questions that are answered before one is refused; -1: all
  bool pageable_access = false;
  int driver_errors = 0;  // that tools such as compute-sanitizer would show to a user
  std::map<cudaStream_t, unsigned long long> stream_numbers;  // another one than the handle's
  std::vector<cudaStream_t> ended_streams;                    // touched, they are an error
  bool events_pending = false;
  int uses_of_ended_streams = 0;
  int early_launches = 0;                // that may begin before the one before them has ended
  std::vector<std::string> stream_ends;  // streams that are waited for and destroyed, as they come
  std::vector<std::pair<cudaHostFn_t, void*>> graph_ends;  // called when the captured graph is gone
};

inline runtime& state() {
  static runtime it;
  return it;
}

/// Whole pages, so that whoever touches them after release() is caught; and a page behind them that
/// is nobody's, so that their end is not the start of others.
inline void* allocate(std::size_t bytes, cudaMemoryType type) {
  constexpr std::size_t page = 4096;
  bytes = (bytes + page - 1) / page * page;
  void* memory =
      mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(static_cast<char*>(memory) + bytes, page, PROT_NONE);
  state().memory[static_cast<const char*>(memory)] = {type, bytes};
  return memory;
}
template <class T>
T* items_in(cudaMemoryType type, std::size_t n) {
  return static_cast<T*>(fake::allocate(n * sizeof(T), type));
}

inline cudaError_t release(void* memory) {
  const auto found = state().memory.find(static_cast<const char*>(memory));
  if (found == state().memory.end()) return cudaErrorInvalidValue;
  munmap(memory, found->second.bytes);
  state().memory.erase(found);
  return cudaSuccess;
}

inline const block* find(const void* pointer) {
  const auto* const p = static_cast<const char*>(pointer);
  auto next = state().memory.upper_bound(p);
  if (next == state().memory.begin()) return nullptr;
  --next;
  return p < next->first + next->second.bytes ? &next->second : nullptr;
}

/// What cudaGraphDestroy() does, of a graph without executables.
inline void destroy_graph() {
  for (const auto& [function, argument] : std::exchange(state().graph_ends, {})) function(argument);
}

/// What cudaDeviceReset() does.
inline void reset() {
  for (const auto& [memory, block] : state().memory) munmap(const_cast<char*>(memory), block.bytes);
  state().memory.clear();
  state().has_context = false;
}

inline void need_context() {
  if (state().has_context) return;
  state().has_context = true;
  ++state().context;
}

inline bool refuses(const char* question) {
  state().log.push_back(question);
  int& left = state().answers_left;
  if (left < 0 || left-- > 0) return false;
  left = 0;
  return true;
}

inline void note(cudaStream_t stream) {
  for (const cudaStream_t ended : state().ended_streams) {
    if (stream == ended) ++state().uses_of_ended_streams;
  }
}

inline int current_context(void** context) {
  *context = state().has_context ? &state() : nullptr;
  return 0;
}
inline int context_number(void*, unsigned long long* number) {
  if (!state().has_context) {
    ++state().driver_errors;
    return 201;  // CUDA_ERROR_INVALID_CONTEXT
  }
  *number = state().context;
  return 0;
}

}  // namespace tilefold::test::fake

// NOLINTBEGIN: names that the linker asks for.
extern "C" {
using namespace tilefold::test;

cudaError_t __wrap_cudaGetLastError() { return cudaSuccess; }
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int) {
  fake::need_context();
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrPageableMemoryAccess:
      *value = fake::state().pageable_access ? 1 : 0;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}
cudaError_t __wrap_cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
  fake::note(stream);
  fake::state().stream_ends.push_back("wait");
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamGetId(cudaStream_t stream, unsigned long long* number) {
  fake::note(stream);
  const auto found = fake::state().stream_numbers.find(stream);
  *number = found == fake::state().stream_numbers.end()
                ? static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream))
                : found->second;
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(std::uintptr_t{32});
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t, cudaStream_t stream) {
  fake::note(stream);
  fake::state().log.push_back("event");
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventQuery(cudaEvent_t) {
  return fake::state().events_pending ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t) {
  fake::state().log.push_back("wait");
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t __wrap_cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamGetDevice(cudaStream_t stream, int* device) {
  fake::note(stream);
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamCreate(cudaStream_t* stream) {
  fake::need_context();
  *stream = reinterpret_cast<cudaStream_t>(std::uintptr_t{64});
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t) {
  fake::state().stream_ends.push_back("destroy");
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status =
      fake::state().capture != 0 ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t __wrap_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* number, cudaGraph_t* graph,
                                            const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                            std::size_t*) {
#else
cudaError_t __wrap_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* number, cudaGraph_t* graph,
                                               const cudaGraphNode_t**, std::size_t*) {
#endif
  if (number != nullptr) *number = fake::state().capture;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(std::uintptr_t{96});
  return __wrap_cudaStreamIsCapturing(stream, status);
}
cudaError_t __wrap_cudaUserObjectCreate(cudaUserObject_t* object, void* argument,
                                        cudaHostFn_t function, unsigned, unsigned) {
  static std::pair<cudaHostFn_t, void*> last;  // retained at once
  last = {function, argument};
  *object = reinterpret_cast<cudaUserObject_t>(&last);
  return cudaSuccess;
}
cudaError_t __wrap_cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t object, unsigned,
                                             unsigned) {
  fake::state().graph_ends.push_back(
      *reinterpret_cast<const std::pair<cudaHostFn_t, void*>*>(object));
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(std::uintptr_t{128});
  return cudaSuccess;
}
cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  fake::need_context();
  fake::state().log.push_back("malloc of a graph");
  *memory = fake::allocate(bytes, cudaMemoryTypeDevice);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* memory) { return fake::release(memory); }
cudaError_t __wrap_cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  fake::need_context();
  *attributes = {};
  const auto* const block = fake::find(p);
  attributes->type = block == nullptr ? cudaMemoryTypeUnregistered : block->type;
  return cudaSuccess;
}
cudaError_t __wrap_cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  fake::need_context();
  *memory = fake::allocate(bytes, cudaMemoryTypeHost);
  return cudaSuccess;
}
cudaError_t __wrap_cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  fake::need_context();
  fake::note(stream);
  fake::state().log.push_back(fake::state().capture != 0 ? "recorded malloc" : "malloc");
  *memory = fake::allocate(bytes, cudaMemoryTypeDevice);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFreeHost(void* memory) { return fake::release(memory); }
cudaError_t __wrap_cudaFreeAsync(void* memory, cudaStream_t stream) {
  fake::note(stream);
  fake::state().log.push_back(fake::state().capture != 0 ? "recorded free" : "free");
  return fake::release(memory);
}
cudaError_t __wrap_cudaMemsetAsync(void*, int, std::size_t, cudaStream_t stream) {
  const bool recorded =
      fake::state().capture != 0 && stream != reinterpret_cast<cudaStream_t>(std::uintptr_t{128});
  fake::state().log.push_back(recorded ? "recorded memset" : "memset");
  return cudaSuccess;
}
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  if (fake::refuses("question")) return cudaErrorMemoryAllocation;
  *attributes = {};
  attributes->ptxVersion = 90;
  return cudaSuccess;
}
cudaError_t __wrap_cudaOccupancyMaxActiveClusters(int* clusters, const void*,
                                                  const cudaLaunchConfig_t*) {
  *clusters = 16;
  return fake::refuses("question") ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                          int, std::size_t,
                                                                          unsigned) {
  *blocks = 2;
  return fake::refuses("question") ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      ++fake::state().early_launches;
    }
  }
  fake::state().log.push_back(fake::state().capture != 0 ? "recorded launch" : "launch");
  return cudaSuccess;
}
#if CUDART_VERSION >= 12050
cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult*) {
#else
cudaError_t __wrap_cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                           cudaDriverEntryPointQueryResult*) {
#endif
  *function = std::string(name) == "cuCtxGetCurrent"
                  ? reinterpret_cast<void*>(&fake::current_context)
                  : reinterpret_cast<void*>(&fake::context_number);
  return cudaSuccess;
}
}
// NOLINTEND
