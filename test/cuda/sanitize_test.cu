// SPDX-License-Identifier: Apache-2.0
//
// Small runs over every path of the kernels, for compute-sanitizer, which slows them down a hundred
// times: full and cut tiles, aligned and shifted loads that end with the allocation, one and
// several levels of partials, wide and odd items, transforms, empty ranges, graphs.
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/batched_reduce.hpp>
#include <tilefold/checked.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device_order.cuh"

namespace tilefold::test {
namespace {

// So many empty ones make few sequences many, which are folded in another way.
constexpr std::size_t many_empty = 1024;

template <class Policy>
class Sanitize : public ::testing::Test {};
using sanitized_policies =
    ::testing::Types<policy_case<32, 1>, policy_case<64, 16>, policy_case<256, 32>>;
TYPED_TEST_SUITE(Sanitize, sanitized_policies);

TYPED_TEST(Sanitize, Loads) {
  cuda_executor base;
  const auto exec = with_policy<TypeParam::value>(base);
  // One tile, cut; two whole tiles of each larger shape, so that the last full load ends with the
  // allocation; a bit more, which makes two levels of partials for the smallest tiles.
  const std::vector<std::int64_t> sizes{1, 33, 1000, 2048, 16384, 20000};
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < sizes.back(); ++i) bytes.push_back(order_byte(i));
  const auto expected =
      prefix_folds(node_hash{}, [](std::int64_t i) { return leaf_hash(order_byte(i)); }, sizes);
  for (const int start : {0, 1, 4, 15}) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      // The range ends where the allocation ends.
      gpu_array<std::uint8_t> array(start + sizes[i]);
      must(cudaMemset(array.data(), 0, static_cast<std::size_t>(array.size())));
      array.assign(bytes.data(), sizes[i], start);
      const std::uint8_t* first = array.data() + start;
      const lifted_hash got = reduce(exec, first, first + sizes[i], lifted_node_hash{});
      ASSERT_EQ(got, expected[i]) << "n = " << sizes[i] << ", start = " << start;
    }
  }
}

TYPED_TEST(Sanitize, OddItems) {
  using item = words<std::uint8_t, 3>;
  cuda_executor base;
  const auto exec = with_policy<TypeParam::value>(base);
  const auto items = make_items<item>(pattern::mixed, 9000);
  for (const std::int64_t n : {5, 2000, 9000}) {
    const std::vector<item> some(items.begin(), items.begin() + n);
    const gpu_array<item> array(some);
    EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.end(), mix_words{}),
                          reference::fold<item>(mix_words{}, some)));
  }
}

TYPED_TEST(Sanitize, Transforms) {
  cuda_executor base;
  const auto exec = with_policy<TypeParam::value>(base);
  const auto a = make_items<float>(pattern::mixed, 9001);
  gpu_array<float> array(a);
  std::vector<float> products;
  for (std::size_t i = 0; i < 9000; ++i) products.push_back(reference::rounded(a[i] * a[i + 1]));
  EXPECT_TRUE(same_bits(
      transform_reduce(exec, array.begin(), array.begin() + 9000, array.begin() + 1, -0.0f),
      -0.0f + reference::fold<float>(reference::plus{}, products)));
}

TEST(SanitizeExecutor, DefaultTilesAndManyCallsInFlight) {
  cuda_executor exec;
  const auto items = make_items<double>(pattern::mixed, 50000);
  const gpu_array<double> array(items);
  const std::vector<std::int64_t> sizes{50000, 1, 777, 30000, 5, 50000, 12000};
  gpu_array<double> out(static_cast<std::int64_t>(sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    reduce_into(exec, array.begin(), array.begin() + sizes[i], out.data() + i);
  }
  exec.synchronize();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<double> some(items.begin(), items.begin() + sizes[i]);
    EXPECT_TRUE(same_bits(out.to_host()[i], reference::fold<double>(reference::plus{}, some)));
  }
  EXPECT_TRUE(same_bits(reduce(exec, array.begin(), array.begin()), -0.0));
}

// One block, a cluster (or as many blocks), many blocks, and the longest of short ranges; the
// second fold of each may begin before the first has ended.
TEST(SanitizeExecutor, ShortRanges) {
  cuda_executor exec;
  const auto items = make_items<float>(pattern::mixed, 1200000);
  const gpu_array<float> array(items);
  gpu_array<float> out(2);
  for (const std::int64_t n : {777, 20001, 140000, 1100007}) {
    for (int k = 0; k < 2; ++k) {
      reduce_into(exec, array.begin(), array.begin() + n, out.data() + k);
    }
    exec.synchronize();
    const std::vector<float> some(items.begin(), items.begin() + n);
    for (const float got : out.to_host()) {
      EXPECT_TRUE(same_bits(got, reference::fold<float>(reference::plus{}, some))) << "n = " << n;
    }
  }
}

TEST(SanitizeExecutor, Graphs) {
  cuda_executor exec;
  const auto items = make_items<double>(pattern::mixed, 50000);
  const gpu_array<double> array(items);
  gpu_array<double> out(1);
  exec.reserve(cuda_executor::workspace_bytes(50000, sizeof(double), sizeof(double)));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  must(cudaStreamBeginCapture(exec.stream(), cudaStreamCaptureModeThreadLocal));
  reduce_into(exec, array.begin(), array.end(), out.data());
  must(cudaStreamEndCapture(exec.stream(), &graph));
  must(cudaGraphInstantiate(&launchable, graph, 0));
  must(cudaGraphLaunch(launchable, exec.stream()));
  must(cudaGraphLaunch(launchable, exec.stream()));
  exec.synchronize();
  EXPECT_TRUE(same_bits(out.to_host()[0], reference::fold<double>(reference::plus{}, items)));
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

// Short segments and empty ones, a gap, one that a warp takes by itself, one that is queued and cut
// into units; items of a byte at an odd address, and of 4.
template <class T>
void sanitize_segments() {
  cuda_executor exec;
  std::vector<std::int64_t> begins, ends;
  std::int64_t end = 1;
  for (const std::int64_t length : {0, 1, 2, 3, 8, 31, 32, 33, 0, 100, 5000, 7, 40000}) {
    begins.push_back(end);
    ends.push_back(end += length);
    end += length == 33 ? 1 : 0;
  }
  const auto items = make_items<T>(pattern::mixed, end);
  const gpu_array<T> array(items);
  for (const std::size_t more : {std::size_t{0}, many_empty, std::size_t{0}}) {
    begins.resize(begins.size() + more, end);
    ends.resize(begins.size(), end);
    const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
    gpu_array<T> out(static_cast<std::int64_t>(begins.size()));
    segmented_reduce<T>(exec, array.data(), device_begins.data(), device_ends.data(), begins.size(),
                        out.data(), T{0}, plus{});
    const auto got = out.to_host();
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::vector<T> some(items.begin() + begins[i], items.begin() + ends[i]);
      const T expected =
          some.empty() ? T{0} : static_cast<T>(T{0} + reference::fold<T>(reference::plus{}, some));
      EXPECT_TRUE(same_bits(got[i], expected)) << "segment " << i;
    }
  }
}

TEST(SanitizeForest, SegmentsOfFloats) { sanitize_segments<float>(); }
TEST(SanitizeForest, SegmentsOfBytes) { sanitize_segments<std::int8_t>(); }

// Arrays in memory of their own: short ones, null ones without items, one that a warp takes by
// itself, one that is queued.
template <class T>
void sanitize_arrays() {
  cuda_executor exec;
  std::vector<std::vector<T>> items;
  std::vector<gpu_array<T>> arrays;
  std::vector<const T*> pointers;
  std::vector<std::int32_t> lengths{0, 1, 2, 3, 8, 31, 32, 33, 0, 100, 1000, 5000, 7, 40000};
  for (const std::int32_t n : lengths) {
    items.push_back(make_items<T>(pattern::mixed, n));
    arrays.emplace_back(items.back());
    pointers.push_back(n == 0 ? nullptr : arrays.back().data());
  }
  for (const std::size_t more : {std::size_t{0}, many_empty, std::size_t{0}}) {
    pointers.resize(pointers.size() + more, nullptr);
    lengths.resize(pointers.size(), 0);
    const gpu_array<const T*> device_pointers(pointers);
    const gpu_array<std::int32_t> device_lengths(lengths);
    gpu_array<T> out(static_cast<std::int64_t>(lengths.size()));
    batched_reduce<T>(checked(exec), device_pointers.data(), device_lengths.data(), lengths.size(),
                      out.data(), T{0}, plus{});
    const auto got = out.to_host();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const T expected =
          lengths[i] == 0 ? T{0}
                          : static_cast<T>(T{0} + reference::fold<T>(reference::plus{}, items[i]));
      EXPECT_TRUE(same_bits(got[i], expected)) << "array " << i;
    }
  }
}

TEST(SanitizeForest, ArraysOfFloats) { sanitize_arrays<float>(); }
TEST(SanitizeForest, ArraysOfBytes) { sanitize_arrays<std::int8_t>(); }

// Arrays that end where their memory does, one item past an aligned address.
template <class T>
void sanitize_ends_of_arrays() {
  cuda_executor exec;
  std::vector<gpu_array<T>> arrays;
  std::vector<const T*> pointers;
  std::vector<std::int32_t> lengths;
  std::vector<T> expected;
  for (std::int32_t n = 17; n <= 48; ++n) {
    const auto items = make_items<T>(pattern::mixed, n + 1);
    arrays.emplace_back(items);
    pointers.push_back(arrays.back().data() + 1);
    lengths.push_back(n);
    expected.push_back(
        reference::fold<T>(reference::plus{}, std::vector<T>(items.begin() + 1, items.end())));
  }
  for (const std::size_t more : {std::size_t{0}, many_empty}) {
    pointers.resize(pointers.size() + more, nullptr);
    lengths.resize(pointers.size(), 0);
    const gpu_array<const T*> device_pointers(pointers);
    const gpu_array<std::int32_t> device_lengths(lengths);
    gpu_array<T> out(static_cast<std::int64_t>(lengths.size()));
    batched_reduce<T>(exec, device_pointers.data(), device_lengths.data(), lengths.size(),
                      out.data(), T{0}, plus{});
    const auto got = out.to_host();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(got[i], static_cast<T>(T{0} + expected[i]))) << lengths[i] << " items";
    }
  }
}

TEST(SanitizeForest, EndsOfArraysOfFloats) { sanitize_ends_of_arrays<float>(); }
TEST(SanitizeForest, EndsOfArraysOfBytes) { sanitize_ends_of_arrays<std::int8_t>(); }

// What checked() refuses is not read.
TEST(SanitizeForest, WrongOffsetsAreNotFollowed) {
  cuda_executor exec;
  const gpu_array<float> array(make_items<float>(pattern::mixed, 1000));
  gpu_array<float> out(4);
  for (const std::int64_t wrong : {std::int64_t{1001}, std::int64_t{1} << 40, std::int64_t{-1}}) {
    const gpu_array<std::int64_t> offsets(std::vector<std::int64_t>{0, 500, wrong, 1000, 1000});
    EXPECT_THROW(segmented_reduce(checked(exec, 1000), array.data(), offsets.data(), 4, out.data()),
                 segment_error);
  }
}

TEST(SanitizeForest, EqualLengths) {
  cuda_executor exec;
  const auto items = make_items<float>(pattern::mixed, 30001);
  const gpu_array<float> array(items);
  for (const std::int64_t length : {1, 7, 64, 1500, 10000, 30000}) {
    const std::int64_t count = 30000 / length;
    gpu_array<float> out(count);
    segmented_reduce(exec, array.data() + 1, count, length, out.data());
    const auto got = out.to_host();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::vector<float> some(items.begin() + 1 + i * length,
                                    items.begin() + 1 + (i + 1) * length);
      EXPECT_TRUE(same_bits(got[static_cast<std::size_t>(i)],
                            reference::fold<float>(reference::plus{}, some)))
          << length << ", " << i;
    }
  }
}

// Columns in packets and one by one, few and many, with rows that several blocks share.
TEST(SanitizeForest, ColumnsOfAView) {
  using items_view = cuda::std::mdspan<const float, cuda::std::dextents<std::int64_t, 3>>;
  using results_view = cuda::std::mdspan<float, cuda::std::dextents<std::int64_t, 2>>;
  cuda_executor exec;
  const auto items = make_items<float>(pattern::mixed, 60001);
  const gpu_array<float> array(items);
  for (const std::int64_t outer : {1, 3}) {
    for (const std::int64_t width : {1, 2, 5, 8, 36, 300}) {
      const std::int64_t rows = 60000 / width / outer;
      gpu_array<float> out(outer * width);
      for (int shift = 0; shift < 2; ++shift) {
        axis_reduce(exec, items_view(array.data() + shift, outer, rows, width),
                    results_view(out.data(), outer, width), 1);
        const auto got = out.to_host();
        for (std::int64_t k = 0; k < outer * width; ++k) {
          std::vector<float> some;
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t i = (k / width * rows + r) * width + k % width + shift;
            some.push_back(items[static_cast<std::size_t>(i)]);
          }
          EXPECT_TRUE(same_bits(got[static_cast<std::size_t>(k)],
                                reference::fold<float>(reference::plus{}, some)))
              << outer << " x " << rows << " x " << width << ", result " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
