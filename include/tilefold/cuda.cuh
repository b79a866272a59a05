// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor: a stream, a workspace that is kept between calls, and a pinned word or two for
// results that are returned. It folds single sequences by itself. What folds forests, columns and
// keys is only declared here: the verbs that need it include it (segmented_reduce.hpp...). Needs
// nvcc; header-only, links the CUDA runtime.
#pragma once

#include <tilefold/detail/core/op_reducer.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/host_access.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/cuda/base/copies.cuh>
#include <tilefold/detail/cuda/base/graph_memory.cuh>
#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

// What folds forests, columns, rows, runs of keys and pieces stands with its launches, and is
// included by the verbs that need it, as are their sizes. Left undefined here, so that a missing
// include is a compile error.
template <class Build>
struct forest_folds;
template <class Build>
struct column_folds;
template <class Build>
struct row_folds;
template <class Build>
struct key_folds;
template <class Build>
struct piece_folds;
template <class Build>
struct piece_sizes;
template <class Build>
struct forest_sizes;
template <class Build>
struct key_sizes;

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
  /// Room for `count` results of one launch, each of which says that it is there.
  template <class Places>
  Places next_places(int count) {
    grow(detail::larger(Places::bytes_of(count), result_bytes));
    const unsigned before = ticket_++;
    const Places places = Places::in(memory_.get(), count, ticket_);
    for (int i = 0; i < count; ++i) *places[i].ticket_at = before;
    return places;
  }

  /// Room for an array of T.
  template <class T>
  T* reserve_array(std::int64_t count) {
    grow(detail::larger(static_cast<std::size_t>(count) * sizeof(T), result_bytes));
    return static_cast<T*>(memory_.get());
  }

  const void* memory() const { return memory_.get(); }

  /// Lets go of memory that is gone.
  void forget() noexcept { (void)memory_.release(); }

  /// Whether the results of `count` places are there, after a wait of 50 us or so.
  template <class Places>
  static bool are_there(const Places& places, int count) {
    int left = looks;
    for (int i = 0; i < count; ++i) {
      if (!is_there(places[i], left)) return false;
    }
    return true;
  }

 private:
  static constexpr int looks = 20000;  // about 50 us of reads from the cache

  template <class T>
  static bool is_there(const result_place<T>& place, int& left) {
    const std::atomic_ref<unsigned> seen(*place.ticket_at);
    for (; left > 0; --left) {
      if (seen.load(std::memory_order_acquire) == place.ticket) return true;
    }
    return false;
  }

  void grow(std::size_t bytes) {
    if (memory_ != nullptr && bytes <= bytes_) return;
    bytes = static_cast<std::size_t>(align_up(static_cast<std::int64_t>(bytes)));
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    memory_.reset(memory);
    bytes_ = bytes;
  }

  struct pinned_deleter {
    void operator()(void* memory) const {
      if (cudaFreeHost(memory) != cudaSuccess) (void)cudaGetLastError();
    }
  };

  // Enough for any result of the library's own reducers; a larger one grows it once.
  static constexpr std::size_t result_bytes = 256;

  std::unique_ptr<void, pinned_deleter> memory_;
  std::size_t bytes_ = 0;
  unsigned ticket_ = 0;
};

inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice (is there a CUDA device?)");
  return device;
}

/// The device that a stream belongs to; the special streams belong to the current one. A stream
/// that is being captured tells nothing of itself, and asking would end the capture; launches into
/// it need its device to be the current one.
inline int device_of(cudaStream_t stream) {
#if CUDART_VERSION >= 12080
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread &&
      !cuda::is_capturing(stream)) {
    int device = 0;
    check(cudaStreamGetDevice(stream, &device), "cudaStreamGetDevice");
    return device;
  }
#endif
  return current_device();
}

/// The number of the context of `device`.
inline unsigned long long context_of(int device) {
  const device_scope scope(device);
  return cuda::context_of_current(device);
}

inline device_info query(int device) {
  device_info info{};
  info.device = device;
  info.context = cuda::context_of(device);
  info.num_sms = cuda::attribute_of(device, cudaDevAttrMultiProcessorCount);
  info.pageable_access = cuda::attribute_of(device, cudaDevAttrPageableMemoryAccess) != 0;
  info.host_runs_along = cuda::attribute_of(device, cudaDevAttrConcurrentManagedAccess) != 0;
  const int major = cuda::attribute_of(device, cudaDevAttrComputeCapabilityMajor);
  const int minor = cuda::attribute_of(device, cudaDevAttrComputeCapabilityMinor);
  info.compute_capability = 10 * major + minor;
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  info.early_launches = major >= 9 && driver >= 12030;  // which has them in graphs, too
  return info;
}

/// The number of the capture that `stream` is in, which no other one has; 0 if it is in none.
inline unsigned long long capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, &number), "cudaStreamGetCaptureInfo");
  return status == cudaStreamCaptureStatusNone ? 0 : number;
}

}  // namespace tilefold::detail::cuda

namespace tilefold {

namespace detail {
template <class Build>
class kept_executors;
}

/// Executes reductions on one GPU, in the order of one stream.
///
/// - Stream: cuda_executor() makes its own on the current device (ordered with the legacy default
///   stream as ordinary streams are); cuda_executor(stream) borrows one, which must outlive the
///   executor. 0, cudaStreamLegacy and cudaStreamPerThread are fine. Wrappers of streams and
///   policies of thrust are taken as well; a verb takes them in place of an executor
///   (docs/streams.md).
/// - Destructor: waits for the work of the executor's own stream, so this work must not depend on
///   anything that the same thread does later. A borrowed stream may be destroyed right after the
///   executor; its work continues. In a borrowed stream a launch begins only when the one before
///   has ended (docs/notes/tuning.md).
/// - Workspace: one accumulator per tile and 3% for bookkeeping, at least 64 KiB once any is
///   needed; kept between calls. It grows in stream order from a memory resource: by default
///   cudaMallocAsync, or one of this library, cuda::mr or RMM. reserve() grows it ahead of time,
///   and use_workspace() sets the caller's memory; after either, calls that fit allocate nothing.
///   The size queries return the bytes that calls need.
/// - One launch per fold, any n. Asynchronous calls can be captured into a CUDA graph once the
///   workspace is large enough; a graph uses the executor's workspace, so the executor must outlive
///   it, must not grow meanwhile, and two such graphs must not run at the same time.
/// - A call that returns its value returns once the value has arrived; the kernel may not have
///   ended then. Other memory that functions of the caller write is complete only after a
///   synchronization with the stream.
/// - Threads: one executor serves one thread at a time. Any number of executors may run at once.
/// - After an exception the executor is as before and can be used again (unless CUDA reports an
///   error that ends the context).
/// - After cudaDeviceReset() an executor's stream and memory are gone. It can be destroyed;
///   all other functions throw cuda_error. Calls without an executor use a new one.
template <class Build>
class basic_cuda_executor {
 public:
  using executor_concept = executor_tag;

  /// An executor with a stream of its own on the current device.
  explicit basic_cuda_executor(device_memory_resource& resource = default_memory_resource())
      : gpu_(detail::cuda::query(detail::cuda::current_device())), workspace_(resource) {
    detail::cuda::check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    owns_stream_ = true;
    gpu_.stream_lasts = true;
  }

  /// An executor that works in `stream`, on the device the stream belongs to.
  explicit basic_cuda_executor(cudaStream_t stream,
                               device_memory_resource& resource = default_memory_resource())
      : gpu_(detail::cuda::query(detail::cuda::device_of(stream))),
        workspace_(resource),
        stream_(stream) {
    gpu_.stream_lasts =
        stream == cudaStreamLegacy || (stream == nullptr && !Build::per_thread_stream);
  }

  /// The same for any type that names a stream: cuda::stream_ref, rmm::cuda_stream_view, a policy
  /// such as thrust::cuda::par.on(stream) (docs/streams.md).
  template <detail::names_stream Named>
  explicit basic_cuda_executor(const Named& named,
                               device_memory_resource& resource = default_memory_resource())
      : basic_cuda_executor(detail::stream_of(named), resource) {}

  /// The same two with workspace from a resource of cuda::mr or RMM, a reference to one or a
  /// pointer: include memory_resource.cuh. A resource that is passed as an lvalue must outlive the
  /// executor; a resource_ref is copied, and a temporary is moved into the executor.
  template <detail::cuda::foreign_resource Resource>
  explicit basic_cuda_executor(Resource&& resource)
      : basic_cuda_executor(detail::cuda::adapt(static_cast<Resource&&>(resource))) {}
  template <detail::names_stream Named, detail::cuda::foreign_resource Resource>
  explicit basic_cuda_executor(const Named& named, Resource&& resource)
      : basic_cuda_executor(detail::stream_of(named),
                            detail::cuda::adapt(static_cast<Resource&&>(resource))) {}

  /// An executor that works in `stream` and in the caller's device memory, as use_workspace() takes
  /// it: `bytes` bytes at `workspace`, aligned to 256.
  template <detail::names_stream Named>
  explicit basic_cuda_executor(const Named& stream, void* workspace, std::int64_t bytes)
      : basic_cuda_executor(detail::stream_of(stream)) {
    use_workspace(workspace, bytes);
  }

  basic_cuda_executor(basic_cuda_executor&& other) noexcept
      : gpu_(other.gpu_),
        adapted_(std::move(other.adapted_)),
        workspace_(std::move(other.workspace_)),
        result_(std::move(other.result_)),
        stream_(std::exchange(other.stream_, nullptr)),
        owns_stream_(std::exchange(other.owns_stream_, false)),
        is_busy_(other.is_busy_),
        grows_in_captures_(other.grows_in_captures_) {}
  // Not assignable: the target's workspace would have to be freed in a stream that may be gone.
  basic_cuda_executor& operator=(basic_cuda_executor&&) = delete;

  ~basic_cuda_executor() {
    // The special streams are those of the current device. Errors cannot be
    // reported here: the driver is gone, or the context is.
    int current = gpu_.device;
    if (cudaGetDevice(&current) != cudaSuccess) (void)cudaGetLastError();
    if (current != gpu_.device) (void)cudaSetDevice(gpu_.device);
    if (is_of_another_context()) forget();
    workspace_.release(stream_);
    if (owns_stream_) destroy_stream();
    if (current != gpu_.device) (void)cudaSetDevice(current);
  }

  cudaStream_t stream() const { return stream_; }
  int device() const { return gpu_.device; }

  /// Blocks until all work of the stream is done; throws cuda_error if any of it failed.
  void synchronize() const {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    detail::cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  /// Bytes of workspace that a fold of n items with accumulators of `accumulator_bytes` bytes can
  /// need under the default policy for items of `item_bytes` bytes (of several iterators: the sum
  /// of theirs), and any of fewer items. 0 for no items.
  ///
  /// This and the other size queries need no GPU, and answer for every one. They throw
  /// invalid_range_error for a negative number of items, for items or accumulators of less than a
  /// byte, and for more than any memory holds.
  static std::int64_t workspace_bytes(std::int64_t n, std::int64_t item_bytes,
                                      std::int64_t accumulator_bytes) {
    return detail::cuda::fold_workspace_bytes(n, item_bytes, accumulator_bytes);
  }

  /// The same of a reduce_piece() of n items, wherever they stand in the whole. Of a reducer that
  /// asks for indices, `item_bytes` are 8 more. To call it, include piece.hpp.
  static std::int64_t piece_workspace_bytes(std::int64_t n, std::int64_t item_bytes,
                                            std::int64_t accumulator_bytes) {
    return detail::cuda::piece_sizes<Build>::of_piece(n, item_bytes, accumulator_bytes);
  }

  /// Bytes of workspace that a segmented_reduce() with offsets, or a batched_reduce(), needs, and
  /// any of fewer segments. To call it, include the header of the verb.
  static std::int64_t segments_workspace_bytes(std::int64_t num_segments,
                                               std::int64_t accumulator_bytes) {
    return detail::cuda::forest_sizes<Build>::of_any(num_segments, accumulator_bytes);
  }

  /// Bytes of workspace that a segmented_reduce() of segments of equal lengths, `segment_size`
  /// items of `item_bytes` bytes each, can need under the default policy, and any of fewer or
  /// shorter segments. 0 where no segment is shared by several blocks. To call it, include
  /// segmented_reduce.hpp.
  static std::int64_t equal_segments_workspace_bytes(std::int64_t num_segments,
                                                     std::int64_t segment_size,
                                                     std::int64_t item_bytes,
                                                     std::int64_t accumulator_bytes) {
    return detail::cuda::forest_sizes<Build>::of_equal(num_segments, segment_size, item_bytes,
                                                       accumulator_bytes);
  }

  /// Bytes of workspace that a reduce_by_key() of n keys needs, and any of fewer. At most 2^35
  /// keys. To call it, include reduce_by_key.hpp.
  static std::int64_t by_key_workspace_bytes(std::int64_t n, std::int64_t accumulator_bytes) {
    return detail::cuda::key_sizes<Build>::of_keys(n, accumulator_bytes);
  }

  std::int64_t workspace_bytes() const { return workspace_.bytes(); }

  /// Makes the workspace at least `bytes` bytes large.
  void reserve(std::int64_t bytes) {
    if (bytes < 0) {
      throw invalid_range_error("tilefold: cannot reserve " + std::to_string(bytes) + " bytes");
    }
    if (bytes <= workspace_.bytes()) return;
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    if (grows_in_captures_ &&
        detail::cuda::graph_memory::lend(workspace_, bytes, stream_, gpu_.context)) {
      return;
    }
    if (!grows_in_captures_ && detail::cuda::is_capturing(stream_)) {
      throw capture_error("tilefold: the stream is being captured and the workspace holds " +
                          std::to_string(workspace_.bytes()) + " of " + std::to_string(bytes) +
                          " bytes: call reserve(" + std::to_string(bytes) +
                          ") before the capture begins, or use_workspace() in it");
    }
    workspace_.grow(bytes, stream_);
  }

  /// Works in the caller's device memory from now on: `bytes` bytes at `memory`, aligned to 256.
  /// It must outlive the executor's work; a call that needs more allocates again. While the stream
  /// is being captured this is recorded: calls that follow in the capture work there, nothing need
  /// be reserved before, and the memory must outlive the graph. (Whenever the graph runs it zeroes
  /// the front of the memory, 3% or so; calls after the capture do so once for themselves.)
  void use_workspace(void* memory, std::int64_t bytes) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    detail::cuda::require_device_access(memory, "workspace", gpu_.device, gpu_.pageable_access);
    if (bytes < 512 || reinterpret_cast<std::uintptr_t>(memory) % 256 != 0) {
      throw memory_space_error(
          "tilefold: a workspace needs at least 512 bytes aligned to 256; got " +
          std::to_string(bytes) + " bytes at " + detail::cuda::hex(memory));
    }
    workspace_.adopt(memory, bytes, stream_, detail::cuda::capture_of(stream_));
  }

  /// Whether it folds in such accumulators, to such results, with such functions and items; says in
  /// one sentence why not.
  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    if constexpr (detail::cuda::copies_values<Accumulator, Result>()) {
      return takes_functions<Functions...>();
    } else {
      return false;
    }
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return (detail::cuda::copies_function<Functions>() && ...);
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return (detail::cuda::copies_item<Items>() && ...);
  }

  /// The iterator as kernels read it, if they `read` it at all: contiguous ones as raw pointers.
  /// Throws if this GPU cannot follow the pointer, or one that an adaptor is seen to start from.
  template <class It>
  auto accessible(const It& first, const char* what, bool reads = true) const {
    // Some outputs have no type of values.
    if constexpr (requires { typename std::iter_value_t<It>; }) {
      (void)detail::cuda::knows_number<std::iter_value_t<It>>();
    }
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
  void require_waiting() const {
    require_no_capture(
        "a call that is done when it returns would have to wait for it; use the form of it whose "
        "name ends in _into");
  }

  /// Throws if a call cannot look at offsets before it follows them: while the stream is being
  /// captured.
  void require_checking() const {
    require_no_capture(
        "a checked() call would have to wait for its look at the offsets; check them before the "
        "capture begins");
  }

  /// The projected fold of elements [0, n) of `source`, n >= 1. Blocks until it is there.
  template <class Policy, class Source, detail::folding Reducer, class Init>
  typename Reducer::result fold(const Source& source, const Reducer& reducer, const Init& init,
                                std::int64_t n) {
    require_waiting();
    return awaited<typename Reducer::result>(
        [&](const auto& place) {
          or_finish([&] { launch<Policy>(source, reducer, init, n, place); });
        },
        [](cudaStream_t stream) { detail::cuda::check(cudaStreamSynchronize(stream), "fold"); });
  }

  /// The same, written through `out` in the order of the stream.
  template <class Policy, class Source, detail::folding Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 const Out& out) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    const auto raw = accessible(out, "out");
    if constexpr (std::is_pointer_v<decltype(raw)>) {
      using value = std::remove_pointer_t<std::remove_const_t<decltype(raw)>>;
      launch<Policy>(source, reducer, init, n, detail::cuda::result_place<value>{raw, nullptr, 0});
    } else {
      launch<Policy>(source, reducer, init, n, raw);
    }
  }

  /// Calls start(out), which has one result written through `out` in the order of the stream, and
  /// returns it when it is there. If that takes long, wait(stream) waits. What start() throws
  /// leaves at once: it may have begun something that waits for others.
  template <class Result, class Start, class Wait>
  Result awaited(const Start& start, const Wait& wait) {
    return *awaited_places<detail::cuda::result_place<Result>>(1, start, wait).value;
  }

  /// The same of `count` results; returns their places, one result_place or result_places.
  template <class Places, class Start, class Wait>
  Places awaited_places(int count, const Start& start, const Wait& wait) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    const auto places = result_.template next_places<Places>(count);
    start(places);
    or_finish([&] {
      // The kernel's own word comes sooner than the runtime's that the kernel has ended.
      if (!gpu_.host_runs_along || !result_.are_there(places, count)) wait(stream_);
    });
    is_busy_ = false;
    return places;
  }

  /// Does work() of a call that waits. If it throws, what it has launched before may still read the
  /// caller's items, who may then give their memory back: so that is waited for first.
  template <class Work>
  void or_finish(const Work& work) const {
    try {
      work();
    } catch (...) {
      if (cudaStreamSynchronize(stream_) != cudaSuccess) (void)cudaGetLastError();
      throw;
    }
  }

  /// Calls launch(GPU, stream, workspace_for) where launches into the stream can be made.
  template <class Launch>
  void in_context(const Launch& launch) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    launch(gpu_, stream_, workspace_lender());
  }

  /// Pinned memory for `count` values, which folds can write and the host read; valid until the
  /// next call of a function that returns something.
  template <class T>
  T* pinned_array(std::int64_t count) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    return result_.template reserve_array<T>(count);
  }

  // The primitives for more than one range, as forest_folds and the others describe them.
  template <class Policy, class... Arguments>
  void fold_forest(const Arguments&... arguments) {
    detail::cuda::forest_folds<Build>::template write<Policy>(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_columns(const Arguments&... arguments) {
    detail::cuda::column_folds<Build>::write(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  void transform_rows(const Arguments&... arguments) {
    detail::cuda::row_folds<Build>::write(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_by_key_into(const Arguments&... arguments) {
    detail::cuda::key_folds<Build>::template write<Policy>(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  std::int64_t fold_by_key(const Arguments&... arguments) {
    return detail::cuda::key_folds<Build>::template count<Policy>(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_blocks_to(const Arguments&... arguments) {
    detail::cuda::piece_folds<Build>::template write<Policy>(*this, arguments...);
  }
  template <class Policy, class... Arguments>
  void fold_blocks(const Arguments&... arguments) {
    detail::cuda::piece_folds<Build>::template visit<Policy>(*this, arguments...);
  }

  /// Writes `value` through `out` in the order of the stream.
  template <class T, class Out>
  void store(const T& value, const Out& out) {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    detail::cuda::launch_store<Build>(value, accessible(out, "out"), stream_);
  }

 private:
  void require_no_capture(const char* why) const {
    const detail::cuda::context_scope scope(gpu_.device, gpu_.context);
    if (detail::cuda::is_capturing(stream_)) {
      throw capture_error(std::string("tilefold: the stream is being captured, and ") + why);
    }
  }

  auto workspace_lender() {
    return [this](const detail::cuda::workspace_demand& demand) -> const detail::cuda::workspace& {
      if (!demand.fits(workspace_.bytes())) {
        reserve(detail::larger(demand.bytes(), detail::cuda::least_workspace_bytes));
      }
      if (workspace_.is_zeroed_by_graph() && demand.partial_bytes > 0) {
        workspace_.zero(stream_, detail::cuda::capture_of(stream_));
      }
      if (demand.partial_bytes > 0) is_busy_ = true;
      return workspace_;
    };
  }

  template <class Policy, class Source, class Reducer, class Init, class Out>
  void launch(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
              Out out) {
    detail::cuda::launch_fold<Build, Policy>(source, reducer, init, n, out, gpu_, stream_,
                                             workspace_lender());
  }

  friend class detail::kept_executors<Build>;

  // Launches that begin early must not be under way (detail/cuda/base/launcher.cuh). A stream that
  // is being captured refuses to be waited for.
  void destroy_stream() const noexcept {
    const detail::cuda::beside_captures mode;
    if (cudaStreamSynchronize(stream_) != cudaSuccess) (void)cudaGetLastError();
    if (cudaStreamDestroy(stream_) != cudaSuccess) (void)cudaGetLastError();
  }

  using owned_resource = std::unique_ptr<device_memory_resource>;

  explicit basic_cuda_executor(owned_resource resource) : basic_cuda_executor(*resource) {
    adapted_ = std::move(resource);
  }
  basic_cuda_executor(cudaStream_t stream, owned_resource resource)
      : basic_cuda_executor(stream, *resource) {
    adapted_ = std::move(resource);
  }

  // Whether the current context of the executor's device is another one; false if unknown.
  bool is_of_another_context() const noexcept {
    const unsigned long long current = detail::cuda::context_of_current(gpu_.device);
    return gpu_.context != 0 && current != 0 && gpu_.context != current;
  }

  // Whether the memory that it has, if any, is memory that CUDA knows.
  bool keeps_memory() const {
    const void* const memory =
        result_.memory() != nullptr ? result_.memory() : workspace_.arrivals();
    return memory == nullptr ||
           detail::cuda::place_of(memory).space != detail::cuda::memory_space::host;
  }

  // What the executor has was the context's, and is gone with it.
  void forget() noexcept {
    workspace_.forget();
    result_.forget();
    owns_stream_ = false;
  }

  detail::cuda::device_info gpu_;
  owned_resource adapted_;  // if the workspace comes from a resource of others
  detail::cuda::workspace workspace_;
  detail::cuda::awaited_result result_;
  cudaStream_t stream_ = nullptr;
  bool owns_stream_ = false;
  bool is_busy_ = false;            // work may be under way that uses the workspace
  bool grows_in_captures_ = false;  // takes workspace from the graph that is being captured
};

using cuda_executor = basic_cuda_executor<detail::cuda::this_build>;

namespace detail {

// From here on the host executor of this program knows a device pointer when it sees one.
inline const bool host_pointer_guard_is_set =
    (host_pointer_guard.store(&cuda::refuse_device_memory, std::memory_order_release), true);

}  // namespace detail

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
