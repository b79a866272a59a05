// SPDX-License-Identifier: Apache-2.0
//
// Generated operators on the host executor: the bits of the oracle in every form, on one thread and
// on several. test/README.md says how to see a seed's failure again.
#include <string>

#include <gtest/gtest.h>

#include <tilefold/host.hpp>

#include "forms.hpp"

namespace tilefold::test::net {
namespace {

template <class Member>
class OrderNet : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::cout << "TILEFOLD_NET_SEED=" << TILEFOLD_NET_SEED << std::endl;
  }
  void SetUp() override {
#if defined(__FMA__) && defined(__x86_64__)
    if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this processor has no FMA";
#endif
  }

  template <class Form>
  void expect_bits_of_the_oracle() {
    const basic_host_executor<detail::host::serial> serial;
    EXPECT_EQ((differences<Form, Member, in_host_memory>(serial, raw_)), "") << "serial";
#if defined(TILEFOLD_HOST_LIBRARY)
    for (const int threads : {1, 2, 3}) {
      const host_executor exec(threads);
      EXPECT_EQ((differences<Form, Member, in_host_memory>(exec, raw_)), "")
          << threads << " threads";
    }
#endif
  }

  raw_items<Member> raw_{longest};
};
TYPED_TEST_SUITE(OrderNet, sample, member_names);

TYPED_TEST(OrderNet, ReduceOfComputedItems) {
  this->template expect_bits_of_the_oracle<reduce_form>();
}
TYPED_TEST(OrderNet, ReduceOfStructs) { this->template expect_bits_of_the_oracle<plain_form>(); }
TYPED_TEST(OrderNet, TransformReduce) {
  this->template expect_bits_of_the_oracle<transform_form>();
}
TYPED_TEST(OrderNet, ReducerOfTheUsers) {
  this->template expect_bits_of_the_oracle<reducer_form>();
}
TYPED_TEST(OrderNet, EqualSegments) { this->template expect_bits_of_the_oracle<equal_form>(); }
TYPED_TEST(OrderNet, SegmentsByOffsets) {
  this->template expect_bits_of_the_oracle<offsets_form>();
}
TYPED_TEST(OrderNet, ArraysByPointers) { this->template expect_bits_of_the_oracle<batched_form>(); }
TYPED_TEST(OrderNet, RunsOfKeys) { this->template expect_bits_of_the_oracle<by_key_form>(); }
TYPED_TEST(OrderNet, Columns) { this->template expect_bits_of_the_oracle<columns_form>(); }

}  // namespace
}  // namespace tilefold::test::net
