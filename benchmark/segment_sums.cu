// SPDX-License-Identifier: Apache-2.0
//
// The ceiling is a kernel that only reads as many bytes as items, offsets and results are. Every
// result of every contestant is checked once, before it is timed.
#include "segment_sums.hpp"

#include <set>
#include <string>
#include <utility>

#include <tilefold/tilefold.cuh>

#include "segment_check.cuh"
#include "segment_peers/peer.hpp"
#include "segment_shapes.hpp"
#include "support/graph.hpp"
#include "support/items.cuh"
#include "support/read.hpp"

namespace bench {

namespace {

const std::string plain_reading = "read";

__global__ void narrow(const std::int64_t* offsets, index n, int* narrow_offsets) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    narrow_offsets[i] = static_cast<int>(offsets[i]);
  }
}

/// A shape in device memory.
class laid_out {
 public:
  explicit laid_out(const segment_shape& s) : laid_out(s, s.offsets(s.items_per_segment)) {}

  index segments() const { return out.size(); }
  index bytes() const { return 4 * items + 4 * segments() + (what.equal ? 0 : 8 * offsets.size()); }
  segments_call call(const float* first, cudaStream_t stream,
                     const device_array<char>& scratch) const {
    return {first,          items,
            segments(),     what.equal ? what.items_per_segment : 0,
            offsets.data(), narrow_offsets.data(),
            out.data(),     stream,
            scratch.data(), static_cast<std::size_t>(scratch.size())};
  }

  const segment_shape& what;
  const index items;
  device_array<std::int64_t> offsets;
  device_array<int> narrow_offsets;
  device_array<float> out;

 private:
  laid_out(const segment_shape& s, const std::vector<std::int64_t>& all)
      : what(s),
        items(all.back()),
        offsets(all),
        narrow_offsets(offsets.size()),
        out(offsets.size() - 1) {
    narrow<<<2048, 256>>>(offsets.data(), offsets.size(), narrow_offsets.data());
    check(cudaDeviceSynchronize(), "the narrow offsets");
  }
};

class sums_contest {
 public:
  sums_contest(session& gpu, std::shared_ptr<device_array<float>> items)
      : gpu_(gpu),
        executor_(gpu.stream()),
        items_(std::move(items)),
        scratch_(index{1} << 28),
        shapes_(segment_shapes()) {}

  const std::vector<segment_shape>& shapes() const { return shapes_; }

  segment_sums ours() {
    return [this](const segments_call& c) {
      if (c.size != 0) {
        tilefold::segmented_reduce_into(executor_, c.begin<float>(), c.segments, c.size, c.out);
      } else {
        tilefold::segmented_reduce_into(executor_, c.begin<float>(), c.offsets, c.segments, c.out);
      }
    };
  }
  segment_sums reading() {
    return [this](const segments_call& c) {
      read_once(c.first, shape_->bytes() / 16 * 16, static_cast<unsigned*>(c.scratch), c.stream);
    };
  }

  void run(benchmark::State& state, const segment_shape& what, const std::string& who,
           const segment_sums& sums) {
    if (!shape_ || &shape_->what != &what) {
      shape_.reset();
      shape_ = std::make_unique<laid_out>(what);
      checked_.clear();
    }
    const laid_out& s = *shape_;
    const cudaStream_t stream = gpu_.stream();
    const auto work = [&] { sums(s.call(items_->data(), stream, scratch_)); };
    if (who != plain_reading && checked_.insert(who).second) {
      auto* const wrong = reinterpret_cast<unsigned long long*>(scratch_.data());
      check_segments(s.out.data(), 4 * s.segments(), wrong, stream, work, [&] {
        count_wrong_sums<<<2048, 256, 0, stream>>>(
            items_->data(), segment_bounds{s.offsets.data(), 0}, s.segments(), s.out.data(), wrong);
      });
    }
    const graph whole(stream, work);
    whole.launch(stream);
    for (auto _ : state) {
      state.SetIterationTime(1e-6 * gpu_.microseconds([&] { whole.launch(stream); }));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * s.bytes());
  }

 private:
  session& gpu_;
  tilefold::cuda_executor executor_;
  std::shared_ptr<device_array<float>> items_;
  device_array<char> scratch_;
  const std::vector<segment_shape> shapes_;
  std::unique_ptr<laid_out> shape_;
  std::set<std::string> checked_;  // contestants, on this shape
};

}  // namespace

std::shared_ptr<device_array<float>> segment_items(session& gpu) {
  // What offsets and results add to the items that the ceiling reads.
  constexpr index most_read = most_segment_items + 3 * most_segments + 1024;
  auto items = std::make_shared<device_array<float>>(most_read);
  fill<mixed<float>>(items->data(), 4 * items->size(), gpu.stream());
  return items;
}

void enter_segment_sums(roster& all, session& gpu, std::shared_ptr<device_array<float>> items) {
  const auto contest = std::make_shared<sums_contest>(gpu, std::move(items));
  // The input of a shape is made once, so its contestants follow each other.
  for (const segment_shape& s : contest->shapes()) {
    const auto enter = [&](const std::string& who, const segment_sums& sums) {
      all.enter(s.name, "graph", who, s.items_per_segment, 2,
                [=, &s](benchmark::State& state) { contest->run(state, s, who, sums); });
    };
    enter("tilefold", contest->ours());
    for (const segments_peer& peer : segments_peers()) {
      if (peer.of_floats && (s.equal || !peer.equal_lengths_alone)) {
        enter(peer.name, peer.of_floats);
      }
    }
    enter(plain_reading, contest->reading());
  }
}

}  // namespace bench
