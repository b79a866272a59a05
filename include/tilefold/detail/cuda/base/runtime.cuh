// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime as the library uses it: error codes become exceptions, the current device is
// restored, and pointers are looked up for the memory that they lead to.
#pragma once

#include <cuda_runtime_api.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

// Whether this process has loaded CUDA's driver. If not, all memory is the host's, and the driver
// need not be started to know that, which takes some tenths of a second.

// The number of shared objects that were loaded so far.
inline unsigned long long num_loads() {
  unsigned long long count = 0;
  (void)dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = object->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

inline bool is_driver(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return std::strncmp(slash == nullptr ? path : slash + 1, "libcuda.so", 10) == 0;
}

inline bool find_driver() {
  return dl_iterate_phdr(
             [](dl_phdr_info* object, std::size_t, void*) {
               return object->dlpi_name != nullptr && is_driver(object->dlpi_name) ? 1 : 0;
             },
             nullptr) != 0;
}

// Whether the driver has been seen among the loaded objects. Once loaded, it stays.
inline std::atomic<bool> driver_was_seen{false};

/// Looks through the loaded objects only if objects were loaded since the last time.
inline bool is_driver_loaded() {
  static std::atomic<unsigned long long> looked_at{0};
  if (driver_was_seen.load(std::memory_order_acquire)) return true;
  const unsigned long long loads = num_loads();
  if (loads == looked_at.load(std::memory_order_acquire)) return false;
  if (find_driver()) {
    driver_was_seen.store(true, std::memory_order_release);
    return true;
  }
  looked_at.store(loads, std::memory_order_release);
  return false;
}

/// Throws cuda_error if `code` is a failure. The runtime's "last error" is cleared, so that the
/// caller's next check does not find our failure again.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  throw cuda_error(std::string("tilefold: ") + what + " failed: " + cudaGetErrorName(code) + " (" +
                       cudaGetErrorString(code) + ")",
                   static_cast<int>(code));
}

/// Makes a device current for a scope.
class device_scope {
 public:
  explicit device_scope(int device) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    if (previous_ != device) check(cudaSetDevice(device), "cudaSetDevice");
    changed_ = previous_ != device;
  }
  ~device_scope() {
    if (changed_) (void)cudaSetDevice(previous_);
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// Lets this thread query events, and allocate and free memory, while another thread captures.
class beside_captures {
 public:
  beside_captures() noexcept { exchange(); }
  ~beside_captures() { exchange(); }
  beside_captures(const beside_captures&) = delete;  // restores in one place only
  beside_captures& operator=(const beside_captures&) = delete;

 private:
  void exchange() noexcept {
    if (cudaThreadExchangeStreamCaptureMode(&mode_) != cudaSuccess) (void)cudaGetLastError();
  }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

inline int attribute_of(int device, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// A function of the driver, which has it since CUDA `version`; null if it has not.
template <class Function>
Function* driver_function(const char* name, [[maybe_unused]] unsigned version) noexcept {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
  const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (code != cudaSuccess) (void)cudaGetLastError();
  return code == cudaSuccess ? reinterpret_cast<Function*>(found) : nullptr;
}

/// The number of the current context, which no other one has had; 0 if there is none or unknown.
inline unsigned long long current_context() noexcept {
  using current_function = int(void** context);                            // cuCtxGetCurrent
  using number_function = int(void* context, unsigned long long* number);  // cuCtxGetId
  static current_function* const current =
      cuda::driver_function<current_function>("cuCtxGetCurrent", 4000);
  static number_function* const number_of =
      cuda::driver_function<number_function>("cuCtxGetId", 12000);
  // Asked for the number of no context, the driver reports an error, which tools show to the user.
  void* context = nullptr;
  if (current == nullptr || number_of == nullptr || current(&context) != 0 || context == nullptr) {
    return 0;
  }
  unsigned long long number = 0;
  return number_of(context, &number) == 0 ? number : 0;
}

/// current_context() of `device`, the current device. Makes a context if there is none: a thread
/// has none before its first call, nor any thread after cudaDeviceReset().
inline unsigned long long context_of_current(int device) noexcept {
  const unsigned long long number = cuda::current_context();
  if (number != 0) return number;
  if (cudaSetDevice(device) != cudaSuccess) (void)cudaGetLastError();
  return cuda::current_context();
}

/// Makes a device current for a scope, whose context must be the one of that number (or 0).
class context_scope : private device_scope {
 public:
  context_scope(int device, unsigned long long context) : device_scope(device) {
    const unsigned long long current = cuda::context_of_current(device);
    if (context == current || context == 0 || current == 0) return;
    throw cuda_error("tilefold: the executor was made in CUDA context " + std::to_string(context) +
                         " of GPU " + std::to_string(device) + ", but the current one is " +
                         std::to_string(current) +
                         ": after cudaDeviceReset() its stream and its memory are gone; make a new "
                         "executor",
                     static_cast<int>(cudaErrorContextIsDestroyed));
  }
};

enum class memory_space { host, pinned, managed, device };

struct pointer_place {
  memory_space space;
  int device;
};

/// Where `pointer` leads. Without a usable GPU every pointer is a host pointer; also in a forked
/// child of a process that used a GPU, and while the process ends.
inline pointer_place place_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  const cudaError_t code = cudaPointerGetAttributes(&attributes, pointer);
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
      code == cudaErrorStubLibrary || code == cudaErrorInvalidValue ||
      code == cudaErrorInitializationError || code == cudaErrorCudartUnloading) {
    (void)cudaGetLastError();
    return {memory_space::host, -1};
  }
  // Other errors are of earlier work: the place is not known, and must not be taken for the host.
  check(code, "cudaPointerGetAttributes");
  switch (attributes.type) {
    case cudaMemoryTypeDevice:
      return {memory_space::device, attributes.device};
    case cudaMemoryTypeManaged:
      return {memory_space::managed, attributes.device};
    case cudaMemoryTypeHost:
      return {memory_space::pinned, attributes.device};
    default:
      return {memory_space::host, -1};
  }
}

inline std::string hex(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

/// Throws unless kernels on `device` can follow `pointer`, which leads to `place`.
inline void require_reachable(pointer_place place, const void* pointer, const char* what,
                              int device, bool pageable_access) {
  if (place.space == memory_space::host && !pageable_access) {
    throw memory_space_error(std::string("tilefold: ") + what + " = " + hex(pointer) +
                             " is not memory that GPU " + std::to_string(device) +
                             " can reach (pageable host memory, or no valid pointer); use the host "
                             "executor, or device, managed or pinned memory");
  }
  if (place.space == memory_space::device && place.device != device) {
    throw memory_space_error(std::string("tilefold: ") + what + " = " + hex(pointer) +
                             " is memory of GPU " + std::to_string(place.device) +
                             ", but the executor runs on GPU " + std::to_string(device));
  }
}

/// Throws unless kernels on `device` can follow `pointer`, which must not be null.
inline void require_device_access(const void* pointer, const char* what, int device,
                                  bool pageable_access) {
  if (pointer == nullptr) {
    throw null_pointer_error(std::string("tilefold: ") + what +
                             " is a null pointer, but there is something to read or write");
  }
  require_reachable(place_of(pointer), pointer, what, device, pageable_access);
}

// The place of memory that the runtime knows at `pointer`, or next to it. Pointers may lie one past
// the end of their memory (a reverse iterator's), or an item before its start (counts from one).
inline pointer_place nearest_place(const void* pointer) {
  constexpr std::intptr_t largest_item = 64;
  constexpr std::intptr_t offsets[] = {0, -1, largest_item};
  for (const std::intptr_t offset : offsets) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(offset);
    const pointer_place place = place_of(reinterpret_cast<const void*>(address));
    if (place.space != memory_space::host) return place;
  }
  return {memory_space::host, -1};
}

/// Throws unless kernels on `device` can follow a pointer that an adaptor starts from. The pointer
/// need not be that of an item, and a null pointer may be part of an address. So a pointer is
/// refused only if no GPU memory is near.
inline void require_device_access_near(const void* pointer, const char* what, int device,
                                       bool pageable_access) {
  if (pointer == nullptr) return;
  require_reachable(nearest_place(pointer), pointer, what, device, pageable_access);
}

/// The host executor's guard: a host that knows no CUDA must not touch device memory.
inline void refuse_device_memory(const void* pointer) {
  if (!is_driver_loaded()) return;
  const pointer_place place = place_of(pointer);
  if (place.space == memory_space::device) {
    throw memory_space_error("tilefold: " + hex(pointer) + " is memory of GPU " +
                             std::to_string(place.device) +
                             ", which the host executor cannot read; use a cuda_executor, or "
                             "compile this call with nvcc");
  }
}

}  // namespace tilefold::detail::cuda
