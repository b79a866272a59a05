// SPDX-License-Identifier: Apache-2.0
//
// The verbs of one value over ranks that are threads, one by one: every rank gets the bits of the
// single call, with cuts anywhere and ranks that hold nothing. Reducers also against committed
// values, and exact accumulators of items that are dealt to ranks in any order.
#include <tilefold/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/count.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/extrema.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/statistics.hpp>
#include <tilefold/transform_reduce.hpp>

#include "golden/reducer_golden.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::thread_communicator;
using tilefold::test::random_cuts;
using tilefold::test::shape_stream;

/// Cuts that a test tries; with TILEFOLD_TEST_MANY_CUTS in the environment 10^5 of 2, 3 and 7 ranks
/// together, which takes many minutes. The first six are of more items.
int num_cuts(int ranks) {
  const bool many = ranks > 1 && std::getenv("TILEFOLD_TEST_MANY_CUTS") != nullptr;
  return 6 + (many ? 610000 / (ranks * ranks * ranks) : 0);
}

template <class T>
std::vector<T> random_items(std::size_t n, std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<T> x(n);
  for (T& v : x) {
    const auto number = static_cast<int>(bits.below(2001)) - 1000;
    if constexpr (std::is_floating_point_v<T>) {
      v = std::ldexp(static_cast<T>(number), static_cast<int>(bits.below(20)) - 15);
    } else {
      v = static_cast<T>(number);
    }
  }
  return x;
}

template <class T>
::testing::AssertionResult same_bits(const T& a, const T& b) {
  if constexpr (requires {
                  a.min;
                  a.max;
                }) {
    if (std::memcmp(&a.min, &b.min, sizeof a.min) != 0) return ::testing::AssertionFailure();
    return std::memcmp(&a.max, &b.max, sizeof a.max) == 0 ? ::testing::AssertionSuccess()
                                                          : ::testing::AssertionFailure();
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0 ? ::testing::AssertionSuccess()
                                              : ::testing::AssertionFailure() << a << " and " << b;
  }
}

// What a rank passes of x and y, or all of both.
template <class T>
struct items_of_call {
  const T* first;
  const T* last;
  const T* other;
};

// Calls check(name, verb), where verb(executor, items) is one call; then what its _into writes.
template <class T, class Check>
void each_verb(const Check& check) {
  const auto positive = [](T v) { return v > T(0); };
  const auto rare = [](T v) { return v > T(990); };
  const auto product = [](T a, T b) { return a * b; };
  const auto larger = [](T a, T b) { return a < b ? b : a; };
#define TILEFOLD_TEST_VERB(verb, ...)                                                 \
  check(#verb, [=](const auto& exec, const items_of_call<T>& x) {                     \
    return tilefold::verb(exec, x.first, x.last __VA_OPT__(, ) __VA_ARGS__);          \
  });                                                                                 \
  check(#verb "_into", [=](const auto& exec, const items_of_call<T>& x) {             \
    decltype(tilefold::verb(exec, x.first, x.last __VA_OPT__(, ) __VA_ARGS__)) out{}; \
    tilefold::verb##_into(exec, x.first, x.last, &out __VA_OPT__(, ) __VA_ARGS__);    \
    return out;                                                                       \
  })
  TILEFOLD_TEST_VERB(all_of, positive);
  TILEFOLD_TEST_VERB(any_of, rare);
  TILEFOLD_TEST_VERB(none_of, rare);
  TILEFOLD_TEST_VERB(count, T(0));
  TILEFOLD_TEST_VERB(count_if, positive);
  TILEFOLD_TEST_VERB(mean);
  TILEFOLD_TEST_VERB(variance, tilefold::divisor::population);
  TILEFOLD_TEST_VERB(norm);
  TILEFOLD_TEST_VERB(norm, r::l1{});
  TILEFOLD_TEST_VERB(logsumexp);
  TILEFOLD_TEST_VERB(min_value);
  TILEFOLD_TEST_VERB(max_value);
  TILEFOLD_TEST_VERB(minmax_value);
  TILEFOLD_TEST_VERB(reduce, tilefold::plus{});
  TILEFOLD_TEST_VERB(reduce, T(3), tilefold::maximum{});
#undef TILEFOLD_TEST_VERB
  check("inner_product", [=](const auto& exec, const items_of_call<T>& x) {
    return tilefold::inner_product(exec, x.first, x.last, x.other, T(1));
  });
  check("inner_product with operators", [=](const auto& exec, const items_of_call<T>& x) {
    return tilefold::inner_product(exec, x.first, x.last, x.other, T(1), larger, product);
  });
  check("inner_product_into", [=](const auto& exec, const items_of_call<T>& x) {
    T out{};
    tilefold::inner_product_into(exec, x.first, x.last, x.other, &out, T(1));
    return out;
  });
  check("transform_reduce_into", [=](const auto& exec, const items_of_call<T>& x) {
    T out{};
    tilefold::transform_reduce_into(exec, x.first, x.last, &out, T(2), tilefold::plus{},
                                    [](T v) { return v * v; });
    return out;
  });
  check("transform_reduce_into of two", [=](const auto& exec, const items_of_call<T>& x) {
    T out{};
    tilefold::transform_reduce_into(exec, x.first, x.last, x.other, &out, T(2));
    return out;
  });
}

template <class T>
class VerbsOverRanks : public testing::Test {};
using item_types = testing::Types<float, double, int, std::int64_t>;
TYPED_TEST_SUITE(VerbsOverRanks, item_types);

TYPED_TEST(VerbsOverRanks, HaveTheBitsOfOneCall) {
  SCOPED_TRACE(tilefold::test::seed());
  using item = TypeParam;
  constexpr std::int64_t most = 3000;
  const auto x = random_items<item>(most, tilefold::test::seed() + 1);
  const auto y = random_items<item>(most, tilefold::test::seed() + 2);
  for (const int ranks : {1, 2, 3, 7}) {
    thread_communicator::run(ranks, [&](thread_communicator& comm) {
      shape_stream bits(tilefold::test::seed());  // all ranks draw the same
      const tilefold::host_executor one(1);
      const auto all = tilefold::ranks(comm, one);
      for (int round = 0; round < num_cuts(ranks); ++round) {
        const std::int64_t n = 1 + bits.below(round % 2 == 0 || round >= 6 ? 20 : most - 1);
        const auto cuts = random_cuts(bits, n, ranks);
        const auto rank = static_cast<std::size_t>(comm.rank());
        const items_of_call<item> whole{x.data(), x.data() + n, y.data()};
        const items_of_call<item> mine{x.data() + cuts[rank], x.data() + cuts[rank + 1],
                                       y.data() + cuts[rank]};
        each_verb<item>([&](const char* name, const auto& verb) {
          EXPECT_TRUE(same_bits(verb(all, mine), verb(one, whole)))
              << name << " of " << n << " items, rank " << rank << " of " << ranks;
        });
      }
    });
  }
}

// Three ranks, cut at a third and behind the half.
struct fold_over_ranks {
  template <class Reducer, class T>
  auto operator()(const Reducer& reducer, const std::vector<T>& x) const {
    return over_ranks(x, [&](const auto& all, const T* first, const T* last, std::int64_t) {
      return tilefold::reduce(all, first, last, reducer);
    });
  }
  template <class Reducer, class T>
  auto operator()(const Reducer& reducer, const std::vector<T>& x, const std::vector<T>& y) const {
    return over_ranks(x, [&](const auto& all, const T* first, const T* last, std::int64_t begin) {
      return tilefold::transform_reduce(all, first, last, y.data() + begin, reducer);
    });
  }

 private:
  // The value of rank 0, if the others and a single call have its bits.
  template <class T, class Call>
  static auto over_ranks(const std::vector<T>& x, const Call& call) {
    const auto n = static_cast<std::int64_t>(x.size());
    const std::int64_t cuts[]{0, n / 3, n / 2 + 1, n};
    const tilefold::host_executor one(1);
    const auto expected = call(one, x.data(), x.data() + n, 0);
    std::vector<std::remove_const_t<decltype(expected)>> got(3, expected);
    thread_communicator::run(3, [&](thread_communicator& comm) {
      const std::int64_t begin = std::min(cuts[comm.rank()], n);
      const std::int64_t end = std::min(cuts[comm.rank() + 1], n);
      got[static_cast<std::size_t>(comm.rank())] =
          call(tilefold::ranks(comm, one), x.data() + begin, x.data() + end, begin);
    });
    for (const auto& value : got) {
      EXPECT_EQ(std::memcmp(&value, &expected, sizeof value), 0) << value << ", not " << expected;
    }
    return got[0];
  }
};

TEST(ReducersOverRanks, HaveTheCommittedValuesAndTheBitsOfOneCall) {
  tilefold::test::golden::expect_all_reducers(fold_over_ranks{});
}

// Sums that lose everything but their last bits if they are not exact.
template <class T>
std::vector<T> cancelling_items(std::size_t n, std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<T> x;
  while (x.size() + 1 < n) {
    const T v = std::ldexp(static_cast<T>(bits.below(1 << 20)), static_cast<int>(bits.below(60)));
    x.push_back(v);
    x.push_back(-v);
  }
  while (x.size() < n) x.push_back(std::ldexp(T(1), -20));
  return x;
}

template <class T>
class ExactOverRanks : public testing::Test {};
using float_types = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactOverRanks, float_types);

// Items are dealt to ranks one by one, at random: no rank has a contiguous part.
TYPED_TEST(ExactOverRanks, ItemsDealtInAnyOrderHaveTheBytesAndBitsOfOneCall) {
  SCOPED_TRACE(tilefold::test::seed());
  using item = TypeParam;
  using accumulator = tilefold::exact_accumulator<item>;
  constexpr std::size_t n = 5001;
  const auto x = cancelling_items<item>(n, tilefold::test::seed() + 3);
  accumulator whole;
  whole.add(x.begin(), x.end());
  const item sum = tilefold::reduce(x, r::exact_sum{});
  ASSERT_EQ(sum, std::ldexp(item(1), -20));
  for (const int ranks : {1, 2, 5, 16}) {
    thread_communicator::run(ranks, [&](thread_communicator& comm) {
      shape_stream bits(tilefold::test::seed());
      for (int round = 0; round < 5; ++round) {
        // The last rank has nothing in the first round.
        const std::int64_t dealt_to = round == 0 && ranks > 1 ? ranks - 1 : ranks;
        std::vector<item> mine;
        for (const item v : x) {
          if (bits.below(dealt_to) == comm.rank()) mine.push_back(v);
        }
        std::reverse(mine.begin(), mine.end());
        accumulator own;
        own.add(mine.begin(), mine.end());
        const auto bytes = own.to_bytes();
        std::vector<std::byte> gathered(bytes.size() * static_cast<std::size_t>(ranks));
        comm.all_gather(bytes.data(), gathered.data(), bytes.size());
        accumulator all;
        for (std::size_t at = 0; at < gathered.size(); at += bytes.size()) {
          all.merge(accumulator::from_bytes(std::span(gathered).subspan(at, bytes.size())));
        }
        EXPECT_EQ(all.to_bytes(), whole.to_bytes()) << ranks << " ranks, round " << round;
        EXPECT_TRUE(same_bits(all.value(), sum)) << ranks << " ranks, round " << round;
      }
    });
  }
}

// The reducer needs parts that are contiguous, and gives the same.
TYPED_TEST(ExactOverRanks, TheReducerOfContiguousPartsGivesTheSame) {
  using item = TypeParam;
  const auto x = cancelling_items<item>(777, 5);
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const auto all = tilefold::ranks(comm, one);
    const item* const first = x.data() + 259 * comm.rank();
    EXPECT_EQ(tilefold::reduce(all, first, first + 259, r::exact_sum{}), std::ldexp(item(1), -20));
  });
}

}  // namespace
