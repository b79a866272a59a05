// SPDX-License-Identifier: Apache-2.0
//
// Every verb on the host with each of its allocations failing in turn: std::bad_alloc comes out,
// nothing has been written, and the call can be made again.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

#include "support/failing_new.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

constexpr std::int64_t most = 700000;  // more than eight blocks of floats, which all threads share
constexpr float before = -77.0f;

class VerbsWithoutMemory : public testing::TestWithParam<int> {
 protected:
  // Whether call(out) writes all of its n results or none.
  template <class T = float, class Call>
  static int expect_all_or_nothing(std::int64_t n, const Call& call) {
    std::vector<T> out(static_cast<std::size_t>(n), static_cast<T>(before));
    const std::vector<T> untouched = out;
    const int failed = fail_each_allocation(
        [&] {
          try {
            call(out.data());
            return true;
          } catch (const std::bad_alloc&) {
            return false;
          }
        },
        [&] { EXPECT_EQ(out, untouched) << "half written"; });
    EXPECT_NE(out, untouched);
    return failed;
  }

  const host_executor exec_{GetParam()};
  const std::vector<float> x_ = std::vector<float>(most, 1.0f);
};

TEST_P(VerbsWithoutMemory, OfARange) {
  const auto check = [&](const auto& op) {
    expect_all_or_nothing<double>(
        1, [&](double* out) { reduce_into(exec_, x_.data(), x_.data() + most, out, op); });
  };
  check(plus{});
  check(r::mean{});
  check(r::variance{});
  check(r::exact_sum{});
  check(r::logsumexp{});
  check(r::kurtosis{});
  check(sequential_blocks<8192>(plus{}));
  const std::vector<int> whole(most, 3);
  expect_all_or_nothing<double>(1, [&](double* out) {
    *out = static_cast<double>(
        reduce(exec_, whole.data(), whole.data() + most, r::checked_sum{}).value);
  });
  expect_all_or_nothing<double>(1, [&](double* out) {
    *out = inner_product(exec_, x_.data(), x_.data() + most, x_.data(), 0.0);
  });
  expect_all_or_nothing<double>(1, [&](double* out) {
    *out = transform_reduce(exec_, x_.data(), x_.data() + most, 0.0, plus{},
                            [](float v) { return v + 1.0; });
  });
}

// Two long ones among the short.
TEST_P(VerbsWithoutMemory, OfSegments) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= 500; ++i) offsets.push_back(7 * i);
  offsets.push_back(350000);
  offsets.push_back(350000);
  offsets.push_back(most);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto check = [&](const auto& op) {
    expect_all_or_nothing<double>(segments, [&](double* out) {
      segmented_reduce(exec_, x_.data(), offsets.data(), segments, out, op);
    });
    expect_all_or_nothing<double>(segments, [&](double* out) {
      segmented_reduce(checked(exec_, most), x_.data(), offsets.data(), segments, out, op);
    });
  };
  check(plus{});
  check(if_empty(r::mean{}, -1.0));
  check(r::exact_sum{});
  check(r::sum{});
  check(sequential_blocks<8192>(plus{}));
}

TEST_P(VerbsWithoutMemory, OfArraysByThemselves) {
  const std::vector<const float*> arrays{x_.data(), x_.data() + 5, x_.data()};
  const std::vector<std::int64_t> lengths{3, most - 5, most};
  expect_all_or_nothing<float>(
      3, [&](float* out) { batched_reduce(exec_, arrays.data(), lengths.data(), 3, out, plus{}); });
}

TEST_P(VerbsWithoutMemory, OfColumns) {
  const auto check = [&](const auto& op, const std::vector<std::int64_t>& extents, int axis) {
    std::vector<std::int64_t> kept = extents;
    kept.erase(kept.begin() + axis);
    std::int64_t results = 1;
    for (const std::int64_t extent : kept) results *= extent;
    return expect_all_or_nothing<double>(results, [&](double* out) {
      axis_reduce(exec_, row_major(x_.data(), extents), row_major(out, kept), axis, op);
    });
  };
  int failures = 0;
  for (const auto& [extents, axis] : {std::pair<std::vector<std::int64_t>, int>{{3, 80000}, 0},
                                      {{40, 60, 100}, 1},
                                      {{20000, 33}, 0},
                                      {{5, 130000}, 1}}) {
    failures += check(plus{}, extents, axis);
    failures += check(r::mean{}, extents, axis);
    failures += check(sequential_blocks<8192>(plus{}), extents, axis);
    failures += check(r::variance{}, extents, axis);
    failures += check(r::exact_mean{}, extents, axis);
    failures += check(maximum{}, extents, axis);
  }
  EXPECT_GT(failures, 20);
}

TEST_P(VerbsWithoutMemory, OfRunsOfKeys) {
  std::vector<int> keys(most);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i < 999 ? i : 1000);
  expect_all_or_nothing<float>(2000, [&](float* out) {
    (void)reduce_by_key(exec_, keys.data(), keys.data() + most, x_.data(), out + 1000, out);
  });
}

TEST_P(VerbsWithoutMemory, OfRows) {
  expect_all_or_nothing<float>(
      most, [&](float* out) { log_softmax_into(exec_, x_.data(), 2, most / 2, out); });
  const auto less = [](float x, double mean) { return static_cast<float>(x - mean); };
  for (const std::int64_t rows : {2, 1000}) {
    expect_all_or_nothing<float>(most, [&](float* out) {
      transform_rows_into(exec_, x_.data(), rows, most / rows, out, r::mean{}, less);
    });
  }
}

TEST_P(VerbsWithoutMemory, OfPieces) {
  const auto check = [&](const auto& op) {
    auto part = reduce_piece(exec_, x_.data(), x_.data() + 1000, 5, op);
    const auto stays = [&](const auto& call) {
      const auto bytes = part.to_bytes();
      fail_each_allocation(
          [&] {
            try {
              call();
              return true;
            } catch (const std::bad_alloc&) {
              return false;
            }
          },
          [&] { EXPECT_EQ(part.to_bytes(), bytes); });
    };
    const auto next = reduce_piece(exec_, x_.data(), x_.data() + 77, 1005, op);
    stays([&] { part.merge(next); });
    stays([&] { part.append(exec_, x_.data(), x_.data() + most); });
    const auto bytes = part.to_bytes();
    stays([&] { part = part.from_bytes(bytes); });
  };
  check(plus{});
  check(r::mean{});
  check(r::exact_sum{});
}

TEST_P(VerbsWithoutMemory, OfAccumulators) {
  exact_accumulator<float> sum;
  sum.add(1.0f);
  const auto bytes = sum.to_bytes();
  fail_each_allocation(
      [&] {
        try {
          sum.add(exec_, x_.data(), x_.data() + most);
          return true;
        } catch (const std::bad_alloc&) {
          return false;
        }
      },
      [&] { EXPECT_EQ(sum.to_bytes(), bytes); });
  EXPECT_EQ(sum.value(), static_cast<float>(most + 1));
}

INSTANTIATE_TEST_SUITE_P(Threads, VerbsWithoutMemory, testing::Values(1, 3));

}  // namespace
}  // namespace tilefold::test
