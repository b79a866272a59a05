// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key of keys and values of several types, and by reducers: every value has the bits of
// reduce() on the host over its run alone.
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>

#include "by_key_calls.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

std::vector<float> mixed_floats(std::size_t n) {
  shape_stream bits(seed());
  std::vector<float> items(n);
  for (float& x : items) x = static_cast<float>(static_cast<double>(bits()) * 1e-15 - 9000.0);
  return items;
}

class CudaByKeyValues : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

/// Every value has the bits of reduce() on the host over its run alone.
template <class Value, class Key, class Item, class Equal, class... Rest>
void values_like_reduce(cuda_executor& exec, const std::vector<Key>& keys,
                        const std::vector<Item>& items, Equal equal, Rest... rest) {
  const auto got = on_gpu<Value>(exec, keys, items, equal, rest...);
  auto heads = heads_of(keys, equal);
  ASSERT_EQ(got.runs, static_cast<std::int64_t>(heads.size()));
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  for (std::size_t r = 0; r + 1 < heads.size(); ++r) {
    ASSERT_TRUE(same_bits(got.keys[r], keys[static_cast<std::size_t>(heads[r])])) << "run " << r;
    const Value alone = tilefold::reduce(host_executor(1), items.begin() + heads[r],
                                         items.begin() + heads[r + 1], rest...);
    ASSERT_TRUE(same_bits(got.values[r], alone)) << "run " << r << " at " << heads[r];
  }
}

struct same_letter {
  TILEFOLD_HD static char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }
  TILEFOLD_HD bool operator()(char a, char b) const { return lower(a) == lower(b); }
};

TEST_F(CudaByKeyValues, KeysOfOneByteWithoutCase) {
  shape_stream bits(seed());
  std::vector<char> keys(100003);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<char>((bits() % 2 == 0 ? 'a' : 'A') + i / 700 % 3 + (bits() % 90 == 0));
  }
  values_like_reduce<float>(exec_, keys, mixed_floats(keys.size()), same_letter{}, plus{});
}

TEST_F(CudaByKeyValues, EveryNaNIsARunOfItsOwnAndKeptAsItIs) {
  std::vector<float> keys(50000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<float>(i / 100);
    if (i % 997 < 5)
      keys[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(0xffc00001u + i));
  }
  values_like_reduce<float>(exec_, keys, mixed_floats(keys.size()), std::equal_to<float>{},
                            maximum{});
}

// All kinds of reducers in one read; the accumulators are large.
TEST_F(CudaByKeyValues, ReducersFused) {
  namespace r = reducers;
  const auto all = r::fuse(r::mean_variance{}, r::arg_max{}, r::minmax{}, r::l2{}, r::count{});
  const auto lengths = lengths_of(200000, seed(), [](auto& bits) {
    return static_cast<std::int64_t>(bits() % 10 == 0 ? bits() % 4000 : bits() % 60);
  });
  const auto keys = keys_of_runs(lengths, 1);
  const auto items = mixed_floats(keys.size());
  using value = decltype(tilefold::reduce(items, all));
  const auto got = on_gpu<value>(exec_, keys, items, same_tens{}, all);
  auto heads = heads_of(keys, same_tens{});
  ASSERT_EQ(got.runs, static_cast<std::int64_t>(heads.size()));
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  for (std::size_t run = 0; run + 1 < heads.size(); ++run) {
    const value alone = tilefold::reduce(host_executor(1), items.begin() + heads[run],
                                         items.begin() + heads[run + 1], all);
    const auto& [moments, at, ends, norm, count] = got.values[run];
    const auto& [moments1, at1, ends1, norm1, count1] = alone;
    ASSERT_TRUE(same_bits(moments.mean, moments1.mean)) << run;
    ASSERT_TRUE(same_bits(moments.variance, moments1.variance)) << run;
    ASSERT_TRUE(same_bits(at.value, at1.value) && at.index == at1.index) << run;
    ASSERT_TRUE(same_bits(ends.min, ends1.min) && same_bits(ends.max, ends1.max)) << run;
    ASSERT_TRUE(same_bits(norm, norm1) && count == count1) << run;
  }
}

struct wide_key {
  double a, b, c;
  friend TILEFOLD_HD bool operator==(const wide_key& x, const wide_key& y) {
    return x.a == y.a && x.c == y.c;
  }
};

TEST_F(CudaByKeyValues, WideKeysAndNarrowValues) {
  std::vector<wide_key> keys;
  for (int i = 0; i < 60000; ++i) keys.push_back({1.0 * (i / 450), 1.0 * i, 2});
  std::vector<std::int8_t> items(keys.size(), 100);
  const auto got = on_gpu<std::int32_t>(exec_, keys, items);
  ASSERT_EQ(got.runs, 134);
  for (std::size_t r = 0; r < 134; ++r) {
    ASSERT_EQ(got.keys[r].b, 450.0 * static_cast<double>(r));
    ASSERT_EQ(got.values[r], r == 133 ? 100 * 150 : 100 * 450);
  }
}

}  // namespace
}  // namespace tilefold::test
