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
};

template <class R>
struct make {
  auto operator()() const { return if_empty(R{}, no_place{}); }
};

}  // namespace

template <>
struct result_traits<index_of> {
  static constexpr dtype type = dtype::int64;
  static constexpr int count = 1;
};

void add_places(table& all) {
  all.add_real<op::arg_min, make<r::arg_min<>>, index_of>(false);
  all.add_real<op::arg_max, make<r::arg_max<>>, index_of>(false);
  if constexpr (!table::on_host) {  // read where they lie
    all.add<op::arg_min, const std::int32_t*, index_of, make<r::arg_min<>>>(dtype::int32, false);
    all.add<op::arg_min, const std::int64_t*, index_of, make<r::arg_min<>>>(dtype::int64, false);
    all.add<op::arg_max, const std::int32_t*, index_of, make<r::arg_max<>>>(dtype::int32, false);
    all.add<op::arg_max, const std::int64_t*, index_of, make<r::arg_max<>>>(dtype::int64, false);
  }
}

}  // namespace tilefold::capi
