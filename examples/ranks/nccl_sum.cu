// SPDX-License-Identifier: Apache-2.0
//
// The same sum, to the last bit, on any number of GPUs of one host, joined by NCCL:
//
//     nvcc -std=c++20 -Iinclude examples/ranks/nccl_sum.cu -lnccl -o nccl_sum && ./nccl_sum
#include <nccl.h>
#include <thrust/device_vector.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/nccl.cuh>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>

int main() {
  int most = 0;
  cudaGetDeviceCount(&most);
  const std::int64_t n = 1000000;
  for (int gpus = 1; gpus <= most; ++gpus) {
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
    if (ncclCommInitAll(comms.data(), gpus, nullptr) != ncclSuccess) return 1;
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < gpus; ++rank) {
      ranks.emplace_back([&, rank] {
        cudaSetDevice(rank);
        tilefold::cuda_executor gpu;
        tilefold::nccl_communicator comm(comms[static_cast<std::size_t>(rank)]);
        std::vector<float> part;
        for (std::int64_t i = n * rank / gpus; i < n * (rank + 1) / gpus; ++i) {
          part.push_back(
              std::ldexp(static_cast<float>(i * 7919 % 1009 - 504), static_cast<int>(i % 24)));
        }
        const thrust::device_vector<float> on_gpu(part);
        const float* const first = on_gpu.data().get();
        const float sum = tilefold::reduce(tilefold::ranks(comm, gpu), first, first + part.size());
        if (rank == 0) std::printf("%d GPUs: %a\n", gpus, static_cast<double>(sum));
      });
    }
    for (std::thread& rank : ranks) rank.join();
    for (const ncclComm_t comm : comms) ncclCommDestroy(comm);
  }
}
