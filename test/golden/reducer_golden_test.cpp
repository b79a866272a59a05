// SPDX-License-Identifier: Apache-2.0
//
// Reducers on the host against committed values. The GPU has the host's bits (test/reducers).
#include "reducer_golden.hpp"

#include <gtest/gtest.h>

namespace tilefold::test {
namespace {

struct fold_on_host {
  template <class Reducer, class T>
  auto operator()(const Reducer& reducer, const std::vector<T>& x) const {
    return tilefold::reduce(x, reducer);
  }
  template <class Reducer, class T>
  auto operator()(const Reducer& reducer, const std::vector<T>& x, const std::vector<T>& y) const {
    return tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducer);
  }
};

TEST(ReducerGolden, ValuesAreTheCommittedOnesWithinTheirBounds) {
  golden::expect_all_reducers(fold_on_host{});
}

}  // namespace
}  // namespace tilefold::test
