// SPDX-License-Identifier: Apache-2.0
//
// Calls whose machine code for several GPUs machine_code_test.py compares. Compiled, never run.
#include <thrust/iterator/discard_iterator.h>
#include <cuda/std/tuple>

#include <cstdint>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>

using centroid = cuda::std::tuple<double, double, bool>;

struct merge_centroids {
  TILEFOLD_HD centroid operator()(const centroid& a, const centroid& b) const {
    using cuda::std::get;
    return {get<0>(a) + get<0>(b), get<1>(a) + get<1>(b), get<2>(a) || get<2>(b)};
  }
};

void centroids_by_key(tilefold::cuda_executor& gpu, const int* keys, std::int64_t n,
                      const centroid* items, centroid* out, std::int64_t* runs) {
  tilefold::reduce_by_key_into(gpu, keys, keys + n, items, thrust::make_discard_iterator(), out,
                               runs, merge_centroids{});
}

void xor_of_shorts(tilefold::cuda_executor& gpu, const std::int16_t* items, std::int64_t n,
                   std::int16_t* out) {
  tilefold::reduce_into(gpu, items, items + n, out, tilefold::bit_xor{});
}

auto extremes_of_shorts(tilefold::cuda_executor& gpu, const std::int16_t* items, std::int64_t n) {
  namespace r = tilefold::reducers;
  return tilefold::reduce(gpu, items, items + n, r::fuse(r::min{}, r::max{}, r::last{}));
}

#ifdef TILEFOLD_PLANTED
// What machine_code_test.py must complain about.
__global__ void loses_a_store(double* x) {
  x[0] = 1.0;
#if __CUDA_ARCH__ < 1000
  x[1] = 2.0;
#endif
}
#endif
