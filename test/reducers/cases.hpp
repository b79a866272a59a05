// SPDX-License-Identifier: Apache-2.0
//
// Every reducer by name, for tests that hold for all of them; and a result's values as bytes,
// without the padding between them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "../support/items.hpp"
#include "../support/oracle.hpp"

namespace tilefold::test {

namespace r = tilefold::reducers;

template <class T>
void append_bytes(std::string& bytes, const T& value);

template <class T>
void append_bytes(std::string& bytes, const r::extremes<T>& x) {
  append_bytes(bytes, x.min);
  append_bytes(bytes, x.max);
}
template <class T>
void append_bytes(std::string& bytes, const r::indexed_value<T>& x) {
  append_bytes(bytes, x.value);
  append_bytes(bytes, x.index);
}
template <class T>
void append_bytes(std::string& bytes, const r::indexed_extremes<T>& x) {
  append_bytes(bytes, x.min);
  append_bytes(bytes, x.max);
}
template <class T, int K>
void append_bytes(std::string& bytes, const r::best_elements<T, K>& x) {
  append_bytes(bytes, x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) append_bytes(bytes, x[i]);
}
inline void append_bytes(std::string& bytes, const r::mean_and_variance& x) {
  append_bytes(bytes, x.mean);
  append_bytes(bytes, x.variance);
}
inline void append_bytes(std::string& bytes, const r::max_and_sum& x) {
  append_bytes(bytes, x.max);
  append_bytes(bytes, x.sum);
}
template <std::size_t... I, class... T>
void append_bytes(std::string& bytes, const detail::pack_of<std::index_sequence<I...>, T...>& x) {
  (append_bytes(bytes, x.template get<I>()), ...);
}
template <class T>
void append_bytes(std::string& bytes, const T& value) {
  static_assert(std::is_arithmetic_v<T> || is_narrow_float<T>);
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

/// The bytes of a result's values, as hexadecimal digits.
template <class T>
std::string bits_of(const T& result) {
  std::string bytes;
  append_bytes(bytes, result);
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

/// What a reducer makes of values by definition: the neighbour tree of its lifts.
template <class R, class... Values>
auto by_definition(const R& reducer, const std::vector<Values>&... values) {
  const auto& first = std::get<0>(std::tie(values...));
  using acc = detail::reducer_accumulator_t<R, Values...>;
  const auto leaf = [&](std::size_t i) -> acc {
    if constexpr (detail::is_indexed<R>) {
      return reducer.lift(Values(values[i])..., static_cast<std::int64_t>(i));
    } else {
      return reducer.lift(Values(values[i])...);
    }
  };
  const auto join = [&](const acc& a, const acc& b) { return reducer.combine(a, b); };
  return reducer.project(tree_of_leaves<acc>(join, leaf, 0, first.size()));
}

struct positive {
  template <class T>
  TILEFOLD_HD bool operator()(const T& value) const {
    return detail::convert<double>(value) > 0.0;
  }
};

struct distance_from_two {
  template <class T>
  TILEFOLD_HD double operator()(const T& value) const {
    const double x = detail::convert<double>(value);
    return x < 2.0 ? 2.0 - x : x - 2.0;
  }
};

struct farther {
  TILEFOLD_HD bool operator()(double a, double b) const { return a > b; }
};

// A reducer of the user's: how many elements, and how many changes of sign between neighbours.
struct sign_runs {
  std::int32_t changes;
  std::int32_t first;
  std::int32_t last;
};
struct lift_sign {
  template <class T>
  TILEFOLD_HD sign_runs operator()(const T& value) const {
    const std::int32_t sign = positive{}(value) ? 1 : 0;
    return {0, sign, sign};
  }
};
struct join_runs {
  TILEFOLD_HD sign_runs operator()(const sign_runs& a, const sign_runs& b) const {
    return {a.changes + b.changes + (a.last != b.first ? 1 : 0), a.first, b.last};
  }
};
struct count_changes {
  TILEFOLD_HD std::int32_t operator()(const sign_runs& runs) const { return runs.changes; }
};

/// Calls visit(name, reducer) for the reducers of one range of T that answer questions.
template <class T, class Visit>
void visit_questions(Visit visit) {
  visit("count", r::count{});
  visit("count_if", r::count_if{positive{}});
  visit("any", r::any{});
  visit("all", r::all{positive{}});
  visit("none", r::none{positive{}});
  visit("logical_xor", r::logical_xor{positive{}});
  visit("custom", r::make_reducer(lift_sign{}, join_runs{}, count_changes{}));
  if constexpr (std::integral<T>) {
    visit("bit_and", r::bit_and{});
    visit("bit_or", r::bit_or{});
    visit("bit_xor", r::bit_xor{});
  }
}

/// The same for those that select elements.
template <class T, class Visit>
void visit_extremes(Visit visit) {
  constexpr auto ignore = nan_rule::ignore;
  visit("min", r::min{});
  visit("max ignoring NaN", r::max<ignore>{});
  visit("minmax", r::minmax{});
  visit("minmax ignoring NaN", r::minmax<ignore>{});
  visit("arg_min", r::arg_min{});
  visit("arg_min ignoring NaN", r::arg_min<ignore>{});
  visit("arg_max", r::arg_max{});
  visit("arg_max ignoring NaN", r::arg_max<ignore>{});
  visit("arg_minmax", r::arg_minmax{});
  visit("arg_min_by", r::arg_min_by{distance_from_two{}, farther{}});
  visit("first", r::first{});
  visit("last", r::last{});
  visit("top_k", r::top_k<3>{});
  visit("bottom_k ignoring NaN", r::bottom_k<8, ignore>{});
}

/// The same for those that answer questions or select elements.
template <class T, class Visit>
void visit_selections(Visit visit) {
  visit_questions<T>(visit);
  visit_extremes<T>(visit);
}

/// The same for sums and moments.
template <class T, class Visit>
void visit_moments(Visit visit) {
  visit("sum", r::sum{});
  visit("product", r::product{});
  visit("mean", r::mean{});
  visit("variance", r::variance{});
  visit("standard_deviation", r::standard_deviation(divisor::population));
  visit("mean_variance", r::mean_variance{});
  visit("skewness", r::skewness{});
  visit("kurtosis", r::kurtosis{});
}

/// The same for norms and means of other kinds.
template <class T, class Visit>
void visit_norms(Visit visit) {
  visit("l1", r::l1{});
  visit("l2", r::l2{});
  visit("linf", r::linf{});
  visit("rms", r::rms{});
  visit("logsumexp", r::logsumexp{});
  visit("softmax_pair", r::softmax_pair{});
  visit("geometric_mean", r::geometric_mean{});
  visit("harmonic_mean", r::harmonic_mean{});
  if constexpr (!std::integral<T>) visit("compensated_sum", r::compensated_sum{});
}

template <class T, class Visit>
void visit_reducers(Visit visit) {
  visit_selections<T>(visit);
  visit_moments<T>(visit);
  visit_norms<T>(visit);
}

/// The same for reducers of two ranges.
template <class T, class Visit>
void visit_pair_reducers(Visit visit) {
  visit("covariance", r::covariance{});
  visit("correlation", r::correlation{});
  visit("weighted_mean", r::weighted_mean{});
  visit("dot", r::dot{});
  visit("cosine", r::cosine{});
  if constexpr (!std::integral<T>) visit("compensated_dot", r::compensated_dot{});
  visit("fuse of two ranges", r::fuse(r::count{}, r::covariance{}, r::dot{}));
}

/// Every operand's sizes: the ends of packets, rows, warps' chunks and tiles.
inline std::vector<std::int64_t> reducer_sizes() {
  return {1,    2,    3,    4,    5,    7,    8,    15,   16,   17,    31,    33,
          63,   64,   65,   100,  127,  129,  255,  257,  511,  513,   1000,  1023,
          1025, 2047, 2049, 4095, 4097, 8191, 8192, 8193, 9999, 16385, 32769, 100003};
}

/// Kinds of data that say something about reducers of T.
template <class T>
std::vector<pattern> reducer_patterns() {
  if constexpr (layout_known<T>) {
    return {pattern::mixed,    pattern::near_one,   pattern::nan_first,    pattern::nan_middle,
            pattern::nan_last, pattern::many_nans,  pattern::one_infinity, pattern::both_infinities,
            pattern::zeros,    pattern::subnormals, pattern::any_bits};
  } else {
    return {pattern::any_bits};
  }
}

}  // namespace tilefold::test
