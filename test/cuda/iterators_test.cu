// SPDX-License-Identifier: Apache-2.0
//
// Every kind of iterator over device data gives the bits that a pointer to the same items gives.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

constexpr std::int64_t n = 100003;

float folded(const std::vector<float>& items) {
  return reference::fold<float>(reference::plus{}, items);
}

class CudaIterators : public ::testing::Test {
 protected:
  std::vector<float> items_ = make_items<float>(pattern::mixed, n);
  gpu_array<float> array_{items_};
  float expected_ = folded(items_);
  cuda_executor executor_;
};

TEST_F(CudaIterators, Pointers) {
  const float* first = array_.data();
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), expected_));
  EXPECT_TRUE(same_bits(reduce(executor_, array_.data(), array_.data() + n), expected_));
}

TEST_F(CudaIterators, SpansOverDeviceMemory) {
  const std::span<const float> constant(array_.data(), static_cast<std::size_t>(n));
  const std::span<float> mutable_items(array_.data(), static_cast<std::size_t>(n));
  EXPECT_TRUE(same_bits(reduce(executor_, constant), expected_));
  EXPECT_TRUE(same_bits(reduce(executor_, mutable_items.begin(), mutable_items.end()), expected_));
  EXPECT_TRUE(same_bits(tilefold::reduce(constant), expected_));
}

TEST_F(CudaIterators, DeviceVectors) {
  thrust::device_vector<float> vector(items_.begin(), items_.end());
  const thrust::device_vector<float>& constant = vector;
  EXPECT_TRUE(same_bits(reduce(executor_, vector), expected_));
  EXPECT_TRUE(same_bits(reduce(executor_, constant.begin(), constant.end()), expected_));
  EXPECT_TRUE(same_bits(tilefold::reduce(vector.begin(), vector.end()), expected_));
  EXPECT_TRUE(same_bits(tilefold::reduce(vector), expected_));
  // A part that does not start on an aligned address.
  const std::vector<float> rest(items_.begin() + 1, items_.end());
  EXPECT_TRUE(same_bits(reduce(executor_, vector.begin() + 1, vector.end()), folded(rest)));
  thrust::device_vector<float> out(1);
  reduce_into(executor_, vector.begin(), vector.end(), out.begin());
  executor_.synchronize();
  EXPECT_TRUE(same_bits(static_cast<float>(out[0]), expected_));
}

TEST_F(CudaIterators, DevicePointers) {
  const thrust::device_ptr<float> first(array_.data());
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), expected_));
  EXPECT_TRUE(same_bits(tilefold::reduce(first, first + n), expected_));
}

TEST_F(CudaIterators, ManagedAndPinnedMemory) {
  gpu_array<float, memory::managed> managed(items_);
  gpu_array<float, memory::pinned> pinned(items_);
  EXPECT_TRUE(same_bits(reduce(executor_, managed.begin(), managed.end()), expected_));
  EXPECT_TRUE(same_bits(reduce(executor_, pinned.begin(), pinned.end()), expected_));
}

TEST_F(CudaIterators, Counting) {
  const auto first = thrust::make_counting_iterator(std::int64_t{-5});
  EXPECT_EQ(reduce(executor_, first, first + n), n * (n - 1) / 2 - 5 * n);
  // Far beyond 2^24 a float counts no more: every sum rounds, and in one order only.
  const auto floats = thrust::make_counting_iterator(0.25f);
  std::vector<float> counted;
  for (std::int64_t i = 0; i < n; ++i) counted.push_back(0.25f + static_cast<float>(i));
  EXPECT_TRUE(same_bits(reduce(executor_, floats, floats + n), folded(counted)));
}

TEST_F(CudaIterators, Constant) {
  const auto first = thrust::make_constant_iterator(0.1f);
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n),
                        folded(std::vector<float>(static_cast<std::size_t>(n), 0.1f))));
}

struct times_three {
  TILEFOLD_HD float operator()(float x) const { return 3.0f * x; }
};

TEST_F(CudaIterators, Transform) {
  std::vector<float> tripled;
  for (const float x : items_) tripled.push_back(reference::rounded(3.0f * x));
  const auto first = thrust::make_transform_iterator(array_.data(), times_three{});
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), folded(tripled)));
  const auto shifted = thrust::make_transform_iterator(array_.data() + 3, times_three{});
  const std::vector<float> rest(tripled.begin() + 3, tripled.end());
  EXPECT_TRUE(same_bits(reduce(executor_, shifted, shifted + (n - 3)), folded(rest)));
}

struct product_of_pair {
  template <class Pair>
  TILEFOLD_HD float operator()(const Pair& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};

TEST_F(CudaIterators, Zip) {
  const auto others = make_items<float>(pattern::mixed, n, 7);
  gpu_array<float> other_array(others);
  std::vector<float> products;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    products.push_back(reference::rounded(items_[i] * others[i]));
  }
  const auto pairs =
      thrust::make_zip_iterator(thrust::make_tuple(array_.data(), other_array.data()));
  const auto first = thrust::make_transform_iterator(pairs, product_of_pair{});
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), folded(products)));
  EXPECT_TRUE(
      same_bits(transform_reduce(executor_, pairs, pairs + n, -0.0f, plus{}, product_of_pair{}),
                -0.0f + folded(products)));
}

struct widened {
  TILEFOLD_HD float operator()(half x) const { return static_cast<float>(x); }
};

// Packets of 8 items through the transform, from every place within 16 bytes.
TEST_F(CudaIterators, TransformOfNarrowItemsAtAnyAlignment) {
  const auto halves = make_items<half>(pattern::mixed, n);
  gpu_array<half> narrow(halves);
  for (int offset = 0; offset < 8; ++offset) {
    std::vector<float> wide;
    for (std::size_t i = static_cast<std::size_t>(offset); i < halves.size(); ++i) {
      wide.push_back(static_cast<float>(halves[i]));
    }
    const auto first = thrust::make_transform_iterator(narrow.data() + offset, widened{});
    EXPECT_TRUE(same_bits(reduce(executor_, first, first + (n - offset)), folded(wide)))
        << "offset " << offset;
  }
}

struct product_of_three {
  template <class Tuple>
  TILEFOLD_HD float operator()(const Tuple& tuple) const {
    return thrust::get<0>(tuple) *
           (thrust::get<1>(tuple) + static_cast<float>(thrust::get<2>(tuple)));
  }
};

// A pointer off by one, a device_vector's iterator, and one that leads to no memory.
TEST_F(CudaIterators, ZipOfThreeKinds) {
  const auto others = make_items<float>(pattern::mixed, n, 7);
  const thrust::device_vector<float> vector(others.begin(), others.end());
  std::vector<float> values;
  for (std::size_t i = 0; i + 1 < items_.size(); ++i) {
    const float sum = others[i] + static_cast<float>(static_cast<int>(i) - 5);
    values.push_back(reference::rounded(items_[i + 1] * sum));
  }
  const auto first = thrust::make_zip_iterator(
      thrust::make_tuple(array_.data() + 1, vector.begin(), thrust::make_counting_iterator(-5)));
  EXPECT_TRUE(same_bits(
      transform_reduce(executor_, first, first + (n - 1), -0.0f, plus{}, product_of_three{}),
      -0.0f + folded(values)));
  const auto transformed = thrust::make_transform_iterator(first, product_of_three{});
  EXPECT_TRUE(same_bits(reduce(executor_, transformed, transformed + (n - 1)), folded(values)));
}

TEST_F(CudaIterators, Permutation) {
  std::vector<int> order;
  std::vector<float> permuted;
  for (std::int64_t i = 0; i < n; ++i) {
    order.push_back(static_cast<int>(i * 7919 % n));
    permuted.push_back(items_[static_cast<std::size_t>(order.back())]);
  }
  gpu_array<int> indices(order);
  const auto first = thrust::make_permutation_iterator(array_.data(), indices.data());
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), folded(permuted)));
}

struct times_two {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const { return 2 * i; }
};

TEST_F(CudaIterators, Strided) {
  std::vector<float> even;
  for (std::size_t i = 0; i < items_.size(); i += 2) even.push_back(items_[i]);
  const auto indices =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), times_two{});
  const auto first = thrust::make_permutation_iterator(array_.data(), indices);
  const auto count = static_cast<std::int64_t>(even.size());
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + count), folded(even)));
}

TEST_F(CudaIterators, Reverse) {
  const std::vector<float> backwards(items_.rbegin(), items_.rend());
  const auto first = thrust::make_reverse_iterator(array_.data() + n);
  EXPECT_TRUE(same_bits(reduce(executor_, first, first + n), folded(backwards)));
}

// Reads base[offset + i]: what an adaptor starts from need not be an item.
class offset_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = const float*;
  using reference = const float&;

  TILEFOLD_HD offset_iterator(const float* base, std::ptrdiff_t offset)
      : base_(base), offset_(offset) {}
  TILEFOLD_HD const float* base() const { return base_; }
  TILEFOLD_HD const float& operator*() const { return base_[offset_]; }
  TILEFOLD_HD const float& operator[](std::ptrdiff_t i) const { return base_[offset_ + i]; }
  TILEFOLD_HD offset_iterator operator+(std::ptrdiff_t i) const { return {base_, offset_ + i}; }
  TILEFOLD_HD std::ptrdiff_t operator-(const offset_iterator& other) const {
    return offset_ - other.offset_;
  }

 private:
  const float* base_;
  std::ptrdiff_t offset_;
};

// A generator that has a pointer to show, and follows it nowhere.
class null_based_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = std::int64_t;

  TILEFOLD_HD explicit null_based_iterator(std::int64_t at) : at_(at) {}
  TILEFOLD_HD const float* base() const { return nullptr; }
  TILEFOLD_HD std::int64_t operator*() const { return at_; }
  TILEFOLD_HD std::int64_t operator[](std::ptrdiff_t i) const { return at_ + i; }
  TILEFOLD_HD std::ptrdiff_t operator-(const null_based_iterator& other) const {
    return at_ - other.at_;
  }

 private:
  std::int64_t at_;
};

// As many bytes as the driver gives out at once, so that nothing of this array's follows its end.
TEST_F(CudaIterators, MayStartBeforeOrBehindTheirMemory) {
  constexpr std::int64_t whole = std::int64_t{1} << 20;
  const auto items = make_items<float>(pattern::mixed, whole, 9);
  const gpu_array<float> array(items);
  const std::vector<float> backwards(items.rbegin(), items.rend());
  const auto reversed = thrust::make_reverse_iterator(array.data() + whole);
  EXPECT_TRUE(same_bits(reduce(executor_, reversed, reversed + whole), folded(backwards)));
  const offset_iterator from_the_end(array.data() + whole, -whole);
  EXPECT_TRUE(same_bits(reduce(executor_, from_the_end, from_the_end + whole), folded(items)));
  const offset_iterator from_one(array.data() - 1, 1);
  EXPECT_TRUE(same_bits(reduce(executor_, from_one, from_one + whole), folded(items)));
  const null_based_iterator first(0);
  EXPECT_EQ(reduce(executor_, first, null_based_iterator(whole)), whole * (whole - 1) / 2);
}

TEST_F(CudaIterators, WriteThroughAdaptorsToo) {
  gpu_array<float> out(2);
  const auto order = thrust::make_counting_iterator(std::int64_t{1});
  reduce_into(executor_, array_.begin(), array_.end(),
              thrust::make_permutation_iterator(out.data(), order));
  executor_.synchronize();
  EXPECT_TRUE(same_bits(out.to_host()[1], expected_));
}

}  // namespace
}  // namespace tilefold::test
