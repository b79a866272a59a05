// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose machine code kernels_test.py reads: many results at once, and folds in a user's own
// kernels. Compiled, never run.
#include <cstdint>

#include <tilefold/tilefold.cuh>

#include "functions.hpp"

namespace tilefold::test::closed_reducer {

template <class T>
T* items();
template <class T>
T start();

namespace r = tilefold::reducers;

template <class Lift, class Combine, class Project>
using made = decltype(r::make_reducer(Lift{}, Combine{}, Project{}));
using shifts = made<shift, sum, keep>;

inline constexpr tile_policy some{64, 4};

// The first rows of a matrix, or its columns; an iterator may compute its elements.
template <class It>
struct matrix {
  It first;
  std::int64_t extents[2];
  std::int64_t strides[2];

  std::int64_t rank() const { return 2; }
  std::int64_t extent(std::size_t i) const { return extents[i]; }
  std::int64_t stride(std::size_t i) const { return strides[i]; }
  It data_handle() const { return first; }
};
template <class T>
struct row_of_results {
  T* first;

  std::int64_t rank() const { return 1; }
  std::int64_t extent(std::size_t) const { return 100; }
  std::int64_t stride(std::size_t) const { return 1; }
  T* data_handle() const { return first; }
};

template <class T>
void segments(cuda_executor& gpu) {
  auto exec = with_policy<some>(gpu);
  segmented_reduce_into(exec, computed<scale>(items<T>()), items<int>(), 10, items<T>(), start<T>(),
                        sum{});
}
template <class T>
void by_key(cuda_executor& gpu) {
  auto exec = with_policy<some>(gpu);
  const auto keys = computed<scale>(items<T>());
  reduce_by_key_into(exec, keys, keys, computed<scale>(items<T>()), items<T>(), items<T>(),
                     items<std::int64_t>(), close_by{}, start<T>(), sum{});
}
template <class T>
void columns(cuda_executor& gpu) {
  const matrix<decltype(computed<scale>(items<T>()))> in{
      computed<scale>(items<T>()), {100, 100}, {100, 1}};
  axis_reduce_into(gpu, in, row_of_results<T>{items<T>()}, 0, start<T>(), sum{});
}

void all_results(cuda_executor& gpu) {
  segments<float>(gpu);
  segments<double>(gpu);
  by_key<float>(gpu);
  columns<float>(gpu);
  auto exec = with_policy<some>(gpu);
  segmented_reduce_into(exec, computed<square>(items<double>()), 10, 10, items<double>(),
                        start<double>(), shifts{});
  segmented_reduce_into(exec, items<pack<float, 2>>(), 10, 10, items<pack<float, 2>>(),
                        start<pack<float, 2>>(), product_last{});
  batched_reduce_into(exec, items<computing_iterator<const float*, scale>>(), items<int>(), 10,
                      items<float>(), start<float>(), sum{});
  segmented_reduce_into(exec, items<float>(), items<int>(), 10,
                        shifting_output<float>(items<float>()), start<float>(), product{});
}

// In kernels: a product in front of a fold that adds, and a sum behind one that multiplies.

template <class T, class Op>
__global__ void product_then_fold(const T* x, T* y, Op op) {
  const T mine = x[threadIdx.x] * x[threadIdx.x + 1];
  y[threadIdx.x] = warp_fold(mine, op);
}
template <class T>
__global__ void fold_then_sum(const T* x, T* y, int count) {
  y[threadIdx.x] = warp_fold(x[threadIdx.x], count, product{}) + x[threadIdx.x];
}
template <class T, class Op>
__global__ void products_then_block_fold(const T* x, T* y, Op op) {
  __shared__ block_storage<128, T> storage;
  T mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = x[4 * threadIdx.x + i] * static_cast<T>(3.3f);
  y[threadIdx.x] = block_fold(storage, mine, op);
}
template <class T>
__global__ void block_fold_then_sum(const T* x, T* y) {
  __shared__ block_storage<64, T> storage;
  y[threadIdx.x] = block_fold(storage, x[threadIdx.x], product{}) + x[threadIdx.x];
}
template <class T>
__global__ void struct_fold(const pack<T, 2>* x, pack<T, 2>* y) {
  const pack<T, 2> mine[2] = {scale_each{}(x[threadIdx.x]), scale_each{}(x[threadIdx.x + 1])};
  y[threadIdx.x] = warp_fold(mine, pass_through{});
}
template <class T>
__global__ void folds_at_once(const T* x, T* y) {
  const T mine[2] = {x[threadIdx.x] * x[1], x[threadIdx.x] * x[2]};
  y[threadIdx.x] = warp_fold_each(mine, sum{}) + y[0];
}
// What the operator returns becomes an accumulator by a constructor that computes.
__global__ void folds_of_adding_numbers(const float* x, adding_number* y) {
  __shared__ block_storage<64, adding_number> storage;
  y[threadIdx.x] = block_fold(storage, adding_number(x[threadIdx.x]), bare_product{});
  y[64 + threadIdx.x] = warp_fold(x[threadIdx.x], made<to_adding_number, bare_product, keep>{});
}

template <class T>
void in_kernels() {
  product_then_fold<<<1, 32>>>(items<T>(), items<T>(), sum{});
  product_then_fold<<<1, 32>>>(items<T>(), items<T>(), shifts{});
  fold_then_sum<<<1, 32>>>(items<T>(), items<T>(), 10);
  products_then_block_fold<<<1, 128>>>(items<T>(), items<T>(), sum{});
  products_then_block_fold<<<1, 128>>>(items<T>(), items<T>(), shifts{});
  block_fold_then_sum<<<1, 64>>>(items<T>(), items<T>());
  struct_fold<<<1, 32>>>(items<pack<T, 2>>(), items<pack<T, 2>>());
  folds_at_once<<<1, 32>>>(items<T>(), items<T>());
}
template void in_kernels<float>();
template void in_kernels<double>();

}  // namespace tilefold::test::closed_reducer
