// SPDX-License-Identifier: Apache-2.0
//
// Whether a result is right. The expected value comes from a plain kernel of the benchmark's own:
// one thread for each run of items, wide arithmetic, the runs' values joined in order on the host.
// What a fold may be off by is the rounding error that is to be expected of it, not the worst that
// could be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/config.hpp>

#include "contestant.hpp"
#include "functions.hpp"
#include "structs.hpp"

namespace bench {

// ---- rules: what a shape computes, lifted into a wide partial; n items, or n pairs from 2n items

/// A sum to twice double's precision, and the sum of squares that error estimates need.
struct wide_sum {
  double sum, lost, squares;

  TILEFOLD_HD static wide_sum of(double x) { return {x, 0, x * x}; }
  TILEFOLD_HD friend wide_sum operator+(const wide_sum& a, const wide_sum& b) {
    const double sum = a.sum + b.sum;
    const double from_b = sum - a.sum;
    const double lost = (a.sum - (sum - from_b)) + (b.sum - from_b);
    return {sum, a.lost + b.lost + lost, a.squares + b.squares};
  }
};

/// Empty, or how `got` differs from the expected sum of n values. `in_a_row`: contestant.hpp.
template <class Acc>
std::string sum_error(Acc got, const wide_sum& expected, index n, index in_a_row = 0) {
  // Roundings are random: a tree's error has a standard deviation of about
  // epsilon * sqrt(squares * log2 n), that of a plain loop over 2000 items and a tree 6 times that;
  // where values do not cancel, a few roundings of the sum itself. k partial sums that are added to
  // the result one by one round it k times as it grows, epsilon * sum * sqrt(k) / 6.
  const double sum = expected.sum + expected.lost;
  const double error = static_cast<double>(got) - sum;
  const double allowed =
      std::numeric_limits<Acc>::epsilon() *
      (128 * std::sqrt(expected.squares * (std::log2(static_cast<double>(n)) + 1)) +
       (8 + std::sqrt(static_cast<double>(in_a_row))) * std::abs(sum));
  if (std::abs(error) <= allowed) return {};
  char text[128];
  std::snprintf(text, sizeof text, "got %.17g, off by %.3g where %.3g is allowed",
                static_cast<double>(got), error, allowed);
  return text;
}

inline std::string value_error(bool right, double got, double expected) {
  if (right) return {};
  char text[128];
  std::snprintf(text, sizeof text, "got %.17g, expected %.17g", got, expected);
  return text;
}

// What is summed up: a value of one item, or of one item from each of several arrays of n items.

template <class T>
struct itself {
  static constexpr int arrays = 1;
  TILEFOLD_HD static double of(const T* items, index i, index) {
    if constexpr (std::is_same_v<T, double>) {
      return items[i];
    } else {
      return static_cast<float>(items[i]);
    }
  }
};

template <class F>
struct computed {
  static constexpr int arrays = 1;
  TILEFOLD_HD static double of(const float* items, index i, index) { return F{}(items[i]); }
};

template <int Arrays>
struct product_of_arrays {
  static constexpr int arrays = Arrays;
  TILEFOLD_HD static double of(const float* items, index i, index n) {
    double product = items[i];
    for (int k = 1; k < Arrays; ++k) product *= items[k * n + i];
    return product;
  }
};

struct at_every_other {
  static constexpr int arrays = 2;  // the items between are read as well
  TILEFOLD_HD static double of(const float* items, index i, index) { return every_other{items}(i); }
};

template <class What, class Acc>
struct sum_of {
  using partial = wide_sum;
  static constexpr int arrays = What::arrays;
  template <class T>
  TILEFOLD_HD static partial lift(const T* items, index i, index n) {
    return wide_sum::of(What::of(items, i, n));
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) { return a + b; }
  static std::string error(Acc got, const partial& expected, index n, index in_a_row) {
    return sum_error(got, expected, n, in_a_row);
  }
};

template <class T, class Acc>
using floating_sum = sum_of<itself<T>, Acc>;

template <class T, int N>
struct vec_sum {
  struct partial {
    wide_sum part[N];
  };
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const vec<T, N>* items, index i, index) {
    const vec<T, N> item = items[i];
    partial result;
    for (int k = 0; k < N; ++k) result.part[k] = wide_sum::of(item.part[k]);
    return result;
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) {
    partial result;
    for (int k = 0; k < N; ++k) result.part[k] = a.part[k] + b.part[k];
    return result;
  }
  static std::string error(const vec<T, N>& got, const partial& expected, index n) {
    std::string errors;
    for (int k = 0; k < N; ++k) errors += sum_error(got.part[k], expected.part[k], n);
    return errors;
  }
};

struct moments_of_all {
  struct partial {
    index count;
    wide_sum sum, squares;
  };
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const float* items, index i, index) {
    const double x = items[i];
    return {1, wide_sum::of(x), wide_sum::of(x * x)};
  }
  TILEFOLD_HD static partial combine(const partial& a, const partial& b) {
    return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
  }
  static std::string error(const moments& got, const partial& expected, index n) {
    return value_error(got.count == expected.count, static_cast<double>(got.count),
                       static_cast<double>(expected.count)) +
           sum_error(got.sum, expected.sum, n) + sum_error(got.squares, expected.squares, n);
  }
};

template <class T, class Predicate>
struct count_of {
  using partial = index;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) {
    return Predicate{}(items[i]) ? 1 : 0;
  }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a + b; }
  static std::string error(index got, partial expected, index) {
    return value_error(got == expected, static_cast<double>(got), static_cast<double>(expected));
  }
};

/// Of factors that are powers of two: exact in any order.
template <class T>
struct floating_product {
  using partial = double;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) { return items[i]; }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a * b; }
  static std::string error(T got, partial expected, index) {
    return value_error(static_cast<double>(got) == expected, static_cast<double>(got), expected);
  }
};

/// Of rotations, in order.
struct rotation_product {
  using partial = matrix<double>;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const matrix<float>* items, index i, index) {
    const matrix<float> m = items[i];
    return {m.a, m.b, m.c, m.d};
  }
  TILEFOLD_HD static partial combine(const partial& x, const partial& y) {
    return matrix_product{}(x, y);
  }
  static std::string error(const matrix<float>& got, const partial& expected, index n) {
    const double allowed = 1e-6 * std::sqrt(static_cast<double>(n) + 64);
    const double error = std::max({std::abs(got.a - expected.a), std::abs(got.b - expected.b),
                                   std::abs(got.c - expected.c), std::abs(got.d - expected.d)});
    return value_error(error <= allowed, got.a, expected.a);
  }
};

/// Modulo 2^bits.
template <class T, class Acc>
struct integer_sum {
  using partial = std::uint64_t;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) {
    return static_cast<partial>(items[i]);
  }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a + b; }
  static std::string error(Acc got, partial expected, index) {
    const auto right = static_cast<Acc>(expected);
    return value_error(got == right, static_cast<double>(got), static_cast<double>(right));
  }
};

template <class T>
struct integer_product {
  using partial = std::uint64_t;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) {
    return static_cast<partial>(items[i]);
  }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a * b; }
  static std::string error(T got, partial expected, index) {
    const auto right = static_cast<T>(expected);
    return value_error(got == right, static_cast<double>(got), static_cast<double>(right));
  }
};

template <class T, bool Largest>
struct extreme {
  using partial = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) { return wide(items[i]); }
  TILEFOLD_HD static partial combine(partial a, partial b) { return (a < b) == Largest ? b : a; }
  static std::string error(T got, partial expected, index) {
    return value_error(wide(got) == expected, static_cast<double>(wide(got)),
                       static_cast<double>(expected));
  }

 private:
  TILEFOLD_HD static partial wide(T item) {
    if constexpr (sizeof(T) == 2) {
      return static_cast<float>(item);
    } else {
      return item;
    }
  }
};

/// The last item that is not NaN: right only if the order is kept.
template <class T>
struct last_present {
  using partial = T;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const T* items, index i, index) { return items[i]; }
  TILEFOLD_HD static partial combine(partial a, partial b) { return b == b ? b : a; }
  static std::string error(T got, partial expected, index) {
    return value_error(got == expected, got, expected);
  }
};

/// All 32-bit words, folded with xor into a word of which every bit is set.
struct parity {
  using partial = std::uint32_t;
  static constexpr int arrays = 1;
  TILEFOLD_HD static partial lift(const std::uint32_t* items, index i, index) { return items[i]; }
  TILEFOLD_HD static partial combine(partial a, partial b) { return a ^ b; }
  static std::string error(std::uint32_t got, partial expected, index) {
    return value_error(got == ~expected, got, ~expected);
  }
};

// ---- the reference fold

template <class Rule, class T>
__global__ void fold_runs(const T* items, index n, index run, typename Rule::partial* partials) {
  const index which = index{blockIdx.x} * blockDim.x + threadIdx.x;
  const index first = which * run;
  if (first >= n) return;
  typename Rule::partial value = Rule::lift(items, first, n);
  for (index i = first + 1; i < first + run && i < n; ++i) {
    value = Rule::combine(value, Rule::lift(items, i, n));
  }
  partials[which] = value;
}

/// What n items at call.first fold to. Blocks.
template <class Rule, class T>
typename Rule::partial expected_value(const fold_call& call) {
  using partial = typename Rule::partial;
  constexpr index most_runs = 1 << 16;
  constexpr int nt = 128;
  const index run = std::max<index>(64, (call.n + most_runs - 1) / most_runs);
  const index runs = (call.n + run - 1) / run;
  const std::size_t bytes = static_cast<std::size_t>(runs) * sizeof(partial);
  if (bytes > call.scratch_bytes) throw std::runtime_error("the reference needs more scratch");
  auto* partials = static_cast<partial*>(call.scratch);
  fold_runs<Rule><<<static_cast<unsigned>((runs + nt - 1) / nt), nt, 0, call.stream>>>(
      call.items<T>(), call.n, run, partials);
  check(cudaGetLastError(), "launch of the reference");
  std::vector<partial> values(static_cast<std::size_t>(runs));
  check(cudaMemcpyAsync(values.data(), partials, bytes, cudaMemcpyDefault, call.stream),
        "copy of the reference");
  check(cudaStreamSynchronize(call.stream), "the reference");
  partial value = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) value = Rule::combine(value, values[i]);
  return value;
}

// ---- judges

/// Knows the expected values of one shape. A window is one of the places where n items may begin.
class judge {
 public:
  virtual ~judge() = default;
  /// Learns what call.n items at call.first, window `window` of their input, fold to.
  virtual void learn(const fold_call& call, int window) = 0;
  /// Empty, or what is wrong with the result of `who` at `got` (host memory).
  virtual std::string error(const void* got, index n, int window, const contestant& who) const = 0;
};

template <class Rule, class T, class Acc>
class rule_judge final : public judge {
 public:
  using host_fold = std::function<Acc(const T*, index)>;

  explicit rule_judge(host_fold host = nullptr) : host_(std::move(host)) {}

  void learn(const fold_call& call, int window) override {
    const auto key = std::make_pair(call.n, window);
    if (!expected_.contains(key)) expected_.emplace(key, expected_value<Rule, T>(call));
    if (host_ && window == 0 && call.n <= most_on_host && !host_values_.contains(call.n)) {
      host_values_.emplace(call.n, fold_on_host(call));
    }
  }

  std::string error(const void* got, index n, int window, const contestant& who) const override {
    Acc value;
    std::memcpy(&value, got, sizeof value);
    const std::string wrong = value_is_wrong(value, expected_.at({n, window}), n, who);
    if (!wrong.empty() || !who.host_bits || window != 0) return wrong;
    const auto host = host_values_.find(n);
    if (host == host_values_.end()) return {};
    return std::memcmp(&value, &host->second, sizeof value) == 0 ? "" : "not the host's bits";
  }

 private:
  // Beyond this the copy would take longer than the benchmark. Both default tilings are below.
  static constexpr index most_on_host = index{1} << 24;

  static std::string value_is_wrong(const Acc& value, const typename Rule::partial& expected,
                                    index n, const contestant& who) {
    if constexpr (requires { Rule::error(value, expected, n, who.in_a_row); }) {
      return Rule::error(value, expected, n, who.in_a_row);
    } else {
      return Rule::error(value, expected, n);
    }
  }

  Acc fold_on_host(const fold_call& call) const {
    std::vector<T> items(static_cast<std::size_t>(call.n * Rule::arrays));
    check(cudaMemcpyAsync(items.data(), call.first, items.size() * sizeof(T), cudaMemcpyDefault,
                          call.stream),
          "copy of the input");
    check(cudaStreamSynchronize(call.stream), "copy of the input");
    return host_(items.data(), call.n);
  }

  host_fold host_;
  std::map<std::pair<index, int>, typename Rule::partial> expected_;
  std::map<index, Acc> host_values_;
};

}  // namespace bench
