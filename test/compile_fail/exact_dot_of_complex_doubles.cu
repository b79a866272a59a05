// SPDX-License-Identifier: Apache-2.0
//
// What a compiler would take many minutes over is refused on a GPU, and not on the host.
// expect: tilefold: no GPU folds such accumulators: they are too large to compile kernels for
#include <complex>

#include <tilefold/tilefold.cuh>

using item = std::complex<double>;

item dot(tilefold::cuda_executor& gpu, const item* x, const item* y) {
#if defined(TILEFOLD_MUST_FAIL)
  auto& exec = gpu;
#else
  tilefold::host_executor exec;
#endif
  return tilefold::transform_reduce(exec, x, x + 10, y, tilefold::reducers::exact_dot<>{});
}
