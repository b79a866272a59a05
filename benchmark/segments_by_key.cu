// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key against thrust::reduce_by_key and the cub call beneath it, over sums of floats with
// int32 keys: runs of random lengths around a mean, and a few giants among short ones. thrust
// allocates and waits within its call, so it is timed in the stream, everybody else from a graph.
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <cub/device/device_reduce.cuh>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "segments_by_key.hpp"
#include "support/graph.hpp"
#include "support/items.cuh"
#include "support/read.hpp"

namespace bench {

namespace {

// Keys ascend. Windows of 2 * mean items hold two runs, cut at random; of `giant` items, one run in
// one of eight.
__global__ void fill_keys(int* keys, index n, index mean, index giant) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const index window = i / (2 * mean);
    const auto random = scrambled(window);
    const auto cut = 1 + static_cast<index>(random % static_cast<std::uint64_t>(2 * mean - 1));
    index key = 2 * window + (i % (2 * mean) >= cut ? 1 : 0);
    if (giant > 0 && scrambled(~(i / giant)) % 8 == 0) key = (i / giant) * giant / mean + 1;
    keys[i] = static_cast<int>(key);
  }
}

__device__ index first_not_less(const int* keys, index n, int key) {
  index low = 0;
  for (index high = n; low < high;) {
    const index middle = (low + high) / 2;
    if (keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Counts the runs whose sum is not within what rounding may do, one warp each, and the keys that
/// are out of order; and, as `heads`, the runs that there are.
__global__ void count_wrong_runs(const int* keys, const float* items, index n, const int* keys_out,
                                 const float* got, index runs, unsigned long long* wrong,
                                 unsigned long long* heads) {
  const index step = index{gridDim.x} * blockDim.x;
  const index me = index{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned long long mine = 0;
  for (index i = me; i < n; i += step) mine += i == 0 || keys[i] != keys[i - 1];
  atomicAdd(heads, mine);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (index r = me / 32; r < runs; r += step / 32) {
    const index begin = first_not_less(keys, n, keys_out[r]);
    const index end = first_not_less(keys, n, keys_out[r] + 1);
    double sum = 0;
    double magnitude = 0;
    for (index i = begin + lane; i < end; i += 32) {
      sum += items[i];
      magnitude += fabs(static_cast<double>(items[i]));
    }
    for (int mask = 16; mask > 0; mask /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, mask);
      magnitude += __shfl_xor_sync(0xffffffffu, magnitude, mask);
    }
    const bool ascends = r == 0 || keys_out[r - 1] < keys_out[r];
    if (lane == 0 && !(ascends && begin < end && fabs(got[r] - sum) <= 1e-5 * magnitude)) {
      atomicAdd(wrong, 1ull);
    }
  }
}

template <class T>
T* allocate(index n) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(n) * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(memory);
}

constexpr index by_key_items = index{1} << 28;

struct by_key_shape {
  std::string name;
  index mean;   // items of a run
  index giant;  // of some runs, or 0
};

std::vector<by_key_shape> by_key_shapes() {
  std::vector<by_key_shape> all;
  for (const index mean : {2, 16, 256, 65536}) all.push_back({"by_key", mean, 0});
  all.push_back({"by_key_power_law", 4, 10'000'000});
  return all;
}

class by_key_contest {
 public:
  /// `items` are as many as items, keys and results together.
  by_key_contest(session& gpu, std::shared_ptr<device_array<float>> items);
  ~by_key_contest();
  by_key_contest(const by_key_contest&) = delete;  // one owner
  by_key_contest& operator=(const by_key_contest&) = delete;

  const std::vector<by_key_shape>& shapes() const { return shapes_; }
  void run(benchmark::State& state, const by_key_shape& what, const std::string& who);

 private:
  cudaError_t cub_sum(void* scratch, std::size_t& bytes) const;
  void lay_out(const by_key_shape& what);
  void enqueue(const std::string& who);
  void check_results(const std::string& who);

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<device_array<float>> items_;
  int* keys_;
  int* keys_out_;
  float* out_;
  std::int64_t* counts_;  // of runs, and two for the check
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  const std::vector<by_key_shape> shapes_;
  const by_key_shape* laid_out_ = nullptr;
  index runs_ = 0;
  std::set<std::string> checked_;  // contestants, on this shape
};

by_key_contest::by_key_contest(session& gpu, std::shared_ptr<device_array<float>> items)
    : gpu_(gpu),
      executor_(gpu.stream()),
      items_(std::move(items)),
      keys_(allocate<int>(by_key_items)),
      keys_out_(allocate<int>(by_key_items)),
      out_(allocate<float>(by_key_items)),
      counts_(allocate<std::int64_t>(3)),
      shapes_(by_key_shapes()) {
  std::size_t bytes = 0;
  check(cub_sum(nullptr, bytes), "cub::DeviceReduce::ReduceByKey");
  scratch_bytes_ = bytes;
  scratch_ = allocate<char>(static_cast<index>(bytes));
}

by_key_contest::~by_key_contest() {
  for (void* memory : {static_cast<void*>(keys_), static_cast<void*>(keys_out_),
                       static_cast<void*>(out_), static_cast<void*>(counts_), scratch_}) {
    (void)cudaFree(memory);
  }
}

cudaError_t by_key_contest::cub_sum(void* scratch, std::size_t& bytes) const {
  return cub::DeviceReduce::ReduceByKey(scratch, bytes, keys_, keys_out_, items_->data(), out_,
                                        counts_, ::cuda::std::plus<>{}, by_key_items,
                                        gpu_.stream());
}

void by_key_contest::lay_out(const by_key_shape& what) {
  if (laid_out_ == &what) return;
  fill_keys<<<2048, 256, 0, gpu_.stream()>>>(keys_, by_key_items, what.mean, what.giant);
  check(cudaGetLastError(), "filling the keys");
  laid_out_ = &what;
  checked_.clear();
  runs_ = 0;
}

void by_key_contest::enqueue(const std::string& who) {
  if (who == "read") {
    read_once(items_->data(), (8 * by_key_items + 8 * runs_) / 16 * 16,
              reinterpret_cast<unsigned*>(out_), gpu_.stream());
  } else if (who == "cub") {
    std::size_t bytes = scratch_bytes_;
    check(cub_sum(scratch_, bytes), "cub::DeviceReduce::ReduceByKey");
  } else if (who == "thrust") {
    const auto ends = thrust::reduce_by_key(thrust::cuda::par_nosync.on(gpu_.stream()), keys_,
                                            keys_ + by_key_items, items_->data(), keys_out_, out_);
    const std::int64_t runs = ends.first - keys_out_;
    check(cudaMemcpyAsync(counts_, &runs, sizeof runs, cudaMemcpyDefault, gpu_.stream()), "copy");
  } else {
    tilefold::reduce_by_key_into(executor_, keys_, keys_ + by_key_items, items_->data(), keys_out_,
                                 out_, counts_);
  }
}

void by_key_contest::check_results(const std::string& who) {
  if (who == "read" || !checked_.insert(who).second) return;
  check(cudaMemsetAsync(out_, 0xff, by_key_items * 4, gpu_.stream()), "cudaMemsetAsync");
  check(cudaMemsetAsync(counts_, 0, 24, gpu_.stream()), "cudaMemsetAsync");
  enqueue(who);
  std::int64_t runs = 0;
  check(cudaMemcpyAsync(&runs, counts_, sizeof runs, cudaMemcpyDefault, gpu_.stream()), "copy");
  check(cudaStreamSynchronize(gpu_.stream()), "reduce_by_key");
  auto* const wrong = reinterpret_cast<unsigned long long*>(counts_ + 1);
  count_wrong_runs<<<2048, 256, 0, gpu_.stream()>>>(keys_, items_->data(), by_key_items, keys_out_,
                                                    out_, runs, wrong, wrong + 1);
  check(cudaGetLastError(), "launch of the check");
  unsigned long long found[2];
  check(cudaMemcpyAsync(found, wrong, sizeof found, cudaMemcpyDefault, gpu_.stream()), "copy");
  check(cudaStreamSynchronize(gpu_.stream()), "the check of the results");
  if (found[0] != 0 || found[1] != static_cast<unsigned long long>(runs)) {
    throw std::runtime_error(std::to_string(found[0]) + " of " + std::to_string(runs) +
                             " runs are wrong, and there are " + std::to_string(found[1]));
  }
  runs_ = runs;
}

void by_key_contest::run(benchmark::State& state, const by_key_shape& what,
                         const std::string& who) {
  lay_out(what);
  check_results(who);
  if (who == "thrust") {
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { enqueue(who); }));
    }
  } else {
    const graph whole(gpu_.stream(), [&] { enqueue(who); });
    whole.launch(gpu_.stream());
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { whole.launch(gpu_.stream()); }));
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          (8 * by_key_items + 8 * runs_));
}

}  // namespace

void enter_by_key_contests(roster& all, session& gpu, std::shared_ptr<device_array<float>> items) {
  const auto contest = std::make_shared<by_key_contest>(gpu, std::move(items));
  for (const by_key_shape& s : contest->shapes()) {
    for (const std::string& who : std::vector<std::string>{"tilefold", "cub", "thrust", "read"}) {
      all.enter(s.name, "graph", who, s.mean, 2,
                [=, &s](benchmark::State& state) { contest->run(state, s, who); });
    }
  }
}

}  // namespace bench
