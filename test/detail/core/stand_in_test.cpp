// SPDX-License-Identifier: Apache-2.0
//
// What stands for an executor where there is no CUDA: the policies of the standard library.
// (cuda/stand_ins_nogpu_test.cu has streams and thrust.)
#include <execution>
#include <memory>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/thrust_compat.hpp>
#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "support/items.hpp"

struct CUstream_st;

namespace tilefold::test {
namespace {

using detail::host_policy;

template <class T>
constexpr host_policy asks = detail::host_policy_of<std::remove_cvref_t<T>>();
static_assert(asks<decltype(std::execution::par)> == host_policy::all_cores);
static_assert(asks<decltype(std::execution::par_unseq)> == host_policy::all_cores);
static_assert(asks<decltype(std::execution::seq)> == host_policy::one_thread);
static_assert(asks<decltype(std::execution::unseq)> == host_policy::one_thread);

namespace execution {
struct parallel_policy {};  // of somebody's own
}  // namespace execution
static_assert(!detail::stand_in<execution::parallel_policy>);
static_assert(!detail::stand_in<std::vector<execution::parallel_policy>>);
static_assert(!detail::stand_in<std::vector<std::execution::parallel_policy>>);
static_assert(detail::stand_in<CUstream_st*>);
static_assert(detail::stand_in<std::shared_ptr<CUstream_st>>);
static_assert(!detail::stand_in<std::shared_ptr<int>>);
static_assert(!detail::stand_in<int> && !detail::stand_in<int*> &&
              !detail::stand_in<host_executor>);

TEST(StandIns, GiveTheBitsOfTheirExecutor) {
  for (const std::int64_t n : {0, 1, 5, 1000, 100003}) {
    const auto items = make_items<float>(pattern::mixed, n);
    const float expected = tilefold::reduce(host_executor(), items);
    EXPECT_TRUE(same_bits(tilefold::reduce(std::execution::par, items), expected)) << n;
    EXPECT_TRUE(same_bits(tilefold::reduce(std::execution::par_unseq, items.begin(), items.end()),
                          expected))
        << n;
    EXPECT_TRUE(
        same_bits(tilefold::reduce(std::execution::seq, items.data(), items.data() + n), expected))
        << n;
    float out = 0;
    reduce_into(std::execution::unseq, items, &out);
    EXPECT_TRUE(same_bits(out, expected)) << n;
  }
}

TEST(StandIns, GoWithEveryVerb) {
  const auto all = [](const auto& policy) {
    const std::vector<int> x{3, 1, 2, 1};
    const std::vector<int> offsets{0, 1, 4};
    const std::vector<const int*> pointers{x.data(), x.data() + 1};
    std::vector<int> out(4), keys(4);
    EXPECT_EQ(tilefold::reduce<double>(policy, x, 0.5), 7.5);
    EXPECT_EQ(transform_reduce(policy, x.begin(), x.end(), x.begin(), 0), 15);
    EXPECT_EQ(inner_product(policy, x.begin(), x.end(), x.begin(), 1), 16);
    transform_reduce_into(policy, x.begin(), x.end(), x.begin(), out.data(), reducers::dot{});
    EXPECT_EQ(out[0], 15);
    segmented_reduce(policy, x.begin(), offsets.begin(), 2, out.begin());
    EXPECT_EQ(out[1], 4);
    batched_reduce(policy, pointers.begin(), offsets.begin() + 1, 2, out.begin());
    EXPECT_EQ(out[0], 3);
    EXPECT_EQ(reduce_by_key(policy, x.begin(), x.end(), x.begin(), keys.begin(), out.begin()), 4);
    EXPECT_EQ(min_element(policy, x) - x.begin(), 1);
    EXPECT_EQ(count(policy, x, 1), 2);
    EXPECT_EQ(mean(policy, x.begin(), x.end()), 1.75);
    EXPECT_TRUE(any_of(policy, x, [](int i) { return i == 2; }));
    min_value_into(policy, x.begin(), x.end(), out.data());
    EXPECT_EQ(out[0], 1);
  };
  all(std::execution::seq);
  all(std::execution::par);
}

TEST(StandIns, ErrorsNameTheBadValue) {
  const std::vector<int> x{3, 1};
  EXPECT_THROW((void)tilefold::reduce(std::execution::par, x.end(), x.begin()),
               invalid_range_error);
  EXPECT_THROW(
      (void)tilefold::reduce(std::execution::par, x.begin(), x.begin(), reducers::arg_min<>{}),
      empty_range_error);
}

TEST(ThrustCompat, HasThrustsOrderOfArguments) {
  const std::vector<int> keys{1, 1, 2}, values{1, 2, 3};
  std::vector<int> keys_out(3), values_out(3);
  const auto twice = [](int i) { return 2 * i; };
  EXPECT_EQ(thrust_compat::transform_reduce(values.begin(), values.end(), twice, 1, plus{}), 13);
  EXPECT_EQ(thrust_compat::transform_reduce(std::execution::par, values.begin(), values.end(),
                                            twice, 1, plus{}),
            13);
  const auto ends = thrust_compat::reduce_by_key(keys.begin(), keys.end(), values.begin(),
                                                 keys_out.begin(), values_out.begin());
  EXPECT_EQ(ends.first - keys_out.begin(), 2);
  EXPECT_EQ(ends.second - values_out.begin(), 2);
  EXPECT_EQ(values_out[0], 3);
}

}  // namespace
}  // namespace tilefold::test
