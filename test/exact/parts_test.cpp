// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers over parts, against MPFR: pieces that are cut anywhere, sent as bytes and merged
// in any grouping, ranks that are threads, and ranges that an executor adds to an accumulator.
// (Other reducers have this in piece_test.cpp and ranks_verbs_test.cpp.)
#include <tilefold/reducers/exact.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "many_items.hpp"
#include "mpfr.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::random_cuts;

/// What MPFR makes of the items, by every reducer.
template <class T>
struct real_results {
  T sum, mean, squares, l2;
  double wide_sum, wide_mean, wide_squares, wide_l2;

  explicit real_results(const std::vector<T>& items) {
    const T zero = test::zero_of(items);
    const auto rounded = [&]<class Result>(Result, const test::real& value) {
      if (value.is_zero()) return static_cast<Result>(static_cast<float>(zero));
      return value.template rounded<Result>();
    };
    test::real total, of_squares;
    for (const T x : items) {
      total.add(test::as_double(x));
      of_squares.add_product(test::as_double(x), test::as_double(x));
    }
    sum = rounded(T{}, total);
    wide_sum = rounded(0.0, total);
    total.divide(items.size());
    mean = rounded(T{}, total);
    wide_mean = rounded(0.0, total);
    // Squares of -0 are +0.
    squares = of_squares.template rounded<T>();
    wide_squares = of_squares.template rounded<double>();
    of_squares.root();
    l2 = of_squares.template rounded<T>();
    wide_l2 = of_squares.template rounded<double>();
  }
};

template <class T>
std::vector<T> random_items(std::mt19937_64& random) {
  const auto n = 1 + random() % (random() % 4 == 0 ? 3000 : 60);
  return test::items_of<T>(static_cast<int>(random() % (test::num_exact_kinds + 1)), n, random);
}

/// The value of pieces of random parts: made by one thread or many, in one call or two, merged with
/// neighbours in random order, every third by way of its bytes.
template <class T, class Op>
auto value_of_pieces(const std::vector<T>& x, Op op, std::mt19937_64& random) {
  const host_executor alone(1), all;
  const auto cuts = random_cuts(x.size(), 1 + static_cast<int>(random() % 6), random);
  std::vector<piece<T, Op>> pieces;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto length = static_cast<std::uint64_t>(cuts[i + 1] - cuts[i]);
    const std::int64_t middle = cuts[i] + static_cast<std::int64_t>(random() % (length + 1));
    const auto& exec = random() % 2 == 0 ? alone : all;
    pieces.push_back(reduce_piece(exec, x.data() + cuts[i], x.data() + middle, cuts[i], op));
    pieces.back().append(exec, x.data() + middle, x.data() + cuts[i + 1]);
  }
  while (pieces.size() > 1) {
    const std::size_t at = random() % (pieces.size() - 1);
    auto& next = pieces[at + 1];
    pieces[at].merge(random() % 3 == 0 ? next.from_bytes(next.to_bytes()) : next);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return pieces[0].value();
}

template <class T>
class ExactParts : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ExactParts, floats);

TYPED_TEST(ExactParts, OfPieces) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const auto x = random_items<T>(random);
    const real_results<T> expected(x);
    const auto value = [&](auto op) { return bytes_of(value_of_pieces(x, op, random)); };
    ASSERT_EQ(value(r::exact_sum{}), bytes_of(expected.sum));
    ASSERT_EQ(value(r::exact_sum<double>{}), bytes_of(expected.wide_sum));
    ASSERT_EQ(value(r::exact_mean{}), bytes_of(expected.mean));
    ASSERT_EQ(value(r::exact_mean<double>{}), bytes_of(expected.wide_mean));
    ASSERT_EQ(value(r::exact_sum_of_squares{}), bytes_of(expected.squares));
    ASSERT_EQ(value(r::exact_sum_of_squares<double>{}), bytes_of(expected.wide_squares));
    ASSERT_EQ(value(r::exact_l2{}), bytes_of(expected.l2));
    ASSERT_EQ(value(r::exact_l2<double>{}), bytes_of(expected.wide_l2));
  }
}

TYPED_TEST(ExactParts, OfRanks) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const auto x = random_items<T>(random);
    auto y = x;
    std::shuffle(y.begin(), y.end(), random);
    test::real dot;
    for (std::size_t i = 0; i < x.size(); ++i) {
      dot.add_product(test::as_double(x[i]), test::as_double(y[i]));
    }
    const bool cancels = dot.is_zero();
    const real_results<T> expected(x);
    const int size = 1 + static_cast<int>(random() % 6);
    const auto cuts = random_cuts(x.size(), size, random);
    thread_communicator::run(size, [&](thread_communicator& comm) {
      const host_executor one(1);
      const auto all = ranks(comm, one);
      const auto begin = cuts[static_cast<std::size_t>(comm.rank())];
      const T* const first = x.data() + begin;
      const T* const last = x.data() + cuts[static_cast<std::size_t>(comm.rank()) + 1];
      const auto value = [&](auto op) { return bytes_of(tilefold::reduce(all, first, last, op)); };
      EXPECT_EQ(value(r::exact_sum<double>{}), bytes_of(expected.wide_sum));
      EXPECT_EQ(value(r::exact_mean{}), bytes_of(expected.mean));
      EXPECT_EQ(value(r::exact_mean<double>{}), bytes_of(expected.wide_mean));
      EXPECT_EQ(value(r::exact_sum_of_squares{}), bytes_of(expected.squares));
      EXPECT_EQ(value(r::exact_l2{}), bytes_of(expected.l2));
      EXPECT_EQ(value(r::exact_l2<double>{}), bytes_of(expected.wide_l2));
      const auto product = [&](auto op) {
        return transform_reduce(all, first, last, y.data() + begin, op);
      };
      if (cancels) {
        EXPECT_EQ(test::as_double(product(r::exact_dot{})), 0.0);
      } else {
        EXPECT_EQ(bytes_of(product(r::exact_dot{})), bytes_of(dot.rounded<T>()));
        EXPECT_EQ(bytes_of(product(r::exact_dot<double>{})), bytes_of(dot.rounded<double>()));
      }
      const auto both = tilefold::reduce(all, first, last, r::fuse(r::exact_l2{}, r::exact_mean{}));
      EXPECT_EQ(bytes_of(both.template get<0>()), bytes_of(expected.l2));
      EXPECT_EQ(bytes_of(both.template get<1>()), bytes_of(expected.mean));
    });
    if (testing::Test::HasFailure()) return;
  }
}

// Runs of keys that cross ranks, each a mean and a norm.
TYPED_TEST(ExactParts, OfKeysOverRanks) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const auto x = random_items<T>(random);
    const std::size_t run = 1 + random() % 400;
    std::vector<int> keys;
    std::vector<std::string> means, norms;
    for (std::size_t i = 0; i < x.size(); ++i) keys.push_back(static_cast<int>(i / run));
    for (std::size_t i = 0; i < x.size(); i += run) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(i);
      const auto length = static_cast<std::ptrdiff_t>(std::min(run, x.size() - i));
      const real_results<T> expected(std::vector<T>(first, first + length));
      means.push_back(bytes_of(expected.mean));
      norms.push_back(bytes_of(expected.wide_l2));
    }
    const int size = 1 + static_cast<int>(random() % 5);
    const auto cuts = random_cuts(x.size(), size, random);
    std::vector<std::vector<std::string>> got_means(static_cast<std::size_t>(size));
    auto got_norms = got_means;
    thread_communicator::run(size, [&](thread_communicator& comm) {
      const host_executor one(1);
      const auto all = ranks(comm, one);
      const auto rank = static_cast<std::size_t>(comm.rank());
      const std::int64_t begin = cuts[rank];
      const std::int64_t end = cuts[rank + 1];
      std::vector<int> keys_out(x.size() + 1);
      std::vector<T> of_means(x.size() + 1);
      std::vector<double> of_norms(x.size() + 1);
      const auto runs = reduce_by_key(all, keys.data() + begin, keys.data() + end, x.data() + begin,
                                      keys_out.data(), of_means.data(), r::exact_mean{});
      EXPECT_EQ(reduce_by_key(all, keys.data() + begin, keys.data() + end, x.data() + begin,
                              keys_out.data(), of_norms.data(), r::exact_l2<double>{}),
                runs);
      for (std::size_t s = 0; s < static_cast<std::size_t>(runs); ++s) {
        got_means[rank].push_back(bytes_of(of_means[s]));
        got_norms[rank].push_back(bytes_of(of_norms[s]));
      }
    });
    const auto joined = [](const std::vector<std::vector<std::string>>& of_ranks) {
      std::vector<std::string> all;
      for (const auto& some : of_ranks) all.insert(all.end(), some.begin(), some.end());
      return all;
    };
    ASSERT_EQ(joined(got_means), means);
    ASSERT_EQ(joined(got_norms), norms);
  }
}

TEST(ExactPartsOfComplex, OfPiecesAndRanks) {
  using complex = std::complex<double>;
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const auto re = random_items<double>(random);
    auto im = re;
    std::shuffle(im.begin(), im.end(), random);
    for (double& v : im) v = -v;
    std::vector<complex> z;
    for (std::size_t i = 0; i < re.size(); ++i) z.emplace_back(re[i], im[i]);
    const real_results<double> of_re(re), of_im(im);
    const auto sum = bytes_of(complex(of_re.sum, of_im.sum));
    const auto mean = bytes_of(complex(of_re.mean, of_im.mean));
    ASSERT_EQ(bytes_of(value_of_pieces(z, r::exact_sum{}, random)), sum);
    ASSERT_EQ(bytes_of(value_of_pieces(z, r::exact_mean{}, random)), mean);
    const auto cuts = random_cuts(z.size(), 3, random);
    thread_communicator::run(3, [&](thread_communicator& comm) {
      const host_executor one(1);
      const complex* const first = z.data() + cuts[static_cast<std::size_t>(comm.rank())];
      const complex* const last = z.data() + cuts[static_cast<std::size_t>(comm.rank()) + 1];
      EXPECT_EQ(bytes_of(tilefold::reduce(ranks(comm, one), first, last, r::exact_sum{})), sum);
      EXPECT_EQ(bytes_of(tilefold::reduce(ranks(comm, one), first, last, r::exact_mean{})), mean);
    });
  }
}

/// The accumulator that is given items one by one.
template <class T>
exact_accumulator<T> one_by_one(const std::vector<T>& items) {
  exact_accumulator<T> sum;
  for (const T x : items) sum.add(x);
  return sum;
}

template <class T>
class ExactAccumulatorByExecutors : public testing::Test {};
using summed_types =
    testing::Types<float, double, half, bfloat16, std::int32_t, std::uint64_t, std::int8_t>;
TYPED_TEST_SUITE(ExactAccumulatorByExecutors, summed_types);

TYPED_TEST(ExactAccumulatorByExecutors, HasTheBytesOfOneThatTakesItemsOneByOne) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const host_executor alone(1), all;
  for (const std::size_t n : {1u, 2u, 100u, 5000u, 100'003u}) {
    for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
      SCOPED_TRACE(testing::Message() << n << ", " << kind);
      auto items = test::any_items<T>(kind, n, random);
      const auto expected = one_by_one(items);
      std::shuffle(items.begin(), items.end(), random);
      const auto cuts = random_cuts(n, 3, random);
      exact_accumulator<T> sum;
      sum.add(alone, items.data() + cuts[2], items.data() + cuts[3]);
      sum.add(all, items.data(), items.data() + cuts[1]);
      sum.add(host_executor(2), std::vector<T>(items.data() + cuts[1], items.data() + cuts[2]));
      ASSERT_EQ(sum, expected);
      ASSERT_EQ(sum.to_bytes(), expected.to_bytes());
    }
  }
}

TEST(ExactAccumulatorByAnExecutor, TakesWhatIsNotFiniteAndNothing) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const host_executor exec;
  for (const std::vector<float>& items : std::vector<std::vector<float>>{
           {}, {-0.0f, -0.0f}, {infinity, 1.0f}, {infinity, -infinity}, {nan, 1.0f}, {0.0f}}) {
    exact_accumulator<float> sum;
    sum.add(exec, items);
    EXPECT_EQ(sum.to_bytes(), one_by_one(items).to_bytes());
  }
}

TEST(ExactAccumulatorByAnExecutor, IsAsItWasAfterAnException) {
  const std::vector<float> items{1.0f, 2.0f};
  exact_accumulator<float> sum(0.5f);
  EXPECT_THROW(sum.add(host_executor(1), items.data() + 2, items.data()), invalid_range_error);
  EXPECT_EQ(sum, exact_accumulator<float>(0.5f));
}

}  // namespace
}  // namespace tilefold
