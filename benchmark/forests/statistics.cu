// SPDX-License-Identifier: Apache-2.0
//
// Segments of one length, told by that or by offsets. The ceiling is a kernel that only reads as
// many bytes as items, offsets and results are; for the plain sum as for the statistics, so that
// the two can be compared by their times. Every result is checked once, before it is timed.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "../support/read.hpp"
#include "check.cuh"
#include "contests.hpp"

namespace bench {

namespace {

namespace r = tilefold::reducers;

constexpr index all_items = index{1} << 28;

struct statistics {
  double mean, variance;
  float min, max;

  statistics() = default;
  template <class Results>
  TILEFOLD_HD explicit statistics(const Results& of)
      : mean(of.template get<0>()),
        variance(of.template get<1>()),
        min(of.template get<2>()),
        max(of.template get<3>()) {}
};

// A mean of nothing there is none, so segments, which may be empty, are given a value to begin
// with: that of this item.
constexpr float first_item = 1;

/// Counts the segments of which a statistic is wrong, that of their items and first_item.
__global__ void count_wrong_statistics(const float* items, index segments, index size,
                                       const statistics* got, unsigned long long* wrong) {
  const index step = index{gridDim.x} * blockDim.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (index s = (index{blockIdx.x} * blockDim.x + threadIdx.x) / 32; s < segments; s += step) {
    double sum = lane == 0 ? first_item : 0;
    double squares = sum;
    double magnitude = sum;
    float min = first_item;
    float max = first_item;
    for (index i = s * size + lane; i < (s + 1) * size; i += 32) {
      const float item = items[i];
      sum += item;
      squares += static_cast<double>(item) * item;
      magnitude += fabs(static_cast<double>(item));
      min = fminf(min, item);
      max = fmaxf(max, item);
    }
    sum = bench::sum_over_warp(sum);
    squares = bench::sum_over_warp(squares);
    magnitude = bench::sum_over_warp(magnitude);
    for (int mask = 16; mask > 0; mask /= 2) {
      min = fminf(min, __shfl_xor_sync(0xffffffffu, min, mask));
      max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, mask));
    }
    const auto n = static_cast<double>(size + 1);
    const double variance = (squares - sum * sum / n) / (n - 1);
    const statistics& mine = got[s];
    if (lane == 0 && !(fabs(mine.mean - sum / n) <= 1e-12 * magnitude / n &&
                       fabs(mine.variance - variance) <= 1e-9 * squares / n && mine.min == min &&
                       mine.max == max)) {
      atomicAdd(wrong, 1ull);
    }
  }
}

class statistics_contest {
 public:
  statistics_contest(session& gpu, shared_floats items)
      : gpu_(gpu), executor_(gpu.stream()), items_(std::move(items)) {}

  timed_work work(index size, bool with_offsets, const std::string& who) {
    if (!laid_out_ || laid_out_->size != size) {
      laid_out_.reset();
      laid_out_.emplace(size);
    }
    timed_work result;
    result.bytes = bytes(size, with_offsets);
    result.enqueue = [=, this] { enqueue(with_offsets, who); };
    if (who != "read") {
      result.check = [=, this] { check_results(who, [&] { enqueue(with_offsets, who); }); };
    }
    return result;
  }

 private:
  /// Segments of one length in device memory.
  struct layout {
    explicit layout(index items_each) : size(items_each), offsets(multiples(size)), wrong(1) {}
    static std::vector<std::int64_t> multiples(index size) {
      std::vector<std::int64_t> all;
      for (index s = 0; s <= all_items / size; ++s) all.push_back(s * size);
      return all;
    }
    index segments() const { return all_items / size; }

    const index size;
    device_array<std::int64_t> offsets;
    device_array<statistics> out{all_items / size};
    device_array<unsigned long long> wrong;
  };

  static index bytes(index size, bool with_offsets) {
    const index segments = all_items / size;
    return 4 * all_items + static_cast<index>(sizeof(statistics)) * segments +
           (with_offsets ? 8 * (segments + 1) : 0);
  }

  void enqueue(bool with_offsets, const std::string& who) {
    const layout& s = *laid_out_;
    const float* const items = items_->data();
    const auto fold = [&](auto* out, const auto&... init_op) {
      if (with_offsets) {
        tilefold::segmented_reduce_into(executor_, items, s.offsets.data(), s.segments(), out,
                                        init_op...);
      } else {
        tilefold::segmented_reduce_into(executor_, items, s.segments(), s.size, out, init_op...);
      }
    };
    if (who == "read") {
      read_once(items, bytes(s.size, with_offsets) / 16 * 16,
                reinterpret_cast<unsigned*>(s.wrong.data()), gpu_.stream());
    } else if (who == "tilefold-sum") {
      fold(reinterpret_cast<float*>(s.out.data()), tilefold::plus{});
    } else {
      const auto all = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
      fold(s.out.data(), all.lift(first_item), all);
    }
  }

  template <class Work>
  void check_results(const std::string& who, const Work& work) {
    const layout& s = *laid_out_;
    const cudaStream_t stream = gpu_.stream();
    const auto result_bytes = static_cast<index>(sizeof(statistics)) * s.segments();
    check_segments(s.out.data(), result_bytes, s.wrong.data(), stream, work, [&] {
      if (who == "tilefold-sum") {
        count_wrong_sums<<<2048, 256, 0, stream>>>(
            items_->data(), segment_bounds{nullptr, s.size}, s.segments(),
            reinterpret_cast<const float*>(s.out.data()), s.wrong.data());
      } else {
        count_wrong_statistics<<<2048, 256, 0, stream>>>(items_->data(), s.segments(), s.size,
                                                         s.out.data(), s.wrong.data());
      }
    });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  shared_floats items_;
  std::optional<layout> laid_out_;
};

}  // namespace

void enter_statistics(roster& all, const shared_floats& items) {
  const auto contest = std::make_shared<statistics_contest>(all.gpu(), items);
  for (const index size : {index{64}, index{1024}, index{65536}}) {
    for (const bool with_offsets : {false, true}) {
      const auto one = [&](const std::string& who) {
        return measurement{with_offsets ? "statistics_csr" : "statistics_equal",
                           "graph",
                           who,
                           size,
                           2,
                           [=] { return contest->work(size, with_offsets, who); },
                           "statistics" + std::to_string(size)};
      };
      bool any = all.enter(one("tilefold"));
      any |= all.enter(one("tilefold-sum"));
      if (any) all.enter_ceiling(one("read"));
    }
  }
}

}  // namespace bench
