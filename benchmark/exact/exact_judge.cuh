// SPDX-License-Identifier: Apache-2.0
//
// Whether a result is the exact one. The expected value comes from a plain kernel: threads
// that add items one by one to accumulators of their own. Who does not promise it may be
// off by what rounding does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/reducers/exact.hpp>

#include "../support/judge.cuh"

namespace bench {

/// The sum of items T.
template <class T, class Result>
struct exact_total {
  using item = T;
  using result = Result;
  static constexpr int arrays = 1;

  tilefold::exact_accumulator<T> sum;
  double size = 0;  // of the items, added up

  TILEFOLD_HD void add(const T* items, index i, index) {
    sum.add(items[i]);
    size += std::abs(itself<T>::of(items, i, 0));
  }
  void merge(const exact_total& other) {
    sum.merge(other.sum);
    size += other.size;
  }
  Result value() const { return sum.template value<Result>(); }
};

/// The sum of products of two arrays.
template <class T, class Result>
struct exact_product_total {
  using item = T;
  using result = Result;
  static constexpr int arrays = 2;

  typename tilefold::detail::exact_format<T>::products state{};
  double size = 0;

  TILEFOLD_HD void add(const T* items, index i, index n) {
    state.add_product_of(items[i], items[n + i]);
    size += std::abs(static_cast<double>(items[i]) * items[n + i]);
  }
  void merge(const exact_product_total& other) {
    state.add(other.state);
    size += other.size;
  }
  Result value() const { return tilefold::detail::value_of<Result>(state); }
};

/// The root of the sum of squares.
template <class T, class Result>
struct exact_norm {
  using item = T;
  using result = Result;
  static constexpr int arrays = 1;

  exact_product_total<T, Result> squares;
  double size = 0;

  TILEFOLD_HD void add(const T* items, index i, index) { squares.add(items + i, 0, 0); }
  void merge(const exact_norm& other) {
    squares.merge(other.squares);
    size = std::sqrt(squares.size);
  }
  Result value() const { return tilefold::detail::root_of<Result>(squares.state); }
};

// Of every threads-th item a thread, so that neighbours read neighbours.
template <class Total>
__global__ void totals_of_threads(const typename Total::item* items, index n, index threads,
                                  Total* totals) {
  const index thread = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  Total total;
  for (index i = thread; i < n; i += threads) total.add(items, i, n);
  totals[thread] = total;
}

/// What n items at call.first give. Blocks.
template <class Total>
Total exact_total_of(const fold_call& call) {
  constexpr index most_threads = 1 << 17;
  constexpr int nt = 128;
  const index threads = std::min<index>(
      {most_threads, (call.n + 15) / 16, static_cast<index>(call.scratch_bytes / sizeof(Total))});
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(Total);
  auto* const totals = static_cast<Total*>(call.scratch);
  totals_of_threads<<<static_cast<unsigned>((threads + nt - 1) / nt), nt, 0, call.stream>>>(
      call.items<typename Total::item>(), call.n, threads, totals);
  check(cudaGetLastError(), "launch of the reference");
  std::vector<Total> all(static_cast<std::size_t>(threads));
  check(cudaMemcpyAsync(all.data(), totals, bytes, cudaMemcpyDefault, call.stream),
        "copy of the reference");
  check(cudaStreamSynchronize(call.stream), "the reference");
  Total total;
  for (const Total& one : all) total.merge(one);
  return total;
}

/// Empty, or how `got` differs from what it should be: to the bit if it is `promised` to be exact.
template <class Result>
std::string exact_error(Result got, Result expected, double size, bool promised) {
  if (promised) {
    const bool same = std::memcmp(&got, &expected, sizeof got) == 0;
    return value_error(same, static_cast<double>(got), static_cast<double>(expected));
  }
  const double off = std::abs(static_cast<double>(got) - static_cast<double>(expected));
  return value_error(off <= 1e-4 * size, static_cast<double>(got), static_cast<double>(expected));
}

/// Contestants with `host_bits` promise the exact value.
template <class Total>
class exact_judge final : public judge {
 public:
  void learn(const fold_call& call, int window) override {
    const auto key = std::make_pair(call.n, window);
    if (!expected_.contains(key)) expected_.emplace(key, exact_total_of<Total>(call));
  }

  std::string error(const void* got, index n, int window, const contestant& who) const override {
    typename Total::result value;
    std::memcpy(&value, got, sizeof value);
    const Total& expected = expected_.at({n, window});
    return exact_error(value, expected.value(), expected.size, who.host_bits);
  }

 private:
  std::map<std::pair<index, int>, Total> expected_;
};

}  // namespace bench
