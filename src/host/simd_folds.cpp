// SPDX-License-Identifier: Apache-2.0
//
// Chooses among the precompiled vector folds, by operator and types and by what the machine can do.
#include "src/host/simd_folds.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <hwy/highway.h>
#include <tilefold/error.hpp>

namespace tilefold::detail::host {

simd_fold find_simd_fold(simd_op op, simd_type value, simd_type accumulator) {
  const bool truths = value == simd_type::truth || value == simd_type::boolean;
  switch (op) {
    case simd_op::squares:
    case simd_op::counted_squares:
      return square_fold_for(op, value);
    case simd_op::any:
    case simd_op::all:
      return accumulator == simd_type::boolean ? zero_fold_for(op, value) : nullptr;
    case simd_op::count:
      return accumulator == simd_type::int64 ? zero_fold_for(op, value) : nullptr;
    case simd_op::counted_sum:
      return truths ? zero_fold_for(op, value) : counted_sum_for(value);
    case simd_op::multiplies:
      if (truths) return accumulator == simd_type::int64 ? zero_fold_for(op, value) : nullptr;
      break;
    default:
      if (value == simd_type::truth) return zero_fold_for(op, value);
  }
  const bool floating_arithmetic =
      (op == simd_op::plus || op == simd_op::multiplies || op == simd_op::dot) &&
      (accumulator == simd_type::float32 || accumulator == simd_type::float64 ||
       accumulator == simd_type::complex64);
  return floating_arithmetic ? tree_fold_for(op, value, accumulator)
                             : order_free_fold_for(op, value, accumulator);
}

namespace {

// Also while one of them is the only one in use.
const std::vector<std::int64_t>& targets_of_machine() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

}  // namespace

const char* simd_target(int index) {
  const auto& targets = targets_of_machine();
  const auto i = static_cast<std::size_t>(index);
  return i < targets.size() ? hwy::TargetName(targets[i]) : nullptr;
}

void use_simd_target(const char* name) {
  const auto& targets = targets_of_machine();
  hwy::SetSupportedTargetsForTest(0);
  if (name != nullptr) {
    std::int64_t wanted = 0;
    for (const std::int64_t target : targets) {
      if (std::strcmp(hwy::TargetName(target), name) == 0) wanted = target;
    }
    if (wanted == 0) {
      throw error("tilefold: this machine has no vector instruction set named " +
                  std::string(name));
    }
    hwy::SetSupportedTargetsForTest(wanted);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace tilefold::detail::host
