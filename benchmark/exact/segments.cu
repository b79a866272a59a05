// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of floats and doubles by segment, by length and by offsets, and by key, beside the
// plain sums of the same; of items of few binades, and of many. The ceiling reads as many bytes as
// items, offsets, keys and results are. Every result is checked once, before it is timed.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../forests/check.cuh"
#include "../support/device_array.hpp"
#include "../support/read.hpp"
#include "contents.cuh"
#include "contests.hpp"
#include "exact_judge.cuh"

namespace bench {

namespace {

constexpr index item_bytes = index{1} << 30;
template <class T>
constexpr index all_items = item_bytes / static_cast<index>(sizeof(T));
// Items, keys, and results of runs of 16: what the ceiling reads at most.
constexpr index most_bytes = 2 * (item_bytes + item_bytes / 16);

enum class kind { equal, offsets, keys };

const char* name_of(kind k) {
  switch (k) {
    case kind::equal:
      return "exact_segments_equal";
    case kind::offsets:
      return "exact_segments_offsets";
    case kind::keys:
      return "exact_by_key";
  }
  return "?";
}

/// Of n items on the average, from none to twice as many; runs of keys all have n.
std::vector<std::int64_t> bounds_of(kind k, index n, index items) {
  std::mt19937_64 bits(1);
  std::vector<std::int64_t> all{0};
  while (true) {
    const index length =
        k == kind::offsets ? static_cast<index>(bits() % static_cast<std::uint64_t>(2 * n + 1)) : n;
    if (all.back() + length > items) return all;
    all.push_back(all.back() + length);
  }
}

template <class T>
__device__ bool same_bits(T a, T b) {
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return __builtin_bit_cast(bits, a) == __builtin_bit_cast(bits, b);
}

/// A thread a segment.
template <class T>
__global__ void count_wrong(const T* items, const std::int64_t* bounds, index segments,
                            const T* got, bool exact, unsigned long long* wrong) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index s = index{blockIdx.x} * blockDim.x + threadIdx.x; s < segments; s += step) {
    exact_total<T, T> total;
    for (index i = bounds[s]; i < bounds[s + 1]; ++i) total.add(items, i, 0);
    // No items: the exact sum is +0, as the plain one is with an initial value of +0.
    const T expected = total.sum.value();
    const bool right = exact ? same_bits(got[s], expected)
                             : fabs(static_cast<double>(got[s]) - static_cast<double>(expected)) <=
                                   1e-5 * total.size;
    if (!right) atomicAdd(wrong, 1ull);
  }
}

__global__ void fill_keys(int* keys, index n, index run) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    keys[i] = static_cast<int>(i / run);
  }
}

enum class contender { exact, plain, read };

template <class Content>
class segments_contest {
  using T = typename Content::item;

 public:
  explicit segments_contest(session& gpu) : gpu_(gpu), executor_(gpu.stream()) {}

  timed_work work(kind k, index n, contender who) {
    if (!items_) {
      items_.emplace(most_bytes / static_cast<index>(sizeof(T)));
      fill<Content>(items_->data(), most_bytes, gpu_.stream());
    }
    if (!laid_out_ || laid_out_->what != k || laid_out_->n != n) {
      laid_out_.reset();
      laid_out_.emplace(k, n, gpu_.stream());
    }
    timed_work result;
    result.bytes = laid_out_->bytes();
    result.enqueue = [=, this] { enqueue(who); };
    if (who != contender::read) result.check = [=, this] { check_results(who); };
    return result;
  }

 private:
  struct layout {
    layout(kind k, index mean, cudaStream_t stream)
        : what(k), n(mean), bounds(bounds_of(k, mean, all_items<T>)) {
      if (k != kind::keys) return;
      keys.emplace(all_items<T>);
      keys_out.emplace(segments());
      fill_keys<<<2048, 256, 0, stream>>>(keys->data(), all_items<T>, n);
    }
    index segments() const { return bounds.size() - 1; }
    index bytes() const {
      const index of_each = static_cast<index>(sizeof(T)) + (what == kind::keys ? 4 : 0);
      return of_each * (all_items<T> + segments()) +
             (what == kind::offsets ? 8 * bounds.size() : 0);
    }

    const kind what;
    const index n;
    device_array<std::int64_t> bounds;
    device_array<T> out{segments()};
    device_array<std::int64_t> count{1};
    device_array<unsigned long long> wrong{1};
    std::optional<device_array<int>> keys, keys_out;
  };

  void enqueue(contender who) {
    if (who == contender::read) {
      read_once(items_->data(), laid_out_->bytes() / 16 * 16,
                reinterpret_cast<unsigned*>(laid_out_->wrong.data()), gpu_.stream());
    } else if (who == contender::exact) {
      sums_by(tilefold::reducers::exact_sum<>{});
    } else {
      sums_by(tilefold::plus{});
    }
  }

  template <class Fold>
  void sums_by(const Fold& fold) {
    layout& s = *laid_out_;
    const T* const x = items_->data();
    if (s.what == kind::equal) {
      tilefold::segmented_reduce_into(executor_, x, s.segments(), s.n, s.out.data(), fold);
    } else if (s.what == kind::offsets) {
      const auto to = [&](const auto&... init) {
        tilefold::segmented_reduce_into(executor_, x, s.bounds.data(), s.segments(), s.out.data(),
                                        init..., fold);
      };
      if constexpr (tilefold::reducer<Fold>) {
        to();
      } else {
        to(T{0});
      }
    } else {
      tilefold::reduce_by_key_into(executor_, s.keys->data(), s.keys->data() + all_items<T>, x,
                                   s.keys_out->data(), s.out.data(), s.count.data(), fold);
    }
  }

  void check_results(contender who) {
    layout& s = *laid_out_;
    check_segments(
        s.out.data(), static_cast<index>(sizeof(T)) * s.segments(), s.wrong.data(), gpu_.stream(),
        [&] { enqueue(who); },
        [&] {
          count_wrong<<<2048, 128, 0, gpu_.stream()>>>(items_->data(), s.bounds.data(),
                                                       s.segments(), s.out.data(),
                                                       who == contender::exact, s.wrong.data());
        });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::optional<device_array<T>> items_;
  std::optional<layout> laid_out_;
};

template <class Content>
void enter_segments_of(roster& all, const std::string& content) {
  const auto contest = std::make_shared<segments_contest<Content>>(all.gpu());
  const auto enter = [&](kind k, index n) {
    const std::string shape = name_of(k) + content;
    const auto one = [&](const std::string& who, contender c) {
      return measurement{shape,
                         "graph",
                         who,
                         n,
                         2,
                         [=] { return contest->work(k, n, c); },
                         shape + std::to_string(n)};
    };
    bool any = all.enter(one("tilefold", contender::exact));
    any |= all.enter(one("tilefold-plain", contender::plain));
    if (any) all.enter_ceiling(one("read", contender::read));
  };
  for (const index n : {64, 1024}) {
    enter(kind::equal, n);
    enter(kind::offsets, n);
  }
  enter(kind::keys, 16);
}

}  // namespace

void enter_segments(roster& all) {
  enter_segments_of<normal_items<float>>(all, "");
  enter_segments_of<lognormal_items<float>>(all, "_lognormal");
  enter_segments_of<normal_items<double>>(all, "_double");
  enter_segments_of<lognormal_items<double>>(all, "_double_lognormal");
}

}  // namespace bench
