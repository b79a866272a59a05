// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU by calls that say more than a range: with an initial value, of lengths that
// only the GPU knows, of segments that are promised to be short, or whose offsets are checked
// first. Each has the bits of the host, whose sums other tests compare with real ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
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

inline const host_executor one(1);

/// Items of every kind, of which each call takes the first.
template <class T>
class CudaExactCalls : public testing::Test {
 protected:
  std::mt19937_64 random{test::seed()};
  cuda_executor gpu;
  gpu_array<T> out{4096};

  std::vector<T> items(int kind, std::int64_t n) {
    return test::items_of<T>(kind, static_cast<std::size_t>(n), random);
  }
};

/// Short segments, and the host's sum of each.
template <class T>
class CudaExactSegmentCalls : public CudaExactCalls<T> {
 protected:
  static constexpr std::int64_t num = 3000;

  void SetUp() override {
    offsets_ = {0};
    for (std::int64_t s = 0; s < num; ++s) {
      offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(this->random() % 40));
    }
    all_ = this->items(test::num_exact_kinds, offsets_.back());
    x_.emplace(all_);
    on_gpu_.emplace(offsets_);
  }

  const T* x() const { return x_->data(); }
  const std::int64_t* at() const { return on_gpu_->data(); }
  std::int64_t num_items() const { return offsets_.back(); }

  /// Of the segments' results, which are forgotten.
  template <class SumOf>
  void expect(const char* what, SumOf sum_of) {
    const auto got = this->out.to_host();
    for (std::int64_t s = 0; s < num; ++s) {
      const auto i = static_cast<std::size_t>(s);
      ASSERT_EQ(bytes_of(got[i]),
                bytes_of(sum_of(all_.data() + offsets_[i], all_.data() + offsets_[i + 1])))
          << what << ", segment " << s << ", seed " << test::seed();
    }
    this->out.assign(std::vector<T>(4096, T{-7}).data(), 4096);
  }
  void expect_sums(const char* what) {
    expect(what,
           [](const T* first, const T* last) { return reduce(one, first, last, r::exact_sum{}); });
  }

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<T> all_;
  std::optional<gpu_array<T>> x_;
  std::optional<gpu_array<std::int64_t>> on_gpu_;
};

}  // namespace
}  // namespace tilefold
