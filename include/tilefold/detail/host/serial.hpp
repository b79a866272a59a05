// SPDX-License-Identifier: Apache-2.0
//
// How the host executor runs when only headers are used: on the calling thread.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/host/fold.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail::host {

// More than any machine has; a number beyond it is a mistake.
inline constexpr int max_threads = 4096;

inline void require_thread_count(int threads) {
  if (threads < 1 || threads > max_threads) {
    throw invalid_range_error("tilefold::host_executor: the number of threads must be 1 to " +
                              std::to_string(max_threads) + ", not " + std::to_string(threads));
  }
}

class serial {
 public:
  /// Whether there are columns_of() and places_of().
  static constexpr bool has_vector_folds = false;

  serial() = default;
  explicit serial(int threads) { require_thread_count(threads); }

  int threads() const { return 1; }

  /// Calls body(i) for every i in [0, count).
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }

  /// The fold of elements [0, n), n >= 1.
  template <class Source, class Reducer>
  typename Reducer::accumulator fold(const Source& elements, const Reducer& reducer,
                                     std::int64_t n) const {
    return host::fold(elements, reducer, 0, n);
  }

  template <class Source, class Reducer>
  typename Reducer::accumulator fold_one_of_many(const Source& elements, const Reducer& reducer,
                                                 std::int64_t n) const {
    return host::fold(elements, reducer, 0, n);
  }

  /// Calls keep(i, fold of tree i) or, for an empty tree, none(i), for every tree of a forest.
  template <class Forest, class Reducer, class Keep, class Empty>
  void fold_forest(const Forest& forest, const Reducer& reducer, const Keep& keep,
                   const Empty& none) const {
    for (std::int64_t i = 0; i < forest.size(); ++i) {
      const std::int64_t n = forest.count(i);
      if (n <= 0) {
        none(i);
      } else {
        keep(i, host::fold(forest.tree(i), reducer, 0, n));
      }
    }
  }
};

}  // namespace tilefold::detail::host
