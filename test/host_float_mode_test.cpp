// SPDX-License-Identifier: Apache-2.0
//
// Flush-to-zero, denormals-are-zero and rounding modes in the processor's control register: a build
// without NDEBUG refuses to fold anything but integers, one with NDEBUG does not look. Exact
// accumulators take items in any mode. The program debug_tests compiles this file without NDEBUG,
// whatever the build type is.
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <list>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "exact/random_items.hpp"
#include "support/float_mode.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

#if defined(TILEFOLD_TEST_FLOAT_MODES)

namespace tilefold::test {
namespace {

namespace r = reducers;

// What a fold with the register at `value` says; "" if it throws nothing.
template <class Fold>
std::string complaint(control_bits value, Fold fold) {
  const float_mode set(value);
  try {
    fold();
  } catch (const float_mode_error& e) {
    return e.what();
  }
  return "";
}

struct named_mode {
  control_bits bits;
  const char* says;
};

const named_mode refused[] = {
    {as_started | flush_to_zero, "subnormal numbers would count as zero"},
    {as_started | denormals_are_zero, "subnormal numbers would count as zero"},
    {as_started | flush_to_zero | denormals_are_zero, "subnormal numbers would count as zero"},
    {as_started | round_downward, "another rounding than to nearest even"},
    {as_started | round_upward, "another rounding than to nearest even"},
    {as_started | round_toward_zero, "another rounding than to nearest even"},
};

// Expects `fold` to be refused in every mode but the one that processors start with; or, in a build
// that does not look, in none.
template <class Fold>
void is_looked_at(const char* what, Fold fold) {
  EXPECT_EQ(complaint(as_started, fold), "") << what;
  for (const named_mode& mode : refused) {
    const std::string text = complaint(mode.bits, fold);
#if defined(NDEBUG)
    EXPECT_EQ(text, "") << what;
#else
    char digits[16];
    std::snprintf(digits, sizeof digits, "0x%04x", static_cast<unsigned>(mode.bits));
    EXPECT_NE(text.find(std::string("of this thread is ") + digits), std::string::npos)
        << what << " in mode " << digits << ": " << text;
    EXPECT_NE(text.find(mode.says), std::string::npos) << what << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
#endif
  }
}

struct pair_of_floats {
  float u, v;
};

const std::vector<float> floats(1000, std::numeric_limits<float>::denorm_min());

TEST(HostFloatMode, IsNotRefusedAsProcessorsStart) {
  EXPECT_EQ(complaint(as_started,
                      [] {
                        EXPECT_EQ(tilefold::reduce(floats),
                                  1000 * std::numeric_limits<float>::denorm_min());
                      }),
            "");
#if defined(__SSE__)
  // The flags of earlier operations say nothing of the mode.
  EXPECT_EQ(complaint(as_started | exception_flags, [] { (void)tilefold::reduce(floats); }), "");
#endif
}

TEST(HostFloatMode, IsLookedAtBeforeSumsOfFloatingValues) {
  is_looked_at("floats", [] { (void)tilefold::reduce(floats); });
  is_looked_at("two threads", [] { (void)tilefold::reduce(host_executor(2), floats); });
  is_looked_at("half", [] { (void)tilefold::reduce(std::vector<half>(9)); });
  is_looked_at("complex", [] { (void)tilefold::reduce(std::vector<std::complex<double>>(9)); });
  is_looked_at("floats of integers", [] {
    (void)tilefold::transform_reduce(std::vector<int>(9, 3), 0.0f, std::plus<>(),
                                     [](int x) { return static_cast<float>(x) * 0.1f; });
  });
}

TEST(HostFloatMode, IsLookedAtBeforeReducers) {
  is_looked_at("mean", [] { (void)tilefold::reduce(floats, r::mean()); });
  is_looked_at("mean of integers", [] { (void)tilefold::reduce(std::vector<int>(9), r::mean()); });
  is_looked_at("l2", [] { (void)tilefold::reduce(floats, r::l2()); });
  is_looked_at("compensated_sum", [] { (void)tilefold::reduce(floats, r::compensated_sum()); });
  is_looked_at("fuse", [] { (void)tilefold::reduce(floats, r::fuse(r::sum(), r::variance())); });
  is_looked_at("arg_min", [] { (void)tilefold::reduce(floats, r::arg_min<>()); });
  const auto third = r::make_reducer([](int x) { return x; }, [](int a, int b) { return a + b; },
                                     [](int sum) { return sum / 3.0; });
  is_looked_at("a projection of integers",
               [&] { (void)tilefold::reduce(std::vector<int>(9), third); });
}

TEST(HostFloatMode, IsLookedAtBeforeFoldsOfOwnStructs) {
  const std::vector<pair_of_floats> pairs(9);
  is_looked_at("structs", [&] {
    (void)tilefold::reduce(pairs, [](const pair_of_floats& a, const pair_of_floats& b) {
      return pair_of_floats{a.u + b.u, a.v + b.v};
    });
  });
}

// Their accumulators are integers, but a subnormal number taken as zero is one more zero.
TEST(HostFloatMode, IsLookedAtBeforeQuestionsAboutFloatingValues) {
  is_looked_at("count", [] { (void)tilefold::count(floats.begin(), floats.end(), 0.0f); });
  is_looked_at("any", [] { (void)tilefold::reduce(floats, r::any<>()); });
  const std::vector<int> ones(floats.size(), 1);
  std::vector<float> keys(floats.size());
  std::vector<int> sums(floats.size());
  is_looked_at("keys", [&] {
    (void)tilefold::reduce_by_key(floats.begin(), floats.end(), ones.begin(), keys.begin(),
                                  sums.begin());
  });
}

TEST(HostFloatMode, IsLookedAtBeforeSegmentsRunsAndAxes) {
  const std::vector<int> keys(floats.size(), 1);
  std::vector<int> keys_out(floats.size());
  std::vector<float> out(floats.size());
  is_looked_at("segments", [&] { segmented_reduce(floats.begin(), 100, 10, out.begin()); });
  is_looked_at("by key", [&] {
    (void)reduce_by_key(keys.begin(), keys.end(), floats.begin(), keys_out.begin(), out.begin());
  });
  const test_view matrix{floats.data(), right_layout({10, 100})};
  const test_view column_sums{out.data(), right_layout({100})};
  is_looked_at("axes", [&] { axis_reduce(host_executor(), matrix, column_sums, 0); });
}

#if !defined(NDEBUG)
TEST(HostFloatMode, ThatIsRefusedLeavesTheOutputAlone) {
  for (const named_mode& mode : refused) {
    float out = -1.0f;
    const auto fold = [&] { reduce_into(host_executor(), floats.begin(), floats.end(), &out); };
    EXPECT_NE(complaint(mode.bits, fold), "");
    EXPECT_EQ(out, -1.0f) << "written although the call threw";
  }
}
#endif

TEST(HostFloatMode, DoesNotMatterToIntegers) {
  for (const named_mode& mode : refused) {
    EXPECT_EQ(complaint(mode.bits,
                        [] {
                          const std::vector<int> fives(9, 5);
                          EXPECT_EQ(tilefold::reduce(fives), 45);
                          EXPECT_EQ(tilefold::count(fives.begin(), fives.end(), 5), 9);
                        }),
              "");
  }
}

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
    for (const named_mode& mode : refused) {
      exact_accumulator<T> at_once, of_range, one_by_one, of_others;
      std::string of_value;
      {
        const float_mode set(mode.bits);
        at_once.add(items.begin(), items.end());
        of_range.add(items);
        for (const T x : items) one_by_one.add(x);
        of_others.add(std::list<T>(items.begin(), items.end()));
        of_value = bytes_of(at_once.value());
      }
      EXPECT_EQ(at_once.to_bytes(), expected.to_bytes()) << exponents << ", " << mode.bits;
      EXPECT_EQ(of_range.to_bytes(), expected.to_bytes()) << exponents << ", " << mode.bits;
      EXPECT_EQ(one_by_one.to_bytes(), expected.to_bytes()) << exponents << ", " << mode.bits;
      EXPECT_EQ(of_others.to_bytes(), expected.to_bytes()) << exponents << ", " << mode.bits;
      EXPECT_EQ(of_value, bytes_of(value)) << exponents << ", " << mode.bits;
    }
  }
}

}  // namespace
}  // namespace tilefold::test

#endif
