// SPDX-License-Identifier: Apache-2.0
//
// Calls for a profiler: those whose kernels are farthest from the memory's limit, each once, in a
// stream of its own, after one call that is not profiled. waits.py tells by the streams which
// kernel is whose. Prints a name a line, in their order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/if_empty.hpp>
#include <tilefold/tilefold.cuh>

#include "../exact/contents.cuh"
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

// Runs of `run` items. With `giant`, every eighth stretch of so many items is one run.
__global__ void fill_keys(int* keys, index n, index run, index giant = 0) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const bool in_giant = giant > 0 && i / giant % 8 == 0;
    keys[i] = static_cast<int>((in_giant ? i / giant * giant : i) / run);
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

const auto four = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
template <class Executor>
using statistics =
    decltype(tilefold::reduce(std::declval<Executor>(), static_cast<const float*>(nullptr),
                              static_cast<const float*>(nullptr), four));

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
        using result = statistics<decltype(gpu)>;
        tilefold::segmented_reduce_into(gpu, m.x.data(), offsets.data(), n, m.result<result>(),
                                        tilefold::if_empty(four, result{}));
      });
    }
  }
  profile("four statistics, equal/65536", [&](auto& gpu) {
    using result = statistics<decltype(gpu)>;
    tilefold::segmented_reduce_into(gpu, m.x.data(), items / 65536, 65536, m.result<result>(),
                                    tilefold::if_empty(four, result{}));
  });
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

template <class T, int N>
void profile_forests_of_structs(const memory& m) {
  using item = bench::vec<T, N>;
  const auto n = static_cast<index>(items * sizeof(float) / sizeof(item));
  const auto* x = reinterpret_cast<const item*>(m.x.data());
  const std::string of = "structs of " + std::to_string(sizeof(item)) + " bytes, ";
  const auto plus = tilefold::if_empty(bench::vec_plus{}, item{});
  for (const bench::segment_shape& s : bench::struct_shapes("segments", n, false)) {
    const auto all = s.offsets(s.mean, n);
    const auto segments = static_cast<index>(all.size()) - 1;
    if (s.equal || segments * static_cast<index>(sizeof(item)) > m.out.size()) continue;
    const bench::device_array<index> offsets(all);
    profile(of + "offsets/" + std::to_string(s.mean), [&](auto& gpu) {
      tilefold::segmented_reduce_into(gpu, x, offsets.data(), segments, m.result<item>(), plus);
    });
  }
  for (const index length : {4, 64, 1024}) {
    profile(of + "equal/" + std::to_string(length), [&](auto& gpu) {
      tilefold::segmented_reduce_into(gpu, x, n / length, length, m.result<item>(), plus);
    });
  }
  for (const index run : {2, 16, 256}) {
    fill_keys<<<1024, 256>>>(m.keys.data(), n, run);
    bench::check(cudaDeviceSynchronize(), "keys");
    profile(of + "by key, runs of " + std::to_string(run), [&](auto& gpu) {
      tilefold::reduce_by_key_into(gpu, m.keys.data(), m.keys.data() + n, x, m.keys_out.data(),
                                   m.result<item>(), m.count.data(), bench::vec_plus{});
    });
  }
}

void profile_short_calls(const memory& m) {
  const auto* halves = reinterpret_cast<const __half*>(m.x.data());
  for (const index size : {64, 1024, 16384}) {
    profile("halves, 1 row of " + std::to_string(size), [&](auto& gpu) {
      tilefold::segmented_reduce_into<float>(gpu, halves, 1, size, m.result<float>());
    });
  }
  std::vector<index> all(1001);
  for (index s = 0; s <= 1000; ++s) all[static_cast<std::size_t>(s)] = 1000 * s;
  const bench::device_array<index> offsets(all);
  profile("1000 x 1000, equal", [&](auto& gpu) {
    tilefold::segmented_reduce_into(gpu, m.x.data(), 1000, 1000, m.result<float>());
  });
  profile("1000 x 1000, offsets", [&](auto& gpu) {
    tilefold::segmented_reduce_into(gpu, m.x.data(), offsets.data(), 1000, m.result<float>());
  });
  for (const index n : {index{1} << 16, index{1} << 22, items}) {
    const bench::device_array<index> length(std::vector<index>{n});
    profile("deferred sum of " + std::to_string(n), [&](auto& gpu) {
      tilefold::reduce_into(gpu, m.x.data(), tilefold::deferred(length.data(), items),
                            m.result<float>());
    });
  }
}

template <class Content>
__global__ void fill_from(typename Content::item* x, index n) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    x[i] = Content::at(i);
  }
}

/// Refills what all calls share: comes last.
template <class Content>
void profile_exact(const memory& m, const std::string& name) {
  using T = typename Content::item;
  auto* x = reinterpret_cast<T*>(m.x.data());
  const auto n = static_cast<index>(items * sizeof(float) / sizeof(T));
  fill_from<Content><<<1024, 256>>>(x, n);
  bench::check(cudaDeviceSynchronize(), name.c_str());
  profile("exact sum of " + name, [&](auto& gpu) {
    tilefold::reduce_into(gpu, x, x + n, m.result<T>(), r::exact_sum<>{});
  });
  if constexpr (sizeof(T) >= 4) {
    profile("exact sum of " + name + ", equal/64", [&](auto& gpu) {
      tilefold::segmented_reduce_into(gpu, x, n / 64, 64, m.result<T>(),
                                      tilefold::if_empty(r::exact_sum<>{}, T{}));
    });
  }
  if constexpr (sizeof(T) == 4) {
    profile("exact l2 of " + name, [&](auto& gpu) {
      tilefold::reduce_into(gpu, x, x + n, m.result<T>(), r::exact_l2<>{});
    });
  }
}

void profile_keys(const memory& m) {
  const auto one = [&](const std::string& name, index n, index run, index giant) {
    fill_keys<<<1024, 256>>>(m.keys.data(), n, run, giant);
    bench::check(cudaDeviceSynchronize(), "keys");
    profile("by key, " + name, [&](auto& gpu) {
      tilefold::reduce_by_key_into(gpu, m.keys.data(), m.keys.data() + n, m.x.data(),
                                   m.keys_out.data(), m.result<float>(), m.count.data());
    });
  };
  for (const index run : {2, 16, 256, 65536}) one("runs of " + std::to_string(run), items, run, 0);
  one("power law", items, 4, 10'000'000);
  one("10^6 keys", 1'000'000, 16, 0);
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
  const auto* signed_bytes = reinterpret_cast<const std::int8_t*>(m.x.data());
  for (const int e : {10, 12}) {
    const index n = index{1} << e;
    profile("float sum, 2^" + std::to_string(e), [&](auto& gpu) {
      tilefold::reduce_into(gpu, m.x.data(), m.x.data() + n, m.result<float>());
    });
    profile("int8 sum, 2^" + std::to_string(e), [&](auto& gpu) {
      tilefold::reduce_into<std::int32_t>(gpu, signed_bytes, signed_bytes + n,
                                          m.result<std::int32_t>(), tilefold::plus{});
    });
  }
}

}  // namespace

int main() {
  const memory m;
  profile_folds(m);
  profile_segments(m);
  profile_structs<std::uint32_t, 3>(m);
  profile_structs<double, 3>(m);
  profile_structs<double, 4>(m);
  profile_structs<double, 8>(m);
  profile_structs<double, 16>(m);
  profile_keys(m);
  profile_forests_of_structs<float, 4>(m);
  profile_forests_of_structs<double, 3>(m);
  profile_forests_of_structs<double, 4>(m);
  profile_forests_of_structs<double, 8>(m);
  profile_forests_of_structs<double, 16>(m);
  profile_short_calls(m);
  profile_exact<bench::normal_items<float>>(m, "normal floats");
  profile_exact<bench::lognormal_items<float>>(m, "lognormal floats");
  profile_exact<bench::normal_items<double>>(m, "normal doubles");
  profile_exact<bench::lognormal_items<double>>(m, "lognormal doubles");
  profile_exact<bench::log_uniform_items<__nv_bfloat16>>(m, "bfloat16 of all binades");
  return 0;
}
