// SPDX-License-Identifier: Apache-2.0
//
// Adaptors in reductions of one range: through transform and zip iterators over device memory, the
// bits that the host makes of the transformed items, whatever the alignment of each range.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "adaptors.cuh"

namespace tilefold::test {
namespace {

auto statistics() {
  namespace r = tilefold::reducers;
  return r::fuse(r::mean{}, r::variance{}, r::max{});
}

TEST_F(CudaAdaptors, OneRange) {
  for (const int late : {0, 1, 2, 3, 5}) {
    const auto check = [&](const std::string& name, auto first, const auto& items) {
      for (const std::int64_t n : {std::int64_t{100}, most - 16}) {
        SCOPED_TRACE(name + ", " + std::to_string(n) + " items");
        const float* const expected = items.data();
        EXPECT_TRUE(
            same_bits(reduce(gpu_, first, first + n), reduce(host_, expected, expected + n)));
        const auto got = reduce(gpu_, first, first + n, statistics());
        const auto right = reduce(host_, expected, expected + n, statistics());
        EXPECT_TRUE(same_bits(get<0>(got), get<0>(right)));
        EXPECT_TRUE(same_bits(get<1>(got), get<1>(right)));
        EXPECT_TRUE(same_bits(get<2>(got), get<2>(right)));
      }
    };
    for_each_adaptor(late, check);
    for_adaptor(
        "floats", late, thrust::make_transform_iterator(floats_.device.data() + late, scaled{0.3f}),
        [&](std::size_t i) { return 0.3f * floats_.host[static_cast<std::size_t>(late) + i]; },
        check);
  }
}

}  // namespace
}  // namespace tilefold::test
