// SPDX-License-Identifier: Apache-2.0
//
// Statistics of columns on a GPU, of few items and of many, also where sums leave the range of a
// double: the bits of the host.
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/half.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>

#include "../support/seed.hpp"
#include "../support/views.hpp"
#include "cuda_reducers.cuh"
#include "far_sums.hpp"

namespace tilefold::test {
namespace {

// Columns of `height` items, with results side by side and with gaps.
template <class T>
void expect_columns(cuda_executor& exec, const std::vector<T>& x, std::int64_t height) {
  const std::int64_t width = static_cast<std::int64_t>(x.size()) / height;
  const gpu_array<T> device(x);
  const auto check = [&](const auto& reducer) {
    using result = decltype(tilefold::reduce(x, reducer));
    const auto or_empty = if_empty(reducer, result{});
    const auto layout = right_layout({height, width});
    std::vector<result> expected(static_cast<std::size_t>(width));
    tilefold::axis_reduce(host_executor(), test_view{x.data(), layout},
                          test_view{expected.data(), right_layout({width})}, axes{0}, or_empty);
    for (const std::int64_t step : {1, 3}) {
      const gpu_array<result> out(width * step);
      tilefold::axis_reduce(exec, test_view{static_cast<const T*>(device.data()), layout},
                            test_view{out.data(), view_layout{{width}, {step}}}, axes{0}, or_empty);
      const std::vector<result> found = out.to_host();
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(bits_of(found[k * static_cast<std::size_t>(step)]), bits_of(expected[k]))
            << "column " << k << " of " << height << " * " << width << ", step " << step
            << ", items of " << sizeof(T) << " bytes, seed " << seed();
      }
    }
  };
  check(r::variance{});
  check(r::l2{});
  if constexpr (std::is_same_v<T, double>) {
    check(r::mean{});
    check(r::fuse(r::mean{}, r::max{}));
  } else {
    check(r::logsumexp{});
  }
}

TEST(CudaFarColumns, ColumnsHaveTheBitsOfTheHost) {
  cuda_executor exec;
  bit_stream random(seed());
  for (const std::int64_t height : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 300}) {
    for (const std::int64_t width : {2, 8, 24, 1023, 2080}) {
      const auto x = far_items(random, height * width, random.one_in(2) ? 5 : 0);
      ASSERT_NO_FATAL_FAILURE(expect_columns(exec, x, height));
      // Of both signs and sizes from 2^-40 to 2^24, so that another order gives other bits.
      std::vector<float> floats(x.size());
      std::vector<bfloat16> narrow(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto size = static_cast<float>(1 + (random.next() >> 40));
        floats[i] =
            std::ldexp(random.one_in(2) ? size : -size, -static_cast<int>(random.below(41)));
        narrow[i] = bfloat16(floats[i]);
      }
      ASSERT_NO_FATAL_FAILURE(expect_columns(exec, floats, height));
      ASSERT_NO_FATAL_FAILURE(expect_columns(exec, narrow, height));
    }
  }
}

}  // namespace
}  // namespace tilefold::test
