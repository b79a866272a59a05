// SPDX-License-Identifier: Apache-2.0
//
// A piece_task on a GPU. The executor that its pieces are folded with takes items of host memory,
// a chunk at a time, and folds each aligned block of a chunk by one launch of the kernel that folds
// whole arrays, so nvcc has nothing more to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/piece.hpp>
#include <tilefold/policy.hpp>

#include "any_items.hpp"
#include "backend.hpp"
#include "chunk_feed.cuh"
#include "cuda_fold.cuh"
#include "field.hpp"
#include "piece_task.hpp"
#include "timing.hpp"

namespace tilefold::tool {

/// How a block of items on the GPU is folded: with the reducer that the piece has.
template <class Item>
struct fold_as_it_is {
  template <class Source, class Reducer>
  void operator()(cuda_executor& executor, const Source& source, const Reducer& reducer,
                  std::int64_t count, typename Reducer::accumulator* out) const {
    fold_to_accumulator<Item>(executor, source, reducer, count, out);
  }
};

/// The same with another type of items and another operator, which have the same bits.
template <class Item, class Op>
struct fold_as {
  Op op;

  template <class Source, class Reducer>
  void operator()(cuda_executor& executor, const Source& source, const Reducer&, std::int64_t count,
                  typename Reducer::accumulator* out) const {
    const auto bound = bind_on_gpu<const Item*>(op);
    using accumulator = typename std::remove_cvref_t<decltype(bound.reducer)>::accumulator;
    static_assert(sizeof(accumulator) == sizeof(typename Reducer::accumulator));
    const auto* const items = reinterpret_cast<const Item*>(Source::template iterator<0>(source));
    fold_to_accumulator<Item>(executor, bound.source(executor, items), bound.reducer, count,
                              reinterpret_cast<accumulator*>(out));
  }
};

template <class Item, class Op>
fold_as<Item, Op> as_of_kernel(Op op) {
  return {op};
}

template <class FoldBlock>
class chunk_executor {
 public:
  using executor_concept = executor_tag;

  chunk_executor(cuda_executor& executor, chunk_feed& feed, FoldBlock fold_block)
      : executor_(&executor), feed_(&feed), fold_block_(fold_block) {}

  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    return cuda_executor::takes<Accumulator, Result, Functions...>();
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return cuda_executor::takes_functions<Functions...>();
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return cuda_executor::takes_items<Items...>();
  }

  // Host memory, which the feed reads.
  template <class It>
  It accessible(const It& it, const char*, bool = true) const {
    return it;
  }

  /// As of cuda_executor. Items [position, position + n) are a chunk of the feed's.
  template <class Policy, class Source, class Reducer, class Keep>
  void fold_blocks(const Source& source, const Reducer& reducer, std::int64_t position,
                   std::int64_t n, const Keep& keep) const {
    using accumulator = typename Reducer::accumulator;
    const detail::blocks_of<Reducer> blocks{{position, position + n}};
    auto* const values = static_cast<accumulator*>(
        feed_->results(static_cast<std::size_t>(blocks.count()) * sizeof(accumulator)));
    const auto on_gpu = on_the_gpu(source, feed_->copy(position, n));
    for (int i = 0; i < blocks.count(); ++i) {
      fold_block_(*executor_, detail::starting_at(on_gpu, blocks.first(i) - position), reducer,
                  blocks.size(i), values + i);
    }
    feed_->copy_ahead(position + n);
    executor_->synchronize();
    for (int i = 0; i < blocks.count(); ++i) keep(values[i], blocks.size(i));
  }

  // What executors have beside; pieces alone are folded with this one.
  void require_waiting() const {}
  void synchronize() const {}

 private:
  template <class Source>
  static auto on_the_gpu(const Source& source, const std::byte* items) {
    return detail::placed(source, [&](const auto& it) { return place(it, items); });
  }
  template <class Item>
  static const Item* place(const Item* const&, const std::byte* items) {
    return reinterpret_cast<const Item*>(items);
  }
  template <class Wide>
  static any_items<Wide> place(const any_items<Wide>& it, const std::byte* items) {
    return {items, it.type};
  }
  static detail::position_iterator place(const detail::position_iterator& it, const std::byte*) {
    return it;
  }

  cuda_executor* executor_;
  chunk_feed* feed_;
  FoldBlock fold_block_;
};

/// The job's piece_task, folded block by block in the way of `fold_block`; the value, if there is
/// one.
template <class Items, class Op, class FoldBlock>
auto run_on_gpu(cuda_executor& executor, const fold_job& job, const Items& first, const Op& op,
                FoldBlock fold_block) {
  piece_task& task = *job.pieces;
  const std::int64_t most = std::max<std::int64_t>(task.end - task.begin, 1);
  task.chunk = std::min(task.chunk, most);
  chunk_feed feed(job.data, row_of(job.type).bytes, task.end, task.chunk, executor.stream());
  const chunk_executor<FoldBlock> in_chunks(executor, feed, fold_block);
  const bool empty_has_value = row_of(job.op).empty_has_value;
  std::optional<decltype(run(task, in_chunks, first, op, empty_has_value))> value;
  feed.run([&] { value.emplace(run(task, in_chunks, first, op, empty_has_value)); });
  return std::move(*value);
}

/// Folds with reducers, as reducer_fold asks for.
class cuda_chunk_fold {
 public:
  static constexpr bool on_host = false;

  cuda_chunk_fold(cuda_executor& executor, const fold_job& job) : executor_(executor), job_(job) {}

  template <class Items, class Op>
  auto operator()(const Items& first, std::int64_t, const Op& op) {
    return run_on_gpu(executor_, job_, first, op, fold_as_it_is<std::iter_value_t<Items>>{});
  }

 private:
  cuda_executor& executor_;
  const fold_job& job_;
};

/// What came of a job in chunks: its fields, and the time that it took.
template <class Fold>
fold_result timed_in_chunks(Fold fold) {
  std::vector<field> fields;
  const double seconds = wall_seconds([&] { fields = fold(); });
  return {std::move(fields), seconds, 1, "wall clock", 0, {}, true};
}

}  // namespace tilefold::tool
