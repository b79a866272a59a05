// SPDX-License-Identifier: Apache-2.0
//
// cuda_group: several GPUs of one process as one executor. Each folds its part, all at once; their
// blocks go to memory of the host, which puts them together. The bits are those of one GPU.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#include <tilefold/detail/cuda/range/launch_piece.cuh>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_segments.hpp>
#include <tilefold/detail/ranks/waiting_executor.cuh>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/tree.hpp>

namespace tilefold {

/// One sequence in several parts: part d is `lengths[d]` items at `parts[d]`, in memory that GPU d
/// of a group reads. Parts may have any length, also 0. Copies the two lists; the items must
/// outlive it.
template <class T>
class shards {
 public:
  /// Throws invalid_range_error unless there are as many lengths as parts, none negative, and at
  /// most 2^63 - 1 items in all.
  shards(std::vector<const T*> parts, const std::vector<std::int64_t>& lengths) {
    if (parts.size() != lengths.size()) {
      throw invalid_range_error("tilefold::shards: " + std::to_string(parts.size()) +
                                " parts, but " + std::to_string(lengths.size()) + " lengths");
    }
    auto table = std::make_shared<table_type>();
    table->parts = std::move(parts);
    table->begins.push_back(0);
    for (const std::int64_t length : lengths) {
      if (length < 0) {
        throw invalid_range_error("tilefold::shards: a part of " + std::to_string(length) +
                                  " items");
      }
      if (length > (std::numeric_limits<std::int64_t>::max)() - table->begins.back()) {
        throw invalid_range_error("tilefold::shards: the parts hold more than 2^63 - 1 items: " +
                                  std::to_string(table->begins.back()) + " and " +
                                  std::to_string(length) + " more");
      }
      table->begins.push_back(table->begins.back() + length);
    }
    table_ = std::move(table);
  }

  struct table_type {
    std::vector<const T*> parts;
    std::vector<std::int64_t> begins;  // and the end of all
  };

  /// Stands at an item; only a cuda_group follows it.
  struct iterator {
    using value_type = T;
    using difference_type = std::int64_t;
    using reference = const T&;

    std::shared_ptr<const table_type> table;
    std::int64_t at;

    reference operator[](std::int64_t i) const {
      std::size_t d = 0;
      while (table->begins[d + 1] <= at + i) ++d;
      return table->parts[d][at + i - table->begins[d]];
    }
    reference operator*() const { return (*this)[0]; }
    friend std::int64_t operator-(const iterator& a, const iterator& b) { return a.at - b.at; }
    friend iterator operator+(const iterator& it, std::int64_t n) { return {it.table, it.at + n}; }
  };

  iterator begin() const { return {table_, 0}; }
  iterator end() const { return {table_, table_->begins.back()}; }
  std::int64_t size() const { return table_->begins.back(); }

 private:
  std::shared_ptr<const table_type> table_;
};

/// Several GPUs as one executor.
///
///     tilefold::cuda_group gpus({0, 1});
///     float a = tilefold::reduce(gpus, tilefold::shards<float>({x0, x1}, {n0, n1}));
///     float b = tilefold::reduce(gpus, managed, managed + n);   // cut by the group
///
/// - Verbs whose result is one value, pieces and ranks; segmented_reduce of contiguous segments.
///   Calls are synchronous. Results of _into forms are in host memory; offsets and results of
///   segments are in memory that the host and all GPUs can access (managed or pinned).
/// - Items: shards, part d read by GPU d; or a pointer to memory that all GPUs can read (managed or
///   pinned), which the group cuts into parts of about the same size. Several ranges must be of the
///   same kind, and their shards must have the same lengths.
/// - The calling thread launches work on all GPUs, one after the other, and waits for them at the
///   end. Each GPU writes its blocks to pinned memory. There are no transfers between GPUs.
/// - Streams: the group has one for each GPU, and its destructor waits for them. Threads: one call
///   at a time.
/// - Throws as cuda_executor does; invalid_range_error for no GPU, for more shards than GPUs, for
///   shards of different lengths, and for items or offsets out of range; memory_space_error for
///   offsets or results that the host cannot access. After any error the group can be used again.
template <class Build>
class basic_cuda_group : public detail::waiting_executor<basic_cuda_group<Build>, Build> {
 public:
  explicit basic_cuda_group(const std::vector<int>& devices) {
    if (devices.empty()) throw invalid_range_error("tilefold::cuda_group: no GPU is named");
    for (const int device : devices) {
      const detail::cuda::device_scope scope(device);
      gpus_.push_back(std::make_unique<basic_cuda_executor<Build>>());
    }
  }

  int size() const { return static_cast<int>(gpus_.size()); }
  /// The executor of GPU number d of the group.
  basic_cuda_executor<Build>& gpu(int d) const { return *gpus_[static_cast<std::size_t>(d)]; }

  template <class It>
  auto accessible(const It& first, const char* what, bool reads = true) const {
    if constexpr (requires { first.table->parts; }) {
      if (reads && first.table->parts.size() > gpus_.size()) {
        throw invalid_range_error(
            "tilefold::cuda_group: " + std::to_string(first.table->parts.size()) + " shards for " +
            std::to_string(gpus_.size()) + " GPUs");
      }
      return first;
    } else {
      static_assert(std::contiguous_iterator<It>,
                    "tilefold: a cuda_group folds shards, or items that lie in memory one after "
                    "the other");
      const auto* const items = std::to_address(first);
      for (const auto& gpu : gpus_) (void)gpu->accessible(items, what, reads);
      return items;
    }
  }

  /// Calls keep(accumulator, number of items) for blocks that make up the items, in their order;
  /// they stand at `position` of a longer sequence.
  template <class Policy, class Source, detail::folding Reducer, class Keep>
  void fold_blocks(const Source& source, const Reducer& reducer, std::int64_t position,
                   std::int64_t n, const Keep& keep) const {
    using accumulator = typename Reducer::accumulator;
    using blocks_type = detail::blocks_of<Reducer>;
    gpus_.front()->require_waiting();
    const std::vector<std::int64_t> begins = cut(source, n);
    std::vector<accumulator*> values(gpus_.size(), nullptr);
    const auto blocks_of_part = [&](std::size_t d) {
      return blocks_type{{position + begins[d], position + begins[d + 1]}};
    };
    try {
      for (std::size_t d = 0; d < gpus_.size(); ++d) {
        const std::int64_t count = begins[d + 1] - begins[d];
        if (count == 0) continue;
        values[d] = gpus_[d]->template pinned_array<accumulator>(blocks_of_part(d).count());
        gpus_[d]->template fold_blocks_to<Policy>(on_gpu(*gpus_[d], source, d, begins[d]), reducer,
                                                  position + begins[d], count,
                                                  detail::raw_output<accumulator>{values[d]});
      }
      for (const auto& gpu : gpus_) gpu->synchronize();
    } catch (...) {
      synchronize_all();
      throw;
    }
    for (std::size_t d = 0; d < gpus_.size(); ++d) {
      const blocks_type blocks = blocks_of_part(d);
      for (int i = 0; i < blocks.count(); ++i) keep(values[d][i], blocks.size(i));
    }
  }

  /// Writes the projected fold of every segment of `forest`, which lie one after the other, through
  /// `out`; offsets and out are memory that all GPUs and the host reach. Done when it returns.
  ///
  /// Every GPU folds the segments that lie in its part. Those that cross a cut, at most one a cut,
  /// are folded by all GPUs.
  template <class Policy, class Forest, detail::folding Reducer, class Init, class Empty, class Out>
  void fold_forest(const Forest& forest, std::int64_t num_segments, const Reducer& reducer,
                   const Init& init, const Empty& empty, const Out& out) const {
    static_assert(Forest::in_one_range,
                  "tilefold: segments of a group lie one after the other: pass offsets, or their "
                  "size");
    (void)accessible(out, "out");
    auto* const results = std::to_address(out);
    gpus_.front()->require_waiting();
    require_offsets_of_host(forest);
    detail::require_host_access(out, "out");
    const std::vector<std::int64_t> begins = cut(forest.source, forest.first(num_segments));
    // The first segment that ends behind `item`.
    const auto first_behind = [&](std::int64_t item) {
      std::int64_t low = 0;
      std::int64_t high = num_segments;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (forest.first(middle + 1) > item) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    };
    // Read before the GPUs begin: not every host may read managed memory beside them.
    struct range {
      std::int64_t first;
      std::int64_t count;
    };
    std::vector<range> whole;
    std::vector<range> crossing;
    std::int64_t first = 0;
    for (std::size_t d = 0; d < gpus_.size(); ++d) {
      // The last GPU has also those without items at the end.
      const std::int64_t end = d + 1 == gpus_.size() ? num_segments : first_behind(begins[d + 1]);
      whole.push_back({first, end > first ? end - first : 0});
      first += whole.back().count;
      if (first < num_segments && forest.first(first) < begins[d + 1]) {
        crossing.push_back({first, forest.count(first)});
        ++first;
      }
    }
    // Kept until the others are written, so that nothing is written if one of these fails.
    struct folded {
      typename Reducer::result value;
    };
    std::vector<folded> results_of_crossing;
    for (const auto [s, count] : crossing) {
      const auto items = detail::starting_at(forest.source, forest.first(s));
      results_of_crossing.push_back({this->template fold<Policy>(items, reducer, init, count)});
    }
    try {
      for (std::size_t d = 0; d < gpus_.size(); ++d) {
        const auto [s, count] = whole[d];
        if (count == 0) continue;
        gpus_[d]->template fold_forest<Policy>(segments_on_gpu(d, forest, s, count, begins[d]),
                                               count, reducer, init, empty, results + s);
      }
      for (const auto& gpu : gpus_) gpu->synchronize();
    } catch (...) {
      synchronize_all();
      throw;
    }
    for (std::size_t i = 0; i < crossing.size(); ++i) {
      detail::write_through(detail::starting_at(out, crossing[i].first),
                            detail::output_value<Out>(results_of_crossing[i].value));
    }
  }

  void require_waiting() const { gpus_.front()->require_waiting(); }

 private:
  // After an error nobody may read the caller's items any more.
  void synchronize_all() const noexcept {
    for (const auto& gpu : gpus_) (void)cudaStreamSynchronize(gpu->stream());
    (void)cudaGetLastError();
  }

  // One GPU alone reads offsets that the host cannot.
  template <class Source, class Offsets>
  static void require_offsets_of_host(const detail::offsets_forest<Source, Offsets>& forest) {
    detail::require_host_access(forest.offsets, "offsets");
  }
  template <class Source>
  static void require_offsets_of_host(const detail::equal_forest<Source>&) {}

  // `count` segments from number s on, which lie in GPU d's part, which begins at `begin`.
  template <class Source, class Offsets>
  auto segments_on_gpu(std::size_t d, const detail::offsets_forest<Source, Offsets>& forest,
                       std::int64_t s, std::int64_t count, std::int64_t begin) const {
    return detail::offsets_forest{
        segments_source(d, forest.source, begin),
        detail::shifted_offsets<Offsets>{detail::starting_at(forest.offsets, s), begin}, count};
  }
  template <class Source>
  auto segments_on_gpu(std::size_t d, const detail::equal_forest<Source>& forest, std::int64_t s,
                       std::int64_t count, std::int64_t) const {
    return detail::equal_forest{segments_source(d, forest.source, s * forest.length), count,
                                forest.length};
  }

  // The elements from number `first` on, as GPU d reads them; indices count from the start of a
  // segment.
  template <class Source>
  auto segments_source(std::size_t d, const Source& source, std::int64_t first) const {
    return detail::placed(
        source, [&](const auto& it) { return place_in_segments(*gpus_[d], it, d, first); });
  }
  template <class It>
  static auto place_in_segments(const basic_cuda_executor<Build>& gpu, const It& it, std::size_t d,
                                std::int64_t first) {
    return place(gpu, it, d, first);
  }
  static detail::index_iterator place_in_segments(const basic_cuda_executor<Build>&,
                                                  const detail::index_iterator& it, std::size_t,
                                                  std::int64_t) {
    return it;
  }

  // Where each GPU's part of elements [0, n) begins, and n.
  template <std::size_t... Index, class... Its>
  std::vector<std::int64_t> cut(
      const detail::source_of<std::index_sequence<Index...>, Its...>& source,
      std::int64_t n) const {
    using source_type = detail::source<Its...>;
    std::vector<std::int64_t> begins;
    (find_begins(source_type::template iterator<Index>(source), n, begins), ...);
    if (!begins.empty()) return begins;
    // Aligned blocks, so that most of a part is one fold.
    const auto parts = static_cast<std::int64_t>(gpus_.size());
    const std::int64_t part = tree::num_blocks(n, parts);
    const std::int64_t block = std::int64_t{1} << (tree::floor_log2(part) > 8 ? 8 : 0);
    for (std::int64_t d = 0; d <= parts; ++d) {
      const std::int64_t at = d * tree::num_blocks(part, block) * block;
      begins.push_back(d == parts || at > n ? n : at);
    }
    return begins;
  }

  template <class It>
  void find_begins(const It& it, std::int64_t n, std::vector<std::int64_t>& begins) const {
    if constexpr (requires { it.table->parts; }) {
      const auto& of_shards = it.table->begins;
      if (it.at < 0) {
        throw invalid_range_error("tilefold::cuda_group: items from position " +
                                  std::to_string(it.at) +
                                  " on are wanted, but shards begin at position 0");
      }
      if (n > of_shards.back() - it.at) {
        throw invalid_range_error("tilefold::cuda_group: " + std::to_string(n) +
                                  " items are wanted of shards that hold " +
                                  std::to_string(of_shards.back() - it.at));
      }
      std::vector<std::int64_t> own;
      for (std::size_t d = 0; d <= gpus_.size(); ++d) {
        const std::int64_t begin = (d < of_shards.size() ? of_shards[d] : of_shards.back()) - it.at;
        own.push_back(begin < 0 ? 0 : begin > n ? n : begin);
      }
      if (!begins.empty() && begins != own) {
        throw invalid_range_error(
            "tilefold::cuda_group: shards of one call must be cut at the same items");
      }
      begins = std::move(own);
    }
  }

  // The elements from number `first` on, as GPU d reads them.
  template <class Source>
  static auto on_gpu(const basic_cuda_executor<Build>& gpu, const Source& source, std::size_t d,
                     std::int64_t first) {
    return detail::placed(source, [&](const auto& it) { return place(gpu, it, d, first); });
  }
  template <class T>
  static const T* place(const basic_cuda_executor<Build>&, const T* items, std::size_t,
                        std::int64_t first) {
    return items + first;
  }
  template <class It>
    requires requires(const It& it) { it.table->parts; }
  static auto place(const basic_cuda_executor<Build>& gpu, const It& it, std::size_t d,
                    std::int64_t first) {
    using value_type = std::iter_value_t<It>;
    const auto& [parts, begins] = *it.table;
    if (d >= parts.size() || begins[d] == begins[d + 1]) {
      return static_cast<const value_type*>(nullptr);  // none is read
    }
    return gpu.accessible(parts[d], "a shard") + (it.at + first - begins[d]);
  }
  template <detail::gives_indices It>
  static detail::position_iterator place(const basic_cuda_executor<Build>&, const It& it,
                                         std::size_t, std::int64_t first) {
    return detail::position_iterator{it[first]};
  }

  std::vector<std::unique_ptr<basic_cuda_executor<Build>>> gpus_;
};

using cuda_group = basic_cuda_group<detail::cuda::this_build>;

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
