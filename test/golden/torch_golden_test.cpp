// SPDX-License-Identifier: Apache-2.0
//
// The host executor against what PyTorch gave.
#include "torch_golden.hpp"

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold::test {
namespace {

struct host_folds {
  template <class Acc, class T, class Op>
  std::vector<Acc> axes(const std::vector<T>& items, unsigned set, Op op) const {
    const auto layout = golden::torch_layout();
    const auto results = right_layout(result_extents(layout, set, false));
    std::vector<Acc> out(static_cast<std::size_t>(results.span()));
    axis_reduce<Acc>(test_view{items.data(), layout}, test_view{out.data(), results}, named(set),
                     op);
    return out;
  }
  template <class Acc, class T, class Op>
  std::vector<Acc> segments(const std::vector<T>& items, Op op) const {
    const auto offsets = golden::torch_offsets();
    std::vector<Acc> out(offsets.size() - 1);
    segmented_reduce<Acc>(items.begin(), offsets.begin(),
                          static_cast<std::int64_t>(offsets.size()) - 1, out.begin(), op);
    return out;
  }
};

TEST(Golden, HostResultsAreThoseOfPyTorch) { golden::expect_torch_results(host_folds{}); }

}  // namespace
}  // namespace tilefold::test
