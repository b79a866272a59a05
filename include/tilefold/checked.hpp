// SPDX-License-Identifier: Apache-2.0
//
// An executor that checks offsets, lengths and pointers before it follows them. The check is itself
// a fold, so a backend needs nothing new for it.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold {

/// A view of an executor whose segments are checked; made by checked().
template <class Executor, class Policy>
class checked_executor {
 public:
  using executor_concept = executor_tag;

  checked_executor(Executor& base, std::int64_t num_items) : base_(&base), num_items_(num_items) {}
  Executor& base() const { return *base_; }
  std::int64_t num_items() const { return num_items_; }

 private:
  Executor* base_;
  std::int64_t num_items_;
};

namespace detail {

template <class Executor, class Policy>
struct executor_parts<checked_executor<Executor, Policy>> {
  using policy = Policy;
  static constexpr bool checks = true;
  static Executor& base(const checked_executor<Executor, Policy>& executor) {
    return executor.base();
  }
  static std::int64_t num_items(const checked_executor<Executor, Policy>& executor) {
    return executor.num_items();
  }
};

// The number of items where the caller does not give one: unknown.
inline constexpr std::int64_t any_number_of_items = (std::numeric_limits<std::int64_t>::max)();

}  // namespace detail

/// Returns a view of an executor that validates segments and arrays before it reads an item or
/// writes a result: for offsets, lengths and pointers that are not trusted, or that only the GPU
/// can read.
///
///     segmented_reduce(checked(exec, num_items), first, offsets, num_segments, out);
///     batched_reduce(checked(exec), pointers, lengths, num_arrays, out);
///
/// - `num_items` is the number of items from `first` on. Without it, segments that end after the
///   last item are not detected. batched_reduce() does not need it.
/// - segmented_reduce: every segment begins at 0 or later, does not end before it begins (as
///   unchecked empty segments may), and ends at `num_items` or earlier. batched_reduce: no length
///   is negative, and no pointer to items is null. reduce_by_index: every index has a result;
///   `num_items` does not matter there. Other functions behave as without checked().
/// - Errors: throws segment_error, which has the index of the first invalid segment or array
///   and names its bounds, or index_error (reduce_by_index.hpp); nothing is written then.
/// - Cost: one reduce() over the offsets, for which the call waits, `_into` too. So during a
///   capture into a CUDA graph it throws capture_error. Offsets must not change until the call's
///   work is done. Equal lengths are checked without looking at memory.
/// - The result refers to `executor` as that of with_policy() does, and takes and keeps a policy:
///   `checked(with_policy<P>(executor))` and `with_policy<P>(checked(executor))` are the same.
/// - Throws invalid_range_error for a negative number of items.
template <executor Executor, std::integral Count>
auto checked(Executor&& executor, Count num_items) {
  using parts = detail::executor_parts<std::remove_cvref_t<Executor>>;
  using base = std::remove_reference_t<decltype(parts::base(executor))>;
  static_assert(std::is_lvalue_reference_v<Executor> ||
                    !std::same_as<std::remove_cv_t<base>, std::remove_cvref_t<Executor>>,
                "tilefold: checked() refers to its executor, which must not be a temporary");
  const auto count = static_cast<std::int64_t>(num_items);
  if (count < 0) {
    throw invalid_range_error("tilefold::checked: the number of items is " +
                              std::to_string(num_items));
  }
  return checked_executor<base, typename parts::policy>(parts::base(executor), count);
}

template <executor Executor>
auto checked(Executor&& executor) {
  return tilefold::checked(static_cast<Executor&&>(executor), detail::any_number_of_items);
}

/// A checked executor stays one with another policy.
template <tile_policy Policy, class Executor, class Chosen>
auto with_policy(checked_executor<Executor, Chosen> executor) {
  return tilefold::checked(tilefold::with_policy<Policy>(executor.base()), executor.num_items());
}

}  // namespace tilefold
