// SPDX-License-Identifier: Apache-2.0
//
// Blocks of one cluster (compute capability 9.0 and later), each of which hands a value to block 0:
//
//     block     0    1    2    3    4    5    6    7
//               |    |    |    |    |    |    |    |     thread 0 of each: st.async, word by word,
//     shared  [ v0   v1   v2   v3   v4   v5   v6   v7 ]  into the shared memory of block 0
//                              |
//     block 0   waits at an mbarrier that counts the bytes; the others may leave
//
// This takes a third of the time that the memory of the GPU would take.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>

// Assemblers before CUDA 12.8 know no relaxed arrival; a release costs time and changes nothing.
#if defined(__NVCC__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define TILEFOLD_RELAXED_ARRIVAL ".relaxed.cta"
#else
#define TILEFOLD_RELAXED_ARRIVAL ""
#endif

namespace tilefold::detail::cuda {

/// Blocks of a cluster; the most that every GPU with clusters holds.
inline constexpr int cluster_blocks = 8;

__device__ constexpr bool has_clusters() {
#if __CUDA_ARCH__ >= 900
  return true;
#else
  return false;
#endif
}

/// Shared memory for a value of each block; that of the first block is used. `block` is the number
/// of the calling block in its cluster.
template <class Acc>
struct cluster_exchange {
  alignas(8) words<Acc> values[cluster_blocks];
  alignas(8) unsigned long long received;  // an mbarrier, in the first block

  /// To be called by all threads before hand_in(): a block's shared memory begins with the block.
  TILEFOLD_D void begin([[maybe_unused]] unsigned block) {
#if __CUDA_ARCH__ >= 900
    const bool is_first = block == 0 && threadIdx.x == 0;
    if (is_first) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&received)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // Without this barrier nvcc may predicate the initialization, and racecheck reports a race.
    __syncwarp();
    if (is_first) {
      asm volatile("mbarrier.arrive.expect_tx" TILEFOLD_RELAXED_ARRIVAL
                   ".shared::cta.b64 _, [%0], %1;" ::"r"(address(&received)),
                   "n"(sizeof values)
                   : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }

  /// By the first warp of each block, in whose first lane `value` is valid. In block 0 all values
  /// are there afterwards; the other threads of the cluster may leave.
  TILEFOLD_D void hand_in([[maybe_unused]] const Acc& value, [[maybe_unused]] unsigned block) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      const words<Acc> w = cuda::to_words(value);
      const unsigned target = of_first(values + block);
      const unsigned barrier = of_first(&received);
#pragma unroll
      for (int i = 0; i < words<Acc>::count; ++i) send(target + 4 * i, w.word[i], barrier);
    }
    if (block == 0) wait();
    __syncwarp();
#endif
  }

#if __CUDA_ARCH__ >= 900
 protected:
  TILEFOLD_D static unsigned address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
  }
  TILEFOLD_D static unsigned of_first(const void* shared) {
    unsigned result;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(result) : "r"(address(shared)));
    return result;
  }
  TILEFOLD_D static void send(unsigned target, unsigned word, unsigned barrier) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
            target),
        "r"(word), "r"(barrier)
        : "memory");
  }
  TILEFOLD_D void wait() {
    unsigned there = 0;
    while (there == 0) {
      asm volatile(
          "{\n"
          ".reg .pred done;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], 0;\n"
          "selp.u32 %0, 1, 0, done;\n"
          "}"
          : "=r"(there)
          : "r"(address(&received))
          : "memory");
    }
  }
#endif
};

}  // namespace tilefold::detail::cuda
