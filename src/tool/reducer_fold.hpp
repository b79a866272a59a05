// SPDX-License-Identifier: Apache-2.0
//
// What each named reducer runs, and how its result is shown. For every backend: `fold` is its way
// of folding a range with a reducer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "any_items.hpp"
#include "backend.hpp"
#include "field.hpp"

namespace tilefold::tool {

inline constexpr int few_listed = 8;

template <class Wide, class Fold>
class reducer_fold {
 public:
  /// `items` are the job's, where `fold` can read them; fold(first, count, reducer) gives the
  /// reducer's result.
  reducer_fold(const fold_job& job, const void* items, Fold& fold)
      : job_(job), items_(items), fold_(fold) {}

  std::vector<field> run() {
    namespace r = reducers;
    constexpr divisor population = divisor::population;
    // Integers have no NaN to be treated in two ways.
    constexpr nan_rule ignore = std::is_integral_v<Wide> ? nan_rule::propagate : nan_rule::ignore;
    switch (job_.op) {
      case op_kind::count:
        return one(folded(r::count{}));
      case op_kind::any:
        return one(folded(r::any{}));
      case op_kind::all:
        return one(folded(r::all{}));
      case op_kind::none:
        return one(!folded(r::any{}));
      case op_kind::logical_xor:
        return one(folded(r::logical_xor{}));
      case op_kind::first:
        return one(item(folded(r::first{})));
      case op_kind::last:
        return one(item(folded(r::last{})));
      case op_kind::minmax:
        return extremes(folded(r::minmax<>{}));
      case op_kind::minmax_number:
        return extremes(folded(r::minmax<ignore>{}));
      case op_kind::arg_min:
        return place(folded(r::arg_min<>{}));
      case op_kind::arg_max:
        return place(folded(r::arg_max<>{}));
      case op_kind::arg_minmax:
        return places(folded(r::arg_minmax<>{}));
      case op_kind::arg_min_number:
        return place(folded(r::arg_min<ignore>{}));
      case op_kind::arg_max_number:
        return place(folded(r::arg_max<ignore>{}));
      case op_kind::arg_minmax_number:
        return places(folded(r::arg_minmax<ignore>{}));
      case op_kind::top_k:
        return listed(r::top_k<few_listed>{}, r::top_k<most_listed>{});
      case op_kind::bottom_k:
        return listed(r::bottom_k<few_listed>{}, r::bottom_k<most_listed>{});
      case op_kind::top_k_number:
        return listed(r::top_k<few_listed, ignore>{}, r::top_k<most_listed, ignore>{});
      case op_kind::bottom_k_number:
        return listed(r::bottom_k<few_listed, ignore>{}, r::bottom_k<most_listed, ignore>{});
      case op_kind::mean:
        return one(folded(r::mean{}));
      case op_kind::variance:
        return one(folded(r::variance{}));
      case op_kind::population_variance:
        return one(folded(r::variance{population}));
      case op_kind::standard_deviation:
        return one(folded(r::standard_deviation{}));
      case op_kind::population_standard_deviation:
        return one(folded(r::standard_deviation{population}));
      case op_kind::mean_variance: {
        const auto found = folded(r::mean_variance{});
        return {one_field("mean", found.mean), one_field("variance", found.variance)};
      }
      case op_kind::skewness:
        return one(folded(r::skewness{}));
      case op_kind::kurtosis:
        return one(folded(r::kurtosis{}));
      case op_kind::geometric_mean:
        return one(folded(r::geometric_mean{}));
      case op_kind::harmonic_mean:
        return one(folded(r::harmonic_mean{}));
      case op_kind::l1:
        return one(folded(r::l1{}));
      case op_kind::l2:
        return one(folded(r::l2{}));
      case op_kind::linf:
        return one(narrow_magnitude(job_.type, folded(r::linf{})));
      case op_kind::rms:
        return one(folded(r::rms{}));
      case op_kind::logsumexp:
        return one(folded(r::logsumexp{}));
      case op_kind::softmax_pair: {
        const auto found = folded(r::softmax_pair{});
        return {one_field("max", found.max), one_field("sum", found.sum)};
      }
      case op_kind::compensated_sum:
        return compensated_sum();
      case op_kind::exact_sum:
        return exact(r::exact_sum<double>{});
      case op_kind::exact_mean:
        return exact(r::exact_mean<double>{});
      case op_kind::exact_sum_of_squares:
        return exact(r::exact_sum_of_squares<double>{});
      case op_kind::exact_l2:
        return exact(r::exact_l2<double>{});
      default:
        throw std::logic_error("an operator, not a reducer");
    }
  }

 private:
  template <class Reducer>
  auto folded(const Reducer& reducer) {
    return fold_(any_items<Wide>{items_, job_.type}, job_.count, reducer);
  }

  // The library computes it in the items' own precision.
  std::vector<field> compensated_sum() {
    if constexpr (std::is_floating_point_v<Wide>) {
      const reducers::compensated_sum reducer;
      if (job_.type == dtype::float64) return one(folded(reducer));
      return one(fold_(any_items<float>{items_, job_.type}, job_.count, reducer));
    } else {
      throw std::logic_error("a compensated sum of integers");
    }
  }

  template <class Reducer>
  std::vector<field> exact(const Reducer& reducer) {
    if constexpr (Fold::on_host) {
      return one(folded(reducer));
    } else {
      throw std::logic_error("runs on the host only");
    }
  }

  scalar item(Wide value) const { return narrow_again(job_.type, value); }

  template <class T>
  static std::vector<field> one(const T& value) {
    return {one_field("", value)};
  }

  std::vector<field> extremes(const reducers::extremes<Wide>& found) const {
    return {one_field("min", item(found.min)), one_field("max", item(found.max))};
  }

  std::vector<field> place(const reducers::indexed_value<Wide>& found) const {
    return {one_field("value", item(found.value)), one_field("index", found.index)};
  }

  std::vector<field> places(const reducers::indexed_extremes<Wide>& found) const {
    return {one_field("min", item(found.min.value)), one_field("min_index", found.min.index),
            one_field("max", item(found.max.value)), one_field("max_index", found.max.index)};
  }

  // Lists of many are slow.
  template <class Few, class Many>
  std::vector<field> listed(const Few& few, const Many& many) {
    if constexpr (Fold::on_host) {
      return job_.k <= few_listed ? best(folded(few)) : best(folded(many));
    } else {
      throw std::logic_error("runs on the host only");
    }
  }

  // The best few are the first of the best many.
  template <class Best>
  std::vector<field> best(const Best& found) const {
    field values{"values", {}, true}, indices{"indices", {}, true};
    const auto size = std::min<std::int64_t>(job_.k, found.size());
    for (std::int64_t i = 0; i < size; ++i) {
      values.values.push_back(item(found[i].value));
      indices.values.push_back(scalar::of(found[i].index));
    }
    return {values, indices};
  }

  const fold_job& job_;
  const void* items_;
  Fold& fold_;
};

}  // namespace tilefold::tool
