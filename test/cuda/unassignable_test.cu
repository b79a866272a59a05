// SPDX-License-Identifier: Apache-2.0
//
// Accumulators that can be copied but not assigned, for a member is const, on a GPU: returned,
// written, by segments and by key, with the bits of the same accumulator without const on the host.
// Some have neither an address by & nor an operator new that would do (support/archetype.hpp). And
// typed functors of std, whose values are of their type first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/batched_reduce.hpp>
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/archetype.hpp"
#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

struct plain {
  float sum;
  std::int32_t items;
};
struct fixed {
  const float sum;
  const std::int32_t items;

  void operator&() const = delete;
};
static_assert(std::is_trivially_copyable_v<fixed> && !std::is_copy_assignable_v<fixed>);

// Floating and not commutative, so that another order is seen.
template <class T>
struct join {
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return {a.sum * 0.5f + b.sum, a.items + b.items};
  }
};

bool same(const fixed& a, const plain& b) {
  return __builtin_bit_cast(std::uint32_t, a.sum) == __builtin_bit_cast(std::uint32_t, b.sum) &&
         a.items == b.items;
}
bool same(const plain& a, const plain& b) { return same(fixed{a.sum, a.items}, b); }

std::vector<plain> make_values(std::int64_t n) {
  bit_stream random(seed());
  std::vector<plain> values;
  for (std::int64_t i = 0; i < n; ++i) {
    // Halves of small integers: a * 0.5 is exact, so that it does not matter whether it is fused.
    values.push_back({static_cast<float>(random.below(2000)) - 1000.5f, 1});
  }
  return values;
}

TEST(CudaUnassignable, AreFolded) {
  const std::vector<plain> x = make_values(70001);
  const gpu_array<plain> device(x);
  const auto* first = reinterpret_cast<const fixed*>(device.data());
  cuda_executor exec;
  for (const std::int64_t n : {1, 2, 1000, 70001}) {
    EXPECT_TRUE(same(tilefold::reduce(exec, first, first + n, join<fixed>()),
                     tilefold::reduce(x.data(), x.data() + n, join<plain>())))
        << n;
  }
  const gpu_array<plain> out(1000);
  auto* const written = reinterpret_cast<fixed*>(out.data());
  tilefold::reduce_into(exec, first, first + 70001, written, join<fixed>());
  exec.synchronize();
  EXPECT_TRUE(same(out.to_host()[0], tilefold::reduce(x, join<plain>())));
  tilefold::segmented_reduce(exec, first, 1000, 70, written, fixed{1, 0}, join<fixed>());
  const std::vector<plain> segments = out.to_host();
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto* begin = x.data() + 70 * i;
    ASSERT_TRUE(same(segments[static_cast<std::size_t>(i)],
                     tilefold::reduce(begin, begin + 70, plain{1, 0}, join<plain>())))
        << i;
  }
}

// One word, in segments by offsets: lanes may take whole ones, if there are many.
struct fixed_word {
  const std::uint32_t value;

  void operator&() const = delete;
};
struct plain_word {
  std::uint32_t value;
};
template <class T>
struct mix {
  TILEFOLD_HD T operator()(const T& a, const T& b) const { return {a.value * 3u + b.value}; }
};

TEST(CudaUnassignable, AreFoldedInManyShortSegments) {
  const std::int64_t segments = detail::cuda::least_short_trees + 5;
  std::vector<plain_word> x;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t s = 0; s < segments; ++s) {
    for (std::int64_t i = 0; i < s % 4; ++i) x.push_back({static_cast<std::uint32_t>(s * 7 + i)});
    offsets.push_back(static_cast<std::int64_t>(x.size()));
  }
  const gpu_array<plain_word> device(x);
  const gpu_array<std::int64_t> device_offsets(offsets);
  const gpu_array<plain_word> out(segments);
  cuda_executor exec;
  tilefold::segmented_reduce(
      exec, reinterpret_cast<const fixed_word*>(device.data()), device_offsets.data(), segments,
      reinterpret_cast<fixed_word*>(out.data()), fixed_word{9}, mix<fixed_word>());
  const std::vector<plain_word> got = out.to_host();
  for (std::int64_t s = 0; s < segments; ++s) {
    const auto at = static_cast<std::size_t>(s);
    const auto expected = tilefold::reduce(x.data() + offsets[at], x.data() + offsets[at + 1],
                                           plain_word{9}, mix<plain_word>());
    ASSERT_EQ(got[at].value, expected.value) << s;
  }
}

bool same(const archetype& a, const archetype& b) {
  return a.factor() == b.factor() && a.term() == b.term();
}

std::vector<archetype> to_host(const gpu_array<archetype>& array) {
  std::vector<archetype> values(static_cast<std::size_t>(array.size()), archetype(0, 0));
  must(cudaMemcpy(static_cast<void*>(values.data()), array.data(),
                  values.size() * sizeof(archetype), cudaMemcpyDefault));
  return values;
}

__global__ void fold_archetypes(const archetype* values, archetype* out) {
  __shared__ block_storage<256, archetype> storage;
  const composition<archetype> op;
  const archetype of_block = block_fold(storage, values[threadIdx.x], op);
  const archetype of_warp = warp_fold(values[threadIdx.x], op);
  if (threadIdx.x == 0) {
    out[0] = of_block;
    out[1] = of_warp;
  }
}

TEST(CudaArchetypes, AreFoldedByEveryVerb) {
  const composition<archetype> op;
  const archetype one(1, 0);
  std::vector<archetype> x;
  for (std::uint32_t i = 0; i < 70000; ++i) x.push_back(archetype(2 * i + 1, i * i));
  std::vector<archetype> keys;
  for (std::uint32_t i = 0; i < 70000; ++i) keys.push_back(archetype(i / 70, i));
  const gpu_array<archetype> items(x), device_keys(keys), keys_out(keys);
  const gpu_array<archetype> out(x);
  cuda_executor exec;

  ASSERT_EQ(reduce_by_key(exec, device_keys.begin(), device_keys.end(), items.begin(),
                          keys_out.data(), out.data(), equal_factors<archetype>(), op),
            1000);
  const std::vector<archetype> runs = to_host(out), firsts = to_host(keys_out);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(same(runs[i], reduce(x.data() + 70 * i, x.data() + 70 * i + 70, op))) << i;
    ASSERT_TRUE(same(firsts[i], keys[70 * i])) << i;
  }

  std::vector<std::int64_t> offsets{0, 1, 1, 9, 300};
  while (offsets.back() < 70000)
    offsets.push_back(std::min<std::int64_t>(70000, offsets.back() + 701));
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<std::int64_t> device_offsets(offsets);
  segmented_reduce(exec, items.begin(), device_offsets.data(), segments, out.data(), one, op);
  std::vector<archetype> sums = to_host(out);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    ASSERT_TRUE(same(sums[s], reduce(x.data() + offsets[s], x.data() + offsets[s + 1], one, op)))
        << s;
  }
  const gpu_array<const archetype*> arrays({items.data() + 3, items.data(), items.data() + 9});
  const gpu_array<int> lengths({50000, 0, 1});
  batched_reduce(exec, arrays.data(), lengths.data(), 3, out.data(), one, op);
  sums = to_host(out);
  EXPECT_TRUE(same(sums[0], reduce(x.data() + 3, x.data() + 50003, op)));
  EXPECT_TRUE(same(sums[1], one));
  EXPECT_TRUE(same(sums[2], x[9]));

  std::vector<archetype> expected(100, one);
  axis_reduce(host_executor(), test_view{x.data(), right_layout({700, 100})},
              test_view{expected.data(), right_layout({100})}, axes{0}, one, op);
  axis_reduce(exec, test_view{items.data(), right_layout({700, 100})},
              test_view{out.data(), right_layout({100})}, axes{0}, one, op);
  const std::vector<archetype> columns = to_host(out);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_TRUE(same(columns[i], expected[i])) << i;

  auto whole = reduce_piece(exec, items.begin(), items.begin() + 33333, 0, op);
  whole.merge(reduce_piece(exec, items.begin() + 33333, items.end(), 33333, op));
  EXPECT_TRUE(same(whole.value(), reduce(x, op)));

  fold_archetypes<<<1, 256>>>(items.data(), out.data());
  must(cudaDeviceSynchronize());
  const std::vector<archetype> in_kernel = to_host(out);
  EXPECT_TRUE(same(in_kernel[0], reduce(x.data(), x.data() + 256, op)));
  EXPECT_TRUE(same(in_kernel[1], reduce(x.data(), x.data() + 32, op)));
}

TEST(CudaTypedFunctors, FoldValuesOfTheirType) {
  std::vector<int> numbers;
  for (int i = 0; i < 5000; ++i) numbers.push_back(i % 3 * 100);
  const gpu_array<int> device(numbers);
  cuda_executor exec;
  EXPECT_EQ(tilefold::reduce(exec, device.begin(), device.end(), std::plus<bool>()), 3333);
  EXPECT_EQ(tilefold::reduce(device.begin(), device.end(), std::plus<std::int8_t>()),
            tilefold::reduce(numbers, std::plus<std::int8_t>()));
}

__global__ void fold_in_block(const int* values, std::int64_t* truths) {
  __shared__ block_storage<256, std::int64_t> storage;
  const auto sum = block_fold(storage, values[threadIdx.x], std::plus<bool>());
  if (threadIdx.x == 0) *truths = sum;
}

TEST(CudaTypedFunctors, FoldValuesOfTheirTypeInKernels) {
  std::vector<int> numbers;
  for (int i = 0; i < 256; ++i) numbers.push_back(i % 2 * 100);
  const gpu_array<int> device(numbers);
  const gpu_array<std::int64_t> truths(1);
  fold_in_block<<<1, 256>>>(device.data(), truths.data());
  must(cudaDeviceSynchronize());
  EXPECT_EQ(truths.to_host()[0], 128);
}

}  // namespace
}  // namespace tilefold::test
