// SPDX-License-Identifier: Apache-2.0
//
// How kernels are queried and launched:
//
//     static known_kernel known;
//     const auto kernel = known.on(gpu, &tile_kernel<...>, "tile_kernel", nt, starts::early);
//     kernel.launch(kernel.most(tiles), stream, arguments...);
//
// on() asks the GPU once. Whatever can fail ahead of a launch fails there, so a call of several
// launches has all its kernels ready before the first one writes anything. Includes of launches:
// this file brings the runtime, the workspace and kernel.cuh.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <string>

#include <tilefold/detail/cuda/base/cluster.cuh>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>

namespace tilefold::detail::cuda {

/// What the library knows of a GPU.
struct device_info {
  int device;
  unsigned long long context;  // its number; 0 if the driver does not tell
  int compute_capability;      // major * 10 + minor
  int num_sms;
  bool pageable_access;
  bool early_launches;   // can begin a launch before the one before has ended; has clusters
  bool host_runs_along;  // may use managed memory while a kernel runs
  bool stream_lasts;     // of the executor's stream: it does not end while its work goes on

  const launch_tuning& tuning() const { return tuning_of(compute_capability); }
};

/// Tiles of one launch: kernels count them in 32 bits.
inline constexpr std::int64_t most_tiles = (std::numeric_limits<int>::max)();

/// When the blocks of a kernel may start.
///
/// No launch starts early in a stream that may be destroyed meanwhile: there it may wait forever
/// for the previous launch, which has ended. Seen on an H200 (driver 580.159.04, CUDA 13.0), where
/// its blocks filled the GPU and cudaStreamPerThread had been used; also in a program without this
/// library (test/cuda/ended_streams_test.cu). So launches start early in executors' own streams,
/// which executors wait for before they destroy them, in the legacy stream, and in graphs.
enum class starts {
  in_turn,     // when the previous launch has ended
  early,       // before it has ended; the kernel calls wait_for_previous_launch()
  in_clusters  // early, and as a cluster of cluster_blocks blocks where the launch says so
};

/// `blocks` blocks of `nt` threads; with `rows` rows, so many for each: x is the row, y the block.
struct grid_shape {
  std::int64_t blocks;
  int nt;
  bool cluster = false;
  std::int64_t rows = 0;
};

/// A kernel, and what a launch on this GPU needs to know of it.
template <class... Parameters>
struct ready_kernel {
  void (*kernel)(Parameters...);
  const char* name;
  int nt;                 // threads of a block, unless the launch has fewer
  std::int64_t resident;  // blocks of nt threads that the GPU holds at once
  bool early;
  bool clusters;
  bool stream_lasts = false;

  /// As many blocks as there is work for, but no more than the GPU holds.
  std::int64_t most(std::int64_t blocks) const { return detail::smaller(blocks, resident); }

  void launch(std::int64_t blocks, cudaStream_t stream, const Parameters&... arguments) const {
    launch(grid_shape{blocks, nt}, stream, arguments...);
  }
  void launch(const grid_shape& grid, cudaStream_t stream, const Parameters&... arguments) const {
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t config{};
    const auto blocks = static_cast<unsigned>(grid.blocks);
    config.gridDim = grid.rows == 0 ? dim3(blocks) : dim3(static_cast<unsigned>(grid.rows), blocks);
    config.blockDim = dim3(static_cast<unsigned>(grid.nt));
    config.stream = stream;
    config.attrs = attributes;
    if (early && (stream_lasts || is_recorded(stream))) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (grid.cluster) attributes[config.numAttrs++] = in_clusters(grid.rows != 0);
    void* addresses[] = {const_cast<Parameters*>(std::addressof(arguments))...};
    // The C interface returns this launch's own error; <<<>>> would mix it with earlier ones.
    require(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses),
            "launch of ");
  }

  // On error the stream counts as not capturing: a launch behind another one must not fail.
  static bool is_recorded(cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) (void)cudaGetLastError();
    return status == cudaStreamCaptureStatusActive;
  }

  static cudaLaunchAttribute in_clusters(bool of_rows = false) {
    cudaLaunchAttribute result{};
    result.id = cudaLaunchAttributeClusterDimension;
    result.val.clusterDim = {cluster_blocks, 1, 1};
    if (of_rows) result.val.clusterDim = {1, cluster_blocks, 1};
    return result;
  }

  void require(cudaError_t code, const char* what) const {
    if (code != cudaSuccess) check(code, (what + std::string(name)).c_str());
  }
};

/// What GPUs have answered about one kernel. It does not hold the kernel's address: the loader may
/// merge these objects of two shared libraries, and each library has to launch its own kernel.
class known_kernel {
 public:
  /// The kernel on this GPU, which is current; `nt` threads of a block are the most of any launch.
  /// Asks and loads the kernel the first time, and after cudaDeviceReset(): a launch that had to
  /// load it could fail behind others.
  template <class... Parameters>
  ready_kernel<Parameters...> on(const device_info& gpu, void (*kernel)(Parameters...),
                                 const char* name, int nt, starts start) {
    ready_kernel<Parameters...> ready{kernel, name, nt, 0, false, false};
    std::atomic<word>& known = known_[gpu.device % known_devices];
    word answer = known.load(std::memory_order_relaxed);
    const word context = (gpu.context << 1 | 1) << context_bit;
    if (answer >> context_bit << context_bit != context) {
      answer = context | ask(ready, gpu, start);
      known.store(answer, std::memory_order_relaxed);
    }
    ready.resident = static_cast<std::int64_t>(answer & blocks_mask) * gpu.num_sms;
    ready.early = (answer & early_flag) != 0;
    ready.stream_lasts = gpu.stream_lasts;
    ready.clusters = (answer & clusters_flag) != 0;
    return ready;
  }

 private:
  // The number of the context that was asked in, and a bit that is set, above the answer.
  using word = unsigned long long;
  static constexpr int context_bit = 16;
  static constexpr word blocks_mask = 0xff;  // of an SM
  static constexpr word early_flag = 0x100;
  static constexpr word clusters_flag = 0x200;
  // More than a machine has.
  static constexpr int known_devices = 64;

  template <class Ready>
  static word ask(const Ready& ready, const device_info& gpu, starts start) {
    // The code that this GPU runs must have been compiled for a GPU that has these features.
    cudaFuncAttributes attributes{};
    ready.require(cudaFuncGetAttributes(&attributes, ready.kernel), "cudaFuncGetAttributes of ");
    const bool early =
        start != starts::in_turn && gpu.early_launches && attributes.ptxVersion >= 90;
    int blocks = 0;
    ready.require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ready.kernel, ready.nt, 0),
                  "cudaOccupancyMaxActiveBlocksPerMultiprocessor of ");
    return static_cast<word>(detail::bounded(blocks, 1, 255)) | (early ? early_flag : 0) |
           (early && start == starts::in_clusters && fits_cluster(ready) ? clusters_flag : 0);
  }

  template <class Ready>
  static bool fits_cluster(const Ready& ready) {
    cudaLaunchAttribute attribute = Ready::in_clusters();
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(cluster_blocks);
    config.blockDim = dim3(static_cast<unsigned>(ready.nt));
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    ready.require(cudaOccupancyMaxActiveClusters(&clusters, ready.kernel, &config),
                  "cudaOccupancyMaxActiveClusters of ");
    return clusters > 0;
  }

  std::atomic<word> known_[known_devices]{};
};

}  // namespace tilefold::detail::cuda
