// SPDX-License-Identifier: Apache-2.0
//
// The calls whose kernels stand in the kernel table (kernel_table.csv): what users call most, one
// function a call, for any item type. Compiled by kernel_table.py, never run.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda/std/mdspan>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.cuh>

namespace tilefold::kernel_table {

namespace r = tilefold::reducers;

// Which item type a kernel belongs to is a part of its name, so that one translation unit may have
// a call's kernels for all of them: the executor's build has this number behind its architectures.
template <class T>
inline constexpr int number_of = -1;
template <>
inline constexpr int number_of<float> = 1;
template <>
inline constexpr int number_of<double> = 2;
template <>
inline constexpr int number_of<std::int32_t> = 3;
template <>
inline constexpr int number_of<__half> = 4;
template <class T>
using build_for = detail::cuda::build<false, TILEFOLD_CUDA_ARCHS, number_of<T>>;
template <class T>
using executor_for = basic_cuda_executor<build_for<T>>;

/// What every call may read and write; device memory.
template <class T>
struct arguments {
  executor_for<T>& gpu;
  const T* items;
  std::int64_t n;
  const int* keys;
  const int* offsets;
  std::int64_t segments;
  const T* const* arrays;
  int* keys_out;
  std::int64_t* count_out;
};

template <class T>
using sum_of = detail::accumulator_t<void, plus, T, detail::no_init>;

/// x -> a x + b, composed: not commutative.
template <class T>
struct affine {
  T a, b;
};
struct compose {
  template <class T>
  TILEFOLD_HD affine<T> operator()(const affine<T>& f, const affine<T>& g) const {
    return {multiplies{}(f.a, g.a), plus{}(multiplies{}(g.a, f.b), g.b)};
  }
};

struct squared {
  template <class T>
  TILEFOLD_HD auto operator()(const T& x) const {
    return multiplies{}(detail::convert<sum_of<T>>(x), detail::convert<sum_of<T>>(x));
  }
};

/// An operator of a user's: the library knows nothing of it.
struct users_plus {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

/// A struct that is much larger than what one load brings.
template <class T>
struct twelve {
  T part[12];
};
struct part_by_part {
  template <class T>
  TILEFOLD_HD twelve<T> operator()(const twelve<T>& a, const twelve<T>& b) const {
    twelve<T> sum;
    for (int i = 0; i < 12; ++i) sum.part[i] = plus{}(a.part[i], b.part[i]);
    return sum;
  }
};

inline auto statistics() {
  return r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
}

template <class T>
using statistics_of = decltype(reduce(std::declval<executor_for<T>&>(), std::declval<const T*>(),
                                      std::declval<const T*>(), statistics()));

template <class T>
auto sum(const arguments<T>& with) {
  return reduce(with.gpu, with.items, with.items + with.n);
}
template <class T>
auto sum_of_user(const arguments<T>& with) {
  return reduce<sum_of<T>>(with.gpu, with.items, with.items + with.n, users_plus{});
}
template <class T>
auto non_commutative(const arguments<T>& with) {
  const auto* maps = reinterpret_cast<const affine<T>*>(with.items);
  return reduce(with.gpu, maps, maps + with.n, compose{});
}
template <class T>
auto structs(const arguments<T>& with) {
  const auto* items = reinterpret_cast<const twelve<T>*>(with.items);
  return reduce(with.gpu, items, items + with.n, part_by_part{});
}
template <class T>
auto transform(const arguments<T>& with) {
  return transform_reduce(with.gpu, with.items, with.items + with.n, sum_of<T>{}, plus{},
                          squared{});
}
template <class T>
auto dot(const arguments<T>& with) {
  return transform_reduce(with.gpu, with.items, with.items + with.n, with.items, 0.0f);
}
template <class T>
auto fused_statistics(const arguments<T>& with) {
  return reduce(with.gpu, with.items, with.items + with.n, statistics());
}
template <class T>
auto arg_min(const arguments<T>& with) {
  return reduce(with.gpu, with.items, with.items + with.n, r::arg_min{});
}
template <class T>
auto log_sum_exp(const arguments<T>& with) {
  return reduce(with.gpu, with.items, with.items + with.n, r::logsumexp{});
}
template <class T>
auto top_8(const arguments<T>& with) {
  return reduce(with.gpu, with.items, with.items + with.n, r::top_k<8>{});
}
// Of integers the result has to be floating.
template <class T>
auto exact_sum(const arguments<T>& with) {
  using result = std::conditional_t<std::is_integral_v<T>, double, void>;
  return reduce(with.gpu, with.items, with.items + with.n, r::exact_sum<result>{});
}
template <class T>
auto piece_of_sum(const arguments<T>& with) {
  return reduce_piece(with.gpu, with.items, with.items + with.n, with.segments);
}
template <class T>
auto piece_of_statistics(const arguments<T>& with) {
  return reduce_piece(with.gpu, with.items, with.items + with.n, with.segments, statistics());
}
template <class T>
void segments_by_offsets(const arguments<T>& with, sum_of<T>* out) {
  segmented_reduce_into(with.gpu, with.items, with.offsets, with.segments, out);
}
template <class T>
void segments_of_equal_length(const arguments<T>& with, sum_of<T>* out) {
  segmented_reduce_into(with.gpu, with.items, with.segments, with.n, out);
}
template <class T>
void sum_of_deferred_length(const arguments<T>& with, sum_of<T>* out) {
  reduce_into(with.gpu, with.items, deferred(with.count_out, with.n), out);
}
template <class T>
void segments_of_bounded_length(const arguments<T>& with, sum_of<T>* out) {
  segmented_reduce_into(with.gpu, with.items, with.offsets, with.segments, segment_bound(16), out);
}
template <class T>
void log_softmax_of_rows(const arguments<T>& with, T* out) {
  log_softmax_into(with.gpu, with.items, with.segments, with.n, out);
}
template <class T>
auto matrix_of(const arguments<T>& with) {
  using extents = cuda::std::dextents<std::int64_t, 2>;
  return cuda::std::mdspan<const T, extents>(with.items, with.segments, with.n);
}
template <class T>
auto vector_of(T* out, std::int64_t size) {
  return cuda::std::mdspan<T, cuda::std::dextents<std::int64_t, 1>>(out, size);
}
template <class T>
void statistics_of_rows(const arguments<T>& with, statistics_of<T>* out) {
  axis_reduce(with.gpu, matrix_of(with), vector_of(out, with.segments), 1, statistics());
}
template <class T>
void columns(const arguments<T>& with, sum_of<T>* out) {
  axis_reduce(with.gpu, matrix_of(with), vector_of(out, with.n), 0);
}
template <class T>
void by_key(const arguments<T>& with, sum_of<T>* out) {
  reduce_by_key_into(with.gpu, with.keys, with.keys + with.n, with.items, with.keys_out, out,
                     with.count_out);
}
template <class T>
void batched(const arguments<T>& with, sum_of<T>* out) {
  batched_reduce_into(with.gpu, with.arrays, with.offsets, with.segments, out);
}

template <class Build, class T>
__global__ void in_kernel_warps(const T* items, sum_of<T>* out) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto sum = warp_fold(items[i], plus{});
  if (threadIdx.x % 32 == 0) out[i / 32] = sum;
}
template <class Build, class T>
__global__ void in_kernel_blocks(const T* items, sum_of<T>* out) {
  __shared__ block_storage<256, sum_of<T>> storage;
  const auto sum = block_fold(storage, items[blockIdx.x * 256 + threadIdx.x], plus{});
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
template <class T>
void in_kernel(const arguments<T>& with, sum_of<T>* out) {
  in_kernel_warps<build_for<T>><<<1, 256>>>(with.items, out);
  in_kernel_blocks<build_for<T>><<<1, 256>>>(with.items, out);
}

}  // namespace tilefold::kernel_table
