// SPDX-License-Identifier: Apache-2.0
//
// What an exact sum costs over the dynamic range of its items: 1 GiB of them, of both signs, with
// exponents drawn from n binades around 1. With more of them CUB's sums would be wrong, and of
// floats those of real numbers would overflow.
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../support/device_array.hpp"
#include "../support/read.hpp"
#include "../support/tilefold.cuh"
#include "contents.cuh"
#include "contests.hpp"
#include "exact_judge.cuh"

namespace bench {

namespace {

constexpr index all_bytes = index{1} << 30;

template <class T>
__global__ void fill_binades(T* items, index n, int binades) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    items[i] = log_uniform<T>(i, binades);
  }
}

template <class T>
class spread_contest {
 public:
  spread_contest(session& gpu, const std::string& type) : gpu_(gpu), type_(type) {
    using tilefold::reduce_into;
    contestants_.push_back(ours(gpu.stream(), [](auto& executor, const fold_call& c) {
      const T* const x = c.items<T>();
      reduce_into(executor, x, x + c.n, c.result<T>(), tilefold::reducers::exact_sum<>{});
    }));
    contestants_.push_back(ours(gpu.stream(), [](auto& executor, const fold_call& c) {
      const T* const x = c.items<T>();
      reduce_into(executor, x, x + c.n, c.result<T>(), tilefold::plus{});
    }));
    contestants_.back().name = "tilefold-plain";
    contestants_.back().host_bits = false;
    const auto found = peers().find("exact_sum_" + type);
    if (found != peers().end()) {
      contestants_.insert(contestants_.end(), found->second.begin(), found->second.end());
    }
  }

  static void enter(roster& all, const std::shared_ptr<spread_contest>& contest,
                    const std::vector<int>& binades) {
    const std::string shape = "exact_sum_" + contest->type_ + "_binades";
    for (const int n : binades) {
      const auto one = [&](const std::string& who, auto prepare) {
        return measurement{shape, "graph", who, n, 2, prepare, shape + std::to_string(n)};
      };
      bool any = false;
      for (const contestant& who : contest->contestants_) {
        any |= all.enter(one(who.name, [=, &who] { return contest->fold(n, who); }));
      }
      if (any) all.enter_ceiling(one("read", [=] { return contest->read(n); }));
    }
  }

 private:
  static constexpr index items = all_bytes / static_cast<index>(sizeof(T));

  struct memory {
    device_array<T> items{spread_contest::items};
    device_array<char> scratch{index{1} << 26};
    device_array<T> out{1};
    int binades = 0;
    exact_total<T, T> expected;
  };

  fold_call call() const {
    return {{memory_->items.data(), memory_->out.data(), gpu_.stream(), memory_->scratch.data(),
             static_cast<std::size_t>(memory_->scratch.size())},
            items};
  }

  void lay_out(int binades) {
    if (!memory_) memory_.emplace();
    if (memory_->binades == binades) return;
    fill_binades<<<2048, 256, 0, gpu_.stream()>>>(memory_->items.data(), items, binades);
    check(cudaGetLastError(), "filling the input");
    memory_->expected = exact_total_of<exact_total<T, T>>(call());
    memory_->binades = binades;
  }

  timed_work fold(int binades, const contestant& who) {
    lay_out(binades);
    timed_work result;
    result.bytes = all_bytes;
    result.enqueue = [c = call(), &who] { who.enqueue(c); };
    result.after = [this, &who] {
      T got;
      check(
          cudaMemcpyAsync(&got, memory_->out.data(), sizeof got, cudaMemcpyDefault, gpu_.stream()),
          "copy");
      check(cudaStreamSynchronize(gpu_.stream()), "the sum");
      const auto& expected = memory_->expected;
      const std::string wrong = exact_error(got, expected.value(), expected.size, who.host_bits);
      if (!wrong.empty()) throw std::runtime_error("wrong result: " + wrong);
    };
    return result;
  }

  timed_work read(int binades) {
    lay_out(binades);
    timed_work result;
    result.bytes = all_bytes;
    result.enqueue = [this] {
      read_once(memory_->items.data(), all_bytes,
                reinterpret_cast<unsigned*>(memory_->scratch.data()), gpu_.stream());
    };
    return result;
  }

  session& gpu_;
  const std::string type_;
  std::vector<contestant> contestants_;
  std::optional<memory> memory_;
};

}  // namespace

void enter_spreads(roster& all) {
  using counts = std::vector<int>;
  const bool quick = all.quick();
  spread_contest<float>::enter(
      all, std::make_shared<spread_contest<float>>(all.gpu(), "float"),
      quick ? counts{1, 32, 200} : counts{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 200});
  spread_contest<double>::enter(
      all, std::make_shared<spread_contest<double>>(all.gpu(), "double"),
      quick ? counts{1, 32, 1600} : counts{1, 4, 16, 32, 64, 128, 256, 512, 1024, 1600});
}

}  // namespace bench
