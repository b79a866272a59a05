// SPDX-License-Identifier: Apache-2.0
//
// The CUDA half of a program: folds the same values on the host from both files, and on the GPU.
#include <cstdio>
#include <cstring>
#include <vector>

#include <tilefold/tilefold.cuh>

double sum_in_plain_cpp(const std::vector<double>& values);

int main() {
  // Three magnitudes, so that another order of additions has other bits.
  std::vector<double> values;
  for (int i = 0; i < 100001; ++i) values.push_back((i % 3 ? 1e-7 : 1e9) / (1 + i));
  const double there = sum_in_plain_cpp(values);
  const double here = tilefold::reduce(values.begin(), values.end());

  double* copy = nullptr;
  const std::size_t bytes = values.size() * sizeof(double);
  if (cudaMalloc(&copy, bytes) != cudaSuccess) {
    std::puts("no GPU");
    return 1;
  }
  cudaMemcpy(copy, values.data(), bytes, cudaMemcpyHostToDevice);
  const double on_gpu = tilefold::reduce(copy, copy + values.size());
  cudaFree(copy);

  std::printf("%a %a %a\n", there, here, on_gpu);
  return std::memcmp(&there, &here, sizeof there) == 0 &&
                 std::memcmp(&there, &on_gpu, sizeof there) == 0
             ? 0
             : 1;
}
