// SPDX-License-Identifier: Apache-2.0
//
// How the host executor runs with the library tilefold::host: aligned blocks of the range are
// folded by several threads, with vector instructions where simd.hpp has a fold for them, and their
// values once more by the calling thread. Only programs that link the library may use it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

class thread_arena;

/// Values of blocks, waiting to be folded; gives each away once.
template <class T>
struct block_values {
  std::vector<std::optional<T>>& values;

  template <class Reducer>
  T lift(const Reducer&, std::int64_t i) const {
    return std::move(*values[static_cast<std::size_t>(i)]);
  }
};

class threaded {
 public:
  /// All threads that oneTBB grants the caller: every core, unless the program has said otherwise.
  threaded() = default;
  explicit threaded(int threads);

  int threads() const;

  /// The fold of elements [0, n), n >= 1.
  template <std::size_t... Index, class... Its, class Reducer>
  typename Reducer::accumulator fold(
      const source_of<std::index_sequence<Index...>, Its...>& elements, const Reducer& reducer,
      std::int64_t n) const {
    using accumulator = typename Reducer::accumulator;
    constexpr simd_key key = simd_key_of<Reducer, Its...>;
    if constexpr (worth_asking(key)) {
      if (const simd_fold fold = find_simd_fold(key.op, key.value, key.accumulator)) {
        const bound_simd_fold<accumulator> bound(fold,
                                                 elements.template iterator<Index>(elements)...);
        return fold_blocks(reducer, n, items_in<Its...>(simd_block_bytes), bound);
      }
    }
    const scalar_fold fold(elements, reducer);
    return fold_blocks(reducer, n, items_in<Its...>(scalar_block_bytes), fold);
  }

 private:
  using block_function = void (*)(void* context, std::int64_t block);

  // A block is worth a task (1 to 4 us), and a range of fewer than eight is not worth waking a
  // thread for, which takes about 20 us (docs/host.md).
  static constexpr std::int64_t simd_block_bytes = std::int64_t{1} << 17;
  static constexpr std::int64_t scalar_block_bytes = std::int64_t{1} << 16;
  static constexpr std::int64_t min_blocks = 8;

  template <class It, class...>
  static constexpr std::int64_t items_in(std::int64_t bytes) {
    return std::max<std::int64_t>(bytes >> std::bit_width(sizeof(std::iter_value_t<It>) - 1), 1);
  }

  // Enough blocks for every thread to find work to the end, few enough for the last fold.
  static constexpr std::int64_t max_blocks = 4096;

  template <class Reducer, class Fold>
  typename Reducer::accumulator fold_blocks(const Reducer& reducer, std::int64_t n,
                                            std::int64_t block, const Fold& fold) const {
    if (n < min_blocks * block || threads() == 1) return fold(std::int64_t{0}, n);
    while (tree::num_blocks(n, block) > max_blocks) block *= 2;
    const std::int64_t count = tree::num_blocks(n, block);
    std::vector<std::optional<typename Reducer::accumulator>> values(
        static_cast<std::size_t>(count));
    auto one_block = [&](std::int64_t i) {
      const std::int64_t first = i * block;
      values[static_cast<std::size_t>(i)].emplace(fold(first, std::min(block, n - first)));
    };
    using body = decltype(one_block);
    for_each_block(
        count, [](void* context, std::int64_t i) { (*static_cast<body*>(context))(i); },
        &one_block);
    return host::fold(block_values<typename Reducer::accumulator>{values}, reducer, 0, count);
  }

  // Calls function(context, i) for every i in [0, count), on up to threads() threads; what one of
  // the calls throws is thrown to the caller.
  void for_each_block(std::int64_t count, block_function function, void* context) const;

  int threads_ = 0;
  std::shared_ptr<thread_arena> arena_;
};

}  // namespace tilefold::detail::host
