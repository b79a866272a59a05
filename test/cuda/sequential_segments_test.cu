// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks() of segments, of lengths that only the GPU knows and of items by index, on a
// GPU: the bits of the host executor.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/deferred.hpp>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_index.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "cuda/sequential_blocks.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

template <class Case>
void folds_segments(const Case& of) {
  for (const std::int64_t times : {1, 60}) {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t i = 0; i < times; ++i) {
      for (const std::int64_t n : {0, 3, 300, 768, 769, 1024, 5000, 17, 0, 2000}) {
        offsets.push_back(offsets.back() + n);
      }
    }
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
    const auto items = of.items(offsets.back());
    const gpu_array x(items);
    const gpu_array at(offsets);
    const auto op = sequential_blocks<256>(of.op);
    auto expected = std::vector(static_cast<std::size_t>(count), of.init);
    const gpu_array out(expected);
    segmented_reduce(host_executor(), items.begin(), offsets.begin(), count, expected.begin(),
                     of.init, op);
    cuda_executor exec;
    segmented_reduce(exec, x.data(), at.data(), count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    segmented_reduce(exec, x.data(), at.data(), count, segment_bound(5000), out.data(), of.init,
                     op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    segmented_reduce(exec, x.data(), at.data(), at.data() + 1, count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    std::vector<decltype(x.data())> arrays;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      arrays.push_back(x.data() + offsets[i]);
      lengths.push_back(offsets[i + 1] - offsets[i]);
    }
    const gpu_array pointers(arrays);
    const gpu_array sizes(lengths);
    batched_reduce(exec, pointers.data(), sizes.data(), count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
  }
}

TEST(SequentialBlocksGpu, FoldsSegmentsAndArrays) {
  folds_segments(double_sums{});
  folds_segments(hashes{});
}

template <class Case>
void folds_deferred_sizes(const Case& of) {
  const auto items = of.items(90000);
  const gpu_array x(items);
  const gpu_array out(std::vector{of.init});
  const auto op = sequential_blocks<256>(of.op);
  cuda_executor exec;
  for (const int size : {0, 768, 769, 70000}) {
    const gpu_array<int> n(std::vector<int>{size});
    reduce_into(exec, x.data(), deferred(n.data(), 90000), out.data(), of.init, op);
    exec.synchronize();
    EXPECT_EQ(bytes_of(out.to_host()[0]),
              bytes_of(tilefold::reduce(items.begin(), items.begin() + size, of.init, op)))
        << size;
  }
}

TEST(SequentialBlocksGpu, FoldsDeferredSizes) {
  folds_deferred_sizes(float_sums{});
  folds_deferred_sizes(hashes{});
}

TEST(SequentialBlocksGpu, FoldsItemsByIndex) {
  const auto items = make_items<float>(pattern::mixed, 90000, seed());
  std::vector<int> index;
  for (int i = 0; i < 90000; ++i) index.push_back(i % 7 == 0 ? 2 : i % 2);
  const auto of = [&](int k) {
    std::vector<float> some;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (index[i] == k) some.push_back(items[i]);
    }
    return some;
  };
  const gpu_array<float> x(items);
  const gpu_array<int> at(index);
  const gpu_array<float> out(3);
  cuda_executor exec;
  reduce_by_index(exec, at.data(), at.data() + at.size(), x.data(), 3, out.data(),
                  sequential_blocks<256>(plus{}));
  const std::vector<float> found = out.to_host();
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(bytes_of(found[static_cast<std::size_t>(k)]),
              bytes_of(tilefold::reduce(of(k), sequential_blocks<256>(plus{}))));
  }
}

}  // namespace

}  // namespace tilefold::test
