// SPDX-License-Identifier: Apache-2.0
//
// Device memory for partials and arrival counters, kept between calls. Grows in the order of one
// stream; never shrinks. Counters lie at the front of a block of memory, in a region whose size
// depends on the block's size alone, so that no call's partials ever lie where another call's
// counters do: they are zeroed once, when the block arrives, and every launch leaves them zero.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/error.hpp>
#include <tilefold/tree.hpp>

namespace tilefold {

/// Where an executor takes device memory from. Implement it to use a pool of your own; both
/// functions work in the order of `stream`. `allocate` returns at least `bytes` bytes aligned to
/// 256, or throws (allocation_error, say).
class device_memory_resource {
 public:
  virtual ~device_memory_resource() = default;
  virtual void* allocate(std::int64_t bytes, cudaStream_t stream) = 0;
  virtual void deallocate(void* memory, std::int64_t bytes, cudaStream_t stream) noexcept = 0;
};

/// cudaMallocAsync and cudaFreeAsync: the device's default memory pool.
class async_memory_resource final : public device_memory_resource {
 public:
  void* allocate(std::int64_t bytes, cudaStream_t stream) override {
    void* memory = nullptr;
    const cudaError_t code = cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), stream);
    if (code == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw allocation_error(
          "tilefold: the device has no " + std::to_string(bytes) + " bytes of workspace left",
          bytes);
    }
    detail::cuda::check(code, "cudaMallocAsync");
    return memory;
  }
  void deallocate(void* memory, std::int64_t, cudaStream_t stream) noexcept override {
    // Fails when the process is ending and the driver is gone, which frees the memory as well.
    if (cudaFreeAsync(memory, stream) != cudaSuccess) (void)cudaGetLastError();
  }
};

/// The resource that executors use unless they are given another.
inline device_memory_resource& default_memory_resource() {
  static async_memory_resource resource;
  return resource;
}

namespace detail::cuda {

constexpr std::int64_t align_up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// The part of a workspace of `bytes` bytes that holds arrival counters.
constexpr std::int64_t arrivals_region(std::int64_t bytes) {
  return detail::smaller(align_up(bytes / 32 + 1), bytes / 256 * 256);
}

/// The workspace that one launch needs.
struct workspace_demand {
  std::int64_t partial_bytes;
  std::int64_t arrival_bytes;

  /// The smallest workspace that fits.
  constexpr std::int64_t bytes() const {
    if (partial_bytes == 0) return 0;
    std::int64_t total =
        align_up(detail::larger(partial_bytes / 31 * 32, arrival_bytes * 32)) + 512;
    while (!fits(total)) total += 256;
    return total;
  }
  constexpr bool fits(std::int64_t total) const {
    return partial_bytes == 0 || (arrival_bytes <= arrivals_region(total) &&
                                  partial_bytes <= total - arrivals_region(total));
  }
};

/// How many partials and arrival counters a tree over `count` partials in groups of `group` has.
struct scratch_size {
  std::int64_t partials;
  std::int64_t arrivals;
};
constexpr scratch_size scratch_for(std::int64_t count, std::int64_t group) {
  scratch_size size{0, 0};
  while (count > 1) {
    const std::int64_t groups = tree::num_blocks(count, group);
    size.partials += count;
    size.arrivals += groups;
    count = groups;
  }
  return size;
}

// A workspace has at least so many bytes: so a shorter range in smaller tiles does not need more.
inline constexpr std::int64_t least_workspace_bytes = 65536;

class workspace {
 public:
  explicit workspace(device_memory_resource& resource) : resource_(&resource) {}
  workspace(workspace&& other) noexcept
      : resource_(other.resource_),
        memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        owned_(std::exchange(other.owned_, false)),
        capture_(other.capture_),
        kept_(std::move(other.kept_)) {}
  // One owner: the memory is given back once. A move would have to free on an unknown stream.
  workspace& operator=(workspace&&) = delete;

  std::int64_t bytes() const { return bytes_; }
  template <class Counter = unsigned>
  Counter* arrivals() const {
    return reinterpret_cast<Counter*>(memory_);
  }
  template <class Partial = char>
  Partial* partials() const {
    return reinterpret_cast<Partial*>(memory_ + arrivals_region(bytes_));
  }

  /// At least `bytes` bytes. The old memory is kept if the new cannot be had.
  void grow(std::int64_t bytes, cudaStream_t stream) {
    auto* memory = static_cast<char*>(resource_->allocate(bytes, stream));
    const cudaError_t code = zero_arrivals(memory, bytes, stream);
    if (code != cudaSuccess) {
      resource_->deallocate(memory, bytes, stream);
      check(code, "cudaMemsetAsync");
    }
    give_back(stream);
    memory_ = memory;
    bytes_ = bytes;
    owned_ = true;
    capture_ = 0;
  }

  /// Uses memory of the caller's from now on. In a capture, whose number is not 0, its counters are
  /// zeroed whenever the graph runs, and memory that calls were recorded with is kept.
  void adopt(void* memory, std::int64_t bytes, cudaStream_t stream, unsigned long long capture) {
    if (capture != 0 && owned_) kept_.reserve(kept_.size() + 1);
    check(zero_arrivals(static_cast<char*>(memory), bytes, stream), "cudaMemsetAsync");
    if (capture != 0 && owned_) {
      kept_.push_back({memory_, bytes_});
    } else {
      give_back(stream);
    }
    memory_ = static_cast<char*>(memory);
    bytes_ = bytes;
    owned_ = false;
    capture_ = capture;
  }

  /// Uses memory of a graph's from now on, whose counters are zero.
  void borrow(void* memory, std::int64_t bytes, cudaStream_t stream) noexcept {
    give_back(stream);
    memory_ = static_cast<char*>(memory);
    bytes_ = bytes;
    owned_ = false;
  }

  /// Whether the counters are zeroed by a graph alone: other calls must call zero() first.
  bool is_zeroed_by_graph() const { return capture_ != 0; }

  /// Zeroes the counters for calls of this capture (0 for none), unless it has done so.
  void zero(cudaStream_t stream, unsigned long long capture) {
    if (capture == capture_) return;
    check(zero_arrivals(memory_, bytes_, stream), "cudaMemsetAsync");
    capture_ = capture;
  }

  void release(cudaStream_t stream) noexcept {
    give_back(stream);
    for (const block& old : kept_) resource_->deallocate(old.memory, old.bytes, stream);
    forget();
  }

  /// Forgets memory that no longer exists.
  void forget() noexcept {
    memory_ = nullptr;
    bytes_ = 0;
    owned_ = false;
    capture_ = 0;
    kept_.clear();
  }

 private:
  struct block {
    char* memory;
    std::int64_t bytes;
  };

  void give_back(cudaStream_t stream) noexcept {
    if (owned_) resource_->deallocate(memory_, bytes_, stream);
  }

  static cudaError_t zero_arrivals(char* memory, std::int64_t bytes, cudaStream_t stream) {
    return cudaMemsetAsync(memory, 0, static_cast<std::size_t>(arrivals_region(bytes)), stream);
  }

  device_memory_resource* resource_;
  char* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  bool owned_ = false;
  unsigned long long capture_ = 0;  // in which the counters were zeroed, if it was in one
  std::vector<block> kept_;         // until graphs that know it are gone, like the executor
};

// Memory resources of cuda::mr or RMM, of any version, references or pointers to them. They are
// recognised by their functions, so that none of their headers is included.

// cuda::mr since CCCL 3.1, RMM since 25.12.
template <class R>
concept allocates_in_stream = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate(stream, n, n) } -> std::same_as<void*>;
  r.deallocate(stream, p, n, n);
};
// cuda::mr before.
template <class R>
concept allocates_async = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate_async(n, n, stream) } -> std::same_as<void*>;
  r.deallocate_async(p, n, n, stream);
};
// rmm::mr::device_memory_resource.
template <class R>
concept allocates_as_rmm = requires(R& r, cudaStream_t stream, std::size_t n, void* p) {
  { r.allocate(n, stream) } -> std::same_as<void*>;
  r.deallocate(p, n, stream);
};
// Resources that know no stream.
template <class R>
concept allocates_sync = requires(R& r, std::size_t n, void* p) {
  { r.allocate_sync(n, n) } -> std::same_as<void*>;
  r.deallocate_sync(p, n, n);
};
template <class R>
concept allocates_plainly = requires(R& r, std::size_t n, void* p) {
  { r.allocate(n, n) } -> std::same_as<void*>;
  r.deallocate(p, n, n);
};
template <class R>
concept allocates = std::is_class_v<R> &&
                    (allocates_in_stream<R> || allocates_async<R> || allocates_as_rmm<R> ||
                     allocates_sync<R> || allocates_plainly<R>) &&
                    !std::derived_from<R, device_memory_resource>;

/// A resource of cuda::mr or RMM, or a pointer to one.
template <class R>
concept foreign_resource =
    allocates<std::remove_cvref_t<R>> || (std::is_pointer_v<std::remove_cvref_t<R>> &&
                                          allocates<std::remove_pointer_t<std::remove_cvref_t<R>>>);

// In memory_resource.cuh, which a program with such a resource includes.
template <class R>
struct resource_adapter;

/// The resource, which must outlive the result, unless it is a reference or a temporary.
template <foreign_resource R>
std::unique_ptr<device_memory_resource> adapt(R&& resource) {
  constexpr bool included = requires { sizeof(resource_adapter<R>); };
  static_assert(included,
                "tilefold: a memory resource of cuda::mr or RMM needs "
                "#include <tilefold/memory_resource.cuh>");
  if constexpr (included) return resource_adapter<R>::adapt(static_cast<R&&>(resource));
}

}  // namespace detail::cuda

}  // namespace tilefold
