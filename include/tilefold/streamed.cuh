// SPDX-License-Identifier: Apache-2.0
//
// streamed: a GPU that folds items of host memory, however many, as they come over the bus:
//
//     host memory    | chunk 0 | chunk 1 | chunk 2 | chunk 3 | ...
//     slot 0           copy 0    fold 0    copy 2    fold 2
//     slot 1                     copy 1    fold 1    copy 3
//
// A slot is a piece of device memory. Items that are not pinned go by way of a ring of pinned
// parts, which threads fill ahead of the GPU's copies (detail/executor/pinned_ring.cuh). Chunks are
// aligned blocks of the fold order, so each is one fold.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#include <tilefold/detail/cuda/range/launch_piece.cuh>
#include <tilefold/detail/executor/pinned_ring.cuh>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_segments.hpp>
#include <tilefold/detail/ranks/waiting_executor.cuh>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/tree.hpp>

namespace tilefold {

namespace detail::cuda {

/// One of the places that chunks take in turn.
struct stream_slot {
  explicit stream_slot(std::int64_t bytes) : device(bytes, false) {}

  slot_memory device;
  event_owner copied;
  event_owner folded;
  // Of segments: the results that the GPU writes, and which segments they are of.
  std::unique_ptr<slot_memory> results;
  std::int64_t results_bytes = 0;
  std::int64_t first_segment = 0;
  std::int64_t num_segments = 0;
};

}  // namespace detail::cuda

/// What streamed() makes: an executor over host memory. It refers to its GPU executor, whose
/// stream, workspace and policy rules it uses, and keeps its slots between calls. One serves one
/// thread at a time.
template <class Build>
class streamed_executor : public detail::waiting_executor<streamed_executor<Build>, Build> {
 public:
  streamed_executor(basic_cuda_executor<Build>& gpu, std::int64_t chunk_bytes)
      : gpu_(&gpu), chunk_bytes_(chunk_bytes) {
    if (chunk_bytes < least_chunk_bytes) {
      throw invalid_range_error("tilefold::streamed: a chunk of " + std::to_string(chunk_bytes) +
                                " bytes is less than " + std::to_string(least_chunk_bytes));
    }
  }

  std::int64_t chunk_bytes() const { return chunk_bytes_; }

  /// Items lie in a row in memory that the host reads: pageable, pinned, managed, or a mapped file.
  template <class It>
  auto accessible(const It& first, const char* what, bool reads = true) const {
    static_assert(std::contiguous_iterator<It>,
                  "tilefold: streamed items must lie in memory one after the other: copies take "
                  "what is there, and call nothing");
    const auto* const items = std::to_address(first);
    static_assert(std::is_trivially_copyable_v<std::iter_value_t<It>>,
                  "tilefold: streamed items must be trivially copyable");
    if (reads) detail::require_host_access(items, what);
    return items;
  }

  /// Calls keep(accumulator, number of items) for blocks that make up the items, in their order;
  /// they stand at `position` of a longer sequence.
  template <class Policy, class Source, detail::folding Reducer, class Keep>
  void fold_blocks(const Source& source, const Reducer& reducer, std::int64_t position,
                   std::int64_t n, const Keep& keep) const {
    using accumulator = typename Reducer::accumulator;
    using blocks_type = detail::blocks_of<Reducer>;
    gpu_->require_waiting();
    const detail::cuda::device_scope scope(gpu_->device());
    prepare();
    const std::int64_t chunk = chunk_items(source);
    // The first chunk ends where an aligned one begins.
    const auto end_of = [&](std::int64_t first) {
      const std::int64_t left = chunk - (position + first) % chunk;
      return left < n - first ? first + left : n;
    };
    std::int64_t num_values = 0;
    for (std::int64_t first = 0; first < n; first = end_of(first)) {
      num_values += blocks_type{{position + first, position + end_of(first)}}.count();
    }
    auto* const values = gpu_->template pinned_array<accumulator>(num_values);
    with_ring(pageable_bytes(source, 0, n), [&] {
      std::int64_t v = 0;
      std::int64_t turn = 0;
      std::int64_t announced = 0;
      for (std::int64_t first = 0; first < n; first = end_of(first), ++turn) {
        while (announced < n && looks_ahead()) {
          const std::int64_t end = end_of(announced);
          announce(source, announced, end - announced);
          announced = end;
        }
        const std::int64_t count = end_of(first) - first;
        detail::cuda::stream_slot& slot = *slots_[turn % num_slots];
        const auto items = begin_copy(slot, source, first, count);
        gpu_->template fold_blocks_to<Policy>(items, reducer, position + first, count,
                                              detail::raw_output<accumulator>{values + v});
        detail::cuda::check(cudaEventRecord(slot.folded.event, gpu_->stream()), "cudaEventRecord");
        v += blocks_type{{position + first, position + first + count}}.count();
      }
      gpu_->synchronize();
    });
    std::int64_t v = 0;
    for (std::int64_t first = 0; first < n; first = end_of(first)) {
      const blocks_type blocks{{position + first, position + end_of(first)}};
      for (int i = 0; i < blocks.count(); ++i) keep(values[v++], blocks.size(i));
    }
  }

  /// Writes the projected fold of every segment of `forest`, which lie one after the other, through
  /// `out`, in host memory. Done when it returns.
  ///
  /// A chunk has whole segments; one that is longer is folded by itself, in chunks of its own.
  template <class Policy, class Forest, detail::folding Reducer, class Init, class Empty, class Out>
  void fold_forest(const Forest& forest, std::int64_t num_segments, const Reducer& reducer,
                   const Init& init, const Empty& empty, const Out& out) const {
    static_assert(
        Forest::in_one_range,
        "tilefold: streamed segments lie one after the other: pass offsets, or their size");
    using result = typename Reducer::result;
    detail::require_host_access(out, "out");
    gpu_->require_waiting();
    const detail::cuda::device_scope scope(gpu_->device());
    prepare();
    const std::int64_t chunk = chunk_items(forest.source);
    try {
      with_ring(pageable_bytes(forest, num_segments), [&] {
        std::int64_t turn = 0;
        std::int64_t announced = 0;
        for (std::int64_t s = 0; s < num_segments;) {
          if (announced < s) announced = s;
          while (announced < num_segments && looks_ahead()) {
            const std::int64_t count = segments_in(forest, announced, num_segments, chunk);
            if (count == 0) break;  // its own fold announces it
            announce_segments(forest, announced, count);
            announced += count;
          }
          const std::int64_t count = segments_in(forest, s, num_segments, chunk);
          if (count == 0) {
            write(this->template fold<Policy>(detail::starting_at(forest.source, forest.first(s)),
                                              reducer, init, forest.count(s)),
                  detail::starting_at(out, s));
            ++s;
            continue;
          }
          detail::cuda::stream_slot& slot = *slots_[turn++ % num_slots];
          write_results<result>(slot, out);
          reserve_results(slot, count * static_cast<std::int64_t>(sizeof(result)));
          gpu_->template fold_forest<Policy>(begin_copy_of_segments(slot, forest, s, count), count,
                                             reducer, init, empty,
                                             reinterpret_cast<result*>(slot.results->bytes()));
          detail::cuda::check(cudaEventRecord(slot.folded.event, gpu_->stream()),
                              "cudaEventRecord");
          slot.first_segment = s;
          slot.num_segments = count;
          s += count;
        }
        for (const auto& slot : slots_) write_results<result>(*slot, out);
      });
    } catch (...) {
      for (const auto& slot : slots_) slot->num_segments = 0;
      throw;
    }
  }

  void require_waiting() const { gpu_->require_waiting(); }

 private:
  template <class T, class Out>
  static void write(const T& value, Out out) {
    detail::write_through(out, detail::output_value<Out>(value));
  }

  static constexpr std::int64_t least_chunk_bytes = 4096;
  static constexpr int num_slots = 2;

  // The most segments of a chunk.
  std::int64_t most_segments() const {
    constexpr std::int64_t most = std::int64_t{1} << 18;
    return chunk_bytes_ / 16 < most ? chunk_bytes_ / 16 : most;
  }

  // A chunk, the offsets of its segments, and gaps between the items of several ranges.
  std::int64_t slot_bytes() const {
    return chunk_bytes_ + (most_segments() + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)) +
           8 * 256;
  }

  // How many segments from number s on are a chunk: 0 if already that one has more items.
  template <class Forest>
  std::int64_t segments_in(const Forest& forest, std::int64_t s, std::int64_t num_segments,
                           std::int64_t chunk) const {
    std::int64_t fit = 0;
    std::int64_t most = num_segments - s;
    if (most > most_segments()) most = most_segments();
    const std::int64_t begin = forest.first(s);
    while (fit < most) {
      const std::int64_t middle = fit + (most - fit + 1) / 2;
      if (forest.first(s + middle) - begin <= chunk) {
        fit = middle;
      } else {
        most = middle - 1;
      }
    }
    return fit;
  }

  static void reserve_results(detail::cuda::stream_slot& slot, std::int64_t bytes) {
    if (bytes <= slot.results_bytes) return;
    slot.results_bytes = 0;
    slot.results = nullptr;
    slot.results = std::make_unique<detail::cuda::slot_memory>(bytes, true);
    slot.results_bytes = bytes;
  }

  // Writes the results that are still in the slot, when they are there.
  template <class Result, class Out>
  static void write_results(detail::cuda::stream_slot& slot, const Out& out) {
    if (slot.num_segments == 0) return;
    detail::cuda::check(cudaEventSynchronize(slot.folded.event), "cudaEventSynchronize");
    const auto* const results = reinterpret_cast<const Result*>(slot.results->bytes());
    for (std::int64_t i = 0; i < slot.num_segments; ++i) {
      write(results[i], detail::starting_at(out, slot.first_segment + i));
    }
    slot.num_segments = 0;
  }

  void prepare() const {
    if (copies_ == nullptr) copies_ = std::make_unique<detail::cuda::stream_owner>();
    for (auto& slot : slots_) {
      if (slot == nullptr) {
        slot = std::make_unique<detail::cuda::stream_slot>(slot_bytes());
      }
    }
  }

  template <class T>
  static constexpr std::int64_t bytes_of(const T* const*) {
    return sizeof(T);
  }
  static constexpr std::int64_t bytes_of(const void*) { return 0; }

  // How many items a chunk has: a power of two.
  template <std::size_t... Index, class... Its>
  std::int64_t chunk_items(const detail::source_of<std::index_sequence<Index...>, Its...>&) const {
    constexpr std::int64_t bytes = (bytes_of(static_cast<const Its*>(nullptr)) + ...);
    if (bytes > chunk_bytes_) {
      throw invalid_range_error("tilefold::streamed: an item of " + std::to_string(bytes) +
                                " bytes does not fit a chunk of " + std::to_string(chunk_bytes_));
    }
    return std::int64_t{1} << tree::floor_log2(chunk_bytes_ / bytes);
  }

  // Calls drive(), which copies; threads help if `bytes` bytes of that are not pinned.
  template <class Drive>
  void with_ring(std::int64_t bytes, const Drive& drive) const {
    const auto drive_on_device = [&] {
      const detail::cuda::device_scope scope(gpu_->device());  // this may be another thread
      try {
        drive();
      } catch (...) {
        // Nobody may read the caller's items any more.
        (void)cudaStreamSynchronize(copies_->stream);
        (void)cudaStreamSynchronize(gpu_->stream());
        (void)cudaGetLastError();
        throw;
      }
    };
    // A long segment is folded within the run of them all.
    if (is_driven_ || bytes == 0) return drive_on_device();
    if (ring_ == nullptr) ring_ = std::make_unique<detail::cuda::pinned_ring>();
    ring_->reserve(bytes);
    // To another thread the stream of this name is another one.
    const cudaStream_t stream = gpu_->stream();
    if (stream == cudaStreamPerThread || (stream == nullptr && Build::per_thread_stream)) {
      gpu_->synchronize();
    }
    const driven_scope driven(is_driven_);
    ring_->run(detail::host::mode(), drive_on_device);
  }

  class driven_scope {
   public:
    explicit driven_scope(bool& is_driven) : is_driven_(is_driven) { is_driven_ = true; }
    driven_scope(const driven_scope&) = delete;
    driven_scope& operator=(const driven_scope&) = delete;
    ~driven_scope() { is_driven_ = false; }

   private:
    bool& is_driven_;
  };

  // A chunk and a ring ahead, threads always have something to fill.
  bool looks_ahead() const {
    return is_driven_ && ring_->ahead() < slot_bytes() + detail::cuda::pinned_ring::bytes();
  }

  static bool is_pageable(const void* items) {
    using namespace detail::cuda;
    return place_of(items).space == memory_space::host;
  }

  // How many bytes of items [first, first + n), and of what else segments need, are not pinned.
  template <std::size_t... Index, class... Its>
  static std::int64_t pageable_bytes(
      const detail::source_of<std::index_sequence<Index...>, Its...>& source, std::int64_t first,
      std::int64_t n) {
    using source_type = detail::source<Its...>;
    return (pageable_bytes(source_type::template iterator<Index>(source), first, n) + ...);
  }
  template <class Source, class Offsets>
  static std::int64_t pageable_bytes(const detail::offsets_forest<Source, Offsets>& forest,
                                     std::int64_t num_segments) {
    const std::int64_t begin = forest.first(0);
    return pageable_bytes(forest.source, begin, forest.first(num_segments) - begin) +
           pageable_bytes(forest.offsets, 0, num_segments + 1);
  }
  template <class Source>
  static std::int64_t pageable_bytes(const detail::equal_forest<Source>& forest,
                                     std::int64_t num_segments) {
    return pageable_bytes(forest.source, forest.first(0), num_segments * forest.length);
  }
  template <class T>
  static std::int64_t pageable_bytes(const detail::shifted_offsets<const T*>& shifted,
                                     std::int64_t first, std::int64_t n) {
    return pageable_bytes(shifted.offsets, first, n);
  }
  template <class T>
  static std::int64_t pageable_bytes(const T* const& items, std::int64_t first, std::int64_t n) {
    return n > 0 && is_pageable(items + first) ? n * static_cast<std::int64_t>(sizeof(T)) : 0;
  }
  template <detail::gives_indices It>
  static std::int64_t pageable_bytes(const It&, std::int64_t, std::int64_t) {
    return 0;
  }

  // Announces what place() will copy of the same items.
  template <class T>
  void announce_items(const T* items, std::int64_t first, std::int64_t count) const {
    if (!is_pageable(items + first)) return;
    ring_->announce(reinterpret_cast<const char*>(items + first),
                    count * static_cast<std::int64_t>(sizeof(T)));
  }
  template <detail::gives_indices It>
  void announce_items(const It&, std::int64_t, std::int64_t) const {}

  template <class Source>
  void announce(const Source& source, std::int64_t first, std::int64_t count) const {
    (void)detail::placed(source, [&](const auto& it) {
      announce_items(it, first, count);
      return it;
    });
  }

  template <class Source, class Offsets>
  void announce_segments(const detail::offsets_forest<Source, Offsets>& forest, std::int64_t s,
                         std::int64_t count) const {
    const std::int64_t begin = forest.first(s);
    announce(forest.source, begin, forest.first(s + count) - begin);
    announce_offsets(forest.offsets, s, count + 1);
  }
  template <class Source>
  void announce_segments(const detail::equal_forest<Source>& forest, std::int64_t s,
                         std::int64_t count) const {
    announce(forest.source, forest.first(s), count * forest.length);
  }
  template <class T>
  void announce_offsets(const T* offsets, std::int64_t s, std::int64_t count) const {
    announce_items(offsets, s, count);
  }
  template <class T>
  void announce_offsets(const detail::shifted_offsets<const T*>& shifted, std::int64_t s,
                        std::int64_t count) const {
    announce_items(shifted.offsets, s, count);
  }

  // Calls copy(used), which copies to the slot in the order of the copies' stream, and lets the
  // GPU's stream wait for it. Returns what it returns.
  template <class Copy>
  auto copied_in_turn(detail::cuda::stream_slot& slot, const Copy& copy) const {
    using namespace detail::cuda;
    // Its last fold has read it.
    check(cudaStreamWaitEvent(copies_->stream, slot.folded.event, 0), "cudaStreamWaitEvent");
    std::int64_t used = 0;
    const auto result = copy(used);
    check(cudaEventRecord(slot.copied.event, copies_->stream), "cudaEventRecord");
    check(cudaStreamWaitEvent(gpu_->stream(), slot.copied.event, 0), "cudaStreamWaitEvent");
    return result;
  }

  // Copies elements [first, first + count) to the slot. Returns where they are.
  template <class Source>
  auto begin_copy(detail::cuda::stream_slot& slot, const Source& source, std::int64_t first,
                  std::int64_t count) const {
    return copied_in_turn(slot, [&](std::int64_t& used) {
      return detail::placed(source,
                            [&](const auto& it) { return place(slot, it, first, count, used); });
    });
  }

  // The same for `count` segments from number s on, with their offsets. Returns them as a forest of
  // the GPU's.
  template <class Source, class Offsets>
  auto begin_copy_of_segments(detail::cuda::stream_slot& slot,
                              const detail::offsets_forest<Source, Offsets>& forest, std::int64_t s,
                              std::int64_t count) const {
    const std::int64_t begin = forest.first(s);
    return copied_in_turn(slot, [&](std::int64_t& used) {
      const auto source =
          place_segments(slot, forest.source, begin, forest.first(s + count) - begin, used);
      const auto offsets = place_offsets(slot, forest.offsets, s, count + 1, begin, used);
      return detail::offsets_forest{source, offsets, count};
    });
  }
  template <class Source>
  auto begin_copy_of_segments(detail::cuda::stream_slot& slot,
                              const detail::equal_forest<Source>& forest, std::int64_t s,
                              std::int64_t count) const {
    return copied_in_turn(slot, [&](std::int64_t& used) {
      return detail::equal_forest{
          place_segments(slot, forest.source, forest.first(s), count * forest.length, used), count,
          forest.length};
    });
  }

  template <class Source>
  auto place_segments(detail::cuda::stream_slot& slot, const Source& source, std::int64_t first,
                      std::int64_t count, std::int64_t& used) const {
    return detail::placed(
        source, [&](const auto& it) { return place_in_segments(slot, it, first, count, used); });
  }
  template <class T>
  const T* place_in_segments(detail::cuda::stream_slot& slot, const T* items, std::int64_t first,
                             std::int64_t count, std::int64_t& used) const {
    return place(slot, items, first, count, used);
  }
  // Indices count from the start of a segment.
  static detail::index_iterator place_in_segments(detail::cuda::stream_slot&,
                                                  const detail::index_iterator& it, std::int64_t,
                                                  std::int64_t, std::int64_t&) {
    return it;
  }

  template <class T>
  detail::shifted_offsets<const T*> place_offsets(detail::cuda::stream_slot& slot, const T* offsets,
                                                  std::int64_t s, std::int64_t count,
                                                  std::int64_t shift, std::int64_t& used) const {
    return {place(slot, offsets, s, count, used), shift};
  }
  template <class T>
  detail::shifted_offsets<const T*> place_offsets(detail::cuda::stream_slot& slot,
                                                  const detail::shifted_offsets<const T*>& shifted,
                                                  std::int64_t s, std::int64_t count,
                                                  std::int64_t shift, std::int64_t& used) const {
    return {place(slot, shifted.offsets, s, count, used), shifted.shift + shift};
  }

  template <class T>
  const T* place(detail::cuda::stream_slot& slot, const T* items, std::int64_t first,
                 std::int64_t count, std::int64_t& used) const {
    const auto bytes = count * static_cast<std::int64_t>(sizeof(T));
    const char* const from = reinterpret_cast<const char*>(items + first);
    char* const to = slot.device.bytes() + used;
    if (is_driven_ && is_pageable(from)) {
      ring_->copy(to, bytes, copies_->stream);
    } else {
      copy(from, to, bytes);
    }
    used = detail::cuda::align_up(used + bytes);
    return reinterpret_cast<const T*>(to);
  }

  void copy(const char* from, char* to, std::int64_t bytes) const {
    detail::cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                                        cudaMemcpyDefault, copies_->stream),
                        "cudaMemcpyAsync");
  }

  template <detail::gives_indices It>
  static detail::position_iterator place(detail::cuda::stream_slot&, const It& it,
                                         std::int64_t first, std::int64_t, std::int64_t&) {
    return detail::position_iterator{it[first]};
  }

  basic_cuda_executor<Build>* gpu_;
  std::int64_t chunk_bytes_;
  // Kept between calls; a call changes nothing that a caller sees.
  mutable std::unique_ptr<detail::cuda::stream_owner> copies_;
  mutable std::unique_ptr<detail::cuda::stream_slot> slots_[num_slots];
  mutable std::unique_ptr<detail::cuda::pinned_ring> ring_;
  mutable bool is_driven_ = false;
};

/// Returns an executor that reduces items of host memory on a GPU, in chunks: the items may be
/// larger than the GPU's memory, and the result has the bits of one call.
///
///     tilefold::cuda_executor gpu;
///     auto stream = tilefold::streamed(gpu, 64 << 20);
///     double mean = tilefold::reduce(stream, x.begin(), x.end(), tilefold::reducers::mean{});
///
/// - Verbs whose result is one value: reduce, transform_reduce, all reducers, count, mean...;
///   segmented_reduce of segments that lie one after the other (offsets, or one size);
///   reduce_piece(), piece::append() and ranks() with it. Calls are synchronous; offsets and
///   results are host memory.
/// - Items: contiguous, trivially copyable; pageable, pinned, managed or a mapped file. The GPU
///   copies pinned memory directly. Other memory is first copied to pinned memory, by up to 16
///   threads if the program links tilefold::host, else by the calling thread.
/// - Memory: two chunks of `chunk_bytes` bytes on the GPU, each with room for 2^18 offsets at most,
///   and up to 48 MiB of pinned memory for items that are not pinned, kept until the executor is
///   gone; one accumulator a chunk; for segments the results of two chunks in pinned memory.
/// - Errors: those of `gpu`; invalid_range_error for a chunk of less than 4 KiB, or of less than an
///   item; allocation_error. After any of them it can be used again.
template <class Build>
streamed_executor<Build> streamed(basic_cuda_executor<Build>& gpu,
                                  std::int64_t chunk_bytes = std::int64_t{1} << 26) {
  return streamed_executor<Build>(gpu, chunk_bytes);
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
