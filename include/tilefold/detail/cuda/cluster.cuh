// SPDX-License-Identifier: Apache-2.0
//
// Blocks of one cluster (compute capability 9.0 and later), each of which hands a value to the
// first: through the first block's shared memory, which takes a third of the time that the memory
// of the GPU would. Device code.
#pragma once

#include <tilefold/detail/cuda/words.cuh>

namespace tilefold::detail::cuda {

/// Blocks of a cluster; the most that every GPU with clusters holds.
inline constexpr int cluster_blocks = 8;

/// Shared memory for a value of each block; the first block's is used.
template <class Acc>
struct cluster_exchange {
  words<Acc> values[cluster_blocks];
  alignas(8) unsigned long long received;  // an mbarrier, in the first block

#if __CUDA_ARCH__ >= 900
  /// To be called by all threads before hand_in(): a block's shared memory is not there before the
  /// block is.
  __device__ __forceinline__ void begin() {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&received)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                       address(&received)),
                   "n"(sizeof values)
                   : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }

  /// By the first warp of block `block`, in which `value` is the same in every lane. For that of
  /// block 0 all values are there afterwards; the other threads of the cluster may leave.
  __device__ __forceinline__ void hand_in(unsigned block, const Acc& value) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
      const words<Acc> w = cuda::to_words(value);
      const unsigned target = of_first(&values[block]);
      const unsigned barrier = of_first(&received);
#pragma unroll
      for (int i = 0; i < words<Acc>::count; ++i) {
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                target + 4 * i),
            "r"(w.word[i]), "r"(barrier)
            : "memory");
      }
    }
    if (block == 0) wait();
  }

 private:
  __device__ __forceinline__ static unsigned address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
  }
  __device__ __forceinline__ static unsigned of_first(const void* shared) {
    unsigned result;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(result) : "r"(address(shared)));
    return result;
  }
  __device__ __forceinline__ void wait() {
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 there, [%0], 0;\n"
        "@!there bra again;\n"
        "}\n" ::"r"(address(&received))
        : "memory");
  }
#endif
};

}  // namespace tilefold::detail::cuda
