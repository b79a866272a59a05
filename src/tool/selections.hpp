// SPDX-License-Identifier: Apache-2.0
//
// Reducers that answer a question about items, or select some.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "reducer_fold.hpp"

namespace tilefold::tool {

inline constexpr int few_listed = 8;

template <class Wide, class Fold>
class selections : reducer_fold<Wide, Fold> {
  using base = reducer_fold<Wide, Fold>;
  using base::folded;
  using base::item;
  using base::job;
  using base::one;

 public:
  using base::base;

  std::vector<field> run() {
    namespace r = reducers;
    // Integers have no NaN to be treated in two ways.
    constexpr nan_rule ignore = std::is_integral_v<Wide> ? nan_rule::propagate : nan_rule::ignore;
    switch (job().op) {
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
      default:
        throw std::logic_error("a reducer of another family");
    }
  }

 private:
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
      return job().k <= few_listed ? best(folded(few)) : best(folded(many));
    } else {
      throw std::logic_error("runs on the host only");
    }
  }

  // The best few are the first of the best many.
  template <class Best>
  std::vector<field> best(const Best& found) const {
    field values{"values", {}, true}, indices{"indices", {}, true};
    const auto size = std::min<std::int64_t>(job().k, found.size());
    for (std::int64_t i = 0; i < size; ++i) {
      values.values.push_back(item(found[i].value));
      indices.values.push_back(scalar::of(found[i].index));
    }
    return {values, indices};
  }
};

}  // namespace tilefold::tool
