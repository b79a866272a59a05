// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_index: one value of all items that have the same index, wherever they stand. The items
// are sorted by their index, and folded as segments are. On a GPU the sort is CUB's, which this
// header includes; so tilefold.hpp does not include this header.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

#include <tilefold/checked.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/permuted.hpp>
#include <tilefold/detail/host/index_order.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/dispatch.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/index/launch_index.cuh>
#endif

namespace tilefold {

/// An index for which there is no result, found by checked(); `position()` is the position of the
/// first item with such an index.
class index_error : public invalid_range_error {
 public:
  index_error(const std::string& what, long long position)
      : invalid_range_error(what), position_(position) {}
  long long position() const noexcept { return position_; }

 private:
  long long position_;
};

namespace detail {

/// Which result an item belongs to: `num_results` if its index is none of theirs.
template <class Indices>
struct index_reader {
  using index_type = std::iter_value_t<Indices>;

  Indices indices;
  std::int64_t num_results;

  TILEFOLD_HD std::int64_t operator()(std::int64_t j) const {
    const index_type index = detail::element(indices, j);
    if (detail::is_negative(index) || !detail::is_more(num_results, index)) return num_results;
    return static_cast<std::int64_t>(index);
  }
};

/// How an executor sorts by index. sort(executor, accumulator bytes, n, reader) makes offsets and
/// positions for an offsets_forest; sort_items(..., values), where `sorts_items` says so, makes
/// offsets and a copy of the items in their order: no position has to be looked up then. Of a kind
/// of executor that cannot, `known` is false.
template <class Executor>
struct item_order {
  static constexpr bool known = false;
};

template <class Mode>
struct item_order<basic_host_executor<Mode>> : host::index_order<Mode> {
  static constexpr bool known = true;
  /// Items in an array: what an iterator computes belongs to the fold.
  template <class Values>
  static constexpr bool sorts_items =
      std::contiguous_iterator<Values> &&
      !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<Values>>> &&
      std::is_trivially_copyable_v<std::iter_value_t<Values>> &&
      sizeof(std::iter_value_t<Values>) <= 16 &&
      alignof(std::iter_value_t<Values>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  template <class Executor, class Indices>
  void sort(const Executor& exec, std::int64_t, std::int64_t n,
            const index_reader<Indices>& index_of) {
    host::index_order<Mode>::sort(n, index_of.num_results, exec.threads(), index_of);
  }

  template <class Executor, class Indices, class Values>
  const std::iter_value_t<Values>* sort_items(const Executor& exec, std::int64_t, std::int64_t n,
                                              const index_reader<Indices>& index_of,
                                              const Values& values) {
    using item = std::iter_value_t<Values>;
    using bits = host::item_bits<sizeof(item)>;
    // operator new[] aligns as every type here needs.
    items_ = host::room_for<host::item_bits<16>>(
        (static_cast<std::uint64_t>(n) * sizeof(item) + 15) / 16);
    auto* const sorted = reinterpret_cast<bits*>(items_.get());
    const auto* const items = n == 0 ? nullptr : std::to_address(values);
    host::index_order<Mode>::sort_items(n, index_of.num_results, exec.threads(), index_of,
                                        reinterpret_cast<const bits*>(items), sorted);
    return reinterpret_cast<const item*>(sorted);
  }

 private:
  std::unique_ptr<host::item_bits<16>[]> items_;
};

#if defined(__CUDACC__)
template <class Build>
struct item_order<basic_cuda_executor<Build>> : cuda::index_order<Build> {
  static constexpr bool known = true;
  /// A word as wide as a position: the same sort.
  template <class Values>
  static constexpr bool sorts_items = std::is_trivially_copyable_v<std::iter_value_t<Values>> &&
                                      sizeof(std::iter_value_t<Values>) == sizeof(std::uint32_t);

  template <class Executor, class Indices, class Values>
  const std::iter_value_t<Values>* sort_items(Executor& exec, std::int64_t acc_bytes,
                                              std::int64_t n, const index_reader<Indices>& index_of,
                                              const Values& values) {
    this->sort(exec, acc_bytes, n, index_of, {}, cuda::item_word<Values>{values});
    return reinterpret_cast<const std::iter_value_t<Values>*>(this->words());
  }
};
#endif

/// Whether items of such indices can be sorted; says in one sentence why not.
template <class Base, class Indices>
constexpr bool sorts_by_index() {
  constexpr bool integers =
      std::integral<std::iter_value_t<Indices>> &&
      sizeof(std::iter_value_t<Indices>) <= sizeof(std::int64_t) &&
      !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<Indices>>>;
  static_assert(integers,
                "tilefold: indices must be integers of at most 64 bits, and not volatile; the "
                "order of reduce_by_index is (indices, indices_last, values, num_results, out, "
                "init, op)");
  constexpr bool known = item_order<std::remove_cvref_t<Base>>::known;
  static_assert(known,
                "tilefold: reduce_by_index needs a host_executor or a cuda_executor: ranks, "
                "cuda_group and streamed() cannot sort items that they do not hold together");
  return integers && known;
}

struct index_judge : integer_judge {
  std::int64_t num_results;

  template <class T>
  TILEFOLD_HD bool is_wrong(const T& index, const T&) const {
    return detail::is_negative(index) || !detail::is_more(num_results, index);
  }
};

template <class Executor, class Indices>
void require_sound_indices(Executor& exec, const Indices& indices, std::int64_t n,
                           std::int64_t num_results) {
  if (n == 0) return;
  const tree_fault fault =
      detail::find_fault(exec, index_judge{{}, num_results}, n, indices, indices);
  if (fault.tree == tree_fault::none) return;
  throw index_error("tilefold::reduce_by_index: item " + std::to_string(fault.tree) +
                        " has the index " + detail::shown<std::iter_value_t<Indices>>(fault.first) +
                        ", but there are " + std::to_string(num_results) + " results",
                    fault.tree);
}

}  // namespace detail

/// Folds all items that have the same index with an associative operator or a reducer, and writes
/// the value of index i through out[i].
///
///     reduce_by_index_into(exec, indices, indices + n, values, num_results, out, ...)
///
/// Item j is values[j] and has the index indices[j]. At the end stands, as in reduce(), nothing (a
/// sum), `op`, `init`, or `init, op`.
///
/// - Result: out[i] has the bits of reduce() over the items of index i in the order of their
///   positions, with the same arguments. The bits do not depend on the other items, the executor
///   or its number of threads, and operators need not commute. Indices that a reducer yields are
///   positions in the whole input.
/// - Parameters: random-access iterators in memory that the executor reads. `indices` leads to n
///   integers of any type up to 64 bits, in any order, and `values` to as many items. `out` takes
///   `num_results` values and must not overlap with what is read.
/// - An item whose index is negative, or `num_results` or more, is left out. With checked(exec)
///   such an index is an error.
/// - The initial value takes part once in every result. A result without items, and so every
///   result if n is 0, is the value of if_empty(), else `init`, else the operator's identity; if
///   there is none of them, the call does not compile.
/// - On a CUDA executor the call is asynchronous in its stream, and everything must live until the
///   stream has passed it. CUB sorts pairs of an index and a position, 32 bits each, by as many
///   bits as num_results needs; then the items are folded as by segmented_reduce() with offsets.
///   At most 2^32 - 2 items and as many results. Workspace: reduce_by_index_workspace_bytes(),
///   about 16 bytes an item and 8 a result. An error of CUDA that the caller has not asked for
///   with cudaGetLastError() is forgotten, since CUB would take it for its own. Items of 4 bytes
///   that are trivially copyable are sorted themselves, in place of their positions, unless the
///   reducer asks for those. Items that are left out are not read.
/// - On the host: 8 bytes of memory an item (12 for more than 2048 results) and 8 a result. An
/// array
///   of trivially copyable items of up to 16 bytes is sorted itself, unless the reducer asks for
///   positions: that takes a copy of the items, and 4 bytes an item (two copies, and 8 bytes). For
///   more than 2^32 items, twice these bytes an item.
/// - Work: the sort is linear in n; as many combines as reduce() would need for each result.
/// - Throws as reduce() does: null_pointer_error, invalid_range_error for a negative number,
///   memory_space_error... With checked(exec), index_error, which names the first item whose index
///   has no result; nothing is written then. The check is one reduce() over the indices, for which
///   the call waits.
template <class Acc = void, executor Exec, detail::item_iterator Indices,
          detail::item_iterator Values, std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void reduce_by_index_into(Exec&& exec, Indices first, Indices last, Values values,
                          Count num_results, Out out, InitOp... init_op) {
  using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
  auto&& base = parts::base(exec);
  using base_type = std::remove_cvref_t<decltype(base)>;
  if constexpr (detail::sorts_by_index<base_type, Indices>()) {
    const char* const verb = "reduce_by_index";
    const std::int64_t n = detail::count_items<Exec>(verb, first, last);
    const std::int64_t results = detail::count_of(verb, "the number of results", num_results);
    const detail::unless_empty reader{base, n > 0};
    const auto indices = detail::read_only(reader.accessible(first, "indices"));
    if constexpr (parts::checks) {
      detail::host::in_default_float_mode(
          [&] { detail::require_sound_indices(base, indices, n, results); });
    }
    using order_type = detail::item_order<base_type>;
    order_type order;
    const auto fold = [&](auto&& unchecked) {
      const auto make_forest = [&](auto& on, const auto& bound) {
        using bound_type = std::remove_cvref_t<decltype(bound)>;
        const auto items = detail::read_only(reader.accessible(values, "values"));
        if (results > 0) (void)on.accessible(out, "out");  // before the sort is launched
        using items_type = std::remove_const_t<decltype(items)>;
        const detail::index_reader<std::remove_const_t<decltype(indices)>> index_of{indices,
                                                                                    results};
        constexpr auto acc_bytes = sizeof(typename bound_type::types::accumulator);
        if constexpr (!bound_type::indexed && order_type::template sorts_items<items_type>) {
          const auto* sorted = order.sort_items(on, acc_bytes, n, index_of, items);
          return detail::offsets_forest{detail::source<decltype(sorted)>{{sorted}}, order.offsets(),
                                        results};
        } else {
          order.sort(on, acc_bytes, n, index_of);
          return detail::offsets_forest{
              detail::permuted_source<bound_type>(items, order.positions()), order.offsets(),
              results};
        }
      };
      detail::fold_trees_to<Acc, Values>(unchecked, results, make_forest, out, init_op...);
    };
    if constexpr (requires { parts::policy::value; }) {
      fold(tilefold::with_policy<parts::policy::value>(base));
    } else {
      fold(base);
    }
  }
}

/// Does the same synchronously. The executor may be left out: then the memory of indices, values
/// and output decides, as in reduce(); one executor must be able to access all of it.
///
///     reduce_by_index([exec,] indices, indices + n, values, num_results, out, ...)
template <class Acc = void, executor Exec, detail::item_iterator Indices,
          detail::item_iterator Values, std::integral Count, detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void reduce_by_index(Exec&& exec, Indices first, Indices last, Values values, Count num_results,
                     Out out, InitOp... init_op) {
  detail::wait_for(exec, [&] {
    tilefold::reduce_by_index_into<Acc>(exec, first, last, values, num_results, out, init_op...);
  });
}

template <class Acc = void, class Dispatch = detail::default_dispatch,
          detail::item_iterator Indices, detail::item_iterator Values, std::integral Count,
          detail::output Out, class... InitOp>
  requires(sizeof...(InitOp) <= 2)
void reduce_by_index(Indices first, Indices last, Values values, Count num_results, Out out,
                     InitOp... init_op) {
  Dispatch::template with_executor<InitOp...>(
      first,
      [&](auto&& exec) {
        tilefold::reduce_by_index<Acc>(exec, first, last, values, num_results, out, init_op...);
      },
      values, out);
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class... Arguments>
  requires detail::refused_items<Arguments...> || detail::not_indexed_at<2, Arguments...>
void reduce_by_index(const Arguments&...) {
  detail::refuse_sequences<Arguments...>();
}

TILEFOLD_TAKES_STAND_INS(reduce_by_index)
TILEFOLD_TAKES_STAND_INS(reduce_by_index_into)

#if defined(__CUDACC__)
/// Bytes of workspace that a reduce_by_index() of n items with accumulators of `accumulator_bytes`
/// bytes needs on the GPU of `exec`, and any of fewer items and results: for
/// cuda_executor::reserve(). It asks CUB, whose answer depends on the GPU; so it needs one, unlike
/// the size queries of other verbs. Throws invalid_range_error for numbers that no call takes, and
/// cuda_error.
template <class Build>
std::int64_t reduce_by_index_workspace_bytes(basic_cuda_executor<Build>& exec, std::int64_t n,
                                             std::int64_t num_results,
                                             std::int64_t accumulator_bytes) {
  return detail::cuda::index_order<Build>::workspace_bytes(exec, n, num_results, accumulator_bytes);
}
#endif

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
