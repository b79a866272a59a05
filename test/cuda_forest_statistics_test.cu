// SPDX-License-Identifier: Apache-2.0
//
// Segments under reducers whose accumulators are large, on a GPU: lanes fold runs of neighbours,
// and nodes of equally many items are joined in a way of their own. Every segment has the bits that
// the host gives it alone, on every path: dealt to lanes, by a warp, by the warps of blocks.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

// Without padding, so that its bytes can be compared.
struct statistics {
  double mean, variance, min, max;

  statistics() = default;
  template <class Results>
  TILEFOLD_HD explicit statistics(const Results& of)
      : mean(of.template get<0>()),
        variance(of.template get<1>()),
        min(static_cast<float>(of.template get<2>())),
        max(static_cast<float>(of.template get<3>())) {}
};

auto four_statistics() { return r::fuse(r::mean{}, r::variance{}, r::min<>{}, r::max<>{}); }

// There is no mean of nothing, so segments, which may be empty, begin with the item 1.
template <class T>
auto initial() {
  return four_statistics().lift(static_cast<T>(1.0f));
}

template <class T>
void expect_host_bits(const std::vector<T>& items, const std::vector<std::int64_t>& offsets,
                      const std::vector<statistics>& got, const std::string& how) {
  ASSERT_EQ(got.size(), offsets.size() - 1);
  for (std::size_t s = 0; s < got.size(); ++s) {
    const statistics expected(tilefold::reduce(items.begin() + offsets[s],
                                               items.begin() + offsets[s + 1], initial<T>(),
                                               four_statistics()));
    ASSERT_EQ(std::memcmp(&got[s], &expected, sizeof expected), 0)
        << how << ": segment " << s << " of " << offsets[s + 1] - offsets[s] << " items, variance "
        << got[s].variance << " in place of " << expected.variance;
  }
}

template <class T>
class CudaForestStatistics : public ::testing::Test {
 protected:
  // Segments in a row from item `shift` on; so few, and among many.
  void by_offsets(const std::vector<T>& items, std::vector<std::int64_t> lengths,
                  std::int64_t shift) {
    ASSERT_NO_FATAL_FAILURE(just_by_offsets(items, lengths, shift));
    lengths.resize(lengths.size() + 1024, 0);
    ASSERT_NO_FATAL_FAILURE(just_by_offsets(items, lengths, shift));
  }

  void just_by_offsets(const std::vector<T>& items, const std::vector<std::int64_t>& lengths,
                       std::int64_t shift) {
    std::vector<std::int64_t> offsets{shift};
    for (const std::int64_t n : lengths) offsets.push_back(offsets.back() + n);
    ASSERT_LE(offsets.back(), static_cast<std::int64_t>(items.size()));
    const gpu_array<T> array(items);
    const gpu_array<std::int64_t> device_offsets(offsets);
    gpu_array<statistics> out(static_cast<std::int64_t>(lengths.size()));
    segmented_reduce_into(exec_, static_cast<const T*>(array.data()), device_offsets.data(),
                          out.size(), out.data(), initial<T>(), four_statistics());
    exec_.synchronize();
    expect_host_bits(items, offsets, out.to_host(), "by offsets");
  }

  void of_one_length(const std::vector<T>& items, std::int64_t length, std::int64_t num,
                     std::int64_t shift) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t s = 0; s <= num; ++s) offsets.push_back(shift + s * length);
    ASSERT_LE(offsets.back(), static_cast<std::int64_t>(items.size()));
    const gpu_array<T> array(items);
    gpu_array<statistics> out(num);
    segmented_reduce_into(exec_, static_cast<const T*>(array.data()) + shift, num, length,
                          out.data(), initial<T>(), four_statistics());
    exec_.synchronize();
    expect_host_bits(items, offsets, out.to_host(), "of one length");
  }

  cuda_executor exec_;
};

using item_types = ::testing::Types<float, double, half>;
TYPED_TEST_SUITE(CudaForestStatistics, item_types);

std::vector<std::int64_t> edges() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  for (std::int64_t n = 128; n <= 32768; n *= 2) {
    for (const std::int64_t near : {-17, -1, 0, 1, 9}) lengths.push_back(n + near);
  }
  return lengths;
}

TYPED_TEST(CudaForestStatistics, OfOneLength) {
  const auto items = make_items<TypeParam>(pattern::mixed, 200000, seed());
  for (const std::int64_t length : edges()) {
    for (const std::int64_t shift : {0, 1, 3}) {
      const std::int64_t num = length < 1000 ? 40 : 4;
      ASSERT_NO_FATAL_FAILURE(this->of_one_length(items, length, num, shift));
    }
  }
}

TYPED_TEST(CudaForestStatistics, ByOffsets) {
  const auto items = make_items<TypeParam>(pattern::mixed, 2000000, seed());
  ASSERT_NO_FATAL_FAILURE(this->by_offsets(items, edges(), 1));
  std::mt19937_64 random(seed());
  for (const std::uint64_t most : {5, 40, 600, 3000, 30000}) {
    std::vector<std::int64_t> lengths;
    for (int s = 0; s < 60; ++s) {
      lengths.push_back(1 + static_cast<std::int64_t>(random() % most));
    }
    ASSERT_NO_FATAL_FAILURE(this->by_offsets(items, lengths, static_cast<std::int64_t>(most % 7)));
  }
}

// Few, so that blocks share them; with a unit that is not whole.
TYPED_TEST(CudaForestStatistics, LongOnes) {
  const auto items = make_items<TypeParam>(pattern::mixed, 3000000, seed());
  ASSERT_NO_FATAL_FAILURE(this->of_one_length(items, 1 << 20, 2, 1));
  ASSERT_NO_FATAL_FAILURE(this->of_one_length(items, 1400003, 2, 0));
  ASSERT_NO_FATAL_FAILURE(this->by_offsets(items, {100, 1000003, 1, 70000, 16385, 300007}, 3));
}

// More trees than warps are for: by warps alone.
TEST(CudaForestStatisticsOfFloats, ManyOfOneLength) {
  const auto items = make_items<float>(pattern::near_one, 5000 * 1024, seed());
  const gpu_array<float> array(items);
  cuda_executor exec;
  for (const std::int64_t length : {64, 1000, 1024}) {
    gpu_array<statistics> out(5000);
    segmented_reduce(exec, static_cast<const float*>(array.data()), 5000, length, out.data(),
                     initial<float>(), four_statistics());
    std::vector<statistics> expected(5000);
    segmented_reduce(items.data(), 5000, length, expected.data(), initial<float>(),
                     four_statistics());
    const auto got = out.to_host();
    for (std::size_t s = 0; s < 5000; ++s) {
      ASSERT_EQ(std::memcmp(&got[s], &expected[s], sizeof got[s]), 0) << s << " of " << length;
    }
  }
}

template <class T>
class SanitizeForestStatistics : public CudaForestStatistics<T> {};
TYPED_TEST_SUITE(SanitizeForestStatistics, item_types);

TYPED_TEST(SanitizeForestStatistics, EndsOfArrays) {
  for (const std::int64_t length : {1, 7, 16, 33, 500, 513, 1030, 5000}) {
    for (const std::int64_t shift : {0, 1}) {
      const auto items = make_items<TypeParam>(pattern::mixed, 3 * length + shift, seed());
      ASSERT_NO_FATAL_FAILURE(this->of_one_length(items, length, 3, shift));
      ASSERT_NO_FATAL_FAILURE(this->by_offsets(items, {length, length, length}, shift));
    }
  }
}

}  // namespace
}  // namespace tilefold::test
