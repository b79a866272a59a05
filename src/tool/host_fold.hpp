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
#include "piece_task.hpp"
#include "timing.hpp"

namespace tilefold::tool {

class host_fold {
 public:
  static constexpr bool on_host = true;

  host_fold(const host_executor& executor, const fold_job& job) : executor_(executor), job_(job) {}

  /// The fold of [first, first + count) with an operator or a reducer.
  template <class Items, class Op>
  auto operator()(const Items& first, std::int64_t count, const Op& op) {
    if (job_.pieces != nullptr) return in_chunks(first, op);
    const auto call = [&] { return tilefold::reduce(executor_, first, first + count, op); };
    decltype(call()) value{};
    time_ = fastest_of(job_.repeats, [&] { return wall_seconds([&] { value = call(); }); });
    return value;
  }

  /// What the last fold found, with the time that it took.
  fold_result result(std::vector<field> fields) const {
    return {std::move(fields),     time_.seconds, time_.calls, "wall clock", 0, {},
            job_.pieces != nullptr};
  }

 private:
  template <class Items, class Op>
  auto in_chunks(const Items& first, const Op& op) {
    decltype(tilefold::reduce(executor_, first, first, op)) value{};
    time_ = {wall_seconds([&] {
               value = run(*job_.pieces, executor_, first, op, row_of(job_.op).empty_has_value);
             }),
             1};
    return value;
  }

  const host_executor& executor_;
  const fold_job& job_;
  timing time_{};
};

}  // namespace tilefold::tool
