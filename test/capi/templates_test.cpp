// SPDX-License-Identifier: Apache-2.0
//
// The bits of the C interface are those of the templates, which this program compiles for one
// thread: every operation of every type.
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.h>
#include <tilefold/precompiled.hpp>
#include <tilefold/tilefold.hpp>

#include "c_interface.hpp"
#include "conformance/conformance.hpp"
#include "support/items.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

/// Ranges of every size, and of floats some with NaNs and infinities, in the middle and alone.
template <class T>
std::vector<std::vector<T>> ranges_of() {
  std::vector<std::vector<T>> ranges;
  for (const std::int64_t n : sizes) ranges.push_back(items_of<T>(n));
  if constexpr (std::is_floating_point_v<T> || is_narrow_float<T>) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const auto& [first, second] : {std::pair{nan, nan},
                                        {infinity, infinity},
                                        {-infinity, -infinity},
                                        {infinity, -infinity},
                                        {-infinity, nan}}) {
      ranges.push_back(items_of<T>(1000));
      ranges.back()[333] = T(first);
      ranges.back()[777] = T(second);
      ranges.push_back({T(first), T(second), T(second)});
    }
  }
  return ranges;
}

TYPED_TEST_SUITE(CInterfaceOf, real_types);

TYPED_TEST(CInterfaceOf, HasTheBitsOfTheTemplates) {
  using T = TypeParam;
  const auto check = [&](const char* op, const std::vector<T>& x, auto expected) {
    EXPECT_TRUE(same_bits(this->template reduced<decltype(expected)>(op, x), expected))
        << op << ", " << x.size();
  };
  for (const std::vector<T>& x : ranges_of<T>()) {
    const auto n = static_cast<std::int64_t>(x.size());
    if constexpr (std::is_integral_v<T>) {
      using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      check("sum", x, tilefold::reduce<wide>(x));
      check("product", x, tilefold::reduce<wide>(x, r::product{}));
    } else {
      check("sum", x, tilefold::reduce(x));
      check("product", x, tilefold::reduce(x, r::product{}));
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
      check("sum32", x, tilefold::reduce(x));
      check("product32", x, tilefold::reduce(x, r::product{}));
    }
    check("min", x, tilefold::reduce(x, r::min<>{}));
    check("max", x, tilefold::reduce(x, r::max<>{}));
    check("minmax", x, tilefold::reduce(x, r::minmax<>{}));
    check("arg_min", x, tilefold::reduce(x, r::arg_min<>{}).index);
    check("arg_max", x, tilefold::reduce(x, r::arg_max<>{}).index);
    check("mean", x, tilefold::reduce(x, r::mean{}));
    check("variance", x, tilefold::reduce(x, r::variance{}));
    check("standard_deviation", x, tilefold::reduce(x, r::standard_deviation{}));
    check("l1", x, tilefold::reduce(x, r::l1{}));
    check("l2", x, tilefold::reduce(x, r::l2{}));
    check("logsumexp", x, tilefold::reduce(x, r::logsumexp{}));
    const auto pair = tilefold::reduce(x, r::softmax_pair{});
    check("softmax_pair", x, pair);
    if constexpr (std::is_integral_v<T>) {
      using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      check("sum64", x, tilefold::reduce<wide>(x));
      const auto checked = tilefold::reduce(x, r::checked_sum{});
      check("checked_sum", x, precompiled::checked_value<wide>{checked.value, checked.fits});
      check("bit_xor", x, tilefold::reduce(x, r::bit_xor{}));
      check("bit_and", x, tilefold::reduce(x, r::bit_and{}));
      check("bit_or", x, tilefold::reduce(x, r::bit_or{}));
      check("any", x, tilefold::reduce(x, r::any<>{}));
      check("all", x, tilefold::reduce(x, r::all<>{}));
    } else {
      check("sum64", x, tilefold::reduce<double>(x));
    }
    if constexpr (std::is_floating_point_v<T>) {
      check("linf", x, tilefold::reduce(x, r::linf{}));
      check("compensated_sum", x, tilefold::reduce(x, r::compensated_sum{}));
      check("exact_sum", x, tilefold::reduce(x, r::exact_sum<>{}));
    }
    using dot = decltype(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::dot{}));
    dot product{};
    must(tilefold_dot(this->host_, x.data(), x.data(), code<T>, n, &product));
    EXPECT_TRUE(
        same_bits(product, tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::dot{})))
        << n;
  }
}

}  // namespace
}  // namespace tilefold::test
