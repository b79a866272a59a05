// SPDX-License-Identifier: Apache-2.0
//
// Calls for a profiler: those whose kernels are farthest from the memory's limit, each once, in a
// stream of its own, after one call that is not profiled. profile.py tells by the streams which
// kernel is whose. Prints a name a line, in their order.
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tilefold/if_empty.hpp>
#include <tilefold/tilefold.cuh>

#include "../forests/shapes.hpp"
#include "../support/device_array.hpp"
#include "../support/structs.hpp"

namespace {

using bench::index;
namespace r = tilefold::reducers;

constexpr index items = index{1} << 26;  // floats, 256 MiB

template <class T>
__global__ void fill(T* x, index n) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    x[i] = static_cast<T>(static_cast<float>(i * 0x9e3779b97f4a7c15u >> 60));
  }
}

__global__ void fill_keys(int* keys, index n, index run) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    keys[i] = static_cast<int>(i / run);
  }
}

struct is_large {
  __host__ __device__ bool operator()(std::uint8_t x) const { return x > 7; }
};

/// The memory that all calls share.
struct memory {
  bench::device_array<float> x{items + 1024};
  bench::device_array<char> out{items * 8};
  bench::device_array<int> keys{items};
  bench::device_array<int> keys_out{items};
  bench::device_array<index> count{1};

  memory() { fill<<<1024, 256>>>(x.data(), x.size()); }
  template <class T>
  T* result() const {
    return reinterpret_cast<T*>(out.data());
  }
};

using call = std::function<void(tilefold::cuda_executor&)>;

void profile(const std::string& name, const call& one) {
  cudaStream_t stream = nullptr;
  bench::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  {
    tilefold::cuda_executor gpu(stream);
    one(gpu);
    bench::check(cudaStreamSynchronize(stream), name.c_str());
    bench::check(cudaProfilerStart(), "cudaProfilerStart");
    one(gpu);
    bench::check(cudaStreamSynchronize(stream), name.c_str());
    bench::check(cudaProfilerStop(), "cudaProfilerStop");
  }
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  // The stream stays, so that no other gets its number.
}

void profile_segments(const memory& m) {
  for (const bench::segment_shape& s : bench::segment_shapes(false)) {
    const bool wanted = s.name != "segments_constant" || s.mean == 4 || s.mean == 16;
    if (!wanted || s.mean == 7 || s.mean == 33 || s.mean == 128 || s.mean == 65536) continue;
    const std::string name = s.name + "/" + std::to_string(s.mean);
    const auto all = s.offsets(s.mean, items);
    const auto n = static_cast<index>(all.size()) - 1;
    if (all.back() > items) continue;
    if (s.equal) {
      profile(name, [&](auto& gpu) {
        tilefold::segmented_reduce_into(gpu, m.x.data(), n, s.mean, m.result<float>());
      });
      continue;
    }
    const bench::device_array<index> offsets(all);
    profile(name, [&](auto& gpu) {
      tilefold::segmented_reduce_into(gpu, m.x.data(), offsets.data(), n, m.result<float>());
    });
    if (s.name == "segments_constant") {
      profile(name + ", bound told", [&](auto& gpu) {
        tilefold::segmented_reduce_into(gpu, m.x.data(), offsets.data(), n,
                                        tilefold::segment_bound(s.mean), m.result<float>());
      });
    }
    if (s.name == "segments_geometric" && (s.mean == 64 || s.mean == 1024)) {
      profile("four statistics, offsets/" + std::to_string(s.mean), [&](auto& gpu) {
        const auto four = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
        using result = decltype(tilefold::reduce(gpu, m.x.data(), m.x.data(), four));
        tilefold::segmented_reduce_into(gpu, m.x.data(), offsets.data(), n, m.result<result>(),
                                        tilefold::if_empty(four, result{}));
      });
    }
  }
}

template <class T, int N>
void profile_structs(const memory& m) {
  using item = bench::vec<T, N>;
  const auto n = static_cast<index>(items * sizeof(float) / sizeof(item));
  const auto* x = reinterpret_cast<const item*>(m.x.data());
  profile("structs of " + std::to_string(sizeof(item)) + " bytes, one fold", [&](auto& gpu) {
    tilefold::reduce_into(gpu, x, x + n, m.result<item>(), item{}, bench::vec_plus{});
  });
}

void profile_keys(const memory& m) {
  for (const index run : {2, 16, 256, 65536}) {
    fill_keys<<<1024, 256>>>(m.keys.data(), items, run);
    bench::check(cudaDeviceSynchronize(), "keys");
    profile("by key, runs of " + std::to_string(run), [&](auto& gpu) {
      tilefold::reduce_by_key_into(gpu, m.keys.data(), m.keys.data() + items, m.x.data(),
                                   m.keys_out.data(), m.result<float>(), m.count.data());
    });
  }
}

void profile_folds(const memory& m) {
  profile("float sum", [&](auto& gpu) {
    tilefold::reduce_into(gpu, m.x.data(), m.x.data() + items, m.result<float>());
  });
  const auto* doubles = reinterpret_cast<const double*>(m.x.data());
  profile("double sum, 2^24", [&](auto& gpu) {
    tilefold::reduce_into(gpu, doubles, doubles + (index{1} << 24), m.result<double>());
  });
  profile("double min, 2^24", [&](auto& gpu) {
    tilefold::reduce_into(gpu, doubles, doubles + (index{1} << 24), m.result<double>(),
                          tilefold::minimum{});
  });
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(m.x.data());
  profile("bytes, sum from the third on", [&](auto& gpu) {
    tilefold::reduce_into(gpu, bytes + 3, bytes + 4 * items, m.result<std::uint32_t>(),
                          std::uint32_t{}, tilefold::plus{});
  });
  profile("bytes, count_if", [&](auto& gpu) {
    tilefold::count_if_into(gpu, bytes, bytes + 4 * items, m.count.data(), is_large{});
  });
}

}  // namespace

int main() {
  const memory m;
  profile_folds(m);
  profile_segments(m);
  profile_structs<std::uint32_t, 3>(m);
  profile_structs<double, 4>(m);
  profile_structs<double, 8>(m);
  profile_structs<double, 16>(m);
  profile_keys(m);
  return 0;
}
