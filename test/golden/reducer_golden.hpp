// SPDX-License-Identifier: Apache-2.0
//
// Committed values of reducers on hard data, exact to the last bit of a double, with the errors
// that their documentation allows; written by make_reducer_golden.py without the library. The items
// are spelled here a second time.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "golden.hpp"

namespace tilefold::test::golden {

struct reducer_row {
  const char* reducer;
  const char* data;
  const char* second;  // range, or nothing
  std::int64_t n;
  double value;
  double bound;
};

inline constexpr reducer_row reducer_rows[] = {
#include "reducer_golden.inc"
};

/// A multiple of 2^-30 in [-1, 1).
inline double uniform_item(numbers& r) {
  return (static_cast<double>(r.next()) - 0x1p30) * 0x1p-30;
}

using make_item = std::function<double(numbers&)>;

inline make_item near_items(double offset, double scale) {
  return [=](numbers& r) {
    const double distance = scale * uniform_item(r);
    return offset + distance;
  };
}

/// x, then nearly -x.
inline make_item cancelling_items() {
  return [last = 0.0](numbers& r) mutable {
    if (last == 0.0) return last = double_item(r, 30);
    const double x = -last * (1 - 0x1p-40);
    last = 0.0;
    return x;
  };
}

/// The items of data `name`, as the script's table of the same names makes them.
inline make_item items_called(const std::string& name) {
  if (name == "centred") return near_items(0, 1);
  if (name == "offset") return near_items(0x1p30, 1);
  if (name == "beyond") return near_items(-0x1p50, 128);
  if (name == "binades") return [](numbers& r) { return double_item(r, 30); };
  if (name == "huge") return [](numbers& r) { return double_item(r, 10) * 0x1p1000; };
  if (name == "tiny") return [](numbers& r) { return double_item(r, 10) * 0x1p-1000; };
  if (name == "positive") return [](numbers& r) { return std::fabs(double_item(r, 40)); };
  if (name == "logits") return near_items(0, 8);
  if (name == "high_logits") return near_items(0x1p20, 1024);
  if (name == "low_logits") return near_items(-0x1p20, 2);
  if (name == "cancelling") return cancelling_items();
  if (name == "floats") return [](numbers& r) { return double{float_item(r, 12)}; };
  if (name == "float_logits") return [](numbers& r) { return double{float_item(r, 2)}; };
  throw std::runtime_error("no data are called " + name);
}

template <class T>
std::vector<T> items_of(const char* name, std::uint64_t seed, std::int64_t n) {
  numbers r(seed);
  const make_item item = items_called(name);
  std::vector<T> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<T>(item(r)));
  return items;
}

/// Holds every row of `name` against fold(reducer, ranges...), ranges of T.
template <class T = double, class Reducer, class Fold>
void expect_reducer(const char* name, const Reducer& reducer, int rows, const Fold& fold) {
  int checked = 0;
  for (const reducer_row& wanted : reducer_rows) {
    if (std::string(wanted.reducer) != name) continue;
    const auto x = items_of<T>(wanted.data, 1, wanted.n);
    double got = 0;
    if constexpr (detail::lifts_values<Reducer, T>()) {
      got = static_cast<double>(fold(reducer, x));
    } else {
      got = static_cast<double>(fold(reducer, x, items_of<T>(wanted.second, 2, wanted.n)));
    }
    EXPECT_LE(std::fabs(got - wanted.value), wanted.bound)
        << name << " of " << wanted.data << " " << wanted.second << ", n = " << wanted.n << ": got "
        << got << ", should be " << wanted.value;
    ++checked;
  }
  EXPECT_EQ(checked, rows) << name;
}

/// Every reducer that has rows.
template <class Fold>
void expect_all_reducers(const Fold& fold) {
  namespace r = reducers;
  constexpr int sizes = 7;
  expect_reducer("mean", r::mean{}, 4 * sizes, fold);
  expect_reducer("variance", r::variance{}, 4 * sizes, fold);
  expect_reducer("deviation", r::standard_deviation(divisor::population), 4 * sizes, fold);
  expect_reducer("skewness", r::skewness{}, 4 * sizes, fold);
  expect_reducer("kurtosis", r::kurtosis{}, 4 * sizes, fold);
  expect_reducer("l1", r::l1{}, 3 * sizes, fold);
  expect_reducer("l2", r::l2{}, 3 * sizes, fold);
  expect_reducer("rms", r::rms{}, 3 * sizes, fold);
  expect_reducer("geometric_mean", r::geometric_mean{}, sizes, fold);
  expect_reducer("harmonic_mean", r::harmonic_mean{}, sizes, fold);
  expect_reducer("logsumexp", r::logsumexp{}, 3 * sizes, fold);
  expect_reducer<float>("float_logsumexp", r::logsumexp{}, 2 * sizes, fold);
  expect_reducer("compensated_sum", r::compensated_sum{}, 2 * sizes, fold);
  expect_reducer<float>("compensated_float_sum", r::compensated_sum{}, sizes, fold);
  expect_reducer("covariance", r::covariance{}, 2 * sizes, fold);
  expect_reducer("correlation", r::correlation{}, 2 * sizes, fold);
  expect_reducer("compensated_dot", r::compensated_dot{}, 2 * sizes, fold);
  expect_reducer("cosine", r::cosine{}, 2 * sizes, fold);
  expect_reducer("weighted_mean", r::weighted_mean{}, 2 * sizes, fold);
}

}  // namespace tilefold::test::golden
