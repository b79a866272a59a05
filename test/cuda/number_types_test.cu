// SPDX-License-Identifier: Apache-2.0
//
// Integers of 128 bits on a GPU, in nvcc's mode -std=c++20: values whose low and high halves both
// count.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <tilefold/cuda.cuh>

#include "every_verb.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

#if defined(__SIZEOF_INT128__)
__extension__ using int_128 = __int128;
__extension__ using uint_128 = unsigned __int128;

template <class T>
std::vector<T> wide_numbers() {
  bit_stream random(seed());
  std::vector<T> x;
  for (int i = 0; i < 70001; ++i) {
    const uint_128 high = random.next();
    x.push_back(static_cast<T>(high << 64 | random.next()));
  }
  return x;
}

TEST(CudaNumberTypes, IntegersOf128BitsAreFolded) {
  SCOPED_TRACE(seed());
  is_folded_by_every_verb<uint_128>(wide_numbers<uint_128>(), 7, plus{});
  is_reduced<int_128>(wide_numbers<int_128>(), 0, minimum{});  // in any order
}

// An initial value of int narrows nothing, and nothing has the identity.
TEST(CudaNumberTypes, IntegersOf128BitsAreNotNarrowed) {
  std::vector<int_128> x;
  for (int i = 0; i < 70001; ++i) x.push_back((int_128{1} << 100) * (i - 35000) + i);
  const gpu_array<int_128> items(x);
  cuda_executor exec;
  EXPECT_TRUE(reduce(exec, items.begin(), items.end(), 0) == int_128{35000} * 70001);
  EXPECT_TRUE(reduce(exec, items.begin(), items.end(), 5, maximum{}) == x.back());
  EXPECT_TRUE(reduce(exec, items.begin(), items.begin(), minimum{}) == detail::largest<int_128>);
}
#endif

}  // namespace
}  // namespace tilefold::test
