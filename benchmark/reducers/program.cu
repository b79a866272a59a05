// SPDX-License-Identifier: Apache-2.0
//
// Reducers on a GPU against the plain read of the same bytes, and where they have the like against
// cub and thrust: what their accumulators cost. Arguments: support/program.hpp.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "../support/contest.hpp"
#include "../support/program.hpp"
#include "../support/tilefold.cuh"

namespace bench {

namespace {

namespace r = tilefold::reducers;

// ---- results without padding, which can be compared byte by byte; made of what reducers give

struct five_statistics {
  std::int64_t count;
  double mean, variance;
  float min, max;

  five_statistics() = default;
  template <class Results>
  TILEFOLD_HD explicit five_statistics(const Results& of)
      : count(of.template get<0>()),
        mean(of.template get<1>()),
        variance(of.template get<2>()),
        min(of.template get<3>()),
        max(of.template get<4>()) {}
};

struct place {
  double value;
  std::int64_t index;

  place() = default;
  template <class T>
  TILEFOLD_HD explicit place(const r::indexed_value<T>& found)
      : value(found.value), index(found.index) {}
};

struct places {
  place min, max;

  places() = default;
  template <class T>
  TILEFOLD_HD explicit places(const r::indexed_extremes<T>& found)
      : min(found.min), max(found.max) {}
};

constexpr int k = 8;
using best = r::best_elements<float, k>;

// ---- contents

/// Uniform between -8 and 8, as the inputs of a softmax are.
struct logits {
  using item = float;
  TILEFOLD_HD static float at(index i) {
    return static_cast<float>(static_cast<std::int32_t>(scrambled(i))) * 0x1p-28f;
  }
};

constexpr index all_floats = index{1} << 30;

/// Nothing below zero but one item in the first percent.
struct early_hit {
  using item = float;
  TILEFOLD_HD static float at(index i) { return i % all_floats == all_floats / 128 ? -1.0f : 1.0f; }
};
struct no_hit {
  using item = float;
  TILEFOLD_HD static float at(index) { return 1.0f; }
};

struct is_seven {
  TILEFOLD_HD bool operator()(std::uint8_t x) const { return x == 7; }
};

struct is_negative {
  TILEFOLD_HD bool operator()(float x) const { return x < 0; }
};

// ---- rules

std::string about(double got, double expected, double relative_error) {
  return value_error(std::abs(got - expected) <= relative_error * std::abs(expected), got,
                     expected);
}

struct five_rule {
  struct partial {
    wide_sum sum;
    float min, max;
  };
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const float* items, index i, index) {
    return {wide_sum::of(items[i]), items[i], items[i]};
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) {
    return {a.sum + b.sum, a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
  }
  static double mean(const partial& p, index n) {
    return (p.sum.sum + p.sum.lost) / static_cast<double>(n);
  }
  static double variance(const partial& p, index n) {
    return (p.sum.squares - mean(p, n) * mean(p, n) * static_cast<double>(n)) /
           static_cast<double>(n - 1);
  }
  static std::string error(const five_statistics& got, const partial& p, index n) {
    return value_error(got.count == n, static_cast<double>(got.count), static_cast<double>(n)) +
           about(got.mean, mean(p, n), 1e-6) + about(got.variance, variance(p, n), 1e-9) +
           value_error(got.min == p.min, got.min, p.min) +
           value_error(got.max == p.max, got.max, p.max);
  }
};

struct variance_rule : five_rule {
  static std::string error(double got, const partial& p, index n) {
    return about(got, variance(p, n), 1e-9);
  }
};
struct l2_rule : five_rule {
  static std::string error(double got, const partial& p, index) {
    return about(got, std::sqrt(p.sum.squares), 1e-9);
  }
};
struct place_rule : five_rule {
  static std::string error(const place& got, const partial& p, index) {
    return value_error(got.value == p.min, got.value, p.min);
  }
};
struct places_rule : five_rule {
  static std::string error(const places& got, const partial& p, index) {
    return value_error(got.min.value == p.min, got.min.value, p.min) +
           value_error(got.max.value == p.max, got.max.value, p.max);
  }
};

/// How many satisfy the predicate.
template <class T, class Predicate>
struct count_rule {
  using partial = std::int64_t;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) {
    return Predicate{}(items[i]) ? 1 : 0;
  }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a + b; }
  static std::string error(std::int64_t got, partial expected, index) {
    return value_error(got == expected, static_cast<double>(got), static_cast<double>(expected));
  }
};
struct any_rule : count_rule<float, is_negative> {
  static std::string error(bool got, partial count, index) {
    return value_error(got == (count > 0), got, count > 0);
  }
};

struct exponential_rule {
  using partial = double;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const float* items, index i, index) {
    return exp(static_cast<double>(items[i]));
  }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a + b; }
  static std::string error(double got, partial sum, index) {
    return about(got, std::log(sum), 1e-8);
  }
};

struct top_rule {
  struct partial {
    float value[k];
  };
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const float* items, index i, index) {
    partial p;
    for (float& x : p.value) x = -tilefold::detail::infinity<float>;
    p.value[0] = items[i];
    return p;
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) {
    partial p;
    for (int i = 0, in_a = 0, in_b = 0; i < k; ++i) {
      p.value[i] = a.value[in_a] >= b.value[in_b] ? a.value[in_a++] : b.value[in_b++];
    }
    return p;
  }
  static std::string error(const best& got, const partial& expected, index) {
    std::string wrong;
    for (int i = 0; i < k; ++i) {
      wrong += value_error(got.values[i] == expected.value[i], got.values[i], expected.value[i]);
    }
    return wrong;
  }
};

struct pairs_rule {
  struct partial {
    double n, x, y, xx, yy, xy;
  };
  static constexpr int arrays = 2;
  TILEFOLD_HD static partial lift(const float* items, index i, index n) {
    const double x = items[i];
    const double y = items[n + i];
    return {1, x, y, x * x, y * y, x * y};
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) {
    return {a.n + b.n, a.x + b.x, a.y + b.y, a.xx + b.xx, a.yy + b.yy, a.xy + b.xy};
  }
};
// What is summed has either sign, so errors are measured by the sizes of the sums' parts.
struct cosine_rule : pairs_rule {
  static std::string error(double got, const partial& p, index) {
    const double expected = p.xy / std::sqrt(p.xx * p.yy);
    return value_error(std::abs(got - expected) < 1e-9, got, expected);
  }
};
struct covariance_rule : pairs_rule {
  static std::string error(double got, const partial& p, index n) {
    const double expected = (p.xy - p.x * p.y / p.n) / static_cast<double>(n - 1);
    const double size = std::sqrt(p.xx * p.yy) / p.n;
    return value_error(std::abs(got - expected) < 1e-9 * size, got, expected);
  }
};

// ---- shapes

/// reduce() of one range, or transform_reduce() of two that follow each other, in graphs.
template <class Rule, class Content, class Result, class Reducer>
shape reducing(const std::string& name, cudaStream_t stream, Reducer reducer,
               index n = all_floats / Rule::arrays) {
  using item = typename Content::item;
  const auto fold_into = [reducer](auto& executor, const item* x, index count, Result* out) {
    if constexpr (Rule::arrays == 2) {
      tilefold::transform_reduce_into(executor, x, x + count, x + count, out, reducer);
    } else {
      tilefold::reduce_into(executor, x, x + count, out, reducer);
    }
  };
  shape result = make_shape<Rule, Content, Result>(name, [=](const item* x, index count) {
    Result value;
    tilefold::host_executor host;
    fold_into(host, x, count, &value);
    return value;
  });
  const auto executor = executor_on(stream);
  contestant ours;
  ours.name = "tilefold";
  ours.host_bits = true;
  ours.enqueue = [=](const fold_call& c) {
    fold_into(*executor, c.items<item>(), c.n, c.result<Result>());
  };
  ours.blocking = [=](const fold_call& c) {
    fold_into(*executor, c.items<item>(), c.n, c.result<Result>());
    executor->synchronize();
  };
  result.contestants.push_back(ours);
  result.sizes = {index{1} << 24, n};  // the host folds as many as the first
  add_peers(result);
  for (const contestant& peer : result.contestants) {
    // Those of thrust only come back with a value.
    if (!peer.enqueue) result.modes = {mode::graph, mode::sync};
  }
  return result;
}

/// The same five numbers, read from memory once for each.
contestant five_passes(cudaStream_t stream) {
  const auto executor = executor_on(stream);
  contestant result;
  result.name = "tilefold-five-passes";
  result.enqueue = [=](const fold_call& c) {
    const float* const x = c.items<float>();
    auto* const out = c.result<five_statistics>();
    tilefold::reduce_into(*executor, x, x + c.n, &out->count, r::count{});
    tilefold::reduce_into(*executor, x, x + c.n, &out->mean, r::mean{});
    tilefold::reduce_into(*executor, x, x + c.n, &out->variance, r::variance{});
    tilefold::reduce_into(*executor, x, x + c.n, &out->min, r::min{});
    tilefold::reduce_into(*executor, x, x + c.n, &out->max, r::max{});
  };
  return result;
}

void add_reducers(shapes& all, cudaStream_t stream) {
  using floats = mixed<float>;
  const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
  all.push_back(reducing<five_rule, floats, five_statistics>("five_statistics", stream, five));
  all.back().contestants.push_back(five_passes(stream));
  all.push_back(reducing<variance_rule, floats, double>("variance", stream, r::variance{}));
  all.push_back(reducing<l2_rule, floats, double>("l2", stream, r::l2{}));
  all.push_back(reducing<floating_sum<float, float>, floats, float>("compensated_sum", stream,
                                                                    r::compensated_sum{}));
  all.push_back(reducing<place_rule, floats, place>("arg_min", stream, r::arg_min{}));
  all.push_back(reducing<places_rule, floats, places>("arg_minmax", stream, r::arg_minmax{}));
  all.push_back(reducing<top_rule, floats, best>("top_8", stream, r::top_k<k>{}));
  all.push_back(reducing<exponential_rule, logits, double>("logsumexp", stream, r::logsumexp{}));
  all.push_back(reducing<count_rule<std::uint8_t, is_seven>, mixed<std::uint8_t>, std::int64_t>(
      "count_byte", stream, r::count_if{is_seven{}}, 4 * all_floats));
  all.push_back(reducing<cosine_rule, floats, double>("cosine", stream, r::cosine{}));
  all.push_back(reducing<covariance_rule, floats, double>("covariance", stream, r::covariance{}));
  all.push_back(
      reducing<any_rule, early_hit, bool>("any_of_early_hit", stream, r::any{is_negative{}}));
  all.push_back(reducing<any_rule, no_hit, bool>("any_of_no_hit", stream, r::any{is_negative{}}));
}

}  // namespace

void enter_reducers(roster& all) {
  shapes added;
  add_reducers(added, all.gpu().stream());
  enter_shapes(all, std::move(added));
}

}  // namespace bench

int main(int argc, char** argv) { return bench::run_program(argc, argv, &bench::enter_reducers); }
