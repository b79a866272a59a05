// SPDX-License-Identifier: Apache-2.0
//
// What the verbs share that fold many sequences to one value each: what must be said of a sequence
// without items, and which items an executor takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/verbs/forest_checks.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail {

/// Whether result i can be written through out + i; says so in one sentence if not.
template <class Out>
constexpr bool takes_results() {
  constexpr bool yes = requires(const Out& out, std::ptrdiff_t i) { out + i; };
  static_assert(yes,
                "tilefold: the output of many results must be random-access, out + i: write to an "
                "array, not through a back_inserter or an ostream_iterator");
  return yes;
}

/// Whether items of such iterators can be folded tree by tree and written through Out; says in one
/// sentence why not.
template <class Named, class Executor, class Out, class Arguments, class... Its>
constexpr bool folds_forest() {
  if constexpr (!detail::takes_results<Out>()) {
    return false;
  } else if constexpr (!detail::folds<Named, Executor, Arguments, as_is, Its...>()) {
    return false;
  } else if constexpr (!executor_base_t<Executor>::template takes_items<
                           std::iter_value_t<Its>...>()) {
    return false;
  } else {
    return detail::folds_to<Named, Executor, Out, Arguments, as_is, Its...>();
  }
}

/// Whether the executor, or that of a rank, folds columns and runs of keys; says in one sentence
/// why not.
template <class Base>
constexpr bool folds_columns_and_keys() {
  if constexpr (spans_ranks<Base>) {
    return detail::folds_columns_and_keys<typename Base::local_type>();
  } else {
    static_assert(!cuts_items<Base>,
                  "tilefold: cuda_group and streamed() fold single values, and segments that lie "
                  "one after the other: for axes and runs of keys pass a cuda_executor, or ranks "
                  "of one GPU each");
    return !cuts_items<Base>;
  }
}

/// What stands for empty trees where all trees are alike, and so empty or not. If there is no
/// result for those it throws, or no tree is empty.
template <class Bound>
auto empty_of_all(const char* verb, const Bound& bound, bool are_empty) {
  if constexpr (Bound::empty_is_known) {
    return bound.empty(verb);
  } else {
    if (are_empty) bound.empty(verb);
    return no_empty_tree{};
  }
}

/// The source of the items of `segments` segments, of which has_items(i) tells whether they have
/// any. `first` may be null if none has, where the executor can look.
template <class Base, class Bound, class It, class HasItems>
auto source_of_segments(Base& base, const Bound& bound, const It& first, std::int64_t segments,
                        const HasItems& has_items) {
  bool reads = true;
  if constexpr (requires { requires std::remove_cvref_t<Base>::looks_ahead; }) {
    detail::visit_roots(first,
                        [&](const volatile void* root) { reads = reads && root != nullptr; });
    for (std::int64_t i = 0; !reads && i < segments; ++i) reads = has_items(i);
  }
  return bound.source(unless_empty{base, reads}, first);
}

/// Folds every tree of make_forest(executor, bound fold) through `out`, where some trees may be
/// empty. `most_trees` is their number, or a bound where only the executor's memory knows it. It:
/// the iterator that the items come from; init_op: a verb's last arguments (read_arguments()).
template <class Named, class It, class Executor, class MakeForest, class Out, class... InitOp>
void fold_trees_to(Executor&& exec, std::int64_t most_trees, const MakeForest& make_forest,
                   const Out& out, const InitOp&... init_op) {
  auto arguments = detail::read_arguments<std::iter_value_t<It>>(init_op...);
  if constexpr (detail::folds_forest<Named, Executor, Out, decltype(arguments), It>()) {
    host::in_default_float_mode([&] {
      using parts = executor_parts<std::remove_cvref_t<Executor>>;
      const auto bound = detail::bind<Named, It>(arguments, as_is{});
      constexpr bool empty_is_known = decltype(bound)::empty_is_known;
      static_assert(
          empty_is_known,
          "tilefold: a segment may be empty, so give an initial value, or an operator or "
          "reducer whose identity is known, or its result for nothing: if_empty(op, value)");
      auto&& base = parts::base(exec);
      if constexpr (empty_is_known && spans_ranks<decltype(base)>) {
        base.template fold_trees<typename parts::policy>(bound, most_trees, make_forest, out);
      } else if constexpr (empty_is_known) {
        using forest_type = std::remove_cvref_t<decltype(make_forest(base, bound))>;
        // A deferred number of trees may be more than the most, also where that is 0.
        constexpr bool checks_size =
            parts::checks && requires(const forest_type& forest) { forest.num_trees.most; };
        if (most_trees == 0 && !checks_size) return;
        const auto forest = make_forest(base, bound);
        if constexpr (parts::checks) detail::require_sound(base, forest, parts::num_items(exec));
        if (most_trees == 0) return;
        base.template fold_forest<typename parts::policy>(forest, most_trees, bound.reducer,
                                                          bound.start, bound.empty(""), out);
      }
    });
  }
}

}  // namespace tilefold::detail
