// SPDX-License-Identifier: Apache-2.0
//
// Public reducers in a user's kernel. Each thread lifts its items; the lanes fold the accumulators
// with the reducer's combine as operator (kernel_fold.cuh); every thread projects the result.
#pragma once

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/cuda/in_kernel/kernel_fold.cuh>
#include <tilefold/if_empty.hpp>

namespace tilefold {

namespace detail::cuda {

/// A reducer's combine, as an operator on its accumulators.
template <class R>
struct combine_of {
  R reducer;

  TILEFOLD_NO_EXEC_CHECK
  template <class Acc>
  TILEFOLD_HD Acc operator()(const Acc& a, const Acc& b) const {
#if defined(__CUDA_ARCH__)
    using combined = std::remove_cvref_t<decltype(reducer.combine(a, b))>;
    if constexpr (conversion_may_fuse<combined, Acc>) {
      return cuda::kernel_border<Acc>()(reducer.combine(a, b));
    }
#endif
    return reducer.combine(a, b);
  }
};

template <class R, class Acc>
concept has_static_identity = std::default_initializable<R> && has_reducer_identity<R, Acc>;

}  // namespace detail::cuda

template <class R, class Acc>
struct op_traits<detail::cuda::combine_of<R>, Acc> {
  static constexpr bool commutative = detail::reducer_traits<R, Acc>::commutative;
  static constexpr bool order_free = detail::reducer_traits<R, Acc>::order_free;
  static constexpr bool separately_rounded = detail::reducer_traits<R, Acc>::separately_rounded;
  TILEFOLD_HD static Acc identity()
    requires detail::cuda::has_static_identity<R, Acc>
  {
    return R{}.template identity<Acc>();
  }
};

namespace detail::cuda {

/// The accumulator of reducer R for values of type T.
template <class R, class T>
struct kernel_accumulator {
  static_assert(lifts_values<R, T>(),
                "tilefold: the reducer's lift cannot be called with the values");
  using type = reducer_accumulator_t<R, T>;
  static_assert(combines<R, type>,
                "tilefold: a reducer's combine must be callable with two of what its lift returns, "
                "and return the same type");
  static_assert(projects<R, type>,
                "tilefold: a reducer's project must be callable with what its lift returns");
};

template <class R, class Value, class T>
struct kernel_accumulator<with_empty_value<R, Value>, T> : kernel_accumulator<R, T> {};

/// The result of `count` items of type T, whose fold is `folded`: that of if_empty for none.
template <class T, class Op, class Value, class Result>
TILEFOLD_D Result result_or_value(const Result& folded, int count,
                                  const with_empty_value<Op, Value>& op) {
  using nothing = nothing_of<Op, Value, T>;
  static_assert(nothing::known,
                "tilefold: every part of fused reducers needs an identity or an if_empty, if one "
                "of them has one");
  return count > 0 ? folded : nothing::template result<Result>(op.op, op.value);
}

/// Lifts one item, which is closed to the computation that it comes from.
TILEFOLD_NO_EXEC_CHECK
template <class R, class T>
TILEFOLD_D auto lift_in_kernel(const R& r, const T& item, int index) {
  if constexpr (is_indexed<R>) {
    return r.lift(cuda::kernel_border<T>()(item), std::int64_t{index});
  } else {
    return r.lift(cuda::kernel_border<T>()(item));
  }
}

/// The result, closed to computations that follow in the kernel.
TILEFOLD_NO_EXEC_CHECK
template <class R, class Acc>
TILEFOLD_D auto project_in_kernel(const R& r, const Acc& folded) {
  using result = std::remove_cvref_t<decltype(r.project(folded))>;
  if constexpr (reducer_traits<R, Acc>::separately_rounded) {
    return result(detail::canonical(r.project(folded)));
  } else {
    return result(cuda::kernel_border<result>()(detail::canonical(r.project(folded))));
  }
}

/// A thread's lifted items of `Folds` trees. Its first item is number `first` of each tree; items
/// from `count` on are not lifted.
template <class R, class Items, int Folds>
class lifted_items {
  static constexpr int vt = thread_items<Items>::count;

 public:
  using accumulator = typename kernel_accumulator<R, typename thread_items<Items>::value>::type;

  template <bool Full>
  TILEFOLD_D void lift(std::bool_constant<Full>, const R& r, const Items* values, int first,
                       int count) {
#pragma unroll
    for (int k = 0; k < Folds; ++k) {
#pragma unroll
      for (int j = 0; j < vt; ++j) {
        if (Full || first + j < count) {
          ::new (static_cast<void*>(__builtin_addressof(memory_.items[k][j]))) accumulator(
              cuda::lift_in_kernel(r, thread_items<Items>::get(values[k], j), first + j));
        }
      }
    }
  }
  TILEFOLD_D const accumulator (*items() const)[vt] { return memory_.items; }

 private:
  union room {
    __device__ room() {}
    accumulator items[Folds][vt];
  } memory_;
};

/// Whether the functions that a reducer holds take such items; says in one sentence why not.
template <class R, class Items>
inline constexpr bool functions_fit = true;
template <reducer R, class Items>
inline constexpr bool functions_fit<R, Items> =
    functions_of<R>::template fit<typename thread_items<Items>::value>();

/// fold_warp(), by an operator or a reducer.
template <int Lanes, int Folds, bool Full, class Items, class Op>
TILEFOLD_D auto reduce_warp(const Items* values, int count, const Op& op) {
  if constexpr (has_empty_value<Op>) {
    return cuda::result_or_value<typename thread_items<Items>::value>(
        cuda::reduce_warp<Lanes, Folds, Full>(values, count, op.op), count, op);
  } else if constexpr (operator_reducer<Op>) {
    return cuda::fold_warp<Lanes, Folds, Full>(values, count, plain_op_of<Op>{});
  } else if constexpr (reducer<Op> && !functions_fit<Op, Items>) {
    return no_result{};
  } else if constexpr (reducer<Op>) {
    lifted_items<Op, Items, Folds> lifted;
    const int lane = static_cast<int>(cuda::lane_id() % Lanes);
    lifted.lift(std::bool_constant<Full>{}, op, values, lane * thread_items<Items>::count, count);
    return cuda::project_in_kernel(
        op, cuda::fold_warp<Lanes, Folds, Full>(lifted.items(), count, combine_of<Op>{op}));
  } else if constexpr (folds_as_asked<void, Items, Op>) {
    return cuda::fold_warp<Lanes, Folds, Full>(values, count, op);
  } else {
    return no_result{};
  }
}

/// fold_block(), by an operator or a reducer.
template <int Nt, int Folds, bool Full, class Items, class Op, class Acc, int MostFolds>
TILEFOLD_D auto reduce_block(block_nodes<Nt, Acc, MostFolds>& nodes, const Items* values, int count,
                             const Op& op) {
  if constexpr (has_empty_value<Op>) {
    return cuda::result_or_value<typename thread_items<Items>::value>(
        cuda::reduce_block<Nt, Folds, Full>(nodes, values, count, op.op), count, op);
  } else if constexpr (operator_reducer<Op>) {
    return cuda::fold_block<Nt, Folds, Full>(nodes, values, count, plain_op_of<Op>{});
  } else if constexpr (reducer<Op> && !functions_fit<Op, Items>) {
    return no_result{};
  } else if constexpr (reducer<Op>) {
    static_assert(std::same_as<Acc, typename lifted_items<Op, Items, Folds>::accumulator>,
                  "tilefold: the storage must be for what the reducer accumulates in: "
                  "block_storage<Nt, accumulated_t<T, Reducer>>");
    lifted_items<Op, Items, Folds> lifted;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    lifted.lift(std::bool_constant<Full>{}, op, values,
                static_cast<int>(thread) * thread_items<Items>::count, count);
    return cuda::project_in_kernel(
        op, cuda::fold_block<Nt, Folds, Full>(nodes, lifted.items(), count, combine_of<Op>{op}));
  } else if constexpr (folds_as_asked<Acc, Items, Op>) {
    return cuda::fold_block<Nt, Folds, Full>(nodes, values, count, op);
  } else {
    return no_result{};
  }
}

}  // namespace detail::cuda

}  // namespace tilefold
