// SPDX-License-Identifier: Apache-2.0
//
// Axes of a view whose first axis is spread over the ranks and reduced. Each rank has the next rows
// of every result, so its rows are aligned blocks of all results alike:
//
//                 result 0  1  2  3            blocks of rows     sent
//     rank 0  row 0      .  .  .  .            rows 0-1           a value for each result
//             row 1      .  .  .  .            row 2              a value for each result
//             row 2      .  .  .  .
//     rank 1  row 3      .  .  .  .            row 3              ...
//
// Host code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/sequential.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/ranks/rank_call.hpp>
#include <tilefold/detail/ranks/rank_segments.hpp>
#include <tilefold/detail/verbs/axis_plan.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>

namespace tilefold::detail {

/// Elements that lie as `axes` say, from element `first` on; indices as they are.
template <class It>
column_items<It> along(const It& it, std::int64_t first, const strided_axes& axes) {
  return {detail::starting_at(it, first), axes, 0};
}
inline index_iterator along(const index_iterator& indices, std::int64_t, const strided_axes&) {
  return indices;
}
template <std::size_t... Index, class... Its>
auto along(const source_of<std::index_sequence<Index...>, Its...>& elements, std::int64_t first,
           const strided_axes& axes) {
  return detail::placed(elements, [&](const auto& it) { return detail::along(it, first, axes); });
}

/// The values of the blocks of all results of a rank: values(b)[k] of block b of result k.
template <class Reducer>
class result_blocks {
 public:
  using accumulator = typename Reducer::accumulator;

  result_blocks(std::int64_t blocks, std::int64_t results)
      : results_(static_cast<std::size_t>(results)),
        bytes_(static_cast<std::size_t>(blocks) * results_ * sizeof(accumulator)) {}

  void put(std::int64_t block, std::int64_t result, const accumulator& value) {
    std::memcpy(bytes_.data() + place(block, result), __builtin_addressof(value), sizeof value);
  }
  void put_all(std::int64_t block, const accumulator* values) {
    std::memcpy(bytes_.data() + place(block, 0), values, results_ * sizeof(accumulator));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  std::size_t place(std::int64_t block, std::int64_t result) const {
    return (static_cast<std::size_t>(block) * results_ + static_cast<std::size_t>(result)) *
           sizeof(accumulator);
  }

 private:
  std::size_t results_;
  std::vector<std::byte> bytes_;
};

/// Calls fold(array) with room for `count` accumulators that the executor can write, then
/// use(array).
template <class T, class Executor, class Fold, class Use>
void with_array(Executor& exec, std::int64_t count, const Fold& fold, const Use& use) {
  if constexpr (requires { exec.template pinned_array<T>(count); }) {
    T* const array = exec.template pinned_array<T>(count);
    fold(array);
    exec.synchronize();
    use(array);
  } else {
    union slot {
      slot() {}
      T value;
    };
    static_assert(sizeof(slot) == sizeof(T));
    std::vector<slot> array(static_cast<std::size_t>(count));
    fold(__builtin_addressof(array.data()->value));
    use(__builtin_addressof(array.data()->value));
  }
}

/// Folds this rank's rows, which stand at `position` of every result.
template <class Policy, class Executor, class Bound, class Source, class Reducer>
void fold_rows(Executor& exec, const Bound& bound, const Source& source, const axis_plan& plan,
               std::int64_t position, result_blocks<Reducer>& values) {
  using accumulator = typename Reducer::accumulator;
  const blocks_of<Reducer> blocks{{position, position + plan.length}};
  // Rows that lie evenly are columns of a view of their own, a block of them at a time.
  if (!Bound::indexed && plan.rows.rank == 1 && plan.results > 1) {
    for (int b = 0; b < blocks.count(); ++b) {
      const strided_axes rows{1, {blocks.size(b)}, {plan.rows.stride[0]}};
      const column_forest<Source> columns{
          detail::starting_at(source, (blocks.first(b) - position) * plan.rows.stride[0]),
          plan.columns, rows};
      detail::with_array<accumulator>(
          exec, plan.results,
          [&](accumulator* array) {
            exec.template fold_columns<Policy>(columns, bound.reducer, unfinished{}, unfinished{},
                                               raw_output<accumulator>{array});
          },
          [&](const accumulator* array) { values.put_all(b, array); });
    }
    return;
  }
  for (std::int64_t k = 0; k < plan.results; ++k) {
    int b = 0;
    exec.template fold_blocks<Policy>(
        detail::in_whole(detail::along(source, plan.columns.offset(k), plan.rows), position),
        bound.reducer, position, plan.length,
        [&](const accumulator& value, std::int64_t) { values.put(b++, k, value); });
  }
}

/// Folds the rows of all ranks and writes every result on every rank.
template <class Policy, class Call, class Executor, class Bound, class InIt, class OutIt>
void fold_rank_axes(Call& call, Executor& exec, const Bound& bound, const InIt& in,
                    const OutIt& out, const axis_plan& plan) {
  using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
  using list = block_list<reducer>;
  using accumulator = typename list::accumulator;
  using result = typename Bound::result;
  const unless_empty reader{exec, plan.length > 0 && plan.results > 0, "in"};
  std::optional<decltype(bound.source(reader, in))> source;
  call.try_to([&] {
    source.emplace(bound.source(reader, in));
    (void)exec.accessible(out, "out", plan.results > 0);
  });
  const rank_parts parts(call.agree(plan.results > 0 ? plan.length : 0));
  const auto blocks_of_rank = [&](int r) {
    return typename list::blocks_type{{parts.begin(r), parts.end(r)}};
  };
  const int most = detail::most_blocks<typename list::blocks_type>(parts);
  std::optional<result_blocks<reducer>> own;
  call.try_to([&] {
    own.emplace(most, plan.results);
    if (plan.length > 0 && plan.results > 0) {
      detail::fold_rows<Policy>(exec, bound, *source, plan, parts.begin(call.rank()), *own);
    }
  });
  const std::size_t bytes_of_one = detail::sent_bytes<accumulator>(most);
  const std::size_t bytes = bytes_of_one * static_cast<std::size_t>(plan.results);
  const gathered_bytes all = call.gather(bytes, [&](std::byte* place) {
    if (bytes > 0) std::memcpy(place, own->bytes().data(), bytes);
  });
  const closed_steps steps{bound.reducer};
  std::vector<result> results;
  results.reserve(static_cast<std::size_t>(plan.results));
  std::vector<std::byte> of_one(bytes_of_one);
  for (std::int64_t k = 0; k < plan.results; ++k) {
    list whole(0);
    for (int r = 0; r < call.size(); ++r) {
      for (int b = 0; b < blocks_of_rank(r).count(); ++b) {
        std::memcpy(of_one.data() + static_cast<std::size_t>(b) * sizeof(accumulator),
                    all.of(r) + own->place(b, k), sizeof(accumulator));
      }
      whole.append(bound.reducer, list::from(parts.begin(r), parts.end(r), of_one.data()));
    }
    if (whole.count() > 0) {
      results.push_back(detail::finish(steps, bound.start, whole.fold(bound.reducer)));
    } else {
      results.push_back(detail::result_of_nothing(steps, bound.empty("axis_reduce")));
    }
  }
  for (std::int64_t k = 0; k < plan.results; ++k) {
    exec.store(results[static_cast<std::size_t>(k)], detail::starting_at(out, plan.out.offset(k)));
  }
}

}  // namespace tilefold::detail
