// SPDX-License-Identifier: Apache-2.0
//
// A contest in sums of items T by runs of equal int32 keys: reduce_by_key against peers, over runs
// of random lengths around a mean, and a few giants among short ones. Who waits within a call is
// timed in the stream, everybody else from a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../forests/check.cuh"
#include "../support/read.hpp"
#include "by_key.hpp"
#include "peers/peer.hpp"

namespace bench {

// Keys ascend. Windows of 2 * mean items hold two runs, cut at random; of `giant` items, one run in
// one of eight.
static __global__ void fill_keys(int* keys, index n, index mean, index giant) {
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

__device__ inline index first_not_less(const int* keys, index n, int key) {
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

__device__ inline bool begins_run(const int* keys, index i) {
  return i == 0 || keys[i] != keys[i - 1];
}

static __global__ void count_runs(const int* keys, index n, unsigned long long* runs) {
  const index step = index{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    mine += begins_run(keys, i);
  }
  atomicAdd(runs, mine);
}

/// Counts the runs whose sum is not within what rounding may do, one warp each, and the keys that
/// are out of order.
template <class T>
__global__ void count_wrong_runs(const int* keys, const T* items, index n, const int* keys_out,
                                 const T* got, index runs, unsigned long long* wrong) {
  const index step = index{gridDim.x} * blockDim.x / 32;
  for (index r = (index{blockIdx.x} * blockDim.x + threadIdx.x) / 32; r < runs; r += step) {
    const index begin = first_not_less(keys, n, keys_out[r]);
    const index end = first_not_less(keys, n, keys_out[r] + 1);
    bool right = begin < end && (r == 0 || keys_out[r - 1] < keys_out[r]);
    for (int k = 0; k < parts_of<T>::count; ++k) right &= is_sum(items, begin, end, got[r], k);
    if (threadIdx.x % 32 == 0 && !right) atomicAdd(wrong, 1ull);
  }
}

struct by_key_shape {
  std::string name;
  index n;          // items of all
  index mean;       // items of a run
  index giant = 0;  // of some runs
  // Calls in a row on the same memory, if one alone is too short to be timed; else one.
  int calls = 1;
};

template <class T>
class by_key_contest {
 public:
  by_key_contest(session& gpu, std::shared_ptr<shared_values<T>> items, const std::string& type,
                 std::vector<by_key_shape> shapes)
      : gpu_(gpu),
        executor_(gpu.stream()),
        items_(std::move(items)),
        type_(type),
        shapes_(std::move(shapes)) {}

  /// Everyone in every shape.
  static void enter(roster& all, const std::shared_ptr<by_key_contest>& contest) {
    for (const by_key_shape& s : contest->shapes_) {
      const auto one = [&](const std::string& who, const run_sums& sums, bool waits, bool checked) {
        measurement m{s.name, s.calls == 1 ? "graph" : "hot",       who, s.mean, 2,
                      {},     s.name + "/" + std::to_string(s.mean)};
        m.prepare = [=, &s] { return contest->work(s, sums, waits, checked); };
        return m;
      };
      bool any = all.enter(one("tilefold", contest->ours(), false, true));
      for (const runs_peer& peer : all_peers<runs_peer>()) {
        const auto form = peer.forms.find(contest->type_);
        if (form != peer.forms.end()) {
          any |= all.enter(one(peer.name, form->second, peer.waits, true));
        }
      }
      if (any) all.enter_ceiling(one("read", contest->reading(), false, false));
    }
  }

 private:
  struct memory {
    explicit memory(index n) : keys(n), keys_out(n), out(n), counts(2), scratch(index{1} << 26) {}

    device_array<int> keys, keys_out;
    device_array<T> out;
    device_array<std::int64_t> counts;  // of runs, and one for the check
    device_array<char> scratch;
  };

  run_sums ours() {
    return [this](const runs_call& c) {
      const auto fold = [&](auto... op) {
        tilefold::reduce_by_key_into(executor_, c.keys, c.keys + c.n, c.items<T>(), c.keys_out,
                                     c.result<T>(), c.count, op...);
      };
      if constexpr (std::is_arithmetic_v<T>) {
        fold();
      } else {
        fold(vec_plus{});
      }
    };
  }

  run_sums reading() {
    return [this](const runs_call& c) {
      read_once(c.first, bytes(c.n) / 16 * 16, static_cast<unsigned*>(c.scratch), c.stream);
    };
  }

  // Of keys and items, those that are read and those that are written.
  index bytes(index n) const { return static_cast<index>(4 + sizeof(T)) * (n + runs_); }

  timed_work work(const by_key_shape& s, const run_sums& sums, bool waits, bool checked) {
    lay_out(s);
    timed_work result;
    result.how = waits ? mode::stream : mode::graph;
    result.bytes = bytes(s.n);
    result.calls = s.calls;
    result.enqueue = [calls = s.calls, call = call(s.n), &sums] {
      for (int i = 0; i < calls; ++i) sums(call);
    };
    if (checked) result.check = [this, n = s.n, &sums] { check_results(n, sums); };
    return result;
  }

  void lay_out(const by_key_shape& s) {
    if (laid_out_ == &s) return;
    if (!memory_ || memory_->keys.size() != s.n) {
      memory_.reset();
      memory_.emplace(s.n);
    }
    laid_out_ = &s;
    const cudaStream_t stream = gpu_.stream();
    int* const keys = memory_->keys.data();
    fill_keys<<<2048, 256, 0, stream>>>(keys, s.n, s.mean, s.giant);
    runs_ = static_cast<index>(counted(
        [&](unsigned long long* runs) { count_runs<<<2048, 256, 0, stream>>>(keys, s.n, runs); }));
  }

  runs_call call(index n) {
    return {{items_->data(), memory_->out.data(), gpu_.stream(), memory_->scratch.data(),
             static_cast<std::size_t>(memory_->scratch.size())},
            memory_->keys.data(),
            n,
            memory_->keys_out.data(),
            memory_->counts.data()};
  }

  void check_results(index n, const run_sums& sums) {
    const cudaStream_t stream = gpu_.stream();
    const memory& m = *memory_;
    check(cudaMemsetAsync(m.out.data(), 0xff, sizeof(T) * static_cast<std::size_t>(n), stream),
          "cudaMemsetAsync");
    check(cudaMemsetAsync(m.counts.data(), 0, 8, stream), "cudaMemsetAsync");
    sums(call(n));
    std::int64_t runs = 0;
    check(cudaMemcpyAsync(&runs, m.counts.data(), sizeof runs, cudaMemcpyDefault, stream), "copy");
    check(cudaStreamSynchronize(stream), "reduce_by_key");
    const unsigned long long wrong = counted([&](unsigned long long* count) {
      count_wrong_runs<<<2048, 256, 0, stream>>>(m.keys.data(), items_->data(), n,
                                                 m.keys_out.data(), m.out.data(), runs, count);
    });
    if (wrong != 0 || runs != runs_) {
      throw std::runtime_error(std::to_string(wrong) + " of " + std::to_string(runs) +
                               " runs are wrong, and there are " + std::to_string(runs_));
    }
  }

  /// What launch(counter) counts in device memory.
  template <class Launch>
  unsigned long long counted(const Launch& launch) {
    auto* const counter = reinterpret_cast<unsigned long long*>(memory_->counts.data() + 1);
    check(cudaMemsetAsync(counter, 0, sizeof *counter, gpu_.stream()), "cudaMemsetAsync");
    launch(counter);
    check(cudaGetLastError(), "launch of a count");
    unsigned long long found = 0;
    check(cudaMemcpyAsync(&found, counter, sizeof found, cudaMemcpyDefault, gpu_.stream()), "copy");
    check(cudaStreamSynchronize(gpu_.stream()), "a count");
    return found;
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<shared_values<T>> items_;
  const std::string type_;  // as peers name it
  const std::vector<by_key_shape> shapes_;
  std::optional<memory> memory_;
  const by_key_shape* laid_out_ = nullptr;
  index runs_ = 0;
};

}  // namespace bench
