// SPDX-License-Identifier: Apache-2.0
//
// A program that compiles no fold.
#include <cstdio>
#include <vector>

#include <tilefold/precompiled.hpp>

namespace p = tilefold::precompiled;

// Compiles without nvcc; there may be no GPU.
double sum_and_mean(p::cuda_executor& gpu, const float* x, int n) {
  return p::reduce(gpu, x, n) + p::reduce(gpu, x, n, p::mean);
}

int main() {
  p::host_executor exec;
  const std::vector<float> x{1, 2, 3.5f};
  const float sum = p::reduce(exec, x.data(), 3);
  const double mean = p::reduce(exec, x.data(), 2, p::mean);
  auto parts = p::reduce_piece(exec, x.data(), 1, 0, p::mean);
  parts.merge(p::reduce_piece(exec, x.data() + 1, 1, 1, p::mean));
  p::exact_accumulator<float> total;
  total.add(exec, x.data(), 3);
  float columns[2];
  const float matrix[] = {1, 2, 3, 4, 5, 6};
  p::axis_reduce_into(exec, p::array_view<float>{matrix, {3, 2}}, {0}, columns, p::sum);
  const bool more = columns[0] == 9 && columns[1] == 12 && p::stats(exec, matrix, 6).mean == 3.5 &&
                    p::dot(exec, matrix, matrix, 2) == 5;
  std::printf("%g %g %g %g\n", sum, mean, parts.value(), total.value());
  return sum == 6.5f && mean == 1.5 && parts.value() == 1.5 && total.value() == 6.5f && more ? 0
                                                                                             : 1;
}
