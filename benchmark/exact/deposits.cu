// SPDX-License-Identifier: Apache-2.0
//
// Deposits from a kernel, a thread an item, beside atomicAdd() on floats and doubles at the same
// places: drawn at random, or the same for 16 neighbours. Accumulators are zeroed before the clock
// starts. All of them are compared once with those of one thread on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../support/device_array.hpp"
#include "../support/read.hpp"
#include "contents.cuh"
#include "contests.hpp"

namespace bench {

namespace {

constexpr index all_items = index{1} << 24;

struct deposit_to {
  template <class T>
  __device__ void operator()(tilefold::exact_accumulator<T>* target, T x) const {
    tilefold::deposit(target, x);
  }
};

struct atomic_to {
  template <class Target, class T>
  __device__ void operator()(Target* target, T x) const {
    atomicAdd(target, static_cast<Target>(x));
  }
};

template <class Put, class Target, class T>
__global__ void put_each(const T* items, const int* places, index n, Target* targets) {
  const index i = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) Put{}(targets + places[i], items[i]);
}

TILEFOLD_HD int place_of(index i, index in_a_row, index count) {
  return static_cast<int>(scrambled(~(i / in_a_row)) % static_cast<std::uint64_t>(count));
}

__global__ void fill_places(int* places, index n, index in_a_row, index count) {
  const index i = index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) places[i] = place_of(i, in_a_row, count);
}

template <class T>
class deposits_contest {
 public:
  explicit deposits_contest(session& gpu) : gpu_(gpu) {}

  static void enter(roster& all, const std::string& name, index in_a_row) {
    const auto contest = std::make_shared<deposits_contest>(all.gpu());
    for (const index count : {index{1}, index{1024}, index{1} << 20}) {
      const auto one = [&](const std::string& who, auto prepare) {
        return measurement{name, "graph", who, count, 2, prepare, name + std::to_string(count)};
      };
      bool any = all.enter(one("tilefold", [=] {
        return contest->template work<deposit_to, tilefold::exact_accumulator<T>>(in_a_row, count);
      }));
      any |= all.enter(one("atomicAdd-float", [=] {
        return contest->template work<atomic_to, float>(in_a_row, count);
      }));
      any |= all.enter(one("atomicAdd-double", [=] {
        return contest->template work<atomic_to, double>(in_a_row, count);
      }));
      if (any) all.enter_ceiling(one("read", [=] { return contest->read(in_a_row, count); }));
    }
  }

 private:
  struct memory {
    explicit memory(index count)
        : targets(count * static_cast<index>(sizeof(tilefold::exact_accumulator<T>))) {}

    device_array<T> items{all_items};
    device_array<int> places{all_items};
    device_array<char> targets;
    device_array<unsigned> word{1};
  };

  static constexpr index bytes = all_items * static_cast<index>(sizeof(T) + sizeof(int));
  static constexpr int nt = 256;
  static constexpr auto blocks = static_cast<unsigned>(all_items / nt);

  void lay_out(index in_a_row, index count) {
    if (count_ == count) return;
    memory_.reset();
    memory_.emplace(count);
    fill<normal_items<T>>(memory_->items.data(), all_items * static_cast<index>(sizeof(T)),
                          gpu_.stream());
    fill_places<<<blocks, nt, 0, gpu_.stream()>>>(memory_->places.data(), all_items, in_a_row,
                                                  count);
    check(cudaGetLastError(), "filling the input");
    count_ = count;
  }

  template <class Put, class Target>
  timed_work work(index in_a_row, index count) {
    lay_out(in_a_row, count);
    timed_work result;
    result.bytes = bytes;
    result.before = [=, this] {
      check(cudaMemsetAsync(memory_->targets.data(), 0,
                            sizeof(Target) * static_cast<std::size_t>(count), gpu_.stream()),
            "cudaMemsetAsync");
    };
    result.enqueue = [this] {
      put_each<Put><<<blocks, nt, 0, gpu_.stream()>>>(
          memory_->items.data(), memory_->places.data(), all_items,
          reinterpret_cast<Target*>(memory_->targets.data()));
      check(cudaGetLastError(), "launch of deposits");
    };
    result.check = [this, before = result.before, enqueue = result.enqueue] {
      before();
      enqueue();
      check_targets<Target>();
    };
    return result;
  }

  timed_work read(index in_a_row, index count) {
    lay_out(in_a_row, count);
    timed_work result;
    result.bytes = bytes;
    result.enqueue = [this] {
      // Places first, as many bytes as both have: there is no one array of that length.
      read_once(memory_->places.data(), all_items * 4, memory_->word.data(), gpu_.stream());
      read_once(memory_->items.data(), all_items * static_cast<index>(sizeof(T)),
                memory_->word.data(), gpu_.stream());
    };
    return result;
  }

  template <class Device>
  std::vector<Device> on_host(const Device* from, index n) const {
    std::vector<Device> result(static_cast<std::size_t>(n));
    check(cudaMemcpyAsync(result.data(), from, result.size() * sizeof(Device), cudaMemcpyDefault,
                          gpu_.stream()),
          "copy");
    check(cudaStreamSynchronize(gpu_.stream()), "copy");
    return result;
  }

  template <class Target>
  void check_targets() const {
    const auto items = on_host(memory_->items.data(), all_items);
    const auto places = on_host(memory_->places.data(), all_items);
    const auto got = on_host(reinterpret_cast<const Target*>(memory_->targets.data()), count_);
    std::vector<tilefold::exact_accumulator<T>> expected(got.size());
    std::vector<double> size(got.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto place = static_cast<std::size_t>(places[i]);
      expected[place].add(items[i]);
      size[place] += std::abs(static_cast<double>(items[i]));
    }
    index wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if constexpr (std::is_floating_point_v<Target>) {
        const double off =
            std::abs(static_cast<double>(got[i]) - expected[i].template value<double>());
        wrong += off <= 1e-3 * size[i] ? 0 : 1;
      } else {
        wrong += std::memcmp(&got[i], &expected[i], sizeof got[i]) == 0 ? 0 : 1;
      }
    }
    if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " sums are wrong");
  }

  session& gpu_;
  index count_ = 0;
  std::optional<memory> memory_;
};

}  // namespace

void enter_deposits(roster& all) {
  deposits_contest<float>::enter(all, "deposit_float", 1);
  deposits_contest<float>::enter(all, "deposit_float_in_runs", 16);
  deposits_contest<double>::enter(all, "deposit_double", 1);
}

}  // namespace bench
