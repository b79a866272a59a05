// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose machine code kernels_test.py reads: items that functions and iterators compute,
// reducers of the user's, projections, and outputs that compute. Compiled, never run.
#include <cuda_fp16.h>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <tilefold/tilefold.cuh>

#include "functions.hpp"

namespace tilefold::test::closed_reducer {

template <class T>
T* items();
template <class T>
T start();

namespace r = tilefold::reducers;

inline constexpr tile_policy lanes{32, 1};
inline constexpr tile_policy some{64, 4};
inline constexpr tile_policy many{128, 16};

template <class Lift, class Combine, class Project>
using made = decltype(r::make_reducer(Lift{}, Combine{}, Project{}));

template <tile_policy Policy, class It, class R>
void reduced(cuda_executor& gpu, It first, R reducer) {
  auto exec = with_policy<Policy>(gpu);
  (void)reduce(exec, first, first, reducer);
}
template <tile_policy Policy, class It, class R, class F>
void transformed(cuda_executor& gpu, It first, R reducer, F f) {
  auto exec = with_policy<Policy>(gpu);
  (void)transform_reduce(exec, first, first, reducer, f);
}

struct product_of_pair {
  template <class Pair>
  TILEFOLD_HD auto operator()(const Pair& x) const {
    return thrust::get<0>(x) * thrust::get<1>(x);
  }
};
struct shifted_sum_of_pair {
  template <class Pair>
  TILEFOLD_HD auto operator()(const Pair& x) const {
    return thrust::get<0>(x) + thrust::get<1>(x);
  }
};

// f multiplies, a user's lift adds.
template <class T>
void lifts_of_users(cuda_executor& gpu) {
  const T* first = items<T>();
  using shifts = made<shift, sum, keep>;
  transformed<lanes>(gpu, first, shifts{}, scale{});
  transformed<many>(gpu, first, shifts{}, square{});
  reduced<some>(gpu, thrust::make_transform_iterator(first, scale{}), shifts{});
  reduced<some>(gpu, computed<square>(first), shifts{});
  reduced<some>(gpu, computed<scale>(first), made<keep, sum, keep>{});
  // A lift that multiplies, a combine that adds; a combine that multiplies, a project that adds.
  reduced<some>(gpu, first, made<square, sum, keep>{});
  reduced<some>(gpu, first, made<keep, product, shift>{});
  reduced<lanes>(gpu, first, made<keep, sum_or_product, shift>{});
  transformed<some>(gpu, first, made<keep, difference, shift>{}, scale{});
}

// The same with structs: what f makes of an item, or an item in memory as it is.
template <class T, int N>
void structs(cuda_executor& gpu) {
  using acc = pack<T, N>;
  const T* first = items<T>();
  const acc* packs = items<acc>();
  transformed<some>(gpu, first, made<shift_each, pass_through, keep>{}, scaled_pack<acc>{});
  transformed<some>(gpu, first, made<keep, swap_places, total>{}, scaled_pack<acc>{});
  transformed<some>(gpu, first, made<total, sum, keep>{}, scaled_pack<acc>{});
  reduced<some>(gpu, computed<scale_each>(packs), made<shift_each, pass_through, keep>{});
  reduced<lanes>(gpu, packs, made<scale_each, product_last, total>{});
}

template <class T>
void iterators(cuda_executor& gpu) {
  const T* x = items<T>();
  const T* y = items<T>();
  const auto scaled = thrust::make_transform_iterator(x, scale{});
  reduced<many>(gpu, scaled, sum{});
  reduced<lanes>(gpu, scaled, plus{});
  reduced<some>(gpu, computed<scale>(x), sum{});
  reduced<some>(gpu, computed<scale>(x), plus{});
  // What one iterator multiplies, another one's function adds: both are the user's, but not one.
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x, y));
  reduced<some>(gpu, thrust::make_transform_iterator(pairs, product_of_pair{}), sum{});
  auto exec = with_policy<some>(gpu);
  (void)transform_reduce(exec, x, x, y, start<T>(), sum{}, product{});
  (void)transform_reduce(exec, x, x, y, start<T>(), plus{}, product{});
  (void)transform_reduce(exec, x, x, y, start<T>());
  (void)transform_reduce(exec, scaled, scaled, y, start<T>(), plus{}, sum{});
  (void)transform_reduce(exec, computed<scale>(x), computed<scale>(x), y, start<T>(), plus{},
                         sum{});
  (void)transform_reduce(exec, scaled, scaled, start<T>(), plus{}, shift{});
  (void)transform_reduce(exec, computed<scale>(x), computed<scale>(x), start<T>(), plus{}, shift{});
}

template <class T>
void outputs(cuda_executor& gpu) {
  const T* first = items<T>();
  const shifting_output<T> out(items<T>());
  auto exec = with_policy<lanes>(gpu);
  reduce_into(exec, first, first, out, product{});
  reduce_into(exec, first, first, out, start<T>(), product{});
  reduce_into(exec, first, first, out, made<keep, sum, scale>{});
}

void all_lifts(cuda_executor& gpu) {
  lifts_of_users<float>(gpu);
  lifts_of_users<double>(gpu);
  structs<float, 2>(gpu);
  structs<double, 2>(gpu);
  structs<float, 3>(gpu);
  iterators<float>(gpu);
  iterators<double>(gpu);
  outputs<float>(gpu);
  outputs<double>(gpu);
  // By default: the kernels of short ranges too.
  (void)transform_reduce(gpu, items<double>(), items<double>(), made<shift, sum, keep>{}, square{});
  const auto scaled = thrust::make_transform_iterator(items<float>(), scale{});
  (void)reduce(gpu, scaled, scaled, made<shift, sum, keep>{});
}

}  // namespace tilefold::test::closed_reducer
