// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose machine code kernels_test.py reads: operators on scalars and on structs of 8 to 48
// bytes, with products lifted into them, under several policies. Compiled, never run.
#include <cuda_fp16.h>

#include <thrust/complex.h>

#include <tilefold/tilefold.cuh>

#include "functions.hpp"

namespace tilefold::test::closed_reducer {

template <class T>
const T* items();
template <class T>
T start();

// The reduced examples of issues, as their users wrote them.
struct two_floats {
  float u, v;
};
struct last_and_sum {
  TILEFOLD_HD two_floats operator()(const two_floats& a, const two_floats& b) const {
    return {b.u, (a.v + b.v) + a.u};
  }
};
struct with_scaled {
  TILEFOLD_HD two_floats operator()(const float& x) const { return {x * 3.3f, 0.0f}; }
};

// In half arithmetic; a template would be called with floats.
struct half_sum {
  TILEFOLD_HD __half operator()(const __half& a, const __half& b) const { return a + b; }
};
struct half_sum_or_product {
  TILEFOLD_HD __half operator()(const __half& a, const __half& b) const {
    if (a < __half(1.0f)) return a + b;
    return a * b;
  }
};
struct scale_complex {
  TILEFOLD_HD thrust::complex<float> operator()(const thrust::complex<float>& z) const {
    return {z.real() * 3.3f, z.imag() * 3.3f};
  }
};

template <tile_policy Policy, class Acc, class Item, class Op, class F>
void lifted(cuda_executor& gpu) {
  auto exec = with_policy<Policy>(gpu);
  (void)transform_reduce(exec, items<Item>(), items<Item>(), start<Acc>(), Op{}, F{});
}
template <class Acc, class Item, class Op, class F>
void lifted_by_default(cuda_executor& gpu) {
  (void)transform_reduce(gpu, items<Item>(), items<Item>(), start<Acc>(), Op{}, F{});
}
template <tile_policy Policy, class T, class Op>
void folded(cuda_executor& gpu) {
  auto exec = with_policy<Policy>(gpu);
  (void)reduce(exec, items<T>(), items<T>(), Op{});
}

// An item a lane; a few or many neighbours a lane, which is where calls of an operator meet.
inline constexpr tile_policy lanes{32, 1};
inline constexpr tile_policy some{64, 4};
inline constexpr tile_policy many{128, 16};

template <tile_policy Policy, class T, int N>
void structs_of(cuda_executor& gpu) {
  using acc = pack<T, N>;
  lifted<Policy, acc, T, pass_through, scaled_pack<acc>>(gpu);
  lifted<Policy, acc, T, swap_places, scaled_pack<acc>>(gpu);
  lifted<Policy, acc, T, product_last, scaled_pack<acc>>(gpu);
  lifted<Policy, acc, T, sum_last, scaled_pack<acc>>(gpu);
}

void all_operators(cuda_executor& gpu) {
  lifted<lanes, two_floats, float, last_and_sum, with_scaled>(gpu);
  lifted<many, two_floats, float, last_and_sum, with_scaled>(gpu);
  lifted_by_default<two_floats, float, last_and_sum, with_scaled>(gpu);

  structs_of<lanes, float, 2>(gpu);
  structs_of<many, float, 2>(gpu);
  structs_of<some, float, 3>(gpu);
  structs_of<some, float, 4>(gpu);
  structs_of<some, double, 2>(gpu);
  structs_of<some, double, 3>(gpu);
  structs_of<some, __half, 4>(gpu);
  structs_of<lanes, float, 6>(gpu);
  lifted<some, pack<float, 8>, float, swap_places, scaled_pack<pack<float, 8>>>(gpu);
  lifted<lanes, pack<float, 12>, float, pass_through, scaled_pack<pack<float, 12>>>(gpu);
  lifted<lanes, pack<double, 6>, double, product_last, scaled_pack<pack<double, 6>>>(gpu);
  // Structs in memory, whose numbers are scaled or taken as they are.
  lifted<some, pack<float, 2>, pack<float, 2>, pass_through, scale_each>(gpu);
  lifted<some, pack<double, 2>, pack<double, 2>, swap_places, scale_each>(gpu);
  lifted<some, pack<float, 4>, pack<float, 4>, sum_last, scale_each>(gpu);
  folded<some, pack<float, 2>, product_last>(gpu);
  folded<some, pack<double, 2>, product_last>(gpu);

  lifted<lanes, float, float, sum, scale>(gpu);
  lifted<many, float, float, sum, scale>(gpu);
  lifted<some, float, float, difference, square>(gpu);
  lifted<some, float, float, sum, scale_by<float>>(gpu);
  lifted<many, double, double, sum, scale>(gpu);
  lifted<some, double, double, difference, square>(gpu);
  lifted_by_default<float, float, sum, scale>(gpu);
  lifted<lanes, __half, __half, half_sum, scale>(gpu);
  lifted<some, __half, __half, half_sum, square>(gpu);
  lifted<many, __half, __half, half_sum, scale>(gpu);
  lifted<some, float, float, plus, scale>(gpu);
  lifted<some, double, double, plus, scale>(gpu);
  lifted<some, float, __half, plus, scale>(gpu);
  lifted<some, thrust::complex<float>, thrust::complex<float>, plus, scale_complex>(gpu);

  folded<many, float, sum_or_product>(gpu);
  folded<some, double, sum_or_product>(gpu);
  folded<some, __half, half_sum_or_product>(gpu);
}

}  // namespace tilefold::test::closed_reducer
