// SPDX-License-Identifier: Apache-2.0
//
// Segments of one length, told by that or by offsets. The ceiling is a kernel that only reads as
// many bytes as items, offsets and results are; for the plain sum as for the statistics, so that
// the two can be compared by their times. Every result is checked once, before it is timed.
#include "segment_statistics.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "segment_check.cuh"
#include "support/graph.hpp"
#include "support/read.hpp"

namespace bench {

namespace {

namespace r = tilefold::reducers;

constexpr index all_items = index{1} << 28;
constexpr index least_items = 64;  // of a segment

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
  statistics_contest(session& gpu, std::shared_ptr<device_array<float>> items)
      : gpu_(gpu),
        executor_(gpu.stream()),
        items_(std::move(items)),
        out_(all_items / least_items),
        offsets_(all_items / least_items + 1),
        wrong_(1) {}

  void run(benchmark::State& state, index size, bool with_offsets, const std::string& who) {
    const cudaStream_t stream = gpu_.stream();
    lay_out(size);
    const auto work = [&] { enqueue(size, with_offsets, who); };
    if (who != "read" && checked_.insert({with_offsets, who}).second)
      check_results(size, who, work);
    const graph whole(stream, work);
    whole.launch(stream);
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { whole.launch(stream); }));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            bytes(size, with_offsets));
  }

 private:
  static index bytes(index size, bool with_offsets) {
    const index segments = all_items / size;
    return 4 * all_items + static_cast<index>(sizeof(statistics)) * segments +
           (with_offsets ? 8 * (segments + 1) : 0);
  }

  void lay_out(index size) {
    if (size_ == size) return;
    std::vector<std::int64_t> offsets;
    for (index s = 0; s <= all_items / size; ++s) offsets.push_back(s * size);
    check(cudaMemcpy(offsets_.data(), offsets.data(), 8 * offsets.size(), cudaMemcpyDefault),
          "copy of the offsets");
    size_ = size;
    checked_.clear();
  }

  void enqueue(index size, bool with_offsets, const std::string& who) {
    const index segments = all_items / size;
    const auto fold = [&](auto* out, const auto&... init_op) {
      if (with_offsets) {
        tilefold::segmented_reduce_into(executor_, items_->data(), offsets_.data(), segments, out,
                                        init_op...);
      } else {
        tilefold::segmented_reduce_into(executor_, items_->data(), segments, size, out, init_op...);
      }
    };
    if (who == "read") {
      read_once(items_->data(), bytes(size, with_offsets) / 16 * 16,
                reinterpret_cast<unsigned*>(wrong_.data()), gpu_.stream());
    } else if (who == "tilefold-sum") {
      fold(reinterpret_cast<float*>(out_.data()), tilefold::plus{});
    } else {
      const auto all = r::fuse(r::mean{}, r::variance{}, r::min{}, r::max{});
      fold(out_.data(), all.lift(first_item), all);
    }
  }

  template <class Work>
  void check_results(index size, const std::string& who, const Work& work) {
    const cudaStream_t stream = gpu_.stream();
    const index segments = all_items / size;
    const auto result_bytes = static_cast<index>(sizeof(statistics)) * segments;
    check_segments(out_.data(), result_bytes, wrong_.data(), stream, work, [&] {
      if (who == "tilefold-sum") {
        count_wrong_sums<<<2048, 256, 0, stream>>>(
            items_->data(), segment_bounds{nullptr, size}, segments,
            reinterpret_cast<const float*>(out_.data()), wrong_.data());
      } else {
        count_wrong_statistics<<<2048, 256, 0, stream>>>(items_->data(), segments, size,
                                                         out_.data(), wrong_.data());
      }
    });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<device_array<float>> items_;
  device_array<statistics> out_;
  device_array<std::int64_t> offsets_;
  device_array<unsigned long long> wrong_;
  index size_ = 0;
  std::set<std::pair<bool, std::string>> checked_;  // at this size
};

}  // namespace

void enter_segment_statistics(roster& all, session& gpu,
                              std::shared_ptr<device_array<float>> items) {
  const auto contest = std::make_shared<statistics_contest>(gpu, std::move(items));
  for (const index size : {index{64}, index{1024}, index{65536}}) {
    for (const bool with_offsets : {false, true}) {
      for (const std::string& who : std::vector<std::string>{"tilefold", "tilefold-sum", "read"}) {
        all.enter(with_offsets ? "statistics_csr" : "statistics_equal", "graph", who, size, 2,
                  [=](benchmark::State& state) { contest->run(state, size, with_offsets, who); });
      }
    }
  }
}

}  // namespace bench
