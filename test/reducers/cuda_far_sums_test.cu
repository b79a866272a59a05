// SPDX-License-Identifier: Apache-2.0
//
// Means and variances on a GPU of doubles whose sums leave the range of a double: the bits of the
// host, which far_sums_test.cpp holds against the definition.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/seed.hpp"
#include "cuda_reducers.cuh"
#include "far_sums.hpp"

namespace tilefold::test {
namespace {

const auto of_all = r::fuse(r::mean{}, r::variance{divisor::population}, r::max{});

template <class Check>
void visit_reducers(const Check& check) {
  check(r::mean{});
  check(r::variance{});
  check(r::mean_variance{divisor::population});
  check(of_all);
}

void expect_host_bits_of(cuda_executor& exec, const std::vector<double>& x) {
  const gpu_array<double> device(x);
  visit_reducers([&](const auto& reducer) {
    ASSERT_EQ(bits_of(tilefold::reduce(exec, device.begin(), device.end(), reducer)),
              bits_of(tilefold::reduce(host_executor(), x, reducer)))
        << "n = " << x.size() << ", seed " << seed();
  });
}

TEST(CudaFarSums, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  bit_stream random(seed());
  for (int i = 0; i < 60; ++i) {
    const std::int64_t most = i % 10 == 0 ? 3000000 : i % 3 == 0 ? 40000 : 600;
    expect_host_bits_of(exec, far_items(random, 1 + random.below(most), i % 11));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(CudaFarSums, EqualNumbersInfinitiesAndNaNsToo) {
  cuda_executor exec;
  for (const std::int64_t n : {2, 3, 4, 33, 1000, 4096, 100000, 1 << 20}) {
    std::vector<double> x(static_cast<std::size_t>(n), 1e308);
    expect_host_bits_of(exec, x);
    x[1] = std::numeric_limits<double>::infinity();
    expect_host_bits_of(exec, x);
    x[0] = -x[1];
    expect_host_bits_of(exec, x);
    x[0] = std::numeric_limits<double>::quiet_NaN();
    expect_host_bits_of(exec, x);
  }
}

TEST(CudaFarSums, RowsHaveTheBitsOfTheHost) {
  cuda_executor exec;
  bit_stream random(seed() + 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{600, 5000}, {9, 50257}, {5, 140000}};
  for (const std::int64_t width :
       {1, 2, 3, 5, 8, 13, 31, 32, 64, 100, 128, 500, 1024, 3000, 20000}) {
    shapes.push_back({1 + random.below(width < 200 ? 3000 : 40), width});
  }
  for (const auto& shape : shapes) {
    const auto rows = shape.first, width = shape.second;
    auto x = far_items(random, rows * width, random.one_in(2) ? 5 : 0);
    // In some rows a few items that are out of range together, in others an infinity or a NaN.
    for (std::int64_t row = 0; row < rows; row += 2) {
      const auto first = static_cast<std::size_t>(row * width + random.below(width));
      const std::size_t last =
          detail::smaller(first + 3, static_cast<std::size_t>((row + 1) * width));
      const double far[] = {1.7e308, -1.7e308, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
      std::fill(x.begin() + static_cast<std::ptrdiff_t>(first),
                x.begin() + static_cast<std::ptrdiff_t>(last), far[random.below(4)]);
    }
    const gpu_array<double> device(x);
    visit_reducers([&](const auto& reducer) {
      using result = decltype(tilefold::reduce(x, reducer));
      const auto or_empty = if_empty(reducer, result{});
      std::vector<result> expected(static_cast<std::size_t>(rows));
      tilefold::segmented_reduce(host_executor(), x.data(), rows, width, expected.data(), or_empty);
      const gpu_array<result> out(rows);
      tilefold::segmented_reduce(exec, device.data(), rows, width, out.data(), or_empty);
      const std::vector<result> found = out.to_host();
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(bits_of(found[k]), bits_of(expected[k]))
            << "row " << k << " of " << rows << " * " << width << ", seed " << seed();
      }
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tilefold::test
