// SPDX-License-Identifier: Apache-2.0
//
// The bits of PyTorch's ordered sums and products, as its own tests pin them, from the host.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/segmented_reduce.hpp>
#include <tilefold/sequential_blocks.hpp>

#include "support/torch_order.hpp"

namespace tilefold::test {
namespace {

TEST(TorchOrder, TheHashIsSha256) {
  const unsigned char text[] = {'a', 'b', 'c'};
  EXPECT_EQ(sha256_of(text, 3), "ba7816bf8f01cfea");
  EXPECT_EQ(sha256_of(text, 0), "e3b0c44298fc1c14");
}

TEST(TorchOrder, HasTheHashesThatPyTorchPins) {
  for_every_torch_case([]<class T>(const torch_case& one, T) {
    const std::vector<T> x = torch_rows<T>(one);
    std::vector<T> out(static_cast<std::size_t>(one.rows));
    if (one.product) {
      segmented_reduce(x.begin(), one.rows, one.columns, out.begin(),
                       sequential_blocks<8192>(multiplies{}));
    } else {
      segmented_reduce(x.begin(), one.rows, one.columns, out.begin(),
                       sequential_blocks<8192>(plus{}));
    }
    EXPECT_EQ(hash_of(out), one.hash)
        << (one.product ? "products of " : "sums of ") << one.rows << " rows of " << one.columns
        << " items of type " << static_cast<int>(one.type);
  });
}

}  // namespace
}  // namespace tilefold::test
