// SPDX-License-Identifier: Apache-2.0
//
// Items in runs: item j belongs to the run of item j - 1 if the keys of both are equal, else a run
// begins with it. A plain value that host and device code share.
#pragma once

#include <cstdint>
#include <iterator>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>

namespace tilefold::detail {

/// `size` keys, and the equality that decides about neighbours.
template <class Keys, class Equal>
struct keys_in_runs {
  using key_type = std::iter_value_t<Keys>;

  Keys keys;
  Equal equal;
  std::int64_t size;
  border closing{};

  /// Closed if it is computed, to what the equality computes of it and to what an output does.
  TILEFOLD_HD element_t<Keys> key(std::int64_t j) const {
    if constexpr (computes_items<Keys>) {
      return closing(detail::element(keys, j));
    } else {
      return detail::element(keys, j);
    }
  }

  /// Whether a run begins with item j >= 1.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD bool begins_run(std::int64_t j) const {
    return !static_cast<bool>(equal(key(j - 1), key(j)));
  }
};

/// Keys in runs, and the elements that are folded.
template <class Keys, class Equal, class Source>
struct keyed_items : keys_in_runs<Keys, Equal> {
  using source_type = Source;
  using keys_type = keys_in_runs<Keys, Equal>;

  Source source;

  /// The elements of a run from item j on.
  TILEFOLD_HD Source run(std::int64_t j) const { return detail::starting_at(source, j); }
};

/// Calls visit(run, begin, end) for every run of `items`, in their order; returns how many.
template <class Items, class Visit>
std::int64_t visit_runs(const Items& items, const Visit& visit) {
  std::int64_t run = 0;
  for (std::int64_t begin = 0; begin < items.size; ++run) {
    std::int64_t end = begin + 1;
    while (end < items.size && !items.begins_run(end)) ++end;
    visit(run, begin, end);
    begin = end;
  }
  return run;
}

/// What is assigned through `out` for a key: the key itself, all its bits, unless it is a floating
/// number and `out` holds integers.
template <class Out, class Key>
TILEFOLD_HD auto output_key(const Key& key) {
  if constexpr (has_value_type<Out> && real<Key>) {
    using held = std::iter_value_t<Out>;
    if constexpr (integer<held>) {
      return detail::convert<held>(key);
    } else {
      return key;
    }
  } else {
    return key;
  }
}

}  // namespace tilefold::detail
