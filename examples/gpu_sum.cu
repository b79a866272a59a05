// SPDX-License-Identifier: Apache-2.0
//
// Sums the floats of a .npy file on a GPU, by tilefold and by CUB, and on the host:
//
//     nvcc -std=c++20 -O3 -arch=native -Iinclude examples/gpu_sum.cu -o gpu_sum
//     ./gpu_sum
//     FILE.npy
#include <tilefold/tilefold.cuh>

#include <thrust/device_vector.h>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// The items of a file that numpy.save wrote: a header whose length stands in its bytes 8 and 9,
/// then the items.
std::vector<float> read_npy(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file.tellg();
  unsigned char start[10] = {};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(start), sizeof start);
  std::string header(start[8] + 256u * start[9], ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!file || header.find("'<f4'") == std::string::npos) {
    throw std::runtime_error(std::string(path) + " is no .npy file of float32");
  }
  std::vector<float> items(static_cast<std::size_t>(bytes - file.tellg()) / sizeof(float));
  file.read(reinterpret_cast<char*>(items.data()),
            static_cast<std::streamsize>(items.size() * sizeof(float)));
  return items;
}

/// The least time of some calls on the GPU, in milliseconds.
template <class Call>
float fastest(const Call& call) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = 1e9f;
  for (int i = 0; i < 10; ++i) {
    cudaEventRecord(begin);
    call();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float time = 0;
    cudaEventElapsedTime(&time, begin, end);
    least = std::min(least, time);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return least;
}

void print(const char* name, float milliseconds, std::size_t items, float sum) {
  const double bytes = static_cast<double>(items) * sizeof(float);
  std::printf("  %-16s %8.3f ms %8.1f GB/s   sum %.9g (bits %08x)\n", name, milliseconds,
              bytes / milliseconds / 1e6, sum, std::bit_cast<unsigned>(sum));
}

int run(const char* path) {
  const std::vector<float> host = read_npy(path);
  const thrust::device_vector<float> x = host;
  thrust::device_vector<float> out(1);
  const float* const first = thrust::raw_pointer_cast(x.data());
  float* const sum = thrust::raw_pointer_cast(out.data());

  const float ours =
      fastest([&] { tilefold::reduce_into(cudaStream_t{}, first, first + x.size(), sum); });
  const float on_gpu = out[0];
  print("tilefold, GPU", ours, x.size(), on_gpu);

  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, first, sum, x.size());
  thrust::device_vector<char> workspace(bytes);
  const float cubs = fastest([&] {
    cub::DeviceReduce::Sum(thrust::raw_pointer_cast(workspace.data()), bytes, first, sum, x.size());
  });
  print("CUB, GPU", cubs, x.size(), out[0]);

  const float on_host = tilefold::reduce(tilefold::host_executor(), host);
  const bool same = std::bit_cast<std::uint32_t>(on_host) == std::bit_cast<std::uint32_t>(on_gpu);
  std::printf("  tilefold, host: sum %.9g: %s\n", on_host, same ? "the same bits" : "OTHER BITS");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: gpu_sum FILE.npy\n", stderr);
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_sum: %s\n", e.what());
    return 2;
  }
}
