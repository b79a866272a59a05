// SPDX-License-Identifier: Apache-2.0
//
// Fused reducers part by part, where one of them is an exact sum: that has a way of its own through
// a block of items, which an accumulator of all parts would not let it take. A block of items stays
// in a cache while each part is folded. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/pack.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

/// The fold of ranges of one source with such a reducer, as scalar_fold. fold_part(elements,
/// reducer, first, n) folds one part.
template <class Source, std::size_t... Part, class... R, class... Values, class FoldPart>
class parts_fold<Source,
                 bound_reducer<fused_of<std::index_sequence<Part...>, R...>, as_is, Values...>,
                 FoldPart> {
  using fused = fused_of<std::index_sequence<Part...>, R...>;
  using reducer_type = bound_reducer<fused, as_is, Values...>;

 public:
  using accumulator = typename reducer_type::accumulator;

  parts_fold(const Source& elements, const reducer_type& reducer, const FoldPart& fold_part)
      : elements_(elements), reducer_(reducer), fold_part_(fold_part) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if (n <= block) return {{part_of<Part, R>(first, n)}...};
    const std::int64_t split = tree::left_size(n);
    const accumulator left = (*this)(first, split);
    return reducer_.combine(left, (*this)(first + split, n - split));
  }

 private:
  // 32 to 64 KiB of floats and doubles: what a call costs is little then.
  static constexpr std::int64_t block = 8192;

  template <std::size_t I, class One>
  auto part_of(std::int64_t first, std::int64_t n) const {
    if constexpr (fused::template keeper<I> != I) {
      return typename fused::template part<I, One, Values...>{};
    } else {
      const bound_reducer<One, as_is, Values...> one{reducer_.reducer.reducers.template get<I>(),
                                                     {}};
      return fold_part_(elements_, one, first, n);
    }
  }

  const Source& elements_;
  const reducer_type& reducer_;
  const FoldPart& fold_part_;
};

}  // namespace tilefold::detail::host
