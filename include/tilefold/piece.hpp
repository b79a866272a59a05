// SPDX-License-Identifier: Apache-2.0
//
// Pieces: what a part of a sequence brings to the fold of the whole, as a value that can be kept,
// merged with its neighbours, written to a file and read by another program.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/signature.hpp>
#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/detail/verbs/kept_order.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/dispatch.hpp>
#include <tilefold/error.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/range/launch_piece.cuh>
#endif

namespace tilefold {

/// A partial result: items [begin(), end()) of a longer sequence of T, folded with `Op`, an
/// operator or reducer, as in reduce<Acc>(). It holds the values of their maximal aligned blocks
/// (docs/ranks.md), so `Op` must be associative and need not be commutative. reduce_piece() makes
/// one.
///
///     auto part = tilefold::reduce_piece(exec, x, x + n, position, op);
///     part.append(gpu, y, y + m);  // items that follow
///     part.merge(next);            // next begins where part ends
///     float sum = part.value();    // of what begins at 0
///
/// - Bits: value() has the bits of reduce() over the whole sequence, for any parts, any executors
///   that fold them, and any grouping in which they are merged.
/// - Size: at most max_blocks accumulators. If accumulator and operator are trivially copyable,
///   they are stored in the piece itself, which is then trivially copyable; otherwise in a
///   std::vector. One accumulator if the result does not depend on the order (integer sums,
///   extremes, exact sums).
/// - Memory: host memory. The functions here run on the host, so there are no pieces of an operator
///   that only a GPU can call. One piece serves one thread at a time.
/// - An exception leaves the piece as it was.
template <class T, class Op = plus, class Acc = void>
class piece {
  using arguments = detail::init_and_op<detail::no_init, Op>;
  using bound =
      decltype(detail::bind<Acc, const T*>(std::declval<const arguments&>(), detail::as_is{}));
  using reducer_type = std::remove_cvref_t<decltype(std::declval<const bound&>().reducer)>;
  using list = detail::block_list<reducer_type>;

 public:
  using value_type = T;
  using op_type = Op;
  using accumulator = typename list::accumulator;
  using result_type = typename bound::result;

  /// The most accumulators that a piece can hold.
  static constexpr int max_blocks = list::most;

  /// The piece of no items, at `position` of a sequence. Throws invalid_range_error if that is
  /// negative.
  template <std::integral Position = std::int64_t>
  explicit piece(Op op = {}, Position position = 0)
      : op_(op), blocks_(detail::count_of("piece", "the position", position)) {}

  std::int64_t begin() const { return blocks_.begin(); }
  std::int64_t end() const { return blocks_.end(); }
  /// How many accumulators it holds.
  int num_blocks() const { return blocks_.count(); }
  const Op& op() const { return op_; }

  /// Adds items [first, last), which follow those that it has, folded by `exec`. On a GPU one
  /// launch, for which the call waits. Throws as reduce() does, and invalid_range_error if items
  /// would stand beyond 2^63 - 1.
  template <executor Exec, detail::item_iterator It>
  piece& append(Exec&& exec, It first, It last) {
    const std::int64_t n = detail::count_items("piece::append", first, last);
    const arguments as_given{detail::no_init{}, op_};
    static_assert(std::same_as<std::iter_value_t<It>, T>,
                  "tilefold: the items that are appended must have the type of the piece's items");
    constexpr bool of_one_rank = !detail::spans_ranks<detail::executor_base_t<Exec>>;
    static_assert(of_one_rank,
                  "tilefold: a piece is what one rank's items bring: pass the executor that folds "
                  "them, not ranks(), and merge the pieces of all ranks");
    if constexpr (of_one_rank && detail::keeps_tree_order<Op>() &&
                  detail::folds<Acc, Exec, arguments, detail::as_is, It>()) {
      static_assert(!detail::device_only<Op>,
                    "tilefold: a piece is finished on the host, so its operator must be "
                    "__host__ __device__");
      if (n > (std::numeric_limits<std::int64_t>::max)() - end()) {
        throw invalid_range_error("tilefold::piece: " + std::to_string(n) +
                                  " items from position " + std::to_string(end()) +
                                  " on would pass 2^63 - 1");
      }
      if (n == 0) return *this;
      using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
      auto&& base = parts::base(exec);
      const auto items = detail::bind<Acc, It>(as_given, detail::as_is{});
      const auto own = this->reducer();
      list longer = blocks_;
      detail::host::in_default_float_mode([&] {
        base.template fold_blocks<typename parts::policy>(
            detail::in_whole(items.source(base, first), end()), items.reducer, end(), n,
            [&](const accumulator& value, std::int64_t size) { longer.push(own, value, size); });
      });
      blocks_ = std::move(longer);
    }
    return *this;
  }
  template <executor Exec, detail::item_range Range>
  piece& append(Exec&& exec, Range&& range) {
    return append(exec, std::begin(range), std::end(range));
  }
  /// The same with what stands for an executor.
  template <class Dispatch = detail::default_dispatch, detail::stand_in Handle, class... Arguments>
  piece& append(const Handle& handle, Arguments&&... items) {
    Dispatch::with_stand_in(handle,
                            [&](auto&& exec) { append(exec, static_cast<Arguments&&>(items)...); });
    return *this;
  }

  /// Adds the items of `next`. Throws invalid_range_error, which names both positions, unless it
  /// begins where this piece ends.
  piece& merge(const piece& next) {
    if (next.begin() != end()) {
      throw invalid_range_error("tilefold::piece: a piece that ends at " + std::to_string(end()) +
                                " cannot be merged with one that begins at " +
                                std::to_string(next.begin()));
    }
    list longer = blocks_;
    detail::host::in_default_float_mode([&] { longer.append(reducer(), next.blocks_); });
    blocks_ = std::move(longer);
    return *this;
  }

  /// The fold of the whole: what reduce() returns for items [0, end()). Of no items the value of
  /// if_empty(), else the identity of the operator, else empty_range_error. Throws
  /// invalid_range_error unless the piece begins at 0.
  result_type value() const { return finished(detail::no_init{}); }

  /// The same with an initial value, which is converted to the accumulator. (reduce() may choose
  /// another accumulator for its type.)
  template <class Init>
  result_type value(const Init& init) const {
    static_assert(detail::converts_to<Init, accumulator>,
                  "tilefold: the initial value of a piece must convert to its accumulator");
    return finished(init);
  }

  /// An upper bound of the size of to_bytes().
  static std::size_t max_bytes() {
    return 36 + signature().size() + static_cast<std::size_t>(max_blocks) * sizeof(accumulator);
  }

  /// The piece in bytes, the least byte of each number first: "TFPC"; a version; the signature,
  /// which names operator, items and accumulator; begin and end; the accumulators as they lie in
  /// memory (with zeros between members, if GCC compiled this); a checksum. For accumulators that
  /// are trivially copyable and do not hold pointers, and for processors that are little-endian. An
  /// operator's own data is not part of it.
  std::vector<std::byte> to_bytes() const
    requires std::is_trivially_copyable_v<accumulator>
  {
    require_little_endian();
    return detail::piece_bytes{signature(), begin(), end(), blocks_.values().bytes()}.written();
  }

  /// The piece that gave these bytes, with this piece's operator. Throws format_error, which says
  /// what is wrong, if they are truncated, altered, of another version, of another operator or
  /// other types, or if an accumulator of the library says of its items what cannot be: a count
  /// that is not theirs, a place where none of them stands. Whatever else an accumulator holds is
  /// taken as it is.
  piece from_bytes(std::span<const std::byte> bytes) const
    requires std::is_trivially_copyable_v<accumulator>
  {
    require_little_endian();
    const auto read = detail::piece_bytes::read(bytes, "tilefold");
    if (read.signature != signature()) {
      throw format_error("tilefold: a piece of " + read.shown_signature() +
                         " was found where one of " + signature() + " is needed");
    }
    const typename list::blocks_type blocks{{read.begin, read.end}};
    read.require_values(blocks.count(), sizeof(accumulator), "tilefold");
    piece result(*this);
    result.blocks_ = list::from(read.begin, read.end, read.values.data(), "tilefold");
    return result;
  }

  /// What tells pieces apart that must not be merged, as text. Every compiler writes names of
  /// numbers alike; names of operators and structs it writes in its own way.
  static std::string signature() { return detail::fold_signature<Op, accumulator, T>(); }

 private:
  // What is written as it lies in memory would be another value elsewhere.
  static constexpr void require_little_endian() {
    static_assert(std::endian::native == std::endian::little || sizeof(accumulator) == 1,
                  "tilefold: the bytes of a piece have the least byte of each number first, which "
                  "this processor has last");
  }

  auto bind() const {
    return detail::bind<Acc, const T*>(arguments{detail::no_init{}, op_}, detail::as_is{});
  }
  reducer_type reducer() const { return bind().reducer; }

  template <class Init>
  result_type finished(const Init& init) const {
    if (begin() != 0) {
      throw invalid_range_error("tilefold::piece: a piece that begins at " +
                                std::to_string(begin()) +
                                " has no value; merge it with those before it");
    }
    return detail::host::in_default_float_mode([&]() -> result_type {
      const auto fold = bind();
      const auto start = detail::convert_init<accumulator>(init);
      const detail::closed_steps steps{fold.reducer};
      if (blocks_.count() > 0) return detail::finish(steps, start, blocks_.fold(fold.reducer));
      if constexpr (std::same_as<Init, detail::no_init> || bound::types::nothing::known) {
        return detail::result_of_nothing(steps, fold.empty("piece::value"));
      } else {
        return detail::result_of_nothing(steps, start);
      }
    });
  }

  Op op_;
  list blocks_;
};

/// Returns the partial result of items [first, last), which are those from `position` on of a
/// longer sequence:
///
///     reduce_piece(exec, first, last, position)          of its sum
///     reduce_piece(exec, first, last, position, op)      of its fold with an operator or reducer
///     reduce_piece(exec, range, position, op)
///     reduce_piece<Acc>(...)                             computed in type Acc
///
/// - Result: a piece<T, Op, Acc>, see there. Indices that a reducer yields count in the whole.
/// - Parameters, order, errors: as for reduce(); a negative position throws invalid_range_error.
/// - The call is synchronous. On a GPU it takes one launch, and workspace of
///   cuda_executor::piece_workspace_bytes() bytes.
/// - Work: that of reduce(), in at most 2 log2(n) + 1 folds side by side.
template <class Acc = void, executor Exec, detail::item_iterator It, std::integral Position,
          class Op = plus>
auto reduce_piece(Exec&& exec, It first, It last, Position position, Op op = {}) {
  piece<std::iter_value_t<It>, Op, Acc> part(op, position);
  part.append(exec, first, last);
  return part;
}

template <class Acc = void, executor Exec, detail::item_range Range, std::integral Position,
          class Op = plus>
auto reduce_piece(Exec&& exec, Range&& range, Position position, Op op = {}) {
  return tilefold::reduce_piece<Acc>(exec, std::begin(range), std::end(range), position, op);
}

template <class Acc = void, class... Arguments>
  requires detail::refused_items<Arguments...>
auto reduce_piece(const Arguments&...) {
  return detail::refuse<Arguments...>();
}

TILEFOLD_TAKES_STAND_INS(reduce_piece)

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
