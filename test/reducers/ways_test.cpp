// SPDX-License-Identifier: Apache-2.0
//
// What is known of each of the library's reducers: what it says of itself, and which shorter ways
// the folds take with it. A way that is lost gives the same bits later; a way too many, other bits.
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "cases.hpp"

namespace tilefold::test {
namespace {

/// What is known of reducer R over elements of types Values, as words.
template <class R, class... Values>
std::string known_of() {
  using bound = detail::bound_reducer<R, detail::as_is, Values...>;
  using acc = typename bound::accumulator;
  using traits = detail::reducer_traits<R, acc>;
  std::string words;
  const auto add = [&](bool holds, const char* word) {
    if (holds) words += words.empty() ? word : std::string(" ") + word;
  };
  add(detail::operator_reducer<R>, "operator");
  add(detail::is_indexed<R>, "indexed");
  add(traits::commutative, "commutative");
  add(traits::commutative_among_equals && !traits::commutative, "commutative_among_equals");
  add(traits::order_free, "order_free");
  add(traits::separately_rounded, "separately_rounded");
  add(detail::statistic_of<R> == detail::block_statistic::count, "count");
  add(detail::statistic_of<R> == detail::block_statistic::mean, "mean");
  add(detail::statistic_of<R> == detail::block_statistic::moments, "moments");
  add(detail::combines_equals<R, acc>, "combine_equals");
  add(bound::lifts_packets, "lift_packet");
  add(bound::looks_at_range, "looks_at_range");
  add(bound::long_combine, "long_combine");
  add(bound::counts, "counts");
  add(bound::settles, "settles");
  add(bound::absorbs, "absorbs");
  add(bound::finds_places, "finds_places");
  add(bound::selects, "selects");
  add(detail::has_reducer_identity<R, acc>, "identity");
  return words;
}

using table = std::map<std::string, std::string>;

/// Adds what is known of R over each type: of all types at once if they agree.
template <class R>
void add_known(table& known, const std::string& name) {
  const std::vector<std::pair<const char*, std::string>> of_types{
      {"float", known_of<R, float>()},        {"double", known_of<R, double>()},
      {"half", known_of<R, half>()},          {"uint8", known_of<R, std::uint8_t>()},
      {"int32", known_of<R, std::int32_t>()}, {"int64", known_of<R, std::int64_t>()}};
  bool agree = true;
  for (const auto& [type, words] : of_types) agree = agree && words == of_types.front().second;
  if (agree) {
    known[name] = of_types.front().second;
  } else {
    for (const auto& [type, words] : of_types) known[name + " of " + type] = words;
  }
}
template <class R>
void add_known_of_floats(table& known, const std::string& name) {
  known[name + " of float"] = known_of<R, float>();
  known[name + " of double"] = known_of<R, double>();
}
template <class R>
void add_known_of_integers(table& known, const std::string& name) {
  known[name + " of uint8"] = known_of<R, std::uint8_t>();
  known[name + " of int64"] = known_of<R, std::int64_t>();
}
template <class R>
void add_known_of_pairs(table& known, const std::string& name) {
  known[name + " of floats"] = known_of<R, float, float>();
  known[name + " of doubles"] = known_of<R, double, double>();
}

table known_of_all() {
  constexpr auto ignore = nan_rule::ignore;
  table known;
  const auto add = [&](const char* name, const auto& reducer) {
    add_known<std::remove_cvref_t<decltype(reducer)>>(known, name);
  };
  add("sum", r::sum{});
  add("product", r::product{});
  add("min", r::min{});
  add("min ignoring NaN", r::min<ignore>{});
  add("max", r::max{});
  add("max ignoring NaN", r::max<ignore>{});
  add("minmax", r::minmax{});
  add("minmax ignoring NaN", r::minmax<ignore>{});
  add("count", r::count{});
  add("count_if", r::count_if{positive{}});
  add("any", r::any{});
  add("all", r::all{});
  add("none", r::none{});
  add("any positive", r::any{positive{}});
  add("logical_xor", r::logical_xor{});
  add("first", r::first{});
  add("last", r::last{});
  add("arg_min", r::arg_min{});
  add("arg_min ignoring NaN", r::arg_min<ignore>{});
  add("arg_max", r::arg_max{});
  add("arg_max ignoring NaN", r::arg_max<ignore>{});
  add("arg_minmax", r::arg_minmax{});
  add("arg_minmax ignoring NaN", r::arg_minmax<ignore>{});
  add("arg_min_by", r::arg_min_by{distance_from_two{}, farther{}});
  add("top_k", r::top_k<3>{});
  add("top_k ignoring NaN", r::top_k<32, ignore>{});
  add("bottom_k", r::bottom_k<1>{});
  add("bottom_k ignoring NaN", r::bottom_k<8, ignore>{});
  add("mean", r::mean{});
  add("variance", r::variance{});
  add("standard_deviation", r::standard_deviation{});
  add("mean_variance", r::mean_variance{});
  add("skewness", r::skewness{});
  add("kurtosis", r::kurtosis{});
  add("geometric_mean", r::geometric_mean{});
  add("harmonic_mean", r::harmonic_mean{});
  add("l1", r::l1{});
  add("l2", r::l2{});
  add("rms", r::rms{});
  add("linf", r::linf{});
  add("logsumexp", r::logsumexp{});
  add("softmax_pair", r::softmax_pair{});
  add("make_reducer", r::make_reducer(lift_sign{}, join_runs{}, count_changes{}));
  add("fuse: count, mean, variance, max", r::fuse(r::count{}, r::mean{}, r::variance{}, r::max{}));
  add("fuse: mean, arg_min", r::fuse(r::mean{}, r::arg_min{}));
  add("fuse: min, minmax", r::fuse(r::min{}, r::minmax{}));
  add("fuse: fuse: variance, softmax_pair", r::fuse(r::fuse(r::variance{}, r::softmax_pair{})));
  add("fuse: any, last", r::fuse(r::any{}, r::last{}));
  add("fuse: top_k", r::fuse(r::top_k<2>{}));
  add_known_of_floats<r::compensated_sum>(known, "compensated_sum");
  add_known_of_integers<r::bit_and>(known, "bit_and");
  add_known_of_integers<r::bit_or>(known, "bit_or");
  add_known_of_integers<r::bit_xor>(known, "bit_xor");
  add_known_of_pairs<r::count>(known, "count");
  add_known_of_pairs<r::dot>(known, "dot");
  add_known_of_pairs<r::compensated_dot>(known, "compensated_dot");
  add_known_of_pairs<r::cosine>(known, "cosine");
  add_known_of_pairs<r::covariance>(known, "covariance");
  add_known_of_pairs<r::correlation>(known, "correlation");
  add_known_of_pairs<r::weighted_mean>(known, "weighted_mean");
  add_known_of_pairs<decltype(r::fuse(r::covariance{}, r::dot{}))>(known, "fuse: covariance, dot");
  return known;
}

/// What was known of each when their ways were members of theirs.
const std::vector<std::pair<const char*, std::vector<const char*>>> expected{
    {"", {"make_reducer"}},
    {"commutative order_free separately_rounded combine_equals identity", {"fuse: min, minmax"}},
    {"commutative order_free separately_rounded count identity",
     {"count", "count of doubles", "count of floats"}},
    {"commutative order_free separately_rounded counts identity", {"count_if"}},
    {"commutative order_free separately_rounded identity",
     {"linf", "logical_xor", "minmax", "minmax ignoring NaN"}},
    {"commutative order_free separately_rounded settles identity",
     {"all", "any", "any positive", "none"}},
    {"commutative separately_rounded",
     {"cosine of doubles", "cosine of floats", "geometric_mean", "harmonic_mean", "rms",
      "weighted_mean of doubles", "weighted_mean of floats"}},
    {"commutative separately_rounded identity",
     {"compensated_dot of doubles", "compensated_dot of floats", "compensated_sum of double",
      "compensated_sum of float", "dot of doubles", "dot of floats", "l1", "l2"}},
    {"commutative separately_rounded lift_packet identity",
     {"logsumexp of float", "logsumexp of half", "softmax_pair of float", "softmax_pair of half"}},
    {"commutative separately_rounded long_combine identity",
     {"logsumexp of double", "logsumexp of int32", "logsumexp of int64", "logsumexp of uint8",
      "softmax_pair of double", "softmax_pair of int32", "softmax_pair of int64",
      "softmax_pair of uint8"}},
    {"commutative separately_rounded mean",
     {"mean of float", "mean of half", "mean of int32", "mean of int64", "mean of uint8"}},
    {"commutative separately_rounded mean looks_at_range", {"mean of double"}},
    {"commutative_among_equals separately_rounded combine_equals",
     {"correlation of doubles", "correlation of floats", "covariance of doubles",
      "covariance of floats", "fuse: count, mean, variance, max of int64",
      "fuse: covariance, dot of doubles", "fuse: covariance, dot of floats",
      "fuse: fuse: variance, softmax_pair of int64"}},
    {"commutative_among_equals separately_rounded combine_equals looks_at_range",
     {"fuse: count, mean, variance, max of double",
      "fuse: fuse: variance, softmax_pair of double"}},
    {"commutative_among_equals separately_rounded combine_equals lift_packet",
     {"fuse: count, mean, variance, max of float", "fuse: count, mean, variance, max of half",
      "fuse: count, mean, variance, max of int32", "fuse: count, mean, variance, max of uint8",
      "fuse: fuse: variance, softmax_pair of float", "fuse: fuse: variance, softmax_pair of half",
      "fuse: fuse: variance, softmax_pair of int32",
      "fuse: fuse: variance, softmax_pair of uint8"}},
    {"commutative_among_equals separately_rounded moments combine_equals",
     {"mean_variance of int64", "standard_deviation of int64", "variance of int64"}},
    {"commutative_among_equals separately_rounded moments combine_equals looks_at_range",
     {"mean_variance of double", "standard_deviation of double", "variance of double"}},
    {"commutative_among_equals separately_rounded moments combine_equals lift_packet",
     {"mean_variance of float", "mean_variance of half", "mean_variance of int32",
      "mean_variance of uint8", "standard_deviation of float", "standard_deviation of half",
      "standard_deviation of int32", "standard_deviation of uint8", "variance of float",
      "variance of half", "variance of int32", "variance of uint8"}},
    {"indexed", {"arg_min_by"}},
    {"indexed commutative order_free separately_rounded absorbs finds_places",
     {"arg_max", "arg_max ignoring NaN", "arg_min", "arg_min ignoring NaN", "arg_minmax",
      "arg_minmax ignoring NaN"}},
    {"indexed commutative order_free separately_rounded absorbs selects",
     {"bottom_k", "bottom_k ignoring NaN", "top_k", "top_k ignoring NaN"}},
    {"indexed commutative order_free separately_rounded combine_equals", {"fuse: top_k"}},
    {"indexed commutative separately_rounded combine_equals",
     {"fuse: mean, arg_min of float", "fuse: mean, arg_min of half", "fuse: mean, arg_min of int32",
      "fuse: mean, arg_min of int64", "fuse: mean, arg_min of uint8"}},
    {"indexed commutative separately_rounded combine_equals looks_at_range",
     {"fuse: mean, arg_min of double"}},
    {"operator commutative order_free separately_rounded identity",
     {"bit_and of int64", "bit_and of uint8", "bit_or of int64", "bit_or of uint8",
      "bit_xor of int64", "bit_xor of uint8", "max", "max ignoring NaN", "min", "min ignoring NaN",
      "product of int32", "product of int64", "product of uint8", "sum of int32", "sum of int64",
      "sum of uint8"}},
    {"operator commutative separately_rounded identity",
     {"product of double", "product of float", "product of half", "sum of double", "sum of float",
      "sum of half"}},
    {"separately_rounded", {"first", "kurtosis", "last", "skewness"}},
    {"separately_rounded combine_equals", {"fuse: any, last"}},
};

TEST(Ways, AreThoseOfEachReducer) {
  table known = known_of_all();
  for (const auto& [words, names] : expected) {
    for (const char* name : names) {
      ASSERT_EQ(known.count(name), 1u) << name;
      EXPECT_EQ(known[name], words) << name;
      known.erase(name);
    }
  }
  for (const auto& [name, words] : known) ADD_FAILURE() << name << " is not in the list: " << words;
}

}  // namespace
}  // namespace tilefold::test
