// SPDX-License-Identifier: Apache-2.0
//
// One program (thrust_program_body.cuh) of thrust's reductions and of thrust_compat's: the
// namespace is all that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/logical.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <tilefold/cuda.cuh>
#include <tilefold/inner_product.hpp>
#include <tilefold/thrust_compat.hpp>
#include <tilefold/transform_reduce.hpp>

#include "seed.hpp"

namespace tilefold::test::thrust_program {

struct twice {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
struct sum {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct larger {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct is_even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct same_half {
  __host__ __device__ bool operator()(int a, int b) const { return a / 2 == b / 2; }
};

namespace of_thrust {
namespace lib = ::thrust;
#include "thrust_program_body.cuh"
}  // namespace of_thrust

namespace of_tilefold {
namespace lib = ::tilefold::thrust_compat;
#include "thrust_program_body.cuh"
}  // namespace of_tilefold

/// Small numbers; of three or more, the least and the greatest stand in one place each.
inline std::vector<int> items(std::size_t n) {
  std::vector<int> x(n);
  std::uint64_t bits = seed();
  for (int& item : x) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    item = static_cast<int>(bits >> 33) % 100;
  }
  if (n > 2) {
    x[n / 3] = -1000;
    x[n - 2] = 1000;
  }
  return x;
}

/// Runs of eight on the average.
inline std::vector<int> keys(std::size_t n) {
  std::vector<int> all(n);
  std::uint64_t bits = seed() + 1;
  int key = 0;
  for (int& item : all) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    if (bits >> 61 == 0) ++key;
    item = key;
  }
  return all;
}

}  // namespace tilefold::test::thrust_program
