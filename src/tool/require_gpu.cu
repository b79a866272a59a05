// SPDX-License-Identifier: Apache-2.0
//
// Whether there is a GPU that this tool has code for.
#include "backend.hpp"
#include "cuda_support.cuh"

namespace tilefold::tool {

namespace {

__global__ void probe() {}

}  // namespace

std::string require_gpu() {
  // Without a driver the runtime only says that its version is insufficient.
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    cudaGetLastError();
    throw no_gpu_error("no CUDA driver is installed");
  }
  int device = 0;
  cudaDeviceProp properties;
  cudaError_t status = cudaGetDeviceCount(&device);
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties, device);
  if (status != cudaSuccess) {
    cudaGetLastError();
    throw no_gpu_error(cudaGetErrorString(status));
  }
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, probe) != cudaSuccess) {
    cudaGetLastError();
    throw no_gpu_error("this tilefold has no code for the " + std::string(properties.name) +
                       " (sm_" + std::to_string(properties.major) +
                       std::to_string(properties.minor) + ")");
  }
  return properties.name;
}

}  // namespace tilefold::tool
