// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers over ranges that are cut in blocks, for every instruction set of this machine,
// against states to which items are added one by one: sizes around vectors and blocks, alignments,
// threads, kinds of data, and what an anchor can just take.
#include <tilefold/reducers/exact.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using detail::exact_format;

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

/// Calls body() with each instruction set of this machine.
template <class Body>
void with_each_target(const Body& body) {
  for (int i = 0; const char* name = detail::host::simd_target(i); ++i) {
    SCOPED_TRACE(name);
    detail::host::use_simd_target(name);
    body();
    detail::host::use_simd_target(nullptr);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// n items: multisets of one kind, or of a random one each.
template <class T>
std::vector<T> items_of(int kind, std::size_t n, std::mt19937_64& random) {
  std::vector<T> items;
  while (items.size() < n) {
    const auto k = kind < test::num_exact_kinds
                       ? kind
                       : static_cast<int>(random() % (test::num_exact_kinds - 1));
    const auto more = test::random_multiset<T>(static_cast<test::exact_kind>(k), 300, random);
    items.insert(items.end(), more.begin(), more.end());
  }
  items.resize(n);
  return items;
}

/// Expects all reducers of x and y to give what states give to which items are added one by one.
template <class T>
void expect_exact(const host_executor& host, const T* x, const T* y, std::int64_t n) {
  typename exact_format<T>::sum sum{};
  typename exact_format<T>::products squares{};
  typename exact_format<T>::products dot{};
  for (std::int64_t i = 0; i < n; ++i) {
    sum.add(detail::exact_item(x[i]));
    squares.add_product_of(detail::exact_item(x[i]), detail::exact_item(x[i]));
    dot.add_product_of(detail::exact_item(x[i]), detail::exact_item(y[i]));
  }
  SCOPED_TRACE(n);
  const auto expect = [](const T& got, const T& want) {
    EXPECT_EQ(bytes_of(got), bytes_of(want)) << static_cast<double>(static_cast<float>(got)) << " "
                                             << static_cast<double>(static_cast<float>(want));
  };
  expect(reduce(host, x, x + n, r::exact_sum{}), detail::value_of<T>(sum));
  expect(reduce(host, x, x + n, r::exact_mean{}), detail::mean_of<T>(sum, n));
  expect(reduce(host, x, x + n, r::exact_sum_of_squares{}), detail::value_of<T>(squares));
  expect(reduce(host, x, x + n, r::exact_l2{}), detail::root_of<T>(squares));
  expect(transform_reduce(host, x, x + n, y, r::exact_dot{}), detail::value_of<T>(dot));
  exact_accumulator<T> whole;
  whole.add(x, x + n);
  exact_accumulator<T> one_by_one;
  for (std::int64_t i = 0; i < n; ++i) one_by_one.add(x[i]);
  EXPECT_EQ(whole, one_by_one);
}

template <class T>
class ExactBlocks : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ExactBlocks, floats);

TYPED_TEST(ExactBlocks, AreSumsOfTheirItems) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const host_executor one(1);
  with_each_target([&] {
    for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
      SCOPED_TRACE(kind);
      const auto x = items_of<T>(kind, 9000, random);
      auto y = x;
      std::shuffle(y.begin(), y.end(), random);
      for (const std::int64_t n :
           {1, 11, 12, 13, 16, 31, 33, 63, 100, 511, 512, 513, 1025, 4095, 4096, 4097, 8970}) {
        const auto offset = random() % 30;
        expect_exact(one, x.data() + offset, y.data() + random() % 30, n);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

TYPED_TEST(ExactBlocks, OfManyThreads) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const host_executor host;
  for (int kind = 0; kind <= test::num_exact_kinds; kind += 2) {
    const auto x = items_of<T>(kind, 1000003, random);
    expect_exact(host, x.data(), x.data() + 3, 1000000);
  }
}

// One item that is rare stands anywhere in ordinary ones.
TYPED_TEST(ExactBlocks, WithOneRareItem) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const host_executor one(1);
  const auto layout = test::float_layout<T>::exponents;
  const T rare[] = {test::float_of<T>(false, layout, 0),        test::float_of<T>(true, layout, 0),
                    test::float_of<T>(true, layout, 5),         test::float_of<T>(false, 0, 1),
                    test::float_of<T>(true, layout - 1, ~0ull), test::float_of<T>(true, 0, 0)};
  with_each_target([&] {
    for (const T item : rare) {
      for (const bool zeros : {false, true}) {
        std::vector<T> x(5000, test::float_of<T>(zeros, 0, 0));
        if (!zeros) x = items_of<T>(1, 5000, random);
        x[random() % 5000] = item;
        expect_exact(one, x.data(), x.data(), 5000);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

// Every lane gets as much as an anchor leaves room for: ties, which all leave half a unit to the
// next level, and the largest numbers of a binade.
TEST(ExactBlocksOfDoubles, TakeWhatAnAnchorCanJustTake) {
  const host_executor one(1);
  with_each_target([&] {
    for (const double sign : {1.0, -1.0}) {
      for (int unit = 30; unit < 60; ++unit) {
        std::vector<double> x(10000, sign * std::ldexp(1.0, -unit));
        x[0] = sign;
        expect_exact(one, x.data(), x.data(), 10000);
        std::fill(x.begin() + 1, x.end(), sign * std::nextafter(std::ldexp(1.0, -unit), 0.0));
        expect_exact(one, x.data(), x.data(), 10000);
        std::fill(x.begin(), x.end(), sign * std::nextafter(2.0, 0.0));
        x[17] = sign * std::ldexp(1.0, -unit - 40);
        expect_exact(one, x.data(), x.data(), 10000);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

// Products whose lower half no double holds, at every place where digits begin to be lost.
TEST(ExactBlocksOfDoubles, KnowWhatProductsLose) {
  std::mt19937_64 random(test::seed());
  const host_executor one(1);
  with_each_target([&] {
    for (int exponent = 1; exponent < 1100; exponent += 3) {
      std::vector<double> x(200), y(200);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = test::float_of<double>(i % 3 == 0, std::min(exponent, 2046), random());
        y[i] = test::float_of<double>(i % 2 == 0, 1 + static_cast<int>(random() % 40), random());
        if (random() % 16 == 0) x[i] = 0;
      }
      expect_exact(one, x.data(), y.data(), 200);
      if (testing::Test::HasFailure()) return;
    }
  });
}

// Also where a block has to be cut again, or added item by item.
TEST(ExactBlocksOfFunctions, CallThemOnceForEveryItem) {
  std::mt19937_64 random(test::seed());
  for (const host_executor& host : {host_executor(1), host_executor()}) {
    for (const std::size_t n : {5u, 500u, 513u, 5000u, 300000u}) {
      auto x = items_of<float>(test::num_exact_kinds, n, random);
      x[n / 2] = std::numeric_limits<float>::infinity();
      std::atomic<std::int64_t> calls{0};
      const auto f = [&](float value) {
        calls.fetch_add(1, std::memory_order_relaxed);
        return 0.5f * value;
      };
      EXPECT_EQ(transform_reduce(host, x.begin(), x.end(), r::exact_sum{}, f),
                std::numeric_limits<float>::infinity());
      EXPECT_EQ(calls.exchange(0), static_cast<std::int64_t>(n));
      x[n / 2] = -0.0f;
      exact_accumulator<float> expected;
      for (const float item : x) expected.add(0.5f * item);
      EXPECT_EQ(bytes_of(transform_reduce(host, x.begin(), x.end(), r::exact_sum{}, f)),
                bytes_of(expected.value()));
      EXPECT_EQ(calls.load(), static_cast<std::int64_t>(n));
    }
  }
}

}  // namespace
}  // namespace tilefold
