// SPDX-License-Identifier: Apache-2.0
//
// Many exact results of one call on a GPU, each against the host's result of its items alone: by
// segment, by key, by column and by axis, with any reducer, of every kind of items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold::test {

inline constexpr std::size_t num_forest_items = 40000;

/// Of every kind of items, `first` of them on the GPU, and they themselves.
template <class T>
void for_each_forest(
    std::mt19937_64& random,
    const std::function<void(const T* first, const std::vector<T>& items)>& expect) {
  for (int kind = 0; kind < num_forest_kinds; ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    const auto items = forest_items<T>(kind, num_forest_items, random);
    const gpu_array<T> x(items);
    expect(x.data(), items);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// From none to 2 `mean` items a segment.
inline std::vector<int> bounds_of(int mean, std::mt19937_64& random) {
  const int end = static_cast<int>(num_forest_items);
  std::vector<int> bounds{0};
  while (bounds.back() < end) {
    const int length = static_cast<int>(random() % static_cast<unsigned>(2 * mean + 1));
    bounds.push_back(std::min(end, bounds.back() + length));
  }
  return bounds;
}

/// What the host makes of a segment's items; 7 of none.
template <class T, class Reducer>
auto on_host(const std::vector<T>& items, const Reducer& reducer) {
  using result = decltype(tilefold::reduce(host_executor(1), items, reducer));
  return items.empty() ? static_cast<result>(7.0f)
                       : tilefold::reduce(host_executor(1), items, reducer);
}

/// `out` has what the host makes of each segment.
template <class T, class Result, class Reducer>
void expect_segments(const std::vector<T>& items, const std::vector<int>& bounds,
                     const gpu_array<Result>& out, const Reducer& reducer) {
  const std::vector<Result> got = out.to_host(bounds.size() - 1);
  for (std::size_t s = 0; s < got.size(); ++s) {
    const std::vector<T> mine(items.begin() + bounds[s], items.begin() + bounds[s + 1]);
    ASSERT_EQ(bytes_of(got[s]), bytes_of(on_host(mine, reducer)))
        << "[" << bounds[s] << ", " << bounds[s + 1] << ")";
  }
}

/// Many results of type Result of a GPU's items.
template <class T, class Result, class Reducer>
class forest_check {
 public:
  forest_check(const T* first, const std::vector<T>& items, std::mt19937_64& random,
               Reducer reducer)
      : first_(first), items_(items), random_(random), reducer_(reducer), out_(num_forest_items) {}

  void by_offsets() {
    for (const int mean : {1, 4, 30, 400, 3000}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      const auto bounds = bounds_of(mean, random_);
      const gpu_array<int> offsets(bounds);
      if (bounds.size() > static_cast<std::size_t>(out_.size())) {
        out_ = gpu_array<Result>(bounds.size());
      }
      segmented_reduce_into(gpu_, first_, offsets.data(),
                            static_cast<std::int64_t>(bounds.size()) - 1, out_.data(),
                            if_empty(reducer_, static_cast<Result>(7.0f)));
      ASSERT_NO_FATAL_FAILURE(expect_segments(items_, bounds, out_, reducer_));
    }
  }

  void of_one_length() {
    for (const int length : {1, 16, 17, 64, 512, 1024, 1500, 9000}) {
      SCOPED_TRACE("of " + std::to_string(length));
      std::vector<int> bounds{0};
      while (bounds.back() + length <= static_cast<int>(num_forest_items)) {
        bounds.push_back(bounds.back() + length);
      }
      segmented_reduce_into(gpu_, first_, static_cast<std::int64_t>(bounds.size()) - 1,
                            static_cast<std::int64_t>(length), out_.data(),
                            if_empty(reducer_, static_cast<Result>(7.0f)));
      ASSERT_NO_FATAL_FAILURE(expect_segments(items_, bounds, out_, reducer_));
    }
  }

  void by_key() {
    gpu_array<int> keys_out(num_forest_items);
    for (const int mean : {2, 16, 700}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      auto bounds = bounds_of(mean, random_);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      std::vector<int> keys(num_forest_items);
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
      }
      const gpu_array<int> k(keys);
      ASSERT_EQ(reduce_by_key(gpu_, k.data(), k.data() + num_forest_items, first_, keys_out.data(),
                              out_.data(), reducer_),
                static_cast<std::int64_t>(bounds.size()) - 1);
      ASSERT_NO_FATAL_FAILURE(expect_segments(items_, bounds, out_, reducer_));
    }
  }

  void by_column() {
    namespace mds = cuda::std;
    for (const std::size_t columns : {1u, 3u, 32u, 100u, 3000u}) {
      SCOPED_TRACE(std::to_string(columns) + " columns");
      const std::size_t rows = num_forest_items / columns;
      axis_reduce(gpu_, mds::mdspan<const T, mds::dextents<std::size_t, 2>>(first_, rows, columns),
                  mds::mdspan<Result, mds::dextents<std::size_t, 1>>(out_.data(), columns), 0,
                  reducer_);
      expect_gathered(columns, rows, [&](std::size_t c, std::size_t i) { return i * columns + c; });
    }
  }

  /// Of a view of rank 3: the first axis and the last, which leaves the one between.
  void by_axis() {
    namespace mds = cuda::std;
    for (const std::size_t between : {1u, 5u, 64u, 400u}) {
      SCOPED_TRACE(std::to_string(between) + " between");
      constexpr std::size_t last = 10;
      const std::size_t outer = num_forest_items / between / last;
      axis_reduce(
          gpu_, mds::mdspan<const T, mds::dextents<std::size_t, 3>>(first_, outer, between, last),
          mds::mdspan<Result, mds::dextents<std::size_t, 1>>(out_.data(), between), 0, 2, reducer_);
      expect_gathered(between, outer * last, [&](std::size_t b, std::size_t i) {
        return (i / last * between + b) * last + i % last;
      });
    }
  }

 private:
  /// Result r is that of items at(r, 0), at(r, 1)...
  template <class At>
  void expect_gathered(std::size_t results, std::size_t length, const At& at) {
    std::vector<T> gathered;
    std::vector<int> bounds{0};
    for (std::size_t r = 0; r < results; ++r) {
      for (std::size_t i = 0; i < length; ++i) gathered.push_back(items_[at(r, i)]);
      bounds.push_back(static_cast<int>(gathered.size()));
    }
    ASSERT_NO_FATAL_FAILURE(expect_segments(gathered, bounds, out_, reducer_));
  }

  cuda_executor gpu_;
  const T* first_;
  const std::vector<T>& items_;
  std::mt19937_64& random_;
  Reducer reducer_;
  gpu_array<Result> out_;
};

/// Calls check(forest_check) for every kind of items.
template <class T, class Result, class Reducer, class Check>
void check_forests(Reducer reducer, const Check& check) {
  const auto start = test::seed();
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(start));
  std::mt19937_64 random(start);
  for_each_forest<T>(random, [&](const T* first, const std::vector<T>& items) {
    forest_check<T, Result, Reducer> forest(first, items, random, reducer);
    check(forest);
  });
}

/// The verbs that have many results, some to a program: nvcc takes its time for each.
template <class T, class Result, class Reducer>
void check_segments(Reducer reducer) {
  check_forests<T, Result>(reducer, [](auto& forest) {
    ASSERT_NO_FATAL_FAILURE(forest.by_offsets());
    ASSERT_NO_FATAL_FAILURE(forest.of_one_length());
  });
}
template <class T, class Result, class Reducer>
void check_runs(Reducer reducer) {
  check_forests<T, Result>(reducer, [](auto& forest) { forest.by_key(); });
}
template <class T, class Result, class Reducer>
void check_columns(Reducer reducer) {
  check_forests<T, Result>(reducer, [](auto& forest) { forest.by_column(); });
}
template <class T, class Result, class Reducer>
void check_axes(Reducer reducer) {
  check_forests<T, Result>(reducer, [](auto& forest) { forest.by_axis(); });
}

}  // namespace tilefold::test
