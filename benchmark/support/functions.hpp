// SPDX-License-Identifier: Apache-2.0
//
// What is asked or computed of single items, as every contestant gets it. Includes no tilefold, as
// peers compile it against another CCCL.
#pragma once

#include <thrust/tuple.h>

#include <cmath>
#include <cstdint>

namespace bench {

struct is_large {
  __host__ __device__ bool operator()(std::uint8_t x) const { return x > 100; }
};

struct square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

/// About 30 flops, by fused operations and nothing else, so that every compiler computes the same.
struct polynomial {
  static constexpr int degree = 15;
  __host__ __device__ float operator()(float x) const {
    const float y = x * (1.0f / 1024);  // |y| < 2
    float value = 0.8f;
    for (int k = 0; k < degree; ++k) value = fmaf(value, y, k % 2 == 0 ? 0.25f : -0.75f);
    return value;
  }
};

/// Of what a zip of two or three ranges yields.
struct product_of_two {
  template <class Tuple>
  __host__ __device__ float operator()(const Tuple& t) const {
    return thrust::get<0>(t) * thrust::get<1>(t);
  }
};

struct product_of_three {
  template <class Tuple>
  __host__ __device__ float operator()(const Tuple& t) const {
    return thrust::get<0>(t) * thrust::get<1>(t) * thrust::get<2>(t);
  }
};

/// The item at every other place.
struct every_other {
  const float* first;
  __host__ __device__ float operator()(std::int64_t i) const { return first[2 * i]; }
};

}  // namespace bench
