// SPDX-License-Identifier: Apache-2.0
//
// The exceptions: their family, and that each message names the value that was wrong.
#include <tilefold/error.hpp>

#include <concepts>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold {
namespace {

template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

TEST(Errors, AreOneFamily) {
  static_assert(std::derived_from<error, std::runtime_error>);
  static_assert(std::derived_from<invalid_range_error, error>);
  static_assert(std::derived_from<segment_error, invalid_range_error>);
  static_assert(std::derived_from<null_pointer_error, error>);
  static_assert(std::derived_from<empty_range_error, error>);
  static_assert(std::derived_from<memory_space_error, error>);
  static_assert(std::derived_from<allocation_error, error>);
  static_assert(std::derived_from<capture_error, error>);
  static_assert(std::derived_from<cuda_error, error>);
  EXPECT_EQ(allocation_error("none", 12).bytes(), 12);
  EXPECT_EQ(cuda_error("none", 700).code(), 700);
  EXPECT_EQ(segment_error("none", 5000000000).index(), 5000000000);
}

TEST(Errors, NameHowFarLastLiesBeforeFirst) {
  const std::vector<int> x(10);
  const auto text = message_of<invalid_range_error>(
      [&] { (void)tilefold::reduce(x.begin() + 7, x.begin() + 2); });
  EXPECT_TRUE(contains(text, "5"));
  EXPECT_TRUE(contains(text, "reduce"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Errors, NameTheNullPointer) {
  const int* null = nullptr;
  EXPECT_TRUE(contains(
      message_of<null_pointer_error>([&] { (void)tilefold::reduce(null, null + 3); }), "first"));
  const std::vector<int> x(3);
  host_executor exec;
  int* nowhere = nullptr;
  EXPECT_TRUE(contains(
      message_of<null_pointer_error>([&] { reduce_into(exec, x.begin(), x.end(), nowhere); }),
      "out"));
}

TEST(Errors, NameTheVerbThatFailed) {
  const std::vector<int> x(3);
  host_executor exec;
  int out = 0;
  EXPECT_TRUE(contains(
      message_of<invalid_range_error>([&] { reduce_into(exec, x.end(), x.begin(), &out); }),
      "reduce_into"));
  const auto same = [](int a) { return a; };
  EXPECT_TRUE(contains(message_of<invalid_range_error>([&] {
                         (void)tilefold::transform_reduce(exec, x.end(), x.begin(), 0, plus{},
                                                          same);
                       }),
                       "transform_reduce"));
}

TEST(Errors, LeaveTheExecutorUsable) {
  const std::vector<int> x{1, 2, 3};
  host_executor exec;
  EXPECT_THROW((void)reduce(exec, x.end(), x.begin()), error);
  EXPECT_EQ(reduce(exec, x), 6);
}

}  // namespace
}  // namespace tilefold
