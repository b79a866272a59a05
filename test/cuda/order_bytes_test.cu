// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU for bytes that start 0 to 15 bytes past an aligned address, under every
// kind of policy: where the range lies in memory moves nothing.
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

std::vector<std::uint8_t> order_bytes(std::int64_t n) {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < n; ++i) bytes.push_back(order_byte(i));
  return bytes;
}

struct hashed_prefixes {
  explicit hashed_prefixes(std::vector<std::int64_t> lengths)
      : sizes(std::move(lengths)),
        folds(prefix_folds(
            node_hash{}, [](std::int64_t i) { return leaf_hash(order_byte(i)); }, sizes)) {}

  std::vector<std::int64_t> sizes;
  std::vector<tree_hash> folds;
  std::vector<std::uint8_t> bytes = order_bytes(sizes.back());
};

// Every length up to a few packets, and up to a few of the largest tiles.
const hashed_prefixes& short_prefixes() {
  static const hashed_prefixes all([] {
    auto sizes = every_size_to(600);
    for (const std::int64_t n : landmark_sizes(18, 60, seed())) {
      if (n > 600) sizes.push_back(n);
    }
    return sizes;
  }());
  return all;
}

// More of the largest tiles than a GPU holds blocks.
const hashed_prefixes& long_prefixes() {
  static const hashed_prefixes all({(1 << 25) - 3, (1 << 25) + 123457});
  return all;
}

template <class Policy>
class CudaOrderOfBytes : public ::testing::Test {
 protected:
  void check(const hashed_prefixes& expected, int start) {
    const std::int64_t n = expected.sizes.back();
    // Ends with the last item; all else in it is no item.
    gpu_array<std::uint8_t> array(start + n);
    must(cudaMemset(array.data(), 0xee, static_cast<std::size_t>(array.size())));
    array.assign(expected.bytes.data(), n, start);
    const std::uint8_t* first = array.data() + start;
    cuda_executor base;
    const auto exec = with_policy<Policy::value>(base);
    EXPECT_TRUE(same_folds(device_folds(base, exec, first, expected.sizes, lifted_node_hash{}),
                           expected.folds, expected.sizes))
        << "start = " << start;
  }
};
TYPED_TEST_SUITE(CudaOrderOfBytes, order_policies);

TYPED_TEST(CudaOrderOfBytes, DoesNotDependOnWhereTheRangeStarts) {
  for (int start = 0; start < 16; ++start) this->check(short_prefixes(), start);
}

TYPED_TEST(CudaOrderOfBytes, HoldsOverManyTilesPerBlock) {
  for (const int start : {0, 7}) this->check(long_prefixes(), start);
}

}  // namespace
}  // namespace tilefold::test
