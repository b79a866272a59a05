// SPDX-License-Identifier: Apache-2.0
//
// A function that owns its factor, of a range without and with an executor.
// expect: tilefold: an initial value, operator, function or predicate must be copyable
// errors: 2
#include <memory>
#include <utility>
#include <vector>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using factor = std::unique_ptr<float>;
#else
using factor = std::shared_ptr<float>;
#endif

auto sum_of_times(const std::vector<float>& x, factor by) {
  return tilefold::transform_reduce(x, 0.0f, tilefold::plus{},
                                    [by = std::move(by)](float v) { return v * *by; });
}

void sum_of_times(const tilefold::host_executor& exec, const std::vector<float>& x, factor by,
                  float* out) {
  tilefold::transform_reduce_into(exec, x, out, tilefold::plus{},
                                  [by = std::move(by)](float v) { return v * *by; });
}
