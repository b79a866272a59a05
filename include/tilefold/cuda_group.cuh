// SPDX-License-Identifier: Apache-2.0
//
// cuda_group: several GPUs of one process as one executor. Each folds its part, all at once; their
// blocks go to memory of the host, which puts them together. The bits are those of one GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/block_list.hpp>
#include <tilefold/detail/cuda/sched/launch_forest.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/error.hpp>
#include <tilefold/host.hpp>
#include <tilefold/tree.hpp>

namespace tilefold {

/// One sequence that lies in parts: part d is `lengths[d]` items at `parts[d]`, in memory that GPU
/// d of a group reads. Parts may have any lengths, none too. It refers to nothing but the items.
template <class T>
class shards {
 public:
  /// Throws invalid_range_error unless there are as many lengths as parts, none negative.
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
/// - Verbs whose result is one value, pieces and ranks. Done when they return; results of _into
/// forms
///   go to host memory.
/// - Items: shards, part d read by GPU d; or a pointer to memory that all of them read (managed or
///   pinned), which the group cuts into parts of about one size. Of several ranges all are of one
///   kind, and shards are cut alike.
/// - All GPUs are started one after the other and awaited at the end; each writes its blocks to
///   pinned memory. Nothing goes from GPU to GPU.
/// - Streams: one of its own for each GPU. Threads: one call at a time.
/// - Throws as cuda_executor does; invalid_range_error for no GPU, or for shards that are more than
///   GPUs. After any error it can be used again.
template <class Build>
class basic_cuda_group {
 public:
  using executor_concept = executor_tag;

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

  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    return basic_cuda_executor<Build>::template takes<Accumulator, Result, Functions...>();
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return basic_cuda_executor<Build>::template takes_functions<Functions...>();
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return basic_cuda_executor<Build>::template takes_items<Items...>();
  }

  template <class It>
  auto readable(const It& first, const char* what, bool reads = true) const {
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
      for (const auto& gpu : gpus_) (void)gpu->readable(items, what, reads);
      return items;
    }
  }

  template <class Policy, class Source, detail::folding Reducer, class Init>
  typename Reducer::result fold(const Source& source, const Reducer& reducer, const Init& init,
                                std::int64_t n) const {
    return detail::fold_of_blocks<Policy>(*this, source, reducer, init, n);
  }

  template <class Policy, class Source, detail::folding Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 const Out& out) const {
    store(fold<Policy>(source, reducer, init, n), out);
  }

  /// Calls keep(accumulator, number of items) for blocks that make up the items, in their order;
  /// they stand at `position` of a longer sequence.
  template <class Policy, class Source, detail::folding Reducer, class Keep>
  void fold_blocks(const Source& source, const Reducer& reducer, std::int64_t position,
                   std::int64_t n, const Keep& keep) const {
    using accumulator = typename Reducer::accumulator;
    using blocks_type = detail::blocks_of<Reducer>;
    gpus_.front()->require_waiting("reduce");
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
        gpus_[d]->template fold_blocks_into<Policy>(on_gpu(*gpus_[d], source, d, begins[d]),
                                                    reducer, position + begins[d], count,
                                                    values[d]);
      }
      for (const auto& gpu : gpus_) gpu->synchronize();
    } catch (...) {
      // Nobody may read the caller's items any more.
      for (const auto& gpu : gpus_) (void)cudaStreamSynchronize(gpu->stream());
      (void)cudaGetLastError();
      throw;
    }
    for (std::size_t d = 0; d < gpus_.size(); ++d) {
      const blocks_type blocks = blocks_of_part(d);
      for (int i = 0; i < blocks.count(); ++i) keep(values[d][i], blocks.size(i));
    }
  }

  /// Writes `value` through `out`, in host memory.
  template <class T, class Out>
  void store(const T& value, Out out) const {
    detail::require_host_access(out, "out");
    detail::write_through(out, detail::output_value<Out>(value));
  }

  void require_waiting(const char* verb) const { gpus_.front()->require_waiting(verb); }
  void synchronize() const {}

 private:
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
      if (!begins.empty()) return;
      const auto& of_shards = it.table->begins;
      for (std::size_t d = 0; d <= gpus_.size(); ++d) {
        const std::int64_t begin = (d < of_shards.size() ? of_shards[d] : of_shards.back()) - it.at;
        begins.push_back(begin < 0 ? 0 : begin > n ? n : begin);
      }
    }
  }

  // The elements from number `first` on, as GPU d reads them.
  template <std::size_t... Index, class... Its>
  static auto on_gpu(const basic_cuda_executor<Build>& gpu,
                     const detail::source_of<std::index_sequence<Index...>, Its...>& source,
                     std::size_t d, std::int64_t first) {
    using source_type = detail::source<Its...>;
    return detail::source<decltype(place(gpu, source_type::template iterator<Index>(source), d,
                                         first))...>{
        {place(gpu, source_type::template iterator<Index>(source), d, first)}...};
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
    const auto* const part = it.table->parts[d];
    return gpu.readable(part, "a shard") + (it.at + first - it.table->begins[d]);
  }
  static detail::position_iterator place(const basic_cuda_executor<Build>&,
                                         const detail::index_iterator&, std::size_t,
                                         std::int64_t first) {
    return {first};
  }
  static detail::position_iterator place(const basic_cuda_executor<Build>&,
                                         const detail::position_iterator& it, std::size_t,
                                         std::int64_t first) {
    return it + first;
  }

  std::vector<std::unique_ptr<basic_cuda_executor<Build>>> gpus_;
};

using cuda_group = basic_cuda_group<detail::cuda::this_build>;

}  // namespace tilefold
