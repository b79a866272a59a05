// SPDX-License-Identifier: Apache-2.0
//
// Sums of floats by index, in any order: reduce_by_index() beside CUB's sort followed by its sum by
// key, whose bits may vary, and beside atomicAdd(), whose bits do. Indices are drawn at random, or
// half of all items have one. Results are compared once with those of the host; tilefold's to the
// bit.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce_by_index.hpp>

#include "../support/device_array.hpp"
#include "../support/read.hpp"
#include "../support/values.cuh"
#include "by_index.hpp"

namespace bench {

namespace {

__global__ void add_each(const float* items, const int* indices, index n, float* out) {
  const index i = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + indices[i], items[i]);
}

__global__ void fill_indices(int* indices, index n, index results, bool skewed) {
  const index i = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t random = scrambled(~i);
  const bool first = skewed && random >> 63 != 0;
  indices[i] = first ? 0 : static_cast<int>(random % static_cast<std::uint64_t>(results));
}

struct by_index_shape {
  std::string name;
  index n;
  index results;
  bool skewed;
};

class by_index_contest {
 public:
  explicit by_index_contest(session& gpu) : gpu_(gpu), executor_(gpu.stream()) {}

  static void enter(roster& all, const by_index_shape& shape) {
    const auto contest = std::make_shared<by_index_contest>(all.gpu());
    const auto one = [&](const std::string& who, auto sums, bool exact) {
      measurement m{shape.name,
                    "graph",
                    who,
                    shape.results,
                    2,
                    {},
                    shape.name + std::to_string(shape.results)};
      m.prepare = [=] { return contest->work(shape, sums, exact); };
      return m;
    };
    bool any = all.enter(one("tilefold", [](by_index_contest& c) { c.by_tilefold(); }, true));
    any |= all.enter(one("cub-sort-by-key", [](by_index_contest& c) { c.by_cub(); }, false));
    any |= all.enter(one("atomicAdd", [](by_index_contest& c) { c.by_atomics(); }, false));
    if (any) {
      measurement m = one("read", [](by_index_contest& c) { c.read(); }, false);
      m.prepare = [=] {
        timed_work result = contest->work(shape, [](by_index_contest& c) { c.read(); }, false);
        result.check = nullptr;
        return result;
      };
      all.enter_ceiling(m);
    }
  }

 private:
  struct memory {
    memory(index n, index results)
        : items(n),
          indices(n),
          sorted_items(n),
          sorted_indices(n),
          keys(n),
          sums(n),
          out(results),
          scratch(cub_bytes(n)) {}

    /// What CUB's sort by any number of bits needs beside its arrays, or its sum by key.
    static index cub_bytes(index n) {
      std::size_t sort = 0, sums_by_key = 0;
      const int count = static_cast<int>(n);
      int* const keys = nullptr;
      float* const items = nullptr;
      check(cub::DeviceRadixSort::SortPairs(nullptr, sort, keys, keys, items, items, count),
            "cub::DeviceRadixSort::SortPairs");
      check(cub::DeviceReduce::ReduceByKey(nullptr, sums_by_key, keys, keys, items, items, keys,
                                           cuda::std::plus<float>{}, count),
            "cub::DeviceReduce::ReduceByKey");
      return static_cast<index>(std::max(sort, sums_by_key));
    }

    device_array<float> items;
    device_array<int> indices;
    // For CUB: what it sorts to, the keys of the runs and their sums.
    device_array<float> sorted_items;
    device_array<int> sorted_indices, keys;
    device_array<float> sums;
    device_array<float> out;
    device_array<index> count{1};
    device_array<char> scratch;
    device_array<unsigned> word{1};
  };

  template <class Sums>
  timed_work work(const by_index_shape& shape, const Sums& sums, bool exact) {
    lay_out(shape);
    timed_work result;
    result.bytes = shape.n * 8 + shape.results * 4;
    result.enqueue = [this, sums] { sums(*this); };
    result.check = [this, sums, exact] {
      sums(*this);
      check_results(exact);
    };
    return result;
  }

  void lay_out(const by_index_shape& shape) {
    if (shape_ && shape_->name == shape.name && shape_->results == shape.results) return;
    memory_.reset();
    memory_.emplace(shape.n, shape.results);
    shape_ = shape;
    fill<mixed<float>>(memory_->items.data(), shape.n * 4, gpu_.stream());
    fill_indices<<<blocks(), nt, 0, gpu_.stream()>>>(memory_->indices.data(), shape.n,
                                                     shape.results, shape.skewed);
    check(cudaGetLastError(), "filling the input");
    executor_.reserve(tilefold::reduce_by_index_workspace_bytes(executor_, shape.n, shape.results,
                                                                sizeof(float)));
  }

  static constexpr int nt = 256;
  unsigned blocks() const { return static_cast<unsigned>((shape_->n + nt - 1) / nt); }

  void by_tilefold() {
    by_cub_ = false;
    const memory& m = *memory_;
    tilefold::reduce_by_index_into(executor_, m.indices.data(), m.indices.data() + shape_->n,
                                   m.items.data(), shape_->results, m.out.data());
  }

  // Results without items are not written, so they are zeroed, as for atomicAdd(). The sums of the
  // others stay where CUB writes them, one after the other.
  void by_cub() {
    const memory& m = *memory_;
    const int n = static_cast<int>(shape_->n);
    int bits = 1;
    while ((shape_->results - 1) >> bits != 0) ++bits;
    auto bytes = static_cast<std::size_t>(m.scratch.size());
    check(cub::DeviceRadixSort::SortPairs(m.scratch.data(), bytes, m.indices.data(),
                                          m.sorted_indices.data(), m.items.data(),
                                          m.sorted_items.data(), n, 0, bits, gpu_.stream()),
          "cub::DeviceRadixSort::SortPairs");
    bytes = static_cast<std::size_t>(m.scratch.size());
    check(
        cub::DeviceReduce::ReduceByKey(m.scratch.data(), bytes, m.sorted_indices.data(),
                                       m.keys.data(), m.sorted_items.data(), m.sums.data(),
                                       m.count.data(), cuda::std::plus<float>{}, n, gpu_.stream()),
        "cub::DeviceReduce::ReduceByKey");
    by_cub_ = true;
  }

  void by_atomics() {
    by_cub_ = false;
    const memory& m = *memory_;
    check(
        cudaMemsetAsync(m.out.data(), 0, static_cast<std::size_t>(m.out.size()) * 4, gpu_.stream()),
        "cudaMemsetAsync");
    add_each<<<blocks(), nt, 0, gpu_.stream()>>>(m.items.data(), m.indices.data(), shape_->n,
                                                 m.out.data());
    check(cudaGetLastError(), "launch of atomicAdd");
  }

  void read() {
    read_once(memory_->indices.data(), shape_->n * 4, memory_->word.data(), gpu_.stream());
    read_once(memory_->items.data(), shape_->n * 4, memory_->word.data(), gpu_.stream());
  }

  template <class T>
  std::vector<T> on_host(const T* from, index n) const {
    std::vector<T> result(static_cast<std::size_t>(n));
    check(cudaMemcpyAsync(result.data(), from, result.size() * sizeof(T), cudaMemcpyDefault,
                          gpu_.stream()),
          "copy");
    check(cudaStreamSynchronize(gpu_.stream()), "copy");
    return result;
  }

  /// What the call wrote, result i at place i.
  std::vector<float> results() {
    const memory& m = *memory_;
    if (!by_cub_) return on_host(m.out.data(), shape_->results);
    by_cub_ = false;
    const index runs = on_host(m.count.data(), 1)[0];
    const auto keys = on_host(m.keys.data(), runs);
    const auto sums = on_host(m.sums.data(), runs);
    std::vector<float> all(static_cast<std::size_t>(shape_->results));
    for (std::size_t r = 0; r < keys.size(); ++r) all[static_cast<std::size_t>(keys[r])] = sums[r];
    return all;
  }

  void check_results(bool exact) {
    const auto got = results();
    const auto items = on_host(memory_->items.data(), shape_->n);
    const auto indices = on_host(memory_->indices.data(), shape_->n);
    std::vector<float> expected(got.size());
    std::vector<double> size(got.size());
    tilefold::reduce_by_index(tilefold::host_executor(), indices.begin(), indices.end(),
                              items.begin(), shape_->results, expected.begin());
    for (std::size_t j = 0; j < items.size(); ++j) {
      size[static_cast<std::size_t>(indices[j])] += std::abs(static_cast<double>(items[j]));
    }
    index wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool right = exact ? std::memcmp(&got[i], &expected[i], sizeof(float)) == 0
                               : std::abs(got[i] - expected[i]) <= 1e-3 * size[i];
      wrong += right ? 0 : 1;
    }
    if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " sums are wrong");
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::optional<by_index_shape> shape_;
  std::optional<memory> memory_;
  bool by_cub_ = false;  // the last call
};

}  // namespace

void enter_by_index(roster& all) {
  const index n = all.quick() ? index{1} << 24 : index{1} << 26;
  for (const index results : {index{256}, index{65536}, index{1} << 20, index{1} << 24}) {
    by_index_contest::enter(all, {"by_index", n, results, false});
  }
  by_index_contest::enter(all, {"by_index_half_in_one", n, index{1} << 20, true});
  by_index_contest::enter(all, {"by_index_of_a_million", 1'000'000, 1000, false});
}

}  // namespace bench
