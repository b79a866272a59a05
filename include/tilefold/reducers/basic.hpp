// SPDX-License-Identifier: Apache-2.0
//
// Reducers that are one operator each, and those that ask a question of each element. Their results
// are what reduce() gives with the operator of the same meaning; as reducers they can be fused.
#pragma once

#include <cstdint>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold {

/// How a minimum, maximum or index treats NaN: a NaN is the result (propagate), or a missing value,
/// which is the result only if all items are NaN (ignore).
enum class nan_rule { propagate, ignore };

namespace detail {

/// The reducer of an operator of ours. Accumulator and result are those of reduce() with it.
template <class Op>
struct op_family : empty_reducer {
  template <class T>
    requires binary_op_on<Op, accumulator_t<void, Op, T, no_init>>
  TILEFOLD_HD accumulator_t<void, Op, T, no_init> lift(const T& value) const {
    return detail::convert<accumulator_t<void, Op, T, no_init>>(value);
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return detail::convert<Acc>(Op{}(a, b));
  }
  template <class Acc>
  TILEFOLD_HD Acc project(const Acc& value) const {
    return detail::canonical(value);
  }
  template <class Acc>
    requires has_identity<Op, Acc>
  TILEFOLD_HD Acc identity() const {
    return op_traits<Op, Acc>::identity();
  }
};

/// The question that an element answers by being itself.
struct truth {
  template <class T>
  TILEFOLD_HD bool operator()(const T& value) const {
    return detail::convert<bool>(value);
  }
};

/// One truth per element, combined by Op.
template <class Op, class Predicate>
struct question {
  using reducer_concept = reducer_tag;

  Predicate predicate{};

  TILEFOLD_NO_EXEC_CHECK
  template <class T>
  TILEFOLD_HD bool lift(const T& value) const {
    return static_cast<bool>(predicate(value));
  }
  TILEFOLD_HD bool combine(bool a, bool b) const { return Op{}(a, b); }
  TILEFOLD_HD bool project(bool value) const { return value; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return op_traits<Op, bool>::identity();
  }
};

struct differ {
  TILEFOLD_HD bool operator()(bool a, bool b) const { return a != b; }
};

}  // namespace detail

template <>
struct op_traits<detail::differ, bool> : detail::logical_traits<false, bool> {};

namespace reducers {

/// The sum. Narrow types accumulate in wider ones (accumulator.hpp); empty: 0 (-0.0 if floating).
struct sum : detail::op_family<plus> {};

/// The product; integers wrap. Empty: 1.
struct product : detail::op_family<multiplies> {};

/// The smallest value, -0 < +0; NaN as the rule says. Empty: the largest value of the type, NaN
/// under nan_rule::ignore. Types with < of a user's own work, without an identity.
template <nan_rule Nan = nan_rule::propagate>
struct min : detail::op_family<minimum> {};
template <>
struct min<nan_rule::ignore> : detail::op_family<minimum_number> {};

/// The largest value; as min.
template <nan_rule Nan = nan_rule::propagate>
struct max : detail::op_family<maximum> {};
template <>
struct max<nan_rule::ignore> : detail::op_family<maximum_number> {};

/// Bitwise and; empty: all ones. Integers.
struct bit_and : detail::op_family<tilefold::bit_and> {};
/// Bitwise or; empty: 0. Integers.
struct bit_or : detail::op_family<tilefold::bit_or> {};
/// Bitwise exclusive or; empty: 0. Integers.
struct bit_xor : detail::op_family<tilefold::bit_xor> {};

/// Whether the predicate holds for at least one element, which ends the fold early; without one,
/// whether an element is true. Empty: false.
template <class Predicate = detail::truth>
struct any : detail::question<logical_or, Predicate> {};
template <class Predicate>
any(Predicate) -> any<Predicate>;
any() -> any<>;

/// Whether the predicate holds for every element. Empty: true.
template <class Predicate = detail::truth>
struct all : detail::question<logical_and, Predicate> {};
template <class Predicate>
all(Predicate) -> all<Predicate>;
all() -> all<>;

/// Whether the predicate holds for no element. Empty: true.
template <class Predicate = detail::truth>
struct none : detail::question<logical_or, Predicate> {
  TILEFOLD_HD bool project(bool value) const { return !value; }
};
template <class Predicate>
none(Predicate) -> none<Predicate>;
none() -> none<>;

/// Whether the predicate holds for an odd number of elements. Empty: false.
template <class Predicate = detail::truth>
struct logical_xor : detail::question<detail::differ, Predicate> {};
template <class Predicate>
logical_xor(Predicate) -> logical_xor<Predicate>;
logical_xor() -> logical_xor<>;

/// How many elements satisfy the predicate, as std::int64_t. Empty: 0.
template <class Predicate>
struct count_if {
  using reducer_concept = reducer_tag;

  Predicate predicate{};

  TILEFOLD_NO_EXEC_CHECK
  template <class T>
  TILEFOLD_HD std::int64_t lift(const T& value) const {
    return static_cast<bool>(predicate(value)) ? 1 : 0;
  }
  TILEFOLD_HD std::int64_t combine(std::int64_t a, std::int64_t b) const { return a + b; }
  TILEFOLD_HD std::int64_t project(std::int64_t count) const { return count; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return 0;
  }
};
template <class Predicate>
count_if(Predicate) -> count_if<Predicate>;

/// How many elements there are, as std::int64_t; over one range or two. Empty: 0.
struct count : detail::zero_reducer {
  template <class... T>
  TILEFOLD_HD std::int64_t lift(const T&...) const {
    return 1;
  }
  TILEFOLD_HD std::int64_t combine(std::int64_t a, std::int64_t b) const { return a + b; }
  TILEFOLD_HD std::int64_t project(std::int64_t number) const { return number; }
  // Of an accumulator of more than a count (fuse.hpp): exact in double up to 2^53.
  template <class State>
    requires requires(const State& s) { s.count; }
  TILEFOLD_HD std::int64_t project(const State& state) const {
    return static_cast<std::int64_t>(state.count);
  }
};

/// The first element; of a range without one, an error.
struct first : detail::empty_reducer {
  template <class T>
  TILEFOLD_HD T lift(const T& value) const {
    return value;
  }
  template <class T>
  TILEFOLD_HD T combine(const T& a, const T&) const {
    return a;
  }
  template <class T>
  TILEFOLD_HD T project(const T& value) const {
    return detail::canonical(value);
  }
};

/// The last element; of a range without one, an error.
struct last : first {
  template <class T>
  TILEFOLD_HD T combine(const T&, const T& b) const {
    return b;
  }
};

/// What minmax gives.
template <class T>
struct extremes {
  T min;
  T max;
};

/// The smallest and the largest value; each as min and max.
template <nan_rule Nan = nan_rule::propagate>
struct minmax : detail::empty_reducer {
  template <detail::orderable T>
  TILEFOLD_HD extremes<T> lift(const T& value) const {
    return {value, value};
  }
  template <class T>
  TILEFOLD_HD extremes<T> combine(const extremes<T>& a, const extremes<T>& b) const {
    constexpr bool nan_wins = Nan == nan_rule::propagate;
    return {detail::extreme<false, nan_wins>(a.min, b.min),
            detail::extreme<true, nan_wins>(a.max, b.max)};
  }
  template <class T>
  TILEFOLD_HD extremes<T> project(const extremes<T>& value) const {
    return {detail::canonical(value.min), detail::canonical(value.max)};
  }
  template <class Acc>
    requires detail::number<decltype(Acc::min)>
  TILEFOLD_HD Acc identity() const {
    return {min<Nan>{}.template identity<decltype(Acc::min)>(),
            max<Nan>{}.template identity<decltype(Acc::max)>()};
  }
};

}  // namespace reducers

namespace detail {

template <class Op>
struct operator_ways {
  using plain_op = Op;
};
template <>
struct ways<reducers::sum> : operator_ways<plus> {};
template <>
struct ways<reducers::product> : operator_ways<multiplies> {};
template <>
struct ways<reducers::min<nan_rule::propagate>> : operator_ways<minimum> {};
template <>
struct ways<reducers::min<nan_rule::ignore>> : operator_ways<minimum_number> {};
template <>
struct ways<reducers::max<nan_rule::propagate>> : operator_ways<maximum> {};
template <>
struct ways<reducers::max<nan_rule::ignore>> : operator_ways<maximum_number> {};
template <>
struct ways<reducers::bit_and> : operator_ways<bit_and> {};
template <>
struct ways<reducers::bit_or> : operator_ways<bit_or> {};
template <>
struct ways<reducers::bit_xor> : operator_ways<bit_xor> {};

/// Of an `and` or `or`, which know the answer once a truth is not their identity.
template <class Op>
struct question_ways : order_free_ways {
  template <class R>
  TILEFOLD_HD static bool settled(const R&, bool value) {
    return value != op_traits<Op, bool>::identity();
  }
};
template <class Predicate>
struct ways<reducers::any<Predicate>> : question_ways<logical_or> {};
template <class Predicate>
struct ways<reducers::all<Predicate>> : question_ways<logical_and> {};
template <class Predicate>
struct ways<reducers::none<Predicate>> : question_ways<logical_or> {};
template <class Predicate>
struct ways<reducers::logical_xor<Predicate>> : order_free_ways {};

template <class Predicate>
struct ways<reducers::count_if<Predicate>> : order_free_ways {
  static constexpr bool counts = true;
};
template <>
struct ways<reducers::count> : order_free_ways {
  static constexpr block_statistic statistic = block_statistic::count;
};

template <>
struct ways<reducers::first> : separately_rounded_ways {};
template <>
struct ways<reducers::last> : separately_rounded_ways {};

template <template <class> class Question, class Predicate>
  requires one_of<Question<Predicate>, reducers::any<Predicate>, reducers::all<Predicate>,
                  reducers::none<Predicate>, reducers::logical_xor<Predicate>,
                  reducers::count_if<Predicate>>
struct functions_of<Question<Predicate>> : predicate_of<Predicate> {};

template <nan_rule Nan, class T>
struct reducer_traits<reducers::minmax<Nan>, reducers::extremes<T>> : selection_traits<T> {
  static constexpr bool commutative_among_equals = selection_traits<T>::commutative;
};

}  // namespace detail

}  // namespace tilefold
