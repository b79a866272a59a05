// SPDX-License-Identifier: Apache-2.0
//
// An initial value is copied to where the fold runs.
// expect: tilefold: an initial value, operator, function or predicate must be copyable
// errors: 1
#include <memory>
#include <utility>

#include <tilefold/tilefold.hpp>

#if defined(TILEFOLD_MUST_FAIL)
using value = std::unique_ptr<int>;
#else
using value = std::shared_ptr<int>;
#endif

struct sooner {
  value operator()(const value&, const value&) const { return {}; }
};

void fold(const value* first, const value* last, value init) {
  (void)tilefold::reduce(first, last, std::move(init), sooner{});
}
