// SPDX-License-Identifier: Apache-2.0
//
// Kernels that nvrtc_test.py compiles by NVRTC, as a program would that makes its kernels while it
// runs: no header of the host's, no <cuda_runtime.h>. No function here adds what it has itself
// multiplied.
#include <tilefold/block_fold.cuh>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/compared.hpp>
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

namespace r = tilefold::reducers;

struct difference {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a - b;
  }
};

/// The first `count` items of a block of 256 threads: out[0]; and of its warps: out[1] to out[8].
/// The operator knows its order.
template <class T>
__device__ void folds(const T* x, int count, T* out) {
  __shared__ tilefold::block_storage<256, T> storage;
  const int thread = static_cast<int>(threadIdx.x);
  const int left = count - thread / 32 * 32;
  const T item = thread < count ? x[thread] : T{};
  const T of_block = tilefold::block_fold(storage, item, count, difference{});
  if (thread == 0) out[0] = of_block;
  if (left <= 0) return;  // the whole warp
  const T of_warp = tilefold::warp_fold(item, left < 32 ? left : 32, difference{});
  if (thread % 32 == 0) out[1 + thread / 32] = of_warp;
}
extern "C" __global__ void folds_of_floats(const float* x, int count, float* out) {
  folds(x, count, out);
}
extern "C" __global__ void folds_of_doubles(const double* x, int count, double* out) {
  folds(x, count, out);
}

// Products before a fold of sums, and a sum after a fold of products, which may not be fused.
extern "C" __global__ void products_then_sums(const float* x, float* out) {
  __shared__ tilefold::block_storage<128, float> storage;
  float mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = x[4 * threadIdx.x + i] * 3.3f;
  const auto sum = [](float a, float b) { return a + b; };
  const float of_block = tilefold::block_fold(storage, mine, sum);
  const float of_warp = tilefold::warp_fold(x[threadIdx.x] * 1.7f, sum);
  if (threadIdx.x == 0) {
    out[0] = of_block;
    out[1] = of_warp;
  }
}
extern "C" __global__ void products_then_sum(const float* x, float* out) {
  const float product = tilefold::warp_fold(x[threadIdx.x], [](float a, float b) { return a * b; });
  out[threadIdx.x] = product + x[threadIdx.x];
}

extern "C" __global__ void reducers(const float* x, int count, double* out) {
  const auto statistics = r::fuse(r::mean{}, r::max{});
  __shared__ tilefold::block_storage<256, tilefold::accumulated_t<float, decltype(statistics)>>
      storage;
  const int thread = static_cast<int>(threadIdx.x);
  const float item = thread < count ? x[thread] : 0.0f;
  const auto [mean, most] = tilefold::block_fold(storage, item, count, statistics);
  const auto [least, at] = tilefold::warp_fold(item, r::arg_min{});
  const auto best = tilefold::warp_fold(item, r::top_k<2>{});
  const float own = tilefold::warp_fold(
      item, r::make_reducer([](float a) { return a + 1; }, [](float a, float b) { return a + b; },
                            [](float a) { return a; }));
  if (thread != 0) return;
  out[0] = mean;
  out[1] = most;
  out[2] = least;
  out[3] = static_cast<double>(at);
  out[4] = best[0].value;
  out[5] = own;
}
