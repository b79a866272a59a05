// SPDX-License-Identifier: Apache-2.0
//
// One fold on the host, timed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

#include "backend.hpp"
#include "timing.hpp"

namespace tilefold::tool {

class host_fold {
 public:
  static constexpr bool on_host = true;

  host_fold(const host_executor& executor, int repeats) : executor_(executor), repeats_(repeats) {}

  /// The fold of [first, first + count) with an operator or a reducer.
  template <class Items, class Op>
  auto operator()(const Items& first, std::int64_t count, const Op& op) {
    const auto call = [&] { return tilefold::reduce(executor_, first, first + count, op); };
    decltype(call()) value{};
    time_ = fastest_of(repeats_, [&] { return wall_seconds([&] { value = call(); }); });
    return value;
  }

  /// What the last fold found, with the time that it took.
  fold_result result(std::vector<field> fields) const {
    return {std::move(fields), time_.seconds, time_.calls, "wall clock", 0, {}};
  }

 private:
  const host_executor& executor_;
  int repeats_;
  timing time_{};
};

}  // namespace tilefold::tool
