// SPDX-License-Identifier: Apache-2.0
//
// The reducers of a summary, for every backend. An array is folded piece by piece, so that progress
// can be shown and no GPU has to hold it whole. A piece is a node of the neighbour tree, and the
// pieces' accumulators are folded in the same tree: the bits are those of one fold of everything.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>

#include "exact_sum.hpp"
#include "field.hpp"
#include "magnitude.hpp"
#include "summary.hpp"

namespace tilefold::tool {

template <class T>
struct counted {
  std::int64_t count;
  T value;  // means nothing if the count is 0
};

/// An indexed reducer over those of its elements that are not NaN, and how many these are. An
/// accumulator of none is neutral, so the others are combined in the tree's order.
template <class Reducer>
struct of_numbers {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;
  static constexpr bool separately_rounded = true;

  Reducer reducer;

  template <class T>
  TILEFOLD_HD auto lift(const T& value, std::int64_t index) const {
    using accumulator = detail::reducer_accumulator_t<Reducer, T>;
    return counted<accumulator>{value == value ? 1 : 0, reducer.lift(value, index)};
  }
  template <class Acc>
  TILEFOLD_HD counted<Acc> combine(const counted<Acc>& a, const counted<Acc>& b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    return {a.count + b.count, reducer.combine(a.value, b.value)};
  }
  template <class Acc>
  TILEFOLD_HD auto project(const counted<Acc>& found) const {
    using result = decltype(reducer.project(found.value));
    return counted<result>{found.count, reducer.project(found.value)};
  }
};

/// Of one piece, whose first element stands at `base`: the accumulator.
template <class Reducer>
struct of_piece {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;
  static constexpr bool separately_rounded = true;

  Reducer reducer;
  std::int64_t base;

  template <class T>
  TILEFOLD_HD auto lift(const T& value, std::int64_t index) const {
    return reducer.lift(value, base + index);
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return reducer.combine(a, b);
  }
  template <class Acc>
  TILEFOLD_HD Acc project(const Acc& found) const {
    return found;
  }
};

/// Of all the pieces' accumulators: the result.
template <class Reducer>
struct of_pieces {
  using reducer_concept = reducer_tag;
  static constexpr bool separately_rounded = true;

  Reducer reducer;

  template <class Acc>
  TILEFOLD_HD Acc lift(const Acc& piece) const {
    return piece;
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return reducer.combine(a, b);
  }
  template <class Acc>
  TILEFOLD_HD auto project(const Acc& found) const {
    return reducer.project(found);
  }
};

template <class Wide>
auto summary_reducer() {
  namespace r = reducers;
  using sum = std::conditional_t<std::is_integral_v<Wide>, exact_sum_reducer, r::sum>;
  const auto fused =
      r::fuse(sum{}, r::mean_variance{}, r::arg_minmax<>{}, r::l1{}, r::l2{}, r::linf{});
  return of_numbers<std::remove_const_t<decltype(fused)>>{fused};
}

template <class Wide>
using summary_accumulator = detail::reducer_accumulator_t<decltype(summary_reducer<Wide>()), Wide>;

/// The summary of an array whose pieces have these accumulators; there is at least one.
template <class Wide>
summary summary_of(const summary_job& job, const std::vector<summary_accumulator<Wide>>& pieces) {
  const auto reducer = summary_reducer<Wide>();
  const auto found =
      tilefold::reduce(host_executor(1), pieces.data(), pieces.data() + pieces.size(),
                       of_pieces<decltype(reducer)>{reducer});
  if (found.count == 0) return {job.count, job.count, std::nullopt};
  const auto [sum, mean_variance, places, l1, l2, linf] = found.value;
  const auto place = [&](const reducers::indexed_value<Wide>& at) {
    return placed_value{narrow_again(job.type, at.value), at.index};
  };
  return {
      job.count, job.count - found.count,
      number_summary{sum, mean_variance.mean, std::sqrt(mean_variance.variance), place(places.min),
                     place(places.max), l1, l2, narrow_magnitude(job.type, linf)}};
}

}  // namespace tilefold::tool
