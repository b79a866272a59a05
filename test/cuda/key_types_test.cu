// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key on a GPU with keys of 1 to 12 bytes, against a serial oracle. That it compiles is
// half of the test: comparisons of 2- and 8-byte keys once were more than ptxas had predicates for.
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

struct key12 {
  int a, b, c;
  TILEFOLD_HD friend bool operator==(const key12& x, const key12& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

// Keys of every type that differ in one place only, and not always in the same.
template <class Key>
Key make_key(std::int64_t run) {
  if constexpr (std::is_same_v<Key, key12>) {
    key12 key{1, 2, 3};
    (run % 3 == 0 ? key.a : run % 3 == 1 ? key.b : key.c) += static_cast<int>(run % 50);
    return key;
  } else if constexpr (sizeof(Key) == 8) {
    return static_cast<Key>(run % 2 == 0 ? run % 100 : (run % 100) << 40);
  } else {
    return static_cast<Key>(run % 100);
  }
}

template <class Key>
class CudaKeyTypes : public ::testing::Test {};
using key_types = ::testing::Types<char, short, float, long, unsigned long long, double, key12>;
TYPED_TEST_SUITE(CudaKeyTypes, key_types);

TYPED_TEST(CudaKeyTypes, GiveTheRunsOfTheSerialOracle) {
  shape_stream bits(seed());
  for (const std::int64_t n : {1, 100, 3000, 5000, 100000, 2000000}) {
    for (const std::int64_t longest : {1, 4, 40, 5000}) {
      // Neighbouring runs may happen to have the same key: the oracle asks the keys alone.
      std::vector<TypeParam> keys;
      for (std::int64_t run = 0; static_cast<std::int64_t>(keys.size()) < n; ++run) {
        keys.insert(keys.end(), 1 + bits() % static_cast<std::uint64_t>(longest),
                    make_key<TypeParam>(run));
      }
      keys.resize(static_cast<std::size_t>(n));
      const std::vector<float> values = make_items<float>(pattern::mixed, n);
      const gpu_array<TypeParam> device_keys(keys);
      const gpu_array<float> device_values(values);
      gpu_array<TypeParam> keys_out(n);
      gpu_array<float> values_out(n);
      cuda_executor exec;
      const std::int64_t runs =
          reduce_by_key(exec, device_keys.begin(), device_keys.end(), device_values.begin(),
                        keys_out.data(), values_out.data());
      std::vector<std::int64_t> heads{0};
      for (std::int64_t i = 1; i < n; ++i) {
        if (!(keys[static_cast<std::size_t>(i - 1)] == keys[static_cast<std::size_t>(i)])) {
          heads.push_back(i);
        }
      }
      ASSERT_EQ(runs, static_cast<std::int64_t>(heads.size())) << n << ", " << longest;
      const auto got_keys = keys_out.to_host();
      const auto got = values_out.to_host();
      for (std::size_t r = 0; r < heads.size(); ++r) {
        const auto from = values.begin() + heads[r];
        const auto to = r + 1 < heads.size() ? values.begin() + heads[r + 1] : values.end();
        ASSERT_TRUE(got_keys[r] == keys[static_cast<std::size_t>(heads[r])]) << n << ", run " << r;
        ASSERT_TRUE(same_bits(
            got[r], reference::fold<float>(reference::plus{}, std::vector<float>(from, to))))
            << n << ", runs of up to " << longest << ", run " << r;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
