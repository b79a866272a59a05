// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU of many arrays that were allocated by themselves: each has the bits of
// the host.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

/// Many arrays in memory of their own on the GPU, of every length that a launch tells apart, in any
/// order; some are empty.
template <class T>
struct arrays {
  std::vector<std::vector<T>> on_host;
  std::vector<gpu_array<T>> on_gpu;
  std::vector<const T*> pointers;
  std::vector<int> lengths;

  arrays(std::size_t count, std::mt19937_64& random) {
    for (std::size_t a = 0; a < count; ++a) {
      const std::size_t most = random() % 40 == 0 ? 20'000 : random() % 8 == 0 ? 1500 : 70;
      const std::size_t n = random() % most;
      const int kind = static_cast<int>(random() % test::num_forest_kinds);
      on_host.push_back(test::forest_items<T>(kind, n, random));
      // One more: no array of nothing is allocated.
      on_gpu.emplace_back(static_cast<std::int64_t>(n) + 1);
      on_gpu.back().assign(on_host.back().data(), static_cast<std::int64_t>(n));
      pointers.push_back(n == 0 ? nullptr : on_gpu.back().data());
      lengths.push_back(static_cast<int>(n));
    }
  }
};

template <class T, class Reducer>
void expect_batches(Reducer reducer) {
  using result = decltype(tilefold::reduce(host_executor(1), std::vector<T>(), reducer));
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const host_executor one(1);
  const auto nothing = static_cast<result>(7.0f);
  // One launch up to 1024 arrays, three above.
  for (const std::size_t count : {1u, 300u, 1500u}) {
    const arrays<T> all(count, random);
    const gpu_array<const T*> pointers(all.pointers);
    const gpu_array<int> lengths(all.lengths);
    const gpu_array<result> out(static_cast<std::int64_t>(count));
    batched_reduce(gpu, pointers.data(), lengths.data(), static_cast<std::int64_t>(count),
                   out.data(), if_empty(reducer, nothing));
    const auto got = out.to_host();
    for (std::size_t a = 0; a < count; ++a) {
      const auto& items = all.on_host[a];
      ASSERT_EQ(bytes_of(got[a]),
                bytes_of(items.empty() ? nothing : tilefold::reduce(one, items, reducer)))
          << "array " << a << " of " << count << ", " << items.size() << " items";
    }
  }
}

TEST(CudaExactBatched, SumsOfFloats) { expect_batches<float>(r::exact_sum{}); }
TEST(CudaExactBatched, MeansOfHalves) { expect_batches<half>(r::exact_mean{}); }
TEST(CudaExactBatched, NormsOfDoubles) { expect_batches<double>(r::exact_l2{}); }

}  // namespace
}  // namespace tilefold
