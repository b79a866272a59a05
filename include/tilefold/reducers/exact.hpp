// SPDX-License-Identifier: Apache-2.0
//
// Exact sums: what the real numbers give, rounded once. No order enters, so they hold where the
// tree cannot: over data that arrive in another order, or are split by hand
// (exact_accumulator.hpp). NaN, infinities, zeros and overflow: as there.
//
// Result: void for the type of the elements (of means and roots of integers double), or a type by
// name, for instance exact_sum<double> over floats. It is rounded once, too. Sums of integers in an
// integer might not fit: there is checked_sum (checked_sum.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/reducer_shortcuts.hpp>
#include <tilefold/detail/exact/exact_blocks.hpp>
#include <tilefold/detail/exact/exact_state.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/op.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/reducer.hpp>

#if !defined(__CUDACC_RTC__)
#include <tilefold/detail/host/exact_fold.hpp>
#include <tilefold/detail/host/many_folds.hpp>
#if defined(__CUDACC__)
#include <tilefold/detail/cuda/exact/launch_exact.cuh>
#include <tilefold/detail/cuda/range/piece_folds.cuh>
#endif
#endif

namespace tilefold {

namespace detail {

/// Real results of elements of type T.
template <class T>
using exact_real = std::conditional_t<std::integral<T>, double, T>;

/// Exact sums of the parts of complex numbers.
template <class T>
struct exact_parts {
  exact_accumulator<typename T::value_type> re;
  exact_accumulator<typename T::value_type> im;
};

template <class T>
concept complex_summable = complex_like<T> && exactly_summable<typename T::value_type>;

/// An exact sum and the number of its elements.
template <class Sum>
struct counted_exact {
  Sum sum;
  std::int64_t count;
};

/// An exact sum of products of elements of type T.
template <class T>
struct exact_products {
  using value_type = T;
  typename exact_format<T>::products state;
};

/// Exact sums of the parts of products of complex numbers of type T.
template <class T>
struct exact_product_parts {
  using value_type = T;
  // One of doubles takes nvcc 13.0 more than eight minutes: an accumulator has 1088 bytes.
  static constexpr bool folds_on_gpus = sizeof(typename T::value_type) <= sizeof(float);
  exact_products<typename T::value_type> re;
  exact_products<typename T::value_type> im;
};

template <class T>
struct block_claims<exact_accumulator<T>> {
  static bool hold(const exact_accumulator<T>& acc, std::int64_t, std::int64_t) {
    const auto& state = exact_access::state_of(acc);
    return detail::marks_fit(state.marks, state.sum.is_zero());
  }
};
template <class T>
struct block_claims<exact_products<T>> {
  static bool hold(const exact_products<T>& acc, std::int64_t, std::int64_t) {
    return detail::marks_fit(acc.state.marks, acc.state.sum.is_zero());
  }
};
struct claims_of_parts {
  template <class Acc>
  static bool hold(const Acc& acc, std::int64_t begin, std::int64_t end) {
    using part = block_claims<decltype(acc.re)>;
    return part::hold(acc.re, begin, end) && part::hold(acc.im, begin, end);
  }
};
template <class T>
struct block_claims<exact_parts<T>> : claims_of_parts {};
template <class T>
struct block_claims<exact_product_parts<T>> : claims_of_parts {};
template <class Sum>
struct block_claims<counted_exact<Sum>> {
  static bool hold(const counted_exact<Sum>& acc, std::int64_t begin, std::int64_t end) {
    return counted_claims::hold(acc, begin, end) && block_claims<Sum>::hold(acc.sum, begin, end);
  }
};

/// Where two elements are multiplied: as integers if both are, else as floats or doubles, which
/// both of them have to be exactly.
template <class X, class Y>
struct exact_meeting {};
template <std::integral X, std::integral Y>
struct exact_meeting<X, Y> {
  using type = std::conditional_t<std::unsigned_integral<X> && std::unsigned_integral<Y>,
                                  std::uint64_t, std::int64_t>;
};
template <class X>
inline constexpr bool fits_double = std::same_as<X, double> || std::same_as<X, float> ||
                                    is_narrow_float<X> || (std::integral<X> && sizeof(X) <= 4);
template <class X, class Y>
  requires(fits_double<X> && fits_double<Y> && !(std::integral<X> && std::integral<Y>))
struct exact_meeting<X, Y> {
  template <class T>
  static constexpr bool fits_float =
      !std::same_as<T, double> && (!std::integral<T> || sizeof(T) <= 2);
  // Two narrow floats of one type stay what they are, so that the result is.
  using type =
      std::conditional_t<std::same_as<X, Y>, X,
                         std::conditional_t<fits_float<X> && fits_float<Y>, float, double>>;
};

struct exact_products_reducer : zero_reducer {
  template <class T>
  TILEFOLD_HD exact_products<T> combine(const exact_products<T>& a,
                                        const exact_products<T>& b) const {
    exact_products<T> result = a;
    result.state.add(b.state);
    return result;
  }
  template <class T>
  TILEFOLD_HD exact_product_parts<T> combine(const exact_product_parts<T>& a,
                                             const exact_product_parts<T>& b) const {
    return {combine(a.re, b.re), combine(a.im, b.im)};
  }

 protected:
  template <class T, class X, class Y>
  TILEFOLD_HD static exact_products<T> product(const X& x, const Y& y) {
    exact_products<T> result{};
    if constexpr (std::integral<X> && std::integral<Y>) {
      result.state.add_product_of(detail::exact_item(x), detail::exact_item(y));
    } else {
      using factor = std::conditional_t<std::same_as<T, double>, double, float>;
      result.state.add_product_of(static_cast<factor>(detail::exact_item(x)),
                                  static_cast<factor>(detail::exact_item(y)));
    }
    return result;
  }
  /// x y + u v.
  template <class Real>
  TILEFOLD_HD static exact_products<Real> sum_of_products(Real x, Real y, Real u, Real v) {
    exact_products<Real> result{};
    result.state.add_product_of(x, y);
    result.state.add_product_of(u, v);
    return result;
  }
};

struct exact_squares_reducer : exact_products_reducer {
  template <exactly_summable T>
  TILEFOLD_HD auto lift(const T& value) const {
    return product<T>(value, value);
  }
  template <complex_summable T>
  TILEFOLD_HD auto lift(const T& value) const {
    const auto z = detail::as_pair(value);
    return sum_of_products<typename T::value_type>(z.re, z.re, z.im, z.im);
  }
};

}  // namespace detail

namespace reducers {

/// The sum; of complex numbers by parts; of integers in a floating Result alone. Empty: 0.
template <class Result = void>
struct exact_sum : detail::zero_reducer {
  template <detail::exactly_summable T>
  TILEFOLD_HD exact_accumulator<T> lift(const T& value) const {
    return exact_accumulator<T>(value);
  }
  template <detail::complex_summable T>
  TILEFOLD_HD detail::exact_parts<T> lift(const T& value) const {
    using real = typename T::value_type;
    const auto z = detail::as_pair(value);
    return {exact_accumulator<real>(z.re), exact_accumulator<real>(z.im)};
  }

  template <class T>
  TILEFOLD_HD exact_accumulator<T> combine(const exact_accumulator<T>& a,
                                           const exact_accumulator<T>& b) const {
    exact_accumulator<T> result = a;
    result.merge(b);
    return result;
  }
  template <class T>
  TILEFOLD_HD detail::exact_parts<T> combine(const detail::exact_parts<T>& a,
                                             const detail::exact_parts<T>& b) const {
    return {combine(a.re, b.re), combine(a.im, b.im)};
  }

  template <class T>
  TILEFOLD_HD auto project(const exact_accumulator<T>& sum) const {
    return sum.template value<detail::named_or<Result, typename detail::exact_result<T>::type>>();
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::exact_parts<T>& sum) const {
    using result = detail::named_or<Result, T>;
    using real = typename result::value_type;
    return detail::from_pair<result>(
        {sum.re.template value<real>(), sum.im.template value<real>()});
  }
};

/// The mean: the exact sum divided by the number of elements, rounded once. Empty: an error.
template <class Result = void>
struct exact_mean : detail::empty_reducer {
  template <class T>
    requires detail::exactly_summable<T> || detail::complex_summable<T>
  TILEFOLD_HD auto lift(const T& value) const {
    const auto sum = exact_sum<>{}.lift(value);
    return detail::counted_exact<std::remove_const_t<decltype(sum)>>{sum, 1};
  }
  template <class Sum>
  TILEFOLD_HD detail::counted_exact<Sum> combine(const detail::counted_exact<Sum>& a,
                                                 const detail::counted_exact<Sum>& b) const {
    return {exact_sum<>{}.combine(a.sum, b.sum), a.count + b.count};
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::counted_exact<exact_accumulator<T>>& state) const {
    return state.sum.template mean<detail::named_or<Result, detail::exact_real<T>>>(state.count);
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::counted_exact<detail::exact_parts<T>>& state) const {
    using result = detail::named_or<Result, T>;
    using real = typename result::value_type;
    return detail::from_pair<result>({state.sum.re.template mean<real>(state.count),
                                      state.sum.im.template mean<real>(state.count)});
  }
};

/// The dot product of two ranges. Products are exact, also those that would overflow or underflow.
/// Elements of two types meet in float or double, whichever holds both. Of complex numbers of one
/// type by parts, neither factor conjugated; on a GPU not of doubles. Of integers in a floating
/// Result alone. Empty: 0.
template <class Result = void>
struct exact_dot : detail::exact_products_reducer {
  template <class X, class Y>
    requires requires { typename detail::exact_meeting<X, Y>::type; }
  TILEFOLD_HD auto lift(const X& x, const Y& y) const {
    return product<typename detail::exact_meeting<X, Y>::type>(x, y);
  }
  template <detail::complex_summable T>
  TILEFOLD_HD detail::exact_product_parts<T> lift(const T& x, const T& y) const {
    using real = typename T::value_type;
    const auto a = detail::as_pair(x);
    const auto b = detail::as_pair(y);
    return {sum_of_products<real>(a.re, b.re, a.im, -b.im),
            sum_of_products<real>(a.re, b.im, a.im, b.re)};
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::exact_products<T>& sum) const {
    return detail::value_of<detail::named_or<Result, typename detail::exact_result<T>::type>>(
        sum.state);
  }
  template <class T>
  TILEFOLD_HD auto project(const detail::exact_product_parts<T>& sum) const {
    using result = detail::named_or<Result, T>;
    using real = typename result::value_type;
    return detail::from_pair<result>(
        {detail::value_of<real>(sum.re.state), detail::value_of<real>(sum.im.state)});
  }
};

/// The sum of squares; of complex numbers that of their sizes; of integers in a floating Result
/// alone. Empty: 0.
template <class Result = void>
struct exact_sum_of_squares : detail::exact_squares_reducer {
  template <class T>
  TILEFOLD_HD auto project(const detail::exact_products<T>& sum) const {
    return detail::value_of<detail::named_or<Result, typename detail::exact_result<T>::type>>(
        sum.state);
  }
};

/// The l2 norm: the root of the exact sum of squares, rounded once. Empty: 0.
template <class Result = void>
struct exact_l2 : detail::exact_squares_reducer {
  template <class T>
  TILEFOLD_HD auto project(const detail::exact_products<T>& sum) const {
    return detail::root_of<detail::named_or<Result, detail::exact_real<T>>>(sum.state);
  }
};

}  // namespace reducers

namespace detail {

/// An exact sum is the real one, which an integer might not hold.
template <class Result>
struct exact_if_it_fits {
  template <class... Values>
  static constexpr bool fit() {
    constexpr bool yes = !(integer<Values> && ...) || !(std::is_void_v<Result> || integer<Result>);
    static_assert(
        yes,
        "tilefold: an integer might not hold an exact sum of integers: take checked_sum, which "
        "says whether it does, or a floating Result, as in exact_sum<double>");
    return yes;
  }
};
template <class Result>
struct functions_of<reducers::exact_sum<Result>> : exact_if_it_fits<Result> {};
template <class Result>
struct functions_of<reducers::exact_dot<Result>> : exact_if_it_fits<Result> {};
template <class Result>
struct functions_of<reducers::exact_sum_of_squares<Result>> : exact_if_it_fits<Result> {};

/// The float or double that an element brings to an exact sum.
struct exact_summand : empty_reducer {
  static constexpr exact_term term = exact_term::item;

  template <class T>
    requires(std::floating_point<T> || is_narrow_float<T>)
  TILEFOLD_HD auto lift(const T& value) const {
    return detail::exact_item(value);
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(Acc a, Acc b) const {
    return rounded_sum(a, b);
  }
  template <class Acc>
  TILEFOLD_HD Acc project(Acc value) const {
    return value;
  }
};

/// The same of a product: of two floats that is a double, exactly.
struct exact_product_summand : exact_summand {
  static constexpr exact_term term = exact_term::product;

  template <exact_in_float X, exact_in_float Y>
  TILEFOLD_HD double lift(const X& x, const Y& y) const {
    return rounded_product(static_cast<double>(detail::exact_item(x)),
                           static_cast<double>(detail::exact_item(y)));
  }
};
struct exact_square_summand : exact_summand {
  static constexpr exact_term term = exact_term::square;

  template <exact_in_float T>
  TILEFOLD_HD double lift(const T& x) const {
    return exact_product_summand{}.lift(x, x);
  }
};

template <std::derived_from<exact_summand> R>
struct ways<R> : commutative_ways {};

/// What has an exact sum of items, and how it is made of one.
template <class Acc>
struct exact_holder;
template <class T>
struct exact_holder<exact_accumulator<T>> {
  using value_type = T;
  using state = typename exact_format<T>::sum;
  TILEFOLD_HD static exact_accumulator<T> of(const state& sum, std::int64_t) {
    return exact_access::accumulator_of<T>(sum);
  }
};
template <class Sum>
struct exact_holder<counted_exact<Sum>> : exact_holder<Sum> {
  using state = typename exact_holder<Sum>::state;
  TILEFOLD_HD static counted_exact<Sum> of(const state& sum, std::int64_t n) {
    return {exact_holder<Sum>::of(sum, n), n};
  }
};
template <class T>
struct exact_holder<exact_products<T>> {
  using value_type = T;
  using state = typename exact_format<T>::products;
  TILEFOLD_HD static exact_products<T> of(const state& sum, std::int64_t) { return {sum}; }
};

template <class Summand>
struct exact_ways : order_free_ways {
  using summand = Summand;
  template <class Acc>
  using holder = exact_holder<Acc>;
};

// result<Acc>(sum, n): what project() gives of the accumulator of n elements with that sum.
template <class Summand, class Result>
struct ways_to_sum : exact_ways<Summand> {
  template <class Acc, class Window>
  TILEFOLD_HD static auto result(const Window& sum, std::int64_t) {
    return detail::value_of<named_or<Result, typename Acc::value_type>>(sum);
  }
};
template <class Result>
struct ways<reducers::exact_sum<Result>> : ways_to_sum<exact_summand, Result> {};
template <class Result>
struct ways<reducers::exact_dot<Result>> : ways_to_sum<exact_product_summand, Result> {};
template <class Result>
struct ways<reducers::exact_sum_of_squares<Result>> : ways_to_sum<exact_square_summand, Result> {};
template <class Result>
struct ways<reducers::exact_mean<Result>> : exact_ways<exact_summand> {
  template <class Acc, class Window>
  TILEFOLD_HD static auto result(const Window& sum, std::int64_t n) {
    return detail::mean_of<named_or<Result, typename decltype(Acc::sum)::value_type>>(sum, n);
  }
};
template <class Result>
struct ways<reducers::exact_l2<Result>> : exact_ways<exact_square_summand> {
  template <class Acc, class Window>
  TILEFOLD_HD static auto result(const Window& sum, std::int64_t) {
    return detail::root_of<named_or<Result, typename Acc::value_type>>(sum);
  }
};

}  // namespace detail

template <class T>
  requires detail::exactly_summable<T>
template <executor Exec, class It>
void exact_accumulator<T>::add(Exec&& exec, It first, It last) {
  constexpr bool of_its_type = std::same_as<std::iter_value_t<It>, T>;
  static_assert(of_its_type,
                "tilefold: the items that an executor adds to an exact accumulator must have the "
                "type of its items");
  constexpr bool of_one_rank = !detail::spans_ranks<detail::executor_base_t<Exec>>;
  static_assert(
      of_one_rank,
      "tilefold: an exact accumulator adds one rank's items: pass the executor that folds "
      "them, not ranks(), and merge the accumulators of all ranks");
  using summed = reducers::exact_sum<std::conditional_t<detail::integer<T>, double, void>>;
  using arguments = detail::init_and_op<detail::no_init, summed>;
  if constexpr (!of_its_type || !of_one_rank) {
    return;
  } else if constexpr (detail::folds<void, Exec, arguments, detail::as_is, It>()) {
    const std::int64_t n = detail::count_items("exact_accumulator::add", first, last);
    if (n == 0) return;
    using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
    auto&& base = parts::base(exec);
    const auto items = detail::bind<void, It>(arguments{}, detail::as_is{});
    exact_accumulator all;
    detail::host::in_default_float_mode([&] {
      base.template fold_blocks<typename parts::policy>(
          items.source(base, first), items.reducer, 0, n,
          [&](const exact_accumulator& part, std::int64_t) { all.merge(part); });
    });
    merge(all);
  }
}

template <class T>
  requires detail::exactly_summable<T>
template <executor Exec, class Range>
void exact_accumulator<T>::add(Exec&& exec, Range&& range) {
  add(exec, std::begin(range), std::end(range));
}

}  // namespace tilefold
