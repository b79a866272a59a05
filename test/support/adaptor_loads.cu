// SPDX-License-Identifier: Apache-2.0
//
// The same calls over pointers, and over adaptors that lead to pointers, whose machine code
// test/adaptor_loads_test.py compares. Compiled, never run.
#include <cstdint>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <tilefold/tilefold.cuh>

namespace tilefold::adaptor_loads {

namespace r = tilefold::reducers;

struct halved {
  TILEFOLD_HD float operator()(float x) const { return 0.5f * x; }
};
struct sum_of_pair {
  template <class Pair>
  TILEFOLD_HD float operator()(const Pair& pair) const {
    return thrust::get<0>(pair) + thrust::get<1>(pair);
  }
};

/// What axis_reduce asks of a view, over any iterator.
template <class It>
struct matrix {
  It first;
  std::int64_t rows, columns;

  static constexpr int rank() { return 2; }
  std::int64_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  std::int64_t stride(std::size_t i) const { return i == 0 ? columns : 1; }
  It data_handle() const { return first; }
};
struct vector {
  float* first;
  std::int64_t size;

  static constexpr int rank() { return 1; }
  std::int64_t extent(std::size_t) const { return size; }
  std::int64_t stride(std::size_t) const { return 1; }
  float* data_handle() const { return first; }
};

template <class It>
void folds(cuda_executor& gpu, It first, std::int64_t n, const int* offsets, float* out) {
  (void)reduce(gpu, first, first + n);
  (void)reduce(gpu, first, first + n, r::fuse(r::mean{}, r::variance{}, r::max{}));
  segmented_reduce_into(gpu, first, offsets, n, out);
  axis_reduce(gpu, matrix<It>{first, n, n}, vector{out, n}, 0);
}
template <class It>
void by_key(cuda_executor& gpu, const int* keys, It values, std::int64_t n, float* out) {
  reduce_by_key_into(gpu, keys, keys + n, values, reinterpret_cast<int*>(out), out,
                     reinterpret_cast<std::int64_t*>(out));
}

void over_pointers(cuda_executor& gpu, const float* x, const int* i, std::int64_t n, float* out) {
  folds(gpu, x, n, i, out);
  by_key(gpu, i, x, n, out);
}
void over_transforms(cuda_executor& gpu, const float* x, const int* i, std::int64_t n, float* out) {
  const auto halves = thrust::make_transform_iterator(x, halved{});
  folds(gpu, halves, n, i, out);
  by_key(gpu, i, halves, n, out);
}
void over_zips(cuda_executor& gpu, const float* x, const float* y, const int* i, std::int64_t n,
               float* out) {
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x, y));
  folds(gpu, thrust::make_transform_iterator(pairs, sum_of_pair{}), n, i, out);
}

}  // namespace tilefold::adaptor_loads
