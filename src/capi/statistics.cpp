// SPDX-License-Identifier: Apache-2.0
//
// The statistics of tilefold_stats(), in one pass.
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

struct make {
  auto operator()() const {
    return r::fuse(r::count{}, if_empty(r::mean{}, not_a_number),
                   if_empty(r::variance{}, not_a_number), r::min<>{}, r::max<>{});
  }
};

/// What the five are in C.
struct in_c : tilefold_statistics {
  in_c() = default;
  template <class Five>
    requires requires(const Five& five) { get<4>(five); }
  TILEFOLD_HD in_c(const Five& five)
      : tilefold_statistics{get<0>(five), get<1>(five), get<2>(five), real(get<3>(five)),
                            real(get<4>(five))} {}

 private:
  template <class T>
  TILEFOLD_HD static double real(T value) {
    if constexpr (is_narrow_float<T>) {
      return static_cast<float>(value);
    } else {
      return static_cast<double>(value);
    }
  }
};

}  // namespace

template <>
struct result_traits<in_c> {
  static constexpr dtype type = dtype::float64;
  static constexpr int count = 5;
};

void add_statistics(table& all) { all.add_real<op::statistics, make, in_c>(true); }

}  // namespace tilefold::capi
