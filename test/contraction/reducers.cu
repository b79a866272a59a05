// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose machine code kernels_test.py reads: the library's reducers over what functions and
// iterators compute. Compiled, never run.
#include <cuda_fp16.h>

#include <thrust/iterator/transform_iterator.h>

#include <tilefold/tilefold.cuh>

#include "functions.hpp"

namespace tilefold::test::closed_reducer {

template <class T>
const T* items();

namespace r = tilefold::reducers;

inline constexpr tile_policy lanes{32, 1};
inline constexpr tile_policy some{64, 4};

// What f multiplies, and what an iterator multiplies.
template <tile_policy Policy, class T, class R>
void reduced(cuda_executor& gpu, R reducer) {
  auto exec = with_policy<Policy>(gpu);
  const T* first = items<T>();
  (void)transform_reduce(exec, first, first, reducer, scale{});
}
template <tile_policy Policy, class T, class R>
void computed_and_reduced(cuda_executor& gpu, R reducer) {
  auto exec = with_policy<Policy>(gpu);
  (void)reduce(exec, computed<scale>(items<T>()), computed<scale>(items<T>()), reducer);
}

template <class T>
void statistics(cuda_executor& gpu) {
  reduced<lanes, T>(gpu, r::sum{});
  reduced<some, T>(gpu, r::mean{});
  reduced<lanes, T>(gpu, r::variance{});
  reduced<lanes, T>(gpu, r::l1{});
  reduced<lanes, T>(gpu, r::l2{});
  reduced<lanes, T>(gpu, r::compensated_sum{});
  computed_and_reduced<lanes, T>(gpu, r::mean{});
  computed_and_reduced<lanes, T>(gpu, r::l2{});
  computed_and_reduced<lanes, T>(gpu, r::compensated_sum{});
}

template <class T>
void selections(cuda_executor& gpu) {
  reduced<lanes, T>(gpu, r::count_if{above_when_shifted{}});
  reduced<lanes, T>(gpu, r::any{above_when_shifted{}});
  reduced<lanes, T>(gpu, r::arg_min_by{shift{}});
  reduced<lanes, T>(gpu, r::arg_min_by{keep{}, less_by_difference{}});
  computed_and_reduced<lanes, T>(gpu, r::count_if{above_when_shifted{}});
  computed_and_reduced<lanes, T>(gpu, r::arg_min_by{shift{}});
  // A key that multiplies, a comparison that subtracts.
  auto exec = with_policy<some>(gpu);
  (void)reduce(exec, items<T>(), items<T>(), r::arg_min_by{scale{}, less_by_difference{}});
}

template <class T>
void of_two_ranges(cuda_executor& gpu) {
  auto exec = with_policy<lanes>(gpu);
  const auto x = computed<scale>(items<T>());
  const T* y = items<T>();
  (void)transform_reduce(exec, x, x, y, r::dot{});
  (void)transform_reduce(exec, x, x, y, r::covariance{});
  (void)transform_reduce(exec, x, x, y, r::compensated_dot{});
}

template <class Lift, class Combine, class Project>
using made = decltype(r::make_reducer(Lift{}, Combine{}, Project{}));

void all_reducers(cuda_executor& gpu) {
  statistics<float>(gpu);
  statistics<double>(gpu);
  selections<float>(gpu);
  selections<double>(gpu);
  of_two_ranges<float>(gpu);
  of_two_ranges<double>(gpu);
  reduced<lanes, __half>(gpu, r::mean{});
  reduced<lanes, float>(gpu, r::logsumexp{});
  reduced<lanes, float>(gpu, r::softmax_pair{});
  computed_and_reduced<lanes, float>(gpu, r::logsumexp{});
  reduced<lanes, float>(gpu, r::fuse(r::count{}, r::mean{}, r::min{}));
  reduced<lanes, double>(gpu, r::fuse(r::mean{}, made<shift, sum, keep>{}));
  reduced<some, float>(gpu, r::fuse(made<shift, sum, keep>{}, made<keep, product, shift>{}));
  // What a combine returns becomes an accumulator by a constructor that computes.
  reduced<lanes, float>(gpu, made<to_adding_number, bare_product, keep>{});
  reduced<lanes, float>(gpu, r::fuse(r::count{}, made<to_adding_number, bare_product, keep>{}));
  auto exec = with_policy<lanes>(gpu);
  (void)reduce<adding_number>(exec, items<float>(), items<float>(), adding_number(),
                              bare_product{});
  // By default.
  const float* first = items<float>();
  (void)transform_reduce(gpu, first, first, r::mean{}, scale{});
  (void)transform_reduce(gpu, first, first, r::count_if{above_when_shifted{}}, scale{});
  const auto scaled = thrust::make_transform_iterator(items<double>(), scale{});
  (void)reduce(gpu, scaled, scaled, r::count_if{above_when_shifted{}});
}

}  // namespace tilefold::test::closed_reducer
