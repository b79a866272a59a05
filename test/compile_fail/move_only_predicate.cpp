// SPDX-License-Identifier: Apache-2.0
//
// A predicate that owns what it compares with, in a verb and through an executor.
// expect: tilefold: an initial value, operator, function or predicate must be copyable
// errors: 2
#include <memory>
#include <utility>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using limit = std::unique_ptr<float>;
#else
using limit = std::shared_ptr<float>;
#endif

auto above(const std::vector<float>& x, limit least) {
  return tilefold::count_if(x, [least = std::move(least)](float v) { return v > *least; });
}

auto any_above(const tilefold::host_executor& exec, const std::vector<float>& x, limit least) {
  return tilefold::any_of(exec, x.begin(), x.end(),
                          [least = std::move(least)](float v) { return v > *least; });
}
