// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks: another order of a fold, asked for by name. Its header brings the folds of
// that order; programs that do not include it read nothing of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/host/sequential_folds.hpp>
#include <tilefold/detail/verbs/verb.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/sequential/launch_sequential.cuh>
#endif

namespace tilefold {

namespace detail {

/// An operator or reducer that sequential_blocks() was given.
template <std::int64_t Block, class Op>
struct with_sequential_blocks {
  using reducer_concept = reducer_tag;
  using inner = Op;

  Op op;
};

// Everything a fold needs but the executor. Where no order could be told from another one, it is
// the fold of the operator alone.
template <class Named, std::int64_t Block, class Op, class Lift, class Init, class... Its>
struct fold_types<Named, with_sequential_blocks<Block, Op>, Lift, Init, Its...>
    : fold_types<Named, Op, Lift, Init, Its...> {
  using base = fold_types<Named, Op, Lift, Init, Its...>;
  using bound = std::conditional_t<base::bound::order_free, typename base::bound,
                                   sequential_reducer<Block, typename base::bound>>;

  static bound bind(const with_sequential_blocks<Block, Op>& op, const Lift& lift) {
    return {base::bind(op.op, lift)};
  }
};

}  // namespace detail

/// Returns the operator or reducer `op` with another order of its fold: neighbour trees over blocks
/// of `Block` items, whose values are joined from left to right.
///
///     reduce(x, sequential_blocks<8192>(std::plus<>{}))
///
///     block 0         block 1         block 2         block 3
///     tree of 8192    tree of 8192    tree of 8192    tree of the rest
///         `-------op------'               |               |
///                 `--------------op-------'               |
///                                `----------------op------'
///
/// - Blocks of 8192 give the bits of PyTorch's ordered sums and products (docs/order.md).
/// - Result: that of `op`, in this order; the same bits on every executor, for every number of
///   threads. Up to 3 * Block items it has the bits of `op` alone. An initial value stands in front
///   of the first block: op(init, the fold of the items).
/// - Verbs: those with one result for each range, segment, array or axis: reduce,
///   transform_reduce, segmented_reduce, batched_reduce, axis_reduce, reduce_by_index, also as
///   _into(). Others do not compile, and neither does a call on ranks, on several GPUs or of
///   streamed items: a join from left to right needs everything before it.
/// - Parameters: `Block` is a power of two from 256 to 2^20. `op` as in reduce(). With if_empty()
///   write if_empty(sequential_blocks<Block>(op), value).
/// - Empty input: as for `op`. Throws as the verb does.
/// - Each result is written once. A range, row or segment has at most 2^31 - 1 blocks.
/// - Workspace on the host: for up to 32768 blocks at a time an accumulator and 32 bytes each, and
///   an accumulator for each tree of more than 3 * Block items; three for each such column. On a
///   GPU: for ranges, rows and columns of more than 3 * Block items sequential_workspace_bytes(),
///   which the other queries do not cover; else what the verb says.
/// - Work: as many lifts and combines as `op` alone. On the host the joins run on the calling
///   thread. On a GPU one launch for ranges, rows and columns, else one launch more than for `op`.
/// - **Lengths that only the GPU knows**, of deferred ranges, segments by offsets, arrays and items
///   by index: one thread block folds each tree of more than 3 * Block items. A deferred range and
///   few long segments take many times as long as with `op` alone; pass a range or rows of one
///   length instead.
/// - Columns of more than 3 * Block rows: a GPU reads them item by item, at a fraction of the
/// speed.
template <std::int64_t Block, class Op>
TILEFOLD_HD constexpr detail::with_sequential_blocks<Block, Op> sequential_blocks(Op op) {
  static_assert(Block >= 256 && Block <= 1048576 && tree::is_power_of_two(Block),
                "tilefold: the blocks of sequential_blocks have a power of two of items, 256 to "
                "1048576");
  static_assert(!detail::has_empty_value<Op>,
                "tilefold: sequential_blocks stands inside if_empty: "
                "if_empty(sequential_blocks<Block>(op), value)");
  static_assert(!detail::is_sequential<Op>,
                "tilefold: sequential_blocks takes an operator or reducer that has no other order "
                "yet");
  return {op};
}

#if defined(__CUDACC__)
/// Returns the bytes of workspace that sequential_blocks<Block> needs on a GPU for `rows` ranges,
/// rows or columns of `length` items, with accumulators of `accumulator_bytes` bytes: for
/// cuda_executor::reserve(). It is enough for fewer or shorter rows. 0 for up to 3 * Block items,
/// which need what `op` alone needs, as do segments and arrays of any length. The other size
/// queries, such as cuda_executor::workspace_bytes(), do not cover the order: reserve the larger
/// number. Throws invalid_range_error for numbers that no call takes.
template <std::int64_t Block>
std::int64_t sequential_workspace_bytes(std::int64_t rows, std::int64_t length,
                                        std::int64_t accumulator_bytes) {
  constexpr const char* query = "sequential_workspace_bytes";
  detail::cuda::require_size(query, "rows", rows, 0);
  detail::cuda::require_size(query, "length", length, 0);
  detail::cuda::require_size(query, "accumulator_bytes", accumulator_bytes, 1);
  const std::int64_t blocks = tree::num_blocks(length, Block);
  if (rows == 0 || blocks <= 3) return 0;
  detail::cuda::require_answer(query, rows, accumulator_bytes);
  detail::cuda::require_answer(query, blocks, rows * accumulator_bytes);
  return detail::cuda::split_demand(rows, blocks, accumulator_bytes).bytes();
}
#endif

}  // namespace tilefold
