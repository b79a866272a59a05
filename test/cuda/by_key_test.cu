// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key on a GPU: the runs that a serial oracle finds, of each its first key and the
// neighbour tree over its values alone, whatever the lengths and wherever blocks and warps meet.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <thrust/execution_policy.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

/// What a call wrote, on the host.
template <class Key, class Value>
struct written {
  std::int64_t runs;
  std::vector<Key> keys;
  std::vector<Value> values;
};

/// Device memory that is kept from call to call, for allocating it takes longer than small calls.
template <class T>
gpu_array<T>& kept(std::int64_t n, int which) {
  static std::map<int, gpu_array<T>> arrays;
  auto found = arrays.find(which);
  if (found != arrays.end() && found->second.size() < n) {
    arrays.erase(found);
    found = arrays.end();
  }
  if (found == arrays.end()) found = arrays.emplace(which, gpu_array<T>(2 * n)).first;
  return found->second;
}

template <class T>
std::vector<T> first_items(const gpu_array<T>& from, std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  must(cudaMemcpy(items.data(), from.data(), items.size() * sizeof(T), cudaMemcpyDefault));
  return items;
}

/// Calls reduce_by_key_into on copies of keys and items; `rest` as in its call.
template <class Value, class Key, class Item, class... Rest>
written<Key, Value> on_gpu(cuda_executor& exec, const std::vector<Key>& keys,
                           const std::vector<Item>& items, Rest... rest) {
  const auto n = static_cast<std::int64_t>(keys.size());
  auto& device_keys = kept<Key>(n, 0);
  auto& keys_out = kept<Key>(n, 1);
  auto& device_items = kept<Item>(n, 2);
  auto& values_out = kept<Value>(n, 3);
  auto& num_runs = kept<std::int64_t>(1, 4);
  device_keys.assign(keys.data(), n);
  device_items.assign(items.data(), n);
  must(cudaMemset(values_out.data(), 0xee, sizeof(Value) * keys.size()));
  must(cudaMemset(num_runs.data(), 0xee, sizeof(std::int64_t)));
  reduce_by_key_into(exec, device_keys.data(), device_keys.data() + n, device_items.data(),
                     keys_out.data(), values_out.data(), num_runs.data(), rest...);
  exec.synchronize();
  const std::int64_t runs = first_items(num_runs, 1)[0];
  const std::int64_t there = runs < 0 || runs > n ? 0 : runs;
  return {runs, first_items(keys_out, there), first_items(values_out, there)};
}

/// Items that are their own index, folded into hashes that spell the trees.
template <class Equal>
::testing::AssertionResult right_trees(cuda_executor& exec, const std::vector<int>& keys,
                                       Equal equal) {
  std::vector<std::uint32_t> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
  const auto got = on_gpu<lifted_hash>(exec, keys, items, equal, initial, lifted_node_hash{});
  auto heads = heads_of(keys, equal);
  const std::size_t runs = heads.size();
  if (got.runs != static_cast<std::int64_t>(runs)) {
    return ::testing::AssertionFailure() << got.runs << " runs where " << runs << " are";
  }
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  std::size_t wrong = 0;
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  for (std::size_t r = 0; r < runs; ++r) {
    const bool right_key = got.keys[r] == keys[static_cast<std::size_t>(heads[r])];
    const bool right_value = got.values[r] == hash_of_run(initial, heads[r], heads[r + 1]);
    if (right_key && right_value) continue;
    if (++wrong <= 5) {
      result << (right_key ? "value" : "key") << " of run " << r << " [" << heads[r] << ", "
             << heads[r + 1] << ") ";
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return result << wrong << " of " << runs << " runs are wrong";
}

class CudaByKey : public ::testing::Test {
 protected:
  ::testing::AssertionResult right(const std::vector<std::int64_t>& lengths) {
    return right_trees(exec_, keys_of_runs(lengths, 1), same_tens{});
  }

  cuda_executor exec_;
};

TEST_F(CudaByKey, SanitizeOneOfEach) {
  EXPECT_TRUE(right({1}));
  EXPECT_TRUE(right({3, 1, 600, 2, 1100, 5000, 1}));
  EXPECT_TRUE(right(std::vector<std::int64_t>(5000, 1)));
  EXPECT_TRUE(right({10000}));
  EXPECT_TRUE(right({2047, 30000, 1, 3, 8192, 4000}));
  EXPECT_TRUE(right(std::vector<std::int64_t>(900, 40)));
}

TEST_F(CudaByKey, EveryLengthAlone) {
  for (std::int64_t n = 1; n <= 70; ++n) EXPECT_TRUE(right({n})) << n;
  for (const std::int64_t n : landmark_sizes(18, 20, seed())) EXPECT_TRUE(right({n})) << n;
}

TEST_F(CudaByKey, RunsOfOneLength) {
  for (const std::int64_t length :
       {1,    2,    3,    4,    7,    8,    15,   16,   17,   31,   32,   33,  63,
        64,   65,   100,  127,  128,  129,  255,  256,  257,  511,  512,  513, 1000,
        1023, 1024, 1025, 1026, 1535, 1536, 1537, 2047, 2048, 5000, 65536}) {
    const std::int64_t n = 300000;
    EXPECT_TRUE(right(lengths_of(n, 1, [&](auto&) { return length; }))) << length;
  }
}

// A boundary at each place around the edges of warps, blocks and what a warp reaches.
TEST_F(CudaByKey, BoundariesAroundEveryEdge) {
  const std::int64_t n = 6600;
  std::vector<std::int64_t> places;
  for (std::int64_t edge = 0; edge <= n; edge += 512) {
    for (std::int64_t near = -2; near <= 2; ++near) {
      if (edge + near > 0 && edge + near < n) places.push_back(edge + near);
    }
  }
  for (const std::int64_t first : places) {
    ASSERT_TRUE(right({first, n - first})) << first;
    for (const std::int64_t second : places) {
      if (second <= first || (second - first) % 3 == 0) continue;
      ASSERT_TRUE(right({first, second - first, n - second})) << first << ", " << second;
    }
  }
  for (const std::int64_t end : places) {
    ASSERT_TRUE(right(lengths_of(end, 1, [](auto&) { return 40; }))) << end;
  }
}

// A patch is 2048 items, a block takes four, and of so few items 16 patches make a group. Runs
// begin and end around all their edges, the next patch or many blocks later.
TEST_F(CudaByKey, RunsFromOneBlockIntoAnother) {
  const std::int64_t n = 70001;
  std::vector<std::int64_t> places;
  for (const std::int64_t edge : {2048, 4096, 8192, 10240, 32768, 40960, 65536}) {
    for (const std::int64_t near : {-1, 0, 1}) places.push_back(edge + near);
  }
  for (const std::int64_t first : places) {
    for (const std::int64_t second : places) {
      if (second <= first) continue;
      ASSERT_TRUE(right({first, second - first, n - second})) << first << ", " << second;
    }
  }
}

// The last run, or the last but one, ends just where the patch that it begins in can still see it.
TEST_F(CudaByKey, RunsThatEndAtTheEndOfTheReach) {
  for (const std::int64_t patch : {2048, 4096, 8192, 32768}) {
    for (const std::int64_t begin : {patch - 1, patch - 700, patch - 2047}) {
      for (std::int64_t end = patch + 1021; end <= patch + 1027; ++end) {
        ASSERT_TRUE(right({begin, end - begin})) << begin << ", " << end;
        ASSERT_TRUE(right({begin, end - begin, 3000})) << begin << ", " << end;
      }
    }
  }
}

// As many items as a warp's lanes take at once, and more, as the first runs of a deal and later
// ones.
TEST_F(CudaByKey, RunsTooLongForLanesAmongOthers) {
  for (const std::int64_t length : {511, 512, 513, 514, 530, 1023, 1024, 1025, 1026, 1300, 2500}) {
    const std::vector<std::int64_t> lengths{20, length, 3, 9, length, length, 300, 8, 200, length};
    EXPECT_TRUE(right(lengths)) << length;
  }
}

TEST_F(CudaByKey, PatchesWithoutHeadsAndOfNothingElse) {
  for (const std::int64_t near : {-1, 0, 1}) {
    std::vector<std::int64_t> lengths;
    for (int round = 0; round < 8; ++round) {
      lengths.insert(lengths.end(), 2048 + static_cast<std::size_t>(near + 1), 1);
      lengths.push_back(2048 * (1 + 3 * (round % 4)) + near);
    }
    EXPECT_TRUE(right(lengths)) << near;
    lengths.push_back(1);
    EXPECT_TRUE(right(lengths)) << near;
  }
}

TEST_F(CudaByKey, KeysThatBeginOffTheirRows) {
  std::vector<int> different;
  for (int i = 0; i < 50000; ++i) different.push_back(10 * i);
  gpu_array<int> keys_out(50000), out(50000);
  for (const auto& all : {keys_of_runs(random_lengths(50000, seed()), 1), different}) {
    const gpu_array<int> keys(all);
    for (std::int64_t begin = 0; begin < 9; ++begin) {
      for (const std::int64_t n : {5, 3056, 3057, 8176, 8192, 8193, 49000}) {
        const std::vector<int> mine(all.begin() + begin, all.begin() + begin + n);
        const auto heads = heads_of(mine, same_tens{});
        const int* const first = keys.data() + begin;
        const std::int64_t runs = reduce_by_key(exec_, first, first + n, first, keys_out.data(),
                                                out.data(), same_tens{}, maximum{});
        ASSERT_EQ(runs, static_cast<std::int64_t>(heads.size())) << begin << ", " << n;
        const auto got_keys = first_items(keys_out, runs);
        const auto got = first_items(out, runs);
        for (std::size_t r = 0; r < heads.size(); ++r) {
          const auto from = mine.begin() + heads[r];
          const auto to = r + 1 < heads.size() ? mine.begin() + heads[r + 1] : mine.end();
          ASSERT_EQ(got_keys[r], *from) << begin << ", " << n << ", run " << r;
          ASSERT_EQ(got[r], *std::max_element(from, to)) << begin << ", " << n << ", run " << r;
        }
      }
    }
  }
}

// A graph that was captured with a reserved workspace does not survive a larger one.
TEST(CudaByKeyWorkspace, ForMoreKeysServesFewer) {
  namespace gpu = detail::cuda;
  for (const std::int64_t acc_bytes : {1, 4, 8, 24}) {
    gpu::workspace_demand before{0, 0};
    for (std::int64_t n = 1; n < gpu::most_keyed_items; n += 1 + n / 37) {
      const gpu::workspace_demand demand = gpu::by_key_demand(n, acc_bytes);
      ASSERT_TRUE(before.fits(demand.bytes())) << n << " keys, " << acc_bytes;
      before = demand;
    }
  }
}

TEST_F(CudaByKey, TenThousandRandomShapes) {
  shape_stream bits(seed());
  for (int shape = 0; shape < 10000; ++shape) {
    const std::uint64_t shape_seed = bits() >> 1;
    const auto n = static_cast<std::int64_t>(1 + bits() % (shape % 100 == 0 ? 100000 : 2500));
    ASSERT_TRUE(right(random_lengths(n, shape_seed))) << "shape " << shape_seed << " of " << n;
  }
}

TEST_F(CudaByKey, ManyRunsOfMixedLengths) {
  EXPECT_TRUE(right(std::vector<std::int64_t>(1000000, 1)));
  EXPECT_TRUE(right({3000000}));
  // A warp of few patches takes a part of one; of more a span; of 5 million items a patch.
  EXPECT_TRUE(right(power_law_lengths(500000, seed())));
  EXPECT_TRUE(right(power_law_lengths(2000000, seed())));
  EXPECT_TRUE(right(power_law_lengths(5000000, seed())));
  std::vector<std::int64_t> one_among_many(200000, 1);
  one_among_many[1000] = 700000;
  EXPECT_TRUE(right(one_among_many));
}

TEST_F(CudaByKey, ComparesNeighboursLeftToRight) {
  shape_stream bits(seed());
  std::vector<int> keys;
  for (int i = 0; i < 200000; ++i) {
    keys.push_back(i % 10000 < 4000 ? i : static_cast<int>(bits() % 100));
  }
  EXPECT_TRUE(right_trees(exec_, keys, ascends_gently{}));
}

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

TEST_F(CudaByKey, KeysOfOneByteWithoutCase) {
  shape_stream bits(seed());
  std::vector<char> keys(100003);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<char>((bits() % 2 == 0 ? 'a' : 'A') + i / 700 % 3 + (bits() % 90 == 0));
  }
  values_like_reduce<float>(exec_, keys, mixed_floats(keys.size()), same_letter{}, plus{});
}

TEST_F(CudaByKey, EveryNaNIsARunOfItsOwnAndKeptAsItIs) {
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
TEST_F(CudaByKey, ReducersFused) {
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

TEST_F(CudaByKey, WideKeysAndNarrowValues) {
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

struct thousands {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const { return i >> 20; }
};
struct low_byte {
  TILEFOLD_HD std::uint64_t operator()(std::int64_t i) const { return i & 255; }
};

// Computed keys and values, more than 2^32 of them.
TEST_F(CudaByKey, MoreItemsThan32BitsCount) {
  const std::int64_t n = (std::int64_t{1} << 32) + 12345;
  const auto counting = thrust::make_counting_iterator(std::int64_t{0});
  const auto keys = thrust::make_transform_iterator(counting, thousands{});
  const auto values = thrust::make_transform_iterator(counting, low_byte{});
  gpu_array<std::int64_t> keys_out(4097);
  gpu_array<std::uint64_t> values_out(4097);
  EXPECT_EQ(reduce_by_key(exec_, keys, keys + n, values, keys_out.data(), values_out.data()), 4097);
  const auto got_keys = keys_out.to_host();
  const auto got = values_out.to_host();
  for (std::size_t r = 0; r < 4096; ++r) {
    ASSERT_EQ(got_keys[r], static_cast<std::int64_t>(r));
    ASSERT_EQ(got[r], 4096u * (255 * 256 / 2)) << r;
  }
  EXPECT_EQ(got_keys[4096], 4096);
}

struct fifths {
  TILEFOLD_HD std::int32_t operator()(std::int64_t i) const {
    return static_cast<std::int32_t>(i / 5);
  }
};

// So many groups, and patches in each, that threads add up several counts.
TEST_F(CudaByKey, ManyGroupsOfManyPatches) {
  const std::int64_t n = (std::int64_t{1} << 27) + 12346;
  const auto keys =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), fifths{});
  const auto ones = thrust::make_constant_iterator(std::uint8_t{1});
  const std::int64_t runs = n / 5 + 1;
  gpu_array<std::int32_t> keys_out(runs);
  gpu_array<std::uint8_t> out(runs);
  ASSERT_EQ(reduce_by_key<std::uint8_t>(exec_, keys, keys + n, ones, keys_out.data(), out.data()),
            runs);
  const auto got_keys = keys_out.to_host();
  const auto got = out.to_host();
  for (std::int64_t r = 0; r < runs; ++r) {
    const auto at = static_cast<std::size_t>(r);
    ASSERT_EQ(got_keys[at], r);
    ASSERT_EQ(got[at], r + 1 < runs ? 5 : n % 5) << r;
  }
}

TEST_F(CudaByKey, IntegersLikeThrust) {
  for (const bool long_runs : {false, true}) {
    const auto lengths = lengths_of(1 << 24, seed(), [=](auto& bits) {
      return static_cast<std::int64_t>(bits() % (long_runs ? 20000 : 6));
    });
    // thrust keeps the last key of a run, so they are all the same.
    auto host_keys = keys_of_runs(lengths, 1);
    for (int& key : host_keys) key /= 10;
    shape_stream bits(seed());
    std::vector<std::int32_t> host_items(host_keys.size());
    for (auto& x : host_items) x = static_cast<std::int32_t>(bits());
    const gpu_array<int> keys(host_keys);
    const gpu_array<std::int32_t> items(host_items);
    gpu_array<int> keys_out(keys.size()), thrust_keys(keys.size());
    gpu_array<std::int32_t> out(keys.size()), thrust_out(keys.size());
    const std::int64_t runs =
        reduce_by_key(exec_, keys.begin(), keys.end(), items.data(), keys_out.data(), out.data());
    const auto ends = thrust::reduce_by_key(thrust::device, keys.begin(), keys.end(), items.data(),
                                            thrust_keys.data(), thrust_out.data());
    ASSERT_EQ(runs, ends.first - thrust_keys.data());
    const auto a = keys_out.to_host(), b = thrust_keys.to_host();
    const auto x = out.to_host(), y = thrust_out.to_host();
    EXPECT_TRUE(std::equal(a.begin(), a.begin() + runs, b.begin()));
    EXPECT_TRUE(std::equal(x.begin(), x.begin() + runs, y.begin()));
  }
}

TEST_F(CudaByKey, TheSameBitsEveryTime) {
  const auto keys = keys_of_runs(power_law_lengths(3000000, seed()), 1);
  const auto items = mixed_floats(keys.size());
  const auto first = on_gpu<float>(exec_, keys, items, same_tens{}, plus{});
  for (int again = 0; again < 4; ++again) {
    const auto next = on_gpu<float>(exec_, keys, items, same_tens{}, plus{});
    ASSERT_EQ(next.runs, first.runs);
    const auto bytes = static_cast<std::size_t>(first.runs) * 4;
    EXPECT_EQ(std::memcmp(next.values.data(), first.values.data(), bytes), 0);
    EXPECT_EQ(std::memcmp(next.keys.data(), first.keys.data(), bytes), 0);
  }
}

TEST_F(CudaByKey, NoKeysAreNoRuns) {
  const gpu_array<int> keys(std::vector<int>{1});
  gpu_array<std::int64_t> runs(std::vector<std::int64_t>{5});
  EXPECT_EQ(reduce_by_key(exec_, keys.data(), keys.data(), keys.data(), keys.data(), keys.data()),
            0);
  reduce_by_key_into(exec_, keys.data(), keys.data(), keys.data(), keys.data(), keys.data(),
                     runs.data());
  exec_.synchronize();
  EXPECT_EQ(runs.to_host()[0], 0);
}

TEST_F(CudaByKey, MemoryDecidesWithoutAnExecutor) {
  const gpu_array<int> keys(std::vector<int>{1, 1, 2});
  gpu_array<int> keys_out(3), out(3);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data(), 10),
            2);
  EXPECT_EQ(out.to_host()[0], 12);
}

TEST_F(CudaByKey, WorksInAGraphAfterReserve) {
  const auto host_keys = keys_of_runs(power_law_lengths(500000, seed()), 1);
  const auto n = static_cast<std::int64_t>(host_keys.size());
  const gpu_array<int> keys(host_keys);
  gpu_array<int> keys_out(n), out(n);
  gpu_array<std::int64_t> runs(std::vector<std::int64_t>{-1});
  const auto call = [&] {
    reduce_by_key_into(exec_, keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data(),
                       runs.data(), same_tens{}, maximum{});
  };
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(call(), capture_error);  // there is no workspace yet
  EXPECT_THROW(
      reduce_by_key(exec_, keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data()),
      capture_error);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphDestroy(graph));

  exec_.reserve(cuda_executor::by_key_workspace_bytes(n, sizeof(int)));
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  call();
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  const auto heads = heads_of(host_keys, same_tens{});
  for (int launch = 0; launch < 3; ++launch) {
    must(cudaMemset(runs.data(), 0xee, 8));
    must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(n) * 4));
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    ASSERT_EQ(runs.to_host()[0], static_cast<std::int64_t>(heads.size()));
    const auto got = out.to_host();
    for (std::size_t r = 0; r < heads.size(); ++r) {
      const auto begin = host_keys.begin() + heads[r];
      const auto end = r + 1 < heads.size() ? host_keys.begin() + heads[r + 1] : host_keys.end();
      ASSERT_EQ(got[r], *std::max_element(begin, end)) << r;
    }
  }
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

TEST_F(CudaByKey, RefusesNullPointersAndHostMemory) {
  const gpu_array<int> keys(std::vector<int>{1, 1, 2});
  gpu_array<int> out(3);
  gpu_array<std::int64_t> runs(1);
  const int* const none = nullptr;
  int* const nowhere = nullptr;
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const int* const first = keys.data();
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, first + 3, first, first, out.data(), out.data()); }),
      "reduce_by_key: last lies 3 items before first"));
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, none, none + 3, first, out.data(), out.data()); }),
      "keys_first"));
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, first, first + 3, none, out.data(), out.data()); }),
      "values is a null pointer"));
  EXPECT_TRUE(
      contains(message([&] { reduce_by_key(exec_, first, first + 3, first, nowhere, out.data()); }),
               "keys_out"));
  EXPECT_TRUE(
      contains(message([&] { reduce_by_key(exec_, first, first + 3, first, out.data(), nowhere); }),
               "values_out"));
  std::int64_t* const no_runs = nullptr;
  EXPECT_TRUE(contains(message([&] {
                         reduce_by_key_into(exec_, first, first + 3, first, out.data(), out.data(),
                                            no_runs);
                       }),
                       "num_runs_out"));
  const std::vector<int> host{1, 2, 3};
  EXPECT_THROW(reduce_by_key(host_executor(), first, first + 3, first, out.data(), out.data()),
               memory_space_error);
}

}  // namespace
}  // namespace tilefold::test
