// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor: a stream, a workspace that is kept between calls, and a pinned word or two for
// results that are returned. Needs nvcc; header-only, links the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/cuda/launch.cuh>
#include <tilefold/detail/cuda/launch_by_key.cuh>
#include <tilefold/detail/cuda/launch_columns.cuh>
#include <tilefold/detail/cuda/launch_forest.cuh>
#include <tilefold/detail/cuda/runtime.cuh>
#include <tilefold/detail/cuda/workspace.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/root_pointer.hpp>
#include <tilefold/detail/strided.hpp>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold {

namespace detail::cuda {

/// The raw pointer inside an iterator over contiguous memory; any other iterator as it is.
template <class It>
auto unwrap(const It& it) {
  if constexpr (unwraps_to_pointer<It>) {
    return try_unwrap_contiguous_iterator(it);
  } else if constexpr (std::contiguous_iterator<It>) {
    return std::to_address(it);
  } else {
    return it;
  }
}

/// Pinned host memory for a result that a caller waits for, kept between calls.
class awaited_result {
 public:
  awaited_result() = default;
  awaited_result(awaited_result&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        ticket_(other.ticket_) {}
  awaited_result& operator=(awaited_result&&) = delete;  // one owner
  ~awaited_result() { release(); }

  /// Room for a T.
  template <class T>
  T* reserve() {
    grow(detail::larger(sizeof(T), result_bytes));
    return static_cast<T*>(memory_);
  }

  /// The same for one launch, which is_there() then asks about.
  template <class T>
  result_place<T> next() {
    T* const value = reserve<T>();
    return {value, ticket_at(), ++ticket_};
  }

  /// Whether the result of the latest next() is there, after a wait of 50 us or so.
  bool is_there() const {
    const std::atomic_ref<unsigned> seen(*ticket_at());
    for (int i = 0; i < looks; ++i) {
      if (seen.load(std::memory_order_acquire) == ticket_) return true;
    }
    return false;
  }

 private:
  // About 50 us of reads from the cache.
  static constexpr int looks = 20000;

  unsigned* ticket_at() const {
    return reinterpret_cast<unsigned*>(static_cast<char*>(memory_) + bytes_);
  }

  void grow(std::size_t bytes) {
    if (bytes <= bytes_) return;
    bytes = static_cast<std::size_t>(align_up(static_cast<std::int64_t>(bytes)));
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes + sizeof(unsigned), cudaHostAllocPortable), "cudaHostAlloc");
    release();
    memory_ = memory;
    bytes_ = bytes;
    *ticket_at() = ticket_;
  }

  void release() noexcept {
    if (memory_ != nullptr && cudaFreeHost(memory_) != cudaSuccess) (void)cudaGetLastError();
  }

  // Enough for any result of the library's own reducers; a larger one grows it once.
  static constexpr std::size_t result_bytes = 256;

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  unsigned ticket_ = 0;
};

inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice (is there a CUDA device?)");
  return device;
}

/// The device that a stream belongs to; the special streams belong to the current one.
inline int device_of(cudaStream_t stream) {
#if CUDART_VERSION >= 12080
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread) {
    int device = 0;
    check(cudaStreamGetDevice(stream, &device), "cudaStreamGetDevice");
    return device;
  }
#endif
  return current_device();
}

inline constexpr int first_driver_for_early_graphs = 12030;

inline device_info query(int device) {
  device_info info{};
  info.device = device;
  int pageable = 0;
  int concurrent = 0;
  int major = 0;
  int driver = 0;
  check(cudaDeviceGetAttribute(&info.num_sms, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device),
        "cudaDeviceGetAttribute");
  info.pageable_access = pageable != 0;
  info.host_runs_along = concurrent != 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  info.early_launches = major >= 9 && driver >= first_driver_for_early_graphs;
  return info;
}

inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace detail::cuda

/// Runs folds on one GPU, in the order of one stream.
///
/// - Stream: cuda_executor() makes its own on the current device (ordered with the legacy default
///   stream as ordinary streams are); cuda_executor(stream) borrows one, which must outlive the
///   executor. 0, cudaStreamLegacy and cudaStreamPerThread are fine.
/// - Workspace: one accumulator per tile and 3% for bookkeeping, at least 64 KiB once any is
/// needed,
///   kept between calls. It grows in stream order from a memory resource, cudaMallocAsync unless
///   another is given (which must then outlive the executor); reserve() grows it ahead of time and
///   use_workspace() takes the caller's memory, after which calls that fit allocate nothing.
/// - One launch per fold, any n. Asynchronous calls can be captured into a CUDA graph once the
///   workspace is large enough; a graph uses the executor's workspace, so the executor must outlive
///   it, must not grow meanwhile, and two such graphs must not run at the same time.
/// - A call that returns its value returns when the value is there, for which it looks by itself at
///   first; the stream may still be busy with the end of its kernel.
/// - Threads: one executor serves one thread at a time. Any number of executors may run at once.
/// - After an exception the executor is as before and can be used again (unless CUDA reports an
///   error that ends the context).
template <class Build>
class basic_cuda_executor {
 public:
  using executor_concept = executor_tag;

  /// An executor with a stream of its own on the current device.
  explicit basic_cuda_executor(device_memory_resource& resource = default_memory_resource())
      : gpu_(detail::cuda::query(detail::cuda::current_device())), workspace_(resource) {
    detail::cuda::check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    owns_stream_ = true;
  }

  /// An executor that works in `stream`, on the device the stream belongs to.
  explicit basic_cuda_executor(cudaStream_t stream,
                               device_memory_resource& resource = default_memory_resource())
      : gpu_(detail::cuda::query(detail::cuda::device_of(stream))),
        workspace_(resource),
        stream_(stream) {}

  basic_cuda_executor(basic_cuda_executor&& other) noexcept
      : gpu_(other.gpu_),
        workspace_(std::move(other.workspace_)),
        result_(std::move(other.result_)),
        stream_(std::exchange(other.stream_, nullptr)),
        owns_stream_(std::exchange(other.owns_stream_, false)) {}
  // Not assignable: the target's workspace would have to be freed in a stream that may be gone.
  basic_cuda_executor& operator=(basic_cuda_executor&&) = delete;

  ~basic_cuda_executor() {
    // The special streams are those of the current device. Errors here have nobody to go to: the
    // driver is gone, or the context is.
    int current = gpu_.device;
    if (cudaGetDevice(&current) != cudaSuccess) (void)cudaGetLastError();
    if (current != gpu_.device) (void)cudaSetDevice(gpu_.device);
    workspace_.release(stream_);
    if (owns_stream_ && cudaStreamDestroy(stream_) != cudaSuccess) (void)cudaGetLastError();
    if (current != gpu_.device) (void)cudaSetDevice(current);
  }

  cudaStream_t stream() const { return stream_; }
  int device() const { return gpu_.device; }

  /// Blocks until all work of the stream is done; throws cuda_error if any of it failed.
  void synchronize() const {
    const detail::cuda::device_scope scope(gpu_.device);
    detail::cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  /// Bytes of workspace that a fold of n items with accumulators of `accumulator_bytes` bytes can
  /// need under the default policy for items of `item_bytes` bytes, and any of fewer items.
  static std::int64_t workspace_bytes(std::int64_t n, std::int64_t item_bytes,
                                      std::int64_t accumulator_bytes) {
    return detail::cuda::default_workspace_bytes(n, static_cast<int>(item_bytes),
                                                 accumulator_bytes);
  }

  /// Bytes of workspace that a segmented_reduce() with offsets, or a batched_reduce(), needs.
  static std::int64_t segments_workspace_bytes(std::int64_t num_segments,
                                               std::int64_t accumulator_bytes) {
    return detail::cuda::queue_demand(num_segments, accumulator_bytes).bytes();
  }

  /// Bytes of workspace that a reduce_by_key() of n keys needs, and any of fewer.
  static std::int64_t by_key_workspace_bytes(std::int64_t n, std::int64_t accumulator_bytes) {
    return detail::cuda::by_key_demand(n, accumulator_bytes).bytes();
  }

  std::int64_t workspace_bytes() const { return workspace_.bytes(); }

  /// Makes sure that the workspace holds at least `bytes` bytes.
  void reserve(std::int64_t bytes) {
    if (bytes < 0) {
      throw invalid_range_error("tilefold: cannot reserve " + std::to_string(bytes) + " bytes");
    }
    if (bytes <= workspace_.bytes()) return;
    const detail::cuda::device_scope scope(gpu_.device);
    if (detail::cuda::is_capturing(stream_)) {
      throw capture_error("tilefold: the stream is being captured and the workspace holds " +
                          std::to_string(workspace_.bytes()) + " of " + std::to_string(bytes) +
                          " bytes: call reserve(" + std::to_string(bytes) +
                          ") before the capture begins");
    }
    workspace_.grow(bytes, stream_);
  }

  /// Works in the caller's device memory from now on: `bytes` bytes at `memory`, aligned to 256.
  /// It must outlive the executor's work; a call that needs more allocates again.
  void use_workspace(void* memory, std::int64_t bytes) {
    const detail::cuda::device_scope scope(gpu_.device);
    if (detail::cuda::is_capturing(stream_)) {
      throw capture_error(
          "tilefold: the stream is being captured: call use_workspace before the capture begins");
    }
    detail::cuda::require_device_access(memory, "workspace", gpu_.device, gpu_.pageable_access);
    if (bytes < 512 || reinterpret_cast<std::uintptr_t>(memory) % 256 != 0) {
      throw memory_space_error(
          "tilefold: a workspace needs at least 512 bytes aligned to 256; got " +
          std::to_string(bytes) + " bytes at " + detail::cuda::hex(memory));
    }
    workspace_.adopt(memory, bytes, stream_);
  }

  /// The iterator as kernels read it, if they `read` it at all: contiguous ones as raw pointers.
  /// Throws if this GPU cannot follow the pointer, or one that an adaptor is seen to start from.
  template <class It>
  auto readable(const It& first, const char* what, bool reads = true) const {
    auto raw = detail::cuda::unwrap(first);
    if (!reads) return raw;
    if constexpr (std::is_pointer_v<decltype(raw)>) {
      detail::cuda::require_device_access(raw, what, gpu_.device, gpu_.pageable_access);
    } else {
      detail::visit_roots(raw, [&](const volatile void* root) {
        detail::cuda::require_device_access_near(const_cast<const void*>(root), what, gpu_.device,
                                                 gpu_.pageable_access);
      });
    }
    return raw;
  }

  /// Throws if a call cannot wait for its own work: while the stream is being captured.
  void require_waiting(const char* verb) const {
    const detail::cuda::device_scope scope(gpu_.device);
    if (detail::cuda::is_capturing(stream_)) {
      throw capture_error(
          "tilefold: the stream is being captured, and a call that is done when it returns would "
          "have to wait for it; use " +
          std::string(verb) + "_into");
    }
  }

  /// Throws if a call cannot look at offsets before it follows them: while the stream is being
  /// captured.
  void require_checking() const {
    const detail::cuda::device_scope scope(gpu_.device);
    if (detail::cuda::is_capturing(stream_)) {
      throw capture_error(
          "tilefold: the stream is being captured, and a checked() call would have to wait for its "
          "look at the offsets; check them before the capture begins");
    }
  }

  /// The projected fold of elements [0, n) of `source`, n >= 1. Blocks until it is there.
  template <class Policy, class Source, class Reducer, class Init>
  typename Reducer::result fold(const Source& source, const Reducer& reducer, const Init& init,
                                std::int64_t n) {
    const detail::cuda::device_scope scope(gpu_.device);
    require_waiting("reduce");
    const auto place = result_.template next<typename Reducer::result>();
    launch<Policy>(source, reducer, init, n, place);
    // The kernel's own word comes sooner than the runtime's that the kernel has ended.
    if (!gpu_.host_runs_along || !result_.is_there()) {
      detail::cuda::check(cudaStreamSynchronize(stream_), "fold");
    }
    return *place.value;
  }

  /// The same, written through `out` in the order of the stream.
  template <class Policy, class Source, class Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 const Out& out) {
    const detail::cuda::device_scope scope(gpu_.device);
    const auto raw = readable(out, "out");
    if constexpr (std::is_pointer_v<decltype(raw)>) {
      using value = std::remove_pointer_t<std::remove_const_t<decltype(raw)>>;
      launch<Policy>(source, reducer, init, n, detail::cuda::result_place<value>{raw, nullptr, 0});
    } else {
      launch<Policy>(source, reducer, init, n, raw);
    }
  }

  /// Writes the projected fold of every tree i of `forest` through out[i], in the order of the
  /// stream; `empty` (an accumulator, or a given_result) stands for trees without elements.
  /// `most_trees` >= 1 is the number of trees, or a bound where only the GPU knows it.
  template <class Policy, class Forest, class Reducer, class Init, class Empty, class Out>
  void fold_forest(const Forest& forest, std::int64_t most_trees, const Reducer& reducer,
                   const Init& init, const Empty& empty, const Out& out) {
    const detail::cuda::device_scope scope(gpu_.device);
    const auto raw_out = readable(out, "out");
    const detail::cuda::forest_job<Forest, Reducer, Init, std::remove_const_t<decltype(raw_out)>,
                                   Empty>
        job{forest, {reducer, 0u}, init, empty, raw_out, gpu_, stream_};
    if constexpr (detail::is_column_forest<Forest>) {
      detail::cuda::launch_columns<Build>(job, provider());
    } else {
      detail::cuda::launch_forest_by<Build, Policy>(job, most_trees, provider());
    }
  }

  /// Writes the first key of every run of `items`, which are not none, through keys_out, the
  /// projected fold of its elements through values_out, and the number of runs through
  /// num_runs_out, in the order of the stream.
  template <class Policy, class Items, class Reducer, class Init, class KeysOut, class ValuesOut,
            class CountOut>
  void fold_by_key_into(const Items& items, const Reducer& reducer, const Init& init,
                        const KeysOut& keys_out, const ValuesOut& values_out,
                        const CountOut& num_runs_out) {
    const detail::cuda::device_scope scope(gpu_.device);
    detail::cuda::launch_by_key<Build, Policy>(
        items, reducer, init, readable(keys_out, "keys_out"), readable(values_out, "values_out"),
        readable(num_runs_out, "num_runs_out"), gpu_, stream_, provider());
  }

  /// The same; returns the number of runs. Blocks until everything is there.
  template <class Policy, class Items, class Reducer, class Init, class KeysOut, class ValuesOut>
  std::int64_t fold_by_key(const Items& items, const Reducer& reducer, const Init& init,
                           const KeysOut& keys_out, const ValuesOut& values_out) {
    const detail::cuda::device_scope scope(gpu_.device);
    auto* const num_runs = result_.template reserve<std::int64_t>();
    fold_by_key_into<Policy>(items, reducer, init, keys_out, values_out, num_runs);
    detail::cuda::check(cudaStreamSynchronize(stream_), "fold_by_key");
    return *num_runs;
  }

  /// Writes `value` through `out` in the order of the stream.
  template <class T, class Out>
  void store(const T& value, const Out& out) {
    const detail::cuda::device_scope scope(gpu_.device);
    detail::cuda::launch_store<Build>(value, readable(out, "out"), stream_);
  }

 private:
  auto provider() {
    return [this](const detail::cuda::workspace_demand& demand) -> const detail::cuda::workspace& {
      if (!demand.fits(workspace_.bytes())) {
        reserve(detail::larger(demand.bytes(), detail::cuda::least_workspace_bytes));
      }
      return workspace_;
    };
  }

  template <class Policy, class Source, class Reducer, class Init, class Out>
  void launch(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
              Out out) {
    detail::cuda::launch_fold<Build, Policy>(source, reducer, init, n, out, gpu_, stream_,
                                             provider());
  }

  detail::cuda::device_info gpu_;
  detail::cuda::workspace workspace_;
  detail::cuda::awaited_result result_;
  cudaStream_t stream_ = nullptr;
  bool owns_stream_ = false;
};

using cuda_executor = basic_cuda_executor<detail::cuda::this_build>;

namespace detail {

// From here on the host executor of this program knows a device pointer when it sees one.
inline const bool host_pointer_guard_is_set =
    (host_pointer_guard.store(&cuda::refuse_device_memory, std::memory_order_release), true);

/// The calling thread's executor for the current device and default stream, made on first use.
template <class Build>
basic_cuda_executor<Build>& default_cuda_executor(cudaStream_t stream) {
  thread_local std::vector<basic_cuda_executor<Build>> executors;
  const int device = cuda::current_device();
  for (auto& executor : executors) {
    if (executor.device() == device) return executor;
  }
  return executors.emplace_back(stream);
}

// thrust marks iterators over device memory by their category, a template of three arguments whose
// first is not the standard tag. Iterators of any system (counting, constant) count as the host's.
template <class Category>
inline constexpr bool device_category = false;
template <template <class, class, class> class Combined, class First, class System, class Traversal>
inline constexpr bool device_category<Combined<First, System, Traversal>> =
    !std::is_same_v<First, std::random_access_iterator_tag>;
template <class It>
concept device_iterator =
    !std::is_pointer_v<It> && device_category<typename std::iterator_traits<It>::iterator_category>;

/// Under nvcc: raw pointers and spans go where their memory is, thrust's device iterators to the
/// GPU, every other iterator to the host (which refuses device memory).
template <class Build, class HostMode>
struct cuda_dispatch {
  template <class... Functors, class It, class Use>
  static auto with_executor(const It& first, Use use) {
    if constexpr (wraps_any_pointer<It> || unwraps_to_pointer<It>) {
      const auto pointer = cuda::unwrap(first);
      const auto space = cuda::place_of(pointer).space;
      const bool on_gpu =
          space == cuda::memory_space::device || space == cuda::memory_space::managed;
      const bool gpu_can_read = on_gpu || space == cuda::memory_space::pinned || pointer == nullptr;
      if constexpr ((device_only<Functors> || ...)) {
        if (!gpu_can_read) {
          throw memory_space_error("tilefold: " + cuda::hex(pointer) +
                                   " is host memory, but the operator is a __device__ lambda");
        }
        return use(gpu());
      } else {
        if (on_gpu) return use(gpu());
        return use(basic_host_executor<HostMode>{});
      }
    } else if constexpr (device_iterator<It>) {
      return use(gpu());
    } else {
      return use(basic_host_executor<HostMode>{});
    }
  }

 private:
  static basic_cuda_executor<Build>& gpu() {
    return default_cuda_executor<Build>(Build::per_thread_stream ? cudaStreamPerThread
                                                                 : cudaStreamLegacy);
  }
};

}  // namespace detail

}  // namespace tilefold
