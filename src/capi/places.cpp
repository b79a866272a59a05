// SPDX-License-Identifier: Apache-2.0
//
// Where extremes are: the index alone, -1 in an empty segment.
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// The index of a place; the value can be looked up.
struct index_of {
  std::int64_t index;

  index_of() = default;
  template <class T>
  TILEFOLD_HD index_of(const r::indexed_value<T>& found) : index(found.index) {}
};

/// -1 where there is nothing, of whatever type.
struct no_place {
  template <class T>
  TILEFOLD_HD operator r::indexed_value<T>() const {
    return {T{}, -1};
  }
  TILEFOLD_HD operator index_of() const {
    index_of none;
    none.index = -1;
    return none;
  }
};

#if defined(__CUDACC__)
/// The place of the first extreme of items of up to 4 bytes, by words of 64 bits, of which the
/// greatest counts: the rank of the item above the complement of its index.
template <bool Largest>
struct place_in_word {
  using reducer_concept = tilefold::reducer_tag;
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD std::uint64_t lift(const T& value, std::int64_t index) const {
    using ranking = detail::ranking<T, Largest, nan_rule::propagate, tie_rule::first>;
    const std::uint32_t key = static_cast<std::uint32_t>(std::int32_t{ranking::of(value)});
    const std::uint32_t rank = (Largest ? key : ~key) ^ 0x80000000u;
    return std::uint64_t{rank} << 32 | ~static_cast<std::uint32_t>(index);
  }
  TILEFOLD_HD std::uint64_t combine(std::uint64_t a, std::uint64_t b) const {
    return a < b ? b : a;
  }
  TILEFOLD_HD index_of project(std::uint64_t found) const {
    index_of result;
    result.index = ~static_cast<std::uint32_t>(found);
    return result;
  }
};
#endif

template <bool Largest>
struct make {
  using reducer = std::conditional_t<Largest, r::arg_max<>, r::arg_min<>>;

  auto operator()() const { return if_empty(reducer{}, no_place{}); }

#if defined(__CUDACC__)
  static constexpr std::int64_t most_items = std::int64_t{1} << 32;
  static constexpr bool folds_long_rows_in_any_order = true;

  template <class T>
    requires(sizeof(T) <= 4)
  static auto of_length(std::int64_t) {
    return if_empty(place_in_word<Largest>{}, no_place{});
  }
#endif
};

}  // namespace

}  // namespace tilefold::capi

#if defined(__CUDACC__)
template <bool Largest>
struct tilefold::detail::ways<tilefold::capi::place_in_word<Largest>> : order_free_ways {};
#endif

namespace tilefold::capi {

template <>
struct result_traits<index_of> {
  static constexpr dtype type = dtype::int64;
  static constexpr int count = 1;
};

void add_places(table& all) {
  all.add_real<op::arg_min, make<false>, index_of>(false);
  all.add_real<op::arg_max, make<true>, index_of>(false);
  if constexpr (!table::on_host) {  // read where they lie
    all.add<op::arg_min, const std::int32_t*, index_of, make<false>>(dtype::int32, false);
    all.add<op::arg_min, const std::int64_t*, index_of, make<false>>(dtype::int64, false);
    all.add<op::arg_max, const std::int32_t*, index_of, make<true>>(dtype::int32, false);
    all.add<op::arg_max, const std::int64_t*, index_of, make<true>>(dtype::int64, false);
  }
}

}  // namespace tilefold::capi
