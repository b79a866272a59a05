// SPDX-License-Identifier: Apache-2.0
//
// Flush-to-zero, denormals-are-zero and rounding modes in the processor's control register: every
// fold has the bits that it has in the default mode, whatever the caller's mode is, which is there
// again afterwards. The mode is set around the calls alone.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <list>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

#include "exact/random_items.hpp"
#include "support/float_mode.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

#if defined(TILEFOLD_TEST_FLOAT_MODES)

namespace tilefold::test {
namespace {

namespace r = reducers;

const control_bits modes[] = {
    as_started | flush_to_zero,     as_started | denormals_are_zero,
    as_started | round_downward,    as_started | round_upward,
    as_started | round_toward_zero, as_started | flush_to_zero | denormals_are_zero | round_upward};

template <class T>
std::string bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string bytes_of(const long double& value) {
  return {reinterpret_cast<const char*>(&value), 10};  // not its padding
}
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string all;
  for (const T& value : values) all += bytes_of(value);
  return all;
}

// Expects what fold(executor) returns to have the same bytes in every mode. (An integer sum or a
// minimum may be the same anyway; where a mode moves it, it is seen.)
template <class Fold>
void is_the_same(const char* what, Fold fold) {
  for (const int threads : {1, 4}) {
    const host_executor exec(threads);
    ASSERT_EQ(control_bits_now(), as_started);
    const std::string expected = bytes_of(fold(exec));
    for (const control_bits mode : modes) {
      std::string found;
      {
        const float_mode set(mode);
        const auto value = fold(exec);
        EXPECT_EQ(control_bits_now(), mode) << what << " left another mode behind";
        found = bytes_of(value);
      }
      EXPECT_TRUE(found == expected) << what << " in mode " << mode << ", threads: " << threads;
    }
  }
}

// Numbers of every size that a sum of floats can see, a quarter of them subnormal; and of doubles.
template <class T>
std::vector<T> mixed(std::size_t n) {
  std::mt19937_64 random(seed());
  std::vector<T> items;
  const auto tiny = static_cast<double>(std::numeric_limits<T>::denorm_min());
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    items.push_back(i / 64 % 4 == 0 ? static_cast<T>(std::round(x * 1000) * tiny)
                                    : static_cast<T>(i / 64 % 4 == 1 ? x * tiny * 3e7 : x));
  }
  return items;
}

const std::vector<float> floats = mixed<float>(200000);
const std::vector<double> doubles = mixed<double>(100000);
const std::vector<float> tiny(floats.begin(), floats.begin() + 64);  // subnormal, all of them

struct pair_of_floats {
  float u, v;
};

TEST(HostFloatMode, DoesNotMatterToSums) {
  is_the_same("floats", [](auto& e) { return reduce(e, floats); });
  is_the_same("subnormal floats", [](auto& e) { return reduce(e, tiny); });
  is_the_same("doubles", [](auto& e) { return reduce(e, doubles); });
  const std::vector<long double> longer(doubles.begin(), doubles.end());
  is_the_same("long doubles", [&](auto& e) { return reduce(e, longer); });
  is_the_same("floats in double", [](auto& e) { return reduce<double>(e, floats); });
  is_the_same("doubles in float", [](auto& e) { return reduce<float>(e, doubles); });
  is_the_same("an initial value", [](auto& e) { return reduce<float>(e, floats, 0.1); });
  is_the_same("a subnormal initial value",
              [](auto& e) { return reduce<double>(e, tiny, tiny[1]); });
  is_the_same("nothing but an initial value",
              [](auto& e) { return reduce<float>(e, floats.begin(), floats.begin(), 0.1); });
  is_the_same("a narrow result", [](auto& e) {
    float out;
    reduce_into(e, doubles.begin(), doubles.end(), &out);
    return out;
  });
  std::vector<half> halves;
  for (int i = 0; i < 3000; ++i) halves.push_back(half(static_cast<float>(i) * 0x1p-24f));
  is_the_same("half", [&](auto& e) { return reduce(e, halves); });
  is_the_same("minimum", [](auto& e) { return reduce(e, tiny, minimum{}); });
  is_the_same("products", [](auto& e) { return reduce(e, tiny, 1e30f, std::multiplies<>()); });
}

TEST(HostFloatMode, DoesNotMatterToFunctionsAndOperatorsOfTheCallers) {
  is_the_same("a function", [](auto& e) {
    return transform_reduce(e, floats, 0.0f, std::plus<>(), [](float x) { return x * 0.1f; });
  });
  is_the_same("two ranges", [](auto& e) {
    return inner_product(e, floats.begin(), floats.end(), floats.begin(), 0.0f);
  });
  is_the_same("an operator", [](auto& e) {
    return reduce(e, floats, [](float a, float b) { return a * 0.5f + b; });
  });
  std::vector<pair_of_floats> pairs;
  for (const float x : floats) pairs.push_back({x, 1.0f / (x + 3.0f)});
  is_the_same("a struct", [&](auto& e) {
    return reduce(e, pairs, [](const pair_of_floats& a, const pair_of_floats& b) {
      return pair_of_floats{a.u + b.u, a.v + b.v};
    });
  });
  const auto third = r::make_reducer([](int x) { return x; }, [](int a, int b) { return a + b; },
                                     [](int sum) { return sum / 3.0; });
  is_the_same("a projection", [&](auto& e) { return reduce(e, std::vector<int>(8, 1), third); });
}

TEST(HostFloatMode, DoesNotMatterToReducers) {
  const auto of_floats_and_doubles = [](const char* what, auto reducer) {
    is_the_same(what, [&](auto& e) { return reduce(e, floats, reducer); });
    is_the_same(what, [&](auto& e) { return reduce(e, tiny, reducer); });
    is_the_same(what, [&](auto& e) { return reduce(e, doubles, reducer); });
  };
  of_floats_and_doubles("mean", r::mean());
  of_floats_and_doubles("variance", r::variance());
  of_floats_and_doubles("kurtosis", r::kurtosis());
  of_floats_and_doubles("l2", r::l2());
  of_floats_and_doubles("logsumexp", r::logsumexp());
  of_floats_and_doubles("compensated_sum", r::compensated_sum());
  of_floats_and_doubles("exact_sum", r::exact_sum<>());
  is_the_same("arg_min", [](auto& e) { return reduce(e, tiny, r::arg_min<>()).index; });
  of_floats_and_doubles("minmax", r::minmax());
  is_the_same("fuse", [](auto& e) {
    const auto found = reduce(e, floats, r::fuse(r::sum(), r::variance()));
    return std::vector<double>{found.template get<0>(), found.template get<1>()};
  });
  is_the_same("count", [](auto& e) { return count(e, tiny, 0.0f); });
  is_the_same("any", [](auto& e) { return reduce(e, std::vector<float>(9, tiny[1]), r::any<>()); });
}

TEST(HostFloatMode, DoesNotMatterToSegmentsRunsAndAxes) {
  is_the_same("segments", [](auto& e) {
    std::vector<float> out(2000);
    segmented_reduce(e, floats.begin(), 2000, 100, out.begin());
    return out;
  });
  is_the_same("segments by offsets", [](auto& e) {
    const std::vector<int> offsets{0, 7, 7, 100, 150000, 200000};
    std::vector<double> out(5);
    segmented_reduce(e, floats.begin(), offsets.begin(), 5, out.begin(), r::logsumexp());
    return out;
  });
  is_the_same("arrays", [](auto& e) {
    const std::vector<const float*> arrays{floats.data() + 5, tiny.data()};
    const std::vector<int> lengths{100000, 64};
    std::vector<float> out(2);
    batched_reduce(e, arrays.begin(), lengths.begin(), 2, out.begin());
    return out;
  });
  // Subnormal keys differ, although they are zero to a processor that takes them so.
  std::vector<float> keys;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    keys.push_back(static_cast<float>(i / 1000) * std::numeric_limits<float>::denorm_min());
  }
  is_the_same("keys", [&](auto& e) {
    std::vector<float> sums(floats.size()), keys_out(floats.size());
    const auto runs =
        reduce_by_key(e, keys.begin(), keys.end(), floats.begin(), keys_out.begin(), sums.begin());
    sums.push_back(static_cast<float>(runs));
    return sums;
  });
  for (const int axis : {0, 1}) {
    is_the_same("axes", [&](auto& e) {
      std::vector<float> out(axis == 0 ? 500 : 400);
      const test_view matrix{floats.data(), right_layout({400, 500})};
      const test_view results{out.data(), right_layout({axis == 0 ? 500 : 400})};
      axis_reduce(e, matrix, results, axis);
      return out;
    });
  }
  is_the_same("rows", [](auto& e) {
    std::vector<float> out(floats.size());
    log_softmax(e, floats.data(), 2000, 100, out.data());
    return out;
  });
}

TEST(HostFloatMode, DoesNotMatterToPieces) {
  is_the_same("pieces", [](auto& e) {
    auto whole = reduce_piece(e, floats.begin(), floats.begin() + 77777, 0);
    auto rest = reduce_piece(e, floats.begin() + 77777, floats.begin() + 99999, 77777);
    rest.append(e, floats.begin() + 99999, floats.end());
    whole.merge(rest);
    return whole.value(0.1);
  });
  is_the_same("exact accumulators", [](auto& e) {
    exact_accumulator<double> sum;
    sum.add(e, doubles);
    sum.add(doubles);
    return sum.value();
  });
}

// The mode is the caller's again if a function of the caller's throws; flags that were raised stay.
TEST(HostFloatMode, IsTheCallersAgain) {
  const std::vector<int> items(1000, 1);
  for (const control_bits mode : modes) {
    const float_mode set(mode);
    control_bits in_fold = mode;
    const auto look = [&](int a, int b) {
      in_fold = control_bits_now();
      return a + b;
    };
    EXPECT_EQ(reduce(host_executor(1), items, look), 1000);
    EXPECT_EQ(in_fold, as_started);
    const auto fail = [](int, int) -> int { throw std::runtime_error("an operator's"); };
    EXPECT_THROW((void)reduce(host_executor(1), items, fail), std::runtime_error);
    EXPECT_EQ(control_bits_now(), mode);
  }
  std::fesetround(FE_UPWARD);  // of long doubles, too
  std::feclearexcept(FE_ALL_EXCEPT);
  const float inf = reduce(std::vector<float>{3e38f, 3e38f});
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  volatile long double one = 1.0L;
  EXPECT_GT(one + 0x1p-80L, 1.0L);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(inf, INFINITY);
}

#if defined(__SSE__)
// Sums of doubles that leave the range on the way overflow on purpose.
TEST(HostFloatMode, TrapsAreOffInAFold) {
  constexpr control_bits traps_overflow = as_started & ~(1u << 10);
  const std::vector<double> far(1024, 1e308);  // parts of equal lengths have equal means
  const float_mode set(traps_overflow);
  const double mean = tilefold::mean(far), variance = tilefold::variance(far);
  const auto by_threads = tilefold::mean(host_executor(3), far);
  EXPECT_EQ(control_bits_now(), traps_overflow);
  EXPECT_EQ(mean, by_threads);
  EXPECT_EQ(variance, 0);
}
#endif

template <class T>
class HostFloatModeOfAccumulators : public testing::Test {};
using accumulated = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(HostFloatModeOfAccumulators, accumulated);

// Equal items make equal bytes, however they are added: subnormal numbers, beside others and alone,
// and numbers far below the largest.
TYPED_TEST(HostFloatModeOfAccumulators, IsOfNoAccount) {
  using T = TypeParam;
  std::mt19937_64 random(seed());
  for (const int exponents : {1, 2, 20, float_layout<T>::exponents}) {
    std::vector<T> items;
    for (int i = 0; i < 1000; ++i) {
      const int exponent = static_cast<int>(random() % static_cast<unsigned>(exponents));
      items.push_back(float_of<T>(random() % 2 == 0, exponent, random()));
    }
    exact_accumulator<T> expected;
    for (const T x : items) expected.add(x);
    const auto value = expected.value();
    const auto bytes_of = [](const auto& x) {
      return std::string(reinterpret_cast<const char*>(&x), sizeof x);
    };
    ASSERT_NE(bytes_of(value), bytes_of(T{}));
    for (const control_bits mode : modes) {
      exact_accumulator<T> at_once, of_range, one_by_one, of_others;
      std::string of_value;
      {
        const float_mode set(mode);
        at_once.add(items.begin(), items.end());
        of_range.add(items);
        for (const T x : items) one_by_one.add(x);
        of_others.add(std::list<T>(items.begin(), items.end()));
        of_value = bytes_of(at_once.value());
      }
      EXPECT_EQ(at_once.to_bytes(), expected.to_bytes()) << exponents << ", " << mode;
      EXPECT_EQ(of_range.to_bytes(), expected.to_bytes()) << exponents << ", " << mode;
      EXPECT_EQ(one_by_one.to_bytes(), expected.to_bytes()) << exponents << ", " << mode;
      EXPECT_EQ(of_others.to_bytes(), expected.to_bytes()) << exponents << ", " << mode;
      EXPECT_EQ(of_value, bytes_of(value)) << exponents << ", " << mode;
    }
  }
}

}  // namespace
}  // namespace tilefold::test

#endif
