// SPDX-License-Identifier: Apache-2.0
//
// Means; NaN in an empty segment.
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

#if defined(__CUDACC__)
/// The mean of `count` items whose sum needs no units: what r::mean computes, without counting.
struct mean_of_known {
  using reducer_concept = tilefold::reducer_tag;

  double count;

  template <class T>
  TILEFOLD_HD double lift(const T& value) const {
    return detail::convert<double>(value);
  }
  TILEFOLD_HD double combine(double a, double b) const { return detail::rounded_sum(a, b); }
  TILEFOLD_HD double project(double sum) const { return detail::rounded_quotient(sum, count); }
};
#endif

struct make {
  auto operator()() const { return if_empty(r::mean{}, not_a_number); }

#if defined(__CUDACC__)
  static constexpr std::int64_t most_items = std::int64_t{1} << 53;  // that a double counts
  static constexpr bool of_ranges = true;

  template <class T>
    requires std::same_as<detail::state_for<detail::mean_state, T>, detail::mean_state>
  static auto of_length(std::int64_t n) {
    return if_empty(mean_of_known{static_cast<double>(n)}, not_a_number);
  }
#endif
};

}  // namespace

}  // namespace tilefold::capi

#if defined(__CUDACC__)
template <>
struct tilefold::detail::ways<tilefold::capi::mean_of_known> : commutative_ways {
  template <class>
  TILEFOLD_HD static double neutral() {
    return -0.0;
  }
};
#endif

namespace tilefold::capi {

void add_means(table& all) { all.add_real<op::mean, make, double>(false); }

}  // namespace tilefold::capi
