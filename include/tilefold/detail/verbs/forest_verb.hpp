// SPDX-License-Identifier: Apache-2.0
//
// What the verbs share that fold many sequences to one value each: what must be said of a sequence
// without items, and which items an executor takes. And what checked() looks for in a forest before
// it is folded: the first tree whose bounds do not fit the items, whose length is negative or whose
// pointer is null. It is found by a fold over offsets, lengths or pointers, so any executor can
// look.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/verbs/second_range.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail {

/// A wrong tree, and the two values that describe it.
struct tree_fault {
  static constexpr std::int64_t none = (std::numeric_limits<std::int64_t>::max)();

  std::int64_t tree;
  std::int64_t first;
  std::int64_t second;
};

/// What the folds of a check have in common.
template <class T>
struct checking_fold {
  using accumulator = T;
  using result = T;
  static constexpr bool commutative = true;
  static constexpr bool lift_may_fuse = false;
  static constexpr bool combine_may_fuse = false;

  TILEFOLD_HD T project(const T& value) const { return value; }
};

/// The first tree of which `Judge` says that it is wrong.
template <class Judge>
struct first_fault : checking_fold<tree_fault> {
  Judge judge;

  template <class First, class Second>
  TILEFOLD_HD tree_fault lift(std::int64_t tree, const First& first, const Second& second) const {
    if (!judge.is_wrong(first, second)) return {tree_fault::none, 0, 0};
    return {tree, Judge::word(first), Judge::word(second)};
  }
  TILEFOLD_HD tree_fault combine(const tree_fault& a, const tree_fault& b) const {
    return b.tree < a.tree ? b : a;
  }
};

/// Whether x > y, of integers that are not negative.
template <std::integral T, std::integral U>
TILEFOLD_HD bool is_more(T x, U y) {
  return static_cast<std::uint64_t>(x) > static_cast<std::uint64_t>(y);
}

/// Judges by integers.
struct integer_judge {
  template <class T>
  TILEFOLD_HD static std::int64_t word(const T& x) {
    return static_cast<std::int64_t>(x);
  }
};

struct segment_judge : integer_judge {
  std::int64_t num_items;

  template <class Begin, class End>
  TILEFOLD_HD bool is_wrong(const Begin& begin, const End& end) const {
    return detail::is_negative(begin) || detail::is_negative(end) || detail::is_more(begin, end) ||
           detail::is_more(end, num_items);
  }
};

struct array_judge {
  template <class Length, class Array>
  TILEFOLD_HD bool is_wrong(const Length& length, const Array& array) const {
    return detail::is_negative(length) || detail::is_more(length, tree_fault::none) ||
           (length > 0 && word(array) == 0);
  }
  /// 0 for a null pointer.
  template <class T>
  TILEFOLD_HD static std::int64_t word(const T& x) {
    if constexpr (std::is_pointer_v<T>) {
      return x == nullptr ? 0 : 1;
    } else if constexpr (std::integral<T>) {
      return static_cast<std::int64_t>(x);
    } else {
      return 1;
    }
  }
};

template <class Executor, class Judge, class First, class Second>
tree_fault find_fault(Executor& exec, const Judge& judge, std::int64_t num_trees,
                      const First& first, const Second& second) {
  exec.require_checking();
  const source<index_iterator, First, Second> trees{{index_iterator{}}, {first}, {second}};
  return exec.template fold<default_policy>(trees, first_fault<Judge>{{}, judge}, no_init{},
                                            num_trees);
}

/// What stood in memory, whose type is T.
template <class T>
std::string shown(std::int64_t word) {
  return std::to_string(static_cast<T>(word));
}

/// Refuses a segment between such offsets.
template <class Begin, class End>
[[noreturn]] void throw_segment(const tree_fault& fault, const std::string& why) {
  throw segment_error("tilefold: segment " + std::to_string(fault.tree) + ", [" +
                          detail::shown<Begin>(fault.first) + ", " +
                          detail::shown<End>(fault.second) + "), " + why,
                      fault.tree);
}

/// Throws segment_error if a tree of `forest` is not where trees can be, the range it lies in
/// having `num_items` items. This one is for forests that nothing of the caller's describes.
template <class Executor, class Forest>
void require_sound(Executor&, const Forest&, std::int64_t) {}

template <class Executor, class Begins, class Ends>
void require_sound_segments(Executor& exec, const Begins& begins, const Ends& ends,
                            std::int64_t num_segments, std::int64_t num_items) {
  using begin_type = std::iter_value_t<Begins>;
  using end_type = std::iter_value_t<Ends>;
  const tree_fault fault =
      detail::find_fault(exec, segment_judge{{}, num_items}, num_segments, begins, ends);
  if (fault.tree == tree_fault::none) return;
  const auto begin = static_cast<begin_type>(fault.first);
  const auto end = static_cast<end_type>(fault.second);
  detail::throw_segment<begin_type, end_type>(
      fault, detail::is_negative(begin) ? "begins before the first item"
             : detail::is_negative(end) || detail::is_more(begin, end)
                 ? "ends before it begins"
                 : "ends after the last of " + std::to_string(num_items) + " items");
}

template <class Executor, class Source, class Begins, class Ends>
void require_sound(Executor& exec, const segment_forest<Source, Begins, Ends>& forest,
                   std::int64_t num_items) {
  detail::require_sound_segments(exec, forest.begins, forest.ends, forest.size(), num_items);
}

template <class Executor, class Source, class Offsets>
void require_sound(Executor& exec, const offsets_forest<Source, Offsets>& forest,
                   std::int64_t num_items) {
  detail::require_sound_segments(exec, forest.offsets, detail::starting_at(forest.offsets, 1),
                                 forest.size(), num_items);
}

/// Segments that are sound, but perhaps too long.
struct length_judge : integer_judge {
  std::int64_t most_items;

  template <class Begin, class End>
  TILEFOLD_HD bool is_wrong(const Begin& begin, const End& end) const {
    return static_cast<std::int64_t>(end) - static_cast<std::int64_t>(begin) > most_items;
  }
};

template <class Executor, class Source, class Offsets>
void require_sound(Executor& exec, const bounded_forest<Source, Offsets>& forest,
                   std::int64_t num_items) {
  const auto ends = detail::starting_at(forest.offsets, 1);
  detail::require_sound_segments(exec, forest.offsets, ends, forest.size(), num_items);
  const tree_fault fault = detail::find_fault(exec, length_judge{{}, forest.most_items},
                                              forest.size(), forest.offsets, ends);
  if (fault.tree == tree_fault::none) return;
  using offset = std::iter_value_t<Offsets>;
  detail::throw_segment<offset, offset>(
      fault, "is longer than the bound of " + std::to_string(forest.most_items) + " items");
}

template <class Executor, class Source>
void require_sound(Executor&, const equal_forest<Source>& forest, std::int64_t num_items) {
  if (forest.length == 0 || forest.num_trees <= num_items / forest.length) return;
  throw segment_error("tilefold: " + std::to_string(forest.num_trees) + " segments of " +
                          std::to_string(forest.length) + " items end after the last of " +
                          std::to_string(num_items) + " items",
                      num_items / forest.length);
}

template <class Executor, bool Indexed, class Arrays, class Lengths>
void require_sound(Executor& exec, const array_forest<Indexed, Arrays, Lengths>& forest,
                   std::int64_t) {
  const tree_fault fault =
      detail::find_fault(exec, array_judge{}, forest.size(), forest.lengths, forest.arrays);
  if (fault.tree == tree_fault::none) return;
  const std::string length = detail::shown<std::iter_value_t<Lengths>>(fault.first);
  const std::string what = fault.first < 0 || fault.second != 0
                               ? " cannot have " + length + " items"
                               : " is a null pointer, but has " + length + " items";
  throw segment_error("tilefold: array " + std::to_string(fault.tree) + what, fault.tree);
}

/// The only element of a range.
template <class T>
struct only_element : checking_fold<T> {
  TILEFOLD_HD T lift(T value) const { return value; }
  TILEFOLD_HD T combine(T value, T) const { return value; }
};

/// The size, looked at; throws if it is not one of those that were told.
template <class Executor, class Number>
std::int64_t require_sound_size(Executor& exec, const size_in_memory<Number>& size) {
  using value = std::iter_value_t<Number>;
  exec.require_checking();
  const auto found = exec.template fold<default_policy>(
      source<Number>{{size.at}}, only_element<value>{}, no_init{}, std::int64_t{1});
  if (detail::is_negative(found) || detail::is_more(found, size.most)) {
    throw invalid_range_error("tilefold: a deferred size is " + std::to_string(found) +
                              ", not one of 0 to " + std::to_string(size.most));
  }
  return static_cast<std::int64_t>(found);
}

template <class Executor, class Source, class Offsets, class Number>
void require_sound(Executor& exec, const deferred_forest<Source, Offsets, Number>& forest,
                   std::int64_t num_items) {
  const std::int64_t segments = detail::require_sound_size(exec, forest.num_trees);
  if (segments == 0) return;
  detail::require_sound_segments(exec, forest.offsets, detail::starting_at(forest.offsets, 1),
                                 segments, num_items);
}

template <class Executor, class Source, class Number>
void require_sound(Executor& exec, const deferred_tree<Source, Number>& forest,
                   std::int64_t num_items) {
  const std::int64_t n = detail::require_sound_size(exec, forest.num_items);
  if (n <= num_items) return;
  throw invalid_range_error("tilefold: a deferred size is " + std::to_string(n) +
                            ", more than the " + std::to_string(num_items) + " items");
}

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

/// An executor's accessible(), which does not look at iterators that are not read. Messages may
/// call them by another name.
template <class Executor>
struct unless_empty {
  Executor& exec;
  bool reads_items = true;
  const char* name = nullptr;

  template <class It>
  auto accessible(const It& it, const char* what, bool reads = true) const {
    return exec.accessible(it, name == nullptr ? what : name, reads && reads_items);
  }
};

template <class Executor>
unless_empty(Executor&, bool) -> unless_empty<Executor>;
template <class Executor>
unless_empty(Executor&, bool, const char*) -> unless_empty<Executor>;

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
        detail::folder_of(base, bound.reducer)
            .template fold_forest<typename parts::policy>(forest, most_trees, bound.reducer,
                                                          bound.start, bound.empty(""), out);
      }
    });
  }
}

/// Makes a call on `exec` that need not be done when it returns, and waits for it.
template <class Executor, class Call>
void wait_for(Executor& exec, const Call& call) {
  auto&& base = executor_parts<std::remove_cvref_t<Executor>>::base(exec);
  base.require_waiting();
  call();
  base.synchronize();
}

}  // namespace tilefold::detail
