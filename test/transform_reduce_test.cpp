// SPDX-License-Identifier: Apache-2.0
//
// transform_reduce on the host: one range and two, its call forms, and that a product is rounded
// before it is added.
#include <tilefold/transform_reduce.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"

namespace tilefold {
namespace {

using test::same_bits;

TEST(TransformReduceCalls, OfOneRange) {
  const std::vector<int> x{3, 1, 2};
  const auto square = [](int a) { return a * a; };
  host_executor exec;
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), 0, plus{}, square), 14);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), 100, plus{}, square), 114);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), 0, std::bit_or<>{}, square), 13);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.begin(), 5, plus{}, square), 5);
}

TEST(TransformReduceCalls, OfTwoRanges) {
  const std::vector<int> x{3, 1, 2};
  const std::vector<double> y{0.5, 2.0, 4.0};
  host_executor exec;
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), 0.0), 11.5);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), y.begin(), 1.0), 12.5);
  EXPECT_EQ(
      tilefold::transform_reduce(x.begin(), x.end(), y.begin(), 0.0, plus{}, std::multiplies<>{}),
      11.5);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), y.begin(), 0.0, maximum{},
                                       [](int a, double b) { return a + b; }),
            6.0);
}

TEST(TransformReduceCalls, TakeRanges) {
  const std::vector<int> x{3, 1, 2};
  int plain[] = {3, 1, 2};
  const auto square = [](int a) { return a * a; };
  host_executor exec;
  EXPECT_EQ(tilefold::transform_reduce(exec, x, 100, plus{}, square), 114);
  EXPECT_EQ(tilefold::transform_reduce(x, 100, plus{}, square), 114);
  EXPECT_EQ(tilefold::transform_reduce(exec, std::span(x), 0, maximum{}, square), 9);
  EXPECT_EQ(tilefold::transform_reduce<double>(exec, x, 0.5, plus{}, square), 14.5);
  EXPECT_EQ(tilefold::transform_reduce(exec, std::vector<int>{}, 5, plus{}, square), 5);
  EXPECT_EQ(tilefold::transform_reduce(exec, plain, 100, plus{}, square), 114);
  EXPECT_EQ(tilefold::transform_reduce(plain, 100, plus{}, square), 114);
  EXPECT_EQ(tilefold::transform_reduce(exec, plain, plain + 2, 100, plus{}, square), 110);
  EXPECT_EQ(tilefold::transform_reduce(exec, plain, plain + 2, plain, 100), 110);
  EXPECT_EQ(tilefold::transform_reduce(plain, plain + 2, plain, 100), 110);
}

TEST(TransformReduceCalls, NeedNoInitialValue) {
  const std::vector<int> x{3, 1, 2};
  int plain[] = {3, 1, 2};
  const auto square = [](int a) { return a * a; };
  const auto less = [](int a, int b) { return b < a ? b : a; };
  host_executor exec;
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), plus{}, square), 14);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), less, square), 1);
  EXPECT_EQ(tilefold::transform_reduce(x, maximum{}, square), 9);
  EXPECT_EQ(tilefold::transform_reduce<double>(exec, x, plus{}, square), 14.0);
  // An array's two ends are not an array and an initial value.
  EXPECT_EQ(tilefold::transform_reduce(plain, plain + 2, plus{}, square), 10);
  EXPECT_EQ(tilefold::transform_reduce(exec, plain, plain + 2, plus{}, square), 10);
  EXPECT_EQ(tilefold::transform_reduce(plain, plus{}, square), 14);

  int out[1] = {};
  tilefold::transform_reduce_into(exec, x.begin(), x.end(), out, plus{}, square);
  EXPECT_EQ(out[0], 14);
  tilefold::transform_reduce_into(exec, plain, out, maximum{}, square);
  EXPECT_EQ(out[0], 9);

  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.begin(), multiplies{}, square), 1);
  EXPECT_THROW(tilefold::transform_reduce(x.begin(), x.begin(), less, square), empty_range_error);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.begin(), if_empty(less, -1), square), -1);
}

TEST(TransformReduceAccumulator, IsChosenFromTheFunctionsResult) {
  const std::vector<std::int8_t> x(1000, 100);
  const auto same = [](std::int8_t a) { return a; };
  const auto sum = tilefold::transform_reduce(x.begin(), x.end(), std::int8_t{0}, plus{}, same);
  static_assert(std::is_same_v<decltype(sum), const std::int32_t>);
  EXPECT_EQ(sum, 100000);
  const auto wide = tilefold::transform_reduce<double>(x.begin(), x.end(), 0, plus{}, same);
  static_assert(std::is_same_v<decltype(wide), const double>);
  EXPECT_EQ(wide, 100000.0);
}

TEST(TransformReduceAccumulator, CanDifferFromTheItems) {
  const std::vector<int> x{1, 2, 3};
  const auto text = [](int a) { return std::to_string(a); };
  EXPECT_EQ(
      tilefold::transform_reduce(x.begin(), x.end(), std::string("n"), test::expression{}, text),
      "(n,((1,2),3))");
}

TEST(TransformReduceAccumulator, OfADotProductHoldsTheProducts) {
  const std::vector<std::int8_t> x{100, -100};
  const std::vector<std::uint8_t> y{100, 200};
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), 0), 20000);
  EXPECT_EQ(tilefold::transform_reduce(y.begin(), y.end(), y.begin(), 0u), 50000u);
  const auto mixed = tilefold::transform_reduce(x.begin(), x.end(), y.begin(), 0);
  static_assert(std::is_same_v<decltype(mixed), const std::int32_t>);
  EXPECT_EQ(mixed, -10000);
  const std::vector<half> h{half(300.0f), half(1.0f)};
  EXPECT_EQ(tilefold::transform_reduce(h.begin(), h.end(), h.begin(), 0.0f), 90001.0f);
  const std::vector<double> d{0.5, 2.0};
  EXPECT_EQ(tilefold::transform_reduce(h.begin(), h.end(), d.begin(), 0.0), 152.0);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), 0.0, plus{},
                                       std::multiplies<double>{}),
            20000.0);
  const std::vector<bool> b{true, true};
  EXPECT_EQ(tilefold::transform_reduce(b.begin(), b.end(), b.begin(), 0), 2);
}

TEST(TransformReduceOrder, IsTheTreeOfTheTransformedItems) {
  const auto x = test::make_items<double>(test::pattern::mixed, 4099);
  std::vector<double> squares;
  for (const double item : x) squares.push_back(test::reference::rounded(item * item));
  const double expected = 0.0 + test::reference::fold<double>(test::reference::plus{}, squares);
  EXPECT_TRUE(same_bits(
      tilefold::transform_reduce(x.begin(), x.end(), 0.0, plus{}, [](double a) { return a * a; }),
      expected));
}

// With a fused multiply-add the sum of a * b and -(a * b) leaves the product's rounding error.
TEST(TransformReduceRounding, HappensToTheProductBeforeTheSum) {
  const std::vector<float> a{1.0f + 0x1p-12f, -(1.0f + 0x1p-12f)};
  const std::vector<float> b{1.0f + 0x1p-13f, 1.0f + 0x1p-13f};
  EXPECT_TRUE(same_bits(tilefold::transform_reduce(a.begin(), a.end(), b.begin(), -0.0f), 0.0f));
  EXPECT_TRUE(same_bits(tilefold::transform_reduce(a.begin(), a.end(), b.begin(), -0.0f, plus{},
                                                   [](float x, float y) { return x * y; }),
                        0.0f));
}

TEST(TransformReduceRounding, OfDotProductsIsTheOracles) {
  for (const std::int64_t n : {1, 2, 17, 1000, 65537}) {
    const auto a = test::make_items<float>(test::pattern::mixed, n, 1);
    const auto b = test::make_items<float>(test::pattern::mixed, n, 2);
    std::vector<float> products;
    for (std::size_t i = 0; i < a.size(); ++i) {
      products.push_back(test::reference::rounded(a[i] * b[i]));
    }
    const float expected = -0.0f + test::reference::fold<float>(test::reference::plus{}, products);
    EXPECT_TRUE(
        same_bits(tilefold::transform_reduce(a.begin(), a.end(), b.begin(), -0.0f), expected))
        << "n = " << n;
    EXPECT_TRUE(
        same_bits(tilefold::transform_reduce(a.data(), a.data() + n, b.data(), -0.0f), expected))
        << "n = " << n;
  }
}

TEST(TransformReduceInto, WritesWhatTransformReduceReturns) {
  const auto a = test::make_items<float>(test::pattern::mixed, 1001, 3);
  const auto b = test::make_items<float>(test::pattern::mixed, 1001, 4);
  const auto square = [](float x) { return x * x; };
  const host_executor host;
  float squares = 0;
  tilefold::transform_reduce_into(host, a.begin(), a.end(), &squares, 3.0f, plus{}, square);
  EXPECT_TRUE(same_bits(
      squares, tilefold::transform_reduce(host, a.begin(), a.end(), 3.0f, plus{}, square)));
  float dot = 0;
  tilefold::transform_reduce_into(host, a.begin(), a.end(), b.begin(), &dot, 3.0f, plus{},
                                  multiplies{});
  EXPECT_TRUE(
      same_bits(dot, tilefold::transform_reduce(host, a.begin(), a.end(), b.begin(), 3.0f)));
  EXPECT_NE(dot, squares);
  float short_form = 0;
  tilefold::transform_reduce_into(host, a.begin(), a.end(), b.begin(), &short_form, 3.0f);
  EXPECT_TRUE(same_bits(short_form, dot));
  double wide = 0;
  tilefold::transform_reduce_into<double>(host, a.begin(), a.end(), b.begin(), &wide, 3.0f);
  EXPECT_TRUE(same_bits(
      wide, tilefold::transform_reduce<double>(host, a.begin(), a.end(), b.begin(), 3.0f)));
  float of_range = 0;
  tilefold::transform_reduce_into(host, a, &of_range, 3.0f, plus{}, square);
  EXPECT_TRUE(same_bits(of_range, squares));
}

TEST(TransformReduceInto, TellsArraysFromPointers) {
  int x[] = {3, 1, 2};
  const auto square = [](int a) { return a * a; };
  const host_executor host;
  int out = 0;
  tilefold::transform_reduce_into(host, x, &out, 100, plus{}, square);
  EXPECT_EQ(out, 114);
  tilefold::transform_reduce_into(host, x, x + 2, &out, 100, plus{}, square);
  EXPECT_EQ(out, 110);
  tilefold::transform_reduce_into(host, x, x + 2, x, &out, 100);
  EXPECT_EQ(out, 110);
}

TEST(TransformReduceErrors, AreThoseOfReduce) {
  const std::vector<int> x{1, 2};
  const int* null = nullptr;
  const auto same = [](int a) { return a; };
  EXPECT_THROW((void)tilefold::transform_reduce(x.end(), x.begin(), 0, plus{}, same),
               invalid_range_error);
  EXPECT_THROW((void)tilefold::transform_reduce(x.data(), x.data() + 2, null, 0),
               null_pointer_error);
}

TEST(TransformReduceErrors, NameTheRangeThatIsWrong) {
  const std::vector<int> x{1, 2};
  const int* null = nullptr;
  const auto message_of = [](auto call) -> std::string {
    try {
      call();
    } catch (const null_pointer_error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto same = [](int a) { return a; };
  int out = 0;
  const host_executor host;
  const auto of_one =
      message_of([&] { (void)tilefold::transform_reduce(null, null + 2, 0, plus{}, same); });
  EXPECT_NE(of_one.find(": first is"), std::string::npos) << of_one;
  const auto of_first =
      message_of([&] { (void)tilefold::transform_reduce(null, null + 2, x.data(), 0); });
  EXPECT_NE(of_first.find(": first1 is"), std::string::npos) << of_first;
  const auto of_second =
      message_of([&] { (void)tilefold::transform_reduce(x.data(), x.data() + 2, null, 0); });
  EXPECT_NE(of_second.find(": first2 is"), std::string::npos) << of_second;
  const auto of_both =
      message_of([&] { (void)tilefold::transform_reduce(null, null + 2, null, 0); });
  EXPECT_NE(of_both.find(": first1 is"), std::string::npos) << of_both;
  const auto of_into = message_of([&] {
    tilefold::transform_reduce_into(host, x.data(), x.data() + 2, null, &out, 0, plus{},
                                    multiplies{});
  });
  EXPECT_NE(of_into.find(": first2 is"), std::string::npos) << of_into;
  EXPECT_EQ(out, 0);
}

}  // namespace
}  // namespace tilefold
