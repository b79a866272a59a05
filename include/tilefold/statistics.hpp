// SPDX-License-Identifier: Apache-2.0
//
// mean, variance, norm, logsumexp: numbers about a range of numbers, in double.
#pragma once

#include <tilefold/detail/verbs/reducer_verb.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>

namespace tilefold {

namespace detail {

struct make_variance {
  reducers::variance operator()() const { return {}; }
  reducers::variance operator()(divisor by) const { return reducers::variance(by); }
};

struct make_norm {
  reducers::l2 operator()() const { return {}; }
  template <reducer R>
  R operator()(R norm) const {
    return norm;
  }
};

}  // namespace detail

/// The arithmetic mean (reducers::mean) as a double.
///
///     mean([exec,] first, last)     mean([exec,] range)
///     mean_into(exec, first, last, out)
///
/// Executors, memory, errors and `out` are as for reduce() and reduce_into(). Empty:
/// empty_range_error.
inline constexpr detail::value_verb<detail::make<reducers::mean>> mean{"mean"};
inline constexpr detail::value_verb_into<detail::make<reducers::mean>> mean_into{"mean_into"};

/// The variance (reducers::variance) as a double: of a sample, divided by n - 1, unless
/// divisor::population follows the range. As mean.
inline constexpr detail::value_verb<detail::make_variance> variance{"variance"};
inline constexpr detail::value_verb_into<detail::make_variance> variance_into{"variance_into"};

/// The l2 norm (reducers::l2) as a double, or another norm if its reducer follows the range:
/// norm(x, reducers::l1{}). As mean; empty: 0.
inline constexpr detail::value_verb<detail::make_norm> norm{"norm"};
inline constexpr detail::value_verb_into<detail::make_norm> norm_into{"norm_into"};

/// log(sum exp(x)) as a double (reducers::logsumexp). As mean; empty: -infinity.
inline constexpr detail::value_verb<detail::make<reducers::logsumexp>> logsumexp{"logsumexp"};
inline constexpr detail::value_verb_into<detail::make<reducers::logsumexp>> logsumexp_into{
    "logsumexp_into"};

}  // namespace tilefold
