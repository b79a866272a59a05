// SPDX-License-Identifier: Apache-2.0
//
// Launches in a row in a CUDA graph, each on other memory with L2 full of something else (graph),
// or all on the same memory (hot), as in support/shape.hpp. The time is that of one call. The
// ceiling is a kernel that only reads as many bytes as items, offsets and results are.
#include "segment_rows.hpp"

#include <cuda_fp16.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tilefold/tilefold.cuh>

#include "segment_check.cuh"
#include "segment_peers/peer.hpp"
#include "support/device_array.hpp"
#include "support/graph.hpp"
#include "support/items.cuh"
#include "support/read.hpp"
#include "support/shape.hpp"

namespace bench {

namespace {

const std::string plain_reading = "read";

struct row_shape {
  std::string name;
  index segments, size;
  bool halves = false;
  bool offsets = false;  // read, though lengths are equal
  mode how = mode::graph;

  index items() const { return segments * size; }
  index bytes() const {
    return items() * (halves ? 2 : 4) + 4 * segments + (offsets ? 8 * (segments + 1) : 0);
  }
  /// Of the input, for the session that fills it.
  shape input() const {
    shape result;
    result.item_bytes = halves ? 2 : 4;
    result.fill = halves ? &fill<mixed<tilefold::half>> : &fill<mixed<float>>;
    return result;
  }
};

std::vector<row_shape> row_shapes() {
  std::vector<row_shape> all;
  for (const index size : {64, 256, 1024, 4096, 16384}) {
    all.push_back({"half_rows_1_gib", (index{1} << 29) / size, size, true});
    all.push_back({"half_rows_256_mib", (index{1} << 27) / size, size, true});
    for (const index batch : {1, 16, 256, 4096}) {
      all.push_back({"half_rows_batch_" + std::to_string(batch), batch, size, true});
    }
  }
  for (const mode how : {mode::graph, mode::hot}) {
    all.push_back({"thousand_equal", 1000, 1000, false, false, how});
    all.push_back({"thousand_csr", 1000, 1000, false, true, how});
  }
  return all;
}

constexpr index most_rows = index{1} << 23;

__global__ void fill_offsets(std::int64_t* offsets, int* narrow_offsets, index segments,
                             index size) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index s = index{blockIdx.x} * blockDim.x + threadIdx.x; s <= segments; s += step) {
    offsets[s] = s * size;
    narrow_offsets[s] = static_cast<int>(s * size);
  }
}

class rows_contest {
 public:
  explicit rows_contest(session& gpu)
      : gpu_(gpu),
        executor_(gpu.stream()),
        out_(most_rows),
        scratch_(index{1} << 26),
        offsets_(most_rows + 1),
        narrow_offsets_(most_rows + 1),
        shapes_(row_shapes()) {}

  const std::vector<row_shape>& shapes() const { return shapes_; }

  segment_sums ours(const row_shape& s) {
    if (s.halves) {
      return [this](const segments_call& c) {
        tilefold::segmented_reduce_into<float>(executor_, c.begin<tilefold::half>(), c.segments,
                                               c.size, c.out);
      };
    }
    if (s.offsets) {
      return [this](const segments_call& c) {
        tilefold::segmented_reduce_into(executor_, c.begin<float>(), c.offsets, c.segments, c.out);
      };
    }
    return [this](const segments_call& c) {
      tilefold::segmented_reduce_into(executor_, c.begin<float>(), c.segments, c.size, c.out);
    };
  }

  void run(benchmark::State& state, const row_shape& s, const std::string& who,
           const segment_sums& sums) {
    const cudaStream_t stream = gpu_.stream();
    const shape input = s.input();
    const int launches = gpu_.launches(input, s.items());
    const windows memory = gpu_.input(input, s.items(), s.how == mode::hot ? 1 : launches);
    lay_out(s);
    if (who != plain_reading && checked_.insert(who).second) {
      check_results(s, memory[0], [&] { sums(call(s, memory[0])); });
    }
    const graph whole(stream, [&] {
      for (int i = 0; i < launches; ++i) sums(call(s, memory[i]));
    });
    whole.launch(stream);
    for (auto _ : state) {
      if (s.how != mode::hot) gpu_.flush_l2();
      const double time = gpu_.microseconds([&] { whole.launch(stream); });
      state.SetIterationTime(1e-6 * time / launches);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * s.bytes());
  }

 private:
  void lay_out(const row_shape& s) {
    if (laid_out_ == &s) return;
    fill_offsets<<<2048, 256, 0, gpu_.stream()>>>(offsets_.data(), narrow_offsets_.data(),
                                                  s.segments, s.size);
    check(cudaGetLastError(), "filling the offsets");
    laid_out_ = &s;
    checked_.clear();
  }

  segments_call call(const row_shape& s, const void* first) const {
    return {first,           s.items(),
            s.segments,      s.size,
            offsets_.data(), narrow_offsets_.data(),
            out_.data(),     gpu_.stream(),
            scratch_.data(), static_cast<std::size_t>(scratch_.size())};
  }

  template <class Work>
  void check_results(const row_shape& s, const void* first, const Work& work) {
    const cudaStream_t stream = gpu_.stream();
    auto* const wrong = reinterpret_cast<unsigned long long*>(scratch_.data());
    const segment_bounds rows{nullptr, s.size};
    check_segments(out_.data(), 4 * s.segments, wrong, stream, work, [&] {
      if (s.halves) {
        count_wrong_sums<<<2048, 256, 0, stream>>>(static_cast<const __half*>(first), rows,
                                                   s.segments, out_.data(), wrong);
      } else {
        count_wrong_sums<<<2048, 256, 0, stream>>>(static_cast<const float*>(first), rows,
                                                   s.segments, out_.data(), wrong);
      }
    });
  }

  session& gpu_;
  tilefold::cuda_executor executor_;
  device_array<float> out_;
  device_array<char> scratch_;
  device_array<std::int64_t> offsets_;
  device_array<int> narrow_offsets_;
  const std::vector<row_shape> shapes_;
  const row_shape* laid_out_ = nullptr;
  std::set<std::string> checked_;  // contestants, on this shape
};

bool takes_part(const segments_peer& peer, const row_shape& s) {
  const bool has_form = static_cast<bool>(s.halves ? peer.of_halves : peer.of_floats);
  return has_form && !(s.offsets && peer.equal_lengths_alone);
}

}  // namespace

void enter_segment_rows(roster& all, session& gpu) {
  const auto contest = std::make_shared<rows_contest>(gpu);
  for (const row_shape& s : contest->shapes()) {
    const auto enter = [&](const std::string& who, const segment_sums& sums) {
      all.enter(s.name, name_of(s.how), who, s.size, 2,
                [=, &s](benchmark::State& state) { contest->run(state, s, who, sums); });
    };
    enter("tilefold", contest->ours(s));
    for (const segments_peer& peer : segments_peers()) {
      if (takes_part(peer, s)) enter(peer.name, s.halves ? peer.of_halves : peer.of_floats);
    }
    enter(plain_reading, [&s](const segments_call& c) {
      read_once(c.first, (s.bytes() + 15) / 16 * 16, static_cast<unsigned*>(c.scratch), c.stream);
    });
  }
}

}  // namespace bench
