// SPDX-License-Identifier: Apache-2.0
//
// What executors share that fold blocks by cuda_executors and are done when they return: those over
// host memory and over several GPUs. Host code.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/verbs/kept_order.hpp>
#include <tilefold/host.hpp>

namespace tilefold::detail {

/// What gives indices, and leads to no memory.
template <class It>
concept gives_indices = std::same_as<It, index_iterator> || std::same_as<It, position_iterator>;

/// `Derived` has fold_blocks().
template <class Derived, class Build>
class waiting_executor {
 public:
  using executor_concept = executor_tag;
  static constexpr bool cuts_items = true;  // by what the host knows

  template <class Accumulator, class Result, class... Functions>
  static constexpr bool takes() {
    return detail::keeps_tree_order<Functions...>() &&
           basic_cuda_executor<Build>::template takes<Accumulator, Result, Functions...>();
  }
  template <class... Functions>
  static constexpr bool takes_functions() {
    return basic_cuda_executor<Build>::template takes_functions<Functions...>();
  }
  template <class... Items>
  static constexpr bool takes_items() {
    return basic_cuda_executor<Build>::template takes_items<Items...>();
  }

  /// The projected fold of elements [0, n) of `source`, n >= 1. Blocks until it is there.
  template <class Policy, class Source, folding Reducer, class Init>
  typename Reducer::result fold(const Source& source, const Reducer& reducer, const Init& init,
                                std::int64_t n) const {
    return detail::fold_of_blocks<Policy>(static_cast<const Derived&>(*this), source, reducer, init,
                                          n);
  }

  /// Writes the projected fold of elements [0, n) of `source` through `out`, in host memory, before
  /// the call returns.
  template <class Policy, class Source, folding Reducer, class Init, class Out>
  void fold_into(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 const Out& out) const {
    store(fold<Policy>(source, reducer, init, n), out);
  }

  /// Writes `value` through `out`, in host memory.
  template <class T, class Out>
  void store(const T& value, Out out) const {
    detail::require_host_access(out, "out");
    detail::write_through(out, detail::output_value<Out>(value));
  }

  void synchronize() const {}

 protected:
  waiting_executor() = default;
};

}  // namespace tilefold::detail
