// SPDX-License-Identifier: Apache-2.0
//
// Kernels that read and do next to nothing else, in three layouts: which one is fastest differs
// from GPU to GPU, and the fastest is the ceiling. Each result is checked, so every byte has been
// read.
#include <algorithm>

#include "items.cuh"
#include "judge.cuh"
#include "read.hpp"

namespace bench {

namespace {

constexpr int nt = 256;

__device__ unsigned parity_of(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

// One atomic a block: thousands on one address at the end would be measurable.
__device__ void fold_block(unsigned value, unsigned* out) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int mask = 16; mask > 0; mask /= 2) value ^= __shfl_xor_sync(0xffffffffu, value, mask);
  if (threadIdx.x % 32 == 0) atomicXor(&total, value);
  __syncthreads();
  if (threadIdx.x == 0) atomicXor(out, total);
}

/// `InFlight` loads of 16 bytes a thread before the first is used, through the whole array.
template <int InFlight>
__global__ void __launch_bounds__(nt) read_kernel(const uint4* items, index n, unsigned* out) {
  const index step = index{gridDim.x} * nt;
  index i = index{blockIdx.x} * nt + threadIdx.x;
  unsigned value = 0;
  for (; i + (InFlight - 1) * step < n; i += InFlight * step) {
    uint4 loaded[InFlight];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) loaded[k] = items[i + k * step];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) value ^= parity_of(loaded[k]);
  }
  for (; i < n; i += step) value ^= parity_of(items[i]);
  fold_block(value, out);
}

/// One tile of `InFlight` rows a block.
template <int InFlight>
__global__ void __launch_bounds__(nt) read_tiles(const uint4* items, index n, unsigned* out) {
  const index first = index{blockIdx.x} * (nt * InFlight) + threadIdx.x;
  unsigned value = 0;
  uint4 loaded[InFlight];
#pragma unroll
  for (int k = 0; k < InFlight; ++k) {
    loaded[k] = first + k * nt < n ? items[first + k * nt] : uint4{0, 0, 0, 0};
  }
#pragma unroll
  for (int k = 0; k < InFlight; ++k) value ^= parity_of(loaded[k]);
  fold_block(value, out);
}

__global__ void empty_kernel() {}

int num_sms() {
  static const int count = [] {
    int device = 0;
    int sms = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return sms;
  }();
  return count;
}

/// As many blocks as the GPU holds at once, but no more than there is work for.
template <int InFlight>
void enqueue_read(const void* first, index bytes, unsigned* out, cudaStream_t stream) {
  static const int per_sm = [] {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, read_kernel<InFlight>, nt, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return std::max(blocks, 1);
  }();
  const index n = bytes / static_cast<index>(sizeof(uint4));
  const index blocks = std::clamp<index>((n + nt - 1) / nt, 1, index{per_sm} * num_sms());
  read_kernel<InFlight>
      <<<static_cast<unsigned>(blocks), nt, 0, stream>>>(static_cast<const uint4*>(first), n, out);
  check(cudaGetLastError(), "launch of the read kernel");
}

template <int InFlight>
void enqueue_tiles(const void* first, index bytes, unsigned* out, cudaStream_t stream) {
  const index n = bytes / static_cast<index>(sizeof(uint4));
  const index blocks = (n + nt * InFlight - 1) / (nt * InFlight);
  read_tiles<InFlight>
      <<<static_cast<unsigned>(blocks), nt, 0, stream>>>(static_cast<const uint4*>(first), n, out);
  check(cudaGetLastError(), "launch of the read kernel");
}

contestant reader(const std::string& name,
                  void (*enqueue)(const void*, index, unsigned*, cudaStream_t)) {
  contestant result;
  result.name = name;
  result.enqueue = [enqueue](const fold_call& c) {
    enqueue(c.first, c.n * static_cast<index>(sizeof(std::uint32_t)), c.result<unsigned>(),
            c.stream);
  };
  return result;
}

/// What no synchronous call can undercut.
contestant launch_and_wait() {
  contestant result;
  result.name = "empty-kernel";
  result.has_value = false;
  result.blocking = [](const fold_call& c) {
    empty_kernel<<<1, 32, 0, c.stream>>>();
    check(cudaGetLastError(), "launch of the empty kernel");
    check(cudaStreamSynchronize(c.stream), "the empty kernel");
  };
  return result;
}

}  // namespace

void read_once(const void* first, index bytes, unsigned* out, cudaStream_t stream) {
  enqueue_read<4>(first, bytes, out, stream);
}

shape plain_read(memory place) {
  shape result;
  result.name = place == memory::device ? "read" : std::string("read_") + name_of(place);
  result.item_bytes = sizeof(std::uint32_t);
  result.place = place;
  result.fill = &fill<mixed<std::uint32_t>>;
  result.rules = std::make_shared<rule_judge<parity, std::uint32_t, std::uint32_t>>();
  result.contestants = {reader("4-in-flight", &enqueue_read<4>),
                        reader("8-in-flight", &enqueue_read<8>),
                        reader("tiles-of-8", &enqueue_tiles<8>), launch_and_wait()};
  return result;
}

}  // namespace bench
