// SPDX-License-Identifier: Apache-2.0
//
// segmented_reduce on a GPU against cub::DeviceSegmentedReduce, over sums of floats: segments of
// one length, and offsets with lengths that are constant, uniform or geometric, or very uneven. The
// ceiling is a kernel that only reads as many bytes as items, offsets and results are. Every result
// of every contestant is checked once, before it is timed. And reduce_by_key (segments_by_key.cu).
//
//     tilefold_segments_benchmark [--benchmark_filter=<regex>] [--benchmark_out=<file>.json]
//
// Names are shape/graph/contestant/items-per-segment, for report.py.
#include <benchmark/benchmark.h>
#include <cub/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include <cuda/version>

#include "axis_contest.hpp"
#include "segments_by_key.hpp"
#include "support/graph.hpp"
#include "support/items.cuh"
#include "support/read.hpp"
#include "support/reporters.hpp"
#include "support/session.hpp"

namespace {

using bench::check;
using bench::index;

// What report.py takes for the ceiling.
const std::string plain_read = "read";

// 4 GiB of floats.
constexpr index most_items = index{1} << 30;
constexpr index most_segments = index{1} << 25;
// What offsets and results add to the items that the ceiling reads.
constexpr index most_read = most_items + 3 * most_segments + 1024;

template <class T>
class device_array {
 public:
  explicit device_array(index n) : size_(n) {
    check(cudaMalloc(&data_, static_cast<std::size_t>(n) * sizeof(T)), "cudaMalloc");
  }
  explicit device_array(const std::vector<T>& items)
      : device_array(static_cast<index>(items.size())) {
    check(cudaMemcpy(data_, items.data(), items.size() * sizeof(T), cudaMemcpyDefault), "copy");
  }
  ~device_array() { (void)cudaFree(data_); }
  device_array(const device_array&) = delete;  // one owner
  device_array& operator=(const device_array&) = delete;
  T* data() const { return static_cast<T*>(data_); }
  index size() const { return size_; }

 private:
  void* data_ = nullptr;
  index size_;
};

/// Counts the segments whose value is not within what rounding may do to a sum of their items.
__global__ void count_wrong(const float* items, const std::int64_t* offsets, index segments,
                            const float* got, unsigned long long* wrong) {
  const index step = index{gridDim.x} * blockDim.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (index s = (index{blockIdx.x} * blockDim.x + threadIdx.x) / 32; s < segments; s += step) {
    double sum = 0;
    double magnitude = 0;
    for (index i = offsets[s] + lane; i < offsets[s + 1]; i += 32) {
      sum += items[i];
      magnitude += fabs(static_cast<double>(items[i]));
    }
    for (int mask = 16; mask > 0; mask /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, mask);
      magnitude += __shfl_xor_sync(0xffffffffu, magnitude, mask);
    }
    if (lane == 0 && !(fabs(got[s] - sum) <= 1e-5 * magnitude)) atomicAdd(wrong, 1ull);
  }
}

/// One way to cut the items, and what is timed on it.
struct shape {
  std::string name;
  index items_per_segment;
  std::vector<std::int64_t> (*offsets)(index mean);
  bool equal;  // lengths, so that offsets need not be read
};

std::vector<std::int64_t> constant_lengths(index mean) {
  const index segments = std::min(most_items / mean, most_segments);
  std::vector<std::int64_t> offsets;
  for (index s = 0; s <= segments; ++s) offsets.push_back(s * mean);
  return offsets;
}

template <class Length>
std::vector<std::int64_t> random_lengths(Length length) {
  std::mt19937_64 bits(1);
  std::vector<std::int64_t> offsets{0};
  while (static_cast<index>(offsets.size()) <= most_segments) {
    const index next = offsets.back() + length(bits);
    if (next > most_items) break;
    offsets.push_back(next);
  }
  return offsets;
}

std::vector<std::int64_t> uniform_lengths(index mean) {
  return random_lengths([=](auto& bits) {
    return static_cast<index>(bits() % static_cast<std::uint64_t>(2 * mean + 1));
  });
}

std::vector<std::int64_t> geometric_lengths(index mean) {
  std::geometric_distribution<index> distribution(1.0 / static_cast<double>(mean + 1));
  return random_lengths([=](auto& bits) mutable { return distribution(bits); });
}

// One of 2^25 items and 2^22 of 8.
std::vector<std::int64_t> one_giant(index) {
  std::vector<std::int64_t> offsets{0, index{1} << 25};
  for (int s = 0; s < 1 << 22; ++s) offsets.push_back(offsets.back() + 8);
  return offsets;
}

// Three in ten empty, most of 1 to 8 items, one in ten million of 10^7.
std::vector<std::int64_t> power_law(index) {
  return random_lengths([](auto& bits) -> index {
    const std::uint64_t dice = bits() % 10'000'000;
    if (dice == 0) return 10'000'000;
    return dice < 3'000'000 ? 0 : static_cast<index>(1 + bits() % 8);
  });
}

std::vector<shape> all_shapes() {
  std::vector<shape> all;
  for (const index n : {4, 16, 64, 128, 256, 1024, 4096, 65536}) {
    all.push_back({"segments_equal", n, &constant_lengths, true});
  }
  for (const index n : {4, 7, 16, 33, 64, 256, 1024, 4096}) {
    all.push_back({"segments_constant", n, &constant_lengths, false});
    all.push_back({"segments_uniform", n, &uniform_lengths, false});
    all.push_back({"segments_geometric", n, &geometric_lengths, false});
  }
  all.push_back({"segments_one_giant", 8, &one_giant, false});
  all.push_back({"segments_power_law", 4, &power_law, false});
  return all;
}

/// A shape in device memory.
struct laid_out {
  explicit laid_out(const shape& s)
      : what(s), offsets(s.offsets(s.items_per_segment)), out(offsets.size() - 1) {
    items = last_offset();
  }

  index segments() const { return out.size(); }
  index bytes() const { return 4 * items + 4 * segments() + (what.equal ? 0 : 8 * offsets.size()); }
  index last_offset() const {
    index last = 0;
    check(cudaMemcpy(&last, offsets.data() + segments(), sizeof last, cudaMemcpyDefault), "copy");
    return last;
  }

  const shape& what;
  device_array<std::int64_t> offsets;
  device_array<float> out;
  index items;
};

class contest {
 public:
  explicit contest(bench::session& gpu)
      : gpu_(gpu), executor_(gpu.stream()), items_(most_read), scratch_(index{1} << 28) {
    bench::fill<bench::mixed<float>>(items_.data(), 4 * items_.size(), gpu.stream());
  }

  void run(benchmark::State& state, const shape& what, const std::string& who) {
    if (!shape_ || &shape_->what != &what) {
      shape_.reset();
      shape_ = std::make_unique<laid_out>(what);
      checked_.clear();
    }
    const laid_out& s = *shape_;
    std::fprintf(
        stderr, "\r%-60s",
        (what.name + " of " + std::to_string(what.items_per_segment) + ", " + who).c_str());
    const auto work = [&] { enqueue(s, who); };
    if (who != plain_read && checked_.insert(who).second) check_results(s, work);
    const bench::graph whole(gpu_.stream(), work);
    whole.launch(gpu_.stream());
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { whole.launch(gpu_.stream()); }));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * s.bytes());
  }

  const float* items() const { return items_.data(); }

 private:
  void enqueue(const laid_out& s, const std::string& who) {
    if (who == plain_read) {
      bench::read_once(items_.data(), s.bytes() / 16 * 16,
                       reinterpret_cast<unsigned*>(scratch_.data()), gpu_.stream());
    } else if (who == "cub") {
      std::size_t bytes = static_cast<std::size_t>(scratch_.size());
      check(cub::DeviceSegmentedReduce::Sum(scratch_.data(), bytes, items_.data(), s.out.data(),
                                            s.segments(), s.offsets.data(), s.offsets.data() + 1,
                                            gpu_.stream()),
            "cub::DeviceSegmentedReduce");
    } else if (s.what.equal) {
      tilefold::segmented_reduce_into(executor_, items_.data(), s.segments(),
                                      s.what.items_per_segment, s.out.data());
    } else {
      tilefold::segmented_reduce_into(executor_, items_.data(), s.offsets.data(), s.segments(),
                                      s.out.data());
    }
  }

  template <class Work>
  void check_results(const laid_out& s, const Work& work) {
    check(cudaMemsetAsync(s.out.data(), 0xff, static_cast<std::size_t>(s.segments()) * 4,
                          gpu_.stream()),
          "cudaMemsetAsync");
    work();
    auto* const wrong = reinterpret_cast<unsigned long long*>(scratch_.data());
    check(cudaMemsetAsync(wrong, 0, sizeof *wrong, gpu_.stream()), "cudaMemsetAsync");
    count_wrong<<<2048, 256, 0, gpu_.stream()>>>(items_.data(), s.offsets.data(), s.segments(),
                                                 s.out.data(), wrong);
    unsigned long long found = 0;
    check(cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDefault, gpu_.stream()), "copy");
    check(cudaStreamSynchronize(gpu_.stream()), "the check of the results");
    if (found != 0) throw std::runtime_error(std::to_string(found) + " segments are wrong");
  }

  bench::session& gpu_;
  tilefold::cuda_executor executor_;
  device_array<float> items_;
  device_array<char> scratch_;
  std::unique_ptr<laid_out> shape_;
  std::set<std::string> checked_;  // contestants, on this shape
};

int run(int argc, char** argv) {
  std::vector<std::string> texts{argv[0], "--benchmark_repetitions=5"};
  texts.insert(texts.end(), argv + 1, argv + argc);
  bool has_file = false;
  std::vector<char*> arguments;
  for (std::string& text : texts) {
    has_file |= text.starts_with("--benchmark_out=");
    arguments.push_back(text.data());
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  bench::session gpu;
  contest all(gpu);
  const std::vector<shape> shapes = all_shapes();
  bench::by_key_contest by_key(gpu, all.items());
  const std::vector<bench::by_key_shape> by_key_shapes = bench::by_key_shapes();
  std::set<std::string> failures;
  const auto enter = [&](const std::string& shape_name, const std::string& who, index n,
                         auto measure) {
    const std::string name = shape_name + "/graph/" + who;
    const auto body = [&failures, name, n, measure](benchmark::State& state) {
      try {
        measure(state);
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s/%lld: %s\n", name.c_str(), static_cast<long long>(n),
                     failure.what());
        failures.insert(name + "/" + std::to_string(n));
        state.SkipWithError(failure.what());
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), body)
        ->Arg(n)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(2);
  };
  // The input of a shape is made once, so its contestants follow each other.
  for (const shape& s : shapes) {
    for (const std::string& who : std::vector<std::string>{"tilefold", "cub", plain_read}) {
      enter(s.name, who, s.items_per_segment,
            [&all, &s, who](benchmark::State& state) { all.run(state, s, who); });
    }
  }
  for (const bench::by_key_shape& s : by_key_shapes) {
    for (const std::string& who : bench::by_key_contestants()) {
      enter(s.name, who, s.mean,
            [&by_key, &s, who](benchmark::State& state) { by_key.run(state, s, who); });
    }
  }
  bench::register_axis_contests(gpu, failures);
  bench::description context = gpu.describe();
  context["cccl"] = std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                    "." + std::to_string(CCCL_PATCH_VERSION);
  bench::table_reporter table(failures);
  bench::file_reporter file(failures, context);
  benchmark::RunSpecifiedBenchmarks(&table, has_file ? &file : nullptr);
  // What they hold goes before the GPU does.
  benchmark::ClearRegisteredBenchmarks();
  benchmark::Shutdown();
  return failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tilefold_segments_benchmark: %s\n", failure.what());
    return 1;
  }
}
