// SPDX-License-Identifier: Apache-2.0
//
// Two to nine results of 16 bits in one accumulator, which is aligned to two bytes alone: a word of
// it crosses those of the GPU. From items at even and odd places, against loops.
#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>

#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;
using items = std::vector<std::int16_t>;

template <std::size_t I>
auto reducer() {
  if constexpr (I % 4 == 0) return r::min{};
  if constexpr (I % 4 == 1) return r::max{};
  if constexpr (I % 4 == 2) return r::first{};
  if constexpr (I % 4 == 3) return r::last{};
}

template <std::size_t I>
std::int16_t expected(items::const_iterator first, items::const_iterator last) {
  if constexpr (I % 4 == 0) return *std::min_element(first, last);
  if constexpr (I % 4 == 1) return *std::max_element(first, last);
  if constexpr (I % 4 == 2) return *first;
  if constexpr (I % 4 == 3) return *(last - 1);
}

template <std::size_t... I>
void expect_results(std::index_sequence<I...>) {
  SCOPED_TRACE(seed());
  std::mt19937 random(seed());
  cuda_executor gpu;
  const auto fused = r::fuse(reducer<I>()...);
  for (const std::int64_t n : {1, 2, 3, 31, 33, 1000, 4097, 100003}) {
    items x(static_cast<std::size_t>(n + 1));
    for (auto& item : x) item = static_cast<std::int16_t>(random());
    const gpu_array<std::int16_t> device(x);
    for (const std::int64_t skipped : {0, 1}) {
      const auto got =
          tilefold::reduce(gpu, device.data() + skipped, device.data() + skipped + n, fused);
      const auto first = x.cbegin() + skipped;
      const auto expect_member = [n](std::size_t i, std::int16_t member, std::int16_t value) {
        EXPECT_EQ(member, value) << i << " of " << n << " items";
      };
      (expect_member(I, tilefold::get<I>(got), expected<I>(first, first + n)), ...);
    }
  }
}

TEST(CudaFuseInt16, TwoSanitize) { expect_results(std::make_index_sequence<2>()); }
TEST(CudaFuseInt16, ThreeSanitize) { expect_results(std::make_index_sequence<3>()); }
TEST(CudaFuseInt16, Four) { expect_results(std::make_index_sequence<4>()); }
TEST(CudaFuseInt16, Five) { expect_results(std::make_index_sequence<5>()); }
TEST(CudaFuseInt16, Six) { expect_results(std::make_index_sequence<6>()); }
TEST(CudaFuseInt16, Seven) { expect_results(std::make_index_sequence<7>()); }
TEST(CudaFuseInt16, Eight) { expect_results(std::make_index_sequence<8>()); }
TEST(CudaFuseInt16, NineSanitize) { expect_results(std::make_index_sequence<9>()); }

}  // namespace
}  // namespace tilefold::test
